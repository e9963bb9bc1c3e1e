// The colours that the Rust side writes into every flame block, from its table.

import { readFileSync } from "node:fs";

const PALETTE = readFileSync(
  new URL("../../../crates/flame/src/palette.rs", import.meta.url),
  "utf8",
);

export const STAGE_COLOURS: ReadonlyMap<string, string> = new Map(
  [...PALETTE.matchAll(/\("([a-z0-9 ]*)", "(#[0-9a-f]{6})"\)/g)].map(([, name, colour]) => [
    name,
    colour,
  ]),
);
