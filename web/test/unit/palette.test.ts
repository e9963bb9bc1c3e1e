// Colours: text is readable on every one, stages keep their hue, muted ones stay grey.

import { describe, expect, it } from "vitest";
import {
  BACKGROUND,
  cssOf,
  diffPalette,
  FAINT_TEXT,
  moduleColours,
  pixelOf,
  stageColours,
  stagePalette,
  TEXT,
} from "../../src/flame/palette";
import { STAGE_COLOURS } from "../sample/colours";

function luminance(pixel: number): number {
  const [r, g, b] = [pixel & 255, (pixel >>> 8) & 255, (pixel >>> 16) & 255].map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: number, b: number): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

const stages = [...STAGE_COLOURS.keys(), "another"];
const modules = ["thread", "", ...Array.from({ length: 14 }, (_, i) => `module${i}`)];
const ofModules = moduleColours(
  modules,
  Float64Array.from(modules, (_, i) => 100 - i),
);
const given = [...STAGE_COLOURS.values()];

describe("palette", () => {
  it("has text contrast of at least 5.7 on every colour", () => {
    const colours = [
      ...stagePalette(stages, stageColours(stages, given), false).colour,
      ...stagePalette(modules, ofModules, false).colour,
      ...diffPalette(false).colour,
    ];
    for (const colour of colours)
      expect(contrast(colour, pixelOf(TEXT))).toBeGreaterThanOrEqual(5.7);
  });

  it("has faint but readable text on dimmed boxes", () => {
    for (const [dark, text] of [
      [false, FAINT_TEXT.light],
      [true, FAINT_TEXT.dark],
    ] as const) {
      const { dimmed } = stagePalette(stages, stageColours(stages, given), dark);
      for (const colour of dimmed) {
        expect(contrast(colour, pixelOf(text))).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it("gives every stage a colour of its own, whatever else is in the file", () => {
    expect(given.length).toBe(44);
    expect(new Set(given).size).toBe(given.length);
    const colours = stageColours(["copy", "idle", "unheard of"], ["#ef7462", "", ""]);
    expect(colours[0]).toBe("#ef7462");
    expect(new Set(colours).size).toBe(3);
  });

  it("gives the heaviest modules colours of their own, and threads a quiet one", () => {
    expect(new Set(ofModules.slice(2, 14)).size).toBe(12);
    expect(ofModules[0]).toBe(ofModules[1]);
    expect(ofModules.slice(2)).not.toContain(ofModules[0]);
  });

  it("converts colours both ways", () => {
    expect(cssOf(pixelOf("#f2a65a"))).toBe("#f2a65a");
    expect(pixelOf("#010203")).toBe(0xff030201);
    expect(BACKGROUND.light).toBe("#ffffff");
  });
});
