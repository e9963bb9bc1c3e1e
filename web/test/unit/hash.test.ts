// The URL hash: every state comes back, and anything at all can stand in it.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatHash, type PageState, parseHash, START } from "../../src/state/hash";
import { HOSTILE_NAMES } from "../sample/hostile";

const wellFormed = fc.string({ unit: "grapheme" });
const state: fc.Arbitrary<PageState> = fc.record({
  input: fc.nat(50),
  finding: fc.nat(50),
  zoom: fc.nat(1_000_000),
  range: fc.option(
    fc
      .tuple(fc.nat(999), fc.integer({ min: 1, max: 1000 }))
      .map(([a, size]): [number, number] => [a / 1000, Math.min(1000, a + size) / 1000]),
  ),
  node: fc.nat(1_000_000),
  query: wellFormed,
  time: fc.option(
    fc
      .tuple(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 1, max: 5000 }))
      .map(([a, b]) => [a / 1000, (a + b) / 1000] as const),
  ),
  shape: fc.constantFrom("stacks", "callers", "callees", "sandwich", "time"),
  of: fc.string(),
  focus: fc.string(),
  without: fc.string(),
  hide: fc.string(),
  collapse: fc.boolean(),
  merge: fc.boolean(),
  split: fc.constantFrom("thread", "process", "cpu"),
  colour: fc.constantFrom("stage", "module"),
  stage: wellFormed,
  event: fc.constantFrom("cpu", "wait", "count"),
  mode: fc.constantFrom("flame", "table"),
  icicle: fc.boolean(),
  sort: fc.constantFrom("own", "total", "name"),
  theme: fc.constantFrom("auto", "light", "dark"),
  keys: fc.boolean(),
});

describe("hash", () => {
  it("brings every state back", () => {
    fc.assert(
      fc.property(state, (one) => {
        expect(parseHash(`#${formatHash(one)}`)).toEqual(one);
      }),
    );
  });
  it("is empty at the start", () => {
    expect(formatHash(START)).toBe("");
    expect(parseHash("")).toEqual(START);
  });
  it("takes anything and stays within bounds", () => {
    const odd = [
      "#zoom=-1&node=1e99&range=1-0",
      "#zoom=NaN&range=0-2",
      "#range=a-b-c&view=x",
      "#%",
      "#=&=",
    ];
    for (const hash of odd) expect(parseHash(hash)).toEqual(START);
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseHash(text)));
    for (const name of HOSTILE_NAMES) parseHash(`#find=${name}`);
  });
});
