// The first picture of a large graph: drawn by the worker as soon as boxes have their places, as it takes longer to
// compute and to hand over what else the page needs of them.

import type { FlameData } from "../data/flame";
import type { Grown } from "./grow";
import { levelsWithin } from "./layout";
import { stageColours, stageEntries, stagePalette } from "./palette";
import { type Run, rasteriseAll } from "./raster";

/** What the page draws on: its width and the smallest box with a name in pixels, and for how many levels it has room. */
export interface Sheet {
  readonly width: number;
  readonly rows: number;
  readonly runFrom: number;
  readonly dark: boolean;
}

export interface Picture {
  readonly stages: readonly string[];
  readonly stageColour: readonly string[];
  /** Own weight per stage, and all of it. */
  readonly stageWeight: Float64Array;
  readonly weight: number;
  readonly width: number;
  /** How many levels the whole graph has. */
  readonly depth: number;
  /** A row of pixels for each level that there is room for, the root first. */
  readonly pixels: Uint32Array;
  /** The boxes with names; their rows are levels. */
  readonly runs: readonly Run[];
}

/** All of the graph, coloured by stage, as the page draws it itself when it has the model. */
export function firstPicture(data: FlameData, grown: Grown, sheet: Sheet): Picture {
  const { layout, stageWeight } = grown;
  const { width, runFrom, dark } = sheet;
  const depth = levelsWithin(layout, 0, layout.width);
  const rows = Array.from({ length: Math.min(sheet.rows, depth) }, (_, level) => level);
  const pixels = new Uint32Array(width * rows.length);
  const { labels, label, stages } = data;
  const stageColour = stageColours(stages, data.stageColours);
  const palette = stagePalette(stages, stageColour, dark);
  const paint = { ...palette, entry: stageEntries(data), lit: null };
  const strip = { rows, view: { x0: 0, x1: layout.width }, width, paint, pixels };
  const { runs } = rasteriseAll(layout.levels, strip, runFrom);
  return {
    stages,
    stageColour,
    // A copy, as what goes to the page is gone here.
    stageWeight: stageWeight.slice(),
    weight: layout.width,
    width,
    depth,
    pixels,
    runs: runs.map((run) => ({ ...run, name: labels[label[run.node]] })),
  };
}
