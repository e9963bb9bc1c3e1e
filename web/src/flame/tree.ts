// What follows from the preorder columns: parent, subtree end and own weight of every node.

export interface Tree {
  /** Parent of each node; −1 for the root. */
  readonly parent: Int32Array;
  /** One past the last node below each node: its subtree is `[node, end[node])`. */
  readonly end: Uint32Array;
}

export function buildTree(level: Uint32Array): Tree {
  const nodes = level.length;
  const parent = new Int32Array(nodes);
  const end = new Uint32Array(nodes);
  const open: number[] = [];
  for (let i = 0; i < nodes; i++) {
    while (open.length > level[i]) end[open.pop() as number] = i;
    parent[i] = level[i] > 0 ? open[level[i] - 1] : -1;
    open.push(i);
  }
  for (const node of open) end[node] = nodes;
  return { parent, end };
}

/** Weight of each node less that of its children. */
export function ownWeight(tree: Tree, value: Float64Array): Float64Array {
  const own = Float64Array.from(value);
  for (let i = 1; i < own.length; i++) own[tree.parent[i]] -= value[i];
  return own;
}
