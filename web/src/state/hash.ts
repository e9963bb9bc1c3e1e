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
export type Colour = "stage" | "module";
const COLOURS: readonly Colour[] = ["stage", "module"];

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

function index(text: string | null): number {
  const value = Number(text ?? "0");
  return Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : 0;
}

function span(text: string | null): readonly [number, number] | null {
  const parts = (text ?? "").split("-").map(Number);
  if (parts.length !== 2) return null;
  const [a, b] = parts;
  return a >= 0 && b <= 1 && b - a > 1e-12 ? [a, b] : null;
}

function seconds(text: string | null): readonly [number, number] | null {
  const parts = (text ?? "").split("-").map(Number);
  if (parts.length !== 2) return null;
  const [a, b] = parts;
  return a >= 0 && b > a && b < 1e9 ? [a, b] : null;
}

function choice<T extends string>(text: string | null, all: readonly T[]): T {
  return all.find((one) => one === text) ?? all[0];
}

export function parseHash(hash: string): PageState {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    input: index(fields.get("input")),
    finding: index(fields.get("finding")),
    zoom: index(fields.get("zoom")),
    range: span(fields.get("range")),
    node: index(fields.get("node")),
    query: fields.get("find") ?? "",
    stage: fields.get("stage") ?? "",
    time: seconds(fields.get("time")),
    shape: choice<Drawn>(fields.get("shape"), SHAPES),
    of: fields.get("of") ?? "",
    focus: fields.get("focus") ?? "",
    without: fields.get("without") ?? "",
    hide: fields.get("hide") ?? "",
    collapse: fields.get("collapse") === "1",
    merge: fields.get("merge") === "1",
    split: choice<Grouped>(fields.get("split"), GROUPED),
    colour: choice<Colour>(fields.get("colour"), COLOURS),
    event: choice<FlameEvent>(fields.get("event"), FLAME_EVENTS),
    mode: choice<Mode>(fields.get("view"), ["flame", "table"]),
    icicle: fields.get("icicle") === "1",
    sort: choice<Sort>(fields.get("sort"), ["own", "total", "name"]),
    theme: choice<Theme>(fields.get("theme"), ["auto", "light", "dark"]),
    keys: fields.get("keys") !== "0",
  };
}

/** Fields that are texts, and those that are on or off, under their own names. */
const NAMED = [
  "shape",
  "of",
  "focus",
  "without",
  "hide",
  "split",
  "colour",
  "event",
  "sort",
  "theme",
] as const;
const SWITCHES = ["collapse", "merge", "icicle"] as const;

export function formatHash(state: PageState): string {
  const fields = new URLSearchParams();
  if (state.input > 0) fields.set("input", String(state.input));
  if (state.finding > 0) fields.set("finding", String(state.finding));
  if (state.zoom > 0) fields.set("zoom", String(state.zoom));
  // Fixed notation: an exponent would put a second "-" into the text.
  if (state.range) fields.set("range", state.range.map((x) => x.toFixed(15)).join("-"));
  if (state.node > 0) fields.set("node", String(state.node));
  if (state.query !== "") fields.set("find", state.query);
  if (state.stage !== "") fields.set("stage", state.stage);
  if (state.time) fields.set("time", state.time.map((t) => t.toFixed(3)).join("-"));
  for (const name of NAMED) {
    if (state[name] !== START[name]) fields.set(name, state[name]);
  }
  for (const name of SWITCHES) if (state[name]) fields.set(name, "1");
  if (state.mode !== START.mode) fields.set("view", state.mode);
  if (!state.keys) fields.set("keys", "0");
  return fields.toString();
}
