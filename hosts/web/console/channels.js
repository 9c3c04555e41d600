/**
 * The accounts of chat channels, with their health.
 *
 * @module channels
 */

import { LoadedPage, code, state, table, text, time } from "./page.js";

export class ChannelsPage extends LoadedPage {
  title = "Channels";
  _kinds = /^delivery\./;
  _every = 10_000;

  async _load() {
    return (await this.api.get("/v1/channels")).channels;
  }

  /** @param {any[]} channels */
  _content(channels) {
    return table("Accounts", ["Account", "State", "Answered last", "Last error", "Failures", "Waiting", ""], channels, ({ channel, account, identity, degradedSince, lastGood, reason, failures, waiting }) => [
      `${channel} ${account}`, [code(`${channel}:${account}`), " ", text(identity?.name)], degradedSince ? [state("degraded"), " since ", time(degradedSince)] : state("ok"), time(lastGood), text(reason), failures, waiting,
      this._does("Test", "/v1/channels/test", { channel, account }),
    ]);
  }
}
