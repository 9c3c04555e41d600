/**
 * What happens, as it happens.
 *
 * @module log
 */

import { h } from "./render.js";
import { LoadedPage, button, code, rows, sessionLink } from "./page.js";
import { stringify } from "./json.js";
import { visible } from "./text.js";

/** Events that are kept, and those from before the page was opened. */
const [MOST, EARLIER] = [500, 200];

export class LogPage extends LoadedPage {
  title = "Log";
  kind = "";
  /** By number; the nodes are made once. @type {Map<number, any>} */
  _data = new Map();
  /** What is shown while it is paused. @type {any[] | null} */
  _paused = null;
  _abort = new AbortController();

  async enter() {
    const { signal } = (this._abort = new AbortController());
    const last = Number(this.app.live?.last ?? 0);
    // What comes last may be for others: the page does not wait for the end.
    void this.api.events(`/v1/events?after=${Math.max(0, last - EARLIER)}`, null, () => {}, (kind, data, id) => {
      if (kind) this.hear({ kind, data, id });
      if (Number(id) >= last) this._abort.abort();
    }, signal).catch(({ message }) => { this.problem = signal.aborted ? null : message; });
  }

  leave() {
    this._abort.abort();
  }

  /** @param {import("./live.js").Happened} event */
  hear({ kind, data, id }) {
    if (id === null) return;
    this._data.set(Number(id), { key: id, kind, cells: [new Date(data.at ?? Date.now()).toLocaleString(), code(kind), sessionLink(data.session), h("details", null, h("summary", null, "Data"), h("pre", { tabindex: 0 }, visible(stringify(data.data ?? data, 2))))] });
    this.update();
  }

  _content() {
    const numbers = [...this._data.keys()].sort((one, other) => other - one);
    for (const old of numbers.splice(MOST)) this._data.delete(old);
    const events = this._paused ?? numbers.map((number) => this._data.get(number));
    return [
      this._control(this, "kind", "Kind", { type: "search" }),
      button(this._paused ? "Go on" : "Pause", () => { this._paused = this._paused ? null : events; this.update(); }),
      rows("Events", ["Time", "Kind", "Session", "Data"], events.filter(({ kind }) => kind.includes(this.kind))),
    ];
  }
}
