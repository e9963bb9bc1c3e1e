// Moves through the tree: children, siblings, the path to the root, common ancestor.

import type { Tree } from "./tree";

/** Children that have weight: others are of samples that are not selected. */
export function children(tree: Tree, node: number, weight?: Float64Array): number[] {
  const found: number[] = [];
  for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) {
    if (!weight || weight[i] > 0) found.push(i);
  }
  return found;
}

/** The heaviest child, where the arrow keys lead first; −1 for a leaf. */
export function heaviestChild(tree: Tree, value: Float64Array, node: number): number {
  let best = -1;
  for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) {
    if (best < 0 || value[i] > value[best]) best = i;
  }
  return best;
}

/** The sibling `step` places on (−1 left, 1 right), or the node itself at the border. */
export function sibling(tree: Tree, node: number, step: -1 | 1): number {
  const parent = tree.parent[node];
  if (parent < 0) return node;
  if (step > 0) return tree.end[node] < tree.end[parent] ? tree.end[node] : node;
  let before = node;
  for (let i = parent + 1; i < node; i = tree.end[i]) before = i;
  return before;
}

export type Direction = "parent" | "child" | "left" | "right";

/** The node where an arrow leads; −1 below a leaf. */
export function towards(tree: Tree, value: Float64Array, from: number, to: Direction): number {
  if (to === "parent") return Math.max(0, tree.parent[from]);
  if (to === "child") return heaviestChild(tree, value, from);
  return sibling(tree, from, to === "left" ? -1 : 1);
}

/** From the root to the node. */
export function pathTo(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let i = node; i >= 0; i = tree.parent[i]) path.push(i);
  return path.reverse();
}

/** The deepest node that has all of `nodes` below it or is one of them; 0 for none. */
export function commonAncestor(tree: Tree, nodes: readonly number[]): number {
  if (nodes.length === 0) return 0;
  const [first, last] = extremes(nodes);
  let ancestor = first;
  while (tree.end[ancestor] <= last) ancestor = tree.parent[ancestor];
  return ancestor;
}

function extremes(nodes: readonly number[]): [number, number] {
  let low = nodes[0];
  let high = nodes[0];
  for (const node of nodes) {
    if (node < low) low = node;
    if (node > high) high = node;
  }
  return [low, high];
}
