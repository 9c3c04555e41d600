/**
 * The questions that wait for a person.
 *
 * @module questions_page
 */

import { h } from "./render.js";
import { Page, badge, code, sessionLink, time } from "./page.js";
import { question } from "./questions.js";
import { visible } from "./text.js";

/** @typedef {import("./types.js").Child} Child */

/** Time in which a new question cannot be answered: it may have come under the pointer, in milliseconds. */
const NEW_FOR = 500;

/** Questions as a page has them, with what is typed about each. */
export class Asking {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, { since: number, reason: string, problem?: string }>} */
    this._of = new Map();
    this._order = "";
  }

  /** @param {any[]} asks @returns {Child[]} */
  show(asks) {
    const order = asks.map((ask) => ask.code).join();
    // What moves under the pointer is new for a moment.
    if (!order.startsWith(this._order)) {
      for (const of of this._of.values()) of.since = Date.now();
      setTimeout(() => this.app.update(), NEW_FOR);
    }
    this._order = order;
    for (const known of this._of.keys()) if (!this.app.asks.some((ask) => ask.code === known)) this._of.delete(known);
    return asks.map((ask) => this._one(ask));
  }

  /** @param {any} ask @returns {Child} */
  _one(ask) {
    let of = this._of.get(ask.code);
    if (of === undefined) {
      of = { since: Date.now(), reason: "" };
      this._of.set(ask.code, of);
      setTimeout(() => this.app.update(), NEW_FOR);
    }
    const known = of;
    const shown = { ...ask.ask, id: ask.code };
    const answer = (/** @type {any} */ given) => void this._answer(ask.code, given, known);
    const key = (/** @type {any} */ event) => {
      const { type = "approve" } = shown.question ?? {};
      if (type !== "approve" || event.repeat || event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey || Date.now() - known.since < NEW_FOR) return;
      if (event.key === "a") answer({ type: "allow" });
      else if (event.key === "s" && shown.atMost !== "once" && shown.question?.at_most !== "once") answer({ type: "allow", scope: "session" });
      else if (event.key === "d") answer(known.reason.trim() === "" ? { type: "deny" } : { type: "deny", message: known.reason });
    };
    return h("article", { key: ask.code, tabindex: "0", "aria-label": `Question ${ask.code}`, onkeydown: ask.mayAnswer ? key : undefined },
      h("p.note", null, code(ask.code), " · ", sessionLink(ask.session), ask.person === undefined ? "" : ` · ${visible(String(ask.person))}`, " · asked ", time(ask.askedAt), " · denied by itself ", time(ask.expiresAt)),
      ask.mayAnswer ? [question(shown, {
        answer: (_, given) => answer(given), problem: known.problem, reason: known.reason, isNew: Date.now() - known.since < NEW_FOR,
        setReason: (text) => { known.reason = text; this.app.update(); },
      }), h("p.note", null, "Keys on the question: a allows once, s for this session, d denies.")] : [question(shown, null), badge("Its owner answers it.")]);
  }

  /** @param {string} name @param {any} answer @param {{ problem?: string }} of */
  async _answer(name, answer, of) {
    try {
      await this.app.api.post(`/v1/asks/${encodeURIComponent(name)}`, answer);
      of.problem = undefined;
    } catch (error) {
      of.problem = /** @type {Error} */ (error).message;
      const { status } = /** @type {any} */ (error);
      // It is over: what became of it stays to be read.
      if (status === 409 || status === 410) this.app.problem = of.problem;
    }
    await this.app.loadAsks();
  }
}

/** All questions. */
export class QuestionsPage extends Page {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    super(app);
    this.title = "Questions";
    this.asking = new Asking(app);
  }

  async enter() {
    await this.app.loadAsks();
  }

  leave() {
    this.app.problem = null;
  }

  show() {
    const { asks } = this.app;
    return this.framed(asks.length === 0 ? h("p.note", null, "Nothing waits for an answer.") : this.asking.show(asks));
  }
}
