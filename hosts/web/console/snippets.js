/**
 * Code that calls a tool, in several languages.
 *
 * @module snippets
 */

import { stringify } from "./json.js";

/** @typedef {import("./types.js").Json} Json */

/**
 * @param {string} origin The address of the server.
 * @param {string} name
 * @param {Json} args
 * @returns {[string, string][]} A language and its code.
 */
export function snippets(origin, name, args) {
  const address = `${origin}/v1/tools/${encodeURIComponent(name)}/call`;
  const body = seen(stringify(args));
  return [
    ["curl", [
      `curl ${quoted(address)} \\`,
      `  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\`,
      `  -d ${quoted(body)}`,
    ].join("\n")],
    ["JavaScript", [
      `const response = await fetch(${JSON.stringify(address)}, {`,
      `  method: "POST",`,
      "  headers: { Authorization: `Bearer ${process.env.TOKEN}`, \"Content-Type\": \"application/json\" },",
      `  body: ${JSON.stringify(body)},`,
      "});",
      "console.log(await response.json());",
    ].join("\n")],
    ["Python", [
      "import json, os, urllib.request",
      "",
      `request = urllib.request.Request(${python(address)}, data=${python(body)}.encode(), headers={`,
      `    "Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"})`,
      "print(json.load(urllib.request.urlopen(request)))",
    ].join("\n")],
    ["Rust", [
      `let call = ToolCall::new("1", ${JSON.stringify(name)}, ${raw(body)});`,
      "let result = toolkit.toolbox().call(call).await;",
      `println!("{}", result.text());`,
    ].join("\n")],
  ];
}

/** @param {string} json @returns {string} The same JSON, with signs that are not seen written as escapes. */
function seen(json) {
  return json.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (sign) => Array.from({ length: sign.length }, (_, index) => `\\u${sign.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""));
}

/** @param {string} text @returns {string} A word of a POSIX shell. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {string} text @returns {string} A text of Python: the escapes of JSON are escapes there, but for letters of two halves. */
function python(text) {
  return [...text].map((letter) => {
    const code = letter.codePointAt(0) ?? 0;
    if (code < 0x7f) return JSON.stringify(letter).slice(1, -1);
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  }).reduce((all, part) => all + part, "\"") + "\"";
}

/** @param {string} text @returns {string} A raw text of Rust. */
function raw(text) {
  let longest = 0;
  for (const [, signs] of text.matchAll(/"(#*)/g)) longest = Math.max(longest, signs.length + 1);
  const signs = "#".repeat(longest);
  return `r${signs}"${text}"${signs}`;
}
