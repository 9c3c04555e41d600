/**
 * The conversation of one session.
 *
 * @module chat
 */

import { h } from "./render.js";
import { badge, button, code, confirmed, field, sessionLink, time } from "./page.js";
import { Asking } from "./questions_page.js";
import { parse, stringify } from "./json.js";
import { diff, isDiff, markdown, terminal, visible } from "./text.js";

/** @typedef {import("./types.js").Child} Child */
/** @typedef {import("./types.js").Children} Children */

/** Messages that are loaded at once, and those that are in the page. */
const [AT_ONCE, MOST] = [100, 200];
/** Characters of what is written that are kept. */
const MOST_TEXT = 200_000;
/** Time after an event until the session is loaded again, in milliseconds: others may come with it. */
const SOON = 150;

/** @typedef {{ id: string, text: string, problem?: string, number?: number }} Sent */

/** The state of one conversation. */
export class Chat {
  /** @param {import("./sessions.js").SessionsPage} page @param {string} key */
  constructor(page, key) {
    this.page = page;
    this.api = page.api;
    this.key = key;
    this.path = `/v1/sessions/${encodeURIComponent(key)}`;
    /** @type {any} */
    this.session = null;
    /** @type {any[]} */
    this._children = [];
    /** A window of the transcript, in order. @type {any[]} */
    this._messages = [];
    this._hasOlder = false;
    /** True if newer messages are not in the window. */
    this._hasNewer = false;
    this._typed = "";
    /** The label as typed, once it is. @type {string | null} */
    this._label = null;
    /** Messages of this page that are not in the transcript yet. @type {Sent[]} */
    this._sent = [];
    this._asking = new Asking(page.app);
    /** What is being written. */
    this._text = "";
    /** Calls of the run, by id. @type {Map<string, any>} */
    this._steps = new Map();
    /** What the model was told last of its use. @type {any} */
    this._use = null;
    this._model = "";
    this._seq = 0;
    this._timer = 0;
    this._loads = 0;
    this._isAtEnd = true;
    this._isOver = false;
    this._isBusy = false;
    /** Why the last run failed. @type {string | null} */
    this._failure = null;
    /** What was wrong when it was loaded last. @type {string | null} */
    this._fault = null;
    /** The numbers of messages that wait. @type {Set<number>} */
    this._waiting = new Set();
    /** Messages as nodes, which are made once. @type {Map<number, { of: any[], node: Child }>} */
    this._nodes = new Map();
    /** @type {Element | null} */
    this._log = null;
  }

  update() {
    this.page.update();
  }

  async load() {
    await this.page.act(async () => {
      await Promise.all([this._loadSession(), this._loadTail()]);
    });
    this._toEnd(true);
  }

  async _loadSession() {
    this.session = await this.api.get(this.path);
    this.key = this.session.key;
    const known = new Set((this.session?.waiting ?? []).map((/** @type {any} */ each) => Number(each.id)));
    this._waiting = known;
    this._children = this.page.sessions.filter((/** @type {any} */ other) => other.parent === this.key);
  }

  async _loadTail() {
    if (this._hasNewer) return;
    const number = (this._loads += 1);
    const read = await this._read("");
    if (number !== this._loads) return;
    const first = read.messages[0]?.id ?? 0;
    const older = this._messages.filter((message) => message.id < first);
    // What is between was not loaded.
    const isWhole = older.length === 0 || older.at(-1).id === first - 1 || this._messages.some((message) => message.id >= first);
    this._messages = [...(isWhole ? older : []), ...read.messages];
    if (!isWhole || older.length === 0) this._hasOlder = read.hasMore;
    this._shorten(true);
    // One that was sent is shown until it is in the transcript.
    const texts = this._messages.slice(-AT_ONCE).map((message) => message.text);
    this._sent = this._sent.filter((sent) => sent.number === undefined || this._waiting.has(sent.number) || !texts.some((text) => text.includes(sent.text)));
  }

  /** @param {string} query @returns {Promise<any>} */
  _read(query) {
    return this.api.get(`${this.path}/messages?limit=${AT_ONCE}&includeTools=true${query}`);
  }

  /** @param {boolean} isFromStart Which end of the window gives way. */
  _shorten(isFromStart) {
    const surplus = this._messages.length - MOST;
    if (surplus <= 0) return;
    if (isFromStart) {
      this._messages = this._messages.slice(surplus);
      this._hasOlder = true;
    } else {
      this._messages = this._messages.slice(0, MOST);
      this._hasNewer = true;
    }
  }

  async _older() {
    if (this._isBusy) return;
    this._isBusy = true;
    await this.page.act(async () => {
      const read = await this._read(`&before=${this._messages[0].id}`);
      this._messages = [...read.messages, ...this._messages];
      this._hasOlder = read.hasMore;
      this._shorten(false);
    });
    this._isBusy = false;
  }

  async _newest() {
    this._hasNewer = false;
    this._messages = [];
    await this.page.act(() => this._loadTail());
    this._toEnd(true);
  }

  /** @param {import("./live.js").Happened} event */
  hear({ kind, data }) {
    if (kind === "live") this._hearLive(data);
    else if (kind === "run.ended" && data?.session === this.key) {
      this._failure = data.data?.state === "failed" ? String(data.data.reason ?? "it failed") : null;
      this._soon(true);
    } else if (kind === "gap" || kind === "live.missed" || data?.session === this.key) this._soon(kind === "gap");
  }

  /** Loads again what changed, once however much did. @param {boolean} isOver */
  _soon(isOver) {
    this._isOver ||= isOver;
    clearTimeout(this._timer);
    this._timer = setTimeout(async () => {
      const isDone = this._isOver;
      this._isOver = false;
      try {
        await Promise.all([this._loadSession(), this._loadTail()]);
        // What was written is in the transcript now.
        if (isDone && !this.session?.run) this._endLive();
        if (this.page.problem === this._fault) this.page.problem = null;
      } catch (error) {
        this.page.problem = this._fault = /** @type {Error} */ (error).message;
      }
      this.update();
      this._toEnd(false);
    }, SOON);
  }

  _endLive() {
    this._text = "";
    this._steps.clear();
  }

  /** @param {any} observed */
  _hearLive(observed) {
    const { seq, event } = observed;
    if (event.type !== "run" || seq <= this._seq && event.event.type !== "started") return;
    this._seq = seq;
    const { event: inner } = event;
    switch (inner.type) {
      case "started": this._endLive(); this._model = inner.model; break;
      // What was written so far is in the transcript.
      case "turn_started": this._text = ""; this._soon(false); break;
      case "text": this._text = (this._text + inner.text).slice(-MOST_TEXT); break;
      case "discarded": this._text = ""; break;
      case "step": this._steps.set(inner.step.id, { ...this._steps.get(inner.step.id), ...inner.step, diff: inner.diff }); break;
      case "output": {
        const step = this._steps.get(inner.callId);
        if (step !== undefined) step.output = ((step.output ?? "") + inner.text).slice(-MOST_TEXT);
        break;
      }
      case "usage": this._use = inner; break;
      case "retrying": this.page.said = `The model is asked again: ${inner.reason}`; break;
      default: return;
    }
    this.update();
    this._toEnd(false);
  }

  /** Goes to the end, if that is where it was. @param {boolean} isForced */
  _toEnd(isForced) {
    if (isForced) this._isAtEnd = true;
    setTimeout(() => {
      if (this._isAtEnd && this._log !== null) this._log.scrollTop = this._log.scrollHeight;
    });
  }

  /** @param {Sent} sent */
  async _send(sent) {
    sent.problem = undefined;
    this.update();
    try {
      const { id } = await this.api.post(`${this.path}/messages`, { text: sent.text, id: sent.id });
      sent.number = Number(id);
      this._soon(false);
    } catch (error) {
      sent.problem = /** @type {Error} */ (error).message;
    }
    this.update();
  }

  _submit() {
    const text = this._typed;
    if (text.trim() === "") return;
    this._typed = "";
    const sent = { id: crypto.randomUUID(), text };
    this._sent.push(sent);
    this._toEnd(true);
    void this._send(sent);
  }

  /** @param {HTMLInputElement} input */
  async _upload(input) {
    const file = input.files?.[0];
    if (file === undefined) return;
    const path = await this.page.act(() => this.page.app.upload(file, this.session?.agent), `${file.name} is uploaded.`);
    input.value = "";
    if (path !== undefined) this._typed = `${this._typed}${this._typed === "" ? "" : " "}${path}`;
    this.update();
  }

  /** @param {any} change @param {string} said */
  async _change(change, said) {
    await this.page.act(async () => { await this.api.patch(this.path, change); await this._loadSession(); }, said);
  }

  /** @returns {Child[]} */
  show() {
    const { session } = this;
    const asks = this.page.app.asks.filter((ask) => ask.session === this.key);
    const waiting = (session?.waiting ?? []).filter((/** @type {any} */ each) => !this._sent.some((sent) => sent.number === Number(each.id)));
    return [
      h("div.row", { key: "state", role: "group", "aria-label": "State" }, this._state()),
      h("div.log-of-chat", {
        key: "log", role: "log", tabindex: "0", "aria-label": "Messages",
        made: (/** @type {Element} */ element) => { this._log = element; this._toEnd(true); },
        onscroll: (/** @type {any} */ event) => { const { scrollHeight, scrollTop, clientHeight } = event.currentTarget; this._isAtEnd = scrollHeight - scrollTop - clientHeight < 40; },
      }, this._hasOlder ? button("Older messages", () => void this._older(), { key: "older" }) : "",
      this._transcript(), this._hasNewer ? button("Newest messages", () => void this._newest(), { key: "newest" }) : this._live(),
      this._sent.map((sent) => h("div.message.task", { key: `sent ${sent.id}` }, markdown(sent.text),
        h("p.note", null, sent.problem === undefined ? sent.number === undefined ? "is sent" : "waits" : ["was not stored: ", visible(sent.problem), " ", button("Send again", () => void this._send(sent), { class: "small" })],
          sent.number === undefined ? "" : [" ", this._takeBack(sent.number)]))),
      waiting.map((/** @type {any} */ each) => h("p.note", { key: `waits ${each.id}` }, "A message of ", code(each.sender), " waits, since ", time(each.acceptedAt), " ", this._takeBack(Number(each.id))))),
      this._failure === null ? "" : h("p.problem", { key: "failure", role: "status" }, "The last run failed: ", visible(this._failure)),
      h("div", { key: "asks" }, this._asking.show(asks)),
      this._form(),
    ];
  }

  /** @param {number} number */
  _takeBack(number) {
    return button("Take back", () => void this.page.act(async () => { await this.api.remove(`${this.path}/inbox/${number}`); this._soon(false); }, "It is taken back."), { class: "small" });
  }

  /** @returns {Children} */
  _state() {
    const { session, _use: use } = this;
    const running = [...this._steps.values()].filter((step) => step.status === "running").map((step) => step.toolCall?.name ?? step.title);
    const number = (/** @type {unknown} */ value) => Number(value).toLocaleString();
    return [
      session === null ? badge("not begun") : badge(session.status, session.status === "active" ? "allow" : session.status === "waiting" ? "ask" : ""),
      running.length > 0 ? h("span", { role: "status" }, "runs ", running.map((name) => code(name))) : "",
      this._model === "" ? "" : code(this._model),
      use === null ? "" : h("span.note", null, `${number(use.contextTokens)} tokens of context${use.contextLimit === undefined ? "" : ` of ${number(use.contextLimit)}`} · ${number(use.usage.inputTokens + use.usage.outputTokens)} tokens of this run`),
      session?.parent ? h("span", null, "begun by ", sessionLink(session.parent)) : "",
      session?.run || session?.isRunning ? button("Cancel the run", () => void this.page.act(() => this.api.post(`${this.path}/cancel`, {}), "It is cancelled."), { class: "danger" }) : "",
      session === null ? "" : h("details", { key: "more" }, h("summary", null, "Label and archive"),
        h("form.row", { onsubmit: (/** @type {any} */ event) => { event.preventDefault(); const label = (this._label ?? "").trim(); this._label = null; void this._change({ label: label === "" ? null : label }, "The label is set."); } },
          field("Label", this._label ?? String(session.label ?? ""), (value) => { this._label = value; this.update(); }), h("button", null, "Set the label"),
          button(session.archivedAt === null ? "Archive" : "Restore", async () => {
            const archived = session.archivedAt === null;
            if (!archived || await confirmed("An archived session is left out of the list, and takes no messages until it is restored.", "Archive")) await this._change({ archived }, archived ? "It is archived." : "It is restored.");
          }))),
      this._children.length === 0 ? "" : h("details", { key: "children" }, h("summary", null, `Sub-agents (${this._children.length})`), this.page.tree(this.key)),
    ];
  }

  /** @returns {Child[]} */
  _transcript() {
    /** @type {Map<string, any>} */
    const results = new Map();
    for (const message of this._messages) for (const result of message.toolResults ?? []) results.set(result.callId, result);
    for (const id of this._nodes.keys()) if (!this._messages.some((message) => message.id === id)) this._nodes.delete(id);
    return this._messages.filter((message) => message.kind !== "results").map((message) => this._message(message, (message.toolCalls ?? []).map((/** @type {any} */ call) => results.get(call.id))));
  }

  /** @param {any} message @param {any[]} results Those of its calls. @returns {Child} */
  _message(message, results) {
    const known = this._nodes.get(message.id);
    const of = results.filter((result) => result !== undefined).map((result) => result.callId);
    if (known !== undefined && known.of.length === of.length) return known.node;
    const node = h("div", { key: `message ${message.id}`, class: `message ${message.kind === "addition" ? "task" : message.kind}` },
      message.kind === "note" || message.kind === "summary" ? h("p.note", null, message.kind === "note" ? "from the host" : "a summary of earlier messages") : "",
      message.text === "" ? "" : markdown(String(message.text)),
      message.attachments > 0 ? h("p.note", null, `${message.attachments} attached`) : "",
      (message.toolCalls ?? []).map((/** @type {any} */ call, /** @type {number} */ index) => this._call(call.name, call.arguments, results[index], call.id)));
    this._nodes.set(message.id, { of, node });
    return node;
  }

  /**
   * @param {string} name @param {any} given @param {any} result @param {string} key
   * @returns {Child}
   */
  _call(name, given, result, key) {
    const text = result === undefined ? "" : String(result.text ?? "");
    return h("details.call", { key: `call ${key}` },
      h("summary", null, code(name), " ", result === undefined ? badge("no result yet") : result.isError ? badge("failed", "deny") : badge("done", "allow")),
      h("pre.code", { tabindex: "0" }, visible(pretty(given))),
      text === "" ? "" : isDiff(text) ? diff(text, false) : h("pre.output", { tabindex: "0" }, terminal(text.slice(0, MOST_TEXT))));
  }

  /** What is written and done now. @returns {Child[]} */
  _live() {
    const there = new Set(this._messages.flatMap((message) => message.toolCalls ?? []).map((call) => call.id));
    const steps = [...this._steps.values()].filter((step) => !there.has(step.id));
    const last = this._messages.at(-1);
    // The transcript has it before the run is over.
    const text = last?.kind === "answer" && last.text.includes(this._text.trim()) ? "" : this._text;
    if (text === "" && steps.length === 0) return [];
    return [h("div.message.answer.live", { key: "live", "aria-busy": "true" }, text === "" ? "" : markdown(text),
      steps.map((step) => h("details.call", { key: `step ${step.id}`, open: step.status === "running" },
        h("summary", null, code(step.toolCall?.name ?? step.title), " ", badge(step.status, step.status === "failed" ? "deny" : step.status === "completed" ? "allow" : "ask")),
        h("pre.code", { tabindex: "0" }, visible(pretty(step.toolCall?.arguments ?? null))),
        step.diff ? diff(step.diff, false) : step.output || step.result ? h("pre.output", { tabindex: "0" }, terminal(String(step.result ?? step.output).slice(0, MOST_TEXT))) : "")))];
  }

  /** @returns {Child} */
  _form() {
    return h("form.compose", { key: "form", onsubmit: (/** @type {any} */ event) => { event.preventDefault(); this._submit(); this.update(); } },
      h("textarea", {
        "aria-label": "Message", rows: String(Math.min(Math.max(this._typed.split("\n").length, 2), 12)), value: this._typed, placeholder: "Message",
        oninput: (/** @type {any} */ event) => { this._typed = event.target.value; this.update(); },
        onkeydown: (/** @type {any} */ event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          this._submit();
          this.update();
        },
      }),
      h("div.row", null, h("button.primary", null, "Send"), h("span.note", null, "Enter sends, Shift+Enter begins a line."),
        h("input", { type: "file", "aria-label": "Upload a file", onchange: (/** @type {any} */ event) => void this._upload(event.target) })));
  }
}

/** @param {any} given Arguments, as JSON or as its text. */
function pretty(given) {
  try {
    return stringify(typeof given === "string" ? parse(given) : given, 2);
  } catch {
    return String(given);
  }
}
