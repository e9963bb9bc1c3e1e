// What the page draws of a law of two sizes is what the program fitted: both read the same file of costs.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { predictedOf } from "../../src/lab/scale";

const ROWS: {
  law: string;
  fixed: number;
  slopes: [number, number];
  n: number;
  m: number;
  cost: number;
}[] = JSON.parse(readFileSync(new URL("../sample/laws-of-two.json", import.meta.url), "utf8"));

it.each(ROWS)("predicts with the law $law", (row) => {
  expect(predictedOf(row, row.n, row.m)).toBeCloseTo(row.cost, 6);
});

it("predicts nothing by a law that it does not know", () => {
  expect(predictedOf({ law: "toString", fixed: 1, slopes: [1, 1] }, 2, 2)).toBeNull();
});
