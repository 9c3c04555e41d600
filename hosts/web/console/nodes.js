/**
 * The devices that serve the gateway.
 *
 * @module nodes
 */

import { h } from "./render.js";
import { LoadedPage, button, code, state, text, time } from "./page.js";
import { Media, VIEWS, show } from "./result.js";

/** The nodes of a person, for the owner all. */
export class NodesPage extends LoadedPage {
  title = "Nodes";
  _kinds = /^node\./;
  _every = 10_000;
  _sought = { code: "", person: "owner" };
  /** The node that shows the code, with the key of the gateway. @type {any} */
  _found = null;
  /** The node whose screen is seen. */
  _seen = "";
  /** @type {any} */
  _picture = null;
  _media = new Media();

  async _load() {
    return Object.assign({}, ...await Promise.all(["nodes", "people", "tools?q=nodes"].map((path) => this.api.get(`/v1/${path}`))));
  }

  /** @param {{ nodes: any[], people: any[], tools: any[] }} data */
  _content({ nodes, people, tools }) {
    // Who does not have the tool has no use for the actions.
    const mayAct = tools.some(({ name, verdict }) => name === "nodes" && verdict.decision !== "deny");
    return [
      this.app.isOwner && this._approval(people),
      nodes.length > 0 || "There are no nodes.",
      nodes.map(({ id, name, platform, person, fingerprint, connected, state: at, actions, changedAt }) => h("article.card", { key: id },
        h("h3.row", null, text(name), code(id), state(connected ? "connected" : at)),
        h("p.note", null, text(platform), " · ", text(person), " · ", time(changedAt), " · ", code(fingerprint)),
        h("div.row", null, mayAct && actions.map((/** @type {string} */ action) => (action === "screenshot" ? button("Screenshot", () => this._look(id))
          : h("a.button", { href: `#/tools/nodes?arguments=${encodeURIComponent(JSON.stringify({ action, nodeId: id }))}` }, text(action)))),
        at !== "revoked" && this._does("Revoke", `/v1/nodes/${encodeURIComponent(id)}`, null, `Revoke ${name}? It has to pair anew.`)),
        this._seen === id && (this._picture ? show(this._picture, VIEWS[0], this._media) : h("p.note", { role: "status" }, "Waiting for the picture, and perhaps for an answer in ", h("a", { href: "#/questions" }, "Questions"), "."))))
    ];
  }

  /** @param {string} nodeId */
  async _look(nodeId) {
    if (this._seen && !this._picture) return;
    this._media.free();
    [this._seen, this._picture] = [nodeId, null];
    this.update();
    const result = await this.api.post("/v1/tools/nodes/call", { action: "screenshot", nodeId }).catch((error) => ({ isError: true, error }));
    // The words around the picture are for models.
    this._picture = { ...result, content: result.content?.filter((/** @type {any} */ { type }) => type === "image") };
    this.update();
  }

  /** @param {any[]} people */
  _approval(people) {
    const { _sought: sought, _found: found } = this;
    const { code: shown, person } = sought;
    if (!found) return this._form("A device that shows a code", sought, [["code", "Code"]], "Look", async () => { this._found = await this.api.post("/v1/nodes/pending", { code: shown }); });
    const { name, platform, fingerprint } = found.node;
    return this._form(`${text(name)} (${text(platform)})`, sought, [["person", "For", { options: people.map((each) => [each.name, text(each.name)]) }]], "Approve", async () => {
      await this.api.post("/v1/nodes/approve", { code: shown, fingerprint, person });
      this._found = null;
    }, ["Compare both with what the device shows.", h("p", null, "this device: ", code(fingerprint)), h("p", null, "the gateway: ", code(found.gateway.fingerprint))], button("Cancel", () => { this._found = null; this.update(); }));
  }
}
