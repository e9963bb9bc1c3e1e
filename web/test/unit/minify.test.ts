// The names that the build shortens: fields of the page's own, and none that it reads from its file.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { minified, OWN_NAMES } from "../../build/minify";
import { SHAPES } from "../../src/data/answer-shapes";
import { comparison } from "../sample/compare";
import { answer, diffBlock } from "../sample/encryption";
import { encodeOverview } from "../sample/overview";
import { factsBlock, timelineBlock } from "../sample/surroundings";

/** The names of all fields within a value. */
function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]);
}

const json = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../sample/${name}.json`, import.meta.url), "utf8"));

it("shortens no field that the page reads from its file, and none twice", () => {
  const overview = new TextDecoder().decode(encodeOverview(diffBlock()));
  const read = new Set([
    ...(SHAPES.match(/\w+/g) ?? []),
    ...[answer(), comparison(), timelineBlock(), factsBlock(), diffBlock().header].flatMap(
      fieldsOf,
    ),
    ...[json("lab"), json("laws-of-two")].flatMap(fieldsOf),
    ...(overview.match(/(?<=")\w+(?=":)/g) ?? []),
    // Fields of samples (crates/flame/src/samples.rs) and of the list of inputs.
    ...["version", "rows", "tickNs", "first", "threads", "name", "pid", "tid", "why"],
  ]);
  expect(read.size).toBeGreaterThan(150);
  expect(OWN_NAMES.filter((name) => read.has(name))).toEqual([]);
  expect(new Set(OWN_NAMES).size).toBe(OWN_NAMES.length);
});

it("is only asked for fields that are called by their names", () => {
  // A field that is asked for by a text, as those of the state are, must keep its name.
  const state = readFileSync(new URL("../../src/state/hash.ts", import.meta.url), "utf8");
  const kept = [...state.matchAll(/^ {2}readonly (\w+):/gm)].map(([, name]) => name);
  expect(kept.length).toBeGreaterThan(15);
  expect(OWN_NAMES.filter((name) => kept.includes(name))).toEqual([]);
});

it("gives a field the same short name in both scripts, and leaves texts and what browsers have", async () => {
  const { kernel, module } = await minified(
    "var zwhy=function(e){e.rasterise=function(){return document.title};return e}({});",
    "const text='rasterise',m=zwhy.rasterise();console.log(m.stageWeight,text,m.answer,m['pool'])",
  );
  const short = /\.(\w+)=/.exec(kernel ?? "")?.[1];
  expect(short).toMatch(/^\w\w?$/);
  expect(kernel).toContain("document.title");
  expect(module).toMatch(new RegExp(`zwhy\\.${short}\\(\\)`));
  expect(module).toContain('"rasterise"');
  expect(module).not.toContain("stageWeight");
  expect(module).toMatch(/\.answer,\w+\.pool/);
});
