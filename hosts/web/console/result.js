/**
 * The result of a call.
 *
 * @module result
 */

import { h } from "./render.js";
import { stringify } from "./json.js";
import { diff, hostOf, isDiff, isTable, markdown, short, shortened, table, terminal, visible } from "./text.js";

/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./types.js").Child} Child */

/** Blocks and files of one result that are shown. */
const MOST_BLOCKS = 200;

/** Results as nodes, by view: they are made once. @type {WeakMap<object, Map<string, (Child | null)[]>>} */
const shown = new WeakMap();

/** Ways to show a text. */
export const VIEWS = /** @type {const} */ (["Text", "Markdown", "As the model sees it"]);

/** Media of one result, as addresses of this page: they are freed when the result is shown no more. */
export class Media {
  constructor() {
    /** @type {string[]} */
    this._made = [];
    /** @type {Map<string, string>} */
    this._known = new Map();
  }

  /** @param {string} key @param {string} base64 @param {string} type */
  address(key, base64, type) {
    let address = this._known.get(key);
    if (address === undefined) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      address = URL.createObjectURL(new Blob([bytes], { type }));
      this._made.push(address);
      this._known.set(key, address);
    }
    return address;
  }

  free() {
    for (const address of this._made) URL.revokeObjectURL(address);
    this._made = [];
    this._known.clear();
  }
}

/**
 * @param {any} result As the server answers a call.
 * @param {string} view One of {@link VIEWS}.
 * @param {Media} media
 * @returns {(Child | null)[]}
 */
export function show(result, view, media) {
  let views = shown.get(result);
  if (views === undefined) {
    views = new Map();
    shown.set(result, views);
  }
  let parts = views.get(view);
  if (parts === undefined) {
    parts = make(result, view, media);
    views.set(view, parts);
  }
  return parts;
}

/** @param {any} result @param {string} view @param {Media} media @returns {(Child | null)[]} */
function make(result, view, media) {
  if (view === VIEWS[2]) return [h("pre.model", { tabindex: "0" }, visible(shortened(asModel(result))))];
  /** @type {(Child | null)[]} */
  const parts = [];
  if (result.isError) parts.push(error(result.error));
  // The error is shown once.
  const isShown = (/** @type {any} */ block) => !result.isError || block.type !== "text" || block.text !== result.error?.message;
  const blocks = (Array.isArray(result.content) ? result.content : []).filter(isShown);
  blocks.slice(0, MOST_BLOCKS).forEach((/** @type {any} */ block, /** @type {number} */ index) => parts.push(held(() => showBlock(block, view, media, `block ${index}`))));
  if (blocks.length > MOST_BLOCKS) parts.push(h("p.note", null, `… ${(blocks.length - MOST_BLOCKS).toLocaleString()} blocks more`));
  if (result.structured !== undefined) parts.push(structured(result.structured, blocks));
  if (Array.isArray(result.files) && result.files.length > 0) {
    parts.push(h("section", { "aria-label": "Files" }, h("h4", null, "Files"),
      result.files.slice(0, MOST_BLOCKS).map((/** @type {any} */ file, /** @type {number} */ index) => held(() => showFile(file, media, `file ${index}`)))));
  }
  if (result.truncated !== undefined) parts.push(h("p.note", null, `The output was shortened: ${visible(short(stringify(result.truncated)))}`));
  if (Array.isArray(result.filesModified)) parts.push(h("p.note", null, `Changed files: ${result.filesModified.map((/** @type {unknown} */ name) => visible(String(name))).join(", ")}`));
  if (parts.length === 0) parts.push(h("p.note", null, "The result is empty."));
  return parts;
}

/** A part that cannot be shown takes no other with it. @param {() => Child} make @returns {Child} */
function held(make) {
  try {
    return make();
  } catch (fault) {
    return h("p.problem", null, `A part of the result cannot be shown: ${visible(/** @type {Error} */ (fault).message)}`);
  }
}

/** @param {any} error @returns {Child} */
function error(error) {
  const retry = error?.retryAfterMs === undefined ? "" : ` It can be tried again after ${(Number(error.retryAfterMs) / 1_000).toLocaleString()} s.`;
  return h("p.problem", { role: "alert" }, h("strong", null, visible(String(error?.kind ?? "failed").replaceAll("_", " "))), ": ", visible(shortened(String(error?.message ?? ""))), retry);
}

/** @param {any} block @param {string} view @param {Media} media @param {string} key @returns {Child} */
function showBlock(block, view, media, key) {
  switch (block.type) {
    case "text": return showText(String(block.text ?? ""), view);
    case "image": return image(block, media, key);
    case "audio": return audio(block, media, key);
    case "resource_link": return h("p", null, "Link: ", link(String(block.uri ?? ""), String(block.title ?? block.name ?? block.uri)));
    case "resource": return resource(block.resource ?? {}, view, media, key);
    default: return h("pre.code", { tabindex: "0" }, visible(shortened(stringify(block, 2))));
  }
}

/** @param {string} text @param {string} view @returns {Child} */
function showText(text, view) {
  if (view === VIEWS[1]) return h("div.markdown", null, markdown(text));
  return isDiff(text) ? diff(text) : h("pre.output", { tabindex: "0" }, terminal(text));
}

/** @param {any} block @param {Media} media @param {string} key @returns {Child} */
function image(block, media, key) {
  // A picture that could hold scripts is no picture here: it is offered as a file.
  const type = String(block.mimeType ?? "");
  if (typeof block.data !== "string" || !/^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(type)) return download(block, media, key, "picture");
  return h("img", { src: media.address(key, block.data, type), alt: visible(String(block.alt ?? "Picture of the result")) });
}

/** @param {any} block @param {Media} media @param {string} key @returns {Child} */
function audio(block, media, key) {
  const type = String(block.mimeType ?? "");
  if (typeof block.data !== "string" || !type.startsWith("audio/")) return download(block, media, key, "sound");
  return h("audio", { controls: true, src: media.address(key, block.data, type), "aria-label": "Sound of the result" });
}

/** @param {any} resource @param {string} view @param {Media} media @param {string} key @returns {Child} */
function resource(resource, view, media, key) {
  const name = String(resource.uri ?? "resource");
  if (typeof resource.text === "string") return h("details", { open: true }, h("summary", null, visible(name)), showText(resource.text, view));
  return download({ data: resource.blob, mimeType: resource.mimeType, name }, media, key, "document");
}

/** @param {any} file @param {Media} media @param {string} key @returns {Child} */
function showFile(file, media, key) {
  const about = `${visible(String(file.name ?? "file"))} (${[file.mimeType === undefined ? null : visible(String(file.mimeType)), file.bytes === undefined ? null : `${Number(file.bytes).toLocaleString()} bytes`].filter(Boolean).join(", ")})`;
  if (typeof file.error === "string") return h("p.problem", null, `${about}: ${visible(file.error)}`);
  const type = String(file.mimeType ?? "");
  const preview = typeof file.data !== "string" ? null : type.startsWith("image/") ? image(file, media, key) : type.startsWith("audio/") ? audio(file, media, key) : null;
  return h("div", null, h("p", null, about, " ", download(file, media, `${key} whole`, "file")), preview);
}

/** @param {any} part @param {Media} media @param {string} key @param {string} what @returns {Child} */
function download(part, media, key, what) {
  if (typeof part.data !== "string") return h("p.note", null, visible(String(part.error ?? `The ${what} is not here.`)));
  const name = String(part.name ?? what).split(/[\\/]/).at(-1);
  return h("a.button", { href: media.address(key, part.data, "application/octet-stream"), download: name }, `Save the ${what}`);
}

/** @param {any} value @param {any[]} blocks @returns {Child | null} */
function structured(value, blocks) {
  const text = stringify(value, 2);
  // A structured result that its text repeats is shown once, unless it is a table.
  const isRepeated = blocks.some((block) => block.type === "text" && (block.text === text || block.text === stringify(value) || block.text === value));
  if (isTable(value)) return table(value);
  return isRepeated ? null : h("details", { open: true }, h("summary", null, "Structured result"), h("pre.code", { tabindex: "0" }, visible(shortened(text))));
}

/** @param {string} address @param {string} label @returns {Child} */
function link(address, label) {
  return /^https?:\/\//.test(address) ? h("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, `${visible(label)} (${hostOf(address)})`) : h("code", null, visible(address));
}

/** @param {any} result @returns {string} The text that a model gets. */
export function asModel(result) {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const texts = blocks.map((/** @type {any} */ block) => {
    if (block.type === "text") return String(block.text ?? "");
    if (block.type === "resource") return String(block.resource?.text ?? `[${block.resource?.mimeType ?? "document"}]`);
    return block.type === "resource_link" ? String(block.uri) : `[${block.type}: ${block.mimeType ?? ""}]`;
  });
  if (result.isError && texts.length === 0) return String(result.error?.message ?? "");
  return texts.join("\n");
}
