// Says in words what a node is: for the tooltip, the line below the graph and screen readers.

import { percent, points, visible, weight } from "../text";
import { type FlameModel, shareOf } from "./model";
import { ownWeightOf } from "./tree";

export interface NodeText {
  readonly name: string;
  readonly module: string;
  readonly stage: string;
  /** Label and value, in reading order. */
  readonly facts: readonly (readonly [string, string])[];
}

const LONGEST = 400;

export function nameOf(model: FlameModel, node: number, most = LONGEST): string {
  return visible(model.data.labels[model.data.label[node]], most);
}

export function describe(model: FlameModel, node: number): NodeText {
  const { data, tree, weight: w, comparison } = model;
  const parent = tree.parent[node];
  const module = data.modules[data.moduleOf[data.label[node]]];
  const ofParent = parent >= 0 && w[parent] > 0 ? percent(w[node] / w[parent]) : null;
  const facts: [string, string][] = [];
  if (comparison) {
    facts.push(["before", percent(comparison.shareA[node])]);
    facts.push(["after", percent(comparison.shareB[node])]);
    facts.push(["change", points(comparison.shareB[node] - comparison.shareA[node])]);
  } else {
    const total = `${weight(w[node], data.unit)}, ${percent(shareOf(model, w[node]))} of all`;
    facts.push(["total", ofParent ? `${total}, ${ofParent} of parent` : total]);
    const own = ownWeightOf(tree, w, node);
    facts.push(["self", `${weight(own, data.unit)}, ${percent(shareOf(model, own))} of all`]);
  }
  return {
    name: nameOf(model, node),
    module: module === "thread" && data.tops ? data.tops : visible(module, LONGEST),
    stage: visible(data.stages[data.stage[node]], LONGEST),
    facts,
  };
}

/** One line for a screen reader. */
export function sentence(model: FlameModel, node: number): string {
  const { name, module, stage, facts } = describe(model, node);
  const where = [module, stage && `stage ${stage}`].filter((part) => part !== "");
  return [name, ...where, ...facts.map(([label, value]) => `${label} ${value}`)].join(", ");
}
