// Colours of the flame graph: that of each stage as the file gives it, greys for what is not explained, a
// scale for diffs.
//
// A stage has the same colour in all reports, pictures and terminals (crates/flame/src/palette.rs). It has
// three shades here, so that neighbours of one stage can be told apart; text in #111 has a contrast of at
// least 5.7 on every one of them. The empty name marks frames that only carry others, such as the root.

import type { FlameData } from "../data/flame";
import { once } from "./once";
import { mix, type Pixel } from "./raster";

export const SHADES = 3;
const STRIPED: readonly string[] = ["unknown"];

/** For files that give none. */
const QUIET: ReadonlyMap<string, string> = new Map([
  ["unknown", "#b4b7bd"],
  ["idle", "#c9ccd1"],
  ["not zfs", "#d3cfc8"],
  ["", "#dadada"],
]);
const OTHER = "#d9c3ae";
/** For modules in order of their weight: neighbours in the list differ in hue and in lightness. */
const MODULES: readonly string[] = [
  "#8ecae6",
  "#f4a261",
  "#b7e4c7",
  "#e59aa8",
  "#cdb4db",
  "#ffd166",
  "#90be6d",
  "#a0b4ff",
  "#ffcbb8",
  "#c9a27c",
  "#7fd1c0",
  "#e0aaff",
];
/** Entries are 16 bits. */
const MOST_MODULES = Math.floor(65_536 / SHADES);
const DIFF_LESS = "#4f9fe0";
const DIFF_MORE = "#ee8a3a";
const DIFF_SAME = "#dcdcdc";
export const DIFF_STEPS = 5;

export const TEXT = "#111111";
/** Text on dimmed boxes. */
export const FAINT_TEXT = { light: "#5c636b", dark: "#b3bac2" } as const;
export const BACKGROUND = { light: "#ffffff", dark: "#15181c" } as const;

export function pixelOf(hex: string): Pixel {
  const n = Number.parseInt(hex.slice(1), 16);
  return (0xff000000 | ((n & 255) << 16) | (n & 0xff00) | (n >>> 16)) >>> 0;
}

export function cssOf(pixel: Pixel): string {
  const hex = ((pixel & 255) << 16) | (pixel & 0xff00) | ((pixel >>> 16) & 255);
  return `#${hex.toString(16).padStart(6, "0")}`;
}

export interface Palette {
  readonly background: Pixel;
  readonly colour: Uint32Array;
  readonly dimmed: Uint32Array;
  readonly striped: Uint8Array;
}

/** The entry of a node in its palette. */
export type Entries = (node: number) => number;

function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

/** A base colour per stage. */
export function stageColours(stages: readonly string[], given: readonly string[]): string[] {
  return stages.map((name, i) => given[i] || (QUIET.get(name) ?? OTHER));
}

function palette(base: readonly Pixel[], striped: Uint8Array, dark: boolean): Palette {
  const background = pixelOf(dark ? BACKGROUND.dark : BACKGROUND.light);
  return {
    background,
    colour: Uint32Array.from(base),
    dimmed: Uint32Array.from(base, (colour) => mix(background, colour, dark ? 0.22 : 0.28)),
    striped,
  };
}

/** Entry `stage * SHADES + shade`; the same for modules. */
export function stagePalette(
  names: readonly string[],
  colours: readonly string[],
  dark: boolean,
): Palette {
  const white = 0xffffffff;
  const base = colours.flatMap((colour) =>
    [0, 0.12, 0.24].map((lighter) => mix(pixelOf(colour), white, lighter)),
  );
  const striped = Uint8Array.from(base, (_, i) =>
    STRIPED.includes(names[Math.floor(i / SHADES)]) ? 1 : 0,
  );
  return palette(base, striped, dark);
}

/** The shade of each function, told apart by its name. Few functions are seen: names are read when they are. */
function shades({ labels }: FlameData): (label: number) => number {
  /** One more than the shade; 0 where the name was not read yet. */
  const known = new Uint8Array(labels.length);
  return (label) => {
    if (known[label] === 0) known[label] = 1 + (hash(labels[label]) % SHADES);
    return known[label] - 1;
  };
}

/** The entries of all nodes, by the stages that they are of; null until they are listed. */
const listed = once((_: Uint8Array): { entry: Uint16Array | null } => ({ entry: null }));

/** Palette entry of a node by stage, shaded by function. */
export function stageEntries(data: FlameData): Entries {
  const shade = shades(data);
  const { stage, label } = data;
  const list = listed(stage);
  return (node) => list.entry?.[node] ?? stage[node] * SHADES + shade(label[node]);
}

/** Lists the entries of all nodes: of a large graph that are fewer places to look at for each box. */
export function listEntries(data: FlameData): void {
  const of = stageEntries(data);
  const entry = new Uint16Array(data.nodes);
  for (let node = 0; node < entry.length; node++) entry[node] = of(node);
  listed(data.stage).entry = entry;
}

/** Palette entry of a node by the group of its function's module, shaded by function. */
export function groupEntries(data: FlameData, group: ArrayLike<number>): Entries {
  const shade = shades(data);
  const { moduleOf, label } = data;
  return (node) =>
    Math.min(group[moduleOf[label[node]]], MOST_MODULES - 1) * SHADES + shade(label[node]);
}

/** A colour per module: those with the most weight get colours of their own, threads and what is unknown are quiet. */
export function moduleColours(modules: readonly string[], weight: Float64Array): string[] {
  const colours = modules.map((name) => QUIET.get(name === "thread" ? "" : name) ?? OTHER);
  modules
    .map((name, module) => ({ name, module }))
    .filter(({ name, module }) => name !== "thread" && !QUIET.has(name) && weight[module] > 0)
    .sort((a, b) => weight[b.module] - weight[a.module])
    .slice(0, MODULES.length)
    .forEach(({ module }, place) => {
      colours[module] = MODULES[place];
    });
  return colours.slice(0, MOST_MODULES);
}

/** From much less (blue) over no change (grey) to much more (orange). */
export function diffPalette(dark: boolean): Palette {
  const base: Pixel[] = [];
  for (let step = -DIFF_STEPS; step <= DIFF_STEPS; step++) {
    const end = pixelOf(step < 0 ? DIFF_LESS : DIFF_MORE);
    base.push(mix(pixelOf(DIFF_SAME), end, Math.abs(step) / DIFF_STEPS));
  }
  return palette(base, new Uint8Array(base.length), dark);
}

/** Palette entry of a node by how its share changed, relative to the mean of both. */
export function diffEntries(shareA: Float64Array, shareB: Float64Array): Entries {
  return (node) => {
    const sum = shareA[node] + shareB[node];
    const change = sum > 0 ? (shareB[node] - shareA[node]) / sum : 0;
    return Math.round(change * DIFF_STEPS) + DIFF_STEPS;
  };
}
