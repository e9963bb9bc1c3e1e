// The samples in the order in which they were taken: a box for each thread, the busiest first, and in it its stacks
// from left to right.
//
// Width is CPU time, not time of day: a thread that does not run takes none. Neighbours with the same frames are one
// box, so a box is as wide as what ran without a change in between.

import type { FlameData } from "../data/flame";
import type { SampleData } from "../data/samples";
import { pathsOf, type Reshape } from "./reshape";
import { rowsWithin, type Selection } from "./select";
import type { Tree } from "./tree";

/** More boxes take longer than a reader waits. */
export const MOST_BOXES = 1_500_000;

/** Rows by thread, the one with the most weight first; in each in order of time. All as one where asked. */
function inOrder(samples: SampleData, from: number, to: number, merge: boolean): Uint32Array {
  const rows = Uint32Array.from({ length: to - from }, (_, i) => from + i);
  if (merge) return rows;
  const sums = new Float64Array(Math.max(1, samples.threads.length));
  for (let i = from; i < to; i++) sums[samples.thread[i]] += samples.amount[i];
  const threads = Uint32Array.from(sums, (_, i) => i).sort((a, b) => sums[b] - sums[a] || a - b);
  const rank = new Uint32Array(sums.length);
  threads.forEach((thread, place) => {
    rank[thread] = place;
  });
  return rows.sort((a, b) => rank[samples.thread[a]] - rank[samples.thread[b]] || a - b);
}

class Columns {
  readonly level = [0];
  readonly label: number[];
  readonly stage: number[];
  readonly value = [0];
  /** The boxes of the stack before, from the root. */
  private readonly open = [0];
  constructor(private readonly data: FlameData) {
    this.label = [data.label[0]];
    this.stage = [data.stage[0]];
  }

  /** Adds a stack, leaf first; its first frames go on with those before unless it is the first of a thread. */
  add(path: readonly number[], amount: number, first: boolean): void {
    const { data, open, label } = this;
    let depth = 1;
    if (!first) {
      const goesOn = () =>
        depth <= path.length &&
        depth < open.length &&
        label[open[depth]] === data.label[path[path.length - depth]];
      while (goesOn()) depth++;
    }
    open.length = depth;
    for (let k = path.length - depth; k >= 0; k--) {
      open.push(label.length);
      this.level.push(open.length - 1);
      label.push(data.label[path[k]]);
      this.stage.push(data.stage[path[k]]);
      this.value.push(0);
    }
    for (const box of open) this.value[box] += amount;
  }
}

/** The graph of the selected samples by time; null where it would have more than `MOST_BOXES`. */
export function chart(
  data: FlameData,
  tree: Tree,
  samples: SampleData,
  time: Selection["time"],
  r: Reshape,
): FlameData | null {
  const pathOf = pathsOf(data, tree, { ...r, shape: "stacks", of: "", rooted: false });
  const known = new Map<number, number[] | null>();
  const columns = new Columns(data);
  let thread = -1;
  for (const row of inOrder(samples, ...rowsWithin(samples, time), r.merge)) {
    const node = samples.node[row];
    let path = known.get(node);
    if (path === undefined) {
      path = pathOf(node);
      known.set(node, path);
    }
    if (!path) continue;
    columns.add(path, samples.amount[row], !r.merge && samples.thread[row] !== thread);
    thread = samples.thread[row];
    if (columns.label.length > MOST_BOXES) return null;
  }
  const value = Float64Array.from(columns.value);
  return {
    ...data,
    nodes: value.length,
    level: Uint32Array.from(columns.level),
    label: Uint32Array.from(columns.label),
    stage: Uint8Array.from(columns.stage),
    value,
    total: value[0],
    second: null,
  };
}
