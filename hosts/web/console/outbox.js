/**
 * What leaves by channels, and what became of it.
 *
 * @module outbox
 */

import { LoadedPage, code, sessionLink, state, table, text, time } from "./page.js";
import { stringify } from "./json.js";
import { short } from "./text.js";

export class OutboxPage extends LoadedPage {
  title = "Outbox";
  _kinds = /^delivery\./;
  state = "";

  _load() {
    const before = this._places.at(-1);
    return this.api.get(`/v1/outbox?${new URLSearchParams({ ...(this.state && { state: this.state }), ...(before && { before }) })}`);
  }

  _typed() {
    this._places = [];
    void this._reload();
  }

  /** @param {{ deliveries: any[], hasMore: boolean }} data */
  _content({ deliveries, hasMore }) {
    return [
      this._control(this, "state", "State", { options: [["", "all"], "prepared", "sending", "delivered", "unknown", "dead"] }),
      table("Deliveries", ["Time", "To", "State", "Content", "Reason", "Session", ""], deliveries, (each) => [
        each.id, time(each.createdAt), code(Object.values(each.target).join(" ")), state(each.state), text(each.body.plain ?? each.body.text ?? stringify(each.body)), text(each.reason), sessionLink(each.session),
        each.state === "unknown" && this._does("Send again", `/v1/outbox/${each.id}/resend`, {}, `Nobody knows whether this arrived: it may arrive twice. Send it again to ${Object.values(each.target).join(" ")}?\n\n${short(String(each.body.text ?? ""))}`),
      ]),
      this._pager(hasMore && deliveries.at(-1).id),
    ];
  }
}
