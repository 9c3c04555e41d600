// Fills the forms of the console as a person does, by nothing but the operations that the controls of `fields.js` offer.
//
// Arguments: the directory of the console, a file with one case on each line, and the file to which one result for each case is written.
// A case has a `schema`, `values` that are valid, and `invalid` values with the problems of the server.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [directory, from, to] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(directory, name)).href);
const { Form } = await load("form.js");
const { equal, parse, stringify } = await load("json.js");

/** Characters up to which a text has a control of one line. */
const SHORT = 100;
/** Keywords that do not limit the value. */
const ANNOTATIONS = new Set(["title", "description", "default", "examples", "deprecated", "$defs", "$schema"]);

/** The controls cannot produce the value. */
class Unreachable extends Error {}

/** @returns {never} */
function fail(field, text) {
  throw new Unreachable(`${field.pointer || "the whole"} (${field.kind}${field.isForced ? ", forced" : ""}): ${text}`);
}

/** Finds a field by names of members, indices of items, and `null` for the field of a union's option. */
function at(form, steps) {
  let field = form.view();
  for (const step of steps) {
    const inner = step === null ? field.fields[0] : field.fields.find((other) => other.path.at(-1) === step);
    if (inner === undefined) fail(field, `it shows no field ${step}`);
    field = inner;
  }
  return field;
}

/** The controls beside a name: an optional member, an entry and an item can be removed. */
function remove(form, field) {
  const canRemove = typeof field.path.at(-1) === "number" || field.isEntry || !field.isRequired;
  if (!canRemove || field.chosenAbove >= 0) fail(field, "it cannot be removed");
  form.remove(field);
}

/** Makes a field have a value; `undefined` leaves it out. */
function fill(form, steps, value) {
  const field = at(form, steps);
  if (value === undefined) {
    if (field.value !== undefined) remove(form, field);
    return;
  }
  const control = CONTROLS[field.kind];
  control(form, steps, value, field);
  const after = at(form, steps);
  if (!equal(after.value, value)) fail(after, `it is ${stringify(after.value ?? null)} instead of ${stringify(value)}`);
}

/** Types a text in three steps, each of which may be half of a number or of JSON; what is empty is emptied. */
function type(form, steps, text) {
  const letters = [...text];
  const parts = text === "" ? ["x"] : [letters[0], letters.slice(0, Math.ceil(letters.length / 2)).join("")];
  for (const part of [...parts, text]) form.type(at(form, steps), part);
  form.leave(at(form, steps));
}

/** Puts something into all that an option shows, as a person does who then chooses another option. */
function scribble(form, steps, depth = 0) {
  const field = at(form, steps);
  if (field.value === undefined && (field.kind === "array" || field.kind === "object")) form.include(field);
  if (field.kind === "choice" && field.choices.length > 0) form.choose(field, field.choices.length - 1);
  else if (field.kind === "constant") CONTROLS.constant(form, steps, undefined, field);
  else if (field.kind === "text") type(form, steps, "x");
  else if (field.kind === "number") type(form, steps, "1");
  else if (field.kind === "boolean") form.set(field, true);
  else if (field.kind === "array" && canAdd(at(form, steps))) form.addItem(at(form, steps));
  if (depth > 2 || field.kind === "union") return;
  for (const inner of at(form, steps).fields) scribble(form, [...steps, inner.path.at(-1)], depth + 1);
}

const CONTROLS = {
  text(form, steps, value, field) {
    if (typeof value !== "string") fail(field, `it takes no ${stringify(value)}`);
    const { format, writeOnly, maxLength, pattern, contentEncoding } = field.schema;
    const isLine = [format, pattern, contentEncoding].some((keyword) => typeof keyword === "string") || writeOnly === true || Number(maxLength ?? Infinity) <= SHORT;
    if (isLine && !field.text.includes("\n") && /[\r\n]/u.test(value)) fail(field, "a control of one line takes no line break");
    type(form, steps, value);
  },
  number(form, steps, value, field) {
    if (typeof value !== "number" && typeof value !== "bigint") fail(field, `it takes no ${stringify(value)}`);
    type(form, steps, stringify(value));
  },
  boolean(form, steps, value, field) {
    if (typeof value !== "boolean") fail(field, `it takes no ${stringify(value)}`);
    if (field.isRequired && field.value === undefined) form.set(field, !value);
    form.set(at(form, steps), value);
  },
  choice(form, steps, value, field) {
    const index = field.choices.findIndex((choice) => equal(choice.value, value));
    if (index < 0) fail(field, `it has no ${stringify(value)}`);
    form.choose(field, index);
  },
  constant(form, steps, value, field) {
    if (field.isRequired && field.value !== undefined) return;
    form.set(field, field.schema.const);
  },
  null(form, steps, value, field) {
    if (field.isRequired && field.value !== undefined) return;
    form.set(field, null);
  },
  json(form, steps, value, field) {
    const limits = Object.keys(field.schema).filter((keyword) => !ANNOTATIONS.has(keyword));
    if (field.isForced || limits.length > 0) fail(field, `it is shown as JSON, and the schema has ${limits.join(", ")}`);
    type(form, steps, stringify(value, 2));
  },
  union(form, steps, value, field) {
    const faults = [];
    // What is in the other options may not be in the way.
    for (const index of field.options.keys()) {
      form.choose(at(form, steps), index);
      if (at(form, steps).fields.length > 0) scribble(form, [...steps, null]);
    }
    for (const index of field.options.keys()) {
      try {
        form.choose(at(form, steps), index);
        const [inner] = at(form, steps).fields;
        if (inner !== undefined) fill(form, [...steps, null], value);
        const after = at(form, steps);
        if (!equal(after.value, value)) fail(after, `option ${index} is ${stringify(after.value ?? null)}`);
        if (after.chosen !== index) fail(after, `option ${after.chosen} is shown instead of ${index}`);
        return;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        faults.push(error.message);
      }
    }
    fail(field, `no option can be ${stringify(value)}: ${faults.join("; ")}`);
  },
  array(form, steps, value, field) {
    if (!Array.isArray(value)) fail(field, `it takes no ${stringify(value)}`);
    if (field.value === undefined) form.include(field);
    const list = () => at(form, steps);
    const places = Array.isArray(list().schema.prefixItems) ? list().schema.prefixItems.length : 0;
    resize(form, list, value.length);
    if (places > 0 || value.length < 2) {
      value.forEach((item, index) => fill(form, [...steps, index], item));
      return;
    }
    // The first one is filled in last and moved up, and the second one is made anew if there is room.
    const turned = [...value.slice(1), value[0]];
    turned.forEach((item, index) => fill(form, [...steps, index], item));
    for (let index = value.length - 1; index > 0; index -= 1) form.moveItem(at(form, [...steps, index]), index - 1);
    if (!equal(list().value, value)) fail(list(), `moving an item made it ${stringify(list().value)}`);
    if (!canAdd(list())) return;
    form.addItem(list());
    fill(form, [...steps, value.length], value[1]);
    remove(form, at(form, [...steps, 1]));
    for (let index = value.length - 1; index > 1; index -= 1) form.moveItem(at(form, [...steps, index]), index - 1);
    // The fields follow their items: each has what its item needs.
    value.forEach((item, index) => fill(form, [...steps, index], item));
  },
  object(form, steps, value, field) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) fail(field, `it takes no ${stringify(value)}`);
    if (field.value === undefined) form.include(field);
    const shown = at(form, steps);
    const own = (name) => (Object.hasOwn(value, name) ? value[name] : undefined);
    for (const member of shown.fields) fill(form, [...steps, member.path.at(-1)], own(member.name));
    const isWhole = steps.length === 0;
    for (const name of Object.keys(value)) {
      const now = at(form, steps);
      if (now.fields.some((member) => member.name === name)) continue;
      const takesEntries = form.schemas.takesEntries(now.schema) || (isWhole && now.fields.some((member) => member.isEntry));
      if (!takesEntries) fail(now, `no member ${name} can be added`);
      if (!form.addEntry(now, name)) fail(now, `the member ${name} is refused`);
      fill(form, [...steps, name], own(name));
    }
  },
};

/** Whether an item can be added to an array, as its button says. */
function canAdd(field) {
  const { items, maxItems, prefixItems } = field.schema;
  const isTuple = Array.isArray(prefixItems) && (items === false || items === undefined) && field.fields.length >= prefixItems.length;
  return !isTuple && field.fields.length < Number(maxItems ?? Infinity);
}

function resize(form, list, length) {
  while (list().fields.length > length) remove(form, list().fields.at(-1));
  while (list().fields.length < length) {
    if (!canAdd(list())) fail(list(), "no item can be added");
    form.addItem(list());
  }
}

/** All fields of a view. */
function* all(field) {
  yield field;
  for (const inner of field.fields) yield* all(inner);
}

/** What the form sends after a person filled it in. */
function filled(schema, value) {
  const form = new Form(schema);
  try {
    fill(form, [], value);
    if (form.isBroken) return { failed: "the form is broken" };
    const other = [...all(form.view())].find((field) => field.isForced);
    if (other !== undefined) return { failed: `${other.pointer} is shown as JSON` };
    return { sent: stringify(form.arguments) };
  } catch (error) {
    return { failed: error instanceof Unreachable ? error.message : String(error.stack) };
  }
}

/** What is wrong with a form that begins with a valid value: each field has to be shown with controls, whose texts are the value. */
function shown(schema, value) {
  const form = new Form(schema, value);
  for (const field of [...all(form.view())]) {
    if (field.isForced) return `${field.pointer} is shown as JSON`;
    if (field.value !== undefined && ["text", "number", "json"].includes(field.kind)) {
      if (field.text === "") continue;
      form.type(field, field.text);
      form.leave(field);
    }
  }
  return equal(form.value, value) ? null : `typing again makes it ${stringify(form.value)}`;
}

/** Where each problem is shown: `field`, `other`, or what is wrong. */
function placed(schema, { text, problems }) {
  const form = new Form(schema);
  const fault = form.setText(text);
  if (fault !== null) return [fault];
  form.setProblems(problems);
  const fields = [...all(form.view())];
  const others = form.otherProblems();
  return problems.map(({ path, message }) => {
    const there = fields.filter((field) => field.pointer === path);
    const isThere = there.some((field) => field.problems.includes(message));
    if (there.length > 0) return isThere ? "field" : `${path} has a field without ${message}`;
    return others.includes(`${path}: ${message}`) ? "other" : `${path} is not shown: ${message}`;
  });
}

const cases = readFileSync(from, "utf8").split("\n").filter((line) => line !== "");
const results = cases.map((line) => {
  const { schema, values, invalid } = parse(line);
  return JSON.stringify({
    values: values.map((value) => ({ ...filled(schema, value), shown: shown(schema, value) })),
    invalid: invalid.map((one) => placed(schema, one)),
  });
});
writeFileSync(to, `${results.join("\n")}\n`);
