/**
 * The pages of the console, and the way between them.
 *
 * @module app
 */

import { h, render } from "./render.js";
import { Api, ApiError, EXCHANGE } from "./api.js";
import { Live } from "./live.js";
import { PAGES } from "./pages.js";
import { visible } from "./text.js";

/** @typedef {import("./types.js").Child} Child */
/** @typedef {import("./page.js").Page} Page */
/** @typedef {import("./live.js").Happened} Happened */

/** The name under which the token of this page is kept. */
const TOKEN = "toolkit-console-token";

/** The console. */
export class App {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** True if the server is a gateway, with sessions and all that belongs to them. */
    this.isGateway = root.dataset.host === "gateway";
    this.api = new Api(() => localStorage.getItem(TOKEN), () => this._forgetToken());
    /** @type {string | null} */
    this.problem = null;
    this._typedToken = "";
    /** What the gateway says of itself and of the person. @type {any} */
    this.status = null;
    /** The questions that wait. @type {any[]} */
    this.asks = [];
    /** @type {Map<string, Page>} */
    this.pages = new Map();
    /** @type {Page | null} */
    this.page = null;
    /** @type {Live | null} */
    this.live = null;
    /** True while the stream of events is cut. */
    this._isLost = false;
    /** The session of which pieces come as they are written. @type {string | null} */
    this.watched = null;
    this._path = "";
    this._isDrawn = true;
    this._asked = 0;
  }

  get isOwner() {
    return this.status?.person?.role === "owner";
  }

  async start() {
    addEventListener("hashchange", () => void this._follow());
    if (!(await this._takeCode())) await this._load();
    await this._route(false);
  }

  /** Follows a link, or an address with a new code that was put into this page. */
  async _follow() {
    await this._takeCode();
    await this._route(true);
  }

  /** @returns {Promise<boolean>} True if the address had a code. */
  async _takeCode() {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
    if (code === undefined) return false;
    // The code is used up, and does not stay in the history of the browser.
    history.replaceState(null, "", `${location.pathname}#/${this._pages()[0].path}`);
    this.problem = null;
    await this._exchange(code);
    const { problem } = this;
    await this._load();
    this.problem ??= problem;
    return true;
  }

  /** Draws the page again, once however often it is asked for. */
  update() {
    if (!this._isDrawn) return;
    this._isDrawn = false;
    queueMicrotask(() => {
      this._isDrawn = true;
      try {
        render(this.root, this._show());
      } catch (error) {
        // The other pages go on.
        console.error(error);
        render(this.root, broken(/** @type {Error} */ (error)));
      }
    });
  }

  /** @param {string} code */
  async _exchange(code) {
    try {
      const { token } = await this.api.post(EXCHANGE, { code });
      localStorage.setItem(TOKEN, token);
      this._forgetPages();
      this.problem = null;
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
  }

  _forgetToken() {
    localStorage.removeItem(TOKEN);
    this._forgetPages();
    this.update();
  }

  /** Another token is another client: what was filled in and returned before is not shown to it. */
  _forgetPages() {
    this.live?.end();
    this.live = null;
    this._isLost = false;
    this.watched = null;
    this.status = null;
    this.asks = [];
    this.pages.clear();
    this.page = null;
  }

  async _load() {
    if (localStorage.getItem(TOKEN) === null) {
      this.update();
      return;
    }
    try {
      if (this.isGateway) {
        this.status = await this.api.get("/v1/status");
        this._watch();
        // What is loaded from here on is followed by the events.
        await this.live?.tried;
        await this.loadAsks();
      } else {
        // Whether the token counts.
        await this.api.get("/v1/asks");
      }
      this.problem = null;
    } catch (error) {
      this.problem = error instanceof ApiError && error.status === 401
        ? "The address or the token counts no more. Open the console again." : /** @type {Error} */ (error).message;
    }
    this.update();
  }

  /** Watches a session as its answers are written, or none. @param {string | null} session */
  watch(session) {
    if (!this.isGateway || session === this.watched) return;
    this.watched = session;
    this._watch();
  }

  _watch() {
    const last = this.live?.last ?? null;
    this.live?.end();
    const path = this.watched === null ? "/v1/events" : `/v1/events?live=${encodeURIComponent(this.watched)}`;
    this.live = new Live(this.api, path, last, (event) => this._hear(event), (state) => {
      const wasLost = this._isLost;
      this._isLost = state === "lost";
      if (wasLost !== this._isLost) this.update();
    });
  }

  /** @param {Happened} event */
  _hear(event) {
    if (event.kind.startsWith("ask.") || event.kind === "gap") void this.loadAsks();
    this.page?.hear(event);
  }

  /** Loads the questions that wait. */
  async loadAsks() {
    this._asked += 1;
    const number = this._asked;
    try {
      const { asks } = await this.api.get("/v1/asks");
      // An earlier answer that came later does not count.
      if (number === this._asked) this.asks = asks;
    } catch (error) {
      if (number === this._asked) this.problem = /** @type {Error} */ (error).message;
    }
    this.update();
  }

  /** Stores a file in the workspace of an agent, by default the person's. @param {File} file @param {string} [agent] @returns {Promise<string>} Its path. */
  async upload(file, agent) {
    const of = agent === undefined ? "" : `&agent=${encodeURIComponent(agent)}`;
    return (await this.api.upload(`/v1/uploads?name=${encodeURIComponent(file.name)}${of}`, file)).path;
  }

  /** The pages that this server has for this person. */
  _pages() {
    return PAGES.filter((page) => (this.isGateway || page.isEverywhere === true) && (page.isOwners !== true || this.isOwner));
  }

  /** @param {boolean} isByPerson */
  async _route(isByPerson) {
    const [path, rest] = location.hash.slice(1).split("?", 2);
    const [name, ...parts] = path.split("/").slice(1).map(decoded);
    const known = this._pages().find((page) => page.path === name) ?? this._pages()[0];
    if (localStorage.getItem(TOKEN) !== null) {
      let page = this.pages.get(known.path);
      if (page === undefined) {
        page = known.make(this);
        this.pages.set(known.path, page);
      }
      if (this.page !== page) this.page?.leave();
      this.page = page;
      this._path = known.path;
      this.update();
      await page.enter(parts, new URLSearchParams(rest ?? ""));
    }
    document.title = `${this.page?.title || known.label} – Toolkit`;
    this.update();
    // A screen reader says where it is now.
    if (isByPerson) setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("main h2"))?.focus());
  }

  /** @returns {Child[]} */
  _show() {
    const isIn = localStorage.getItem(TOKEN) !== null;
    const links = isIn ? this._pages() : [];
    return [
      h("a.skip", { href: "#main", onclick: (/** @type {Event} */ event) => { event.preventDefault(); document.getElementById("main")?.focus(); } }, "To the content"),
      h("header.top", { key: "top" }, h("h1", null, h("a", { href: `#/${links[0]?.path ?? ""}` }, "Toolkit")),
        h("nav", { "aria-label": "Pages" }, links.map(({ path, label }) => h("a", {
          key: path, href: `#/${path}`, "aria-current": path === this._path ? "page" : undefined,
        }, label, path === "questions" && this.asks.length > 0 ? h("span.badge.ask", null, String(this.asks.length)) : null)))),
      this._isLost ? h("p.lost", { key: "lost", role: "status" }, "Disconnected. What is shown may be old; it goes on by itself.") : "",
      h("main", { key: "main", id: "main", tabindex: "-1" },
        this.problem === null ? null : h("p.problem", { role: "alert" }, visible(this.problem)),
        isIn ? h("div", { key: `page ${this._path}` }, this.page?.show() ?? h("p.note", { role: "status" }, "Loading…")) : this._enter()),
    ];
  }

  /** @returns {Child} */
  _enter() {
    const enter = (/** @type {Event} */ event) => {
      event.preventDefault();
      localStorage.setItem(TOKEN, this._typedToken.trim());
      this._typedToken = "";
      void this._load().then(() => this._route(true));
    };
    return h("form.enter", { key: "enter", onsubmit: enter }, h("h2", { tabindex: "-1" }, "Enter"),
      h("p", null, "Open the address that ", h("code", null, "toolkit console"), " prints, or enter a token of this server."),
      h("label", { for: "token" }, "Token"),
      h("input", { id: "token", type: "password", autocomplete: "off", value: this._typedToken, oninput: (/** @type {any} */ event) => { this._typedToken = event.target.value; } }),
      h("button.primary", { type: "submit" }, "Enter"));
  }
}

/** @param {Error} error @returns {Child[]} */
function broken(error) {
  return [h("main", { key: "broken" }, h("h2", null, "This page cannot be shown"), h("p.problem", { role: "alert" }, visible(error.message)),
    h("p", null, h("a", { href: "#/tools" }, "To the tools")))];
}

/** @param {string} name */
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
