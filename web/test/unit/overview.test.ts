// The overview of a large graph: what it sums up, and that its picture is that of the graph.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bytes } from "../../src/data/bytes";
import { DataError } from "../../src/data/error";
import { decodeFlame, readHeader } from "../../src/data/flame";
import { decodeOverview } from "../../src/data/overview";
import { buildModel } from "../../src/flame/model";
import { stageEntries, stagePalette } from "../../src/flame/palette";
import { rasteriseAll } from "../../src/flame/raster";
import { flameBlock } from "../sample/encryption";
import { type Block, blockOf, encode, folded, type Stack } from "../sample/flame";
import { encodeOverview } from "../sample/overview";
import { stacks } from "./arbitrary";

/** Pixels and names of the whole graph, from the graph and from its overview. */
function pictures(block: Block, width: number) {
  const m = buildModel(decodeFlame(encode(block)));
  const overview = decodeOverview(encodeOverview(block));
  const rows = [...m.layout.levels.keys()];
  const drawn = (
    levels: typeof m.layout.levels,
    x1: number,
    entry: (node: number) => number,
    nameOf: (node: number) => string | undefined,
  ) => {
    const palette = stagePalette(m.data.stages, m.stageColour, false);
    const pixels = new Uint32Array(width * rows.length);
    const strip = { rows, view: { x0: 0, x1 }, width, paint: { ...palette, entry, lit: null } };
    const { runs, visited } = rasteriseAll(levels, { ...strip, pixels }, 26);
    expect(visited).toBeLessThanOrEqual(pixels.length);
    return {
      bytes: new Uint8Array(pixels.buffer),
      names: runs.map(({ row, node }) => [row, nameOf(node)]),
    };
  };
  const { labels, label } = m.data;
  return {
    graph: drawn(m.layout.levels, m.layout.width, stageEntries(m.data), (n) => labels[label[n]]),
    overview: drawn(
      overview.levels,
      overview.width,
      overview.entry,
      (n) => overview.named.get(n)?.name,
    ),
  };
}

/** Many narrow boxes beside and above wide ones; `of` tells how wide each is. */
function fine(of: (i: number) => number): Stack[] {
  return Array.from({ length: 20_000 }, (_, i) => ({
    frames: [{ name: `p${i % 3}` }, { name: `q${i % 700}` }, { name: `r${i}` }],
    count: of(i),
  }));
}

describe("decodeOverview", () => {
  it("has wide boxes as they are and sums up narrow ones by cell", () => {
    // The same graph as in crates/flame/src/overview.rs. A cell has two samples, a sample eight units.
    const block = blockOf(folded("a 4096\nb;x 1\nc 1\nd 1\ne 4093", () => ""));
    const { levels, named, entry, depth } = decodeOverview(encodeOverview(block));
    const places = levels.map(({ x0, x1, cum }) => [[...x0], [...x1], [...cum]]);
    expect(places).toEqual([
      [[0], [65_536], [0, 65_536]],
      [
        [0, 32_768, 32_784, 32_792],
        [32_768, 32_784, 32_792, 65_536],
        [0, 32_768, 32_784, 32_792, 65_536],
      ],
      [[32_768], [32_784], [0, 8]],
    ]);
    expect([...named]).toEqual([
      [0, { node: 0, name: "all" }],
      [1, { node: 1, name: "a" }],
      [4, { node: 6, name: "e" }],
    ]);
    expect([0, 1, 2, 3, 4, 5].map(entry)).toEqual([0, 1, 1, 1, 2, 0]);
    expect(depth).toBe(3);
  });

  it("has the weight of each level, and of each stage", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const block = blockOf(list);
        fc.pre(Number(block.header.total) > 0);
        const m = buildModel(decodeFlame(encode(block)));
        const overview = decodeOverview(encodeOverview(block));
        expect(overview.stageWeight).toEqual([...m.stageWeight]);
        expect(overview.depth).toBe(m.layout.levels.length);
        overview.levels.forEach(({ cum, count }, at) => {
          const exact = m.layout.levels[at];
          const share = exact.cum[exact.count] / m.layout.width;
          // Each wide box is rounded by itself.
          expect(Math.abs(cum[count] / overview.width - share)).toBeLessThan(count / 65_536 + 1e-9);
        });
      }),
    );
  });

  it("refuses what is cut or damaged", () => {
    const whole = encodeOverview(flameBlock());
    for (let cut = 0; cut < whole.length; cut += 7) {
      expect(() => decodeOverview(whole.subarray(0, cut))).toThrow(DataError);
    }
    for (let at = 0; at < whole.length; at++) {
      const flipped = Uint8Array.from(whole);
      flipped[at] ^= 0x81;
      try {
        decodeOverview(flipped);
      } catch (error) {
        expect(error).toBeInstanceOf(DataError);
      }
    }
    expect(() => readHeader(new Bytes(whole), "ZWF2", 2)).toThrow(/begin with ZWF2/);
  });
});

describe("its picture", () => {
  it("is that of the graph where no box is narrow", () => {
    for (const width of [64, 300, 893, 2048]) {
      const { graph, overview } = pictures(flameBlock(), width);
      expect(overview.names).toEqual(graph.names);
      // A place is off by half of a unit, so a pixel that two boxes share by a small part of their difference.
      const most = graph.bytes.reduce(
        (so, byte, i) => Math.max(so, Math.abs(byte - overview.bytes[i])),
        0,
      );
      expect(most).toBeLessThanOrEqual(Math.ceil((255 * width) / 65_536));
    }
  });

  it.each([
    ["alike", () => 1],
    ["different", (i: number) => 1 + ((i * 7919) % 13) ** 2],
  ])("covers pixels as the graph does where narrow boxes are %s", (_, of) => {
    const { graph, overview } = pictures(blockOf(fine(of)), 893);
    expect(overview.names).toEqual(graph.names);
    let [sum, most] = [0, 0];
    graph.bytes.forEach((byte, i) => {
      const off = Math.abs(byte - overview.bytes[i]);
      sum += off;
      most = Math.max(most, off);
    });
    expect(sum / graph.bytes.length).toBeLessThan(4);
    // What is another shade of a colour, and nowhere a gap or a box that is not there.
    expect(most).toBeLessThan(60);
  });
});
