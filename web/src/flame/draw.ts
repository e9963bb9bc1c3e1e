// Puts the raster on a canvas: one-pixel rows stretched to their height, then text and outlines.

import type { Overview } from "../data/overview";
import { signed, visible } from "../text";
import { clip, labelled } from "./labels";
import { isLit } from "./lit";
import { type FlameModel, spanOf } from "./model";
import { BACKGROUND, cssOf, FAINT_TEXT, TEXT } from "./palette";
import { type Paint, type Run, rasteriseAll, rasteriseLit, type Strip, type View } from "./raster";

export const ROW_HEIGHT = 20;
const FONT_SIZE = 12;
const PADDING = 4;
const FONTS = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

/** What to draw: a graph, or its overview while there is no more of it. */
export interface Scene {
  readonly model: FlameModel | null;
  /** Where all of the graph is in view and this is enough for its picture. */
  readonly overview: Overview | null;
  readonly view: View;
  readonly paint: Paint;
  readonly dark: boolean;
  /** Levels in view; row 0 is at the top of the content. */
  readonly depth: number;
  readonly icicle: boolean;
  /** First visible line of the content, in CSS pixels. */
  readonly scrollTop: number;
  readonly selected: number;
  readonly hovered: number;
}

/** The width from which a box has a name. */
export function named(ratio: number): number {
  return Math.round(26 * ratio);
}

/** The level drawn in a row of the content. */
export function levelOfRow(row: number, depth: number, icicle: boolean): number {
  return icicle ? row : depth - 1 - row;
}

/** A picture without what is lit, and what it was drawn from. */
interface Under {
  readonly of: readonly unknown[];
  readonly pixels: Uint32Array;
  readonly runs: readonly Run[];
}

/** As `rasteriseAll`; what has a name is the box of the graph. */
function rasteriseOverview(of: Overview, strip: Strip, runFrom: number): Run[] {
  const all = { x0: 0, x1: of.width };
  const paint = { ...strip.paint, entry: of.entry };
  const { runs } = rasteriseAll(of.levels, { ...strip, view: all, paint }, runFrom);
  return runs.map((run) => ({ ...run, name: "", ...of.named.get(run.node) }));
}

export class Painter {
  private under: Under | null = null;
  private readonly strip = document.createElement("canvas");
  private readonly stripContext: CanvasRenderingContext2D;
  private readonly context: CanvasRenderingContext2D;
  private image: ImageData | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    const stripContext = this.strip.getContext("2d", { alpha: false });
    if (!context || !stripContext) throw new Error("this browser has no 2D canvas");
    this.context = context;
    this.stripContext = stripContext;
  }

  draw(scene: Scene, width: number, height: number, ratio: number): void {
    const w = Math.max(1, Math.round(width * ratio));
    const h = Math.max(1, Math.round(height * ratio));
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    const rowHeight = Math.round(ROW_HEIGHT * ratio);
    const top = Math.round(scene.scrollTop * ratio);
    const first = Math.max(0, Math.floor(top / rowHeight));
    const last = Math.min(scene.depth, Math.ceil((top + h) / rowHeight));
    const rows: number[] = [];
    for (let row = first; row < last; row++) {
      rows.push(levelOfRow(row, scene.depth, scene.icicle));
    }
    const { context } = this;
    const background = scene.dark ? BACKGROUND.dark : BACKGROUND.light;
    context.fillStyle = background;
    context.fillRect(0, 0, w, h);
    if (rows.length === 0) return;
    const offset = first * rowHeight - top;
    const runs = this.blit(scene, rows, w, rowHeight, offset, named(ratio));
    context.fillStyle = background;
    for (let row = 1; row <= rows.length; row++) {
      context.fillRect(0, offset + row * rowHeight - 1, w, 1);
    }
    this.write(scene, runs, rowHeight, offset, ratio);
    this.outline(scene, scene.hovered, w, rowHeight, top, ratio);
    this.outline(scene, scene.selected, w, rowHeight, top, 2 * ratio);
  }

  private blit(
    scene: Scene,
    rows: readonly number[],
    w: number,
    rowHeight: number,
    offset: number,
    runFrom: number,
  ): readonly Run[] {
    if (!this.image || this.image.width !== w || this.image.height < rows.length) {
      this.image = new ImageData(w, rows.length);
      this.strip.width = w;
      this.strip.height = rows.length;
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    const runs = this.rasterise(scene, rows, w, runFrom, pixels);
    this.stripContext.putImageData(this.image, 0, 0, 0, 0, w, rows.length);
    this.context.imageSmoothingEnabled = false;
    const height = rows.length * rowHeight;
    this.context.drawImage(this.strip, 0, 0, w, rows.length, 0, offset, w, height);
    return runs;
  }

  /** While somebody types only what is lit changes, under a pointer only an outline: the rest of the picture is kept. */
  private rasterise(
    { model, overview, view, paint }: Scene,
    rows: readonly number[],
    w: number,
    runFrom: number,
    pixels: Uint32Array,
  ): readonly Run[] {
    const strip = { rows, view, width: w, paint, pixels };
    const colour = paint.lit ? paint.dimmed : paint.colour;
    // Of a deep graph the overview has the first levels.
    const few = model && rows.some((row) => !overview?.levels[row]) ? null : overview;
    const levels = few?.levels ?? model?.layout.levels ?? [];
    const of = [levels, paint.entry, colour, view.x0, view.x1, w, runFrom, ...rows];
    const known = this.under;
    if (known?.of.length === of.length && of.every((one, i) => one === known.of[i])) {
      pixels.set(known.pixels);
    } else {
      const runs = few
        ? rasteriseOverview(few, strip, runFrom)
        : rasteriseAll(levels, strip, runFrom).runs;
      this.under = { of, runs, pixels: pixels.slice(0, w * rows.length) };
    }
    if (paint.lit) rasteriseLit(strip);
    return this.under?.runs ?? [];
  }

  private write(
    scene: Scene,
    runs: readonly Run[],
    rowHeight: number,
    offset: number,
    ratio: number,
  ): void {
    const { context } = this;
    const { model, paint } = scene;
    context.font = `${FONT_SIZE * ratio}px ${FONTS}`;
    context.textBaseline = "middle";
    context.direction = "ltr";
    const charWidth = context.measureText("0000000000").width / 10;
    const faint = scene.dark ? FAINT_TEXT.dark : FAINT_TEXT.light;
    for (const run of labelled(runs)) {
      const room = run.to - run.from - 2 * PADDING * ratio;
      const text = clip(this.label(model, run), room, charWidth);
      if (text === "") continue;
      const dim = !isLit(paint.lit, run.node);
      context.fillStyle = dim ? faint : TEXT;
      // Letters outside ASCII may be wider than one cell: fillText then squeezes them.
      context.fillText(
        text,
        run.from + PADDING * ratio,
        offset + (run.row + 0.5) * rowHeight,
        Math.max(1, room),
      );
    }
  }

  private label(model: FlameModel | null, run: Run): string {
    const { node } = run;
    const name = visible(
      (run.name ?? model?.data.labels[model.data.label[node]] ?? "").slice(0, 512),
    );
    if (!model?.comparison) return name;
    return `${signed(model.comparison.shareB[node] - model.comparison.shareA[node])} ${name}`;
  }

  private outline(
    scene: Scene,
    node: number,
    w: number,
    rowHeight: number,
    top: number,
    line: number,
  ): void {
    const { model } = scene;
    if (node < 0 || !model) return;
    const level = model.data.level[node];
    if (level >= scene.depth) return;
    const row = scene.icicle ? level : scene.depth - 1 - level;
    const span = spanOf(model, node);
    const scale = w / (scene.view.x1 - scene.view.x0);
    const from = Math.max(0, (span.x0 - scene.view.x0) * scale);
    const to = Math.min(w, (span.x1 - scene.view.x0) * scale);
    if (to < 0 || from > w) return;
    const { context } = this;
    context.strokeStyle = scene.dark ? "#ffffff" : cssOf(0xff000000);
    context.lineWidth = line;
    const inset = line / 2;
    context.strokeRect(
      from + inset,
      row * rowHeight - top + inset,
      Math.max(1, to - from - line),
      rowHeight - 1 - line,
    );
  }
}
