// End to end: the page that needs no installation, in a real browser, gives for every fixture what the program gives.
//
// ZWHY names the program, ZWHY_PAGE the page (make page-test). Further files or folders to compare: ZWHY_PAGE_INPUTS, one a line.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
// Only a browser that hangs takes longer, on the busiest machine.
const PATIENCE_MS = 300_000;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ZWHY = resolve(process.env.ZWHY);
const PAGE = resolve(process.env.ZWHY_PAGE);
const FIXTURES = ["crates/formats/tests/inputs", "crates/diagnose/tests/data", "docs/first-hour", "crates/cli/tests/lab/stacks.folded"];
const folder = mkdtempSync(join(tmpdir(), "zwhy-page-test-"));
const server = createServer((request, response) => {
  reached.push(request.url);
  response.end();
});
const [reached, wrong] = [[], []];
let [browser, context, page] = [null, null, null];

before(async () => {
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const executablePath = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args, timeout: PATIENCE_MS });
  context = await browser.newContext({ acceptDownloads: true });
  context.setDefaultTimeout(PATIENCE_MS);
  page = await opened();
});
after(async () => {
  await browser?.close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The page as it is opened from a disk. */
async function opened() {
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    if (request.url() !== pathToFileURL(PAGE).href && !/^(data|blob|about):/.test(request.url())) wrong.push(request.url());
  });
  await page.goto(pathToFileURL(PAGE).href);
  return page;
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => filesOf(join(path, name)));
}

function zwhy(file, ...args) {
  return spawnSync(ZWHY, args, { cwd: dirname(file), encoding: "utf8", maxBuffer: 1 << 30 });
}

/** What the program says of a file: its JSON, or why it has none. */
function program(file, ...options) {
  const done = zwhy(file, "explain", "--json", ...options, basename(file));
  return done.status === 0 ? { json: done.stdout } : { why: done.stderr };
}

async function saved(id) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(id)]);
  return readFileSync(await download.path(), "utf8");
}

/** What the page says of what it was just given. */
async function answer() {
  await page.waitForFunction(() => {
    const { shown } = document.documentElement.dataset;
    return shown === "shown" || (shown === "ask" && !document.getElementById("problem").hidden);
  });
  if (await page.isVisible("#problem")) return { why: await page.innerText("#problem") };
  return { json: await saved("#save-json") };
}

async function again() {
  if (await page.isVisible("#again")) await page.click("#again");
}

async function explained(file) {
  await again();
  await page.setInputFiles("#file", file);
  return answer();
}

const plain = (text) => text.replace(/\s+/g, " ").trim();

/** How page and program differ on a file; null where both have the same JSON, or none for the same reason. */
function difference(file, ours, theirs) {
  if (ours.json === undefined || theirs.json === undefined) {
    const alike = ours.json === theirs.json && plain(theirs.why).includes(plain(ours.why));
    return alike ? null : `${file}: the page: ${ours.why ?? "an answer"}; the program: ${theirs.why ?? "an answer"}`;
  }
  const [a, b] = [ours.json.split("\n"), theirs.json.split("\n")];
  const at = a.findIndex((line, i) => line !== b[i]);
  return ours.json === theirs.json ? null : `${file}: line ${at + 1}: the page: ${a[at]}; the program: ${b[at]}`;
}

function same(file, ours, theirs) {
  assert.equal(difference(file, ours, theirs), null);
}

/** Files that the program and perf make here: a drawing, a capture of an import, what is packed, a perf.data. */
function made() {
  const stacks = join(ROOT, "crates/diagnose/tests/data/kernel-vm.folded");
  const copy = join(folder, "vm.folded");
  copyFileSync(stacks, copy);
  for (const args of [["flame", "vm.folded", "-o", "vm.svg"], ["import", "vm.folded", "-o", "vm.zwhy"]]) {
    const done = zwhy(copy, ...args);
    assert.equal(done.status, 0, done.stderr);
  }
  for (const [program, ending] of [["gzip", "gz"], ["xz", "xz"], ["zstd", "zst"]]) {
    const packed = spawnSync(program, ["-c", copy], { maxBuffer: 1 << 30 });
    if (packed.status === 0) writeFileSync(`${copy}.${ending}`, packed.stdout);
  }
  return filesOf(folder);
}

test("every fixture has the answer that the program gives", async (t) => {
  const given = (process.env.ZWHY_PAGE_INPUTS ?? "").split("\n").filter((path) => path !== "");
  const fixtures = FIXTURES.map((path) => join(ROOT, path));
  const files = [...fixtures, ...given].flatMap(filesOf).concat(made());
  let answers = 0;
  const different = [];
  for (const file of files) {
    const ours = await explained(file);
    const how = difference(file, ours, program(file));
    if (how !== null) different.push(how);
    answers += ours.json === undefined ? 0 : 1;
  }
  t.diagnostic(`${files.length} inputs, ${files.length - different.length} equal; ${answers} with an answer`);
  assert.deepEqual(different, []);
  assert.ok(answers > 60, `only ${answers} answers`);
  assert.deepEqual(wrong, []);
});

test("the report that is shown and saved is the one that the program writes", async () => {
  const file = join(ROOT, "docs/first-hour/lz4.zwhy");
  await explained(file);
  const out = join(folder, "lz4.html");
  assert.equal(zwhy(file, "report", basename(file), "-o", out).status, 0);
  assert.equal(await saved("#save-report"), readFileSync(out, "utf8"));
  const frame = page.frameLocator("#report");
  await frame.locator("html[data-ready=true]").waitFor();
  await frame.locator("canvas").first().waitFor();
  assert.match(await frame.locator("main").innerText(), /OpenZFS/);
  assert.deepEqual(wrong, []);
});

test("text is pasted, a file is dropped, names are replaced", async () => {
  const thread = filesOf(join(ROOT, "crates/formats/tests/inputs/pasted"))[0];
  const called = join(folder, "pasted text");
  copyFileSync(thread, called);
  await again();
  await page.fill("#text", readFileSync(thread, "utf8"));
  await page.click("#explain");
  same(thread, await answer(), program(called));
  await again();
  await page.check("#redact");
  const data = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "dropped.txt"));
    return data;
  }, readFileSync(thread, "utf8"));
  await page.dispatchEvent("#text", "drop", { dataTransfer: data });
  same(thread, await answer(), program(called, "--redact"));
  await again();
  await page.uncheck("#redact");
  assert.deepEqual(wrong, []);
});

test("an input can be cancelled while it is read, and the next one is answered", async () => {
  const long = join(folder, "long.folded");
  const lines = Array.from({ length: 400_000 }, (_, i) => `z_wr_iss;zio_execute;f${i % 5000};g${i} ${(i % 7) + 1}`);
  writeFileSync(long, lines.join("\n"));
  await again();
  await page.setInputFiles("#file", long);
  await page.click("#cancel");
  assert.ok(await page.isVisible("#ask"));
  const file = join(ROOT, "crates/diagnose/tests/data/kernel-vm.folded");
  same(file, await explained(file), program(file));
});

test("nothing leaves the browser, whatever its scripts try", async () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  const other = await opened();
  const tried = await other.evaluate(async (url) => {
    const refused = new Set();
    document.addEventListener("securitypolicyviolation", (event) => refused.add(event.effectiveDirective));
    await fetch(`${url}fetch`).catch(() => undefined);
    try {
      new WebSocket(url.replace("http", "ws"));
    } catch {}
    try {
      navigator.sendBeacon(`${url}beacon`, "x");
    } catch {}
    const put = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
    put("img", { src: `${url}img` });
    put("iframe", { src: `${url}frame` });
    put("script", { src: `${url}script` });
    put("link", { rel: "stylesheet", href: `${url}style` });
    await new Promise((done) => setTimeout(done, 1000));
    return [...refused].sort();
  }, url);
  await other.close();
  assert.deepEqual(reached, []);
  for (const directive of ["connect-src", "img-src", "frame-src", "script-src-elem", "style-src-elem"]) {
    assert.ok(tried.includes(directive), `${directive} was not refused: ${tried}`);
  }
});
