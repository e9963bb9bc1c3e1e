// Parts of seconds: every busy sample is in the part in which it was taken, idle ones in none.

import { describe, expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import type { SampleData } from "../../src/data/samples";
import { heat, PARTS } from "../../src/flame/heat";
import { blockOf, encode } from "../sample/flame";

const data = decodeFlame(
  encode(
    blockOf([
      { frames: [{ name: "busy", stage: "copy" }], count: 5 },
      { frames: [{ name: "swapper", stage: "idle" }], count: 5 },
    ]),
  ),
);
const nodeOf = (name: string) => [...data.label].findIndex((label) => data.labels[label] === name);

function taken(list: readonly (readonly [number, string])[]): SampleData {
  return {
    rows: list.length,
    time: Float64Array.from(list, ([t]) => t),
    node: Uint32Array.from(list, ([, name]) => nodeOf(name)),
    thread: new Uint32Array(list.length),
    cpu: new Int32Array(list.length),
    amount: new Float64Array(list.length).fill(1),
    threads: [],
  };
}

describe("heat", () => {
  it("has each busy sample in its part of its second", () => {
    const list = taken([
      [0.01, "busy"],
      [0.02, "busy"],
      [0.5, "swapper"],
      [2.99, "busy"],
    ]);
    const drawn = heat(data, list, 3);
    expect(drawn?.seconds).toBe(3);
    expect(drawn?.most).toBe(2);
    const cells = [...(drawn?.amount ?? [])].flatMap((n, cell) => (n > 0 ? [[cell, n]] : []));
    expect(cells).toEqual([
      [0, 2],
      [2 * PARTS + 24, 1],
    ]);
  });

  it("is not made of what is too short, too long or only idle", () => {
    const busy = taken([[0.5, "busy"]]);
    expect(heat(data, busy, 2)).toBeNull();
    expect(heat(data, busy, 901)).toBeNull();
    expect(heat(data, taken([[0.5, "swapper"]]), 10)).toBeNull();
  });
});
