/**
 * A list of which only the entries in view are in the page.
 *
 * @module list
 */

import { h } from "./render.js";

/** Entries above and below the view that are in the page too. */
const MARGIN = 8;

/** A list whose entries have one height. */
export class VirtualList {
  /**
   * @param {number} height The height of an entry, in pixels.
   * @param {() => void} update
   */
  constructor(height, update) {
    this.height = height;
    this.update = update;
    this.top = 0;
    this.view = 800;
    this._isReset = false;
  }

  /** Goes back to the first entry. */
  reset() {
    this.top = 0;
    this._isReset = true;
  }

  /**
   * @param {number} count
   * @param {(index: number) => import("./types.js").Node} entry Makes the node of an entry, with a key.
   * @returns {import("./types.js").Node}
   */
  show(count, entry) {
    const first = Math.max(0, Math.floor(this.top / this.height) - MARGIN);
    const last = Math.min(count, Math.ceil((this.top + this.view) / this.height) + MARGIN);
    const entries = Array.from({ length: Math.max(0, last - first) }, (_, index) => entry(first + index));
    const space = (/** @type {string} */ key, /** @type {number} */ rows) => h("li.space", { key, "aria-hidden": "true", style: { height: `${rows * this.height}px` } });
    const scrollTop = this._isReset ? 0 : undefined;
    this._isReset = false;
    return h("ul.list", {
      tabindex: "-1", scrollTop, onscroll: (/** @type {any} */ event) => this._scrolled(event.currentTarget),
      made: (/** @type {HTMLElement} */ element) => {
        this._scrolled(element);
        new ResizeObserver(() => this._scrolled(element)).observe(element);
      },
    }, space(" above", first), entries, space(" below", Math.max(0, count - last)));
  }

  /** @param {HTMLElement} element */
  _scrolled(element) {
    const [top, view] = [element.scrollTop, element.clientHeight];
    if (Math.abs(top - this.top) < this.height / 2 && view === this.view) return;
    this.top = top;
    this.view = view;
    this.update();
  }
}
