// The same samples by process or CPU: stacks and weights stay, and each sample stands in its own group.

import { describe, expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import type { SampleData } from "../../src/data/samples";
import { buildModel, type FlameModel } from "../../src/flame/model";
import { regroup, type Split } from "../../src/flame/regroup";
import { ownWeight } from "../../src/flame/tree";
import { blockOf, encode, folded } from "../sample/flame";

const stacks = folded("[dd];a;b 3\n[dd];a 2\n[sh];a;b 4\n[sh] 1").map(({ frames, count }) => ({
  frames: frames.map((one, i) => (i === 0 ? { ...one, module: "thread" } : one)),
  count,
}));
const m = buildModel(decodeFlame(encode(blockOf(stacks))));

/** The stacks of a model as folded text, sorted. */
function text(of: FlameModel): string[] {
  const lines: string[] = [];
  const path: string[] = [];
  const own = ownWeight(of.tree, of.weight);
  for (let i = 0; i < of.data.nodes; i++) {
    path.length = of.data.level[i];
    path.push(of.data.labels[of.data.label[i]]);
    if (own[i] > 0) lines.push(`${path.slice(1).join(";")} ${own[i]}`);
  }
  return lines.sort();
}

function leaf(path: string): number {
  const names: string[] = [];
  for (let i = 0; i < m.data.nodes; i++) {
    names.length = m.data.level[i];
    names.push(m.data.labels[m.data.label[i]]);
    if (names.slice(1).join(";") === path) return i;
  }
  throw new Error(`no ${path}`);
}

/** Stack, thread, CPU, amount of each sample, a second apart. */
function samples(list: readonly (readonly [string, number, number, number])[]): SampleData {
  return {
    rows: list.length,
    time: Float64Array.from(list, (_, i) => i),
    node: Uint32Array.from(list, ([path]) => leaf(path)),
    thread: Uint32Array.from(list, ([, thread]) => thread),
    cpu: Int32Array.from(list, ([, , cpu]) => cpu),
    amount: Float64Array.from(list, ([, , , amount]) => amount),
    threads: [
      { name: "helper", pid: 7, tid: 8 },
      { name: "dd", pid: 7, tid: 7 },
      { name: "sh", pid: 9, tid: 9 },
    ],
  };
}

const taken = samples([
  ["[dd];a;b", 0, 0, 1],
  ["[dd];a;b", 1, 1, 2],
  ["[dd];a", 1, 0, 2],
  ["[sh];a;b", 2, 0, 4],
  ["[sh]", 2, -1, 1],
]);

function by(split: Split, time: [number, number] | null = null): FlameModel {
  return buildModel(regroup(m.data, m.tree, taken, time, split));
}

describe("by process or CPU", () => {
  it("threads of a process are one box with the name of its first thread", () => {
    expect(text(by("process"))).toEqual(["[dd 7];a 2", "[dd 7];a;b 3", "[sh 9] 1", "[sh 9];a;b 4"]);
  });

  it("a stack of two threads on one CPU is one stack there", () => {
    const found = ["[CPU 0];a 2", "[CPU 0];a;b 5", "[CPU 1];a;b 2", "[CPU unknown] 1"];
    expect(text(by("cpu"))).toEqual(found.sort());
  });

  it("keeps the whole and takes the selected time alone", () => {
    for (const split of ["process", "cpu"] as const) {
      expect(by(split).weight[0]).toBe(m.weight[0]);
      expect(by(split, [1, 3]).weight[0]).toBe(4);
      expect(by(split, [50, 60]).weight[0]).toBe(0);
    }
  });

  it("its boxes on top are what the file calls threads", () => {
    const { data: of } = by("cpu");
    for (let i = 0; i < of.nodes; i++) {
      const module = of.modules[of.moduleOf[of.label[i]]];
      expect(module === "thread").toBe(of.level[i] === 1);
    }
  });

  it("a stack of many frames needs no deep calls", () => {
    const nodes = 50_000;
    const one = buildModel({
      ...m.data,
      nodes,
      level: Uint32Array.from({ length: nodes }, (_, i) => i),
      value: new Float64Array(nodes).fill(1),
      label: new Uint32Array(nodes).fill(m.data.label[0]),
      stage: new Uint8Array(nodes),
      total: 1,
    });
    const row = { ...taken, rows: 1, node: Uint32Array.of(nodes - 1), amount: Float64Array.of(1) };
    const made = regroup(one.data, one.tree, row, null, "cpu");
    expect([made.nodes, made.total]).toEqual([nodes + 1, 1]);
  });
});
