// The rasteriser: exact coverage, a bound on its work, and golden pixels.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import { type Lamps, light, litNodes } from "../../src/flame/lit";
import { buildModel, type FlameModel, spanOf } from "../../src/flame/model";
import { diffEntries, diffPalette, stageEntries, stagePalette } from "../../src/flame/palette";
import { mix, type Paint, type Raster, rasterise, type View } from "../../src/flame/raster";
import { diffBlock, flameBlock } from "../sample/encryption";
import { type Block, blockOf, encode, type Stack } from "../sample/flame";
import { stacks } from "./arbitrary";
import { expectGolden } from "./golden";

const BLACK = 0xff000000;
const WHITE = 0xffffffff;

function modelOf(block: Block): FlameModel {
  return buildModel(decodeFlame(encode(block)));
}

/** White boxes on black: the red channel is then the coverage. */
function plain(): Paint {
  return {
    background: BLACK,
    colour: Uint32Array.of(WHITE),
    dimmed: Uint32Array.of(BLACK),
    striped: Uint8Array.of(0),
    entry: () => 0,
    lit: null,
  };
}

function draw(m: FlameModel, view: View, width: number, paint: Paint) {
  const rows = m.layout.levels.map((_, i) => i);
  const pixels = new Uint32Array(width * rows.length);
  const raster: Raster = rasterise(m.layout.levels, { rows, view, width, paint, pixels }, 3);
  return { pixels, raster, rows };
}

function whole(m: FlameModel): View {
  return { x0: 0, x1: m.layout.width };
}

/** Coverage of each pixel, from every box, without any search. */
function naiveCoverage(m: FlameModel, depth: number, view: View, width: number): number[] {
  const level = m.layout.levels[depth];
  const span = (view.x1 - view.x0) / width;
  return Array.from({ length: width }, (_, p) => {
    const from = view.x0 + p * span;
    let covered = 0;
    for (let k = 0; k < level.count; k++) {
      covered += Math.max(0, Math.min(level.x1[k], from + span) - Math.max(level.x0[k], from));
    }
    return covered / span;
  });
}

/** A lamp for each node. */
function one(lit: Uint8Array): Lamps {
  return { lit, of: Uint32Array.from(lit, (_, i) => i) };
}

function lit(m: FlameModel, lamps: Lamps) {
  return light(m, lamps, litNodes(lamps));
}

/** Many boxes much narrower than a pixel, with gaps. */
function wide(nodes: number): Block {
  const list: Stack[] = Array.from({ length: nodes }, (_, i) => ({
    frames: [{ name: `a${i % 97}_${i}` }, { name: `b${i % 7}` }].slice(0, 1 + (i % 2)),
    count: 1 + ((i * 7919) % 13),
  }));
  return blockOf(list);
}

const view = fc.tuple(
  fc.double({ min: 0, max: 0.9, noNaN: true }),
  fc.double({ min: 1e-3, max: 1, noNaN: true }),
);

describe("rasterise", () => {
  it("covers each pixel by exactly what lies in it", () => {
    fc.assert(
      fc.property(stacks, view, fc.integer({ min: 1, max: 60 }), (list, [at, size], width) => {
        const m = modelOf(blockOf(list));
        const all = m.layout.width;
        if (all === 0) return;
        const part = { x0: at * all, x1: Math.min(1, at + size) * all };
        const { pixels, rows } = draw(m, part, width, plain());
        for (const row of rows) {
          naiveCoverage(m, row, part, width).forEach((coverage, p) => {
            const shown = pixels[row * width + p] & 255;
            // A wide box ends with a darker line; every other pixel is its coverage.
            const line = shown === (mix(WHITE, BLACK, 0.7) & 255) && coverage > 0.999;
            if (!line) expect(Math.abs(shown - coverage * 255)).toBeLessThanOrEqual(0.51);
          });
        }
      }),
      { numRuns: 200 },
    );
  });

  it("visits at most one box per pixel and row, however many nodes there are", () => {
    const m = modelOf(wide(60_000));
    for (const width of [1, 7, 320, 1280]) {
      const { raster, rows } = draw(m, whole(m), width, plain());
      expect(raster.visited).toBeLessThanOrEqual(width * rows.length);
    }
    fc.assert(
      fc.property(stacks, fc.integer({ min: 1, max: 40 }), (list, width) => {
        const few = modelOf(blockOf(list));
        const { raster, rows } = draw(few, whole(few), width, plain());
        expect(raster.visited).toBeLessThanOrEqual(width * rows.length);
      }),
    );
  });

  it("shows a match however narrow it is", () => {
    const m = modelOf(wide(60_000));
    const lamps = new Uint8Array(m.data.nodes);
    lamps[30_000] = 1;
    const paint = { ...plain(), lit: lit(m, one(lamps)) };
    const width = 20;
    const { pixels, rows } = draw(m, spanAround(m, 30_000, 400), width, paint);
    const bright = rows.flatMap((row) =>
      [...pixels.subarray(row * width, (row + 1) * width)].filter((pixel) => (pixel & 255) > 0),
    );
    expect(bright.length).toBeGreaterThan(0);
    expect(bright.length).toBeLessThanOrEqual(2);
  });

  it("draws what is lit over what is not, each by what lies in the pixel", () => {
    // Red is all there is, green what is lit of it.
    const [red, green] = [0xff0000ff, 0xff00ff00];
    fc.assert(
      fc.property(
        stacks,
        view,
        fc.integer({ min: 1, max: 60 }),
        fc.infiniteStream(fc.boolean()),
        (list, [at, size], width, coins) => {
          const m = modelOf(blockOf(list));
          const all = m.layout.width;
          if (all === 0) return;
          const part = { x0: at * all, x1: Math.min(1, at + size) * all };
          const chosen = Uint8Array.from(m.weight, () => Number(coins.next().value));
          const paint = {
            ...plain(),
            colour: Uint32Array.of(green),
            dimmed: Uint32Array.of(red),
            lit: lit(m, one(chosen)),
          };
          const { pixels, rows } = draw(m, part, width, paint);
          for (const row of rows) {
            const level = m.layout.levels[row];
            const shining = level.node.filter((node) => chosen[node] === 1);
            const share = (p: number, which: Uint32Array) => {
              const span = (part.x1 - part.x0) / width;
              const from = part.x0 + p * span;
              return which.reduce((sum, node) => {
                const { x0, x1 } = spanOf(m, node);
                return sum + Math.max(0, Math.min(x1, from + span) - Math.max(x0, from)) / span;
              }, 0);
            };
            for (let p = 0; p < width; p++) {
              const pixel = pixels[row * width + p];
              const bright = share(p, shining);
              const covered = share(p, level.node);
              const line = covered > 0.999 && ((pixel & 255) | ((pixel >>> 8) & 255)) < 200;
              if (line) continue;
              expect(Math.abs(((pixel >>> 8) & 255) - bright * 255)).toBeLessThanOrEqual(1.01);
              const under = covered * (1 - bright) * 255;
              expect(Math.abs((pixel & 255) - under)).toBeLessThanOrEqual(1.51);
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("draws nothing for an empty view or an empty profile", () => {
    const m = modelOf(blockOf([{ frames: [{ name: "a" }], count: 0 }]));
    const { pixels, raster } = draw(m, whole(m), 8, plain());
    expect(raster.visited).toBe(0);
    expect([...pixels].every((pixel) => pixel === BLACK)).toBe(true);
  });

  it("reports runs wide enough for text, within their row", () => {
    const m = modelOf(flameBlock());
    const { raster } = draw(m, whole(m), 200, plain());
    expect(raster.runs.length).toBeGreaterThan(10);
    for (const run of raster.runs) {
      expect(run.to - run.from).toBeGreaterThanOrEqual(3);
      expect(run.to).toBeLessThanOrEqual(200);
      expect(m.data.level[run.node]).toBe(run.row);
    }
  });
});

function spanAround(m: FlameModel, node: number, times: number): View {
  const { x0, x1 } = spanOf(m, node);
  const half = ((x1 - x0) * times) / 2;
  return { x0: (x0 + x1) / 2 - half, x1: (x0 + x1) / 2 + half };
}

/** Pixels as text: a letter per colour, one line per level, and the colours below. */
function picture(pixels: Uint32Array, width: number): string {
  const letters = new Map<number, string>();
  const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  let text = "";
  pixels.forEach((pixel, i) => {
    if (!letters.has(pixel))
      letters.set(pixel, alphabet[letters.size] ?? `<${pixel.toString(16)}>`);
    text += letters.get(pixel);
    if ((i + 1) % width === 0) text += "\n";
  });
  const key = [...letters].map(([pixel, letter]) => `${letter} ${pixel.toString(16)}`);
  return `${text}\nABGR\n${key.join("\n")}\n`;
}

describe("golden pixels", () => {
  const m = modelOf(flameBlock());
  const entry = stageEntries(m.data);
  const paint = (isDark: boolean): Paint => ({
    ...stagePalette(m.data.stages, m.stageColour, isDark),
    entry,
    lit: null,
  });

  it("encryption_64px_light", () => {
    expectGolden(
      "encryption_64px_light.txt",
      picture(draw(m, whole(m), 64, paint(false)).pixels, 64),
    );
  });

  it("encryption_64px_dark_find_kfpu", () => {
    const lamps = Uint8Array.from(m.data.label, (label) =>
      m.data.labels[label].startsWith("kfpu") ? 1 : 0,
    );
    const dimmed = { ...paint(true), lit: lit(m, one(lamps)) };
    expectGolden(
      "encryption_64px_dark_find_kfpu.txt",
      picture(draw(m, whole(m), 64, dimmed).pixels, 64),
    );
  });

  it("encryption_diff_64px", () => {
    const d = modelOf(diffBlock());
    if (!d.comparison) throw new Error("must be a comparison");
    const colours = {
      ...diffPalette(false),
      entry: diffEntries(d.comparison.shareA, d.comparison.shareB),
      lit: null,
    };
    expectGolden("encryption_diff_64px.txt", picture(draw(d, whole(d), 64, colours).pixels, 64));
  });
});
