/**
 * What the pages of a gateway share: how they load, act, and show tables and times.
 *
 * @module page
 */

import { h, render } from "./render.js";
import { short, visible } from "./text.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").Child} Child */
/** @typedef {import("./types.js").Children} Children */
/** @typedef {import("./live.js").Happened} Happened */

/** A page. One of each kind lives as long as the token. */
export class Page {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.api = app.api;
    /** @type {string | null} */
    this.problem = null;
    /** What the last action did. */
    this.said = "";
    this.title = "";
  }

  update() {
    this.app.update();
  }

  /**
   * Comes to the page, also to another part of it.
   *
   * @param {string[]} _path What stands behind the page's own name in the address.
   * @param {URLSearchParams} _query
   */
  async enter(_path, _query) {}

  /** Another page is shown. */
  leave() {}

  /** @param {Happened} _event An event of the server; `gap` if some were missed, `open` when the stream goes on. */
  hear(_event) {}

  /** @returns {Children} */
  show() {
    return null;
  }

  /**
   * Does something, and shows what was wrong.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @param {string} [said] What to say after it.
   * @returns {Promise<T | undefined>}
   */
  async act(work, said) {
    this.said = "";
    try {
      const value = await work();
      this.problem = null;
      if (said !== undefined) this.said = said;
      return value;
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
      return undefined;
    } finally {
      this.update();
    }
  }

  /** @param {...Children} children @returns {Child[]} */
  framed(...children) {
    return [
      h("h2", { key: "title", tabindex: "-1" }, visible(this.title)),
      this.problem === null ? "" : h("p.problem", { key: "problem", role: "alert" }, visible(this.problem)),
      h("p.note", { key: "said", role: "status" }, this.said),
      h("div", { key: "content" }, ...children),
    ];
  }
}

/** Time after an event until a page is loaded again, in milliseconds: others may come with it. */
const SOON = 300;

/** A page of what the server has, which is loaded again when it changes. */
export class LoadedPage extends Page {
  /** The events after which it is loaded again. */
  _kinds = /./;
  /** Time until it is loaded again without an event, in milliseconds; 0 for never. */
  _every = 0;
  /** What {@link _load} returned. @type {any} */
  _data = null;
  /** Where the pages of a long list begin, up to the one that is shown. @type {any[]} */
  _places = [];
  _fault = "";
  _isBusy = false;
  _loads = 0;
  _timer = 0;
  _looks = 0;

  /** @returns {Promise<any>} What is shown. */
  async _load() {}

  /** @param {any} _data @returns {Children} */
  _content(_data) {
    return null;
  }

  /** A control of {@link _control} has another value. */
  _typed() {
    this.update();
  }

  /** Loads what is shown; what the last action said stays. */
  async _reload() {
    const number = (this._loads += 1);
    try {
      const data = await this._load();
      // An earlier answer that came later does not count.
      if (number !== this._loads) return;
      this._data = data;
      if (this.problem === this._fault) this.problem = null;
    } catch (error) {
      this.problem = this._fault = /** @type {Error} */ (error).message;
    }
    this.update();
  }

  /** Does something, once at a time, and shows what is there after it. @param {() => Promise<any>} work @param {string} label The name of its button. */
  async _change(work, label) {
    if (this._isBusy) return;
    this._isBusy = true;
    await this.act(work, `${label}: done.`);
    this._isBusy = false;
    await this._reload();
  }

  async enter() {
    this.said = "";
    this.problem = null;
    clearInterval(this._looks);
    if (this._every > 0) this._looks = setInterval(() => this._reload(), this._every);
    await this._reload();
  }

  leave() {
    clearInterval(this._looks);
  }

  /** @param {Happened} event */
  hear({ kind }) {
    if (this._timer !== 0 || !(kind === "gap" || this._kinds.test(kind))) return;
    this._timer = setTimeout(() => {
      this._timer = 0;
      void this._reload();
    }, SOON);
  }

  show() {
    return this.framed(this._data ? this._content(this._data) : !this.problem && "Loading…");
  }

  /**
   * A button that sends something.
   *
   * @param {string} label
   * @param {string} path
   * @param {any} [body] Without one, what is at the path is removed.
   * @param {string} [question] What to ask first, if it cannot be taken back.
   * @returns {Child}
   */
  _does(label, path, body, question) {
    return button(label, async () => {
      if (question === undefined || await confirmed(visible(question), label)) await this._change(() => (body ? this.api.post(path, body) : this.api.remove(path)), label);
    }, { class: question && "danger" });
  }

  /** @param {any} of @param {string} name @param {string} label @param {any} [props] @returns {Child} A control of a member of an object. */
  _control(of, name, label, props) {
    return field(label, of[name], (value) => { of[name] = value; this._typed(); }, props);
  }

  /**
   * Controls of an object that are sent together.
   *
   * @param {string} label
   * @param {any} of
   * @param {any[]} controls As {@link _control} has them.
   * @param {string} action
   * @param {() => Promise<any>} send
   * @param {Children} [more]
   * @param {Children} [other] Other buttons.
   * @returns {Child}
   */
  _form(label, of, controls, action, send, more, other) {
    return h("form.card", { key: `form ${action}`, "aria-label": label, onsubmit: (/** @type {any} */ event) => { event.preventDefault(); void this._change(send, action); } },
      h("h3", null, label), h("div.fields", null, controls.map((each) => each && this._control(of, each[0], each[1], each[2]))), more, h("div.row", null, h("button.primary", null, action), other));
  }

  /** @param {any} next Where the next page begins; nothing if there is none. @returns {Child} */
  _pager(next) {
    const turn = (/** @type {any} */ place) => { place ? this._places.push(place) : this._places.pop(); void this._reload(); };
    return h("div.row", { key: "pager" }, this._places.length > 0 && button("Back", () => turn(null)), next && button("Further", () => turn(next)));
  }
}

/** @param {unknown} milliseconds @returns {Child} A time as people of this language write it. */
export function time(milliseconds) {
  if (typeof milliseconds !== "number") return "–";
  const at = new Date(milliseconds);
  if (Number.isNaN(at.getTime())) return "–";
  return h("time", { datetime: at.toISOString() }, at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }));
}

/** @param {unknown} value @returns {Child} A name of the gateway, as it is. */
export function code(value) {
  return value === undefined || value === null ? "–" : h("code", null, visible(String(value)));
}

/** @param {string} text @param {"allow" | "ask" | "deny" | ""} [kind] @returns {Child} */
export function badge(text, kind = "") {
  return h("span", { class: `badge ${kind}` }, visible(text));
}

/** @param {Children} label @param {() => void} onclick @param {{ [name: string]: any }} [props] @returns {Child} */
export function button(label, onclick, props = {}) {
  return h("button", { type: "button", onclick, ...props }, label);
}

/**
 * @param {string} label
 * @param {string} value
 * @param {(value: string) => void} oninput
 * @param {{ [name: string]: any }} [props]
 * @returns {Child} A control with its label.
 */
export function field(label, value, oninput, props = {}) {
  const { tag = "input", options, ...rest } = props;
  return h("label.stacked", { key: `field ${label}` }, h("span", null, label),
    h(options === undefined ? tag : "select", { value, oninput: (/** @type {any} */ event) => oninput(event.target.value), ...rest },
      (options ?? []).map((/** @type {string | [string, string]} */ option) => {
        const [name, text] = typeof option === "string" ? [option, option] : option;
        return h("option", { key: name, value: name }, text);
      })));
}

/** @param {string} [key] @returns {Child} The way to a session. */
export function sessionLink(key) {
  return key ? h("a", { href: `#/sessions/${encodeURIComponent(key)}` }, code(key)) : "–";
}

/** @param {string} name @returns {Child} How far something is. */
export function state(name) {
  return badge(name, /^(?:ok|done|running|delivered|connected|approved)$/.test(name) ? "allow" : /^(?:begun|requested|prepared|sending|pending|unknown|degraded)$/.test(name) ? "ask" : "deny");
}

/** @param {unknown} value @returns {string} A text of others. */
export function text(value) {
  return visible(short(String(value ?? "–")));
}

/** @param {unknown} value @returns {string} A number as people of this language write it. */
export function count(value) {
  return Number(value).toLocaleString(undefined, { maximumFractionDigits: 4 });
}

/** @param {string} label @param {string[]} heads @param {any[]} items @param {(item: any) => any[]} make The key of a row and its cells. @returns {Child} */
export function table(label, heads, items, make) {
  return rows(label, heads, items.map((item) => {
    const [key, ...cells] = make(item);
    return { key, cells };
  }));
}

/**
 * @param {string} label What the rows are, for those who do not see them.
 * @param {string[]} heads
 * @param {{ key: string, cells: Children[] }[]} rows
 * @param {string} [none] What to say if there are none.
 * @returns {Child}
 */
export function rows(label, heads, rows, none = "There are none.") {
  if (rows.length === 0) return h("p.note", { key: `none ${label}` }, none);
  return h("div.scroll", { key: `table ${label}`, tabindex: "0", role: "region", "aria-label": label }, h("table", null,
    h("thead", null, h("tr", null, heads.map((head) => h(head ? "th" : "td", { scope: head ? "col" : null }, head)))),
    h("tbody", null, rows.map(({ key, cells }) => h("tr", { key }, cells.map((cell) => h("td", null, cell)))))));
}

/**
 * Asks before something that cannot be taken back.
 *
 * @param {string} question
 * @param {string} action The name of the button that does it.
 * @returns {Promise<boolean>}
 */
export function confirmed(question, action) {
  const dialog = document.createElement("dialog");
  dialog.ariaLabel = action;
  render(dialog, [h("p", null, question), h("div.row", null, button("Cancel", () => dialog.close()), button(action, () => dialog.close("yes"), { class: "danger" }))]);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
  });
}
