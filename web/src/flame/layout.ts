// Lays the tree out: for each level its boxes from left to right, as sorted typed arrays.
//
// Invariants: in a level x0 and x1 never decrease, nodes increase, and boxes do not overlap; a child lies
// within its parent; cum[k] is the weight of the first k boxes, so weight between two x is exact. Nodes without
// weight, such as those of samples that are not selected, have no box. Of an overview's bands, cum may be less than the
// width of what they stand for.

import type { Column } from "../data/bytes";
import type { Tree } from "./tree";

/** Places are whole numbers: where all of them fit 32 bits they take half of the memory, and half of the time. */
export type Places = Float64Array | Uint32Array;

export interface Level {
  readonly count: number;
  readonly x0: Places;
  readonly x1: Places;
  readonly cum: Places;
  /** Node of each box. */
  readonly node: Uint32Array;
}

export interface Layout {
  readonly levels: readonly Level[];
  /** How many there are of the tree, with and without a box. */
  readonly nodes: number;
  /** Full width, in the unit of the weights. */
  readonly width: number;
}

/** For `length` places, none of them beyond `width`. */
export function placesFor(width: number, length: number): Places {
  return width < 2 ** 32 ? new Uint32Array(length) : new Float64Array(length);
}

/** What the boxes of all levels are in: one level after the other, each from left to right. */
export class Boxes {
  readonly begin: Uint32Array;
  readonly x0: Places;
  readonly x1: Places;
  /** A level has one sum more than boxes, so those of level n begin n places later. */
  readonly cum: Places;
  readonly node: Uint32Array;
  /** `counts` has the boxes of each level, and none ends beyond `width`. */
  constructor(counts: ArrayLike<number>, width: number) {
    const depth = counts.length;
    this.begin = new Uint32Array(depth + 1);
    for (let at = 0; at < depth; at++) this.begin[at + 1] = this.begin[at] + counts[at];
    const all = this.begin[depth];
    this.x0 = placesFor(width, all);
    this.x1 = placesFor(width, all);
    this.cum = placesFor(width, all + depth);
    this.node = new Uint32Array(all);
  }

  /** Each level is a view of its part. */
  levels(): Level[] {
    const levels: Level[] = [];
    for (let at = 0; at + 1 < this.begin.length; at++) {
      const [from, to] = [this.begin[at], this.begin[at + 1]];
      levels.push({
        count: to - from,
        x0: this.x0.subarray(from, to),
        x1: this.x1.subarray(from, to),
        cum: this.cum.subarray(from + at, to + at + 1),
        node: this.node.subarray(from, to),
      });
    }
    return levels;
  }
}

/** How many boxes each level has. */
function countsOf(level: Column, tree: Tree, weight: Float64Array): Uint32Array {
  const counts = new Uint32Array(tree.depth);
  for (let i = 0; i < level.length; ) {
    if (weight[i] === 0) {
      i = tree.end[i];
      continue;
    }
    counts[level[i]]++;
    i++;
  }
  return counts;
}

/**
 * Lays out nodes of `level` (preorder) with `weight`; siblings keep the order of the columns.
 *
 * All levels lie one after the other in four arrays and a level is a view of its part: a million nodes
 * are laid out without a look-up of an object for each.
 */
export function layOut(level: Column, tree: Tree, weight: Float64Array): Layout {
  const boxes = new Boxes(countsOf(level, tree, weight), weight[0]);
  const { x0, x1, cum, node } = boxes;
  const next = boxes.begin.slice();
  const cursor = new Float64Array(tree.depth + 1);
  for (let i = 0; i < level.length; ) {
    const w = weight[i];
    if (w === 0) {
      i = tree.end[i];
      continue;
    }
    const depth = level[i];
    const at = next[depth]++;
    const x = cursor[depth];
    node[at] = i++;
    x0[at] = x;
    x1[at] = x + w;
    cum[at + depth + 1] = cum[at + depth] + w;
    cursor[depth] = x + w;
    cursor[depth + 1] = x;
  }
  return { levels: boxes.levels(), nodes: level.length, width: weight[0] };
}

/** First of `lo..hi` whose value is greater than `x`, in an array that never decreases. */
export function firstAbove(sorted: Places, lo: number, hi: number, x: number): number {
  let low = lo;
  let high = hi;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** First of `from..` that is at least `value`, in an array that never decreases, looking near `from` first. */
export function gallopTo(sorted: Uint32Array, from: number, value: number): number {
  let step = 1;
  let high = from;
  while (high < sorted.length && sorted[high] < value) {
    high = from + step;
    step *= 2;
  }
  let low = from;
  high = Math.min(high, sorted.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** How many levels have a box between x0 and x1: the height of what is in view. */
export function levelsWithin(layout: Layout, x0: number, x1: number): number {
  let depth = 0;
  for (const row of layout.levels) {
    const k = firstAbove(row.x1, 0, row.count, x0);
    if (k >= row.count || row.x0[k] >= x1) break;
    depth++;
  }
  return depth;
}

/** The node at x in a level, or −1 where the level has none. */
export function nodeAt(layout: Layout, depth: number, x: number): number {
  const row = layout.levels[depth];
  if (!row) return -1;
  const k = firstAbove(row.x1, 0, row.count, x);
  return k < row.count && row.x0[k] <= x ? row.node[k] : -1;
}
