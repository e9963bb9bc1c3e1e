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

/** Lays out nodes of `level` (preorder) with `weight`; siblings keep the order of the columns. */
export function layOut(level: Uint32Array, weight: Float64Array): Layout {
  const nodes = level.length;
  let deepest = 0;
  for (let i = 0; i < nodes; i++) if (level[i] > deepest) deepest = level[i];
  const counts = new Uint32Array(deepest + 1);
  for (let i = 0; i < nodes; i++) counts[level[i]]++;
  const levels = Array.from(counts, (count) => ({
    count,
    x0: new Float64Array(count),
    x1: new Float64Array(count),
    cum: new Float64Array(count + 1),
    node: new Uint32Array(count),
  }));
  const filled = new Uint32Array(deepest + 1);
  const cursor = new Float64Array(deepest + 2);
  const slot = new Uint32Array(nodes);
  for (let i = 0; i < nodes; i++) {
    const depth = level[i];
    const row = levels[depth];
    const k = filled[depth]++;
    const x = cursor[depth];
    slot[i] = k;
    row.node[k] = i;
    row.x0[k] = x;
    row.x1[k] = x + weight[i];
    row.cum[k + 1] = row.cum[k] + weight[i];
    cursor[depth] = row.x1[k];
    cursor[depth + 1] = x;
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
