/**
 * Questions of calls: what is asked, and the answers to it.
 *
 * @module questions
 */

import { h } from "./render.js";
import { stringify } from "./json.js";
import { diff, visible } from "./text.js";

/** @typedef {import("./types.js").Child} Child */

/**
 * @typedef {object} Answering
 * @property {(id: string, answer: any) => void} answer
 * @property {string} [problem] What was wrong with the last answer.
 * @property {string} reason The reason of a denial, as typed so far.
 * @property {boolean} isNew True for a moment, in which it cannot be answered.
 * @property {(text: string) => void} setReason
 */

/**
 * @param {any} ask As the server tells it.
 * @param {Answering | null} answering Nothing for those who may not answer it.
 * @returns {Child}
 */
export function question(ask, answering) {
  const of = ask.question ?? {};
  const name = `ask-${ask.id}`;
  return h("section.question", { key: ask.id, "aria-labelledby": name },
    h("h4", { id: name }, visible(String(of.title ?? of.message ?? `The tool ${ask.tool} asks`))),
    h("p.note", null, "Asked by ", h("code", null, visible(String(ask.tool))), typeof of.kind === "string" ? [" · ", h("code", null, visible(of.kind))] : null,
      ask.agent === undefined ? null : ` · ${visible(String(ask.agent))}`),
    typeof of.claim === "string" ? h("blockquote", null, visible(of.claim)) : null,
    list("Patterns", of.patterns), list("Only while", of.conditions),
    (Array.isArray(of.details) ? of.details : []).map(detail),
    typeof of.hint === "string" ? h("p.note", null, visible(of.hint)) : null,
    typeof ask.note === "string" ? h("p.note", null, visible(ask.note)) : null,
    ask.problem !== undefined || answering?.problem !== undefined ? h("p.problem", { role: "alert" }, visible(String(answering?.problem ?? ask.problem))) : null,
    answering === null ? null : of.type === "approve" || of.type === undefined ? approval(ask, answering) : h("div.row", null,
      h("button", { type: "button", onclick: () => answering.answer(ask.id, { type: "declined" }) }, "Decline"),
      h("button", { type: "button", onclick: () => answering.answer(ask.id, { type: "cancelled" }) }, "Cancel the call")));
}

/** @param {any} ask @param {Answering} answering @returns {Child} */
function approval(ask, answering) {
  const { answer, reason, isNew } = answering;
  const forSession = ask.atMost !== "once" && ask.question?.at_most !== "once";
  const denial = reason.trim() === "" ? { type: "deny" } : { type: "deny", message: reason };
  return h("div.row", null,
    h("button.primary", { type: "button", disabled: isNew, onclick: () => answer(ask.id, { type: "allow" }) }, "Allow once"),
    forSession ? h("button", { type: "button", disabled: isNew, onclick: () => answer(ask.id, { type: "allow", scope: "session" }) }, "Allow for this session") : null,
    h("input.grow", { type: "text", "aria-label": "Reason of a denial", placeholder: "reason", value: reason, oninput: (/** @type {any} */ event) => answering.setReason(event.target.value) }),
    h("button.danger", { type: "button", onclick: () => answer(ask.id, denial) }, "Deny"));
}

/** @param {string} label @param {unknown} texts @returns {Child | null} */
function list(label, texts) {
  if (!Array.isArray(texts) || texts.length === 0) return null;
  return h("p", null, `${label}: `, texts.map((text, index) => [index > 0 ? ", " : null, h("code", null, visible(String(text)))]));
}

/** @param {any} detail @returns {Child} */
function detail(detail) {
  switch (detail.type) {
    case "diff": return h("div", null, h("p", null, h("code", null, visible(String(detail.path)))), diff(String(detail.diff), true));
    case "command": return h("div", null, h("pre.code", { tabindex: "0" }, visible(String(detail.command))),
      typeof detail.cwd === "string" ? h("p.note", null, "In ", h("code", null, visible(detail.cwd))) : null);
    case "path": return h("p", null, `${detail.access === "write" ? "Writes" : "Reads"} `, h("code", null, visible(String(detail.path))));
    case "text": return h("p", null, `${visible(String(detail.label))}: `, h("code", null, visible(String(detail.value))));
    default: return h("pre.code", { tabindex: "0" }, visible(stringify(detail, 2)));
  }
}
