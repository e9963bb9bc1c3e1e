// Which boxes are lit while others are dimmed, because a search found them or their stage was chosen.
//
// Few boxes are, as a rule: what is kept of a level are its lit boxes alone, as a level of their own, and nodes are
// listed by label once, so that a search over a million boxes looks at those that it finds.

import type { Column } from "../data/bytes";
import type { FlameData } from "../data/flame";
import { type Layout, type Level, type Places, placesFor } from "./layout";
import { once } from "./once";

/** Which nodes to light, by what they have in common: node i where `lit[of[i]]` is 1. */
export interface Lamps {
  readonly lit: Uint8Array;
  readonly of: Column;
}

export interface Lit extends Lamps {
  /** The lit boxes of a level, made when it is first drawn: most of a deep graph is out of view. */
  readonly level: (depth: number) => Level;
}

/** Whether a node is lit; all are where nothing is sought. */
export function isLit(lamps: Lamps | null, node: number): boolean {
  return lamps === null || lamps.lit[lamps.of[node]] === 1;
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

/** Of so few kinds each has so many nodes that looking at all of them is as quick as an index. */
const FEW_KINDS = 256;

/** Nodes by what a column has of them, in preorder: those of kind n are node[begin[n]..begin[n + 1]]. */
interface Kinds {
  readonly begin: Uint32Array;
  readonly node: Uint32Array;
  /** A bit for each node; all are 0 between searches. */
  readonly marks: Int32Array;
}

/** Made for the first search; pages make it when they have nothing else to do. */
export const kindsOf = once((of: Column): Kinds => {
  let most = 0;
  for (let i = 0; i < of.length; i++) if (of[i] > most) most = of[i];
  const begin = new Uint32Array(most + 2);
  for (let i = 0; i < of.length; i++) begin[of[i] + 1]++;
  for (let kind = 0; kind <= most; kind++) begin[kind + 1] += begin[kind];
  const next = begin.slice();
  const node = new Uint32Array(of.length);
  for (let i = 0; i < of.length; i++) node[next[of[i]]++] = i;
  return { begin, node, marks: new Int32Array((of.length + 31) >>> 5) };
});

/** The lit nodes, in preorder. */
export function litNodes({ lit, of }: Lamps): Uint32Array {
  return lit.length < FEW_KINDS ? passedOver(lit, of) : gathered(lit, kindsOf(of));
}

function passedOver(lit: Uint8Array, of: Column): Uint32Array {
  const found = new Uint32Array(of.length);
  let count = 0;
  // Written always and kept where it is lit: a branch that nobody can foresee costs more.
  for (let i = 0; i < of.length; i++) {
    found[count] = i;
    count += lit[of[i]];
  }
  return found.slice(0, count);
}

/** Marks the nodes of each lit kind, and reads the marks in order. */
function gathered(lit: Uint8Array, { begin, node, marks }: Kinds): Uint32Array {
  let count = 0;
  const kinds = Math.min(lit.length, begin.length - 1);
  for (let kind = 0; kind < kinds; kind++) {
    if (lit[kind] === 0) continue;
    count += begin[kind + 1] - begin[kind];
    for (let k = begin[kind]; k < begin[kind + 1]; k++) marks[node[k] >>> 5] |= 1 << (node[k] & 31);
  }
  const found = new Uint32Array(count);
  let at = 0;
  for (let word = 0; at < count; word++) {
    let bits = marks[word];
    if (bits === 0) continue;
    marks[word] = 0;
    for (; bits !== 0; bits &= bits - 1) found[at++] = word * 32 + 31 - Math.clz32(bits & -bits);
  }
  return found;
}

/** Where the box of each node begins; only those who search need it. */
export const startsOf = once(({ levels, nodes, width }: Layout): Places => {
  const starts = placesFor(width, nodes);
  for (const { node, x0, count } of levels) for (let k = 0; k < count; k++) starts[node[k]] = x0[k];
  return starts;
});

/** What of a graph is needed to light a part of it. */
export interface Lightable {
  readonly data: { readonly level: Column };
  readonly layout: Layout;
  readonly weight: Float64Array;
}

/** The boxes of `nodes`, which are those that the lamps light, in preorder. */
export function light({ data, layout, weight }: Lightable, lamps: Lamps, nodes: Uint32Array): Lit {
  const { level } = data;
  const depth = layout.levels.length;
  /** Where each level begins among all lit nodes, and one past the last. */
  const begin = new Uint32Array(depth + 1);
  for (let j = 0; j < nodes.length; j++) begin[level[nodes[j]] + 1]++;
  for (let at = 0; at < depth; at++) begin[at + 1] += begin[at];
  const next = begin.slice();
  const lit = new Uint32Array(nodes.length);
  for (let j = 0; j < nodes.length; j++) {
    const node = nodes[j];
    if (weight[node] > 0) lit[next[level[node]]++] = node;
  }
  const made: Level[] = [];
  const make = (at: number) =>
    boxesOf(lit.subarray(begin[at], next[at]), startsOf(layout), weight, layout.width);
  return {
    ...lamps,
    level: (at) => {
      made[at] ??= make(at);
      return made[at];
    },
  };
}

function boxesOf(node: Uint32Array, starts: Places, weight: Float64Array, width: number): Level {
  const count = node.length;
  const x0 = placesFor(width, count);
  const x1 = placesFor(width, count);
  const cum = placesFor(width, count + 1);
  for (let k = 0; k < count; k++) {
    const w = weight[node[k]];
    x0[k] = starts[node[k]];
    x1[k] = x0[k] + w;
    cum[k + 1] = cum[k] + w;
  }
  return { count, x0, x1, cum, node };
}
