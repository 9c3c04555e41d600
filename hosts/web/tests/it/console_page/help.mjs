// Helpers of the checks of the page: a browser that watches, and hands on a keyboard.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** No wait takes so long. */
export const LIMIT = 120_000;
/** Presses of Tab until a control has to be reached. */
const PRESSES = 250;

/** Starts Chromium. */
export async function start(playwright, executablePath) {
  const { chromium } = await import(pathToFileURL(path.join(playwright, "index.mjs")));
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

/** Opens a page whose faults are collected: messages of errors, violations of the policy, and requests to other hosts. */
export async function open(browser, origin, options, allowed = () => false) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(LIMIT);
  const watched = { faults: [], calls: [] };
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  const watch = (page) => {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !allowed(message.text())) watched.faults.push(message.text());
    });
    page.on("pageerror", (error) => watched.faults.push(String(error.stack)));
    page.on("dialog", (dialog) => { watched.faults.push(`a dialog: ${dialog.message()}`); void dialog.dismiss(); });
    // From the first listener on, the browser opens no dialog of its own, and it takes a while until it knows.
    page.on("filechooser", () => {});
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`)) watched.faults.push(`a request to ${url}`);
      if (new URL(url).pathname.endsWith("/call")) watched.calls.push({ url, body: request.postData() });
    });
  };
  context.on("page", watch);
  const page = await context.newPage();
  return { context, page, ...watched };
}

/** Waits until a function of the page returns something true, and returns it. */
export async function until(page, message, test, argument) {
  try {
    return await (await page.waitForFunction(test, argument, { timeout: LIMIT })).jsonValue();
  } catch (error) {
    throw new Error(`${message}: ${error.message}\n${await page.locator("main").innerText({ timeout: 1_000 }).catch(() => "")}`);
  }
}

/** Goes to another page of the console. */
export async function go(page, hash, heading) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await until(page, `the page ${hash} has the heading ${heading}`, (text) => document.querySelector("h2")?.textContent === text, heading);
}

/** Presses a key until a control has the focus: one that fits a selector, or has a name. */
export async function tabTo(page, wanted, key = "Tab") {
  for (let presses = 0; presses < PRESSES; presses += 1) {
    const isThere = await page.evaluate((goal) => {
      const active = document.activeElement;
      if (active === null || active === document.body) return false;
      const name = active.getAttribute("aria-label") ?? active.textContent;
      return goal.startsWith("[") ? active.matches(goal) : active.matches("button, input, a, select, summary") && name === goal;
    }, wanted);
    if (isThere) return;
    await page.keyboard.press(key);
  }
  assert.fail(`${key} does not reach ${wanted}; the focus is at ${await focus(page)}`);
}

/** Goes to the control of a place of the arguments, and types. */
export async function type(page, pointer, text) {
  await tabTo(page, `[data-pointer="${pointer}"]`);
  await page.keyboard.type(text);
}

/** Goes to a button, and presses it. */
export async function press(page, name, key = "Enter") {
  await tabTo(page, name);
  await page.keyboard.press(key);
}

/** The start of the element that has the focus. */
export function focus(page) {
  return page.evaluate(() => (document.activeElement?.outerHTML ?? "nothing").slice(0, 200));
}

/** Waits until the control of a place has the focus: a new part of a form takes it. */
export async function focused(page, pointer) {
  const selector = `[data-pointer="${pointer}"]`;
  await until(page, `${pointer} takes the focus`, (goal) => document.activeElement?.matches(goal), selector);
}

/** Waits until the call that is shown is in a state. */
export async function state(page, wanted) {
  await until(page, `the call is ${wanted}`, (text) => document.querySelector(".results [role=status]")?.textContent?.startsWith(text), wanted);
}

/** Checks the accessibility of a page as it is now. */
export async function accessible(page, playwright, name) {
  const source = fs.readFileSync(path.join(playwright, "../axe-core/axe.min.js"), "utf8");
  await page.evaluate(`if (window.axe === undefined) { ${source} }`);
  const { violations, incomplete } = await page.evaluate(() => window.axe.run(document, { rules: { "target-size": { enabled: true } } }));
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const text = grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html} ${any[0]?.message ?? ""}`).join("\n")}`).join("\n");
  assert.equal(text, "", `accessibility of ${name}`);
  return incomplete.length;
}

/** Checks that a page is no wider than its window. */
export async function narrow(page, name) {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return "";
    const beyond = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > width + 1);
    return `${document.documentElement.scrollWidth} of ${width} pixels: ${beyond.slice(-3).map((element) => element.outerHTML.slice(0, 160)).join("\n")}`;
  });
  assert.equal(wide, "", `the width of ${name}`);
}
