// Searches function names by regular expression and measures what was found, exactly.
//
// A sample counts once, however often a matching function recurs in its stack: once a node
// matches, its whole subtree is counted and skipped.

import type { FlameData } from "../data/flame";
import type { Layout, Level } from "./layout";
import { ownName } from "./names";
import type { Lamps, Lit } from "./raster";
import type { Tree } from "./tree";

export type Query =
  | { readonly kind: "none" }
  | { readonly kind: "bad"; readonly message: string }
  | { readonly kind: "regex"; readonly regex: RegExp };

export function parseQuery(text: string): Query {
  if (text === "") return { kind: "none" };
  try {
    return { kind: "regex", regex: new RegExp(text, "i") };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "bad", message: message.replace(/^Invalid regular expression: /, "") };
  }
}

/** 1 for each of the functions' own names that matches. */
export function matchLabels(names: readonly string[], regex: RegExp): Uint8Array {
  return Uint8Array.from(names, (name) => (regex.test(name) ? 1 : 0));
}

/** Nodes that match and have no matching ancestor, in preorder. */
export function topMatches(tree: Tree, label: Uint32Array, matches: Uint8Array): number[] {
  const found: number[] = [];
  for (let i = 0; i < label.length; ) {
    if (matches[label[i]] === 1) {
      found.push(i);
      i = tree.end[i];
    } else {
      i++;
    }
  }
  return found;
}

/** Weight within `tops`, whose subtrees do not overlap. */
export function weightOf(tops: readonly number[], value: Float64Array): number {
  let sum = 0;
  for (const node of tops) sum += value[node];
  return sum;
}

/**
 * Which nodes to light: those whose label is in `found`, else those of `stage`; null for all.
 * The stage "" is that of frames that only carry others, and means here that none was chosen.
 */
export function lampsOf(data: FlameData, found: Uint8Array | null, stage: string): Lamps | null {
  if (found) return { lit: found, of: data.label };
  const index = stage === "" ? -1 : data.stages.indexOf(stage);
  if (index < 0) return null;
  return { lit: Uint8Array.from(data.stages, (_, i) => Number(i === index)), of: data.stage };
}

/** What is kept of a level between searches, so that the next one neither allocates nor looks boxes up again. */
interface Kept {
  /** What the sums are of. */
  lamps: Lamps | null;
  readonly sums: Float64Array;
  /** The column `of` of the lamps, in the order of the boxes. */
  of: Lamps["of"];
  readonly placed: Uint32Array;
}

const keptOf = new WeakMap<Level, Kept>();

function kept(level: Level): Kept {
  const known = keptOf.get(level);
  if (known) return known;
  const { count } = level;
  const sums = new Float64Array(count + 1);
  const fresh = { lamps: null, sums, of: NOTHING, placed: new Uint32Array(count) };
  keptOf.set(level, fresh);
  return fresh;
}

const NOTHING = new Uint32Array(0);

/** Lights nodes for the rasteriser. Sums of a level are made when it is drawn: most are not in view. */
export function light(layout: Layout, lamps: Lamps): Lit {
  return { ...lamps, cum: (depth) => litSums(layout.levels[depth], lamps) };
}

/** The weight of lit boxes among the first k of a level, for each k. Valid until other lamps are asked for. */
function litSums(level: Level, lamps: Lamps): Float64Array {
  const place = kept(level);
  if (place.lamps === lamps) return place.sums;
  const { count, node, cum } = level;
  const { sums, placed } = place;
  if (place.of !== lamps.of) {
    for (let k = 0; k < count; k++) placed[k] = lamps.of[node[k]];
    place.of = lamps.of;
  }
  const { lit } = lamps;
  let sum = 0;
  for (let k = 0; k < count; k++) {
    if (lit[placed[k]] === 1) sum += cum[k + 1] - cum[k];
    sums[k + 1] = sum;
  }
  place.lamps = lamps;
  return sums;
}

function oneOf(names: readonly string[]): string {
  const escaped = names.map((name) => ownName(name).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return escaped.length === 1 ? escaped[0] : `(${escaped.join("|")})`;
}

/** A query that finds exactly these function names. */
export function queryFor(names: readonly string[]): string {
  return names.length === 0 ? "" : `^${oneOf(names)}$`;
}

/** The same for names without compiler suffixes: `arc_read` finds `arc_read.isra.0` too. */
export function queryForBase(names: readonly string[]): string {
  return names.length === 0 ? "" : `^${oneOf(names)}(\\.\\w+)*$`;
}
