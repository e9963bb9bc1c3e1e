// The state of the page and the few ways to change it. The URL hash is the only copy that lasts.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { CompareData } from "../data/compare";
import type { FactTable, TimelineData } from "../data/extras";
import type { Listed } from "../data/inputs";
import type { Overview } from "../data/overview";
import type { ReadAnswer } from "../data/read-answer";
import type { SampleData } from "../data/samples";
import type { FlameModel } from "../flame/model";
import {
  FLAME_EVENTS,
  type FlameEvent,
  formatHash,
  type PageState,
  parseHash,
  START,
} from "./hash";

/** A part of the data: not in the file, being unpacked, unreadable, or there. */
export type Part<T> =
  | { readonly kind: "absent" }
  | { readonly kind: "waiting" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "ready"; readonly value: T };

/** Empty where the file holds one. */
export const inputs = signal<readonly Listed[]>([]);
export const page = signal<PageState>(parseHash(window.location.hash));
const fields = new Map<string, ReadonlySignal<unknown>>();
/** A field of the state of the page; who reads it here is told when it changes, and not when others do. */
export function field<K extends keyof PageState>(key: K): PageState[K] {
  const one = fields.get(key) ?? computed(() => page.value[key]);
  fields.set(key, one);
  return one.value as PageState[K];
}
/** When each sample of the CPU flame graph was taken. */
export const samples = signal<SampleData | null>(null);
export const timeline = signal<TimelineData | null>(null);
export const facts = signal<readonly FactTable[]>([]);
export const compare = signal<CompareData | null>(null);
/** Whether the graph is on the screen: what lies below it and takes a while waits until then. */
export const settled = signal(false);
/** Parts that could not be read, for the data quality section. */
export const unread = signal<readonly string[]>([]);
export const answer = signal<Part<ReadAnswer>>({ kind: "waiting" });
/** The graphs of the file, by what their samples are of. */
export const flames = {
  cpu: signal<Part<FlameModel>>({ kind: "waiting" }),
  wait: signal<Part<FlameModel>>({ kind: "absent" }),
  count: signal<Part<FlameModel>>({ kind: "absent" }),
};

export function setFlame(event: FlameEvent, part: Part<FlameModel>): void {
  flames[event].value = part;
}

/** What a screen shows of all of the CPU graph, where the file has that apart from the graph. */
export const overview = signal<Overview | null>(null);

/** The kinds of samples that the report has. */
export const events = computed(() =>
  FLAME_EVENTS.filter((event) => flames[event].value.kind !== "absent"),
);

/** The kind that is shown: what the address says if the report has it. */
export const event = computed<FlameEvent>(() =>
  events.value.includes(field("event")) ? field("event") : (events.value[0] ?? "cpu"),
);

export const flame = computed(() => flames[event.value].value);

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(prefersDark.matches);
prefersDark.addEventListener("change", () => {
  systemDark.value = prefersDark.matches;
});

export const dark = computed(() =>
  field("theme") === "auto" ? systemDark.value : field("theme") === "dark",
);

function steps(): number {
  const state: unknown = window.history.state;
  if (typeof state !== "object" || state === null || !("steps" in state)) return 0;
  return typeof state.steps === "number" ? state.steps : 0;
}

/** Small changes come as fast as keys repeat, and a browser takes long over an address: it follows when they pause. */
const PAUSE_MS = 100;
let due: number | null = null;

/** The address says where the page is. Called before anything that leaves or reads it. */
export function settleAddress(): void {
  if (due === null) return;
  forget();
  window.history.replaceState({ steps: steps() }, "", `#${formatHash(page.value)}`);
}

function forget(): void {
  if (due !== null) window.clearTimeout(due);
  due = null;
}

/** A step that Back undoes. */
export function go(change: Partial<PageState>): void {
  const next = { ...page.value, ...change };
  if (formatHash(next) === formatHash(page.value)) return;
  settleAddress();
  window.history.pushState({ steps: steps() + 1 }, "", `#${formatHash(next)}`);
  page.value = next;
}

/** A small change that Back does not stop at: a cursor, a letter typed, a theme. */
export function adjust(change: Partial<PageState>): void {
  page.value = { ...page.value, ...change };
  forget();
  due = window.setTimeout(settleAddress, PAUSE_MS);
}

/** Undoes the last step of this page; false when there is none. */
export function back(): boolean {
  if (steps() === 0) return false;
  settleAddress();
  window.history.back();
  return true;
}

function follow(): void {
  forget();
  const next = parseHash(window.location.hash);
  // Another input is another page: it is opened as from the file.
  if (next.input !== page.value.input) window.location.reload();
  else page.value = next;
}

/** Shows another input of the file, as it opens. */
export function openInput(input: number): void {
  settleAddress();
  const { theme, keys } = page.value;
  window.history.pushState(
    { steps: steps() + 1 },
    "",
    `#${formatHash({ ...START, theme, keys, input })}`,
  );
  window.location.reload();
}

/** Follows Back, Forward and edits of the address. */
export function followAddress(): void {
  window.addEventListener("popstate", follow);
  window.addEventListener("hashchange", follow);
  window.addEventListener("pagehide", settleAddress);
}
