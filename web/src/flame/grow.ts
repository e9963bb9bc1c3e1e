// The first pass over the nodes of a graph: checks that they are a tree, and gives each its place.
//
// After it these hold: node 0 is the root at level 0, every other level is 1..previous+1, and no node is smaller than its
// children together. Everything else relies on them and does not check again.

import { damaged, type FlameData } from "../data/flame";
import { Boxes, type Layout } from "./layout";

/** How many nodes of each level have weight. Throws DataError where levels are not those of a tree. */
function boxesOf({ level, value }: FlameData): number[] {
  if (level[0] !== 0) throw damaged("node 0 is not the root.");
  const boxes = [value[0] > 0 ? 1 : 0];
  let before = 0;
  for (let i = 1; i < level.length; i++) {
    const at = level[i];
    if (at < 1 || at > before + 1) {
      throw damaged(`node ${i} at level ${at} follows level ${before}.`);
    }
    if (at === boxes.length) boxes.push(0);
    if (value[i] > 0) boxes[at]++;
    before = at;
  }
  return boxes;
}

interface Grown {
  readonly layout: Layout;
  /** Own weight per stage. */
  readonly stageWeight: Float64Array;
}

/**
 * Checks that the data is a tree and lays it out by its weights, of a comparison by those of the first profile: the same
 * as `layOut` and `sumByStage` give. Throws DataError that names the node where it is none.
 */
export function grow(data: FlameData): Grown {
  const { level, value, stage } = data;
  const nodes = level.length;
  const boxes = new Boxes(boxesOf(data), value[0]);
  if (value[0] !== data.total) {
    throw damaged(`the root has ${value[0]}, the header says ${data.total}.`);
  }
  const { x0, x1, cum, node } = boxes;
  const next = boxes.begin.slice();
  /** Where the next box of a level begins: for levels of the path that is where its node ends. */
  const cursor = new Float64Array(boxes.begin.length);
  const stageWeight = new Float64Array(data.stages.length);
  /** The stages of the path. */
  const above = new Uint8Array(boxes.begin.length);
  for (let i = 0; i < nodes; i++) {
    const at = level[i];
    const weight = value[i];
    const from = cursor[at];
    const to = from + weight;
    if (at > 0) {
      if (to > cursor[at - 1]) throw damaged(`the nodes below a parent of node ${i} exceed it.`);
      stageWeight[above[at - 1]] -= weight;
    }
    stageWeight[stage[i]] += weight;
    above[at] = stage[i];
    cursor[at] = to;
    cursor[at + 1] = from;
    if (weight === 0) continue;
    const k = next[at]++;
    node[k] = i;
    x0[k] = from;
    x1[k] = to;
    cum[k + at + 1] = cum[k + at] + weight;
  }
  return { layout: { levels: boxes.levels(), nodes, width: value[0] }, stageWeight };
}

/** Throws DataError where the weights of a second profile are not those of the tree. */
export function checkSecond({ level, second }: FlameData, depth: number): void {
  if (!second) return;
  const { value, total } = second;
  if (value[0] !== total) throw damaged(`the root has ${value[0]}, the header says ${total}.`);
  const left = new Float64Array(depth);
  left[0] = value[0];
  for (let i = 1; i < level.length; i++) {
    const rest = left[level[i] - 1] - value[i];
    if (rest < 0) throw damaged(`the nodes below a parent of node ${i} exceed it.`);
    left[level[i] - 1] = rest;
    left[level[i]] = value[i];
  }
}
