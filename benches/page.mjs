// The page without installation beside the program on one recording: `node benches/page.mjs [perf.data]`, a table row.
//
// ZWHY names the program and ZWHY_PAGE the page (make build, make page), both optimised. In turn, five rounds: the program
// writes its report; a fresh page is given the same file until its report is shown, once as soon as it has opened, and once
// a second later: nobody chooses a file sooner, and meanwhile the page makes its engine ready. Time of day, as a reader
// waits, and the CPU time of all processes of each; the smallest counts. The bar of the page is three times the program's
// time.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const BAR = 3;
const A_SECOND = 1000;
const TICK_MS = 10;
const FILE = resolve(process.argv[2] ?? "target/bench/perf.data");
const ZWHY = resolve(process.env.ZWHY ?? "target/release/zwhy");
const PAGE = pathToFileURL(resolve(process.env.ZWHY_PAGE ?? "target/page/zwhy.html")).href;

/** Parent and CPU milliseconds, with those of children that ended, of a process; null when it ended. */
function processOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
    return { parent: fields[1], ms: (fields[11] + fields[12] + fields[13] + fields[14]) * TICK_MS };
  } catch {
    return null;
  }
}

/** CPU milliseconds of all processes below this one: those of the browser. */
function cpu() {
  const all = new Map();
  for (const name of readdirSync("/proc")) {
    const found = /^\d+$/.test(name) ? processOf(name) : null;
    if (found !== null) all.set(Number(name), found);
  }
  const below = (pid) => {
    for (let at = pid; all.has(at); at = all.get(at).parent) if (at === process.pid) return pid !== at;
    return false;
  };
  return [...all].filter(([pid]) => below(pid)).reduce((sum, [, { ms }]) => sum + ms, 0);
}

function program(out) {
  return new Promise((done, fail) => {
    const from = performance.now();
    const before = processOf(process.pid).ms;
    const child = spawn(ZWHY, ["report", FILE, "-o", out], { stdio: "ignore" });
    child.on("error", fail);
    child.on("exit", (code) => {
      const wall = performance.now() - from;
      // What it took is counted to this process when it ended.
      if (code !== 0) fail(new Error(`${ZWHY} ended with ${code}`));
      done({ wall, cpu: processOf(process.pid).ms - before });
    });
  });
}

async function inPage(context, opened) {
  const page = await context.newPage();
  await page.goto(PAGE);
  await page.waitForTimeout(opened);
  const before = cpu();
  const from = performance.now();
  await page.setInputFiles("#file", FILE);
  await page.waitForFunction(() => document.documentElement.dataset.shown === "shown");
  const wall = performance.now() - from;
  const took = cpu() - before;
  await page.close();
  return { wall, cpu: took };
}

const folder = mkdtempSync(join(tmpdir(), "zwhy-page-bench-"));
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const executablePath = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args });
try {
  const context = await browser.newContext();
  context.setDefaultTimeout(300_000);
  const [ours, sooner, theirs] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await program(join(folder, `${round}.html`)));
    sooner.push(await inPage(context, 0));
    ours.push(await inPage(context, A_SECOND));
  }
  const least = (all, what) => Math.min(...all.map((one) => one[what]));
  const row = (name, page, what) => {
    const [a, b] = [least(theirs, what), least(page, what)];
    console.log(`| ${name} | ${Math.round(a)} ms | ${Math.round(b)} ms | ${(b / a).toFixed(1)} | ${BAR} |`);
  };
  console.log(`${statSync(FILE).size} bytes, load ${loadavg()[0].toFixed(1)}, the smallest of ${ROUNDS} rounds\n`);
  console.log("| | program | page | page / program | bar |\n|---|---:|---:|---:|---:|");
  row("until the report is there, time of day", ours, "wall");
  row("the same, CPU time of all processes", ours, "cpu");
  row("given as soon as the page has opened, time of day", sooner, "wall");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
