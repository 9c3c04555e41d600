/**
 * The pages, in the order of their links.
 *
 * @module pages
 */

import { ChannelsPage } from "./channels.js";
import { ConfigurationPage } from "./configuration.js";
import { LogPage } from "./log.js";
import { NodesPage } from "./nodes.js";
import { OutboxPage } from "./outbox.js";
import { PeoplePage } from "./people.js";
import { QuestionsPage } from "./questions_page.js";
import { SchedulesPage } from "./schedules.js";
import { SessionsPage } from "./sessions.js";
import { ToolsPage } from "./tools.js";
import { UsagePage } from "./usage.js";

/** @typedef {import("./app.js").App} App */

/**
 * @typedef {object} Kind
 * @property {string} path Its name in the address.
 * @property {string} label
 * @property {(app: App) => import("./page.js").Page} make
 * @property {boolean} [isEverywhere] True if it needs no gateway.
 * @property {boolean} [isOwners] True if it is for the owner of a gateway alone.
 */

/** @type {Kind[]} */
export const PAGES = [
  { path: "sessions", label: "Sessions", make: (app) => new SessionsPage(app) },
  { path: "questions", label: "Questions", make: (app) => new QuestionsPage(app) },
  { path: "tools", label: "Tools", make: (app) => new ToolsPage(app), isEverywhere: true },
  { path: "schedules", label: "Schedules", make: (app) => new SchedulesPage(app) },
  { path: "people", label: "People", make: (app) => new PeoplePage(app) },
  { path: "channels", label: "Channels", make: (app) => new ChannelsPage(app), isOwners: true },
  { path: "outbox", label: "Outbox", make: (app) => new OutboxPage(app) },
  { path: "nodes", label: "Nodes", make: (app) => new NodesPage(app) },
  { path: "usage", label: "Use", make: (app) => new UsagePage(app) },
  { path: "log", label: "Log", make: (app) => new LogPage(app) },
  { path: "configuration", label: "Configuration", make: (app) => new ConfigurationPage(app), isOwners: true },
];
