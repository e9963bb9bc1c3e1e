// Rasterises boxes into one row of pixels per level: a pure function over typed arrays.
//
// Nothing is pruned, and the bands of an overview (data/overview.ts) have the weight of what they stand for. A box that covers a whole pixel fills it; every other pixel blends background
// and boxes by their exact coverage, taken from prefix sums. Its hue is that of the box in the middle
// of the covered weight. Each step reads one box and moves at least one pixel on, so boxes visited ≤
// pixels × rows, however many nodes there are. Where boxes are lit, all are drawn dimmed, and over
// them those that are lit in the same way, as if a level had no others.

import { firstAbove, type Level, type Places } from "./layout";
import type { Lit } from "./lit";

/** Pixels are 0xAABBGGRR, as a little-endian view of ImageData has them. */
export type Pixel = number;

export interface Paint {
  readonly background: Pixel;
  /** Colour of each palette entry, and the same when other boxes are highlighted. */
  readonly colour: Uint32Array;
  readonly dimmed: Uint32Array;
  /** Palette entries drawn with stripes, so that colour is not the only cue. */
  readonly striped: Uint8Array;
  /** Palette entry of each node. */
  readonly entry: (node: number) => number;
  /** Which nodes are lit; null when all are. */
  readonly lit: Lit | null;
}

export interface View {
  readonly x0: number;
  readonly x1: number;
}

/** A box wide enough for text: row of the raster, node, and its pixels from..to. */
export interface Run {
  readonly row: number;
  readonly node: number;
  readonly from: number;
  readonly to: number;
  /** Its name, where the model that has it is elsewhere. */
  readonly name?: string;
}

export interface Raster {
  readonly visited: number;
  readonly runs: readonly Run[];
}

/** What is drawn where: `rows` are level numbers from top to bottom, each a row of `width` pixels. */
export interface Strip {
  readonly rows: readonly number[];
  readonly view: View;
  readonly width: number;
  readonly paint: Paint;
  readonly pixels: Uint32Array;
}

/** Boxes at least this wide end with a line that sets them off from the next. */
const SEPARATED = 4;
const STRIPE_EVERY = 4;

const RED_BLUE = 0xff00ff;

/**
 * Mixes `share` 0..1 of `over` into `under`, channel by channel, each rounded to the nearest.
 *
 * As signed numbers, opaque colours are small ones, which engines hand over without allocating.
 */
function mixed(under: number, over: number, share: number): number {
  const q = (share * 255 + 0.5) | 0;
  const p = 255 - q;
  // Red and blue in one number, 16 bits each. A sum s of at most 255 * 255 is divided by 255 and rounded in whole
  // numbers: with n = s + 128 as (n + (n >> 8)) >> 8.
  const rb = Math.imul(under & RED_BLUE, p) + Math.imul(over & RED_BLUE, q) + 0x800080;
  const g = ((under >>> 8) & 255) * p + ((over >>> 8) & 255) * q + 128;
  return (
    0xff000000 | (((rb + ((rb >>> 8) & RED_BLUE)) >>> 8) & RED_BLUE) | ((g + (g >>> 8)) & 0xff00)
  );
}

/** As `mixed`, for colours as the palette has them. */
export function mix(under: Pixel, over: Pixel, share: number): Pixel {
  return mixed(under, over, share) >>> 0;
}

/** First box whose right edge is beyond x, looking near `from` first: `guess` boxes on, then twice as many. */
function gallop(x1: Places, from: number, count: number, x: number, guess: number): number {
  let low = from;
  let step = guess + 1;
  let high = from + guess;
  while (high < count && x1[high] <= x) {
    low = high + 1;
    high = low + step;
    step *= 2;
  }
  return firstAbove(x1, low, Math.min(count, high + 1), x);
}

class RowPainter {
  visited = 0;
  readonly runs: Run[] = [];
  /** Weight left of the next pixel. */
  private weight = 0;
  /** The colours as signed numbers. */
  private readonly background: number;
  private readonly signed: Int32Array;
  /** `over` draws over what is there, else over the background. */
  constructor(
    private readonly strip: Strip,
    private readonly colour: Uint32Array,
    private readonly runFrom: number,
    private readonly over: boolean,
  ) {
    this.background = strip.paint.background | 0;
    this.signed = Int32Array.from(colour, (one) => one | 0);
  }

  /** Draws the rows from their levels; a row without a level stays as it is. */
  draw(levelOf: (depth: number) => Level | undefined): Raster {
    const { rows, view, width } = this.strip;
    if (view.x1 > view.x0 && width > 0) {
      rows.forEach((depth, row) => {
        const level = levelOf(depth);
        if (level) this.row(level, row);
      });
    }
    return this;
  }

  private row(level: Level, row: number): void {
    const { view, width, pixels } = this.strip;
    const { x0, x1, node, count } = level;
    const span = (view.x1 - view.x0) / width;
    const scale = 1 / span;
    const base = row * width;
    let k = firstAbove(x1, 0, count, view.x0);
    let p = 0;
    /** Whether `weight` is that left of the pixel p already, from the pixel before. */
    let known = false;
    /** How many boxes ended in the pixel before. */
    let many = 0;
    while (p < width && k < count && x0[k] < view.x1) {
      this.visited++;
      const left = (x0[k] - view.x0) * scale;
      const right = (x1[k] - view.x0) * scale;
      if (left <= p && right >= p + 1) {
        const to = Math.min(width, Math.floor(right));
        this.fill(node[k], base, p, to, right - left, right > width);
        if (to - p >= this.runFrom) this.runs.push({ row, node: node[k], from: p, to });
        p = to;
        known = false;
      } else if (left >= p + 1) {
        p = Math.min(width, Math.floor(left));
        known = false;
        continue;
      } else {
        if (!known) this.weight = upTo(level, k, view.x0 + p * span);
        // The first box that goes on beyond this pixel is the first of the next.
        // It has about as many as the pixel before.
        const last = gallop(x1, k, count, view.x0 + (p + 1) * span, many);
        many = last - k;
        pixels[base + p] = this.blend(level, k, last, view.x0 + (p + 1) * span, span, base + p);
        p++;
        k = last;
        known = true;
        continue;
      }
      k = gallop(x1, k, count, view.x0 + p * span, 0);
    }
  }

  private fill(node: number, base: number, from: number, to: number, wide: number, cut: boolean) {
    const { paint, pixels } = this.strip;
    const entry = paint.entry(node);
    const colour = this.colour[entry];
    pixels.fill(colour, base + from, base + to);
    if (paint.striped[entry] === 1) {
      const stripe = mix(colour, paint.background, 0.35);
      const first = Math.ceil(from / STRIPE_EVERY) * STRIPE_EVERY;
      for (let p = first; p < to; p += STRIPE_EVERY) pixels[base + p] = stripe;
    }
    if (wide >= SEPARATED && !cut) pixels[base + to - 1] = mix(colour, paint.background, 0.7);
  }

  /** A pixel that ends at x, partly covered by the boxes k..last; the weight left of its end is taken down. */
  private blend(
    level: Level,
    k: number,
    last: number,
    x: number,
    span: number,
    pixel: number,
  ): number {
    const { weight: begin } = this;
    const { paint, pixels } = this.strip;
    const { cum, node, count } = level;
    const under = this.over ? pixels[pixel] | 0 : this.background;
    this.weight = upTo(level, last, x);
    const covered = this.weight - begin;
    if (covered <= 0) return under;
    const middle = node[boxAt(cum, begin + covered / 2, k, last, count)];
    return mixed(under, this.signed[paint.entry(middle)], Math.min(1, covered / span));
  }
}

/** Weight left of x; box k is the first whose right edge is beyond x. That of a band lies evenly in it. */
function upTo({ cum, x0, x1, count }: Level, k: number, x: number): number {
  if (k >= count || x0[k] >= x) return cum[k];
  return cum[k] + ((x - x0[k]) * (cum[k + 1] - cum[k])) / (x1[k] - x0[k]);
}

/** Place of the box k..last in which the running weight passes `amount`. */
function boxAt(cum: Places, amount: number, k: number, last: number, count: number): number {
  const found = firstAbove(cum, k + 1, Math.min(last, count - 1) + 1, amount) - 1;
  return Math.min(found, count - 1);
}

/**
 * Draws all boxes of `levels`, dimmed where some are lit. Runs at least `runFrom` pixels wide come back for their
 * labels.
 */
export function rasteriseAll(levels: readonly Level[], strip: Strip, runFrom: number): Raster {
  const { rows, width, paint, pixels } = strip;
  pixels.fill(paint.background, 0, width * rows.length);
  const colour = paint.lit ? paint.dimmed : paint.colour;
  return new RowPainter(strip, colour, runFrom, false).draw((depth) => levels[depth]);
}

/** Draws the boxes that are lit over the pixels as `rasteriseAll` left them. */
export function rasteriseLit(strip: Strip): Raster {
  const { lit, colour } = strip.paint;
  const painter = new RowPainter(strip, colour, Number.POSITIVE_INFINITY, true);
  return painter.draw((depth) => lit?.level(depth));
}

/** Both, one after the other. */
export function rasterise(levels: readonly Level[], strip: Strip, runFrom: number): Raster {
  const all = rasteriseAll(levels, strip, runFrom);
  return { visited: all.visited + rasteriseLit(strip).visited, runs: all.runs };
}
