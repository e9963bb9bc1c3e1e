// Other trees of the same samples: callers first, one function's callers and callees, frames left out.
//
// Every stack of the tree that has weight of its own is taken, changed as asked, and put into a new tree; the
// weights of all stacks that stay add up to what they were.

import type { FlameData } from "../data/flame";
import { ownNames } from "./names";
import { buildTree, ownWeight, type Tree } from "./tree";

export type Shape = "stacks" | "callers" | "callees";

export interface Reshape {
  readonly shape: Shape;
  /** Only stacks with a function that matches. */
  readonly focus: RegExp | null;
  /** Stacks with a function that matches are left out. */
  readonly without: RegExp | null;
  /** Frames that match are left out; what they called belongs to their callers. */
  readonly hide: RegExp | null;
  /** A function that calls itself is one frame. */
  readonly collapse: boolean;
  /** Frames of threads are left out: the same stack on two threads is one. */
  readonly merge: boolean;
  /** For callees: the function that they are of; for callers: nothing above it counts. */
  readonly of: string;
  /** With `of`: that function is the root, instead of a root above it. */
  readonly rooted: boolean;
}

export const AS_IT_IS: Reshape = {
  shape: "stacks",
  focus: null,
  without: null,
  hide: null,
  collapse: false,
  merge: false,
  of: "",
  rooted: false,
};

export function changesNothing(r: Reshape): boolean {
  return (
    r.shape === "stacks" &&
    !r.focus &&
    !r.without &&
    !r.hide &&
    !r.collapse &&
    !r.merge &&
    r.of === ""
  );
}

/** What each label means for a reshape, looked up once instead of once a frame. */
interface Marks {
  readonly focus: Uint8Array | null;
  readonly without: Uint8Array | null;
  readonly hide: Uint8Array;
  readonly of: Uint8Array | null;
}

function marksOf(data: FlameData, r: Reshape): Marks {
  const matching = (regex: RegExp) =>
    Uint8Array.from(ownNames(data.labels), (n) => (regex.test(n) ? 1 : 0));
  const hide = r.hide ? matching(r.hide) : new Uint8Array(data.labels.length);
  if (r.merge) {
    const thread = data.modules.indexOf("thread");
    for (let i = 0; i < hide.length; i++) if (data.moduleOf[i] === thread) hide[i] = 1;
  }
  return {
    focus: r.focus ? matching(r.focus) : null,
    without: r.without ? matching(r.without) : null,
    hide,
    of: r.of === "" ? null : Uint8Array.from(ownNames(data.labels), (n) => (n === r.of ? 1 : 0)),
  };
}

/** A tree that grows by its boxes, each known by its parent and label. */
export class Builder {
  readonly parent: number[] = [-1];
  readonly label: number[];
  readonly stage: number[];
  readonly own: number[] = [0];
  private readonly children = new Map<number, number>();
  constructor(
    /** More than any label. */
    private readonly labels: number,
    root: number,
    stage: number,
  ) {
    this.label = [root];
    this.stage = [stage];
  }

  child(of: number, label: number, stage: number): number {
    const key = of * this.labels + label;
    const known = this.children.get(key);
    if (known !== undefined) return known;
    const node = this.parent.length;
    this.children.set(key, node);
    this.parent.push(of);
    this.label.push(label);
    this.stage.push(stage);
    this.own.push(0);
    return node;
  }
}

/** Nodes of a stack, leaf first and without the root, as a reshape leaves them; null where it drops the stack. */
function taken(
  data: FlameData,
  tree: Tree,
  leaf: number,
  marks: Marks,
  r: Reshape,
): number[] | null {
  let focused = marks.focus === null;
  const path: number[] = [];
  for (let i = leaf; i > 0; i = tree.parent[i]) {
    const label = data.label[i];
    if (marks.without?.[label]) return null;
    if (marks.focus?.[label]) focused = true;
    if (marks.hide[label]) continue;
    if (r.collapse && path.length > 0 && data.label[path[path.length - 1]] === label) {
      path[path.length - 1] = i;
      continue;
    }
    path.push(i);
  }
  if (!focused) return null;
  return marks.of ? around(data, path, marks.of, r) : path;
}

/**
 * Of a stack what lies below the outermost such function, or above the innermost one, with the function itself
 * unless it is the root.
 */
function around(data: FlameData, path: number[], of: Uint8Array, r: Reshape): number[] | null {
  const itself = r.rooted ? 0 : 1;
  const is = (node: number) => of[data.label[node]] === 1;
  if (r.shape === "callers") {
    const at = path.findIndex(is);
    return at < 0 ? null : path.slice(at + 1 - itself);
  }
  const at = path.findLastIndex(is);
  return at < 0 ? null : path.slice(0, at + itself);
}

/** The frames of the stack that ends in a node, leaf first, as a reshape leaves them; null where it drops the stack. */
export function pathsOf(
  data: FlameData,
  tree: Tree,
  r: Reshape,
): (leaf: number) => number[] | null {
  const marks = marksOf(data, r);
  return (leaf) => taken(data, tree, leaf, marks, r);
}

/** A node with the label and the stage of the root of a reshape. */
function rootOf(data: FlameData, marks: Marks, r: Reshape): number {
  const { of } = marks;
  return of && r.rooted
    ? Math.max(
        0,
        data.label.findIndex((label) => of[label] === 1),
      )
    : 0;
}

/** The graph in another shape. */
export function reshape(data: FlameData, tree: Tree, r: Reshape): FlameData {
  const own = ownWeight(tree, data.value);
  const marks = marksOf(data, r);
  const root = rootOf(data, marks, r);
  const built = new Builder(data.labels.length, data.label[root], data.stage[root]);
  for (let i = 0; i < data.nodes; i++) {
    if (own[i] <= 0) continue;
    const path = taken(data, tree, i, marks, r);
    if (!path) continue;
    if (r.shape !== "callers") path.reverse();
    let at = 0;
    for (const node of path) at = built.child(at, data.label[node], data.stage[node]);
    built.own[at] += own[i];
  }
  return inPreorder(data, built);
}

/** The built tree as columns; siblings keep the order of their names. */
export function inPreorder(data: FlameData, built: Builder): FlameData {
  const nodes = built.parent.length;
  const below: number[][] = Array.from({ length: nodes }, () => []);
  for (let i = 1; i < nodes; i++) below[built.parent[i]].push(i);
  const name = (node: number) => data.labels[built.label[node]];
  for (const some of below) {
    some.sort((a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b));
  }
  const level = new Uint32Array(nodes);
  const label = new Uint32Array(nodes);
  const stage = new Uint8Array(nodes);
  const value = new Float64Array(nodes);
  const open: [number, number][] = [[0, 0]];
  let at = 0;
  while (open.length > 0) {
    const [node, depth] = open.pop() as [number, number];
    level[at] = depth;
    label[at] = built.label[node];
    stage[at] = built.stage[node];
    value[at] = built.own[node];
    at++;
    for (let k = below[node].length - 1; k >= 0; k--) open.push([below[node][k], depth + 1]);
  }
  const { parent } = buildTree(level);
  for (let i = nodes - 1; i > 0; i--) value[parent[i]] += value[i];
  return { ...data, nodes, level, label, stage, value, total: value[0], second: null };
}
