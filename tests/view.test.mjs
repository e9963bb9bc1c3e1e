// End to end: `zwhy view` in a real browser: the list, a page of it, a comparison, the end.
//
// ZWHY names the program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
// Only a browser that hangs takes longer, on the busiest machine.
const PATIENCE_MS = 120_000;
const folder = mkdtempSync(join(tmpdir(), "zwhy-view-test-"));
const stacks = { before: "lzjb_compress 900", after: "lz4_compress_zfs 300" };
let [view, browser, page, ended, url] = [null, null, null, null, ""];
const wrong = [];
const asked = [];
const capture = resolve(import.meta.dirname, "../docs/first-hour/lz4.zwhy");

before(async () => {
  const names = Object.entries(stacks).map(([name, leaf]) => {
    writeFileSync(join(folder, `${name}.folded`), `z_wr_iss;kthread;zio_execute;zio_write_compress;${leaf}\nfio;write 100\n`);
    return `${name}.folded`;
  });
  view = spawn(resolve(process.env.ZWHY), ["view", "--no-open", ...names, capture], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  ended = new Promise((done) => view.once("exit", done));
  url = await new Promise((done, failed) => {
    view.stdout.setEncoding("utf8").once("data", (text) => done(text.trim()));
    view.once("exit", (code) => failed(new Error(`zwhy view ended with ${code} before it printed an address`)));
  });
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const executablePath = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args, timeout: PATIENCE_MS });
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    asked.push(request.url());
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) wrong.push(request.url());
  });
  await page.goto(url);
});
after(async () => {
  await browser?.close();
  view?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const opened = () => page.waitForSelector("html[data-ready=true]");

test("the list leads to the page of an input", async () => {
  assert.deepEqual(await page.getByRole("link").allInnerTexts(), ["before.folded", "after.folded", "lz4.zwhy"]);
  await page.getByRole("link", { name: "after.folded" }).click();
  await opened();
  assert.match(await page.locator(".source").innerText(), /after\.folded/);
  await page.getByRole("searchbox").fill("lz4_compress");
  await page.getByText("1 name", { exact: false }).waitFor();
  await page.goto(url);
});

test("large parts of the data follow the page, to who knows the token", async () => {
  await page.goto(`${url}3`);
  await opened();
  for (const part of ["flame", "samples"]) assert.ok(asked.includes(`${url}3.${part}`), asked.join("\n"));
  assert.equal(await page.locator('.frame canvas[data-drawn="true"]').count(), 1);
  // Samples are when each of them was taken.
  await page.getByRole("heading", { name: "CPU by stage over time" }).waitFor();
  for (const part of ["flame", "samples"]) assert.equal(await page.locator(`script#${part}`).textContent(), "");
  const status = async (address) => (await fetch(address)).status;
  assert.equal(await status(`${url}3.samples`), 200);
  assert.equal(await status(`${url}3.nothing`), 404);
  assert.equal(await status(`${url}9.samples`), 404);
  assert.equal(await status(url.replace(/[^/]+\/$/, "0000/3.samples")), 403);
  await page.goto(url);
});

test("two inputs are compared", async () => {
  await page.getByRole("button", { name: "Compare" }).click();
  await opened();
  assert.match(await page.locator("main").innerText(), /lzjb_compress/);
  await page.goto(url);
});

test("the page can end the program, and nothing went wrong on the way", async () => {
  await page.getByRole("button", { name: "End zwhy view" }).click();
  assert.equal(await ended, 0);
  assert.deepEqual(wrong, []);
});
