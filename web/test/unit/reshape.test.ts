// Other shapes of a graph: what stays adds up, callers are callees the other way round, filters do what they say.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import { buildModel, type FlameModel, functionsOf } from "../../src/flame/model";
import { AS_IT_IS, changesNothing, type Reshape, reshape } from "../../src/flame/reshape";
import { ownWeight } from "../../src/flame/tree";
import { type Block, blockOf, encode, folded } from "../sample/flame";
import { stacks } from "./arbitrary";

const modelOf = (block: Block) => buildModel(decodeFlame(encode(block)));

function shaped(m: FlameModel, change: Partial<Reshape>): FlameModel {
  return buildModel(reshape(m.data, m.tree, { ...AS_IT_IS, ...change }));
}

/** The stacks of a model as folded text, sorted. */
function text(m: FlameModel): string[] {
  const lines: string[] = [];
  const path: string[] = [];
  const own = ownWeight(m.tree, m.weight);
  for (let i = 0; i < m.data.nodes; i++) {
    path.length = m.data.level[i];
    path.push(m.data.labels[m.data.label[i]]);
    if (own[i] > 0) lines.push(`${path.slice(1).join(";")} ${own[i]}`);
  }
  return lines.sort();
}

const SMALL = modelOf(blockOf(folded("a;b;c 3\na;b;b;d 2\ne;b;c 5\na 1")));

describe("reshape", () => {
  it("gives the same stacks where nothing is asked", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const m = modelOf(blockOf(list));
        expect(text(shaped(m, {}))).toEqual(text(m));
      }),
      { numRuns: 50 },
    );
    expect(changesNothing(AS_IT_IS)).toBe(true);
  });

  it("by caller keeps the own weight of every function and the whole", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const m = modelOf(blockOf(list));
        const callers = shaped(m, { shape: "callers" });
        expect(callers.weight[0]).toBe(m.weight[0]);
        // The first row of callers are the leaves: the own weight of each function.
        const first = new Map<number, number>();
        for (let i = 1; i < callers.data.nodes; i++) {
          const label = callers.data.label[i];
          if (callers.data.level[i] === 1) {
            first.set(label, (first.get(label) ?? 0) + callers.weight[i]);
          }
        }
        const root = m.data.label[0];
        functionsOf(m).own.forEach((own, label) => {
          if (label !== root) expect(first.get(label) ?? 0).toBe(own);
        });
      }),
      { numRuns: 50 },
    );
  });

  it("shows who calls a function and what it calls", () => {
    expect(text(shaped(SMALL, { shape: "callers", of: "b" }))).toEqual([
      "b;a 3",
      "b;b;a 2",
      "b;e 5",
    ]);
    expect(text(shaped(SMALL, { shape: "callees", of: "b" }))).toEqual(["b;b;d 2", "b;c 8"]);
  });

  it("with a function as root has its callers and its callees, with the same total", () => {
    const of = { of: "b", rooted: true } as const;
    const [above, below] = [
      shaped(SMALL, { shape: "callers", ...of }),
      shaped(SMALL, { shape: "callees", ...of }),
    ];
    for (const m of [above, below]) expect(m.data.labels[m.data.label[0]]).toBe("b");
    expect(text(above)).toEqual(["a 3", "b;a 2", "e 5"]);
    expect(text(below)).toEqual(["b;d 2", "c 8"]);
    expect([above.weight[0], below.weight[0]]).toEqual([10, 10]);
  });

  it("keeps, drops and hides by name", () => {
    expect(text(shaped(SMALL, { focus: /^c$/ }))).toEqual(["a;b;c 3", "e;b;c 5"]);
    expect(text(shaped(SMALL, { without: /^c$/ }))).toEqual(["a 1", "a;b;b;d 2"]);
    expect(text(shaped(SMALL, { hide: /^b$/ }))).toEqual(["a 1", "a;c 3", "a;d 2", "e;c 5"]);
    expect(text(shaped(SMALL, { collapse: true }))).toEqual([
      "a 1",
      "a;b;c 3",
      "a;b;d 2",
      "e;b;c 5",
    ]);
  });

  it("takes threads as one", () => {
    const thread = (name: string) => ({ name: `[${name}]`, module: "thread", stage: "" });
    const m = modelOf(
      blockOf([
        { frames: [thread("x"), { name: "f" }], count: 2 },
        { frames: [thread("y"), { name: "f" }], count: 3 },
      ]),
    );
    expect(text(shaped(m, { merge: true }))).toEqual(["f 5"]);
  });
});
