// What follows from the preorder columns: parent and subtree end of every node, and what is its own.

import type { Column } from "../data/bytes";

export interface Tree {
  /** Parent of each node; −1 for the root. */
  readonly parent: Int32Array;
  /** One past the last node below each node: its subtree is `[node, end[node])`. */
  readonly end: Uint32Array;
  /** How many levels there are. */
  readonly depth: number;
}

export function buildTree(level: Column): Tree {
  const nodes = level.length;
  const parent = new Int32Array(nodes);
  const end = new Uint32Array(nodes);
  let deepest = 0;
  for (let i = 0; i < nodes; i++) if (level[i] > deepest) deepest = level[i];
  /** The path to the node before, from the root. */
  const open = new Uint32Array(deepest + 1);
  let depth = 0;
  for (let i = 0; i < nodes; i++) {
    const at = level[i];
    while (depth > at) end[open[--depth]] = i;
    parent[i] = at > 0 ? open[at - 1] : -1;
    open[depth++] = i;
  }
  while (depth > 0) end[open[--depth]] = nodes;
  return { parent, end, depth: deepest + 1 };
}

/** Weight of each node less that of its children. */
export function ownWeight(tree: Tree, value: Float64Array): Float64Array {
  const own = Float64Array.from(value);
  for (let i = 1; i < own.length; i++) own[tree.parent[i]] -= value[i];
  return own;
}

/** The same for one node. */
export function ownWeightOf(tree: Tree, value: Float64Array, node: number): number {
  let own = value[node];
  for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) own -= value[i];
  return own;
}
