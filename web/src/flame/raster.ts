// Rasterises boxes into one row of pixels per level: a pure function over typed arrays.
//
// Nothing is pruned. A box that covers a whole pixel fills it; every other pixel blends background
// and boxes by their exact coverage, taken from prefix sums. Its hue is that of the box in the middle
// of the covered weight. Each step reads one box and moves at least one pixel on, so boxes visited ≤
// pixels × rows, however many nodes there are. Where boxes are lit, all are drawn dimmed, and over
// them those that are lit in the same way, as if a level had no others.

import { firstAbove, type Level } from "./layout";
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
}

export interface Raster {
  readonly visited: number;
  readonly runs: readonly Run[];
}

/** Boxes at least this wide end with a line that sets them off from the next. */
const SEPARATED = 4;
const STRIPE_EVERY = 4;

/**
 * Mixes `share` 0..1 of `over` into `under`, channel by channel, each rounded to the nearest.
 *
 * As signed numbers, opaque colours are small ones, which engines hand over without allocating.
 */
function mixed(under: number, over: number, share: number): number {
  const q = Math.floor(share * 255 + 0.5) | 0;
  const p = 255 - q;
  // In whole numbers: (2n + 255) / 510, cut, is n / 255 rounded.
  const r = ((2 * ((under & 255) * p + (over & 255) * q) + 255) / 510) | 0;
  const g = ((2 * (((under >>> 8) & 255) * p + ((over >>> 8) & 255) * q) + 255) / 510) | 0;
  const b = ((2 * (((under >>> 16) & 255) * p + ((over >>> 16) & 255) * q) + 255) / 510) | 0;
  return 0xff000000 | (b << 16) | (g << 8) | r;
}

/** As `mixed`, for colours as the palette has them. */
export function mix(under: Pixel, over: Pixel, share: number): Pixel {
  return mixed(under, over, share) >>> 0;
}

/** First box whose right edge is beyond x, looking near `from` first. */
function gallop(x1: Float64Array, from: number, count: number, x: number): number {
  let step = 1;
  let high = from;
  while (high < count && x1[high] <= x) {
    high = from + step;
    step *= 2;
  }
  return firstAbove(x1, from, Math.min(count, high + 1), x);
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
    private readonly view: View,
    private readonly width: number,
    private readonly paint: Paint,
    private readonly colour: Uint32Array,
    private readonly pixels: Uint32Array,
    private readonly runFrom: number,
    private readonly over: boolean,
  ) {
    this.background = paint.background | 0;
    this.signed = Int32Array.from(colour, (one) => one | 0);
  }

  row(level: Level, row: number): void {
    const { view, width, pixels } = this;
    const { x0, x1, node, count } = level;
    const span = (view.x1 - view.x0) / width;
    const scale = 1 / span;
    const base = row * width;
    let k = firstAbove(x1, 0, count, view.x0);
    let p = 0;
    /** Whether `weight` is that left of the pixel p already, from the pixel before. */
    let known = false;
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
        const last = gallop(x1, k, count, view.x0 + (p + 1) * span);
        pixels[base + p] = this.blend(level, k, last, view.x0 + (p + 1) * span, span, base + p);
        p++;
        k = last;
        known = true;
        continue;
      }
      k = gallop(x1, k, count, view.x0 + p * span);
    }
  }

  private fill(node: number, base: number, from: number, to: number, wide: number, cut: boolean) {
    const { paint, pixels } = this;
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
    const { paint, weight: begin } = this;
    const { cum, node, count } = level;
    const under = this.over ? this.pixels[pixel] | 0 : this.background;
    this.weight = upTo(level, last, x);
    const covered = this.weight - begin;
    if (covered <= 0) return under;
    const middle = node[boxAt(cum, begin + covered / 2, k, last, count)];
    return mixed(under, this.signed[paint.entry(middle)], Math.min(1, covered / span));
  }
}

/** Weight left of x; box k is the first whose right edge is beyond x. */
function upTo({ cum, x0, count }: Level, k: number, x: number): number {
  return k < count && x0[k] < x ? cum[k] + (x - x0[k]) : cum[k];
}

/** Place of the box k..last in which the running weight passes `amount`. */
function boxAt(cum: Float64Array, amount: number, k: number, last: number, count: number): number {
  const found = firstAbove(cum, k + 1, Math.min(last, count - 1) + 1, amount) - 1;
  return Math.min(found, count - 1);
}

/** Draws all boxes, dimmed where some are lit; see `rasterise`. */
export function rasteriseAll(
  levels: readonly Level[],
  rows: readonly number[],
  view: View,
  width: number,
  paint: Paint,
  pixels: Uint32Array,
  runFrom: number,
): Raster {
  pixels.fill(paint.background, 0, width * rows.length);
  const colour = paint.lit ? paint.dimmed : paint.colour;
  const painter = new RowPainter(view, width, paint, colour, pixels, runFrom, false);
  return drawn(painter, levels, rows, view, width);
}

/** Draws the boxes that are lit over `pixels` as `rasteriseAll` left them. */
export function rasteriseLit(
  rows: readonly number[],
  view: View,
  width: number,
  paint: Paint,
  pixels: Uint32Array,
): Raster {
  const wide = Number.POSITIVE_INFINITY;
  const painter = new RowPainter(view, width, paint, paint.colour, pixels, wide, true);
  return drawn(painter, paint.lit?.levels ?? [], rows, view, width);
}

function drawn(
  painter: RowPainter,
  levels: readonly Level[],
  rows: readonly number[],
  view: View,
  width: number,
): Raster {
  if (view.x1 > view.x0 && width > 0) {
    rows.forEach((depth, row) => {
      const level = levels[depth];
      if (level) painter.row(level, row);
    });
  }
  return { visited: painter.visited, runs: painter.runs };
}

/**
 * Draws `rows` (level numbers from top to bottom) of `levels` into `pixels`, one row of `width`
 * pixels each. Runs at least `runFrom` pixels wide come back for their labels.
 */
export function rasterise(
  levels: readonly Level[],
  rows: readonly number[],
  view: View,
  width: number,
  paint: Paint,
  pixels: Uint32Array,
  runFrom: number,
): Raster {
  const all = rasteriseAll(levels, rows, view, width, paint, pixels, runFrom);
  const lit = rasteriseLit(rows, view, width, paint, pixels);
  return { visited: all.visited + lit.visited, runs: all.runs };
}
