// Decodes the block "ZWO1": what a screen shows of all of a large graph, long before the graph itself is there.
//
// Positions are whole numbers up to UNITS. A box narrower than a cell, of which the width has 4,096, is not in it, but a
// band with the weight of all such boxes in its cell (crates/flame/src/overview.rs): a level's weight left of each cell is
// right. So it shows a picture of at most MOST_PIXELS, and the graph itself a wider one.

import { Boxes, type Level } from "../flame/layout";
import { stageColours } from "../flame/palette";
import { Bytes } from "./bytes";
import { colours, count, damaged, numbers, readHeader, texts } from "./flame";

const UNITS = 1 << 16;
export const MOST_PIXELS = 2048;

export interface Overview {
  readonly stages: readonly string[];
  readonly stageColour: readonly string[];
  /** Own weight per stage, and all of it. */
  readonly stageWeight: ArrayLike<number>;
  readonly weight: number;
  /** How many levels the graph has; it may be more than are here. */
  readonly depth: number;
  /** Boxes and bands by level; their `node` is a number of their own. */
  readonly levels: readonly Level[];
  /** Where the levels end on the right. */
  readonly width: number;
  /** Palette entry by that number. */
  readonly entry: (item: number) => number;
  /** The boxes that may have room for their names, by that number. */
  readonly named: ReadonlyMap<number, { readonly node: number; readonly name: string }>;
}

/** Throws DataError that names the damaged part. */
export function decodeOverview(all: Uint8Array): Overview {
  const bytes = new Bytes(all);
  const header = readHeader(bytes, "ZWO1", 1);
  const stages = texts(header, "stages");
  const stageWeight = numbers(header, "weights", stages.length);
  const counts = numbers(header, "items");
  const items = counts.reduce((sum, many) => sum + many, 0);
  if (items > bytes.left) throw damaged(`${items} boxes of the overview are not there.`);
  const [free, extent, bare, entry] = ["free", "extent", "bare", "entry"].map((column) =>
    bytes.small(items, column),
  );
  const boxes = new Boxes(counts, UNITS);
  const { begin, x0, x1, cum, node } = boxes;
  counts.forEach((_, at) => {
    let x = 0;
    for (let k = begin[at]; k < begin[at + 1]; k++) {
      node[k] = k;
      x += free[k];
      x0[k] = x;
      x += extent[k];
      x1[k] = x;
      cum[k + at + 1] = cum[k + at] + extent[k] - bare[k];
      if (x > UNITS || bare[k] > extent[k]) throw damaged(`box ${k} of the overview is outside.`);
      if (entry[k] >= stages.length * 3) throw damaged(`box ${k} of the overview has no stage.`);
    }
  });
  const names = texts(header, "names");
  const nodes = numbers(header, "boxes", names.length);
  const named = numbers(header, "named", names.length);
  return {
    stages,
    stageColour: stageColours(stages, colours(header, stages.length)),
    stageWeight,
    weight: count(header, "total"),
    depth: count(header, "depth"),
    levels: boxes.levels(),
    width: UNITS,
    entry: (item) => entry[item],
    named: new Map(names.map((name, i) => [named[i], { node: nodes[i], name }])),
  };
}
