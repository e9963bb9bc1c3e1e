// The same samples under other boxes: one for each process, or for each CPU, instead of one for each kind of thread.
//
// Which process or CPU a sample is of stands with the sample and not in the tree, so the tree is built again of the
// samples. Stacks below are as they were; their weights add up to the same.

import type { FlameData } from "../data/flame";
import type { SampleData } from "../data/samples";
import { Builder, inPreorder } from "./reshape";
import { rowsWithin, type Selection } from "./select";
import type { Tree } from "./tree";

export type Split = "process" | "cpu";

/** Which group each sample is in, and what groups are called. */
function groupsOf({ cpu, thread, threads }: SampleData, split: Split) {
  if (split === "cpu") {
    const name = (group: number) => `[CPU ${group < 0 ? "unknown" : group}]`;
    return { of: (row: number) => cpu[row], name };
  }
  // A process has the name of its first thread, which is that of its program where it was recorded.
  const first = new Map<number, number>();
  threads.forEach(({ pid, tid }, i) => {
    if (tid === pid || !first.has(pid)) first.set(pid, i);
  });
  return {
    of: (row: number) => first.get(threads[thread[row]]?.pid) ?? -1,
    name: (group: number) => `[${threads[group]?.name ?? ""} ${threads[group]?.pid ?? ""}]`,
  };
}

/** The graph of the selected samples by process or CPU. */
export function regroup(
  data: FlameData,
  tree: Tree,
  samples: SampleData,
  time: Selection["time"],
  split: Split,
): FlameData {
  const groups = groupsOf(samples, split);
  const thread = data.modules.indexOf("thread");
  const labels = [...data.labels];
  const boxes = new Map<number, number>();
  const places = new Map<number, number>();
  // A sample brings one label more at most.
  const built = new Builder(labels.length + samples.rows, data.label[0], data.stage[0]);
  /** The box of a group. */
  const top = (group: number): number => {
    const at =
      boxes.get(group) ?? built.child(0, labels.push(groups.name(group)) - 1, data.stage[0]);
    boxes.set(group, at);
    return at;
  };
  const stands = (node: number) =>
    node === 0 || (data.level[node] === 1 && data.moduleOf[data.label[node]] === thread);
  /** The box of a node below that of a group, with those between. */
  const place = (group: number, leaf: number): number => {
    const key = (node: number) => group * data.nodes + node;
    const missing: number[] = [];
    let node = leaf;
    for (; !stands(node) && !places.has(key(node)); node = tree.parent[node]) missing.push(node);
    let at = places.get(key(node)) ?? group;
    for (const one of missing.reverse()) {
      at = built.child(at, data.label[one], data.stage[one]);
      places.set(key(one), at);
    }
    return at;
  };
  const [from, to] = rowsWithin(samples, time);
  for (let row = from; row < to; row++) {
    built.own[place(top(groups.of(row)), samples.node[row])] += samples.amount[row];
  }
  const moduleOf = new Uint32Array(labels.length).fill(Math.max(0, thread));
  moduleOf.set(data.moduleOf);
  const tops = split === "cpu" ? "CPU" : "process";
  return inPreorder({ ...data, labels, moduleOf, tops }, built);
}
