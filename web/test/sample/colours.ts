// The colours that the Rust side writes into every flame block, from its tables.

import { readFileSync } from "node:fs";

function text(name: string): string {
  return readFileSync(new URL(`../../../crates/flame/src/${name}`, import.meta.url), "utf8");
}

const STAGES = [...text("palette.txt").matchAll(/^(#[0-9a-f]{6}) (.*)$/gm)];
const QUIET = [...text("palette.rs").matchAll(/\("([a-z0-9 ]*)", "(#[0-9a-f]{6})"\)/g)];

export const STAGE_COLOURS: ReadonlyMap<string, string> = new Map([
  ...STAGES.map(([, colour, name]): [string, string] => [name ?? "", colour ?? ""]),
  ...QUIET.map(([, name, colour]): [string, string] => [name ?? "", colour ?? ""]),
]);
