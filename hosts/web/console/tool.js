/**
 * The page of one tool: what it does, a form for its arguments, and its calls.
 *
 * @module tool
 */

import { h } from "./render.js";
import { JsonError, equal, parse, stringify } from "./json.js";
import { Form } from "./form.js";
import { Fields, isSecret } from "./fields.js";
import { Media, VIEWS, show } from "./result.js";
import { question } from "./questions.js";
import { snippets } from "./snippets.js";
import { markdown, short, terminal, visible } from "./text.js";

import { ApiError } from "./api.js";

/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./form.js").Field} Field */
/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").Child} Child */

/** Time after the last key until what was typed is checked, in milliseconds. */
const PAUSE = 250;
/** Calls of one tool that the page keeps. */
const MOST_CALLS = 20;
/** Characters of the output of a running call that are kept, and those of its end that are shown. */
const [MOST_OUTPUT, MOST_SEEN] = [400_000, 50_000];
/** Time in which a new question cannot be answered: it may have come under the pointer, in milliseconds. */
const NEW_FOR = 500;

/**
 * @typedef {object} Call
 * @property {number} number
 * @property {Json} args
 * @property {number} began
 * @property {number} [ended]
 * @property {any} [result]
 * @property {string} [failure] Why there is no result.
 * @property {boolean} [isUnknown] True if the tool may have run, and nobody knows what became of it.
 * @property {any} [progress]
 * @property {string[]} pieces Parts of the output so far.
 * @property {{ level: string, text: string }[]} log
 * @property {any[]} asks
 * @property {{ [id: string]: string }} reasons
 * @property {{ [id: string]: string }} problems
 * @property {AbortController} abort
 * @property {Media} media
 */

/** The state of one tool's page. */
export class ToolPage {
  /**
   * @param {string} name
   * @param {Api} api
   * @param {() => void} update
   * @param {((file: File) => Promise<string>) | null} [upload] Stores a file in the workspace, and returns its path.
   */
  constructor(name, api, update, upload = null) {
    this.name = name;
    this.api = api;
    this.update = update;
    this._upload = upload;
    /** The last calls by all, once they are asked for. @type {any[] | string | null} */
    this._last = null;
    /** @type {any} */
    this._definition = null;
    /** @type {string | null} */
    this._failure = null;
    /** @type {Form | null} */
    this.form = null;
    /** @type {Fields | null} */
    this.fields = null;
    this._isJson = false;
    /** @type {string | null} */
    this.fault = null;
    /** @type {string | null} */
    this._invalid = null;
    /** @type {string[]} */
    this._repairs = [];
    /** @type {Call[]} */
    this.calls = [];
    this.shown = 0;
    this.view = /** @type {string} */ (VIEWS[0]);
    this.note = "";
    /** Arguments of a link that a person did not take yet. @type {string | null} */
    this._offered = null;
    /** The arguments of the last link that was made here. @type {string | null} */
    this._shared = null;
    this._isCodeOpen = false;
    this._count = 0;
    this._timer = 0;
    this._checks = 0;
  }

  /** Loads the definition. @param {string | null} shared Arguments of a link. */
  async load(shared) {
    try {
      this._definition = await this.api.get(`/v1/tools/${encodeURIComponent(this.name)}`);
      this._failure = null;
      if (this.form === null) this._begin(shared);
      else if (shared !== null && shared !== this._shared && !isText(shared, this.form)) this._offered = shared;
    } catch (error) {
      this._failure = /** @type {Error} */ (error).message;
    }
    this.update();
  }

  /** @param {string | null} shared */
  _begin(shared) {
    const schema = this._definition.inputSchema ?? { type: "object", properties: {} };
    this._setForm(new Form(schema));
    if (shared !== null) {
      const fault = /** @type {Form} */ (this.form).setText(shared);
      this.note = fault === null ? "These are the arguments of the link." : `The arguments of the link cannot be read: ${fault}`;
    }
    void this.check();
  }

  /** @param {Form} form */
  _setForm(form) {
    this.form = form;
    this.fields = new Fields(form, (isTyped) => this._changed(isTyped), this._upload);
  }

  /** @param {boolean} isTyped */
  _changed(isTyped) {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => void this.check(), isTyped ? PAUSE : 0);
    this.update();
  }

  /** Asks the server what it says of the arguments. */
  async check() {
    const { form } = this;
    if (form === null || form.isBroken || this._definition?.inputSchema === undefined) return;
    this._checks += 1;
    const number = this._checks;
    const sent = form.arguments ?? {};
    try {
      const checked = await this.api.post(`/v1/tools/${encodeURIComponent(this.name)}/validate`, sent);
      // What was said of earlier arguments does not count.
      if (number !== this._checks || !equal(sent, form.arguments ?? {})) return;
      form.setProblems(checked.valid ? [] : checked.problems);
      this._invalid = checked.valid ? null : String(checked.text);
      this._repairs = checked.valid ? checked.repairs.map((/** @type {any} */ repair) => `${repair.pointer}: ${repair.note}`) : [];
    } catch (error) {
      if (number !== this._checks) return;
      form.setProblems([]);
      this._invalid = /** @type {Error} */ (error).message;
      this._repairs = [];
    }
    this.update();
  }

  /** @returns {Call | undefined} */
  get running() {
    return this.calls.find((call) => call.ended === undefined);
  }

  async run() {
    const { form } = this;
    if (form === null || form.isBroken || this.running !== undefined) return;
    this._count += 1;
    /** @type {Call} */
    const call = {
      number: this._count, args: form.arguments ?? {}, began: Date.now(), pieces: [], log: [], asks: [], reasons: {}, problems: {},
      abort: new AbortController(), media: new Media(),
    };
    this.calls.unshift(call);
    for (const old of this.calls.splice(MOST_CALLS)) old.media.free();
    this.shown = call.number;
    const ticking = setInterval(this.update, 1_000);
    this.update();
    // In a narrow window, the result is below the form.
    setTimeout(() => document.querySelector(".results")?.scrollIntoView({ block: "nearest" }));
    try {
      const path = `/v1/tools/${encodeURIComponent(this.name)}/call`;
      await this.api.stream(path, call.args, (event, data) => this._heard(call, event, data), call.abort.signal);
      if (call.result === undefined && call.failure === undefined) {
        call.isUnknown = true;
        call.failure = "The server ended the answer without a result.";
      }
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      // What stands between may have given up while the tool ran.
      call.isUnknown = status === 0 || status === 408 || status >= 502;
      if (call.result === undefined) call.failure ??= call.abort.signal.aborted ? "Cancelled." : /** @type {Error} */ (error).message;
    }
    clearInterval(ticking);
    call.ended = Date.now();
    call.asks = [];
    this.update();
  }

  /** @param {Call} call @param {string} event @param {any} data */
  _heard(call, event, data) {
    if (event === "progress") call.progress = data;
    else if (event === "output") add(call.pieces, textOf(data.content));
    else if (event === "log") call.log = [...call.log, { level: String(data.level), text: short(typeof data.data === "string" ? data.data : stringify(data.data)) }].slice(-200);
    else if (event === "ask") {
      call.asks = [...call.asks.filter((ask) => ask.id !== data.id), { ...data, since: Date.now() }];
      setTimeout(this.update, NEW_FOR);
    }
    else if (event === "answered") this._removeAsk(call, data.id);
    else if (event === "lost") call.log = [...call.log, { level: "warning", text: `events that were lost: ${stringify(data)}` }];
    else if (event === "result") call.result = data;
    else if (event === "error") {
      call.isUnknown = call.progress !== undefined || call.pieces.length > 0 || Number(data.status) >= 500;
      call.failure = String(data.detail ?? data.title);
    }
    this.update();
  }

  /** @param {Call} call @param {string} id @param {any} answer */
  async _answer(call, id, answer) {
    try {
      await this.api.post(`/v1/asks/${encodeURIComponent(id)}`, answer);
      this._removeAsk(call, id);
      // The question had the focus, and goes.
      /** @type {HTMLElement | null} */ (document.querySelector(".results h3"))?.focus();
    } catch (error) {
      call.problems[id] = /** @type {Error} */ (error).message;
    }
    this.update();
  }

  /** Takes a question away. Those below move up, perhaps under the pointer: for a moment they are new again. @param {Call} call @param {string} id */
  _removeAsk(call, id) {
    call.asks = call.asks.filter((ask) => ask.id !== id).map((ask) => ({ ...ask, since: Date.now() }));
    setTimeout(this.update, NEW_FOR);
  }

  /** @returns {string} The address of this page with these arguments, without secrets. */
  link() {
    const args = this.form === null ? {} : withoutSecrets(this.form);
    return `${location.origin}${location.pathname}#/tools/${encodeURIComponent(this.name)}?arguments=${encodeURIComponent(stringify(args))}`;
  }

  /** @returns {Child[]} */
  show() {
    if (this._failure !== null) return [h("h2", { tabindex: "-1" }, visible(this.name)), h("p.problem", { role: "alert" }, visible(this._failure))];
    if (this._definition === null) return [h("p.note", { role: "status" }, "Loading…")];
    return [this._head(), h("div.columns", null, this._arguments(), this._results())];
  }

  /** @returns {Child} */
  _head() {
    const { _definition: definition } = this;
    const { verdict } = definition;
    const hints = Object.entries(definition.annotations ?? {}).filter(([, value]) => value === true).map(([name]) => name.replace(/Hint$/, "").replace(/([A-Z])/g, " $1").toLowerCase());
    return h("header.tool", { key: "head" },
      h("h2", { tabindex: "-1" }, visible(String(definition.title ?? definition.name))),
      h("p.badges", null,
        definition.title === undefined || definition.title === definition.name ? null : h("code", null, visible(definition.name)), h("span", { class: `badge ${verdict.decision}` }, verdict.decision),
        hints.map((hint) => h("span.badge", null, visible(hint))), definition.deprecated === undefined ? null : h("span.badge.deny", null, "deprecated"),
        h("span.note", null, visible(String(verdict.reason ?? "")), verdict.place === undefined ? null : [" (", h("code", null, visible(verdict.place)), ")"])),
      definition.deprecated === undefined ? null : h("p.problem", null, visible(String(definition.deprecated))),
      h("div.markdown", null, markdown(String(definition.description ?? ""))));
  }

  /** @returns {Child} */
  _arguments() {
    const { form, fields, _definition: definition } = this;
    if (form === null || fields === null) return h("p.note", null, "");
    if (definition.inputSchema === undefined) return h("p.problem", null, "The schema of this tool is not valid, so it cannot be called.");
    const others = form.otherProblems();
    const examples = Array.isArray(definition.examples) ? definition.examples : [];
    return h("section.arguments", { "aria-label": "Arguments" },
      h("div.row", null, h("h3", null, "Arguments"),
        this._toggle("Form", !this._isJson, () => { this._isJson = this.fault !== null; }), this._toggle("JSON", this._isJson, () => { this._isJson = true; }),
        examples.map((/** @type {Json} */ example, /** @type {number} */ index) => h("button.small", { type: "button", onclick: () => this._take(example) }, `Example ${index + 1}`))),
      h("form", { key: "form", autocomplete: "off", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); void this.run(); }, onkeydown: (/** @type {any} */ event) => this._key(event) },
        this._isJson ? this._text(form) : fields.show(),
        this.note === "" ? null : h("p.note", { role: "status" }, visible(this.note)),
        this._offered === null ? null : h("p.note", { role: "status" }, "The link has other arguments. ", h("button.small", { type: "button", onclick: () => this._takeOffered(form) }, "Take the arguments of the link")),
        others.map((text) => h("p.problem", null, visible(text))),
        this._repairs.map((text) => h("p.note", null, visible(`Read as meant: ${text}`))),
        this._buttons(form)),
      this._more());
  }

  /** @param {string} label @param {boolean} isOn @param {() => void} act */
  _toggle(label, isOn, act) {
    return h("button.small", { type: "button", "aria-pressed": String(isOn), onclick: () => { act(); this.update(); } }, label);
  }

  /** @param {any} event */
  _key(event) {
    if (event.key !== "Enter") return;
    // A key that is held is one press.
    if (event.repeat && !(event.target instanceof HTMLTextAreaElement)) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      if (!event.repeat) void this.run();
    } else if (event.target instanceof HTMLInputElement && event.target.type !== "file") {
      // In a field, Enter alone runs nothing: a tool may change something for good.
      event.preventDefault();
    }
  }

  /** @param {Form} form */
  _text(form) {
    return h("div.field", { key: "text" }, h("label", { for: "arguments-text" }, "Arguments as JSON"),
      h("textarea.code", {
        id: "arguments-text", rows: String(Math.min(Math.max(form.text.split("\n").length + 1, 8), 30)), value: form.text, spellcheck: "false",
        "aria-invalid": this.fault === null ? undefined : "true", "aria-describedby": "arguments-fault",
        oninput: (/** @type {any} */ event) => {
          const typed = event.target.value;
          this.fault = form.setText(typed);
          this._changed(true);
        },
      }),
      h("p.problem", { id: "arguments-fault", role: "status" }, this.fault ?? ""), this._invalid === null ? null : h("pre.problem", null, visible(this._invalid)));
  }

  /** @param {Form} form */
  _buttons(form) {
    const running = this.running;
    return h("div.row.run", null,
      // Buttons that are off keep the focus.
      h("button.primary", { type: "submit", "aria-disabled": form.isBroken || running !== undefined ? "true" : undefined }, "Run"),
      h("button", { type: "button", "aria-disabled": running === undefined ? "true" : undefined, onclick: () => running?.abort.abort() }, "Cancel"),
      h("button", { type: "button", onclick: () => this._take(null) }, "Clear"),
      h("button", { type: "button", onclick: () => void this._share() }, "Copy a link"),
      h("span.note", null, this._invalid === null ? "" : "The arguments are not valid yet."));
  }

  /** @param {Json} args `null` for those of a new form. */
  _take(args) {
    this.fault = null;
    this._setForm(new Form(this._definition.inputSchema, args ?? undefined));
    this.note = "";
    this._changed(false);
  }

  /** @param {Form} form */
  _takeOffered(form) {
    const fault = form.setText(this._offered ?? "{}");
    this.fault = null;
    this.note = fault === null ? "" : `The arguments of the link cannot be read: ${fault}`;
    this._offered = null;
    this._changed(false);
  }

  async _share() {
    const address = this.link();
    this._shared = new URLSearchParams(address.split("?").at(-1)).get("arguments");
    try {
      history.replaceState(null, "", address);
      await navigator.clipboard.writeText(address);
      this.note = "The link is copied. It has no secrets, and runs nothing by itself.";
    } catch {
      this.note = location.href === address ? "The link is in the address bar." : "The arguments are too long for a link.";
    }
    this.update();
  }

  /** @returns {Child} */
  _more() {
    const code = this._isCodeOpen && this.form !== null ? snippets(location.origin, this.name, withoutSecrets(this.form)) : [];
    return h("div", { key: "more" },
      this._definition.hasCalls === true ? this._lastCalls() : null,
      h("details", { ontoggle: (/** @type {any} */ event) => { this._isCodeOpen = event.target.open; this.update(); } }, h("summary", null, "Code that calls it"), code.map(([language, text]) => [h("h4", null, language), h("pre.code", { tabindex: "0" }, visible(text))])),
      h("details", null, h("summary", null, "Schema of the arguments"), h("pre.code", { tabindex: "0" }, visible(stringify(this._definition.inputSchema ?? null, 2)))),
      this._definition.outputSchema === undefined ? null : h("details", null, h("summary", null, "Schema of the result"), h("pre.code", { tabindex: "0" }, visible(stringify(this._definition.outputSchema, 2)))));
  }

  /** The last calls that the history has. @returns {Child} */
  _lastCalls() {
    const load = async () => {
      try {
        this._last = (await this.api.get(`/v1/tools/${encodeURIComponent(this.name)}/calls`)).calls;
      } catch (error) {
        this._last = /** @type {Error} */ (error).message;
      }
      this.update();
    };
    const { _last: last } = this;
    return h("details", { key: "last", ontoggle: (/** @type {any} */ event) => { if (event.target === event.currentTarget && event.target.open) void load(); } }, h("summary", null, "Last calls"),
      last === null ? h("p.note", null, "Loading…") : typeof last === "string" ? h("p.problem", null, visible(last)) : last.length === 0 ? h("p.note", null, "There are none.")
        : h("ol.calls", null, last.map((call) => h("li", { key: call.key },
          h("details", null, h("summary", null, new Date(Number(call.time)).toLocaleString(), " · ", visible(String(call.status)), call.durationUs === undefined ? "" : ` · ${seconds(Number(call.durationUs) / 1_000)}`),
            call.arguments === undefined ? h("p.note", null, "It is too large to be shown.") : [
              h("pre.code", { tabindex: "0" }, visible(stringify(call.arguments, 2))),
              h("pre.output", { tabindex: "0" }, terminal(short(String(call.error?.message ?? textOf(call.output?.content ?? ""))))),
              h("button.small", { type: "button", onclick: () => this._take(parse(stringify(call.arguments))) }, "Take the arguments")])))));
  }

  /** @returns {Child} */
  _results() {
    const call = this.calls.find((other) => other.number === this.shown);
    return h("section.results", { "aria-label": "Result" },
      h("div.row", null, h("h3", { tabindex: "-1" }, "Result"), VIEWS.map((view) => h("button.small", { type: "button", "aria-pressed": String(view === this.view), onclick: () => { this.view = view; this.update(); } }, view))),
      call === undefined ? h("p.note", null, "Nothing was run yet.") : this._call(call),
      this.calls.length < 2 ? null : h("nav", { "aria-label": "Calls" }, h("h4", null, "Calls"), h("ol.calls", { reversed: true }, this.calls.map((other) => h("li", { key: other.number },
        h("button.small", { type: "button", "aria-current": other.number === this.shown ? "true" : undefined, onclick: () => { this.shown = other.number; this.update(); } }, `${other.number}. ${stateOf(other)}`),
        h("button.small", { type: "button", "aria-label": `Take the arguments of call ${other.number}`, onclick: () => this._take(parse(stringify(other.args))) }, "arguments"))))));
  }

  /** @param {Call} call @returns {Child} */
  _call(call) {
    const { progress } = call;
    const isRunning = call.ended === undefined;
    return h("div", { key: `call ${call.number}`, "aria-busy": String(isRunning) },
      h("p.note", null, h("span", { role: "status" }, stateOf(call)), ` · ${seconds((call.ended ?? Date.now()) - call.began)}`),
      isRunning && progress !== undefined ? h("div", null,
        h("progress", { max: progress.total ?? undefined, value: progress.total === undefined ? undefined : progress.done ?? undefined, "aria-label": "Progress" }),
        h("p.note", null, visible([progress.message === undefined ? undefined : short(String(progress.message)), progress.total === undefined ? `${progress.done}` : `${Number(progress.done).toLocaleString()} of ${Number(progress.total).toLocaleString()}`].filter(Boolean).join(" · ")))) : null,
      call.asks.map((ask) => question(ask, {
        answer: (id, answer) => void this._answer(call, id, answer), problem: call.problems[ask.id], reason: call.reasons[ask.id] ?? "", isNew: Date.now() - ask.since < NEW_FOR,
        setReason: (text) => { call.reasons[ask.id] = text; this.update(); },
      })),
      call.log.length === 0 ? null : h("ul.log", { "aria-label": "Log" }, call.log.map((line) => h("li", null, h("span.note", null, visible(line.level)), " ", visible(line.text)))),
      isRunning && call.pieces.length > 0 ? h("pre.output", { tabindex: "0", "aria-label": "Output so far" }, terminal(call.pieces.join("").slice(-MOST_SEEN))) : null,
      call.failure === undefined ? null : h("p.problem", { role: "alert" }, visible(call.failure)),
      call.result === undefined ? null : show(call.result, this.view, call.media));
  }
}

/** Adds a piece, and drops the oldest beyond what is kept. @param {string[]} pieces @param {string} text */
function add(pieces, text) {
  pieces.push(text.slice(-MOST_OUTPUT));
  if (pieces.length < 256) return;
  pieces.splice(0, pieces.length, pieces.join("").slice(-MOST_OUTPUT));
}

/** @param {any} content */
function textOf(content) {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map((block) => (typeof block === "string" ? block : typeof block?.text === "string" ? block.text : "")).join("");
}

/** @param {Call} call */
function stateOf(call) {
  if (call.ended === undefined) return call.asks.length > 0 ? "waits for an answer" : "running";
  if (call.result === undefined) return call.abort.signal.aborted ? "cancelled" : call.isUnknown === true ? "outcome unknown" : "not run";
  return call.result.isError ? "failed" : "done";
}

/** @param {number} milliseconds */
function seconds(milliseconds) {
  return new Intl.NumberFormat(undefined, { style: "unit", unit: "second", maximumFractionDigits: 1 }).format(milliseconds / 1_000);
}

/** @param {string} text @param {Form} form @returns {boolean} True if a text is what the form has. */
function isText(text, form) {
  try {
    return equal(parse(text), form.arguments ?? {});
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

/**
 * @param {Form} form
 * @returns {Json} The arguments without anything that some part of the schema keeps secret, or of which nobody knows.
 */
function withoutSecrets(form) {
  const secrets = secretsOf(form.schemas.root);
  /** @type {Field[]} */
  const secret = [];
  /** @param {Field} field */
  const visit = (field) => {
    if (field.value === undefined) return;
    const isWhole = field.kind === "union" && field.fields.length === 0 && typeof field.value === "object" && field.value !== null;
    // Of what has no controls it is not known where its secrets are.
    const isHidden = keepsSecret(field.schema, 0) || field.kind === "json" || isWhole || (field.isEntry && secrets.isAnyEntry);
    if (isHidden) secret.push(field);
    else field.fields.forEach(visit);
  };
  visit(form.view());
  const copy = new Form(form.schemas.root, parse(stringify(form.arguments ?? {})));
  for (const field of secret) copy.set(field, typeof field.path.at(-1) === "number" ? "" : undefined);
  return without(copy.arguments ?? {}, secrets.names);
}

/** @param {Json} value @param {Set<string>} names @returns {Json} A value without members of these names, at any depth. */
function without(value, names) {
  if (Array.isArray(value)) return value.map((item) => without(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)).map(([name, member]) => [name, without(member, names)]));
}

/**
 * @param {unknown} schema A whole schema, with all its branches and definitions.
 * @returns {{ names: Set<string>, isAnyEntry: boolean }} The names of secret members, and true if members of a pattern are secret.
 */
function secretsOf(schema) {
  const found = { names: /** @type {Set<string>} */ (new Set()), isAnyEntry: false };
  const seen = new Set();
  const left = [schema];
  while (left.length > 0) {
    const part = left.pop();
    if (typeof part !== "object" || part === null || seen.has(part)) continue;
    seen.add(part);
    const { properties, patternProperties } = /** @type {any} */ (part);
    for (const [name, member] of Object.entries(properties ?? {})) if (keepsSecret(member, 0)) found.names.add(name);
    if (Object.values(patternProperties ?? {}).some((member) => keepsSecret(member, 0))) found.isAnyEntry = true;
    for (const inner of Object.values(part)) left.push(inner);
  }
  return found;
}

/** @param {any} schema @param {number} depth @returns {boolean} True if a value may be secret by any branch of its schema. */
function keepsSecret(schema, depth) {
  if (typeof schema !== "object" || schema === null || depth > 4) return false;
  const branches = [schema.oneOf, schema.anyOf, schema.allOf].filter(Array.isArray).flat();
  return isSecret(schema) || [...branches, schema.then, schema.else].some((branch) => keepsSecret(branch, depth + 1));
}
