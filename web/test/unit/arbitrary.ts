// Random stacks with recursion, shared names and empty weights.

import fc from "fast-check";
import type { Stack } from "../sample/flame";

const names = ["a", "b", "c", "d", "read", "zio"];
const frame = fc.record({
  name: fc.constantFrom(...names),
  stage: fc.constantFrom("s0", "s1", "unknown"),
});

export const stacks: fc.Arbitrary<Stack[]> = fc.array(
  fc.record({
    frames: fc.array(frame, { minLength: 0, maxLength: 7 }),
    count: fc.integer({ min: 0, max: 1000 }),
  }),
  { minLength: 1, maxLength: 40 },
);

export const comparisons: fc.Arbitrary<Stack[]> = fc.array(
  fc.record({
    frames: fc.array(frame, { minLength: 1, maxLength: 5 }),
    count: fc.integer({ min: 0, max: 50 }),
    countB: fc.integer({ min: 0, max: 50 }),
  }),
  { minLength: 1, maxLength: 20 },
);
