// One decoded flame graph with all that is computed from it once.
//
// Width is the weight of a node; in a comparison it is the mean of its two shares, scaled to stay
// a whole number (a·B + b·A of the totals A and B), so that frames that vanished keep a place.

import type { FlameData } from "../data/flame";
import { type FunctionSums, sumByFunction, sumByStage } from "./functions";
import { checkSecond, grow } from "./grow";
import { gallopTo, type Layout, layOut } from "./layout";
import { once } from "./once";
import { stageColours } from "./palette";
import { buildTree, ownWeight, type Tree } from "./tree";

export interface Comparison {
  readonly shareA: Float64Array;
  readonly shareB: Float64Array;
}

/** What every view needs. What only some need is computed when they ask: `functionsOf`, `comparedFunctions`. */
export interface FlameModel {
  readonly data: FlameData;
  readonly tree: Tree;
  readonly weight: Float64Array;
  readonly layout: Layout;
  /** Own weight per stage. */
  readonly stageWeight: Float64Array;
  readonly stageColour: readonly string[];
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

function compare(data: FlameData): Comparison | null {
  if (!data.second) return null;
  return {
    shareA: over(data.value, data.total),
    shareB: over(data.second.value, data.second.total),
  };
}

function sums({ data, tree }: FlameModel, weight: Float64Array): FunctionSums {
  return sumByFunction(tree, data.label, data.labels.length, weight, ownWeight(tree, weight));
}

/** Own and total weight of each function. */
export const functionsOf = once((m: FlameModel) => sums(m, m.weight));

/** Shares of each function in the first and the second profile of a comparison. */
export const comparedFunctions = once((m: FlameModel) => {
  const { shareA, shareB } = m.comparison ?? { shareA: m.weight, shareB: m.weight };
  return { before: sums(m, shareA), after: sums(m, shareB) };
});

/** Throws DataError where the data is not a tree. */
export function buildModel(data: FlameData): FlameModel {
  const { layout, stageWeight } = grow(data);
  checkSecond(data, layout.levels.length);
  const weight = meanWeight(data);
  const tree = buildTree(data.level);
  return {
    data,
    tree,
    weight,
    layout: data.second ? layOut(data.level, tree, weight) : layout,
    stageWeight: data.second ? sumByStage(data, tree, weight) : stageWeight,
    stageColour: stageColours(data.stages, data.stageColours),
    comparison: compare(data),
  };
}

/** The same tree with other weights, for a part of the samples: nodes keep their numbers. */
export function reweigh(model: FlameModel, data: FlameData): FlameModel {
  return {
    ...model,
    data,
    weight: data.value,
    layout: layOut(data.level, model.tree, data.value),
    stageWeight: sumByStage(data, model.tree, data.value),
    comparison: null,
  };
}

/** Fraction of all. */
export function shareOf(model: FlameModel, amount: number): number {
  return model.layout.width > 0 ? amount / model.layout.width : 0;
}

/** The span of the width that a node takes; one without weight takes none, at its place. */
export function spanOf(model: FlameModel, node: number): { x0: number; x1: number } {
  const level = model.layout.levels[model.data.level[node]];
  const k = gallopTo(level.node, 0, node);
  if (level.node[k] === node) return { x0: level.x0[k], x1: level.x1[k] };
  const parent = model.tree.parent[node];
  const begin = parent < 0 ? 0 : spanOf(model, parent).x0;
  const x = k > 0 ? Math.max(begin, level.x1[k - 1]) : begin;
  return { x0: x, x1: x };
}
