// Lays the tree out: for each level its boxes from left to right, as sorted typed arrays.
//
// Invariants: in a level x0 and x1 never decrease and boxes do not overlap; a child lies within
// its parent; cum[k] is the weight of the first k boxes, so weight between two x is exact.

export interface Level {
  readonly count: number;
  readonly x0: Float64Array;
  readonly x1: Float64Array;
  readonly cum: Float64Array;
  /** Node of each box. */
  readonly node: Uint32Array;
}

export interface Layout {
  readonly levels: readonly Level[];
  /** Place of each node in its level. */
  readonly slot: Uint32Array;
  /** Full width, in the unit of the weights. */
  readonly width: number;
}

/**
 * Lays out nodes of `level` (preorder) with `weight`; siblings keep the order of the columns.
 *
 * All levels lie one after the other in four arrays and a level is a view of its part: a million nodes
 * are laid out without a look-up of an object for each.
 */
export function layOut(level: Uint32Array, weight: Float64Array): Layout {
  const nodes = level.length;
  let deepest = 0;
  for (let i = 0; i < nodes; i++) if (level[i] > deepest) deepest = level[i];
  /** Where each level begins, and one past the last; `next` is its next free place. */
  const begin = new Uint32Array(deepest + 2);
  for (let i = 0; i < nodes; i++) begin[level[i] + 1]++;
  for (let depth = 0; depth <= deepest; depth++) begin[depth + 1] += begin[depth];
  const next = begin.slice();
  const x0 = new Float64Array(nodes);
  const x1 = new Float64Array(nodes);
  const cum = new Float64Array(nodes + deepest + 1);
  const node = new Uint32Array(nodes);
  const slot = new Uint32Array(nodes);
  const cursor = new Float64Array(deepest + 2);
  for (let i = 0; i < nodes; i++) {
    const depth = level[i];
    const at = next[depth]++;
    const x = cursor[depth];
    const w = weight[i];
    slot[i] = at - begin[depth];
    node[at] = i;
    x0[at] = x;
    x1[at] = x + w;
    // A level has one sum more than boxes, so those of level n begin n places later.
    cum[at + depth + 1] = cum[at + depth] + w;
    cursor[depth] = x + w;
    cursor[depth + 1] = x;
  }
  const levels: Level[] = [];
  for (let depth = 0; depth <= deepest; depth++) {
    const [from, to] = [begin[depth], begin[depth + 1]];
    levels.push({
      count: to - from,
      x0: x0.subarray(from, to),
      x1: x1.subarray(from, to),
      cum: cum.subarray(from + depth, to + depth + 1),
      node: node.subarray(from, to),
    });
  }
  return { levels, slot, width: weight[0] };
}

/** First of `lo..hi` whose value is greater than `x`, in an array that never decreases. */
export function firstAbove(sorted: Float64Array, lo: number, hi: number, x: number): number {
  let low = lo;
  let high = hi;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] > x) high = middle;
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
