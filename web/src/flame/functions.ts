// Sums the tree by function: own weight, and total weight that counts recursion once.

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

/** Own weight per stage: every sample is in exactly one. */
export function sumByStage(stage: Uint8Array, stages: number, own: Float64Array): Float64Array {
  const sums = new Float64Array(stages);
  for (let i = 0; i < stage.length; i++) sums[stage[i]] += own[i];
  return sums;
}
