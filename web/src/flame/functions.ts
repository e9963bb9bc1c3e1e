// Sums the tree by function: own weight, and total weight that counts recursion once.

import type { FlameData } from "../data/flame";
import type { Tree } from "./tree";

export interface FunctionSums {
  readonly own: Float64Array;
  readonly total: Float64Array;
}

/** Sums per label. `own` is the own weight of each node. */
export function sumByFunction(
  tree: Tree,
  label: Uint32Array,
  labels: number,
  value: Float64Array,
  own: Float64Array,
): FunctionSums {
  const sums = { own: new Float64Array(labels), total: new Float64Array(labels) };
  // End of the outermost open subtree of each label: nodes before it are recursion.
  const openUntil = new Uint32Array(labels);
  for (let i = 0; i < label.length; i++) {
    const name = label[i];
    sums.own[name] += own[i];
    if (i >= openUntil[name]) {
      sums.total[name] += value[i];
      openUntil[name] = tree.end[i];
    }
  }
  return sums;
}

/**
 * Own weight per stage of the nodes from..to, which are one or more subtrees; every sample is in exactly one.
 *
 * The own weight of a node is known where the next begins that is not below it. What has no weight is passed over.
 */
export function sumByStage(
  { level, stage, stages }: FlameData,
  tree: Tree,
  value: Float64Array,
  from = 0,
  to = level.length,
): Float64Array {
  const sums = new Float64Array(stages.length);
  /** What is left of each node of the path to the node before, and its stage. */
  const left = new Float64Array(tree.depth);
  const stageOf = new Uint8Array(tree.depth);
  const top = level[from];
  let depth = top;
  for (let i = from; i < to; ) {
    const weight = value[i];
    if (weight === 0) {
      i = tree.end[i];
      continue;
    }
    const at = level[i];
    while (depth > at) {
      depth--;
      sums[stageOf[depth]] += left[depth];
    }
    if (at > top) left[at - 1] -= weight;
    left[at] = weight;
    stageOf[at] = stage[i];
    depth = at + 1;
    i++;
  }
  while (depth > top) {
    depth--;
    sums[stageOf[depth]] += left[depth];
  }
  return sums;
}
