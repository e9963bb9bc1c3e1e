// A part of the samples, by time, thread or CPU, as weights over the same tree.
//
// The tree stays as it is, so that nodes keep their numbers: what was zoomed to or found stays so.

import type { FlameData } from "../data/flame";
import type { SampleData } from "../data/samples";
import type { Tree } from "./tree";

export interface Selection {
  /** Seconds, from inclusive to exclusive; null for all. */
  readonly time: readonly [number, number] | null;
  /** Name of a thread without its number; "" for all. */
  readonly thread: string;
}

/** Name of a thread without its trailing number: `z_rd_int_3` is `z_rd_int`, as the tree has it. */
export function baseName(name: string): string {
  return name.replace(/[-_./:]?\d+$/, "") || name;
}

/** First row at or after `t`, in times that never decrease. */
export function rowAt(time: Float64Array, t: number): number {
  let [low, high] = [0, time.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The rows that a time selects: from, to. */
export function rowsWithin(samples: SampleData, time: Selection["time"]): [number, number] {
  if (!time) return [0, samples.rows];
  return [rowAt(samples.time, time[0]), rowAt(samples.time, time[1])];
}

/** Weight of each node with all below it, of the samples from one row to another. */
export function weigh(tree: Tree, samples: SampleData, from: number, to: number): Float64Array {
  const value = new Float64Array(tree.parent.length);
  for (let i = from; i < to; i++) value[samples.node[i]] += samples.amount[i];
  for (let i = value.length - 1; i > 0; i--) value[tree.parent[i]] += value[i];
  return value;
}

/** The same graph with only the selected samples. */
export function selected(
  data: FlameData,
  tree: Tree,
  samples: SampleData,
  time: Selection["time"],
): FlameData {
  const [from, to] = rowsWithin(samples, time);
  const value = weigh(tree, samples, from, to);
  return { ...data, value, total: value[0], second: null };
}
