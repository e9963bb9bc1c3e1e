// Samples in order of time: nothing is lost, nothing is merged over a pause or another thread.

import { describe, expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import type { SampleData } from "../../src/data/samples";
import { chart } from "../../src/flame/chart";
import { buildModel, type FlameModel, functionsOf } from "../../src/flame/model";
import { AS_IT_IS } from "../../src/flame/reshape";
import { ownWeight } from "../../src/flame/tree";
import { flameBlock } from "../sample/encryption";
import { blockOf, encode, folded } from "../sample/flame";

const m = buildModel(decodeFlame(encode(blockOf(folded("a;b;c 3\na;d 2\ne;b 4")))));

function leaf(path: string): number {
  const names: string[] = [];
  for (let i = 0; i < m.data.nodes; i++) {
    names.length = m.data.level[i];
    names.push(m.data.labels[m.data.label[i]]);
    if (names.slice(1).join(";") === path) return i;
  }
  throw new Error(`no ${path}`);
}

/** Rows in order of time: stack, thread, amount. */
function rows(list: readonly (readonly [string, number, number])[]): SampleData {
  return {
    rows: list.length,
    time: Float64Array.from(list, (_, i) => i),
    node: Uint32Array.from(list, ([path]) => leaf(path)),
    thread: Uint32Array.from(list, ([, thread]) => thread),
    cpu: new Int32Array(list.length),
    amount: Float64Array.from(list, ([, , amount]) => amount),
    threads: [0, 1].map((tid) => ({ name: `t${tid}`, pid: 1, tid })),
  };
}

/** Boxes as `level name weight`, from left to right. */
function boxes(model: FlameModel): string[] {
  const { level, label, labels, value } = model.data;
  return [...level].map((at, i) => `${at} ${labels[label[i]]} ${value[i]}`);
}

function charted(samples: SampleData, time: [number, number] | null = null, merge = false) {
  const data = chart(m.data, m.tree, samples, time, { ...AS_IT_IS, merge });
  if (!data) throw new Error("too many boxes");
  return buildModel(data);
}

describe("in order of time", () => {
  it("neighbours with the same frames are one box, and a change ends it", () => {
    const list = rows([
      ["a;b;c", 0, 1],
      ["a;b;c", 0, 1],
      ["a;d", 0, 2],
      ["a;b;c", 0, 1],
    ]);
    const expected = ["0 all 5", "1 a 5", "2 b 2", "3 c 2", "2 d 2", "2 b 1", "3 c 1"];
    expect(boxes(charted(list))).toEqual(expected);
  });

  it("each thread is by itself, the busiest first", () => {
    const list = rows([
      ["a;d", 0, 1],
      ["a;b;c", 1, 2],
      ["a;d", 0, 1],
      ["a;b;c", 1, 1],
    ]);
    const [b, d] = [["2 b 3", "3 c 3"], ["2 d 2"]];
    expect(boxes(charted(list))).toEqual(["0 all 5", "1 a 3", ...b, "1 a 2", ...d]);
    const merged = boxes(charted(list, null, true)).filter((box) => box.startsWith("2"));
    expect(merged).toEqual(["2 d 1", "2 b 2", "2 d 1", "2 b 1"]);
  });

  it("takes the selected time alone, and all of what it selects", () => {
    const list = rows([
      ["a;d", 0, 1],
      ["e;b", 0, 7],
      ["a;b;c", 1, 2],
    ]);
    expect(boxes(charted(list, [1, 2]))).toEqual(["0 all 7", "1 e 7", "2 b 7"]);
    const whole = charted(list);
    for (let i = 0; i < m.data.labels.length; i++) {
      const own = [...list.amount].filter((_, k) => m.data.label[list.node[k]] === i);
      expect(functionsOf(whole).own[i]).toBe(own.reduce((a, b) => a + b, 0));
    }
  });

  it("keeps stages and labels of the graph that it is made of", () => {
    const big = buildModel(decodeFlame(encode(flameBlock())));
    const node = ownWeight(big.tree, big.weight).findIndex(
      (own, i) => own > 0 && big.data.level[i] > 5,
    );
    const list = { ...rows([["a;d", 0, 3]]), node: Uint32Array.of(node) };
    const data = chart(big.data, big.tree, list, null, AS_IT_IS);
    expect(data?.nodes).toBe(big.data.level[node] + 1);
    expect(data?.stage[data.nodes - 1]).toBe(big.data.stage[node]);
  });
});
