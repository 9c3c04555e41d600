/**
 * JSON whose numbers stay exact.
 *
 * An integer beyond 2^53 is a `bigint`, and a number with a point or an exponent is a `number`, however large it is.
 *
 * @module json
 */

/** @typedef {import("./types.js").Json} Json */

/** A text that is no JSON. */
export class JsonError extends Error {
  /**
   * @param {string} message
   * @param {number} place The place of the fault: the number of characters before it.
   */
  constructor(message, place) {
    super(message);
    this.name = "JsonError";
    this.place = place;
  }
}

/** Levels of arrays and objects, as many as the server reads. */
const DEEPEST = 127;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\n\r]*/y;
/** A part of a text: a run of plain signs, or an escape. One expression for a whole text of megabytes would run out of stack. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /true|false|null/y;

/**
 * Reads a text.
 *
 * @param {string} text
 * @returns {Json}
 * @throws {JsonError}
 */
export function parse(text) {
  let place = 0;

  /** @param {string} what @returns {never} */
  const fail = (what) => {
    const before = text.slice(0, place).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    throw new JsonError(`line ${before.length}, column ${column}: ${what}`, place);
  };
  /** @param {RegExp} pattern @returns {RegExpExecArray | null} */
  const take = (pattern) => {
    pattern.lastIndex = place;
    const found = pattern.exec(text);
    if (found !== null) place += found[0].length;
    return found;
  };
  /** @returns {string | null} A text with its quotes, if one begins here. */
  const quoted = () => {
    const start = place;
    if (text[place] !== '"') return null;
    place += 1;
    do take(PLAIN); while (take(ESCAPE) !== null);
    if (text[place] === '"') {
      place += 1;
      return text.slice(start, place);
    }
    return fail(place < text.length ? "a text has no such sign or escape" : "a text has no end");
  };
  /** @param {string} sign */
  const skip = (sign) => {
    take(SPACE);
    if (text[place] !== sign) return false;
    place += 1;
    take(SPACE);
    return true;
  };

  /** @param {number} depth @returns {Json} */
  const array = (depth) => {
    /** @type {Json[]} */
    const items = [];
    if (skip("]")) return items;
    do items.push(value(depth)); while (skip(","));
    if (!skip("]")) fail("a comma or `]` is missing");
    return items;
  };
  /** @param {number} depth @returns {Json} */
  const object = (depth) => {
    /** @type {Map<string, Json>} */
    const members = new Map();
    if (skip("}")) return fromMembers(members);
    do {
      const name = quoted();
      if (name === null) return fail("the name of a member is missing: a text in double quotes");
      const read = /** @type {string} */ (JSON.parse(name));
      if (members.has(read)) fail(`the member ${name} is there twice`);
      if (!skip(":")) fail("a colon is missing");
      members.set(read, value(depth));
    } while (skip(","));
    if (!skip("}")) fail("a comma or `}` is missing");
    return fromMembers(members);
  };
  /** @param {number} depth @returns {Json} */
  const value = (depth) => {
    take(SPACE);
    if (depth > DEEPEST) fail(`it has more than ${DEEPEST} levels`);
    if (skip("[")) return array(depth + 1);
    if (skip("{")) return object(depth + 1);
    const word = take(WORD);
    if (word !== null) return /** @type {boolean | null} */ (JSON.parse(word[0]));
    const read = quoted();
    if (read !== null) return /** @type {string} */ (JSON.parse(read));
    const digits = take(NUMBER);
    if (digits === null) return fail(place < text.length ? "a value is missing here" : "it ends too early");
    const number = numberOf(digits);
    return number ?? fail(`${digits[0]} is too large for a number`);
  };

  const whole = value(0);
  take(SPACE);
  if (place < text.length) fail("it goes on after its end");
  return whole;
}

/**
 * Makes an object of members of any names: `__proto__` is a name as any other.
 *
 * @param {Iterable<[string, Json]>} members
 * @returns {{ [name: string]: Json }}
 */
export function fromMembers(members) {
  return Object.fromEntries(members);
}

/**
 * @param {RegExpExecArray} found
 * @returns {number | bigint | null}
 */
function numberOf([digits, fraction, exponent]) {
  const number = Number(digits);
  if (!Number.isFinite(number)) return null;
  const isInteger = fraction === undefined && exponent === undefined;
  if (!isInteger) return number;
  if (!Number.isSafeInteger(number)) return BigInt(digits);
  return Object.is(number, -0) ? 0 : number;
}

/**
 * Reads a number as a person types it, such as `-5`, `0.5` or `1e9`.
 *
 * @param {string} text
 * @returns {number | bigint | null} `null` if it is none.
 */
export function parseNumber(text) {
  const trimmed = text.trim();
  NUMBER.lastIndex = 0;
  const found = NUMBER.exec(trimmed);
  return found !== null && found[0].length === trimmed.length ? numberOf(found) : null;
}

/**
 * Writes a number so that it is read again as it is.
 *
 * @param {number | bigint} number
 */
export function numberText(number) {
  if (typeof number === "bigint") return number.toString();
  // The digits of a large one are those of an integer, and it is none.
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) return number.toExponential();
  return Object.is(number, -0) ? "-0.0" : JSON.stringify(number);
}

/**
 * Writes a value.
 *
 * @param {Json} value
 * @param {number} [indent] Spaces for each level; all is on one line by default.
 * @returns {string}
 */
export function stringify(value, indent = 0) {
  /** @param {Json} value @param {string} margin @returns {string} */
  const write = (value, margin) => {
    if (typeof value === "number" || typeof value === "bigint") return numberText(value);
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    const inner = indent > 0 ? `${margin}${" ".repeat(indent)}` : "";
    const [open, close, parts] = Array.isArray(value)
      ? ["[", "]", value.map((item) => write(item, inner))]
      : ["{", "}", Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${indent > 0 ? " " : ""}${write(item, inner)}`)];
    if (parts.length === 0) return open + close;
    if (indent === 0) return `${open}${parts.join(",")}${close}`;
    return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${margin}${close}`;
  };
  return write(value, "");
}

/**
 * @param {Json | undefined} one
 * @param {Json | undefined} other
 * @returns {boolean} True if both are the same value, whatever the order of members is.
 */
export function equal(one, other) {
  if (one === other) return true;
  if (typeof one === "number" || typeof one === "bigint") {
    // eslint-disable-next-line eqeqeq
    return (typeof other === "number" || typeof other === "bigint") && one == other;
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length
      && one.every((item, index) => equal(item, other[index]));
  }
  const names = Object.keys(one);
  return names.length === Object.keys(other).length
    && names.every((name) => Object.hasOwn(other, name) && equal(one[name], other[name]));
}

/**
 * Writes the place of a value as a JSON pointer (RFC 6901).
 *
 * @param {readonly (string | number)[]} path
 */
export function pointer(path) {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
