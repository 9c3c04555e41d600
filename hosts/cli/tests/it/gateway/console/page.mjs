// Checks the console of a gateway in Chromium, beside its terminal: `node page.mjs TOOLKIT PLAYWRIGHT CHROMIUM DIRECTORY`.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { accessible, focus, go, narrow, open, start, tabTo, until } from "../../../../../web/tests/it/console_page/help.mjs";
import { startModel } from "./model.mjs";

const [toolkit, playwright, chromium, directory] = process.argv.slice(2);
const { TELEGRAM_URL: telegram } = process.env;
const PAGES = ["sessions", "questions", "tools", "schedules", "people", "channels", "outbox", "nodes", "usage", "log", "configuration"];
const HEADINGS = { usage: "Use" };
/** A key of a model, which is shown nowhere. */
const SECRET = "sk-of-the-owner";

const model = await startModel();
const [user, work, data] = ["user", "work", "data"].map((name) => path.join(directory, name));
fs.mkdirSync(user);
fs.mkdirSync(work);
fs.writeFileSync(path.join(user, "toolkit.json5"), `{
  models: { local: { provider: "openai-chat", baseUrl: "${model.url}", model: "m", apiKey: "${SECRET}", price: { input: 1, output: 2 } } },
  channels: { telegram: { telegram: { baseUrl: "${telegram}", pollSeconds: 1, token: "\${env:TELEGRAM_TOKEN}" } } },
  permission: { exec: "ask", edit: "ask", cron: "allow" },
  budgets: { everything: { month: { cost: 50 } } },
}`);
const env = { ...process.env, TOOLKIT_CONFIG_DIR: user, TOOLKIT_DATA_DIR: data };

/** Runs the command, and returns what it prints. */
async function command(...args) {
  const { stdout } = await promisify(execFile)(toolkit, args, { cwd: work, env });
  return stdout;
}

/** Runs the command, and returns its JSON. */
async function told(...args) {
  return JSON.parse(await command(...args, "-o", "json"));
}

/** Starts the gateway, and returns the process once it is ready. */
async function gateway(address) {
  const child = spawn(toolkit, ["gateway", "--address", address], { cwd: work, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  await new Promise((resolve, reject) => {
    child.stderr.on("data", (piece) => { said += piece; if (said.includes("stops it")) resolve(); });
    child.on("exit", () => reject(new Error(said)));
  });
  child.removeAllListeners("exit");
  return child;
}

let running = await gateway("127.0.0.1:0");
const browser = await start(playwright, chromium);
let isCut = false;
/** The browser tells of a schedule that is refused while it is typed, and of a gateway that is away. */
const allowed = (text) => /status of 422/.test(text) || isCut && /net::ERR_|Failed to load resource/.test(text);

async function opened() {
  return new URL((await told("gateway", "open")).address);
}

const address = await opened();
const { page, context, faults } = await open(browser, address.origin, {}, allowed);

/** Begins a conversation, by the keyboard alone. */
async function begin() {
  await page.goto(String(address));
  await until(page, "the sessions are there", () => document.querySelector("h2")?.textContent === "Sessions");
  assert.ok(!page.url().includes("code"), "the code does not stay in the address");
  await tabTo(page, "New conversation");
  await page.keyboard.press("Enter");
  await tabTo(page, "[rows=\"3\"]");
  await page.keyboard.type("Good day");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until(page, "the conversation is there", () => location.hash.startsWith("#/sessions/agent"));
  await said("heard: Good day");
}

/** Waits until an answer is in the transcript, once. */
async function said(text) {
  await until(page, `the answer is there: ${text}`, (wanted) => [...document.querySelectorAll(".message.answer:not(.live)")].some((one) => one.textContent.includes(wanted)), text);
  assert.equal(await page.locator(".message.answer").filter({ hasText: text }).count(), 1, `${text} is there once`);
}

/** Sends a message by the keyboard. */
async function say(text) {
  await page.getByLabel("Message", { exact: true }).focus();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

/** An answer is seen as it is written; a message that waits is taken back, and a run is cancelled. */
async function streaming() {
  // It would go on for half an hour.
  await say("say 100000");
  const seen = () => page.locator(".message.live").innerText();
  await until(page, "the answer is being written", () => document.querySelector(".message.live")?.textContent?.includes("word3"));
  const first = await seen();
  await until(page, "it grows", (length) => (document.querySelector(".message.live")?.textContent?.length ?? 0) > length, first.length);
  await page.getByRole("button", { name: "Cancel the run" }).click();
  await until(page, "the run is over", () => document.querySelector(".message.live") === null && document.querySelector("[aria-label=State] .badge")?.textContent === "idle");
  await say("say 30");
  await until(page, "the whole answer is there once", () => [...document.querySelectorAll(".message.answer:not(.live)")].filter((one) => one.textContent.includes("word29")).length === 1);
}

/** The codes of the questions that the terminal shows. */
async function waiting() {
  return (await told("gateway", "asks")).asks.map((ask) => ask.code);
}

/** The question about a command is answered in the terminal, and that about a change in the browser. */
async function questions() {
  await say("call exec {\"command\":\"touch tide\"}");
  await until(page, "the question is there", () => document.querySelector(".question")?.textContent?.includes("touch tide"));
  assert.equal(await page.getByRole("link", { name: "Questions" }).locator(".badge").innerText(), "1");
  const [code] = await waiting();
  assert.ok(code !== undefined, "the terminal shows it, too");
  await command("gateway", "approve", code);
  await until(page, "it is gone in the browser", () => document.querySelector(".question") === null);
  await said("got: ");
  await say("call write {\"filePath\":\"tide.txt\",\"content\":\"high water\\n\"}");
  await go(page, "#/questions", "Questions");
  await until(page, "the change is shown", () => document.querySelector(".question .diff")?.textContent?.includes("high water"));
  await check("questions with one");
  await tabTo(page, "[aria-label^=Question]");
  await page.waitForTimeout(600);
  await page.keyboard.press("a");
  await until(page, "it is answered", () => document.querySelector(".question") === null);
  assert.deepEqual(await waiting(), [], "it is gone in the terminal");
  await page.goBack();
  await until(page, "the result is there", () => document.querySelectorAll(".call .badge.allow").length >= 1);
}

/** A job is made with a preview of its times, and run. */
async function schedules() {
  await go(page, "#/schedules", "Schedules");
  await page.getByRole("button", { name: "Add a job" }).click();
  await page.getByLabel("Runs").selectOption("every");
  await page.getByLabel(/Interval/).fill("1h");
  await page.getByRole("textbox", { name: "Prompt" }).fill("say 1");
  await until(page, "the next times are there", () => document.querySelectorAll("form [role=status] time").length === 5);
  await page.getByLabel(/Interval/).fill("nonsense");
  await until(page, "the fault is told", () => document.querySelector("form .problem")?.textContent?.includes("nonsense"));
  await page.getByLabel(/Interval/).fill("2h");
  await until(page, "the fault is gone", () => document.querySelectorAll("form [role=status] time").length === 5);
  await check("a job that is written");
  await page.getByRole("button", { name: "Save" }).click();
  await until(page, "the job is there", () => document.querySelector("article pre")?.textContent === "say 1");
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByText("Runs", { exact: true }).last().click();
  await until(page, "its run is done", () => document.querySelector("article table")?.textContent?.includes("done"));
}

/** An unknown sender is let in, and a token is made, for a person who sees only their own. */
async function people() {
  while ((await told("gateway", "pair", "list")).pairings.length === 0) await page.waitForTimeout(100);
  await go(page, "#/people", "People");
  await until(page, "the sender is there", () => document.querySelector("main")?.textContent?.includes("telegram:234567"));
  assert.ok((await page.locator("main").innerText()).includes("<b>Ada</b>"), "a name is text");
  await page.getByRole("button", { name: "Approve…" }).click();
  await page.getByLabel("Is").selectOption("");
  await page.locator("form").first().getByLabel("Name").fill("ada");
  await page.locator("form").first().getByRole("button", { name: "Approve" }).click();
  await until(page, "the person is there", () => [...document.querySelectorAll("td code")].some((one) => one.textContent === "ada"));
  await page.locator("form").last().getByRole("textbox", { name: "Name" }).fill("adas-phone");
  await page.locator("form").last().getByRole("combobox", { name: "Person" }).selectOption("ada");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await until(page, "the token is shown", () => document.querySelector("main")?.textContent?.includes("Shown this once"));
  const token = await page.locator("p.row code").innerText();
  const other = await open(browser, address.origin, {});
  await other.page.goto(`${address.origin}/`);
  await other.page.getByLabel("Token").fill(token);
  await other.page.keyboard.press("Enter");
  await until(other.page, "their sessions are there", () => document.querySelector("h2")?.textContent === "Sessions" && document.querySelector("main")?.textContent?.includes("There are none"));
  const links = await other.page.locator("nav a").allInnerTexts();
  assert.ok(!links.includes("Configuration") && !links.includes("Channels"), links.join(" "));
  for (const name of ["outbox", "people", "schedules", "usage", "log", "nodes", "questions", "tools"]) {
    await go(other.page, `#/${name}`, HEADINGS[name] ?? name[0].toUpperCase() + name.slice(1));
    await other.page.waitForTimeout(300);
    const text = await other.page.locator("main").innerText();
    assert.ok(!text.includes("agent:main:local") && !text.includes("tide"), `${name} shows what is of others: ${text}`);
  }
  assert.deepEqual(other.faults, []);
  await other.context.close();
}

/** The stream is cut, and goes on without a loss or a repetition. */
async function resumption(hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await until(page, "the conversation is there", () => document.querySelector(".compose") !== null);
  isCut = true;
  running.kill("SIGKILL");
  await until(page, "the page says that it is cut", () => document.querySelector(".lost") !== null);
  running = await gateway(address.host);
  const key = decodeURIComponent(hash.split("/").at(-1));
  await command("sessions", "send", key, "after the cut");
  await until(page, "the page goes on", () => document.querySelector(".lost") === null);
  await said("heard: after the cut");
  isCut = false;
  const ids = await page.locator(".message").evaluateAll((all) => all.map((one) => one.textContent));
  assert.equal(new Set(ids).size, ids.length, ids.join("\n"));
}

/** Checks a page as it is: accessible, and no wider than its window. */
async function check(name) {
  await accessible(page, playwright, name);
  await narrow(page, name);
}

/** Every page, dark and light, wide and narrow. */
async function looks() {
  for (const [width, colorScheme] of [[1280, "light"], [360, "dark"], [360, "light"], [1280, "dark"]]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    for (const name of PAGES) {
      await go(page, `#/${name}`, HEADINGS[name] ?? name[0].toUpperCase() + name.slice(1));
      await until(page, `${name} is loaded`, () => !document.querySelector("main")?.textContent?.includes("Loading…"));
      await check(`${name}, ${width} ${colorScheme}`);
      assert.equal(await page.locator("main > .problem, main [role=alert]").count(), 0, `${name}: ${await page.locator("main").innerText()}`);
      assert.ok(!(await page.content()).includes(SECRET), `${name} shows no secret`);
    }
  }
  await go(page, "#/usage", "Use");
  assert.ok(await page.locator("svg rect").count() >= 30, "the use of days is a chart");
  await go(page, "#/configuration", "Configuration");
  assert.ok((await page.locator("main").innerText()).includes("/models/local/baseUrl"));
  await go(page, "#/outbox", "Outbox");
  await until(page, "what left is there", () => document.querySelectorAll("tbody tr").length > 0);
  await go(page, "#/channels", "Channels");
  await until(page, "the account is there", () => document.querySelector("main")?.textContent?.includes("telegram"));
}

/** A tool's page has the calls of the history, and stores files in the workspace. */
async function tools() {
  await page.evaluate(() => { location.hash = "#/tools/read"; });
  await page.getByLabel(/Upload a file for file_?path/i).setInputFiles({ name: "ebb.txt", mimeType: "text/plain", buffer: Buffer.from("low water\n") });
  await until(page, "the path is in the form", () => [...document.querySelectorAll("form :is(input, textarea)")].some((one) => one.value === "uploads/ebb.txt"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await until(page, "the file is read", () => document.querySelector(".results")?.textContent?.includes("low water"));
  await page.getByText("Last calls").click();
  await until(page, "the call is in the history", () => document.querySelector(".calls li")?.textContent?.includes("ok"));
}

try {
  await begin();
  const hash = new URL(page.url()).hash;
  await streaming();
  await questions();
  await schedules();
  await people();
  await tools();
  await resumption(hash);
  await looks();
  assert.deepEqual(faults, [], "no error in the browser, and no request elsewhere");
} catch (error) {
  console.error(`at ${page.url()}, with the focus at ${await focus(page).catch(() => "nothing")}; ${JSON.stringify(faults)}`);
  throw error;
} finally {
  await context.close().catch(() => {});
  await browser.close();
  running.kill("SIGKILL");
  model.close();
}
