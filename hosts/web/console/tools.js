/**
 * The tools: their list, and the page of each.
 *
 * @module tools
 */

import { h } from "./render.js";
import { Page } from "./page.js";
import { ToolPage } from "./tool.js";
import { visible } from "./text.js";
import { VirtualList } from "./list.js";

/** @typedef {import("./types.js").Child} Child */

/** Time after the last key until a search begins, in milliseconds. */
const PAUSE = 200;
/** Height of an entry of the list of tools, in pixels: as in the stylesheet. */
const ENTRY = 64;

/** The tools that a person has. */
export class ToolsPage extends Page {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    super(app);
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
    this._timer = 0;
    this._searches = 0;
  }

  /** @param {string[]} path @param {URLSearchParams} query */
  async enter(path, query) {
    const name = path[0];
    this.page = null;
    this.title = name ?? "Tools";
    if (this.tools === null) await this.act(async () => { this.tools = (await this.api.get("/v1/tools")).tools; });
    if (name === undefined || this.tools === null) return;
    let page = this.pages.get(name);
    if (page === undefined) {
      page = new ToolPage(name, this.api, () => this.update(), this.app.isGateway ? (file) => this.app.upload(file) : null);
      this.pages.set(name, page);
    }
    this.page = page;
    await page.load(query.get("arguments"));
  }

  /** @returns {Child[]} */
  show() {
    return [
      this.problem === null ? "" : h("p.problem", { key: "problem", role: "alert" }, visible(this.problem)),
      this.page !== null ? h("article", { key: `tool ${this.page.name}` }, this.page.show()) : this._tools(),
    ];
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
