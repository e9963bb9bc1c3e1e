// One decoded flame graph with all that is computed from it once.
//
// Width is the weight of a node; in a comparison it is the mean of its two shares, scaled to stay
// a whole number (a·B + b·A of the totals A and B), so that frames that vanished keep a place.

import type { FlameData } from "../data/flame";
import { type FunctionSums, sumByFunction, sumByStage } from "./functions";
import { type Layout, layOut } from "./layout";
import { diffEntries, stageColours, stageEntries } from "./palette";
import { buildTree, ownWeight, type Tree } from "./tree";

export interface Comparison {
  readonly shareA: Float64Array;
  readonly shareB: Float64Array;
  readonly functionsA: FunctionSums;
  readonly functionsB: FunctionSums;
}

export interface FlameModel {
  readonly data: FlameData;
  readonly tree: Tree;
  readonly weight: Float64Array;
  readonly own: Float64Array;
  readonly layout: Layout;
  readonly functions: FunctionSums;
  /** Own weight per stage. */
  readonly stageWeight: Float64Array;
  readonly stageColour: readonly string[];
  /** Palette entry of each node: by stage, or of a comparison by how its share changed. */
  readonly entry: Uint16Array;
  readonly comparison: Comparison | null;
}

function over(column: Float64Array, total: number): Float64Array {
  return total > 0 ? column.map((value) => value / total) : new Float64Array(column.length);
}

function meanWeight(data: FlameData): Float64Array {
  if (!data.second) return data.value;
  // An empty side leaves the other one's weights as they are.
  const a = data.second.total > 0 ? data.second.total : 1;
  const b = data.total > 0 ? data.total : 1;
  const second = data.second.value;
  return data.value.map((value, i) => value * a + second[i] * b);
}

function compare(data: FlameData, tree: Tree): Comparison | null {
  if (!data.second) return null;
  const shareA = over(data.value, data.total);
  const shareB = over(data.second.value, data.second.total);
  const sums = (share: Float64Array) =>
    sumByFunction(tree, data.label, data.labels.length, share, ownWeight(tree, share));
  return { shareA, shareB, functionsA: sums(shareA), functionsB: sums(shareB) };
}

export function buildModel(data: FlameData): FlameModel {
  const tree = buildTree(data.level);
  const weight = meanWeight(data);
  const own = ownWeight(tree, weight);
  const stageWeight = sumByStage(data.stage, data.stages.length, own);
  const comparison = compare(data, tree);
  return {
    data,
    tree,
    weight,
    own,
    layout: layOut(data.level, weight),
    functions: sumByFunction(tree, data.label, data.labels.length, weight, own),
    stageWeight,
    stageColour: stageColours(data.stages, data.stageColours),
    entry: comparison ? diffEntries(comparison.shareA, comparison.shareB) : stageEntries(data),
    comparison,
  };
}

/** The same tree with other weights, for a part of the samples: nodes keep their numbers. */
export function reweigh(model: FlameModel, data: FlameData): FlameModel {
  const own = ownWeight(model.tree, data.value);
  return {
    ...model,
    data,
    weight: data.value,
    own,
    layout: layOut(data.level, data.value),
    functions: sumByFunction(model.tree, data.label, data.labels.length, data.value, own),
    stageWeight: sumByStage(data.stage, data.stages.length, own),
    comparison: null,
  };
}

/** Fraction of all. */
export function shareOf(model: FlameModel, amount: number): number {
  return model.layout.width > 0 ? amount / model.layout.width : 0;
}

/** The span of the width that a node takes. */
export function spanOf(model: FlameModel, node: number): { x0: number; x1: number } {
  const level = model.layout.levels[model.data.level[node]];
  const k = model.layout.slot[node];
  return { x0: level.x0[k], x1: level.x1[k] };
}
