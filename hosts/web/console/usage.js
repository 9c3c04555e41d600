/**
 * What was used, and how much may be.
 *
 * @module usage
 */

import { h } from "./render.js";
import { LoadedPage, button, count, table, text } from "./page.js";

/** @typedef {import("./types.js").Child} Child */

/** The measures, with what is reserved of them. */
const MEASURES = [["tokens", "reservedTokens"], ["cost", "reservedCost"], ["runs", ""]];
/** Height of the bars, in pixels. */
const HEIGHT = 180;

/** The accounts of a person, for the owner all, and one over time. */
export class UsagePage extends LoadedPage {
  title = "Use";
  _kinds = /^(?:run|fire|budget)\./;
  kind = "";
  _measure = "tokens";
  /** The account over time: at first that of everything, or of the person. @type {{ [name: string]: string }} */
  _account = {};

  async _load() {
    const after = this._places.at(-1);
    const query = new URLSearchParams({ limit: "20", ...(this.kind && { kind: this.kind }), ...(after && { after }) });
    return Object.assign({}, ...await Promise.all([`budgets?${query}`, `usage?${new URLSearchParams(this._account)}`].map((path) => this.api.get(`/v1/${path}`))));
  }

  _typed() {
    this._places = [];
    void this._reload();
  }

  /** @param {{ budgets: any[], days: any[], next?: string, timezone: string }} data */
  _content({ budgets, days, next, timezone }) {
    return [
      h("section.card", null, h("h3", null, text(Object.values(this._account).join(" ") || "All"), ` by day (${timezone})`),
        h("div.row", { role: "radiogroup", "aria-label": "Measure" }, MEASURES.map(([value]) => h("label", null, h("input", { type: "radio", name: "measure", checked: this._measure === value, onchange: () => { this._measure = value; this.update(); } }), value))),
        chart(days, this._measure),
        h("details", null, h("summary", null, "As a table"), table("Use by day", ["Day", "Runs", "Requests", "Tokens", "Cost"], days, ({ period, runs, requests, tokens, cost }) => [period, period, ...[runs, requests, tokens, cost].map(count)]))),
      this._control(this, "kind", "Accounts", { options: [["", "all"], "everything", "agent", "session", "job", "person"] }),
      table("Accounts", ["Account", "Day", "Month", ""], budgets, ({ kind, name, day, month }) => [
        `${kind} ${name}`, text(`${kind} ${name}`), used(day), used(month), button("By day", () => { this._account = { kind, name }; void this._reload(); }),
      ]),
      this._pager(next),
    ];
  }
}

/** @param {any} of @returns {Child[]} What was used in a day or a month. */
function used(of) {
  return MEASURES.map(([measure, reserved]) => {
    const [value, max] = [of[measure], of.limits[measure]];
    return h("div.used", null, `${measure}: ${count(value)}`, of[reserved] > 0 && ` + ${count(of[reserved])} reserved`, max >= 0 && [` of ${count(max)} `, h("meter", { max, low: max * 0.8, high: max * 0.95, optimum: 0, value, "aria-label": measure })]);
  });
}

/** @param {any[]} days @param {string} measure @returns {Child} */
function chart(days, measure) {
  const most = Math.max(...days.map((day) => day[measure])) || 1;
  const dated = (/** @type {number} */ index) => new Date(days[index].period).toLocaleDateString(undefined, { timeZone: "UTC", month: "short", day: "numeric" });
  const last = days.length - 1;
  return h("svg.chart", { role: "img", "aria-label": `${measure} by day` },
    days.map((day, index) => {
      const height = HEIGHT * day[measure] / most;
      return h("rect", { x: `${100 * index / days.length}%`, width: `${80 / days.length}%`, y: 20 + HEIGHT - height, height }, h("title", null, `${dated(index)}: ${count(day[measure])}`));
    }),
    [1, 0.5, 0].map((part) => {
      const y = 20 + HEIGHT * (1 - part);
      return [h("line", { x2: "100%", y1: y, y2: y }), h("text", { y: y - 4 }, (part * most).toLocaleString(undefined, { notation: "compact" }))];
    }),
    [["start", 0], ["middle", last >> 1], ["end", last]].map(([anchor, index]) => h("text", { "text-anchor": anchor, x: `${100 * Number(index) / last}%`, y: HEIGHT + 36 }, dated(Number(index)))));
}
