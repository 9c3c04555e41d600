/**
 * The sessions, and the conversation of each.
 *
 * @module sessions
 */

import { h } from "./render.js";
import { Chat } from "./chat.js";
import { Page, badge, field, time } from "./page.js";
import { visible } from "./text.js";
import { VirtualList } from "./list.js";

/** @typedef {import("./types.js").Child} Child */

/** Height of an entry, in pixels: as in the stylesheet. */
const ENTRY = 64;
/** Sessions that are loaded at once. */
const AT_ONCE = 500;
/** Time after an event until a session is loaded again, in milliseconds: others may come with it. */
const SOON = 300;
/** Conversations that are kept as they are when one goes to another page. */
const MOST_CHATS = 10;

/** The sessions that a person sees. */
export class SessionsPage extends Page {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    super(app);
    /** @type {any[]} */
    this.sessions = [];
    /** @type {string | null} */
    this._next = null;
    this._isLoaded = false;
    /** What each cost this month, by key. @type {Map<string, number>} */
    this._costs = new Map();
    /** @type {any[]} */
    this._agents = [];
    this._query = "";
    this._status = "";
    this._withArchived = false;
    /** The conversation that is to begin; the same one, however often it is sent. */
    this._wanted = { agent: "", text: "", thread: "" };
    /** @type {Map<string, Chat>} */
    this._chats = new Map();
    /** @type {Chat | null} */
    this.chat = null;
    this.list = new VirtualList(ENTRY, () => this._scrolled());
    this._isLoading = false;
    /** Sessions that changed. @type {Set<string>} */
    this._changed = new Set();
    this._timer = 0;
  }

  /** @param {string[]} path */
  async enter(path) {
    const key = path[0];
    this.said = "";
    this.problem = null;
    this.chat = null;
    this.title = "Sessions";
    if (this.app.watched !== key) this.app.watch(null);
    // What happened while another page was shown was not heard.
    if (key === undefined || !this._isLoaded) await this._load();
    if (key === undefined) return;
    let chat = this._chats.get(key);
    if (chat === undefined) {
      chat = new Chat(this, key);
      for (const old of [...this._chats.keys()].slice(0, -MOST_CHATS)) this._chats.delete(old);
    }
    this._chats.delete(key);
    this._chats.set(key, chat);
    this.chat = chat;
    this.title = nameOf(this.sessions.find((session) => session.key === key) ?? { key });
    await chat.load();
    if (chat.session !== null && this.chat === chat) this.app.watch(chat.key);
  }

  leave() {
    this.app.watch(null);
  }

  /** Loads the list from its start. */
  async _load() {
    await this.act(async () => {
      this.sessions = [];
      await this._more("");
      this._isLoaded = true;
      const [{ budgets }, { agents }] = await Promise.all([this.api.get("/v1/budgets?kind=session&limit=500"), this.api.get("/v1/agents")]);
      this._agents = agents;
      for (const budget of budgets) this._costs.set(budget.name, Number(budget.month.cost));
    });
  }

  /** @param {string} cursor */
  async _more(cursor) {
    this._isLoading = true;
    try {
      const archived = this._withArchived ? "&archived=true" : "";
      const read = await this.api.get(`/v1/sessions?limit=${AT_ONCE}${archived}${cursor === "" ? "" : `&cursor=${cursor}`}`);
      const known = new Set(this.sessions.map((session) => session.key));
      this.sessions = [...this.sessions, ...read.sessions.filter((/** @type {any} */ session) => !known.has(session.key))];
      this._next = read.nextCursor;
    } finally {
      this._isLoading = false;
    }
  }

  _scrolled() {
    const isNearEnd = this.list.top + this.list.view > this._rows().length * ENTRY - 20 * ENTRY;
    if (isNearEnd && this._next !== null && !this._isLoading) void this.act(() => this._more(String(this._next)));
    this.update();
  }

  /** @param {import("./live.js").Happened} event */
  hear(event) {
    const { kind, data } = event;
    // Pieces name no session: those of another one are not this one's.
    if (kind !== "live" || this.app.watched === this.chat?.key) this.chat?.hear(event);
    if (kind === "gap") void this._load();
    else if (/^(session|run|message|ask)\./.test(kind) && typeof data?.session === "string") {
      this._changed.add(data.session);
      this._timer ||= setTimeout(() => void this._refresh(), SOON);
    }
  }

  /** Loads those again that changed. */
  async _refresh() {
    this._timer = 0;
    const changed = [...this._changed].slice(0, 50);
    for (const key of changed) this._changed.delete(key);
    if (this._changed.size > 0) this._timer = setTimeout(() => void this._refresh(), SOON);
    const read = await Promise.all(changed.map((key) => this.api.get(`/v1/sessions/${encodeURIComponent(key)}`).catch(() => null)));
    for (const session of read) {
      if (session === null) continue;
      this.sessions = this.sessions.filter((other) => other.key !== session.key);
      if (session.archivedAt === null || this._withArchived) this.sessions.unshift(session);
    }
    this.sessions.sort((one, other) => Number(other.activeAt) - Number(one.activeAt));
    this.update();
  }

  /** Begins a conversation with its first message, and goes to it. */
  async _begin() {
    const { text } = this._wanted;
    if (text.trim() === "") return;
    const agent = this._wanted.agent === "" ? this.app.status.person.agent : this._wanted.agent;
    const name = encodeURIComponent(this.app.status.person.name);
    const thread = (this._wanted.thread ||= crypto.randomUUID());
    const key = `agent:${encodeURIComponent(agent)}:local:console:direct:${name}:${thread.slice(0, 8)}`;
    await this.act(async () => {
      await this.api.post(`/v1/sessions/${encodeURIComponent(key)}/messages`, { text, id: thread });
      this._wanted.text = this._wanted.thread = "";
      this._changed.add(key);
      await this._refresh();
      location.hash = `#/sessions/${encodeURIComponent(key)}`;
    });
  }

  /** @returns {Child[]} */
  show() {
    if (this.chat !== null) return this.framed(this.chat.show());
    const rows = this._rows();
    return this.framed(
      h("details", { key: "new" }, h("summary", null, "New conversation"), h("form.card", { onsubmit: (/** @type {any} */ event) => { event.preventDefault(); void this._begin(); } },
        this._agents.length < 2 ? "" : field("Agent", this._wanted.agent || this.app.status.person.agent, (value) => { this._wanted.agent = value; this.update(); }, { options: this._agents.map((agent) => agent.id) }),
        field("First message", this._wanted.text, (value) => { this._wanted.text = value; this.update(); }, { tag: "textarea", rows: "3" }), h("button.primary", null, "Begin"))),
      h("div.row", { key: "filter" }, h("input.grow", { type: "search", "aria-label": "Search for sessions", placeholder: "Search", value: this._query, oninput: (/** @type {any} */ event) => this._filter(() => { this._query = event.target.value; }) }),
        h("select", { "aria-label": "Status", value: this._status, onchange: (/** @type {any} */ event) => this._filter(() => { this._status = event.target.value; }) },
          [["", "any status"], ["active", "active"], ["waiting", "waiting"], ["idle", "idle"], ["archived", "archived"]].map(([value, text]) => h("option", { key: value, value }, text))),
        h("label", null, h("input", { type: "checkbox", checked: this._withArchived, onchange: (/** @type {any} */ event) => { this._withArchived = event.target.checked; this.list.reset(); void this._load(); } }), " archived, too"),
        h("span.note", { role: "status" }, `${rows.length.toLocaleString()}${this._next === null ? "" : "+"}`)),
      rows.length === 0 ? h("p.note", { key: "none" }, this._isLoaded ? "There are none. Begin one above." : "Loading…") : this.list.show(rows.length, (index) => this._entry(rows[index])));
  }

  /** @param {() => void} change */
  _filter(change) {
    change();
    this.list.reset();
    this._scrolled();
  }

  /** Sessions in their order, those below another one after it. @returns {{ session: any, depth: number }[]} */
  _rows() {
    const needle = this._query.trim().toLowerCase();
    const isWanted = (/** @type {any} */ session) => (this._status === "" || session.status === this._status)
      && (needle === "" || `${session.label ?? ""} ${session.key} ${session.person ?? ""}`.toLowerCase().includes(needle));
    const wanted = this.sessions.filter(isWanted);
    const there = new Set(wanted.map((session) => session.key));
    /** @type {Map<string, any[]>} */
    const below = new Map();
    for (const session of wanted) if (there.has(session.parent)) below.set(session.parent, [...below.get(session.parent) ?? [], session]);
    /** @type {{ session: any, depth: number }[]} */
    const rows = [];
    const add = (/** @type {any} */ session, /** @type {number} */ depth) => {
      rows.push({ session, depth });
      for (const child of below.get(session.key) ?? []) add(child, depth + 1);
    };
    for (const session of wanted) if (!there.has(session.parent)) add(session, 0);
    return rows;
  }

  /** @param {{ session: any, depth: number }} row */
  _entry({ session, depth }) {
    const cost = this._costs.get(session.key);
    return h("li.entry", { key: session.key }, h("a", { href: `#/sessions/${encodeURIComponent(session.key)}`, style: { paddingInlineStart: `${12 + Math.min(depth, 6) * 20}px` } },
      h("span.name", null, depth > 0 ? "↳ " : "", visible(nameOf(session))), statusOf(session),
      h("span.summary", null, visible([session.kind, session.agent, session.person].filter(Boolean).join(" · ")), " · ", time(session.activeAt),
        session.queued > 0 ? ` · ${Number(session.queued).toLocaleString()} waiting` : "", cost ? ` · cost ${cost.toLocaleString(undefined, { maximumSignificantDigits: 3 })}` : "")));
  }

  /** The sessions below one, as a tree. @param {string} key @returns {Child} */
  tree(key) {
    const below = this.sessions.filter((session) => session.parent === key);
    return h("ul", null, below.map((session) => h("li", { key: session.key }, h("a", { href: `#/sessions/${encodeURIComponent(session.key)}` }, visible(nameOf(session))), " ", statusOf(session),
      this.sessions.some((other) => other.parent === session.key) ? this.tree(session.key) : "")));
  }
}

/** @param {any} session */
function statusOf(session) {
  return badge(String(session.status), session.status === "active" ? "allow" : session.status === "waiting" ? "ask" : "");
}

/** @param {any} session @returns {string} Its label, or the end of its key that tells it from others. */
function nameOf({ label, key }) {
  if (label) return String(label);
  const [, agent, ...rest] = String(key).split(":");
  return rest.length === 1 ? `${rest[0]} of ${agent}` : rest.join(":");
}
