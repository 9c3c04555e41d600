/**
 * The controls of a form.
 *
 * @module fields
 */

import { h } from "./render.js";
import { pointer, stringify } from "./json.js";
import { visible } from "./text.js";

/** @typedef {import("./form.js").Form} Form */
/** @typedef {import("./form.js").Field} Field */
/** @typedef {import("./schema.js").Schema} Schema */
/** @typedef {import("./types.js").Child} Child */

/** Names of arguments that are files of the workspace. */
const OF_FILES = /(?:path|file|image|audio|video|document)$/i;
/** Bytes of a file that is sent as data. */
const LARGEST_FILE = 2 << 20;
/** Characters beyond which a text has a control of several lines. */
const SHORT = 100;

const PLACEHOLDERS = /** @type {{ [format: string]: string }} */ ({
  date: "2026-11-30", time: "18:30:00Z", "date-time": "2026-11-30T18:30:00Z", email: "name@example.org", uri: "https://example.org/", uuid: "00000000-0000-0000-0000-000000000000",
  ipv4: "192.0.2.1", ipv6: "2001:db8::1", duration: "PT5M",
});
const INPUT_MODES = /** @type {{ [format: string]: string }} */ ({ email: "email", uri: "url", url: "url", "uri-reference": "url", ipv4: "decimal" });

/** The controls of one form, in one place of the page. */
export class Fields {
  /**
   * @param {Form} form
   * @param {(isTyped: boolean) => void} changed Called after each change.
   * @param {((file: File) => Promise<string>) | null} [upload] Stores a file in the workspace, and returns its path.
   */
  constructor(form, changed, upload = null) {
    this.form = form;
    this.changed = changed;
    this.upload = upload;
    /** Names of new members that are typed, by the key of their object. @type {Map<string, string>} */
    this._names = new Map();
    /** What could not be done, by the key of the field. @type {Map<string, string>} */
    this._notes = new Map();
  }

  /** @returns {Child[]} All controls. */
  show() {
    const whole = this.form.view();
    const inner = whole.kind === "union" ? [this._union(whole, true)] : whole.fields.map((field) => this._field(field));
    if (whole.kind === "json") {
      const back = whole.isForced ? h("button.small", { type: "button", onclick: () => this._act(() => this.form.setText("{}")) }, "Begin with empty arguments") : null;
      return [h("div.field", { key: whole.key }, h("label", { for: whole.key }, "Arguments as JSON"), this._control(whole), ...this._problems(whole), back)];
    }
    const more = whole.kind === "object" && (this.form.schemas.takesEntries(whole.schema) || whole.fields.some((field) => field.isEntry)) ? this._entries(whole) : null;
    if (inner.length === 0 && more === null) return [h("p.note", null, "This tool takes no arguments.")];
    return [...this._problems(whole), ...inner, ...(more === null ? [] : [more])];
  }

  /** @param {Field} field @param {boolean} [isLast] True for the last item of an array. @returns {Child} */
  _field(field, isLast = true) {
    const isGroup = field.kind === "object" || field.kind === "array" || field.kind === "union";
    const parts = [this._description(field), this._control(field), ...this._problems(field)];
    const optional = field.isRequired ? null : h("span.optional", null, "optional");
    const tools = this._tools(field, isLast);
    if (isGroup) {
      return h("fieldset.field", { key: field.key, "data-field": field.pointer, "aria-describedby": describedBy(field), "aria-invalid": field.problems.length > 0 && !isMissing(field) ? "true" : undefined },
        h("legend", null, this._name(field), optional, tools), ...parts);
    }
    return h("div.field", { key: field.key, "data-field": field.pointer },
      h("div.label", null, h("label", { for: field.key, id: `${field.key}-label` }, this._name(field)), optional, tools), ...parts);
  }

  /** @param {Field} field @returns {Child} */
  _name(field) {
    if (typeof field.path.at(-1) === "number") return `${Number(field.name) + 1}.`;
    const title = typeof field.schema.title === "string" && field.schema.title !== field.name ? ` ${visible(field.schema.title)}` : "";
    return h("span", null, h("code", null, visible(field.name)), title);
  }

  /** Buttons beside the name. @param {Field} field @param {boolean} isLast @returns {Child | null} */
  _tools(field, isLast) {
    const isItem = typeof field.path.at(-1) === "number";
    const name = isItem ? `item ${Number(field.name) + 1}` : field.name;
    const index = Number(field.path.at(-1));
    // A button that is off keeps the focus: it is where a moved item is moved on.
    /** @param {string} label @param {string} sign @param {() => void} act @param {boolean} [isOff] */
    const button = (label, sign, act, isOff) => h("button.small", { type: "button", "aria-label": label, title: label, "aria-disabled": isOff ? "true" : undefined, onclick: () => isOff || this._act(act) }, sign);
    const above = pointer(field.path.slice(0, -1));
    const canBeForced = field.kind !== "json" || field.isForced;
    return h("span.acts", null,
      isItem ? button(`Move ${name} up`, "↑", () => this.form.moveItem(field, index - 1), index === 0) : null,
      isItem ? button(`Move ${name} down`, "↓", () => this.form.moveItem(field, index + 1), isLast) : null,
      canBeForced && field.value !== undefined && (field.isForced || isNested(field))
        ? button(field.isForced ? `Show controls for ${name}` : `Edit ${name} as JSON`, "{}", () => { this.form.showAsJson(field, !field.isForced); this._goTo(field.pointer); }) : null,
      (isItem || field.isEntry || !field.isRequired) && field.value !== undefined ? button(`Remove ${name}`, "×", () => { this.form.remove(field); this._goTo(isItem || field.isEntry ? above : field.pointer, isItem || field.isEntry); }) : null);
  }

  /** @param {Field} field @returns {Child | null} */
  _description(field) {
    const text = typeof field.schema.description === "string" ? field.schema.description : "";
    const bounds = boundsOf(field.schema);
    const fallback = Object.hasOwn(field.schema, "default") && field.value === undefined ? `Default: ${stringify(field.schema.default)}.` : "";
    const whole = [text, bounds, fallback].filter((part) => part !== "").join(" ");
    return whole === "" ? null : h("p.description", { id: `${field.key}-description` }, visible(whole));
  }

  /** @param {Field} field @returns {Child[]} */
  _problems(field) {
    const texts = [...field.problems, ...(this._notes.has(field.key) ? [/** @type {string} */ (this._notes.get(field.key))] : [])];
    const start = `${field.pointer}: `;
    // Nothing is wrong yet with what was not typed.
    const kind = isMissing(field) && !this._notes.has(field.key) ? "p.missing" : "p.problem";
    return texts.map((text) => (text.startsWith(start) ? text.slice(start.length) : text)).map((text, index) =>
      h(kind, { id: index === 0 ? `${field.key}-problem` : undefined, role: index === 0 ? "status" : undefined }, visible(text)));
  }

  /** @param {Field} field @returns {Child} */
  _control(field) {
    switch (field.kind) {
      case "text": return isData(field.schema) ? this._file(field) : this._text(field);
      case "number": return this._input(field, { inputmode: field.schema.type === "integer" ? "numeric" : "decimal", class: "number" });
      case "boolean": return this._boolean(field);
      case "choice": return this._choice(field);
      case "constant": return this._constant(field);
      case "null": return this._constant(field);
      case "array": return this._array(field);
      case "object": return this._object(field);
      case "union": return this._union(field, false);
      default: return this._json(field);
    }
  }

  /** @param {Field} field @param {import("./types.js").Props} [props] */
  _input(field, props) {
    return h("input", {
      type: "text", id: field.key, value: field.text, autocomplete: "off", spellcheck: "false", ...this._about(field),
      placeholder: PLACEHOLDERS[String(field.schema.format)] ?? undefined, ...props,
      oninput: (/** @type {any} */ event) => this._typed(field, event.target.value),
      onblur: () => this._act(() => this.form.leave(field), true),
    });
  }

  /** @param {Field} field */
  _text(field) {
    const { format, writeOnly, maxLength, pattern } = field.schema;
    if (isSecret(field.schema)) return this._input(field, { type: "password", autocomplete: "new-password" });
    const isLine = typeof format === "string" || writeOnly === true || typeof pattern === "string" || Number(maxLength ?? Infinity) <= SHORT;
    const control = isLine && !field.text.includes("\n") ? this._input(field, { inputmode: INPUT_MODES[String(format)] })
      : this._area(field, Math.min(Math.max(field.text.split("\n").length, 1), 16));
    if (this.upload === null || format !== undefined || !OF_FILES.test(field.name)) return control;
    return h("div.uploads", null, control, h("input", {
      type: "file", "aria-label": `Upload a file for ${field.name}`, onchange: (/** @type {any} */ event) => void this._upload(field, event.target),
    }));
  }

  /** @param {Field} field @param {HTMLInputElement} input */
  async _upload(field, input) {
    const file = input.files?.[0];
    if (file === undefined || this.upload === null) return;
    try {
      const path = await this.upload(file);
      this._act(() => {
        this._notes.delete(field.key);
        this.form.set(field, path);
      });
    } catch (error) {
      this._act(() => this._notes.set(field.key, /** @type {Error} */ (error).message));
    }
  }

  /** @param {Field} field @param {number} rows */
  _area(field, rows) {
    return h("textarea", {
      id: field.key, rows: String(rows), value: field.text, spellcheck: "false", ...this._about(field), class: field.kind === "json" ? "code" : undefined,
      oninput: (/** @type {any} */ event) => this._typed(field, event.target.value),
      onblur: () => this._act(() => this.form.leave(field), true),
    });
  }

  /** @param {Field} field */
  _json(field) {
    return this._area(field, Math.min(Math.max(field.text.split("\n").length, 2), 24));
  }

  /** @param {Field} field */
  _file(field) {
    const size = typeof field.value === "string" ? `${Math.floor(field.value.length * 3 / 4).toLocaleString()} bytes as Base64` : "";
    return h("div.row", null,
      h("input", {
        type: "file", id: `${field.key}-file`, "aria-label": `File for ${field.name}`, accept: field.schema.contentMediaType,
        onchange: (/** @type {any} */ event) => void this._readFile(field, event.target),
      }),
      this._input(field, { class: "grow", "aria-label": `${field.name} as Base64` }), h("span.note", null, size));
  }

  /** @param {Field} field @param {HTMLInputElement} input */
  async _readFile(field, input) {
    const file = input.files?.[0];
    if (file === undefined) return;
    if (file.size > LARGEST_FILE) {
      this._act(() => this._notes.set(field.key, `The file has more than ${LARGEST_FILE.toLocaleString()} bytes.`));
      return;
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = "";
    for (let from = 0; from < bytes.length; from += 8_192) binary += String.fromCharCode(...bytes.subarray(from, from + 8_192));
    this._act(() => {
      this._notes.delete(field.key);
      this.form.set(field, btoa(binary));
    });
  }

  /** @param {Field} field */
  _boolean(field) {
    if (field.isRequired) {
      return h("input", {
        type: "checkbox", id: field.key, checked: field.value === true, ...this._about(field),
        onchange: (/** @type {any} */ event) => this._act(() => this.form.set(field, event.target.checked)),
      });
    }
    const options = [["", "left out"], ["true", "true"], ["false", "false"]];
    return this._select(field, options, field.value === undefined ? "" : String(field.value), (value) => this.form.set(field, value === "" ? undefined : value === "true"));
  }

  /** @param {Field} field */
  _choice(field) {
    const options = field.choices.map((choice, index) => [String(index), choice.description === "" ? choice.label : `${choice.label} – ${choice.description}`]);
    const none = field.isRequired ? "Choose…" : "left out";
    if (field.value === undefined || !field.isRequired) options.unshift(["-1", none]);
    return this._select(field, options, String(field.chosen), (value) => this.form.choose(field, Number(value)));
  }

  /** @param {Field} field */
  _constant(field) {
    const text = field.kind === "null" ? "null" : stringify(field.schema.const);
    if (field.isRequired && field.value !== undefined) return h("output", { id: field.key }, h("code", null, visible(text)));
    return this._select(field, [["", field.isRequired ? "Choose…" : "left out"], ["set", text]], field.value === undefined ? "" : "set",
      (value) => this.form.set(field, value === "" ? undefined : field.kind === "null" ? null : field.schema.const));
  }

  /** @param {Field} field */
  _array(field) {
    if (field.value === undefined) return this._absent(field);
    const canAdd = field.fields.length < Number(field.schema.maxItems ?? Infinity);
    const { items, prefixItems } = field.schema;
    const isTuple = Array.isArray(prefixItems) && (items === false || items === undefined) && field.fields.length >= prefixItems.length;
    return h("div.items", null,
      field.fields.map((item, index) => this._field(item, index === field.fields.length - 1)),
      isTuple ? null : h("button.small.adds", { type: "button", disabled: !canAdd, onclick: () => this._act(() => { this.form.addItem(field); this._goTo(`${field.pointer}/${field.fields.length}`); }) }, `Add an item to ${field.name}`));
  }

  /** @param {Field} field */
  _object(field) {
    if (field.value === undefined) return this._absent(field);
    const takesEntries = this.form.schemas.takesEntries(field.schema);
    return h("div.members", null, field.fields.map((member) => this._field(member)), takesEntries ? this._entries(field) : null);
  }

  /** A name and a button for a member that the schema does not name. @param {Field} field @returns {Child} */
  _entries(field) {
    const add = () => this._act(() => {
      const name = this._names.get(field.key) ?? "";
      if (this.form.addEntry(field, name)) {
        this._names.delete(field.key);
        this._notes.delete(field.key);
        this._goTo(pointer([...field.path, name]));
      } else {
        this._notes.set(field.key, `There is a member ${name} already.`);
      }
    });
    const of = field.name === "" ? "" : ` of ${field.name}`;
    return h("div.row", { key: `${field.key}-entries` },
      h("input", {
        type: "text", "aria-label": `Name of a new member${of}`, placeholder: "name", value: this._names.get(field.key) ?? "", autocomplete: "off",
        oninput: (/** @type {any} */ event) => { this._names.set(field.key, event.target.value); },
        onkeydown: (/** @type {any} */ event) => { if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) { event.preventDefault(); add(); } },
      }),
      h("button.small.adds", { type: "button", onclick: add }, `Add a member${of}`));
  }

  /** @param {Field} field @param {boolean} isWhole */
  _union(field, isWhole) {
    const names = field.options.map((option, index) => [String(index), labelOf(option, this.form)]);
    if (field.value === undefined || (!field.isRequired && !isWhole)) names.unshift(["-1", field.isRequired ? "Choose…" : "left out"]);
    const [inner] = field.fields;
    return h("div.union", null,
      this._select(field, names, String(field.chosen), (value) => this.form.choose(field, Number(value)), isWhole ? "Kind of arguments" : undefined),
      inner === undefined ? null : h("div.members", { key: inner.key }, inner.kind === "object" || inner.kind === "array" ? this._control(inner) : this._control({ ...inner, key: `${field.key}-value` })));
  }

  /** @param {Field} field */
  _absent(field) {
    return h("button.small", { type: "button", id: field.key, onclick: () => this._act(() => { this.form.include(field); this._goTo(field.pointer); }) }, `Add ${field.name}`);
  }

  /** @param {Field} field @param {string[][]} options @param {string} value @param {(value: string) => void} choose @param {string} [label] */
  _select(field, options, value, choose, label) {
    const about = this._about(field);
    return h("select", {
      id: field.key, value, ...about, "aria-label": label ?? (field.kind === "union" ? `Kind of ${about["aria-label"]?.toLowerCase() ?? field.name}` : about["aria-label"]),
      onchange: (/** @type {any} */ event) => this._act(() => choose(event.target.value)),
    }, options.map(([option, text]) => h("option", { value: option }, visible(text))));
  }

  /** @param {Field} field @returns {import("./types.js").Props} */
  _about(field) {
    return {
      "aria-describedby": describedBy(field), "aria-invalid": field.problems.length > 0 && !isMissing(field) ? "true" : undefined, "data-pointer": field.pointer,
      "aria-required": field.isRequired && field.kind !== "boolean" ? "true" : undefined,
      "aria-label": typeof field.path.at(-1) === "number" ? `Item ${Number(field.name) + 1}` : field.chosenAbove >= 0 ? `Value of ${field.name}` : undefined,
    };
  }

  /** @param {Field} field @param {string} text */
  _typed(field, text) {
    this.form.type(field, text);
    this.changed(true);
  }

  /**
   * Moves the focus to a field, after it is drawn: what had the focus is gone.
   *
   * @param {string} place
   * @param {boolean} [isEnd] True for the last control of the field, which adds a part to it.
   */
  _goTo(place, isEnd) {
    setTimeout(() => {
      const field = place === "" ? document.querySelector("form") : document.querySelector(`[data-field="${CSS.escape(place)}"]`);
      const adding = isEnd === true ? [...field?.querySelectorAll(".adds") ?? []].at(-1) : null;
      const control = adding ?? field?.querySelector(":is(input, select, textarea, button):not(.acts *)");
      /** @type {HTMLElement | null | undefined} */ (control)?.focus();
      if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) control.select();
    });
  }

  /** @param {() => unknown} act @param {boolean} [isQuiet] */
  _act(act, isQuiet) {
    act();
    this.changed(isQuiet === true);
  }
}

/** @param {Schema} schema @returns {boolean} True if a value is not to be seen, kept in links or copied. */
export function isSecret(schema) {
  return schema.format === "password" || schema.writeOnly === true;
}

/** @param {Schema} schema */
function isData(schema) {
  return schema.contentEncoding === "base64";
}

/** @param {Field} field */
function isNested(field) {
  return field.kind === "object" || field.kind === "array" || field.kind === "union";
}

/** @param {Field} field @returns {boolean} True if the field waits for a value. */
function isMissing(field) {
  return field.value === undefined && field.isRequired;
}

/** @param {Field} field */
function describedBy(field) {
  const ids = [];
  if (typeof field.schema.description === "string" || boundsOf(field.schema) !== "" || (Object.hasOwn(field.schema, "default") && field.value === undefined)) ids.push(`${field.key}-description`);
  if (field.problems.length > 0) ids.push(`${field.key}-problem`);
  return ids.length > 0 ? ids.join(" ") : undefined;
}

/** @param {Schema} schema @returns {string} The bounds of a value, in words. */
function boundsOf(schema) {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf, minLength, maxLength, minItems, maxItems, pattern } = schema;
  const [shown, parts] = [(/** @type {any} */ number) => stringify(number), /** @type {string[]} */ ([])];
  if (minimum !== undefined && maximum !== undefined) parts.push(`${shown(minimum)} to ${shown(maximum)}`);
  else if (minimum !== undefined) parts.push(`at least ${shown(minimum)}`);
  else if (maximum !== undefined) parts.push(`at most ${shown(maximum)}`);
  if (above !== undefined) parts.push(`above ${shown(above)}`);
  if (below !== undefined) parts.push(`below ${shown(below)}`);
  if (multipleOf !== undefined) parts.push(`a multiple of ${shown(multipleOf)}`);
  parts.push(...countOf(minLength, maxLength, "character", "characters"), ...countOf(minItems, maxItems, "item", "items"));
  if (typeof pattern === "string") parts.push(`matches ${pattern}`);
  return parts.length > 0 ? `(${parts.join(", ")})` : "";
}

/** @param {any} least @param {any} most @param {string} one @param {string} several */
function countOf(least, most, one, several) {
  const named = (/** @type {any} */ count) => `${stringify(count)} ${Number(count) === 1 ? one : several}`;
  if (least !== undefined && most !== undefined) return [Number(least) === Number(most) ? named(least) : `${stringify(least)} to ${named(most)}`];
  if (least !== undefined) return Number(least) > 0 ? [`at least ${named(least)}`] : [];
  return most !== undefined ? [`at most ${named(most)}`] : [];
}

/** @param {Schema} option @param {Form} form @returns {string} A name of an option of a union. */
function labelOf(option, form) {
  if (typeof option.title === "string") return option.title;
  const properties = typeof option.properties === "object" && option.properties !== null ? option.properties : {};
  for (const name of Object.keys(properties)) {
    const tag = form.schemas.fixed(form.schemas.resolve(properties[name]));
    if (typeof tag === "string") return withText(tag, option);
  }
  if (Object.hasOwn(option, "const")) return withText(stringify(option.const), option);
  if (Array.isArray(option.required) && option.required.length === 1 && Object.keys(properties).length === 1) return withText(String(option.required[0]), option);
  const kind = form.schemas.kind(option);
  const names = { text: "text", number: "number", boolean: "true or false", null: "null", choice: "one of some values", constant: "value", array: "list", object: "object", union: "one of several", json: "JSON" };
  return withText(kind === "number" && option.type === "integer" ? "integer" : names[kind], option);
}

/** @param {string} label @param {Schema} schema */
function withText(label, schema) {
  const text = typeof schema.description === "string" ? schema.description.split("\n")[0] : "";
  return text === "" ? label : `${label} – ${text}`;
}
