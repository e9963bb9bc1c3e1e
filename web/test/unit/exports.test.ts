// What is saved for other programs: all of the weight, and names that are nothing but names.

import { describe, expect, it } from "vitest";
import { readCompare } from "../../src/data/compare";
import {
  compareMarkdown,
  findingMarkdown,
  foldedOf,
  functionsCsv,
  pprofOf,
  speedscopeOf,
  svgOf,
} from "../../src/data/exports";
import { decodeFlame } from "../../src/data/flame";
import { readAnswer } from "../../src/data/read-answer";
import { buildModel } from "../../src/flame/model";
import { diffEntries, diffPalette, stageEntries, stagePalette } from "../../src/flame/palette";
import { comparison } from "../sample/compare";
import { answer, flameBlock, TOTAL } from "../sample/encryption";
import { blockOf, encode } from "../sample/flame";

const modelOf = (block: Parameters<typeof encode>[0]) => buildModel(decodeFlame(encode(block)));
const m = modelOf(flameBlock());
const EVIL = '=cmd|"x";</title><script>alert(1)</script>\u202e\n```';
const evil = modelOf(blockOf([{ frames: [{ name: EVIL }, { name: "b" }], count: 7 }]));

describe("exports", () => {
  it("hold all of the weight", () => {
    const sum = (lines: string[]) =>
      lines.reduce((all, line) => all + Number(/\d+$/.exec(line)), 0);
    expect(sum(foldedOf(m).trim().split("\n"))).toBe(TOTAL);
    const scope = JSON.parse(speedscopeOf(m, "x"));
    expect(scope.profiles[0].weights.reduce((a: number, b: number) => a + b, 0)).toBe(TOTAL);
    expect(scope.profiles[0].endValue).toBe(TOTAL);
    expect(functionsCsv(m).trim().split("\r\n").length).toBeGreaterThan(30);
  });

  it("write pprof as its schema says", () => {
    const bytes = pprofOf(
      modelOf(blockOf([{ frames: [{ name: "a" }, { name: "b" }], count: 300 }])),
    );
    const hex = Buffer.from(bytes).toString("latin1");
    // Sample: locations 3 and 2 (leaf first, labels all, a, b), value 300 as a varint.
    expect(hex).toContain("\x12\x08\x0a\x02\x03\x02\x12\x02\xac\x02");
    expect(hex.startsWith("\x0a\x04\x08\x04\x10\x02")).toBe(true);
    expect(hex).toContain("\x32\x01a\x32\x01b");
  });

  it("have the weights of both profiles of a comparison, and all of them", () => {
    const two = modelOf(
      blockOf([
        { frames: [{ name: "a" }, { name: "b" }], count: 30, countB: 5 },
        { frames: [{ name: "a" }], count: 10, countB: 0 },
        { frames: [{ name: "c" }], count: 0, countB: 15 },
      ]),
    );
    expect(foldedOf(two).trim().split("\n").sort()).toEqual(["a 10 0", "a;b 30 5", "c 0 15"]);
    const { profiles } = JSON.parse(speedscopeOf(two, "x"));
    const told = profiles.map((one: Record<string, unknown>) => [one.name, one.endValue]);
    expect(told).toEqual([
      ["before", 40],
      ["after", 20],
    ]);
    expect(profiles[1].weights).toEqual([5, 15]);
    const [head, ...rows] = functionsCsv(two).trim().split("\r\n");
    expect(head.split(",").slice(2, 6)).toEqual(
      ["self", "total", "self_share", "total_share"].map((one) => `before_${one}`),
    );
    expect(head.split(",")[6]).toBe("after_self");
    expect(rows).toContain('"b","",30,30,0.750000,0.750000,5,5,0.250000,0.250000');
    expect(rows.length).toBe(4);
    // Two kinds of samples, and the two values of a stack as one packed field.
    const pprof = Buffer.from(pprofOf(two)).toString("latin1");
    expect(pprof.startsWith("\x0a\x04\x08\x04\x10\x02\x0a\x04\x08\x05\x10\x02")).toBe(true);
    expect(pprof).toContain("\x12\x02\x1e\x05");
    const paint = {
      ...diffPalette(false),
      entry: diffEntries(
        two.comparison?.shareA ?? new Float64Array(),
        two.comparison?.shareB ?? new Float64Array(),
      ),
      lit: null,
    };
    const drawn = svgOf(two, { x0: 0, x1: two.layout.width }, paint, 3, false, 600);
    expect(drawn.replaceAll("\u00a0", " ")).toContain(
      "<title>b (before 75.0 % after 25.0 % change",
    );
  });

  it("tell a comparison as Markdown, with what came, what went and what changed", () => {
    const bytes = new TextEncoder().encode(JSON.stringify(comparison()));
    const text = compareMarkdown(readCompare(bytes));
    expect(text).toMatch(/^### /);
    expect(text).not.toContain("undefined");
    expect(text.split("\n").filter((line) => line.startsWith("- ")).length).toBeGreaterThan(2);
  });

  it("keep hostile names inert", () => {
    expect(foldedOf(evil)).toBe(
      '=cmd|"x":</title><script>alert(1)</script>\\u{202e}\\u{a}```;b 7\n',
    );
    expect(functionsCsv(evil)).toContain('"\'=cmd|""x"";</title>');
    const paint = {
      ...stagePalette(evil.data.stages, evil.stageColour, false),
      entry: stageEntries(evil.data),
      lit: null,
    };
    const drawn = svgOf(evil, { x0: 0, x1: 7 }, paint, 3, false, 600);
    expect(drawn).not.toMatch(/<script|\u202e/);
    expect(drawn.match(/<rect/g)?.length).toBe(3);
  });

  it("tell a finding as Markdown without its names being markup", () => {
    const sample = answer();
    (sample.findings as { title: string }[])[0].title = "<b>x</b> `y`";
    const read = readAnswer(new TextEncoder().encode(JSON.stringify(sample))).answer;
    const text = findingMarkdown(read.findings[0]);
    expect(text).toContain("### \\<b\\>x\\</b\\> \\`y\\`");
    expect(text).toContain("Risk: Needs room for a second copy.");
    expect(text).toContain("Undo: The old dataset is not touched.");
    expect(text).toContain("zfs snapshot tank/games@move");
  });
});
