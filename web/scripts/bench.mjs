// Times the page over a graph of a million boxes in chromium: opening, the longest task, search, zoom, brush. npm run bench
//
// Opening and the longest task are times of day, so they grow with the load of the machine, which is printed. The others
// are the CPU time that the page's main thread takes for one step, drawing included: that hardly depends on it.
// Speedscope and d3-flame-graph open the same graph in the same run, if npm can fetch them.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { runnerImport } from "vite";
import { block, grow } from "./bench-graph.mjs";
import { measurePeers } from "./bench-peers.mjs";
import { TEMPLATE, WEB } from "./build-page.mjs";

const MARKER = "<!--zwhy:data-->";
const NODES = Number(process.argv[2] ?? 1_000_000);
const SMALL = 2_000;
/** From so many boxes on zwhy writes an overview (crates/flame/src/overview.rs). */
const LARGE = 50_000;
const OPENS_MS = 3_000;
/** One opening says little: a process that has to wait for a CPU doubles it. */
const OPENINGS = 7;
const RECORDED_S = 60;
/** Waits in the page until a change is drawn. */
const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

/** CPU milliseconds of the page's main thread for each of `steps`; a step is a function for the page. */
async function work(page, steps) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  };
  const took = [];
  for (const [step, value] of steps) {
    const from = await busy();
    await page.evaluate(step, value);
    await page.evaluate(drawn);
    took.push((await busy()) - from);
  }
  await session.detach();
  return sorted(took);
}

const typed = (text) => {
  const field = document.querySelector("#find");
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const pressed = (key) =>
  document
    .querySelector("#flame-section")
    .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

const VIEWPORT = { width: 1440, height: 900 };
const sorted = (values) => values.sort((a, b) => a - b);
const middle = (values) => values[Math.floor(values.length / 2)];
const p95 = (values) => values[Math.floor(values.length * 0.95)];

/** Opens a page: how long it took from the moment its text was read until the graph was painted, and its longest task. */
async function open(page, url) {
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const task of list.getEntries())
        window.longest = Math.max(window.longest, task.duration);
    }).observe({ type: "longtask", buffered: true });
    // Of the frame that draws the graph the end is taken: a message that is sent while it is drawn comes after it.
    const drawn = '.frame canvas[data-drawn="true"]';
    const ended = new MessageChannel();
    ended.port1.onmessage = () => (window.painted ??= performance.now());
    new MutationObserver((_, watch) => {
      if (!document.querySelector(drawn)) return;
      watch.disconnect();
      ended.port2.postMessage(null);
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-drawn"] });
    // What is drawn first is the overview; the page says when it has read all, the graph among it.
    new MutationObserver(() => (window.whole ??= performance.now())).observe(document, {
      subtree: true,
      attributes: true,
      attributeFilter: ["data-ready"],
    });
  });
  await page.goto(url);
  // Who asks a page puts scripts of its own into it, which takes time from it: nothing is asked while it opens.
  await new Promise((done) => setTimeout(done, OPENS_MS));
  await page.waitForFunction(() => window.painted > 0 && document.documentElement.dataset.ready);
  return page.evaluate(() => {
    const read = performance.getEntriesByType("navigation")[0].domInteractive;
    return { paint: window.painted - read, whole: window.whole - read, longest: window.longest };
  });
}

/** Several openings, each in a page of its own: the sorted milliseconds of each of their times. */
async function openings(browser, url) {
  const times = [];
  for (let opening = 0; opening < OPENINGS; opening++) {
    const page = await browser.newPage({ viewport: VIEWPORT });
    times.push(await open(page, url));
    await page.close();
  }
  const names = Object.keys(times[0]);
  return Object.fromEntries(names.map((name) => [name, sorted(times.map((time) => time[name]))]));
}

/** CPU milliseconds of steps in the page once it is open, sorted. */
async function steps(page, url) {
  await open(page, url);
  const searches = Array.from({ length: 20 }, (_, i) => [typed, `function_1${i}`]);
  const zooms = Array.from({ length: 40 }, (_, i) => [pressed, i % 2 === 0 ? "+" : "-"]);
  // The first selects a tenth of the time, each further one moves it on by half of itself.
  const brushes = Array.from({ length: 15 }, () => [pressed, "]"]);
  const idle = await work(
    page,
    Array.from({ length: 20 }, () => [() => {}, null]),
  );
  const search = await work(page, searches);
  const zoom = await work(page, zooms);
  await page.evaluate(typed, "");
  return { idle, search, zoom, brush: await work(page, brushes) };
}

const folder = await mkdtemp(join(tmpdir(), "zwhy-bench-"));
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const executablePath = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args });
try {
  const template = await readFile(TEMPLATE, "utf8");
  const sample = async (name) => {
    const path = join(WEB, "test/sample", `${name}.ts`);
    return (await runnerImport(path, { configFile: false })).module;
  };
  const [{ encode }, { encodeOverview }, { encodeSamples, rowsOf }] = await Promise.all(
    ["flame", "overview", "samples"].map(sample),
  );
  const written = async (graph) => {
    const made = block(graph);
    const blocks = [
      ...(graph.parent.length < LARGE ? [] : [["overview", encodeOverview(made)]]),
      ["flame", encode(made)],
      ["samples", encodeSamples(rowsOf(made, RECORDED_S))],
    ];
    const elements = blocks.map(([id, bytes]) => {
      const data = gzipSync(bytes).toString("base64");
      return `<script type="application/zwhy" id="${id}">${data}</script>`;
    });
    const file = join(folder, "page.html");
    const html = template.replace(MARKER, () => elements.join("\n"));
    await writeFile(file, html);
    return { html, url: pathToFileURL(file).href };
  };
  const small = await openings(browser, (await written(grow(SMALL))).url);
  const graph = grow(NODES);
  const { html, url } = await written(graph);
  const large = await openings(browser, url);
  const page = await browser.newPage({ viewport: VIEWPORT });
  const ms = await steps(page, url);
  const two = (value) => value.toFixed(value < 20 ? 1 : 0).padStart(6);
  const opening = (name, took) =>
    console.log(
      `  ${name}${two(middle(took))} ms, of ${OPENINGS} openings ${took.map((ms) => ms.toFixed(0)).join(" ")}`,
    );
  console.log(`page of ${SMALL.toLocaleString("en-US")} boxes`);
  opening("file read to graph painted     ", small.paint);
  console.log(
    `page of ${NODES.toLocaleString("en-US")} boxes, ${html.length.toLocaleString("en-US")} bytes`,
  );
  opening("file read to graph painted     ", large.paint);
  opening("file read to all of it unpacked", large.whole);
  // A browser tells of tasks of 50 ms and more: 0 is none.
  opening("longest task on the main thread", large.longest);
  // A step that does nothing still takes what it costs to ask for it, and to wait for its frames.
  const asked = middle(ms.idle);
  const cpu = (name, took) =>
    console.log(
      `  ${name}${two(middle(took) - asked)} ms of CPU, p95${two(p95(took) - asked)} ms, less ${asked.toFixed(1)} for asking`,
    );
  cpu("a search                       ", ms.search);
  cpu("a zoom step                    ", ms.zoom);
  cpu("a brush of a tenth of the time ", ms.brush);
  await page.close();
  for (const [name, took] of await measurePeers(browser, graph, folder)) {
    console.log(`  ${name.padEnd(31)}${took}`);
  }
  console.log(`  load of the machine            ${loadavg()[0].toFixed(1).padStart(6)}`);
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}
