// The state of the page as text in the URL hash, so that Back undoes and a link shows the same.
//
// Anything may stand in a hash: reading it never fails and yields a state within bounds; indices
// are checked against the data where they are used.

import type { Split } from "../flame/regroup";
import type { Shape } from "../flame/reshape";

/** Stacks in one tree; callers above and callees below one function; or in order of time. */
export type Drawn = Shape | "sandwich" | "time";
const SHAPES: readonly Drawn[] = ["stacks", "callers", "callees", "sandwich", "time"];
/** What stands above the stacks: kinds of threads, as in the file, processes or CPUs. */
export type Grouped = "thread" | Split;
const GROUPED: readonly Grouped[] = ["thread", "process", "cpu"];
/** What the colours of boxes mean. */
export type Colour = "stage" | "origin" | "module";
export const COLOURS: readonly Colour[] = ["stage", "origin", "module"];

export type Mode = "flame" | "table";
export type Theme = "auto" | "light" | "dark";
/** What the samples are of: time on a CPU, time waiting, or counted calls. */
export type FlameEvent = "cpu" | "wait" | "count";
export const FLAME_EVENTS: readonly FlameEvent[] = ["cpu", "wait", "count"];
export type Sort = "own" | "total" | "name";

export interface PageState {
  /** Which input of the file, where it holds several. */
  readonly input: number;
  readonly finding: number;
  /** Node that fills the width. */
  readonly zoom: number;
  /** A free range of the width as fractions, after + − and pan; null for the whole of `zoom`. */
  readonly range: readonly [number, number] | null;
  /** Node under the keyboard. */
  readonly node: number;
  readonly query: string;
  readonly stage: string;
  /** Selected part of the recording in seconds; null for all of it. */
  readonly time: readonly [number, number] | null;
  /** Stacks as they are, by caller, in order of time, or of one function (`of`) its callers, callees or both. */
  readonly shape: Drawn;
  readonly of: string;
  /** Regular expressions: only stacks with, without stacks with, frames to leave out. */
  readonly focus: string;
  readonly without: string;
  readonly hide: string;
  readonly collapse: boolean;
  readonly merge: boolean;
  readonly split: Grouped;
  readonly colour: Colour;
  readonly event: FlameEvent;
  readonly mode: Mode;
  readonly icicle: boolean;
  readonly sort: Sort;
  readonly theme: Theme;
  /** Whether single keys are shortcuts. */
  readonly keys: boolean;
}

export const START: PageState = {
  input: 0,
  finding: 0,
  zoom: 0,
  range: null,
  node: 0,
  query: "",
  stage: "",
  time: null,
  shape: "stacks",
  of: "",
  focus: "",
  without: "",
  hide: "",
  collapse: false,
  merge: false,
  split: "thread",
  colour: "stage",
  event: "cpu",
  mode: "flame",
  icicle: false,
  sort: "own",
  theme: "auto",
  keys: true,
};

function index(text: string): number {
  const value = Number(text);
  return Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : 0;
}

/** Two numbers `most` apart from 0 at most, the second at least `least` above the first. */
function span(text: string, most: number, least: number): readonly [number, number] | null {
  const [a, b, ...more] = text.split("-").map(Number);
  return more.length === 0 && a >= 0 && b <= most && b - a > least ? [a, b] : null;
}

function choice<T extends string>(text: string, all: readonly T[]): T {
  return all.find((one) => one === text) ?? all[0];
}

/** What a field is called in the address where that is not its own name. */
const NAMES: Readonly<Record<string, string>> = { query: "find", mode: "view" };
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  shape: SHAPES,
  split: GROUPED,
  colour: COLOURS,
  event: FLAME_EVENTS,
  mode: ["flame", "table"],
  sort: ["own", "total", "name"],
  theme: ["auto", "light", "dark"],
};

/** The value of a field as its text in the address says, of the same kind as at the start. */
function read(key: string, start: unknown, text: string): unknown {
  if (key === "range") return span(text, 1, 1e-12);
  if (key === "time") return span(text, 1e9, 0);
  if (typeof start === "number") return index(text);
  if (typeof start === "boolean") return start ? text !== "0" : text === "1";
  return CHOICES[key] ? choice(text, CHOICES[key]) : text;
}

/** Fixed notation: an exponent would put a second "-" into the text. */
function written(key: string, value: unknown): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (!Array.isArray(value)) return `${value}`;
  return value.map((part) => Number(part).toFixed(key === "time" ? 3 : 15)).join("-");
}

export function parseHash(hash: string): PageState {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const all = Object.entries(START).map(([key, start]) => {
    const text = fields.get(NAMES[key] ?? key);
    return [key, text === null ? start : read(key, start, text)];
  });
  // Every field of START, each of the kind that it has there.
  return Object.fromEntries(all) as PageState;
}

export function formatHash(state: PageState): string {
  const fields = new URLSearchParams();
  const start: Readonly<Record<string, unknown>> = { ...START };
  for (const [key, value] of Object.entries(state)) {
    if (value !== start[key]) fields.set(NAMES[key] ?? key, written(key, value));
  }
  return fields.toString();
}
