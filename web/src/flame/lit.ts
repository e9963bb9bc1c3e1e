// Which boxes are lit while others are dimmed, because a search found them or their stage was chosen.
//
// Few boxes are, as a rule: what is kept of a level are its lit boxes alone, from left to right, with running
// sums of their weight. A search over a million boxes then costs a look at each box and no more.

import type { Column } from "../data/bytes";
import type { FlameData } from "../data/flame";
import { gallopTo, type Layout, type Level } from "./layout";

/** Which nodes to light, by what they have in common: node i where `lit[of[i]]` is 1. */
export interface Lamps {
  readonly lit: Uint8Array;
  readonly of: Column;
}

/** The lit boxes of a level, from left to right. */
export interface LitLevel {
  /** Places in the level. */
  readonly slot: Uint32Array;
  /** Weight of the first j of them, for each j. */
  readonly cum: Float64Array;
}

export interface Lit extends Lamps {
  readonly levels: readonly LitLevel[];
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

/** Room for the nodes of a column, kept: fresh memory costs more than the search. */
const roomOf = new WeakMap<Lamps["of"], Uint32Array>();

/** The lit nodes, in preorder. */
export function litNodes({ lit, of }: Lamps): Uint32Array {
  let room = roomOf.get(of);
  if (!room) {
    room = new Uint32Array(of.length);
    roomOf.set(of, room);
  }
  let count = 0;
  // Written always and kept where it is lit: a branch that nobody can foresee costs more.
  for (let i = 0; i < of.length; i++) {
    room[count] = i;
    count += lit[of[i]];
  }
  return room.slice(0, count);
}

/** What the rasteriser needs of `nodes`, which are those that the lamps light, in preorder. */
export function light(layout: Layout, level: Column, lamps: Lamps, nodes: Uint32Array): Lit {
  const depths = layout.levels.length;
  /** Where each level begins among all lit boxes, and one past the last. */
  const begin = new Uint32Array(depths + 1);
  for (let j = 0; j < nodes.length; j++) begin[level[nodes[j]] + 1]++;
  for (let depth = 0; depth < depths; depth++) begin[depth + 1] += begin[depth];
  const next = begin.slice();
  const sorted = new Uint32Array(nodes.length);
  for (let j = 0; j < nodes.length; j++) sorted[next[level[nodes[j]]]++] = nodes[j];
  const levels = layout.levels.map((boxes, depth) =>
    litLevel(boxes, sorted.subarray(begin[depth], begin[depth + 1])),
  );
  return { ...lamps, levels };
}

/** The boxes of `nodes`, which are in order; those without weight have none. */
function litLevel(boxes: Level, nodes: Uint32Array): LitLevel {
  const slot = new Uint32Array(nodes.length);
  const cum = new Float64Array(nodes.length + 1);
  let count = 0;
  let at = 0;
  for (let j = 0; j < nodes.length; j++) {
    at = gallopTo(boxes.node, at, nodes[j]);
    if (boxes.node[at] !== nodes[j]) continue;
    slot[count] = at;
    cum[count + 1] = cum[count] + (boxes.cum[at + 1] - boxes.cum[at]);
    count++;
  }
  return { slot: slot.subarray(0, count), cum: cum.subarray(0, count + 1) };
}
