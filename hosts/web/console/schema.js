/**
 * What a form needs to know of a JSON Schema (2020-12): where references lead, which kind of value it describes, and what a new
 * value is. Whether a value is valid is for the server alone.
 *
 * @module schema
 */

import { equal } from "./json.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {{ [keyword: string]: any }} Schema */

/**
 * @typedef {"text" | "number" | "boolean" | "null" | "choice" | "constant" | "array" | "object" | "union" | "json"} Kind
 * The kind of a field: `choice` is one of some values, `union` one of some schemas, and `json` any value.
 */

/** @typedef {{ value: Json, label: string, description: string }} Choice */

/** References and parts that are followed from one schema. */
const MOST_STEPS = 64;
/** Options of one union, and unions within unions. */
const [MOST_OPTIONS, DEEPEST_OPTIONS] = [256, 4];
/** Levels of a new value: a schema may require itself. */
const DEEPEST_NEW = 12;
/** Parts of a new value. */
const MOST_NEW = 1_000;
/** Levels, and parts, that are compared to find the option of a value. */
const [DEEPEST_FIT, MOST_FITS] = [6, 5_000];

const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"];

/** A score of a value that an option does not describe. */
const NEVER = Number.NEGATIVE_INFINITY;

/** The schemas of one tool. */
export class Schemas {
  /** @param {Schema} root */
  constructor(root) {
    this.root = root;
    /** @type {WeakMap<object, Schema>} */
    this._resolved = new WeakMap();
    /** @type {WeakMap<object, Schema[]>} */
    this._options = new WeakMap();
    /** @type {WeakMap<object, Choice[] | null>} */
    this._choices = new WeakMap();
    this._steps = 0;
  }

  /**
   * Follows references, and joins what `allOf` and a reference demand together.
   *
   * @param {Schema | boolean | undefined} schema
   * @returns {Schema}
   */
  resolve(schema) {
    if (schema === undefined || typeof schema === "boolean" || schema === null) return schema === false ? { not: {} } : {};
    let resolved = this._resolved.get(schema);
    if (resolved === undefined) {
      resolved = this._join(schema, { left: MOST_STEPS });
      this._resolved.set(schema, resolved);
    }
    return resolved;
  }

  /**
   * @param {Schema | boolean} schema
   * @param {{ left: number }} steps
   * @returns {Schema}
   */
  _join(schema, steps) {
    if (typeof schema !== "object" || schema === null) return schema === false ? { not: {} } : {};
    const { $ref: reference, allOf: parts, ...own } = schema;
    const others = [...(typeof reference === "string" ? [this._at(reference)] : []), ...(Array.isArray(parts) ? parts : [])];
    /** @type {Schema} */
    let joined = {};
    for (const other of others) {
      steps.left -= 1;
      // Of a circle, what was found is kept.
      if (steps.left > 0) joined = joinedWith(joined, this._join(other, steps));
    }
    return others.length === 0 ? own : joinedWith(joined, own);
  }

  /**
   * @param {string} reference
   * @returns {Schema}
   */
  _at(reference) {
    if (!reference.startsWith("#")) return {};
    /** @type {any} */
    let found = this.root;
    let steps;
    try {
      steps = decodeURIComponent(reference.slice(1)).split("/").slice(1);
    } catch {
      return {};
    }
    for (const step of steps) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return {};
      found = found[name];
    }
    return typeof found === "object" && found !== null ? found : {};
  }

  /**
   * @param {Schema} schema A resolved one.
   * @returns {Kind}
   */
  kind(schema) {
    if (Object.hasOwn(schema, "const")) return "constant";
    if (this.choices(schema) !== null) return "choice";
    if (this.options(schema).length > 0) return "union";
    switch (typeOf(schema)) {
      case "string": return "text";
      case "integer":
      case "number": return "number";
      case "boolean": return "boolean";
      case "null": return "null";
      case "array": return "array";
      case "object": return "object";
      default: return "json";
    }
  }

  /**
   * @param {Schema} schema A resolved one.
   * @returns {Choice[] | null} The values of which it allows one, if it lists them.
   */
  choices(schema) {
    let choices = this._choices.get(schema);
    if (choices === undefined) {
      choices = this._findChoices(schema);
      this._choices.set(schema, choices);
    }
    return choices;
  }

  /** @param {Schema} schema @returns {Choice[] | null} */
  _findChoices(schema) {
    if (Array.isArray(schema.enum)) return schema.enum.map((value) => choice(value, {}));
    const options = Array.isArray(schema.oneOf) ? schema.oneOf : schema.anyOf;
    if (!Array.isArray(options) || options.length === 0 || isObjectOfItsOwn(schema)) return null;
    /** @type {Choice[]} */
    const choices = [];
    for (const option of options.map((option) => this.resolve(option))) {
      if (Object.hasOwn(option, "const")) choices.push(choice(option.const, option));
      else if (Array.isArray(option.enum)) for (const value of option.enum) choices.push(choice(value, option));
      else return null;
    }
    return choices;
  }

  /**
   * @param {Schema} schema A resolved one.
   * @returns {Json | undefined} The only value that it allows, if it names one.
   */
  fixed(schema) {
    if (Object.hasOwn(schema, "const")) return schema.const;
    const choices = this.choices(schema);
    return choices?.length === 1 ? choices[0].value : undefined;
  }

  /**
   * @param {Schema} schema A resolved one.
   * @returns {Schema[]} The schemas of which a value fits one, each with what the schema demands beside.
   */
  options(schema) {
    let options = this._options.get(schema);
    if (options === undefined) {
      options = this._flatOptions(schema, 0, { left: MOST_OPTIONS });
      this._options.set(schema, options);
    }
    return options;
  }

  /**
   * Options among options are options of the whole.
   *
   * @param {Schema} schema @param {number} depth
   * @param {{ left: number }} room
   * @returns {Schema[]}
   */
  _flatOptions(schema, depth, room) {
    /** @type {Schema[]} */
    const flat = [];
    for (const option of this._findOptions(schema)) {
      if (room.left <= 0) break;
      const inner = depth < DEEPEST_OPTIONS && this.choices(option) === null ? this._flatOptions(option, depth + 1, room) : [];
      if (inner.length === 0) room.left -= 1;
      flat.push(...(inner.length > 0 ? inner : [option]));
    }
    return flat;
  }

  /** @param {Schema} schema @returns {Schema[]} */
  _findOptions(schema) {
    for (const keyword of ["oneOf", "anyOf"]) {
      if (Array.isArray(schema[keyword]) && schema[keyword].length > 0) {
        const { [keyword]: options, ...rest } = schema;
        const shared = withoutTexts(rest);
        return options.map((/** @type {Schema} */ option) => {
          const resolved = this.resolve(option);
          return Object.keys(shared).length === 0 ? resolved : joinedWith(shared, resolved);
        });
      }
    }
    if (Array.isArray(schema.type) && schema.type.length > 1) {
      return schema.type.map((/** @type {string} */ type) => ({ ...withoutTexts(schema), type }));
    }
    return [];
  }

  /**
   * @param {Schema} schema A resolved one of an object.
   * @param {string} name The name of a member.
   * @returns {Schema} The resolved schema of the member.
   */
  member(schema, name) {
    if (isObject(schema.properties) && Object.hasOwn(schema.properties, name)) return this.resolve(schema.properties[name]);
    for (const [pattern, other] of Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {})) {
      if (isMatch(pattern, name)) return this.resolve(other);
    }
    return this.resolve(schema.additionalProperties);
  }

  /**
   * @param {Schema} schema A resolved one of an array.
   * @param {number} index
   * @returns {Schema} The resolved schema of the item.
   */
  item(schema, index) {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    return this.resolve(index < first.length ? first[index] : schema.items);
  }

  /**
   * @param {Schema} schema A resolved one.
   * @param {Json | undefined} value
   * @returns {number} The index of the option of a union that describes the value best.
   */
  bestOption(schema, value) {
    const scores = this.options(schema).map((option) => {
      this._steps = MOST_FITS;
      return value === undefined ? 0 : this._fit(option, value, 0);
    });
    return scores.indexOf(Math.max(...scores));
  }

  /**
   * @param {Schema} schema @param {Json} value @param {number} depth
   * @returns {number} How well the schema describes the value.
   */
  _fit(schema, value, depth) {
    this._steps -= 1;
    if (depth > DEEPEST_FIT || this._steps < 0) return 0;
    if (Object.hasOwn(schema, "const")) return equal(schema.const, value) ? 4 : NEVER;
    const choices = this.choices(schema);
    if (choices !== null) return choices.some((choice) => equal(choice.value, value)) ? 3 : NEVER;
    const options = this.options(schema);
    if (options.length > 0) return Math.max(...options.map((option) => this._fit(option, value, depth + 1)));
    const type = typeOf(schema);
    if (type !== null && !isOfType(type, value)) return NEVER;
    if (Array.isArray(value)) return this._fitOfArray(schema, value, depth);
    if (isObject(value)) return this._fitOfObject(schema, value, depth);
    return (type === null ? 0 : 1) + (isWithin(schema, value) ? 1 : -1);
  }

  /** @param {Schema} schema @param {Json[]} value @param {number} depth */
  _fitOfArray(schema, value, depth) {
    const fits = value.slice(0, 8).map((item, index) => this._fit(this.item(schema, index), item, depth + 1));
    const misfits = fits.filter((fit) => fit === NEVER).length;
    const places = Array.isArray(schema.prefixItems) ? Math.abs(schema.prefixItems.length - value.length) : 0;
    const bounds = value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? Infinity) ? 1 : 0;
    return 1 - 2 * misfits - places - bounds;
  }

  /** @param {Schema} schema @param {{ [name: string]: Json }} value @param {number} depth */
  _fitOfObject(schema, value, depth) {
    let score = 1;
    for (const name of required(schema)) if (!Object.hasOwn(value, name)) score -= 2;
    const known = isObject(schema.properties) ? schema.properties : {};
    // A tag tells more than all the rest, however much that is.
    for (const name of Object.keys(known)) {
      const fixed = Object.hasOwn(value, name) ? this.fixed(this.resolve(known[name])) : undefined;
      if (fixed !== undefined && !equal(fixed, value[name])) return NEVER;
    }
    for (const [name, member] of Object.entries(value)) {
      if (Object.hasOwn(known, name)) {
        const property = this.resolve(known[name]);
        const fit = this._fit(property, member, depth + 1);
        score += fit === NEVER ? -2 : 1;
      } else if (!this.takesEntries(schema)) {
        score -= 2;
      } else if (this._fit(this.member(schema, name), member, depth + 1) === NEVER) {
        score -= 1;
      }
    }
    return score;
  }

  /**
   * @param {Schema} schema A resolved one of an object.
   * @returns {boolean} True if it takes members that it does not name.
   */
  takesEntries(schema) {
    if (isObject(schema.patternProperties)) return true;
    const rest = schema.additionalProperties;
    return rest === undefined ? !isObject(schema.properties) : rest !== false;
  }

  /**
   * Makes the value with which a required field begins. What only a person can know is left out.
   *
   * @param {Schema} schema A resolved one.
   * @param {number} [depth]
   * @param {{ left: number }} [room]
   * @returns {Json | undefined}
   */
  initial(schema, depth = 0, room = { left: MOST_NEW }) {
    if (Object.hasOwn(schema, "default")) return structuredClone(schema.default);
    room.left -= 1;
    if (depth > DEEPEST_NEW || room.left < 0) return undefined;
    switch (this.kind(schema)) {
      case "constant":
      case "choice": return this.fixed(schema);
      case "null": return null;
      case "boolean": return false;
      case "union": return this._initialOfUnion(schema, depth, room);
      case "array": return this._initialItems(schema, depth, room);
      case "object": return this._initialMembers(schema, depth, room);
      default: return undefined;
    }
  }

  /**
   * Makes a new item of an array: there, something has to be.
   *
   * @param {Schema} schema A resolved one.
   * @param {number} [depth]
   * @param {{ left: number }} [room]
   * @returns {Json}
   */
  blank(schema, depth = 0, room = { left: MOST_NEW }) {
    const initial = this.initial(schema, depth, room);
    if (initial !== undefined) return initial;
    const choices = this.choices(schema);
    if (choices !== null && choices.length > 0) return choices[0].value;
    return this.kind(schema) === "json" ? null : "";
  }

  /** @param {Schema} schema @param {number} depth @param {{ left: number }} room @returns {Json | undefined} */
  _initialOfUnion(schema, depth, room) {
    const options = this.options(schema);
    if (options.some((option) => this.kind(option) === "null")) return null;
    return this.initial(options[0], depth + 1, room);
  }

  /** @param {Schema} schema @param {number} depth @param {{ left: number }} room @returns {Json} */
  _initialItems(schema, depth, room) {
    const places = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
    const count = Math.min(Math.max(places, Number(schema.minItems ?? 0)), 100);
    return Array.from({ length: count }, (_, index) => this.blank(this.item(schema, index), depth + 1, room));
  }

  /** @param {Schema} schema @param {number} depth @param {{ left: number }} room @returns {Json} */
  _initialMembers(schema, depth, room) {
    /** @type {{ [name: string]: Json }} */
    const members = {};
    for (const name of required(schema)) {
      const value = this.initial(this.member(schema, name), depth + 1, room);
      if (value !== undefined) define(members, name, value);
    }
    return members;
  }
}

/**
 * Sets a member of any name.
 *
 * @param {object} object @param {string} name @param {Json} value
 */
export function define(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** @param {Schema} schema @returns {string[]} The names of the members that it requires. */
export function required(schema) {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
}

/** @param {unknown} value @returns {value is { [name: string]: any }} */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @param {string} type
 * @param {Json} value
 * @returns {boolean} True if a value has a type of JSON Schema.
 */
export function isOfType(type, value) {
  switch (type) {
    case "null": return value === null;
    case "boolean": return typeof value === "boolean";
    case "integer": return typeof value === "bigint" || Number.isInteger(value);
    case "number": return typeof value === "number" || typeof value === "bigint";
    case "string": return typeof value === "string";
    case "array": return Array.isArray(value);
    case "object": return isObject(value);
    default: return true;
  }
}

/**
 * @param {Schema} schema
 * @returns {string | null} The type that a schema states, or that its keywords are about.
 */
export function typeOf(schema) {
  const type = Array.isArray(schema.type) && schema.type.length === 1 ? schema.type[0] : schema.type;
  if (typeof type === "string") return TYPES.includes(type) ? type : null;
  if (isObjectOfItsOwn(schema)) return "object";
  if (isObject(schema.items) || Array.isArray(schema.prefixItems)) return "array";
  return null;
}

/** @param {Schema} schema */
function isObjectOfItsOwn(schema) {
  return isObject(schema.properties) || isObject(schema.additionalProperties) || isObject(schema.patternProperties);
}

/** @param {Schema} schema @param {Json} value */
function isWithin(schema, value) {
  if (typeof value === "string") {
    const length = [...value].length;
    return length >= (schema.minLength ?? 0) && length <= (schema.maxLength ?? Infinity);
  }
  if (typeof value === "number" || typeof value === "bigint") {
    return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
  }
  return true;
}

/**
 * The engine of a browser goes back and tries again, which that of the server never does: a pattern that can take long there is taken to match.
 *
 * @param {string} pattern @param {string} text
 */
function isMatch(pattern, text) {
  if (pattern.length > 200 || text.length > 200 || /\)[*+?{]|\\[1-9k]|\|/.test(pattern) || (pattern.match(/[*+?{]/g) ?? []).length > 3) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return false;
  }
}

/** @param {Json} value @param {Schema} schema @returns {Choice} */
function choice(value, schema) {
  const label = typeof schema.title === "string" ? schema.title : labelOf(value);
  return { value, label, description: typeof schema.description === "string" ? schema.description : "" };
}

/** @param {Json} value */
function labelOf(value) {
  return typeof value === "string" ? value : JSON.stringify(value, (_, part) => (typeof part === "bigint" ? part.toString() : part));
}

/** @param {Schema} schema @returns {Schema} The schema without what is told of it as a whole. */
function withoutTexts({ title: _title, description: _description, default: _default, examples: _examples, $schema: _schema, $defs: _defs, ...rest }) {
  return rest;
}

/**
 * Joins what two schemas demand, as far as a form shows it. The texts of the second one come first.
 *
 * @param {Schema} one
 * @param {Schema} other
 * @returns {Schema}
 */
function joinedWith(one, other) {
  const joined = { ...one, ...other };
  if (isObject(one.properties) && isObject(other.properties)) {
    joined.properties = { ...one.properties };
    for (const [name, schema] of Object.entries(other.properties)) {
      const both = Object.hasOwn(one.properties, name) ? { allOf: [one.properties[name], schema] } : schema;
      define(joined.properties, name, both);
    }
  }
  if (Array.isArray(one.required) && Array.isArray(other.required)) {
    joined.required = [...new Set([...one.required, ...other.required])];
  }
  // Each closes itself to what it does not name, and the form shows what is in both.
  if (one.additionalProperties !== undefined && other.additionalProperties === undefined) {
    joined.additionalProperties = one.additionalProperties;
  }
  for (const keyword of ["oneOf", "anyOf"]) {
    if (Array.isArray(one[keyword]) && Array.isArray(other[keyword])) {
      const { [keyword]: _, ...rest } = other;
      const spare = keyword === "oneOf" ? "anyOf" : "oneOf";
      if (joined[spare] === undefined) {
        Object.assign(joined, rest);
        joined[keyword] = one[keyword];
        joined[spare] = other[keyword];
      }
    }
  }
  return joined;
}
