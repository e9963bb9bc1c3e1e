// End to end: the page of an input of every kind that zwhy reads, and pages of two and of several of them, in a real
// browser: whole, accessible, on a telephone too, and quiet.
//
// ZWHY names the program.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const from = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = from("playwright-core");
const AXE = readFileSync(from.resolve("axe-core/axe.min.js"), "utf8");
// Only a browser that hangs takes longer, on the busiest machine.
const PATIENCE_MS = 240_000;
const root = fileURLToPath(new URL("..", import.meta.url));
const inputs = join(root, "crates/formats/tests/inputs");
const capture = (name) => join(root, "docs/first-hour", name);
const folder = mkdtempSync(join(tmpdir(), "zwhy-pages-test-"));
let browser = null;

before(async () => {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const executablePath = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args, timeout: PATIENCE_MS });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const zwhy = (...args) => run(resolve(process.env.ZWHY), args, { cwd: folder, maxBuffer: 1 << 28 });

/** What is wrong with a page: rules of accessibility, a width that overflows, errors, requests. */
async function wrongWith(file, ready, options) {
  const wrong = [];
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const url = pathToFileURL(join(folder, file)).href;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    if (request.url() !== url && !/^(data|blob):/.test(request.url())) wrong.push(request.url());
  });
  await page.goto(url);
  await page.waitForSelector(ready);
  await page.evaluate(() => {
    for (const one of document.querySelectorAll("details")) one.open = true;
  });
  await page.evaluate(AXE);
  wrong.push(
    ...(await page.evaluate(async () => {
      const { violations } = await window.axe.run();
      const over = document.documentElement.scrollWidth - window.innerWidth;
      const rules = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
      return over > 0 ? [...rules, `${over} px too wide`] : rules;
    })),
  );
  assert.notEqual((await page.locator(".why").first().innerText()).trim(), "");
  await context.close();
  return wrong;
}

async function isRight(file, ready = "html[data-ready=true]") {
  const wide = { viewport: { width: 1366, height: 768 }, colorScheme: "light" };
  const narrow = { viewport: { width: 390, height: 844 }, colorScheme: "dark" };
  for (const options of [wide, narrow]) assert.deepEqual(await wrongWith(file, ready, options), []);
}

const KINDS = {
  "a capture": capture("lz4.zwhy"),
  "a capture of a slow disk": capture("disk.zwhy"),
  "folded stacks": join(inputs, "folded/dtrace-modules.folded"),
  DTrace: join(inputs, "dtrace/aggregation.txt"),
  bpftrace: join(inputs, "bpftrace/kstack.txt"),
  "perf report": join(inputs, "perf_report/self-caller.txt"),
  "kernel stacks": join(inputs, "kernel_stacks/hung-task.txt"),
  "pasted text": join(inputs, "pasted/pool.txt"),
  "a report in words": join(inputs, "pasted/prose.txt"),
  pprof: firstOf("pprof"),
  speedscope: firstOf("speedscope"),
  "perf script": firstOf("perf_script"),
  Firefox: join(inputs, "firefox/gecko-rows.json"),
  gperftools: join(inputs, "gperftools/native.prof"),
  OpenTelemetry: join(inputs, "otlp/profiles.json"),
};

function firstOf(kind) {
  return join(inputs, kind, readdirSync(join(inputs, kind)).sort()[0]);
}

for (const [kind, input] of Object.entries(KINDS)) {
  test(`the page of ${kind}`, async () => {
    await zwhy("report", input, "-o", "page.html");
    await isRight("page.html");
  });
}

test("a page fits widths between those of a telephone and of a desk", async () => {
  await zwhy("report", capture("lz4.zwhy"), "-o", "page.html");
  const of = (width) => wrongWith("page.html", "html[data-ready=true]", { viewport: { width, height: 900 } });
  for (const width of [640, 820, 980]) assert.deepEqual(await of(width), [], `${width} px`);
});

test("the page of a perf.data", async (t) => {
  const busy = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
  const recorded = run("perf", ["record", "-q", "-e", "cpu-clock", "-g", "-o", "perf.data", "--", "sh", "-c", busy], {
    cwd: folder,
  });
  // Not every machine has it, or lets it.
  if (!(await recorded.then(() => true, () => false))) return t.skip("perf does not record here");
  await zwhy("report", "perf.data", "-o", "page.html");
  await isRight("page.html");
});

test("the page of a flame graph as SVG", async () => {
  await zwhy("flame", capture("lz4.zwhy"), "-o", "graph.svg");
  await zwhy("report", "graph.svg", "-o", "page.html");
  await isRight("page.html");
});

test("the page of two captures beside each other", async () => {
  await zwhy("diff", capture("gzip.zwhy"), capture("lz4.zwhy"), "-o", "two.html");
  await isRight("two.html");
});

test("the page of several inputs", async () => {
  await zwhy("report", capture("gzip.zwhy"), KINDS.DTrace, KINDS["pasted text"], "-o", "several.html");
  await isRight("several.html");
});
