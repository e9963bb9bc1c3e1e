// The pages of the fleet in a real browser: whole, accessible, on a telephone too, and with hostile names.
//
// ZWHY_FLEET names the program.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const from = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = from("playwright-core");
const AXE = readFileSync(from.resolve("axe-core/axe.min.js"), "utf8");
// Only a browser that hangs takes longer, on the busiest machine.
const PATIENCE_MS = 240_000;
const HOSTILE = '<img src=x onerror=alert(1)>"\'&#host=two;../';
const WIDE = { viewport: { width: 1366, height: 768 }, colorScheme: "light" };
const NARROW = { viewport: { width: 390, height: 844 }, colorScheme: "dark" };
const fleet = resolve(process.env.ZWHY_FLEET);
const folder = mkdtempSync(join(tmpdir(), "zwhy-fleet-test-"));
const store = join(folder, "store");
const capture = (name) => fileURLToPath(new URL(`../../docs/first-hour/${name}.zwhy`, import.meta.url));
let browser = null;
let server = null;
let address = null;

before(async () => {
  await run(fleet, ["ingest", capture("gzip"), "--store", store, "--host", "one", "--start", "-20m"]);
  await run(fleet, ["ingest", capture("program"), "--store", store, "--host", HOSTILE, "--start", "-20m"]);
  server = spawn(fleet, ["serve", "--store", store, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: server.stdout })) {
    address = line;
    break;
  }
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const executablePath = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args, timeout: PATIENCE_MS });
});
after(async () => {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const base = () => address.split("#")[0];
const token = () => address.split("#")[1];

/** A page of the server, when it is whole; `wrong` collects what goes wrong on it. */
async function open(hash, options, wrong) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(base()) && !/^(data|blob):/.test(request.url())) wrong.push(request.url());
  });
  await page.goto(`${base()}#${hash}&${token()}`);
  await page.waitForSelector("html[data-ready=true]");
  assert.ok(!page.url().includes("token"), "the token is not in the address any more");
  return page;
}

async function isRight(hash, sees) {
  for (const options of [WIDE, NARROW]) {
    const wrong = [];
    const page = await open(hash, options, wrong);
    for (const text of sees) assert.ok((await page.locator("main").innerText()).includes(text), text);
    await page.evaluate(AXE);
    const { violations, over } = await page.evaluate(async () => {
      const found = await window.axe.run();
      return {
        violations: found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`),
        over: document.documentElement.scrollWidth - window.innerWidth,
      };
    });
    assert.deepEqual(violations, []);
    assert.ok(over <= 0, `${over} px too wide`);
    assert.deepEqual(wrong, []);
    await page.context().close();
  }
}

test("all hosts", () => isRight("", ["2 hosts", "one", HOSTILE, "Findings"]));
test("one host", () => isRight("host=one", ["one", "Flame graph", "Functions", "Save as pprof"]));
test("a host with a hostile name", () => isRight(`host=${encodeURIComponent(HOSTILE)}`, [HOSTILE, "Flame graph"]));
test("a host that is not there", () => isRight("host=none", ["The store has nothing of this host"]));
test("functions", () => isRight("functions=1", ["Functions of all hosts"]));
test("two hosts beside each other", () => isRight("compare=1", ["CPU time by stage of two hosts", "change"]));

test("a finding, from the table of all", async () => {
  const wrong = [];
  const page = await open("", WIDE, wrong);
  await page.locator("main a[href*='finding=']").first().click();
  await page.waitForSelector("html[data-ready=true] main p");
  assert.match(await page.locator("main").innerText(), /[12] of 2 hosts had it/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a range is drawn over the timeline, and a box of the flame graph is opened and closed", async () => {
  const wrong = [];
  const page = await open("host=one", WIDE, wrong);
  const boxes = page.locator(".flame button");
  const before = await boxes.count();
  assert.ok(before > 20, `${before} boxes`);
  await boxes.nth(3).click();
  const zoomed = await boxes.first().innerText();
  assert.notEqual(zoomed, "all");
  await boxes.first().click();
  assert.equal(await boxes.count(), before);
  await page.locator("svg.time").scrollIntoViewIfNeeded();
  const box = await page.locator("svg.time").boundingBox();
  await page.mouse.move(box.x + 5, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.8, box.y + 30);
  await page.mouse.up();
  await page.waitForURL(/from=\d+/);
  await page.waitForSelector("html[data-ready=true] main a:has-text('Whole range')");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("without the token the page says where it is", async () => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(base());
  await page.waitForSelector("html[data-ready=true]");
  assert.match(await page.locator("#state").innerText(), /zwhy-fleet serve printed/);
  assert.equal(await page.locator("main").innerText(), "");
  await page.context().close();
});
