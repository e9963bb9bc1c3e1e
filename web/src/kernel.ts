// What page and worker share, built as one script in the head of the page: it runs there first, and the worker is made
// of its text. The rest of the page takes from it what is exported here (build/kernel.ts), so that the file holds it
// once.

import { follow } from "./flame/early";
import { type Scope, serve } from "./flame/prepare";
import { parseHash } from "./state/hash";

export { unpack } from "./data/block";
export { Bytes } from "./data/bytes";
export { DataError } from "./data/error";
export { decodeOverview, MOST_PIXELS } from "./data/overview";
export { asideFor, blockElement, blockName } from "./flame/early";
export { sumByFunction, sumByStage } from "./flame/functions";
export { firstAbove, levelsWithin, nodeAt } from "./flame/layout";
export { isLit, kindsOf, lampsOf, light, litNodes, startsOf } from "./flame/lit";
export {
  buildModel,
  comparedFunctions,
  functionsOf,
  reweigh,
  shareOf,
  spanOf,
} from "./flame/model";
export { once } from "./flame/once";
export {
  BACKGROUND,
  cssOf,
  diffEntries,
  diffPalette,
  FAINT_TEXT,
  groupEntries,
  listEntries,
  moduleColours,
  pixelOf,
  stageEntries,
  stagePalette,
  TEXT,
} from "./flame/palette";
export { isLarge, prepareAside } from "./flame/prepare";
export { mix, rasterise, rasteriseAll, rasteriseLit } from "./flame/raster";
export { buildTree, ownWeight, ownWeightOf } from "./flame/tree";
export { COLOURS, FLAME_EVENTS, formatHash, parseHash, START } from "./state/hash";

if (typeof document === "undefined") serve(self as unknown as Scope);
else follow(document.currentScript?.textContent ?? "", parseHash(window.location.hash).input);
