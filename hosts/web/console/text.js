/**
 * What tools return as text, as nodes: lines with colours of a terminal, a part of Markdown, differences, and tables of JSON.
 * No text is ever read as markup.
 *
 * @module text
 */

import { h } from "./render.js";
import { stringify } from "./json.js";

/** @typedef {import("./types.js").Json} Json */
/** @typedef {import("./types.js").Child} Child */

/** Characters of one text that are shown; the whole can be copied. */
export const MOST_SHOWN = 200_000;
/** Characters of a cell of a table, and of a line of a log. */
const MOST_IN_LINE = 2_000;
/** Rows of a table. */
const MOST_ROWS = 200;
/** Parts of one text that are nodes of their own; what follows is plain. */
const MOST_PARTS = 5_000;

// eslint-disable-next-line no-control-regex
const ESCAPE = /\u001b(?:\[([0-9;:]*)m|\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
/** Signs that are not seen or turn the direction of a text; within a picture of emoji they are no more than a part of it. */
const INVISIBLE = /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)(?:\ufe0f?\u200d(?=\p{Extended_Pictographic})|\ufe0f)|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}])[\u200c\u200d](?=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}])|((?![\t\n]|\r\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800])/gu;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/**
 * Shows what is written in a text and cannot be seen, such as marks that turn its direction.
 *
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  return text.replace(INVISIBLE, (sign, /** @type {string | undefined} */ hidden) => (hidden === undefined ? sign : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`));
}

/** @param {string} text @returns {string} The start of a text that is one of many. */
export function short(text) {
  return text.length > MOST_IN_LINE ? `${text.slice(0, MOST_IN_LINE)}… ${(text.length - MOST_IN_LINE).toLocaleString()} characters more` : text;
}

/** @param {string} text @returns {string} At most {@link MOST_SHOWN} characters of it. */
export function shortened(text) {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… ${(text.length - MOST_SHOWN).toLocaleString()} characters more` : text;
}

/**
 * A text with the colours of a terminal.
 *
 * @param {string} text
 * @returns {Child[]}
 */
export function terminal(text) {
  const whole = shortened(text);
  /** @type {Child[]} */
  const parts = [];
  /** @type {Set<string>} */
  let classes = new Set();
  let end = 0;
  /** @param {string} plain */
  const add = (plain) => {
    if (plain !== "") parts.push(classes.size === 0 ? visible(plain) : h("span", { class: [...classes].join(" ") }, visible(plain)));
  };
  for (const found of whole.matchAll(ESCAPE)) {
    add(whole.slice(end, found.index));
    end = found.index + found[0].length;
    if (found[1] !== undefined) classes = styled(classes, found[1]);
    if (parts.length > MOST_PARTS) break;
  }
  add(whole.slice(end));
  return parts;
}

/** @param {Set<string>} before @param {string} codes @returns {Set<string>} */
function styled(before, codes) {
  let classes = new Set(before);
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  /** @param {string} prefix @param {string} [name] */
  const replace = (prefix, name) => {
    classes = new Set([...classes].filter((other) => !other.startsWith(prefix)));
    if (name !== undefined) classes.add(prefix + name);
  };
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index];
    if (code === 0) classes = new Set();
    else if (code === 1) classes.add("ansi-bold");
    else if (code === 2) classes.add("ansi-dim");
    else if (code === 3) classes.add("ansi-italic");
    else if (code === 4) classes.add("ansi-underline");
    else if (code === 22) { classes.delete("ansi-bold"); classes.delete("ansi-dim"); }
    else if (code === 23) classes.delete("ansi-italic");
    else if (code === 24) classes.delete("ansi-underline");
    else if (code >= 30 && code <= 37) replace("ansi-fg-", COLOURS[code - 30]);
    else if (code >= 90 && code <= 97) replace("ansi-fg-", COLOURS[code - 90]);
    else if (code === 39) replace("ansi-fg-");
    else if (code >= 40 && code <= 47) replace("ansi-bg-", COLOURS[code - 40]);
    else if (code === 49) replace("ansi-bg-");
    // Colours of the larger palettes are left out, with their arguments.
    else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4;
  }
  return classes;
}

/** @param {string} text @returns {boolean} True if a text is a difference of files. */
export function isDiff(text) {
  return /^(?:diff --git |Index: |--- )/m.test(text) && /^@@ .*@@|^@@$/m.test(text);
}

/**
 * A difference, line by line.
 *
 * @param {string} text
 * @param {boolean} [isWhole] True if nothing may be left out: what a person allows has to be seen.
 * @returns {Child}
 */
export function diff(text, isWhole) {
  const all = (isWhole === true ? text : shortened(text)).replace(/\n$/, "").split("\n");
  const lines = isWhole === true ? all : all.slice(0, MOST_PARTS);
  const left = all.length - lines.length;
  const classes = classesOf(lines);
  return h("pre.diff", { tabindex: "0" }, lines.map((line, index) => h("span", { class: `line ${classes[index]}` }, `${visible(line)}\n`)),
    left > 0 ? h("span.line.hunk", null, `… ${left.toLocaleString()} lines more`) : null);
}

/**
 * @param {string[]} lines
 * @returns {string[]} The class of each line. Within a part of a difference, whose header counts its lines, a line that begins as the name of a
 *   file is none.
 */
function classesOf(lines) {
  let [removed, added] = [0, 0];
  return lines.map((line) => {
    if (removed > 0 || added > 0) {
      const sign = line[0] ?? " ";
      if (sign !== "+" && sign !== "\\") removed -= 1;
      if (sign !== "-" && sign !== "\\") added -= 1;
      return sign === "+" ? "added" : sign === "-" ? "removed" : "same";
    }
    const header = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (header !== null) [removed, added] = [Number(header[1] ?? 1), Number(header[2] ?? 1)];
    if (line.startsWith("@@")) return "hunk";
    if (/^(?:\+\+\+ |--- |diff |index )/.test(line)) return "file";
    return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
  });
}

/** @param {Json} value @returns {value is { [name: string]: Json }[]} True if a value is a list of objects, which a table shows. */
export function isTable(value) {
  return Array.isArray(value) && value.length > 0 && value.every((row) => typeof row === "object" && row !== null && !Array.isArray(row));
}

/**
 * A table of objects, a column for each member.
 *
 * @param {{ [name: string]: Json }[]} rows
 * @returns {Child}
 */
export function table(rows) {
  const shown = rows.slice(0, MOST_ROWS);
  const names = [...new Set(shown.flatMap((row) => Object.keys(row)))].slice(0, 30);
  const isNumber = (/** @type {Json | undefined} */ value) => typeof value === "number" || typeof value === "bigint";
  const cell = (/** @type {Json | undefined} */ value) => h("td", { class: isNumber(value) ? "number" : undefined },
    value === undefined ? "" : visible(short(typeof value === "string" ? value : stringify(value))));
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Table" }, h("table", null,
    h("thead", null, h("tr", null, names.map((name) => h("th", { scope: "col" }, visible(name))))),
    h("tbody", null, shown.map((row) => h("tr", null, names.map((name) => cell(Object.hasOwn(row, name) ? row[name] : undefined)))))),
  rows.length > shown.length ? h("p.note", null, `${(rows.length - shown.length).toLocaleString()} rows more`) : null);
}

/**
 * A part of Markdown: headings, lists, quotes, code, emphasis and links.
 *
 * @param {string} text
 * @returns {Child[]}
 */
export function markdown(text) {
  const lines = shortened(text).split("\n");
  /** @type {Child[]} */
  const blocks = [];
  let index = 0;
  /** @param {(line: string) => boolean} isPart */
  const take = (isPart) => {
    const from = index;
    while (index < lines.length && isPart(lines[index])) index += 1;
    return lines.slice(from, index);
  };
  while (index < lines.length && blocks.length < MOST_PARTS) {
    const line = lines[index];
    const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined) {
      index += 1;
      const code = take((inner) => !inner.trimStart().startsWith(fence));
      index += 1;
      blocks.push(h("pre.code", { tabindex: "0" }, h("code", null, visible(code.join("\n")))));
    } else if (/^#{1,6}\s/.test(line)) {
      index += 1;
      const level = /^#+/.exec(line)?.[0].length ?? 1;
      // The page has headings of its own above.
      blocks.push(h(`h${Math.min(level + 2, 6)}`, null, spans(line.replace(/^#+\s+/, ""))));
    } else if (/^\s*(?:[-*+]|\d+[.)])\s/.test(line)) {
      const items = take((inner) => /^\s*(?:[-*+]|\d+[.)])\s/.test(inner) || /^\s{2,}\S/.test(inner));
      blocks.push(list(items));
    } else if (/^\s*>/.test(line)) {
      const quoted = take((inner) => /^\s*>/.test(inner)).map((inner) => inner.replace(/^\s*> ?/, ""));
      blocks.push(h("blockquote", null, h("p", null, spans(quoted.join(" ")))));
    } else if (line.trim() === "") {
      index += 1;
    } else {
      const paragraph = take((inner) => inner.trim() !== "" && !/^(?:\s*(?:```|~~~|>|[-*+]\s|\d+[.)]\s)|#{1,6}\s)/.test(inner));
      // A line that begins no block after all is a paragraph.
      if (paragraph.length === 0) paragraph.push(lines[index++]);
      blocks.push(h("p", null, spans(paragraph.join("\n"))));
    }
  }
  if (index < lines.length) blocks.push(h("p.note", null, `… ${(lines.length - index).toLocaleString()} lines more`));
  return blocks;
}

/** @param {string[]} lines @returns {Child} */
function list(lines) {
  /** @type {string[]} */
  const items = [];
  for (const line of lines) {
    if (/^\s*(?:[-*+]|\d+[.)])\s/.test(line)) items.push(line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, ""));
    else items.push(`${items.pop() ?? ""} ${line.trim()}`);
  }
  const shown = items.slice(0, MOST_PARTS);
  if (items.length > shown.length) shown.push(`… ${(items.length - shown.length).toLocaleString()} items more`);
  return h(/^\s*\d/.test(lines[0]) ? "ol" : "ul", null, shown.map((item) => h("li", null, spans(item))));
}

/** Each part has a greatest length, so that a text of brackets alone takes no time. */
const SPAN = /(?<!`)(`{1,2})(?!`)([^`]{1,2000})\1(?!`)|\*\*([^*\n]{1,500})\*\*|(?<![\w*])[*_]([^*_\n]{1,500})[*_](?!\w)|\[([^\][\n]{1,300})\]\((https?:\/\/[^\s)]{1,1000})\)/g;

/** @param {string} address @returns {string} Where a link leads, whatever its text says. */
export function hostOf(address) {
  return URL.canParse(address) ? visible(new URL(address).host) : "?";
}

/** @param {string} text @returns {Child[]} */
function spans(text) {
  /** @type {Child[]} */
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(SPAN)) {
    if (found.index > end) parts.push(visible(text.slice(end, found.index)));
    end = found.index + found[0].length;
    const [, , code, bold, italic, label, address] = found;
    if (code !== undefined) parts.push(h("code", null, visible(code)));
    else if (bold !== undefined) parts.push(h("strong", null, visible(bold)));
    else if (italic !== undefined) parts.push(h("em", null, visible(italic)));
    else parts.push(h("a", { href: address, rel: "noreferrer noopener", target: "_blank", title: address }, visible(label)), ` (${hostOf(address)})`);
  }
  if (end < text.length) parts.push(visible(text.slice(end)));
  return parts;
}
