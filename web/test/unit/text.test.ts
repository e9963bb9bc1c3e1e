// Names and numbers as they are shown, and what fits into a box.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clip, labelled, MOST_LABELS } from "../../src/flame/labels";
import {
  percent,
  points,
  prose,
  range,
  seconds,
  signed,
  times,
  visible,
  weight,
} from "../../src/text";
import { HOSTILE_NAMES } from "../sample/hostile";

const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069\u200e\u200f]/u;

describe("visible", () => {
  it("leaves nothing that hides, reorders or breaks", () => {
    for (const name of HOSTILE_NAMES) expect(visible(name)).not.toMatch(HIDDEN);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        expect(visible(name)).not.toMatch(HIDDEN);
      }),
    );
  });
  it("shows what was hidden", () => {
    expect(visible("evil\u202egnp")).toBe("evil\\u{202e}gnp");
    expect(visible("a\nb")).toBe("a\\u{a}b");
    expect(visible("\ud800x")).toBe("\\u{d800}x");
  });
  it("leaves ordinary names in any script as they are", () => {
    for (const name of ["zio_execute", "שלום", "漢字", "a<b>::c(d)"])
      expect(visible(name)).toBe(name);
  });
  it("cuts long names and says how long they are", () => {
    expect(visible("x".repeat(10_000), 5)).toBe("xxxxx… (10,000 characters)");
  });
  it("keeps numbers and units together in prose, and nothing else", () => {
    expect(prose("28 % of 3 s at 200 MB/s, 4 KiB")).toBe(
      "28\u00a0% of 3\u00a0s at 200\u00a0MB/s, 4\u00a0KiB",
    );
    expect(prose("2 sets of 3 Mbytes, x %")).toBe("2 sets of 3 Mbytes, x %");
  });
  it("takes line breaks of prose as blanks", () => {
    expect(prose(" a\n  b\u0000 ")).toBe("a b\\u{0}");
  });
});

describe("numbers", () => {
  it("of one thing have its name in the singular", () => {
    expect(weight(1, "samples")).toBe("1 sample");
    expect(weight(0, "samples")).toBe("0 samples");
    expect(weight(1001, "cycles")).toBe("1,001 cycles");
  });
  it("shares", () => {
    expect(percent(0.631)).toBe("63.1\u00a0%");
    expect(percent(0)).toBe("0.0\u00a0%");
    expect(percent(0.0001)).toBe("< 0.1\u00a0%");
    expect(percent(Number.NaN)).toBe("–");
    expect(range(0.592, 0.67)).toBe("59.2–67.0");
    expect(times(2.71, 2.45, 3.03)).toBe("2.7x (2.5–3.0)");
    expect(times(1.2, 1.2, 1.2)).toBe("1.20x");
    expect(times(9, 7, null)).toBe("9.0x (7.0 or more)");
  });
  it("changes carry their sign", () => {
    expect(points(0.031)).toBe("+3.1 points");
    expect(points(-0.031)).toBe("−3.1 points");
    expect(points(-0.0001)).toBe("±0.0 points");
    expect([0.0004, -0.0004, 0, -0.12].map(signed)).toEqual(["±0.0", "±0.0", "±0.0", "−12.0"]);
  });
  it("weights carry their unit", () => {
    expect(weight(12_345, "samples")).toBe("12,345 samples");
    expect(weight(2.5e9, "ns")).toBe("2.50 s");
    expect(seconds(1234)).toBe("1,234 s");
  });
});

describe("labels", () => {
  it("fit in their room and never cut a character in two", () => {
    expect(clip("zio_execute", 200, 7)).toBe("zio_execute");
    expect(clip("zio_execute", 40, 7)).toBe("zio_…");
    expect(clip("zio_execute", 20, 7)).toBe("");
    expect(clip("𝓯𝓾𝓷𝓬𝓽", 28, 7)).toBe("𝓯𝓾𝓷…");
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.integer({ min: 0, max: 400 }),
        (text, room) => {
          expect(Array.from(clip(text, room, 7)).length * 7).toBeLessThanOrEqual(room);
        },
      ),
    );
  });
  it("go to the widest boxes when there are too many", () => {
    const runs = Array.from({ length: 2000 }, (_, i) => ({ row: 0, node: i, from: 0, to: 30 + i }));
    const chosen = labelled(runs);
    expect(chosen.length).toBe(MOST_LABELS);
    expect(Math.min(...chosen.map((run) => run.node))).toBe(2000 - MOST_LABELS);
  });
});
