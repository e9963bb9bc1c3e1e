// The pass that checks the nodes lays them out as the one does that only lays out.

import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import { sumByStage } from "../../src/flame/functions";
import { grow } from "../../src/flame/grow";
import { layOut } from "../../src/flame/layout";
import { buildTree } from "../../src/flame/tree";
import { blockOf, encode } from "../sample/flame";
import { comparisons, stacks } from "./arbitrary";

it("agrees with the layout of what was checked, also where nodes have no weight", () => {
  // The first side of a comparison has nodes without weight: those of stacks that only the second has.
  fc.assert(
    fc.property(fc.oneof(stacks, comparisons), (list) => {
      const data = decodeFlame(encode(blockOf(list)));
      const tree = buildTree(data.level);
      expect(grow(data)).toEqual({
        layout: layOut(data.level, tree, data.value),
        stageWeight: sumByStage(data, tree, data.value),
      });
    }),
  );
});
