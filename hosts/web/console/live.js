/**
 * The one stream of what happens, which goes on where it was cut.
 *
 * @module live
 */

import { ApiError } from "./api.js";

/** Times until the next attempt, in milliseconds; the last one is repeated. */
const PAUSES = [250, 1000, 3000, 10_000];

/** @typedef {{ kind: string, data: any, id: string | null }} Happened */

/** Events of the server, each heard once and in order. */
export class Live {
  /**
   * @param {import("./api.js").Api} api
   * @param {string} path
   * @param {string | null} last The id behind which the events begin; those from now on without one.
   * @param {(event: Happened) => void} hear
   * @param {(state: "open" | "lost") => void} [change]
   */
  constructor(api, path, last, hear, change = () => {}) {
    this.api = api;
    this.path = path;
    this.hear = hear;
    this.change = change;
    this.last = last;
    this._abort = new AbortController();
    /** Resolved once it is open, or known not to be. @type {Promise<void>} */
    this.tried = new Promise((resolve) => { this._resolve = resolve; });
    void this._follow();
  }

  end() {
    this._abort.abort();
  }

  /** @param {"open" | "lost"} state */
  _say(state) {
    this.change(state);
    this._resolve?.();
  }

  async _follow() {
    const { signal } = this._abort;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.api.events(this.path, this.last, () => {
          failures = 0;
          this._say("open");
        }, (kind, data, id) => {
          if (signal.aborted) return;
          if (id !== null && Number(id) <= Number(this.last ?? -1)) return;
          if (id !== null) this.last = id;
          if (kind !== "") this.hear({ kind, data, id });
        }, signal);
      } catch (error) {
        // What the server refuses, it refuses again.
        const { status } = /** @type {ApiError} */ (error);
        if (status >= 400 && status < 500 && status !== 429) {
          if (!signal.aborted) this._say("lost");
          return;
        }
      }
      if (signal.aborted) return;
      this._say("lost");
      const pause = PAUSES[Math.min(failures, PAUSES.length - 1)];
      failures += 1;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, pause);
        signal.addEventListener("abort", () => { clearTimeout(timer); resolve(null); }, { once: true });
      });
    }
  }
}
