/**
 * The jobs: when they run, what became of it, and a form for them.
 *
 * @module schedules
 */

import { h } from "./render.js";
import { LoadedPage, button, code, sessionLink, state, table, text, time } from "./page.js";
import { equal, parse, stringify } from "./json.js";

/** @typedef {import("./types.js").Child} Child */

const PATH = "/v1/schedules";
/** Time after the last key until the next times are asked for, in milliseconds. */
const PAUSE = 250;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = h("datalist", { id: "zones" }, Intl.supportedValuesOf("timeZone").map((value) => h("option", { value })));

/** The jobs of a person, for the owner all. */
export class SchedulesPage extends LoadedPage {
  title = "Schedules";
  _kinds = /^(?:fire|job)\./;
  /** What the form has. @type {any} */
  _draft = null;
  /** What it had at first, in parts. @type {any[]} */
  _before = [];
  /** Its next times, or why there are none. @type {any} */
  _next = {};
  /** The jobs whose runs are shown. @type {Set<string>} */
  _open = new Set();
  _typing = 0;

  async _load() {
    /** @type {{ jobs: any[] }} */
    const { jobs } = await this.api.get(PATH);
    await Promise.all(jobs.map(async (job) => this._open.has(job.id) && Object.assign(job, await this.api.get(`${PATH}/${job.id}/runs`))));
    return jobs;
  }

  /** @param {any[]} jobs */
  _content(jobs) {
    return [this._draft ? this._edited(this._draft) : button("Add a job", () => this._edit({})), jobs.map((job) => this._job(job)), jobs.length > 0 || "There are no jobs."];
  }

  /** @param {any} job @returns {Child} */
  _job(job) {
    const at = `${PATH}/${job.id}`;
    const work = text(job.prompt ?? `${job.tool} ${stringify(job.arguments)}`);
    return h("article.card", { key: job.id },
      h("h3.row", null, job.schedule ? [code(job.schedule), text(job.timezone)] : job.every ? `every ${job.every}` : time(job.at),
        job.running && state("running"), job.requested && state("requested"), job.enabled || state("paused"), job.failures > 0 && state(`failures: ${job.failures}`)),
      job.paused && h("p.problem", null, text(job.paused)),
      h("pre", { tabindex: 0 }, work),
      h("p.note", null, "Next: ", time(job.enabled && job.nextAt), " · Last: ", time(job.lastAt), " · ", text(job.person), " · ", sessionLink(job.sessionKey)),
      h("div.row", null, this._does("Run now", `${at}/run`, {}), button(job.enabled ? "Pause" : "Resume", () => this._change(() => this.api.patch(at, { enabled: !job.enabled }), "Change")),
        button("Edit", () => this._edit(job)), this._does("Remove", at, null, `Remove this job? ${work}`)),
      h("details", { ontoggle: (/** @type {any} */ { target }) => { this._open[target.open ? "add" : "delete"](job.id); void this._reload(); } }, h("summary", null, "Runs"),
        job.runs && table("Runs", ["Time", "State", "Missed", "Ended", "Outcome"], job.runs, (run) => [`${run.at} ${run.manual}`, [time(run.at), run.manual && " by hand"], state(run.state), run.missed, time(run.endedAt), text(run.reason ?? run.result)])));
  }

  /** @param {any} job One without an id is new. */
  _edit(job) {
    this._draft = {
      schedule: "0 8 * * mon-fri", every: "1h", missed: "once", ...job,
      when: ["every", "at"].find((name) => job[name]) ?? "schedule", at: wall(job.at ?? Date.now() + 3_600_000), timezone: job.timezone ?? HERE,
      work: job.tool ? "tool" : "prompt", arguments: stringify(job.arguments ?? {}), model: job.model ?? "", timeout: job.timeoutSeconds,
    };
    this._before = parts(this._draft);
    this._typed();
    setTimeout(() => document.querySelector("form")?.scrollIntoView());
  }

  /** Asks when the job of the form would run. */
  _typed() {
    this.update();
    clearTimeout(this._typing);
    this._typing = setTimeout(async () => {
      const of = this._draft;
      if (of === null) return;
      const [schedule] = parts(of);
      const next = await this.api.post(`${PATH}/preview`, schedule).catch(({ message }) => ({ message }));
      // What was said of an earlier schedule does not count.
      if (of === this._draft && equal(schedule, parts(of)[0])) this._next = next;
      this.update();
    }, PAUSE);
  }

  /** @param {any} of @returns {Child} */
  _edited(of) {
    const { times, message } = this._next;
    return this._form(of.id ? `Job ${of.id}` : "A new job", of, [
      ["when", "Runs", { options: [["schedule", "by cron"], ["every", "at intervals"], ["at", "once"]] }],
      { schedule: ["schedule", "Cron expression"], every: ["every", "Interval, such as 1h30m"], at: ["at", "Time", { type: "datetime-local", step: 1 }] }[String(of.when)],
      of.when !== "every" && ["timezone", "Time zone", { list: "zones" }],
      ["work", "Work", { options: ["prompt", "tool"] }],
      of.work === "tool" && ["tool", "Tool"], of.work === "tool" ? ["arguments", "Arguments as JSON", { tag: "textarea" }] : ["prompt", "Prompt", { tag: "textarea" }],
      ["model", "Model, if another"], ["timeout", "Time-out in seconds", { type: "number" }], ["missed", "Missed times", { options: ["once", "skip", "all"] }], !of.id && ["session", "Session, if another"],
    ], "Save", async () => {
      // What did not change is not sent: an interval goes on from where it began.
      const body = Object.assign({}, ...parts(of).filter((part, index) => !of.id || !equal(part, this._before[index])));
      if (body.tool) body.arguments = parse(of.arguments);
      if (of.session) body.sessionKey = of.session;
      await (of.id ? this.api.patch(`${PATH}/${of.id}`, body) : this.api.post(PATH, body));
      this._draft = null;
    }, [ZONES, h("p", { role: "status", class: message ? "problem" : "note" }, text(message ?? (times?.length === 0 ? "Never" : "On your clock")), times?.map((/** @type {number} */ at) => [" · ", time(at)]))], button("Cancel", () => { this._draft = null; this.update(); }));
  }
}

/** @param {number} at @returns {string} A time on the clock here. */
function wall(at) {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** @param {any} of @returns {any[]} What a request has, in parts that change together. */
function parts(of) {
  return [
    { [of.when]: of[of.when], ...(of.when !== "every" && { timezone: of.timezone }) }, of.work === "tool" ? { tool: of.tool, arguments: of.arguments } : { prompt: of.prompt ?? "" },
    { model: of.model }, { timeoutSeconds: of.timeout ? Number(of.timeout) : null }, { missed: of.missed },
  ];
}
