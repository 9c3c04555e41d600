// Checks the page of the console in Chromium: `node page.mjs ADDRESS PLAYWRIGHT CHROMIUM`.

import assert from "node:assert/strict";
import { accessible, focus, focused, go, narrow, open, press, start, state, tabTo, type, until } from "./help.mjs";

const [address, playwright, chromium] = process.argv.slice(2);
const { origin } = new URL(address);
const SECRET = "hunter2 of ada";
/** The title of the hostile tool, as it is shown. */
const HOSTILE = "<b>Hostile</b> \\u{202e}eltit";

/** The arguments that are typed. The integer beyond 2^53 is compared as text. */
const TYPED = {
  name: "Ada \"& <Ω>", text: "one\ntwo", count: 4, large: "9007199254740993", ratio: 0.125, flag: true, perhaps: false, colour: "green",
  shape: { kind: "square", side: 4 }, points: [{ x: -5 }, { x: 3, y: 7 }], named: { "a b": 5 }, nothing: null, secret: SECRET,
  file: Buffer.from("\u0000a file").toString("base64"), pair: ["left", 2], free: { deep: [1, { x: null }] },
};

/** Reads JSON whose large integer becomes a text. */
function parsed(text) {
  return JSON.parse(text.replace(/("large": ?)(\d+)/, "$1\"$2\""));
}

/** The list has groups, is as long as it has to be, and is searched. */
async function list({ page }) {
  await until(page, "the list is there", () => document.querySelector("h2")?.textContent === "Tools" && document.querySelector(".entry") !== null);
  assert.ok(!page.url().includes("code"), "the code does not stay in the address");
  const headings = await page.locator(".heading").allInnerTexts();
  assert.deepEqual(headings.map((text) => text.split(" · ")[0]).slice(0, 3), ["hostile", "hostile", "kinds"], "groups in their order");
  assert.ok(await page.locator(".entry").count() < 100, "entries out of view are not in the page");
  await page.locator("ul.list").evaluate((element) => { element.scrollTop = 1_000; });
  await until(page, "the entries follow the scrolling", () => document.querySelector(".entry .name")?.textContent?.startsWith("more_"));
  await page.locator("ul.list").evaluate((element) => { element.scrollTop = element.scrollHeight; });
  await until(page, "the end of the list is there", () => document.querySelector(".list")?.lastElementChild?.previousElementSibling?.textContent?.startsWith("deploy"));
  await page.getByRole("searchbox").focus();
  await page.keyboard.type("more_25");
  await until(page, "a search finds tools by their names", () => document.querySelectorAll(".entry").length >= 10 && document.querySelector(".entry .name")?.textContent === "more_250");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("online");
  await until(page, "a search finds tools by their descriptions", () => document.querySelector(".entry .name")?.textContent === "deploy");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("zzzzzz");
  await until(page, "a search without a find says so", () => document.querySelector("main")?.textContent?.includes("Nothing was found."));
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await until(page, "the whole list is there again", () => document.querySelector(".heading")?.textContent?.startsWith("hostile"));
  await walk(page);
}

/** Tab goes through the list, also beyond what is in view. */
async function walk(page) {
  await tabTo(page, "[href]");
  const names = new Set();
  for (let step = 0; step < 40; step += 1) {
    const name = await page.evaluate(() => document.activeElement?.querySelector(".name")?.textContent ?? null);
    assert.notEqual(name, null, `entry ${step} has the focus instead of ${await focus(page)}`);
    names.add(name);
    await page.keyboard.press("Tab");
    await page.evaluate(() => new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); }));
  }
  assert.equal(names.size, 40, "Tab reaches each entry once");
  assert.ok(names.has("more_030"), [...names].join(" "));
}

/** Fills arguments of every kind in, by the keyboard alone. */
async function fill(page) {
  await go(page, "#/tools/kinds", "kinds");
  await until(page, "the heading takes the focus", () => document.activeElement?.matches("h2"));
  await type(page, "/name", TYPED.name);
  await type(page, "/text", "one");
  await page.keyboard.press("Enter");
  await page.keyboard.type("two");
  await type(page, "/count", "42");
  await fault(page, "/count", "9");
  await page.keyboard.press("Backspace");
  await until(page, "the error goes with what was wrong", () => !document.activeElement?.hasAttribute("aria-invalid"));
  await type(page, "/large", TYPED.large);
  await type(page, "/ratio", "0.125");
  await tabTo(page, "[data-pointer=\"/flag\"]");
  await page.keyboard.press("Space");
  for (const [pointer, presses] of [["/perhaps", 2], ["/colour", 2], ["/shape", 2]]) await choose(page, pointer, presses);
  await type(page, "/shape/side", "4");
  await points(page);
  await press(page, "Add named");
  await tabTo(page, "Name of a new member of named");
  await page.keyboard.type("a b");
  await page.keyboard.press("Enter");
  await focused(page, "/named/a b");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("5");
  await choose(page, "/nothing", 2);
  await type(page, "/secret", SECRET);
  assert.equal(await page.evaluate(() => document.activeElement?.type), "password", "a secret is not seen");
  await tabTo(page, "File for file");
  const chooser = page.waitForEvent("filechooser");
  await page.keyboard.press("Enter");
  await (await chooser).setFiles({ name: "data", mimeType: "text/plain", buffer: Buffer.from("\u0000a file") });
  await press(page, "Add pair", "Space");
  await focused(page, "/pair/0");
  await page.keyboard.type("left");
  await tabTo(page, "[data-pointer=\"/pair/1\"]");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("2");
  await tabTo(page, "[data-pointer=\"/free\"]");
  await page.keyboard.type("{\"deep\": [1, ");
  await fault(page, "/free", "line 1");
  await page.keyboard.type("{\"x\": null}]}");
}

/** Adds two objects to a list, and moves one. */
async function points(page) {
  await press(page, "Add points");
  await press(page, "Add an item to points", "Space");
  await focused(page, "/points/0/x");
  await page.keyboard.type("3");
  await type(page, "/points/0/y", "7");
  await press(page, "Add an item to points");
  await focused(page, "/points/1/x");
  await page.keyboard.type("-5");
  await tabTo(page, "Move item 2 up", "Shift+Tab");
  await page.keyboard.press("Enter");
  await until(page, "a moved item is in its new place", () => document.querySelector("[data-pointer=\"/points/0/x\"]")?.value === "-5");
  await until(page, "the focus goes with a moved item", () => document.activeElement?.closest("fieldset")?.querySelector("input")?.value === "-5");
}

/** Goes to a list of choices, and presses an arrow. */
async function choose(page, pointer, presses) {
  await tabTo(page, `[data-pointer="${pointer}"]`);
  for (let count = 0; count < presses; count += 1) {
    await page.keyboard.press("ArrowDown");
    await page.evaluate(() => new Promise((drawn) => { requestAnimationFrame(drawn); }));
  }
}

/** Waits until the control that has the focus has an error with a text, while it keeps the focus. */
async function fault(page, pointer, part) {
  await until(page, `the error of ${pointer} is at it while it is typed`, ([place, text]) => {
    const active = document.activeElement;
    const ids = active?.getAttribute("aria-describedby")?.split(" ") ?? [];
    return active?.getAttribute("data-pointer") === place && active.getAttribute("aria-invalid") === "true"
      && ids.some((id) => id.endsWith("-problem") && document.getElementById(id)?.textContent?.includes(text));
  }, [pointer, part]);
}

/** What is typed is what is sent and what the tool gets, and the same in the view of JSON. */
async function kinds({ page, calls }) {
  await fill(page);
  const before = calls.length;
  await press(page, "Run");
  await state(page, "done");
  const returned = parsed(await page.locator(".results pre").first().innerText());
  delete returned.limit;
  assert.deepEqual(returned, TYPED, "the tool gets what was typed");
  assert.equal(calls.length, before + 1, "one call");
  assert.deepEqual(parsed(calls.at(-1).body), TYPED, "what is sent is what was typed");
  await json(page);
  await share(page);
}

/** The view of JSON and the form are one state. */
async function json(page) {
  await tabTo(page, "JSON", "Shift+Tab");
  await page.keyboard.press("Enter");
  const area = page.locator("#arguments-text");
  assert.deepEqual(parsed(await area.inputValue()), TYPED, "the view of JSON has what was typed");
  const text = await area.inputValue();
  await tabTo(page, "[id=arguments-text]");
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(`${text} x`);
  await until(page, "text that is no JSON has an error", () => document.querySelector("#arguments-fault")?.textContent?.includes("line"));
  assert.ok(await page.getByRole("button", { name: "Run", exact: true }).isDisabled(), "text that is no JSON is not run");
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text.replace("9007199254740993", "9007199254740995").replace("\"count\": 4", "\"count\": 5").replace("\"x\": 3", "\"x\": 33"));
  await until(page, "JSON again has none", () => document.querySelector("#arguments-fault")?.textContent === "");
  await tabTo(page, "Form", "Shift+Tab");
  await page.keyboard.press("Enter");
  const value = (pointer) => page.locator(`[data-pointer="${pointer}"]`).inputValue();
  assert.equal(await value("/large"), "9007199254740995", "a large integer is kept");
  assert.deepEqual([await value("/count"), await value("/points/1/x"), await value("/name")], ["5", "33", TYPED.name], "the form has what JSON has");
  await until(page, "nothing is wrong with it", () => document.querySelector("form .problem") === null);
}

/** The link has no secret, and runs nothing by itself. */
async function share(page) {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await press(page, "Copy a link");
  await until(page, "the link is there", () => location.hash.includes("arguments="));
  const link = page.url();
  assert.ok(!decodeURIComponent(link).includes(SECRET), "the link has no secret");
  assert.ok(decodeURIComponent(link).includes("9007199254740995"), "the link has the arguments");
  assert.ok(!(await page.locator(".arguments details").allTextContents()).join("").includes(SECRET), "the code has no secret");
  const other = await page.context().newPage();
  const sent = [];
  other.on("request", (request) => sent.push(new URL(request.url()).pathname));
  const validated = other.waitForResponse((response) => response.url().endsWith("/validate"));
  await other.goto(link);
  await until(other, "the form is filled from the link", (name) => document.querySelector("[data-pointer=\"/name\"]")?.value === name, TYPED.name);
  await validated;
  assert.equal(await other.locator("[data-pointer=\"/secret\"]").inputValue(), "", "the secret is not in it");
  assert.deepEqual(sent.filter((path) => path.endsWith("/call")), [], "a link runs nothing");
  assert.ok((await other.locator(".results").innerText()).includes("Nothing was run yet."));
  await other.close();
}

/** Progress and output come while a call runs, change nothing that a person does, and end with it. */
async function slow({ page }) {
  await go(page, "#/tools/count", "count");
  await type(page, "/word", "hello");
  await press(page, "Run");
  await state(page, "running");
  const done = () => page.locator("progress").evaluate((element) => element.value);
  await until(page, "progress comes", () => (document.querySelector("progress")?.value ?? 0) > 0);
  await until(page, "output comes", () => document.querySelector("pre.output")?.textContent?.startsWith("1\n2\n"));
  await tabTo(page, "[data-pointer=\"/word\"]", "Shift+Tab");
  await page.keyboard.press("Home");
  for (let count = 0; count < 3; count += 1) await page.keyboard.press("Shift+ArrowRight");
  await page.evaluate(() => { window.held = document.activeElement; });
  const from = await done();
  await until(page, "progress goes on", (before) => (document.querySelector("progress")?.value ?? 0) > before + 10, from);
  const kept = await page.evaluate(() => {
    const active = document.activeElement;
    return { isSame: active === window.held, selection: [active.selectionStart, active.selectionEnd], value: active.value };
  });
  assert.deepEqual(kept, { isSame: true, selection: [0, 3], value: "hello" }, "focus and selection are kept while events arrive");
  await press(page, "Cancel");
  await state(page, "cancelled");
  await type(page, "/to", "3");
  await press(page, "Run");
  await state(page, "done");
  assert.ok((await page.locator(".results").innerText()).includes("counted hello"), "the call has its result");
  assert.equal(await page.locator("progress").count(), 0, "nothing is in progress at the end");
}

/** A question is answered with yes, and with no and a reason. */
async function questions({ page }) {
  await go(page, "#/tools/deploy", "deploy");
  await press(page, "Run");
  await state(page, "waits for an answer");
  const question = page.locator(".question");
  for (const part of ["Put the site online", "make deploy SITE=example", "+2 <b>", "It takes a minute."]) {
    assert.ok((await question.innerText()).includes(part), `the question tells ${part}`);
  }
  // A new question cannot be answered at once: it may have come under the pointer.
  await until(page, "the question can be answered", () => document.querySelector(".question .primary")?.disabled === false);
  await press(page, "Allow once");
  await state(page, "done");
  assert.ok((await page.locator(".results").innerText()).includes("deployed"), "an approved call goes on");
  await tabTo(page, "Run", "Shift+Tab");
  await page.keyboard.press("Enter");
  await state(page, "waits for an answer");
  await tabTo(page, "Reason of a denial");
  await page.keyboard.type("not today");
  await press(page, "Deny");
  await state(page, "not run");
  assert.ok((await page.locator(".results").innerText()).includes("not today"), "the tool is told the reason");
}

/** Pictures, sounds, differences, tables, colours and failures are shown. */
async function results({ page }) {
  await go(page, "#/tools/shows", "shows");
  await press(page, "Run");
  await state(page, "done");
  await until(page, "the picture is there", () => document.querySelector(".results img")?.naturalWidth === 96);
  await until(page, "the sound is there", () => (document.querySelector(".results audio")?.duration ?? 0) > 0.05);
  const texts = (selector) => page.locator(selector).allTextContents();
  assert.deepEqual(await texts(".diff .added"), ["+2 <b>\n"], "a difference has its lines");
  assert.deepEqual(await texts(".diff .removed"), ["-two\n"]);
  assert.deepEqual(await texts("th"), ["name", "count", "note"], "a table has a column for each member");
  assert.deepEqual(await texts("td"), ["<i>one</i>", "1", "", "two", "9007199254740993", "null"]);
  assert.deepEqual(await texts(".ansi-fg-green"), ["green"], "text has the colours of a terminal");
  assert.deepEqual(await texts(".ansi-fg-red"), ["red"]);
  for (const view of ["Markdown", "As the model sees it", "Text"]) {
    await page.getByRole("button", { name: view, exact: true }).click();
    await until(page, `the view ${view} is on`, (name) => [...document.querySelectorAll("[aria-pressed=true]")].some((button) => button.textContent === name), view);
  }
  await go(page, "#/tools/fails", "fails");
  await press(page, "Run");
  await state(page, "failed");
  assert.ok((await page.locator(".results [role=alert]").innerText()).includes("the printer <b>burns</b>"), "a failure is told");
}

/** Markup, marks and sequences are text, and a long line is shortened. */
async function hostile({ page }) {
  await go(page, "#/tools/hostile", HOSTILE);
  await press(page, "Run");
  await state(page, "done");
  const check = async (view) => {
    const found = await page.evaluate(() => ({
      made: [...document.querySelectorAll("main :is(b, i, script, img, iframe)")].map((element) => element.outerHTML),
      links: [...document.querySelectorAll("main a")].map((link) => link.href).filter((href) => !/^https?:/.test(href)),
      turns: /[\u202a-\u202e\u2066-\u2069\u001b]/.test(document.body.textContent ?? ""), title: document.title,
    }));
    assert.deepEqual(found, { made: [], links: [], turns: false, title: "hostile – Toolkit" }, `hostile text is text in ${view}`);
    assert.ok((await page.locator(".results").innerText()).includes("<img src=x"), `it is shown in ${view}`);
  };
  await check("Text");
  for (const view of ["Markdown", "As the model sees it"]) {
    await page.getByRole("button", { name: view, exact: true }).click();
    await check(view);
  }
  await page.getByRole("button", { name: "Text", exact: true }).click();
  await go(page, "#/tools/line", "line");
  await press(page, "Run");
  await state(page, "done");
  const text = await page.locator(".results pre").first().textContent();
  assert.ok(text.startsWith("x<b>x<b>") && text.length < 300_000, `a long line is shortened: ${text.length}`);
  await narrow(page, "a page with a long line");
}

/** Pages are accessible and narrow enough, in both schemes and at both widths. */
async function looks(browser, storageState) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1_280, 360]) {
      const opened = await open(browser, origin, { storageState, colorScheme, viewport: { width, height: 800 } });
      const { page } = opened;
      const check = async (name) => {
        await accessible(page, playwright, `${name}, ${colorScheme}, ${width} pixels`);
        await narrow(page, `${name}, ${width} pixels`);
      };
      await page.goto(`${origin}/#/tools`);
      await until(page, "a reload keeps the token", () => document.querySelector(".entry") !== null);
      await check("the list");
      await go(page, "#/tools/kinds", "kinds");
      await page.getByRole("button", { name: "Run", exact: true }).waitFor();
      await check("an empty form");
      const args = { ...TYPED, large: 1, points: [{ x: 1, y: 2 }], name: "" };
      await page.goto(`${origin}/#/tools/kinds?arguments=${encodeURIComponent(JSON.stringify(args))}`);
      await page.reload();
      await until(page, "an error is shown", () => document.querySelector("form .problem") !== null);
      await check("a filled form");
      for (const [tool, end] of [["shows", "done"], ["fails", "failed"], ["deploy", "waits"], ["count", "running"], ["hostile", "done"]]) {
        await go(page, `#/tools/${tool}`, tool === "hostile" ? HOSTILE : tool);
        await page.getByRole("button", { name: "Run", exact: true }).click();
        await state(page, end);
        await check(`${tool}, ${end}`);
      }
      await close(opened);
    }
  }
}

/** A code counts once. */
async function used(browser) {
  const opened = await open(browser, origin, {}, (text) => text.includes("403"));
  await opened.page.goto(address);
  await until(opened.page, "a used code is refused", () => document.querySelector("[role=alert]")?.textContent?.includes("used already"));
  assert.equal(await opened.page.evaluate(() => localStorage.length), 0, "no token comes with it");
  assert.ok(await opened.page.getByLabel("Token").isVisible(), "a token can be typed");
  await accessible(opened.page, playwright, "the page without a token");
  await close(opened);
}

/** Closes a page; nothing may have gone wrong on it. */
async function close({ context, faults }) {
  await context.close();
  assert.deepEqual(faults, [], "no errors, no violations of the policy, and no requests to other hosts");
}

const browser = await start(playwright, chromium);
try {
  const opened = await open(browser, origin, {});
  await opened.page.goto(address);
  const checks = { list, kinds, slow, questions, results, hostile };
  for (const [name, check] of Object.entries(checks)) {
    await check(opened);
    console.log(`checked: ${name}`);
  }
  await opened.page.reload();
  await until(opened.page, "a reload keeps the token", () => document.querySelector("h2")?.textContent === "line");
  const storageState = await opened.context.storageState();
  await close(opened);
  await used(browser);
  console.log("checked: used");
  await looks(browser, storageState);
  console.log("checked: looks");
} finally {
  await browser.close();
}
