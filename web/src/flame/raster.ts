// Rasterises boxes into one row of pixels per level: a pure function over typed arrays.
//
// Nothing is pruned. A box that covers a whole pixel fills it; every other pixel blends background,
// unlit and lit boxes by their exact coverage, taken from prefix sums. Its hue is that of the box
// in the middle of the covered weight. Each step reads one box and moves at least one pixel on, so
// boxes visited ≤ pixels × rows, however many nodes there are.

import { firstAbove, type Level } from "./layout";

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
  readonly entry: Uint16Array;
  /** Which nodes are lit, with prefix sums of their weight per level; null when all are. */
  readonly lit: Lit | null;
}

export interface Lit {
  readonly node: Uint8Array;
  readonly cum: readonly Float64Array[];
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

/** Mixes `share` 0..1 of `over` into `under`, channel by channel. */
export function mix(under: Pixel, over: Pixel, share: number): Pixel {
  const q = Math.round(share * 255);
  const p = 255 - q;
  const r = Math.round(((under & 255) * p + (over & 255) * q) / 255);
  const g = Math.round((((under >>> 8) & 255) * p + ((over >>> 8) & 255) * q) / 255);
  const b = Math.round((((under >>> 16) & 255) * p + ((over >>> 16) & 255) * q) / 255);
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
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
  constructor(
    private readonly view: View,
    private readonly width: number,
    private readonly paint: Paint,
    private readonly pixels: Uint32Array,
    private readonly runFrom: number,
  ) {}

  row(level: Level, cum: Float64Array | null, row: number): void {
    const { view, width } = this;
    const scale = width / (view.x1 - view.x0);
    const base = row * width;
    let k = firstAbove(level.x1, 0, level.count, view.x0);
    let p = 0;
    while (p < width && k < level.count && level.x0[k] < view.x1) {
      this.visited++;
      const left = (level.x0[k] - view.x0) * scale;
      const right = (level.x1[k] - view.x0) * scale;
      if (left <= p && right >= p + 1) {
        const to = Math.min(width, Math.floor(right));
        this.fill(level.node[k], base, p, to, right - left, right > width);
        if (to - p >= this.runFrom) this.runs.push({ row, node: level.node[k], from: p, to });
        p = to;
      } else if (left >= p + 1) {
        p = Math.min(width, Math.floor(left));
        continue;
      } else {
        this.pixels[base + p] = this.blend(level, cum, k, p, 1 / scale);
        p++;
      }
      k = gallop(level.x1, k, level.count, view.x0 + p / scale);
    }
  }

  private colours(node: number): Uint32Array {
    const { paint } = this;
    return paint.lit && paint.lit.node[node] === 0 ? paint.dimmed : paint.colour;
  }

  private fill(node: number, base: number, from: number, to: number, wide: number, cut: boolean) {
    const { paint, pixels } = this;
    const entry = paint.entry[node];
    const colour = this.colours(node)[entry];
    pixels.fill(colour, base + from, base + to);
    if (paint.striped[entry] === 1) {
      const stripe = mix(colour, paint.background, 0.35);
      const first = Math.ceil(from / STRIPE_EVERY) * STRIPE_EVERY;
      for (let p = first; p < to; p += STRIPE_EVERY) pixels[base + p] = stripe;
    }
    if (wide >= SEPARATED && !cut) pixels[base + to - 1] = mix(colour, paint.background, 0.7);
  }

  /** The pixel p, partly covered by boxes from k on. */
  private blend(level: Level, cum: Float64Array | null, k: number, p: number, span: number): Pixel {
    const { view, paint } = this;
    const from = view.x0 + p * span;
    const to = from + span;
    const last = gallop(level.x1, k, level.count, to);
    const begin = upTo(level, level.cum, null, k, from);
    const covered = upTo(level, level.cum, null, last, to) - begin;
    const middle = boxAt(level, level.cum, begin + covered / 2, k, last);
    const share = Math.min(1, Math.max(0, covered / span));
    if (!paint.lit || !cum) {
      return mix(paint.background, paint.colour[paint.entry[middle]], share);
    }
    const litBegin = upTo(level, cum, paint.lit.node, k, from);
    const lit = upTo(level, cum, paint.lit.node, last, to) - litBegin;
    const unlit = mix(paint.background, paint.dimmed[paint.entry[middle]], share);
    if (lit <= 0) return unlit;
    const litMiddle = boxAt(level, cum, litBegin + lit / 2, k, last);
    return mix(unlit, paint.colour[paint.entry[litMiddle]], Math.min(1, lit / span));
  }
}

/** Weight left of x; box k is the first whose right edge is beyond x. */
function upTo(
  level: Level,
  cum: Float64Array,
  counts: Uint8Array | null,
  k: number,
  x: number,
): number {
  if (k >= level.count || level.x0[k] >= x) return cum[k];
  if (counts && counts[level.node[k]] === 0) return cum[k];
  return cum[k] + (x - level.x0[k]);
}

/** Node of the box k..last in which the running weight passes `amount`. */
function boxAt(level: Level, cum: Float64Array, amount: number, k: number, last: number): number {
  const found = firstAbove(cum, k + 1, Math.min(last, level.count - 1) + 1, amount) - 1;
  return level.node[Math.min(found, level.count - 1)];
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
  pixels.fill(paint.background, 0, width * rows.length);
  const painter = new RowPainter(view, width, paint, pixels, runFrom);
  if (view.x1 > view.x0 && width > 0) {
    rows.forEach((depth, row) => {
      const level = levels[depth];
      if (level) painter.row(level, paint.lit ? paint.lit.cum[depth] : null, row);
    });
  }
  return { visited: painter.visited, runs: painter.runs };
}
