// One pass over the nodes of a graph: checks that they are a tree, and computes what every view needs of it.
//
// After it these hold: node 0 is the root at level 0, every other level is 1..previous+1, every label and stage index
// is in range, and no node is smaller than its children together. Everything else relies on them and does not check
// again. Tree, layout and weights by stage are the same as `buildTree`, `layOut` and `sumByStage` give; a pass of its
// own for each takes three times as long, which is what a reader of a million nodes waits for.

import type { DataError } from "../data/error";
import { damaged, type FlameData } from "../data/flame";
import type { Layout, Level } from "./layout";
import type { Tree } from "./tree";

export interface Grown {
  readonly tree: Tree;
  /** By the weights of the data, of a comparison by those of the first profile. */
  readonly layout: Layout;
  /** Own weight per stage. */
  readonly stageWeight: Float64Array;
}

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

function outside({ label, labels, stage, stages }: FlameData, node: number): DataError {
  return damaged(
    label[node] >= labels.length
      ? `node ${node} has label ${label[node]} of ${labels.length}.`
      : `node ${node} has stage ${stage[node]} of ${stages.length}.`,
  );
}

/** What the boxes of all levels are in: one level after the other, each from left to right. */
class Boxes {
  readonly begin: Uint32Array;
  readonly x0: Float64Array;
  readonly x1: Float64Array;
  /** A level has one sum more than boxes, so those of level n begin n places later. */
  readonly cum: Float64Array;
  readonly node: Uint32Array;
  constructor(counts: readonly number[]) {
    const depth = counts.length;
    this.begin = new Uint32Array(depth + 1);
    for (let at = 0; at < depth; at++) this.begin[at + 1] = this.begin[at] + counts[at];
    const all = this.begin[depth];
    this.x0 = new Float64Array(all);
    this.x1 = new Float64Array(all);
    this.cum = new Float64Array(all + depth);
    this.node = new Uint32Array(all);
  }

  /** Each level is a view of its part. */
  levels(): Level[] {
    const levels: Level[] = [];
    for (let at = 0; at + 1 < this.begin.length; at++) {
      const [from, to] = [this.begin[at], this.begin[at + 1]];
      levels.push({
        count: to - from,
        x0: this.x0.subarray(from, to),
        x1: this.x1.subarray(from, to),
        cum: this.cum.subarray(from + at, to + at + 1),
        node: this.node.subarray(from, to),
      });
    }
    return levels;
  }
}

/** Throws DataError that names the node where the data is not a tree. */
export function grow(data: FlameData): Grown {
  const { level, value, label, stage } = data;
  const [nodes, labels, stages] = [level.length, data.labels.length, data.stages.length];
  const boxes = new Boxes(boxesOf(data));
  if (value[0] !== data.total) {
    throw damaged(`the root has ${value[0]}, the header says ${data.total}.`);
  }
  const { x0, x1, cum, node } = boxes;
  const depth = boxes.begin.length - 1;
  const next = boxes.begin.slice();
  const parent = new Int32Array(nodes);
  const end = new Uint32Array(nodes);
  const stageWeight = new Float64Array(stages);
  /** The nodes from the root to the one before, and how many they are. */
  const path = new Uint32Array(depth);
  let open = 0;
  /** Where the next box of a level begins: for levels of the path that is where its node ends. */
  const cursor = new Float64Array(depth + 1);
  for (let i = 0; i < nodes; i++) {
    const at = level[i];
    const weight = value[i];
    if (label[i] >= labels || stage[i] >= stages) throw outside(data, i);
    while (open > at) end[path[--open]] = i;
    path[open++] = i;
    const from = cursor[at];
    const to = from + weight;
    const above = at > 0 ? path[at - 1] : -1;
    parent[i] = above;
    if (above >= 0) {
      if (to > cursor[at - 1]) throw damaged(`the nodes below a parent of node ${i} exceed it.`);
      stageWeight[stage[above]] -= weight;
    }
    stageWeight[stage[i]] += weight;
    cursor[at] = to;
    cursor[at + 1] = from;
    if (weight === 0) continue;
    const k = next[at]++;
    node[k] = i;
    x0[k] = from;
    x1[k] = to;
    cum[k + at + 1] = cum[k + at] + weight;
  }
  while (open > 0) end[path[--open]] = nodes;
  return {
    tree: { parent, end, depth },
    layout: { levels: boxes.levels(), nodes, width: value[0] },
    stageWeight,
  };
}

/** Throws DataError where the weights of a second profile are not those of the tree. */
export function checkSecond({ level, second }: FlameData, { tree }: Grown): void {
  if (!second) return;
  const { value, total } = second;
  if (value[0] !== total) throw damaged(`the root has ${value[0]}, the header says ${total}.`);
  const left = new Float64Array(tree.depth);
  left[0] = value[0];
  for (let i = 1; i < level.length; i++) {
    const rest = left[level[i] - 1] - value[i];
    if (rest < 0) throw damaged(`the nodes below a parent of node ${i} exceed it.`);
    left[level[i] - 1] = rest;
    left[level[i]] = value[i];
  }
}
