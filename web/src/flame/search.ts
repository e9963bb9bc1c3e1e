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

/** Lights nodes for the rasteriser. Sums of a level are made when it is drawn: most are not in view. */
export function light(layout: Layout, lamps: Lamps): Lit {
  const known: (Float64Array | undefined)[] = [];
  const cum = (depth: number) => {
    known[depth] ??= litSums(layout.levels[depth], lamps);
    return known[depth];
  };
  return { ...lamps, cum };
}

/** The weight of lit boxes among the first k of a level, for each k. */
function litSums({ count, node, cum }: Level, { lit, of }: Lamps): Float64Array {
  const sums = new Float64Array(count + 1);
  let sum = 0;
  for (let k = 0; k < count; k++) {
    if (lit[of[node[k]]] === 1) sum += cum[k + 1] - cum[k];
    sums[k + 1] = sum;
  }
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
