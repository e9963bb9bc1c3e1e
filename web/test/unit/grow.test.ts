// The one pass over the nodes gives what a pass for each of its results gives.

import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import { sumByStage } from "../../src/flame/functions";
import { grow } from "../../src/flame/grow";
import { layOut } from "../../src/flame/layout";
import { buildTree } from "../../src/flame/tree";
import { blockOf, encode } from "../sample/flame";
import { comparisons, stacks } from "./arbitrary";

it("agrees with the passes of their own, also where nodes have no weight", () => {
  // The first side of a comparison has nodes without weight: those of stacks that only the second has.
  fc.assert(
    fc.property(fc.oneof(stacks, comparisons), (list) => {
      const data = decodeFlame(encode(blockOf(list)));
      const grown = grow(data);
      const tree = buildTree(data.level);
      expect(grown.tree).toEqual(tree);
      expect(grown.layout).toEqual(layOut(data.level, tree, data.value));
      expect(grown.stageWeight).toEqual(sumByStage(data, tree, data.value));
    }),
  );
});
