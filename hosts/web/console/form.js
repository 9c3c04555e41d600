/**
 * The state of a form: one value, and how it is shown. Nothing here touches a page.
 *
 * A form never judges a value. It sends what was typed, also what is no number, and shows at each field what the server says of it.
 *
 * @module form
 */

import { JsonError, equal, numberText, parse, parseNumber, pointer, stringify } from "./json.js";
import { Schemas, define, isObject, isOfType, required, typeOf } from "./schema.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./schema.js").Schema} Schema */
/** @typedef {import("./schema.js").Choice} Choice */
/** @typedef {(string | number)[]} Path */
/** @typedef {{ path: string, message: string }} Problem A problem of the server, with the pointer to its place. */

/**
 * @typedef {object} Field
 * @property {import("./schema.js").Kind} kind
 * @property {Path} path
 * @property {string} pointer
 * @property {string} key A name of the field that stays while others are added, moved and removed.
 * @property {string} name The name of the member, or the number of the item.
 * @property {Schema} schema The resolved schema.
 * @property {Json | undefined} value
 * @property {string} text The text of its control.
 * @property {boolean} isRequired
 * @property {boolean} isEntry True for a member that the schema does not name.
 * @property {boolean} isForced True if the field is shown as JSON because a person wants it, or because its value is of another kind.
 * @property {string[]} problems
 * @property {Choice[]} choices Of a choice.
 * @property {Schema[]} options Of a union.
 * @property {number} chosen The index of the choice or option; -1 if there is none.
 * @property {number} chosenAbove The index of the option that this field shows, if it is the field of a union's option; otherwise -1.
 * @property {Field[]} fields The members, the items, or the chosen option's field.
 */

/** Levels of fields; what is deeper is shown as JSON. */
const DEEPEST = 24;

/** A form for the arguments of one tool. */
export class Form {
  /**
   * @param {Schema} schema The schema of the whole value.
   * @param {Json} [value] The value with which it begins.
   */
  constructor(schema, value) {
    this.schemas = new Schemas(schema);
    this.root = this.schemas.resolve(schema);
    /** @type {Json | undefined} */
    this.value = value ?? this.schemas.initial(this.root) ?? {};
    /** Texts that are being typed, by pointer. @type {Map<string, string>} */
    this._typed = new Map();
    /** Options that a person chose, by pointer. @type {Map<string, number>} */
    this._chosen = new Map();
    /** Fields that are shown as JSON. @type {Map<string, boolean>} */
    this._asJson = new Map();
    /** Names of items that stay. @type {Map<string, string>} */
    this._keys = new Map();
    this._lastKey = 0;
    /** @type {Map<string, string[]>} */
    this._problems = new Map();
    /** Texts that are no JSON, with what is wrong. @type {Map<string, string>} */
    this._faults = new Map();
    /** The text of the whole, while it is no JSON. @type {string | null} */
    this._whole = null;
  }

  /** @returns {Field} All of the form. */
  view() {
    return this._field(this.root, this.value, [], { isRequired: true, isEntry: false, name: "" });
  }

  /** True if a text is no JSON, so that nothing can be sent. */
  get isBroken() {
    return this._faults.size > 0 || this._whole !== null;
  }

  /** @returns {Json | undefined} What the form sends. */
  get arguments() {
    return this.value;
  }

  /** @returns {string} The whole as JSON. */
  get text() {
    return this._whole ?? stringify(this.value ?? {}, 2);
  }

  /**
   * Takes the whole from a text.
   *
   * @param {string} text
   * @returns {string | null} What is wrong with it.
   */
  setText(text) {
    try {
      const value = parse(text);
      this.value = value;
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this._whole = text;
      return error.message;
    }
    this._whole = null;
    for (const state of [this._typed, this._chosen, this._asJson, this._problems, this._faults, this._keys]) state.clear();
    return null;
  }

  /**
   * Shows what the server says, at the fields that it is about.
   *
   * @param {Problem[]} problems
   */
  setProblems(problems) {
    this._problems.clear();
    for (const { path, message } of problems) {
      const there = this._problems.get(path);
      if (there === undefined) this._problems.set(path, [message]);
      else there.push(message);
    }
  }

  /** @returns {string[]} What the server says of places that no field shows. */
  otherProblems() {
    /** @type {Set<string>} */
    const shown = new Set();
    /** @param {Field} field */
    const visit = (field) => {
      shown.add(field.pointer);
      field.fields.forEach(visit);
    };
    visit(this.view());
    return [...this._problems].filter(([place]) => !shown.has(place)).flatMap(([place, texts]) => texts.map((text) => `${place}: ${text}`));
  }

  /**
   * Takes what a person typed into a field: a text, a number, or JSON. An emptied field that may be left out is left out.
   *
   * @param {Field} field
   * @param {string} text
   */
  type(field, text) {
    this._faults.delete(field.pointer);
    // A text that is half of a number does not change the option.
    if (field.chosenAbove >= 0) this._chosen.set(field.pointer, field.chosenAbove);
    if (field.kind === "json") {
      this._typeJson(field, text);
      return;
    }
    if (field.kind === "number") {
      const number = parseNumber(text);
      this._typed.set(field.pointer, text);
      if (text.trim() === "" && canBeEmpty(field)) this._put(field.path, undefined);
      else this._put(field.path, number ?? text);
      return;
    }
    this._put(field.path, text === "" && field.value === undefined ? undefined : text);
  }

  /** @param {Field} field @param {string} text */
  _typeJson(field, text) {
    this._forgetBelow(field.pointer);
    // It stays JSON while it is typed, also where its value has controls in between.
    if (field.isForced) this._asJson.set(field.pointer, true);
    this._typed.set(field.pointer, text);
    if (text.trim() === "" && canBeEmpty(field)) {
      this._put(field.path, undefined);
      return;
    }
    try {
      this._put(field.path, parse(text));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this._faults.set(field.pointer, error.message);
    }
  }

  /**
   * Leaves a field whose control was being typed in: its text is now that of its value.
   *
   * @param {Field} field
   */
  leave(field) {
    if (!this._faults.has(field.pointer) && (field.kind === "json" || isOfKind(field))) this._typed.delete(field.pointer);
  }

  /**
   * Sets a field to a value, such as that of a checkbox or a file; `undefined` leaves it out.
   *
   * @param {Field} field
   * @param {Json | undefined} value
   */
  set(field, value) {
    this._forget(field.pointer);
    this._put(field.path, value);
  }

  /**
   * Puts an optional member in.
   *
   * @param {Field} field
   */
  include(field) {
    this.set(field, this.schemas.blank(field.schema));
  }

  /**
   * Chooses one of the values of a choice, or one of the options of a union. Of the members of an object, those that the new option
   * has too are kept.
   *
   * @param {Field} field
   * @param {number} index -1 leaves it out.
   */
  choose(field, index) {
    if (index < 0) {
      this.set(field, undefined);
      return;
    }
    if (field.kind === "choice") {
      this.set(field, field.choices[index]?.value);
      return;
    }
    const option = field.options[index];
    if (option === undefined) return;
    this._forget(field.pointer);
    this._chosen.set(field.pointer, index);
    let value = this.schemas.initial(option);
    if (value === undefined) value = this.schemas.blank(option);
    const before = field.value;
    if (isObject(value) && isObject(before)) {
      const previous = field.options[field.chosen];
      for (const [name, member] of Object.entries(before)) {
        if (this._isKept(option, previous, [...field.path, name], member)) define(value, name, member);
      }
    }
    this._put(field.path, value);
  }

  /**
   * @param {Schema} option The option that is chosen.
   * @param {Schema | undefined} previous The option before.
   * @param {Path} path The place of a member.
   * @param {Json} member
   * @returns {boolean} True if the member stays: the new option has it too, and has controls for its value.
   */
  _isKept(option, previous, path, member) {
    const name = String(path.at(-1));
    if (!hasMember(option, name)) return !hasMember(previous, name) && this.schemas.takesEntries(option);
    const schema = this.schemas.member(option, name);
    const before = hasMember(previous, name) ? this.schemas.member(/** @type {Schema} */ (previous), name) : schema;
    if (this.schemas.fixed(schema) !== undefined || this.schemas.kind(schema) !== this.schemas.kind(before)) return false;
    return isControlled(this._field(schema, member, path, { isRequired: true, isEntry: false, name }));
  }

  /**
   * Shows a field as JSON, or as controls again.
   *
   * @param {Field} field
   * @param {boolean} isJson
   */
  showAsJson(field, isJson) {
    this._forgetBelow(field.pointer);
    this._typed.delete(field.pointer);
    this._faults.delete(field.pointer);
    this._asJson.set(field.pointer, isJson);
  }

  /**
   * Adds an item at the end of an array.
   *
   * @param {Field} field The array.
   */
  addItem(field) {
    const items = Array.isArray(field.value) ? field.value : [];
    this._put(field.path, [...items, this.schemas.blank(this.schemas.item(field.schema, items.length))]);
  }

  /**
   * Takes an item, a member or an entry out.
   *
   * @param {Field} field
   */
  remove(field) {
    const place = field.path.at(-1);
    if (!isItem(field) || typeof place !== "number") {
      this.set(field, undefined);
      return;
    }
    const above = field.path.slice(0, -1);
    const items = /** @type {Json[]} */ (this._at(above));
    this._move(pointer(above), (index) => (index === place ? null : index > place ? index - 1 : index));
    this._put(above, items.toSpliced(place, 1));
  }

  /**
   * Moves an item of an array.
   *
   * @param {Field} field The item.
   * @param {number} to Its new index.
   */
  moveItem(field, to) {
    const above = field.path.slice(0, -1);
    const from = field.path.at(-1);
    const items = this._at(above);
    if (typeof from !== "number" || !Array.isArray(items) || to < 0 || to >= items.length) return;
    this._move(pointer(above), (index) => {
      if (index === from) return to;
      if (from < index && index <= to) return index - 1;
      return to <= index && index < from ? index + 1 : index;
    });
    this._put(above, items.toSpliced(from, 1).toSpliced(to, 0, items[from]));
  }

  /**
   * Adds a member that the schema does not name.
   *
   * @param {Field} field The object.
   * @param {string} name
   * @returns {boolean} False if it is there.
   */
  addEntry(field, name) {
    const members = isObject(field.value) ? field.value : {};
    if (Object.hasOwn(members, name)) return false;
    this._put([...field.path, name], this.schemas.blank(this.schemas.member(field.schema, name)));
    return true;
  }

  /**
   * Gives a member that the schema does not name another name. It keeps its place.
   *
   * @param {Field} field The member.
   * @param {string} name
   * @returns {boolean} False if another member has that name.
   */
  renameEntry(field, name) {
    const above = field.path.slice(0, -1);
    const members = this._at(above);
    const old = field.path.at(-1);
    if (old === name) return true;
    if (!isObject(members) || Object.hasOwn(members, name)) return false;
    /** @type {{ [name: string]: Json }} */
    const renamed = {};
    for (const [other, value] of Object.entries(members)) define(renamed, other === old ? name : other, value);
    this._moveKeys(field.pointer, pointer([...above, name]));
    this._put(above, renamed);
    return true;
  }

  /**
   * @param {Schema} schema @param {Json | undefined} value @param {Path} path
   * @param {{ isRequired: boolean, isEntry: boolean, name: string, depth?: number }} of
   * @returns {Field}
   */
  _field(schema, value, path, { isRequired, isEntry, name, depth = 0 }) {
    const place = pointer(path);
    const wanted = depth > DEEPEST ? "json" : this.schemas.kind(schema);
    const asJson = this._asJson.get(place);
    const isMisfit = value !== undefined && !this._typed.has(place) && !this._isShown(wanted, schema, value);
    const isForced = wanted !== "json" && (asJson === true || (isMisfit && (asJson === undefined || !canBegin(wanted))));
    const kind = isForced ? "json" : wanted;
    /** @type {Field} */
    const field = {
      kind, path, pointer: place, key: this._key(place), name, schema, value, isRequired, isEntry, isForced,
      text: this._text(kind, place, value),
      problems: [...(this._problems.get(place) ?? []), ...(this._faults.has(place) ? [/** @type {string} */ (this._faults.get(place))] : [])],
      choices: [], options: [], chosen: -1, chosenAbove: -1, fields: [],
    };
    if (kind === "choice") {
      field.choices = this.schemas.choices(schema) ?? [];
      field.chosen = field.choices.findIndex((choice) => value !== undefined && equal(choice.value, value));
    } else if (kind === "union") {
      field.options = this.schemas.options(schema);
      if (value !== undefined) {
        field.chosen = Math.min(this._chosen.get(place) ?? this.schemas.bestOption(schema, value), field.options.length - 1);
        const option = field.options[field.chosen];
        const inner = this._option(field, option, depth);
        if (inner !== null) field.fields = [inner];
      }
    } else if (kind === "array" && Array.isArray(value)) {
      field.fields = value.map((item, index) => this._field(this.schemas.item(schema, index), item, [...path, index], {
        isRequired: true, isEntry: false, name: String(index), depth: depth + 1,
      }));
    } else if (kind === "object" && isObject(value)) {
      field.fields = this._members(schema, /** @type {any} */ (value), path, depth);
    }
    return field;
  }

  /**
   * The field of the chosen option. It has the place of the union, so what is known of the place is known of both.
   *
   * @param {Field} field @param {Schema} option @param {number} depth
   * @returns {Field | null}
   */
  _option(field, option, depth) {
    if (this.schemas.kind(option) === "constant" || this.schemas.kind(option) === "null") return null;
    const inner = this._field(option, field.value, field.path, {
      isRequired: true, isEntry: field.isEntry, name: field.name, depth: depth + 1,
    });
    return { ...inner, key: `${field.key}:${field.chosen}`, problems: [], chosenAbove: field.chosen };
  }

  /** @param {Schema} schema @param {{ [name: string]: Json }} value @param {Path} path @param {number} depth */
  _members(schema, value, path, depth) {
    const known = isObject(schema.properties) ? schema.properties : {};
    const needed = new Set(required(schema));
    const fields = Object.keys(known).map((name) => this._field(this.schemas.resolve(known[name]), own(value, name), [...path, name], {
      isRequired: needed.has(name), isEntry: false, name, depth: depth + 1,
    }));
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(known, name)) continue;
      fields.push(this._field(this.schemas.member(schema, name), value[name], [...path, name], {
        isRequired: needed.has(name), isEntry: true, name, depth: depth + 1,
      }));
    }
    return fields;
  }

  /** @param {import("./schema.js").Kind} kind @param {Schema} schema @param {Json} value */
  _isShown(kind, schema, value) {
    switch (kind) {
      case "constant": return equal(schema.const, value);
      case "choice": return (this.schemas.choices(schema) ?? []).some((choice) => equal(choice.value, value));
      case "text": return typeof value === "string";
      // A new number is an empty text until one is typed.
      case "number": return typeof value === "number" || typeof value === "bigint" || value === "";
      case "boolean": return typeof value === "boolean";
      case "null": return value === null;
      case "array": return Array.isArray(value);
      case "object": return isObject(value);
      default: return true;
    }
  }

  /** @param {import("./schema.js").Kind} kind @param {string} place @param {Json | undefined} value */
  _text(kind, place, value) {
    const typed = this._typed.get(place);
    if (typed !== undefined) return typed;
    if (value === undefined) return "";
    if (kind === "json") return stringify(value, 2);
    if (typeof value === "string") return value;
    return typeof value === "number" || typeof value === "bigint" ? numberText(value) : "";
  }

  /** @param {string} place */
  _key(place) {
    let key = this._keys.get(place);
    if (key === undefined) {
      this._lastKey += 1;
      key = `f${this._lastKey}`;
      this._keys.set(place, key);
    }
    return key;
  }

  /** @param {Path} path @returns {Json | undefined} */
  _at(path) {
    /** @type {any} */
    let value = this.value;
    for (const step of path) value = own(value, step);
    return value;
  }

  /** @param {Path} path @param {Json | undefined} value */
  _put(path, value) {
    /** @param {Json | undefined} there @param {number} level @returns {Json | undefined} */
    const put = (there, level) => {
      if (level === path.length) return value;
      const step = path[level];
      const inner = put(own(there, step), level + 1);
      if (typeof step === "number" && Array.isArray(there)) {
        return inner === undefined ? there : there.with(step, inner);
      }
      /** @type {{ [name: string]: Json }} */
      const members = {};
      for (const [name, member] of Object.entries(isObject(there) ? there : {})) {
        if (name !== step || inner !== undefined) define(members, name, member);
      }
      if (inner !== undefined) define(members, String(step), inner);
      return members;
    };
    this.value = put(this.value, 0) ?? {};
    this._whole = null;
    // What the server said is about what was there before.
    this._problems.delete(pointer(path));
  }

  /** Forgets how a place and what is in it was shown. @param {string} place */
  _forget(place) {
    for (const state of this._states()) state.delete(place);
    this._forgetBelow(place);
  }

  /** Forgets how what is in a place was shown. @param {string} place */
  _forgetBelow(place) {
    for (const state of this._states()) {
      for (const other of [...state.keys()]) if (other.startsWith(`${place}/`)) state.delete(other);
    }
  }

  /** @returns {Map<string, unknown>[]} */
  _states() {
    return [this._typed, this._chosen, this._asJson, this._faults, this._problems];
  }

  /**
   * Follows items of an array to their new indices.
   *
   * @param {string} place The array.
   * @param {(index: number) => number | null} to
   */
  _move(place, to) {
    this._rekey((key) => {
      if (!key.startsWith(`${place}/`)) return key;
      const [index, ...rest] = key.slice(place.length + 1).split("/");
      const moved = to(Number(index));
      return moved === null ? null : [place, moved, ...rest].join("/");
    });
  }

  /** @param {string} from @param {string} to */
  _moveKeys(from, to) {
    this._rekey((key) => (key === from || key.startsWith(`${from}/`) ? to + key.slice(from.length) : key));
  }

  /** @param {(key: string) => string | null} to */
  _rekey(to) {
    for (const state of /** @type {Map<string, any>[]} */ ([this._typed, this._chosen, this._asJson, this._keys, this._problems, this._faults])) {
      const entries = [...state];
      state.clear();
      for (const [key, value] of entries) {
        const moved = to(key);
        if (moved !== null) state.set(moved, value);
      }
    }
  }
}

/** @param {unknown} value @param {string | number} step @returns {Json | undefined} */
function own(value, step) {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return /** @type {any} */ (value)[step];
}

/** @param {Schema | undefined} schema @param {string} name */
function hasMember(schema, name) {
  return isObject(schema?.properties) && Object.hasOwn(schema.properties, name);
}

/** @param {Field} field @returns {boolean} True if nothing in a field is shown as JSON because its value is of another kind. */
function isControlled(field) {
  return !field.isForced && field.fields.every(isControlled);
}

/** @param {Field} field */
function isItem(field) {
  return typeof field.path.at(-1) === "number";
}

/** True if an empty control can stand for no value. @param {Field} field */
function canBeEmpty(field) {
  return !isItem(field) && field.chosenAbove < 0;
}

/** @param {Field} field */
function isOfKind(field) {
  const type = typeOf(field.schema);
  return field.value === undefined || type === null || isOfType(type === "integer" ? "number" : type, field.value);
}

/** @param {import("./schema.js").Kind} kind */
function canBegin(kind) {
  return kind !== "constant" && kind !== "choice";
}
