// The page that needs no installation: takes a recording by drop, choice or paste, shows the report of it.

import "../styles/anywhere.css";
import { MOST_BYTES } from "./engine";
import type { Engine, Task, Told } from "./messages";

/** The text of worker.ts, put here by the build. */
declare const WORKER: string;

/** Steps of the engine, in its order (crates/browser/src/lib.rs). */
const STEPS = ["Reading the recording", "Looking for the cause", "Writing the report"];

function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
}

const [ask, busy, shown] = ["ask", "busy", "shown"].map((id) => byId(id));
const problem = byId("problem");
const text = byId<HTMLTextAreaElement>("text");
const file = byId<HTMLInputElement>("file");
const redact = byId<HTMLInputElement>("redact");
const bar = byId<HTMLProgressElement>("bar");
const doing = byId("doing");
const seconds = byId("seconds");
const frame = byId<HTMLIFrameElement>("report");

/** Seven bits of each character, as web/scripts/build-anywhere.mjs wrote them. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor((text.length * 7) / 8));
  let [held, bits, end] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    held = (held << 7) | (text.charCodeAt(i) & 0x7f);
    bits += 7;
    if (bits < 8) continue;
    bits -= 8;
    bytes[end++] = held >> bits;
    held &= (1 << bits) - 1;
  }
  return bytes;
}

/** The engine is unpacked and compiled once, while the page is read. */
async function compiled(): Promise<WebAssembly.Module> {
  const unpacked = new Blob([bytesOf(byId("engine").textContent ?? "")])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}
const engine = compiled();
engine.catch((error: unknown) => fail(`This browser cannot run the page: ${error}`));

let running: Worker | null = null;
/** Reads the engine's knowledge while somebody looks for a file. */
let next: Worker | null = null;
const workerUrl = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
let clock = 0;
let urls: string[] = [];

function prepared(): Worker {
  const worker = new Worker(workerUrl);
  // Why there is none has been told.
  engine.then(
    (engine) => worker.postMessage({ kind: "engine", engine } satisfies Engine),
    () => {},
  );
  return worker;
}

function show(part: HTMLElement): void {
  for (const other of [ask, busy, shown]) other.hidden = other !== part;
  // Tests and tools wait for it.
  document.documentElement.dataset.shown = part.id;
  if (part === ask) next ??= prepared();
}

function stop(): void {
  running?.terminate();
  running = null;
  clearInterval(clock);
}

function fail(why: string): void {
  stop();
  problem.textContent = why;
  problem.hidden = false;
  show(ask);
}

function urlOf(blob: Blob): string {
  const url = URL.createObjectURL(blob);
  urls.push(url);
  return url;
}

/** Gives back what the last input took, and lets the same file be chosen again. */
function clear(): void {
  stop();
  frame.removeAttribute("src");
  for (const url of urls) URL.revokeObjectURL(url);
  urls = [];
  file.value = "";
  problem.hidden = true;
}

function again(): void {
  clear();
  show(ask);
}

/** Has a button save what is shown. */
function saves(id: string, url: string, name: string): void {
  byId<HTMLButtonElement>(id).onclick = () => {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  };
}

function present(name: string, json: Blob, page: Blob): void {
  stop();
  const called = redact.checked ? "redacted" : name;
  byId("name").textContent = called;
  const base = called.replace(/\.[^.]*$/, "").replace(/\s+/g, "-") || "zwhy";
  const url = urlOf(page);
  saves("save-report", url, `${base}.html`);
  saves("save-json", urlOf(json), `${base}.json`);
  frame.title = `Report of ${called}`;
  frame.src = url;
  show(shown);
}

function told(name: string, size: number, what: Told): void {
  if (what.kind === "taken") {
    bar.value = size > 0 ? what.bytes / size : 1;
  } else if (what.kind === "step") {
    doing.textContent = STEPS[what.step] ?? "Working";
    // How long a step takes is not known before its end.
    bar.removeAttribute("value");
  } else if (what.kind === "done") {
    present(name, what.json, what.page);
  } else {
    fail(what.why);
  }
}

async function explain(name: string, input: Blob): Promise<void> {
  if (running) return;
  clear();
  if (input.size > MOST_BYTES) {
    fail(`${name} has more than 1 GiB, the most that a page can hold: use the program for it.`);
    return;
  }
  doing.textContent = `Taking ${name}`;
  bar.value = 0;
  const since = performance.now();
  const tick = () => {
    seconds.textContent = `${Math.round((performance.now() - since) / 1000)} s`;
  };
  tick();
  clock = window.setInterval(tick, 1000);
  show(busy);
  const worker = next ?? prepared();
  [next, running] = [null, worker];
  worker.onmessage = ({ data }: MessageEvent<Told>) => told(name, input.size, data);
  worker.onerror = (event) => fail(`The worker of the page failed: ${event.message}`);
  const task: Task = { kind: "task", name, input, redact: redact.checked };
  try {
    await engine;
    if (running === worker) worker.postMessage(task);
  } catch (error) {
    fail(`This browser cannot run the page: ${error}`);
  }
}

function take(files: FileList | null | undefined): void {
  const first = files?.[0];
  if (first) void explain(first.name, first);
}

byId("explain").addEventListener("click", () => {
  if (text.value.trim() === "") fail("There is no text yet: paste it, or choose a file.");
  else void explain("pasted text", new Blob([text.value]));
});
file.addEventListener("change", () => take(file.files));
for (const id of ["cancel", "again"]) byId(id).addEventListener("click", again);
window.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.documentElement.dataset.over = "true";
});
window.addEventListener("dragleave", () => delete document.documentElement.dataset.over);
window.addEventListener("drop", (event) => {
  event.preventDefault();
  delete document.documentElement.dataset.over;
  take(event.dataTransfer?.files);
});
window.addEventListener("paste", (event) => {
  const files = event.clipboardData?.files;
  if (ask.hidden || !files?.length) return;
  event.preventDefault();
  take(files);
});
show(ask);
