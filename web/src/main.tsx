// Opens the report: unpacks the data blocks, the small answer first, and shows the page.

import { render } from "preact";
import { unpack } from "./data/block";
import { readCompare } from "./data/compare";
import { readFacts, readTimeline } from "./data/extras";
import { readInputs } from "./data/inputs";
import { decodeOverview, type Overview } from "./data/overview";
import { readAnswer } from "./data/read-answer";
import { decodeSamples } from "./data/samples";
import { asideFor, blockElement, blockName } from "./flame/early";
import type { FlameModel } from "./flame/model";
import { isLarge, type Packed, prepareAside } from "./flame/prepare";
import type { FlameEvent } from "./state/hash";
import {
  answer,
  compare,
  dark,
  event,
  facts,
  flame,
  followAddress,
  inputs,
  overview,
  type Part,
  page,
  samples,
  setFlame,
  settled,
  timeline,
  unread,
} from "./state/store";
import { prepareSearch } from "./state/view";
import "./styles/page.css";
import "./styles/flame.css";
import "./styles/print.css";
import { App } from "./ui/App";
import { pageKeys } from "./ui/keys";

/** The text of a block; null where the file has none of this name. */
function textOf(id: string, what: string): Asked | null {
  const block = blockElement(id);
  return block && { text: block.textContent ?? "", what, from: block.getAttribute("data-from") };
}

/** A block, or where a page that `zwhy view` shows gets it. */
interface Asked extends Packed {
  readonly from: string | null;
}

async function fetched({ from, what }: Asked): Promise<Packed> {
  const came = await fetch(from ?? "").catch(() => null);
  if (!came?.ok) throw new Error(`The ${what} did not come: zwhy view has ended. Start it again.`);
  return { what, text: await came.text() };
}

/** The same for the input that is shown. */
function packed(id: string, what: string): Asked | null {
  return textOf(blockName(id, page.value.input), what);
}

/** A graph of the input that is shown. */
async function graph(id: string, what: string): Promise<Part<FlameModel>> {
  const name = blockName(id, page.value.input);
  return load(textOf(name, what), (block) => prepareAside(block, () => asideFor(name, what)));
}

/** The inputs of the file; one that it does not hold is the first. */
async function list(): Promise<void> {
  const part = await load(textOf("inputs", "list of inputs"), unpacked(readInputs));
  if (part.kind === "ready") inputs.value = part.value;
  if (part.kind === "failed") unread.value = [...unread.value, part.message];
  if (page.value.input >= Math.max(1, inputs.value.length))
    page.value = { ...page.value, input: 0 };
}

async function load<T>(
  block: Asked | null,
  read: (block: Packed) => T | Promise<T>,
): Promise<Part<T>> {
  if (!block) return { kind: "absent" };
  try {
    return { kind: "ready", value: await read(block.from ? await fetched(block) : block) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", message };
  }
}

const unpacked =
  <T,>(read: (bytes: Uint8Array) => T) =>
  async ({ text, what }: Packed) =>
    read(await unpack(text, what));

/** Goes on in another task. */
function task(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

/** Lets the browser paint what is there before the next long piece of work. */
function painted(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

/** Waits until the browser has nothing else to do. */
function idle(): Promise<void> {
  return new Promise((done) =>
    "requestIdleCallback" in window ? requestIdleCallback(() => done()) : setTimeout(done, 100),
  );
}

async function open(): Promise<void> {
  const root = document.getElementById("app");
  if (!root) return;
  followAddress();
  window.addEventListener("keydown", pageKeys);
  page.subscribe((state) => {
    document.documentElement.dataset.theme = state.theme;
  });
  dark.subscribe((isDark) => {
    document.documentElement.dataset.dark = String(isDark);
  });
  await list();
  const stacks = packed("flame", "flame graph");
  // A worker needs a while: it goes on before anything else. What takes none, or has an overview, waits until that is
  // shown.
  const first = stacks && !packed("overview", "") && (stacks.from || isLarge(stacks));
  const early = first ? graph("flame", stacks.what) : null;
  answer.value = await load(packed("answer", "answer"), unpacked(readAnswer));
  root.textContent = "";
  compare.value = await whole("compare", "comparison", readCompare, null);
  if (!stacks) setFlame("cpu", { kind: "absent" });
  await task();
  overview.value = await whole<Overview | null>("overview", "overview", decodeOverview, null);
  render(<App />, root);
  await painted();
  setFlame("cpu", await (early ?? graph("flame", "flame graph")));
  await painted();
  settled.value = true;
  const nodes = flame.value.kind === "ready" ? flame.value.value.data.nodes : 0;
  samples.value = await whole("samples", "samples", (bytes) => decodeSamples(bytes, nodes), null);
  timeline.value = await whole("timeline", "timeline", readTimeline, null);
  facts.value = await whole("facts", "facts", readFacts, []);
  await other("wait", "waiting");
  await other("count", "counts");
  // Tests and tools wait for this.
  document.documentElement.dataset.ready = "true";
  await prepareSearch(idle);
}

/** The graph of other samples: now where the file has it, else when somebody asks for it. */
async function other(kind: FlameEvent, what: string): Promise<void> {
  const id = `flame-${kind}`;
  const get = async () => setFlame(kind, await graph(id, what));
  if (!packed(id, what)?.from) return get();
  setFlame(kind, { kind: "waiting" });
  const stop = event.subscribe((shown) => {
    if (shown !== kind) return;
    // Told once here, before there is anything to stop.
    queueMicrotask(() => stop());
    void get();
  });
}

/** A part without which the page is whole; what cannot be read is told with the data quality. */
async function whole<T>(id: string, what: string, read: (b: Uint8Array) => T, none: T): Promise<T> {
  const part = await load(packed(id, what), unpacked(read));
  // To read, to make the page and to draw are tasks of their own: nobody's key waits for all of them.
  if (part.kind !== "absent") await task();
  if (part.kind === "failed") unread.value = [...unread.value, part.message];
  return part.kind === "ready" ? part.value : none;
}

void open();
