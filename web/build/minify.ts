// Minifies the scripts of a page together with terser, behind the bundler's own minifier: it finds a few more places, and
// gives the page's own fields short names.
//
// Only names of OWN_NAMES are changed, in syntax and never in text, and those that browsers have stay even there. They may
// be fields, methods and exports of src/ alone: what comes from a file of zwhy, a JSON field, is read by its name in text
// or by a type that nothing here knows of, so none of its names may be listed. Tests compare the list with the names that
// the page reads, and open the built page.

import { type MinifyOptions, minify } from "terser";

export const OWN_NAMES: readonly string[] = [
  "amounts",
  "asideFor",
  "BACKGROUND",
  "begin",
  "blockElement",
  "blockName",
  "buildModel",
  "buildTree",
  "colours",
  "COLOURS",
  "comparedFunctions",
  "comparison",
  "counts",
  "DataError",
  "decodeOverview",
  "diffEntries",
  "diffPalette",
  "dimmed",
  "FAINT_TEXT",
  "firstAbove",
  "FLAME_EVENTS",
  "formatHash",
  "functionsOf",
  "groupEntries",
  "hasStages",
  "isLarge",
  "kindsOf",
  "moduleOf",
  "lampsOf",
  "levels",
  "levelsWithin",
  "listEntries",
  "litNodes",
  "maxBytes",
  "moduleColours",
  "MOST_PIXELS",
  "nodeAt",
  "ownWeight",
  "ownWeightOf",
  "packed",
  "parseHash",
  "pixelOf",
  "pixels",
  "prepareAside",
  "rasterise",
  "rasteriseAll",
  "rasteriseLit",
  "reweigh",
  "rooted",
  "runFrom",
  "shareA",
  "shareAfter",
  "shareB",
  "shareBefore",
  "shareOf",
  "spanOf",
  "stageColour",
  "stageEntries",
  "stagePalette",
  "stageWeight",
  "startsOf",
  "strip",
  "stripContext",
  "striped",
  "sumByFunction",
  "sumByStage",
  "tooLarge",
  "tree",
  "varint",
  "visibleHeight",
  "visited",
  "widest",
  "zoomBack",
  "zoomTo",
];

const OPTIONS: MinifyOptions = {
  ecma: 2020,
  // What these may change is not used: functions that are asked for their length or called as constructors.
  compress: { passes: 3, unsafe_arrows: true, unsafe_methods: true, keep_fargs: false },
  mangle: { properties: { regex: new RegExp(`^(?:${OWN_NAMES.join("|")})$`) } },
};

/** A page's scripts, the classic kernel, where it has one, and its module, with the same short names in both. */
export async function minified(
  kernel: string | null,
  module: string,
): Promise<{ kernel: string | null; module: string }> {
  const nameCache = {};
  const one = async (code: string, options: MinifyOptions) =>
    ((await minify(code, { ...OPTIONS, ...options, nameCache })).code ?? "").trim();
  return {
    kernel: kernel === null ? null : await one(kernel, {}),
    module: await one(module, { module: true }),
  };
}
