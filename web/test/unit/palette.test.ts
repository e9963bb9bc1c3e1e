// Colours: text is readable on every one, stages keep their hue, muted ones stay grey.

import { describe, expect, it } from "vitest";
import {
  BACKGROUND,
  cssOf,
  diffPalette,
  FAINT_TEXT,
  MUTED,
  pixelOf,
  stageColours,
  stagePalette,
  TEXT,
} from "../../src/flame/palette";

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

const stages = [...Array.from({ length: 12 }, (_, i) => `stage ${i}`), ...MUTED];
const weights = Float64Array.from(stages, (_, i) => 100 - i);

describe("palette", () => {
  it("has text contrast of at least 5.7 on every colour", () => {
    const colours = [
      ...stagePalette(stages, stageColours(stages, weights), false).colour,
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
      const { dimmed } = stagePalette(stages, stageColours(stages, weights), dark);
      for (const colour of dimmed) {
        expect(contrast(colour, pixelOf(text))).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it("gives nine stages a hue each and the rest a common one", () => {
    const colours = stageColours(stages, weights);
    expect(new Set(colours.slice(0, 9)).size).toBe(9);
    expect(new Set(colours.slice(9, 12)).size).toBe(1);
    expect(colours.slice(0, 9)).not.toContain(colours[9]);
  });

  it("keeps the hue of a stage when others come and go", () => {
    const one = stageColours(["decrypt"], Float64Array.of(1))[0];
    const many = stageColours(["read", "decrypt", "copy"], Float64Array.of(1, 9, 2))[1];
    expect(many).toBe(one);
  });

  it("converts colours both ways", () => {
    expect(cssOf(pixelOf("#f2a65a"))).toBe("#f2a65a");
    expect(pixelOf("#010203")).toBe(0xff030201);
    expect(BACKGROUND.light).toBe("#ffffff");
  });
});
