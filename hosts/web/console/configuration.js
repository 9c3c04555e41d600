/**
 * The configuration, with the place of each value.
 *
 * @module configuration
 */

import { h } from "./render.js";
import { LoadedPage, code, table, text } from "./page.js";
import { stringify } from "./json.js";
import { short } from "./text.js";

export class ConfigurationPage extends LoadedPage {
  title = "Configuration";
  _kinds = /^$/;
  query = "";

  _load() {
    return this.api.get("/v1/configuration");
  }

  /** @param {{ sources: any[], values: any[], permissions: any[], restrictions: any[], diagnostics: any[] }} data */
  _content({ sources, values, permissions, restrictions, diagnostics }) {
    const rules = [...permissions.map((value) => ({ pointer: "/permission", value })), ...restrictions.flatMap((each) => each.values)];
    const shown = [...values, ...rules].map(({ pointer, value, source, place }) => [pointer, value === "[redacted]" ? "set" : short(stringify(value)), source, place]).filter((texts) => texts.join("\n").toLowerCase().includes(this.query.toLowerCase()));
    return [
      diagnostics.map(({ level, source, message }) => h("p.problem", null, text(`${level}: ${message} (${source})`))),
      table("Sources", ["Source", "Kind"], sources, ({ name, kind }) => [name, code(name), text(kind)]),
      this._control(this, "query", "Search", { type: "search" }),
      table("Values", ["Name", "Value", "Source", "Place"], shown, (texts) => [texts.join("\n"), ...texts.map(code)]),
    ];
  }
}
