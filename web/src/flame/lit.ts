// Which boxes are lit while others are dimmed, because a search found them or their stage was chosen.
//
// Few boxes are, as a rule: what is kept of a level are its lit boxes alone, from left to right, with running
// sums of their weight. A search over a million boxes then costs a look at each box and no more.

import type { Column } from "../data/bytes";
import type { FlameData } from "../data/flame";
import type { Layout } from "./layout";
import { once } from "./once";

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

/** Place of each node in its level; of one without a box, that of another. Only those who search need it. */
const slotsOf = once(({ levels, nodes }: Layout): Uint32Array => {
  const slots = new Uint32Array(nodes);
  for (const { node, count } of levels) for (let k = 0; k < count; k++) slots[node[k]] = k;
  return slots;
});

/** What the rasteriser needs of `nodes`, which are those that the lamps light, in preorder. */
export function light(layout: Layout, level: Column, lamps: Lamps, nodes: Uint32Array): Lit {
  const slots = slotsOf(layout);
  const { levels } = layout;
  /** Where each level begins among all lit boxes, and one past the last. */
  const begin = new Uint32Array(levels.length + 1);
  for (let j = 0; j < nodes.length; j++) begin[level[nodes[j]] + 1]++;
  for (let depth = 0; depth < levels.length; depth++) begin[depth + 1] += begin[depth];
  const next = begin.slice();
  const slot = new Uint32Array(nodes.length);
  const cum = new Float64Array(nodes.length + levels.length);
  for (let j = 0; j < nodes.length; j++) {
    const node = nodes[j];
    const depth = level[node];
    const boxes = levels[depth];
    const k = slots[node];
    if (boxes.node[k] !== node) continue;
    const at = next[depth]++;
    slot[at] = k;
    // A level has one sum more than lit boxes, so those of level n begin n places later.
    cum[at + depth + 1] = cum[at + depth] + (boxes.x1[k] - boxes.x0[k]);
  }
  return {
    ...lamps,
    levels: levels.map((_, depth) => ({
      slot: slot.subarray(begin[depth], next[depth]),
      cum: cum.subarray(begin[depth] + depth, next[depth] + depth + 1),
    })),
  };
}
