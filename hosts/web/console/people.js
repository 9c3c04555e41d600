/**
 * The people, the unknown senders, and the tokens.
 *
 * @module people
 */

import { h } from "./render.js";
import { LoadedPage, button, code, state, table, text, time } from "./page.js";

/** The people; for others than the owner, themselves. */
export class PeoplePage extends LoadedPage {
  title = "People";
  _kinds = /^(?:person|identity|stranger|token)\./;
  _pairing = { sender: "", person: "", name: "", role: "user", agent: this.app.status.person.agent };
  _token = { name: "", person: "", role: "user", term: "2592000" };
  /** The text of a token that was made, until the page is left. */
  _made = "";

  async _load() {
    const paths = ["people", ...(this.app.isOwner ? ["pairings", "tokens", "agents"] : [])];
    return Object.assign({}, ...await Promise.all(paths.map((path) => this.api.get(`/v1/${path}`))));
  }

  leave() {
    this._made = "";
  }

  /** @param {{ people: any[], pairings?: any[], tokens: any[], agents: any[], wrongCodes: number }} data */
  _content({ people, pairings, tokens, agents, wrongCodes }) {
    const { _made: made, _pairing: pairing, _token: token } = this;
    const isOwner = pairings !== undefined;
    const names = people.map(({ name }) => [name, text(name)]);
    return [
      table("People", ["Name", "Role", "Agent", "Since", "Identities", ""], people, ({ name, role, agent, createdAt, blockedAt, identities }) => {
        const does = blockedAt ? "Unblock" : "Block";
        return [
          name, [code(name), " ", blockedAt && state("blocked")], role, code(agent), time(createdAt),
          identities.map((/** @type {any} */ { channel, sender, name: called }) => h("div.row", null, code(`${channel}:${sender}`), text(called),
            isOwner && this._does("Unlink", `/v1/identities/${[channel, sender].map(encodeURIComponent).join("/")}`, null, `${channel}:${sender} will be unknown. Unlink?`))),
          isOwner && role !== "owner" && this._does(does, `/v1/people/${encodeURIComponent(name)}/${does.toLowerCase()}`, {}, `${does} ${name}? Who is blocked is not heard, and what they began ends.`),
        ];
      }),
      isOwner && [
        h("h3", null, "Unknown senders"), wrongCodes > 0 && `Wrong codes: ${wrongCodes}`,
        table("Unknown senders", ["Sender", "Calls themselves", "Code until", "Messages", "Last", ""], pairings, (each) => {
          const sender = `${each.channel}:${each.sender}`;
          return [
            `${each.account} ${sender}`, [code(sender), " ", each.deniedAt && state("denied")], text(each.name), time(each.expiresAt), each.messages, time(each.lastAt),
            h("div.row", null, button("Approve…", () => { pairing.sender = sender; this.update(); document.querySelector("form")?.querySelector("input")?.focus(); }), each.deniedAt || this._does("Deny", "/v1/pairings/deny", { sender }, `Deny ${sender} for good?`)),
          ];
        }),
        this._form("Let a sender in", pairing, [
          ["sender", "Code, or CHANNEL:SENDER"], ["person", "Is", { options: [["", "somebody new"], ...names] }],
          ...(pairing.person ? [] : [["name", "Name"], ["role", "Role", { options: ["user", "approver"] }], ["agent", "Agent", { options: agents.map(({ id }) => id) }]]),
        ], "Approve", async () => {
          const { sender, person, name, role, agent } = pairing;
          await this.api.post("/v1/pairings/approve", { sender: sender.trim(), ...(person ? { person } : { name, role, agent }) });
          pairing.sender = "";
        }),
        h("h3", null, "Tokens"),
        table("Tokens", ["Name", "Person", "Role", "Made", "Expires", ""], tokens, ({ name, person, role, createdAt, expiresAt }) => [
          name, code(name), code(person), role, time(createdAt), time(expiresAt), name !== "owner" && this._does("Revoke", `/v1/tokens/${encodeURIComponent(name)}`, null, `Revoke the token ${name}?`),
        ]),
        this._form("A new token", token, [
          ["name", "Name"], ["person", "Person", { options: [["", "of the same name"], ...names] }], ["role", "Role", { options: ["user", "approver", "owner"] }],
          ["term", "Expires after", { options: [["3600", "an hour"], ["86400", "a day"], ["2592000", "30 days"], ["", "never"]] }],
        ], "Add", async () => {
          const { name, person, role, term } = token;
          this._made = (await this.api.post("/v1/tokens", Object.assign({ name, role }, person && { person }, term && { expiresInSeconds: Number(term) }))).token;
        }, made && h("p.row", null, "Shown this once: ", code(made), button("Copy", () => this.act(() => navigator.clipboard.writeText(made), "Copied.")))),
      ],
    ];
  }
}
