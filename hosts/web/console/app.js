/**
 * The pages of the console, and the way between them.
 *
 * @module app
 */

import { h, render } from "./render.js";
import { Api, ApiError, EXCHANGE } from "./api.js";
import { ToolPage } from "./tool.js";
import { visible } from "./text.js";
import { VirtualList } from "./list.js";

/** @typedef {import("./types.js").Child} Child */

/** The name under which the token of this page is kept. */
const TOKEN = "toolkit-console-token";
/** Time after the last key until a search begins, in milliseconds. */
const PAUSE = 200;
/** Height of an entry of the list of tools, in pixels: as in the stylesheet. */
const ENTRY = 64;

/** The console. */
export class App {
  /** @param {Element} root */
  constructor(root) {
    this.root = root;
    this.api = new Api(() => localStorage.getItem(TOKEN), () => this._forgetToken());
    /** @type {string | null} */
    this.problem = null;
    this.typedToken = "";
    /** @type {any[] | null} */
    this.tools = null;
    this.query = "";
    /** The names that a search found, in their order. @type {string[] | null} */
    this.found = null;
    /** @type {Map<string, ToolPage>} */
    this.pages = new Map();
    /** @type {ToolPage | null} */
    this.page = null;
    this.list = new VirtualList(ENTRY, () => this.update());
    this._isDrawn = true;
    this._timer = 0;
    this._searches = 0;
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
    history.replaceState(null, "", `${location.pathname}#/tools`);
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
    this.tools = null;
    this._forgetPages();
    this.update();
  }

  /** Another token is another client: what was filled in and returned before is not shown to it. */
  _forgetPages() {
    this.pages.clear();
    this.page = null;
  }

  async _load() {
    if (localStorage.getItem(TOKEN) === null) {
      this.update();
      return;
    }
    try {
      this.tools = (await this.api.get("/v1/tools")).tools;
      this.problem = null;
    } catch (error) {
      this.problem = error instanceof ApiError && error.status === 401
        ? "The address or the token counts no more. Open the console again." : /** @type {Error} */ (error).message;
    }
    this.update();
  }

  /** @param {boolean} isByPerson */
  async _route(isByPerson) {
    const [path, rest] = location.hash.slice(1).split("?", 2);
    const name = /^\/tools\/(.+)$/.exec(path)?.[1];
    this.page = null;
    if (name !== undefined && this.tools !== null) {
      const tool = decoded(name);
      let page = this.pages.get(tool);
      if (page === undefined) {
        page = new ToolPage(tool, this.api, () => this.update());
        this.pages.set(tool, page);
      }
      this.page = page;
      document.title = `${tool} – Toolkit`;
      await page.load(new URLSearchParams(rest ?? "").get("arguments"));
    } else {
      document.title = "Tools – Toolkit";
    }
    this.update();
    // A screen reader says where it is now.
    if (isByPerson) setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("main h2"))?.focus());
  }

  /** @param {string} query */
  _search(query) {
    this.query = query;
    clearTimeout(this._timer);
    this.list.reset();
    if (query.trim() === "") {
      this.found = null;
    } else {
      this._timer = setTimeout(() => void this._find(query), PAUSE);
    }
    this.update();
  }

  /** @param {string} query */
  async _find(query) {
    this._searches += 1;
    const number = this._searches;
    try {
      const { tools } = await this.api.get(`/v1/tools?q=${encodeURIComponent(query)}`);
      if (number === this._searches && query === this.query) this.found = tools.map((/** @type {any} */ tool) => tool.name);
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
    this.update();
  }

  /** @returns {Child[]} */
  _show() {
    const isIn = localStorage.getItem(TOKEN) !== null;
    return [
      h("a.skip", { href: "#main", onclick: (/** @type {Event} */ event) => { event.preventDefault(); document.getElementById("main")?.focus(); } }, "To the content"),
      h("header.top", { key: "top" }, h("h1", null, h("a", { href: "#/tools" }, "Toolkit")),
        h("nav", { "aria-label": "Pages" }, h("a", { href: "#/tools", "aria-current": "page" }, "Tools"))),
      h("main", { key: "main", id: "main", tabindex: "-1" },
        this.problem === null ? null : h("p.problem", { role: "alert" }, visible(this.problem)),
        !isIn ? this._enter() : this.page !== null ? h("article", { key: `tool ${this.page.name}` }, this.page.show()) : this._tools()),
    ];
  }

  /** @returns {Child} */
  _enter() {
    const enter = (/** @type {Event} */ event) => {
      event.preventDefault();
      localStorage.setItem(TOKEN, this.typedToken.trim());
      this.typedToken = "";
      void this._load().then(() => this._route(true));
    };
    return h("form.enter", { key: "enter", onsubmit: enter }, h("h2", { tabindex: "-1" }, "Enter"),
      h("p", null, "Open the address that ", h("code", null, "toolkit console"), " prints, or enter a token of this server."),
      h("label", { for: "token" }, "Token"),
      h("input", { id: "token", type: "password", autocomplete: "off", value: this.typedToken, oninput: (/** @type {any} */ event) => { this.typedToken = event.target.value; } }),
      h("button.primary", { type: "submit" }, "Enter"));
  }

  /** @returns {Child} */
  _tools() {
    if (this.tools === null) return h("p.note", { role: "status" }, "Loading…");
    const entries = this._entries(this.tools);
    const tools = entries.filter((entry) => entry.tool !== undefined).length;
    return h("section.tools", { key: "tools", "aria-label": "Tools" }, h("h2", { tabindex: "-1" }, "Tools"),
      h("div.row", null, h("input.grow", {
        type: "search", "aria-label": "Search for tools", placeholder: "Search", value: this.query, oninput: (/** @type {any} */ event) => this._search(event.target.value),
      }), h("span.note", { role: "status" }, `${tools.toLocaleString()} ${tools === 1 ? "tool" : "tools"}`)),
      entries.length === 0 ? h("p.note", null, this.query.trim() === "" ? "The policy leaves no tools." : "Nothing was found.") : this.list.show(entries.length, (index) => entry(entries[index])));
  }

  /** @param {any[]} tools @returns {{ key: string, heading?: string, tool?: any }[]} Headings and tools in their order. */
  _entries(tools) {
    if (this.query.trim() !== "") {
      const needle = this.query.trim().toLowerCase();
      const byName = new Map(tools.map((tool) => [tool.name, tool]));
      const named = tools.filter((tool) => tool.name.toLowerCase().includes(needle));
      const found = (this.found ?? []).map((name) => byName.get(name)).filter((tool) => tool !== undefined);
      return [...new Set([...named, ...found])].map((tool) => ({ key: tool.name, tool }));
    }
    /** @type {Map<string, any[]>} */
    const groups = new Map();
    for (const tool of tools) {
      const heading = headingOf(tool);
      const there = groups.get(heading);
      if (there === undefined) groups.set(heading, [tool]);
      else there.push(tool);
    }
    return [...groups].sort(([one], [other]) => one.localeCompare(other)).flatMap(([heading, all]) => [
      { key: `group ${heading}`, heading: `${heading} (${all.length})` }, ...all.map((tool) => ({ key: tool.name, tool })),
    ]);
  }
}

/** @param {Error} error @returns {Child[]} */
function broken(error) {
  return [h("main", { key: "broken" }, h("h2", null, "This page cannot be shown"), h("p.problem", { role: "alert" }, visible(error.message)),
    h("p", null, h("a", { href: "#/tools" }, "To the tools")))];
}

/** @param {any} tool */
function headingOf(tool) {
  const { kind, ...names } = tool.source ?? {};
  const group = Array.isArray(tool.groups) && tool.groups.length > 0 ? String(tool.groups[0]) : "without a group";
  const source = [kind, ...Object.values(names).filter((name) => typeof name === "string")].join(" ");
  return kind === "builtin" || kind === "linked" || kind === undefined ? group : `${group} · ${source}`;
}

/** @param {{ key: string, heading?: string, tool?: any }} entry @returns {import("./types.js").Node} */
function entry({ key, heading, tool }) {
  if (heading !== undefined) return h("li.heading", { key }, h("h3", null, visible(heading)));
  return h("li.entry", { key }, h("a", { href: `#/tools/${encodeURIComponent(tool.name)}` },
    h("span.name", null, visible(String(tool.name))), h("span", { class: `badge ${tool.verdict.decision}`, title: visible(String(tool.verdict.reason ?? "")) }, tool.verdict.decision),
    h("span.summary", null, visible(String(tool.summary ?? "")))));
}

/** @param {string} name */
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
