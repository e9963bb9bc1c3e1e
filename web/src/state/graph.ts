// A graph on the page, as its picture, its keys and its tree of elements see it: the main one, or that of callers
// above it.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Overview } from "../data/overview";
import { levelsWithin } from "../flame/layout";
import { type FlameModel, spanOf } from "../flame/model";
import { type Direction, towards } from "../flame/navigate";
import type { Paint, View } from "../flame/raster";
import { move, pan, zoomBack, zoomTo } from "./actions";
import {
  callers,
  glimpse,
  glimpsePaint,
  cursor as mainCursor,
  depth as mainDepth,
  icicle as mainIcicle,
  view as mainView,
  model,
  paint,
  painting,
} from "./view";

export interface Graph {
  /** What it is, for those who do not see it. */
  readonly name: string;
  readonly model: ReadonlySignal<FlameModel | null>;
  readonly view: ReadonlySignal<View>;
  readonly depth: ReadonlySignal<number>;
  readonly paint: ReadonlySignal<Paint | null>;
  /** What all of it is drawn from. */
  readonly overview: ReadonlySignal<Overview | null>;
  readonly cursor: ReadonlySignal<number>;
  /** Whether the root lies on top. */
  readonly icicle: ReadonlySignal<boolean>;
  readonly zoomTo: (node: number) => void;
  readonly zoomBack: () => void;
  readonly move: (direction: Direction) => void;
  /** Sideways by a part of the width. */
  readonly pan: (fraction: number) => void;
}

export const mainGraph: Graph = {
  name: "Call tree",
  model,
  view: mainView,
  depth: mainDepth,
  paint: computed(() => paint.value ?? glimpsePaint.value),
  overview: glimpse,
  cursor: mainCursor,
  icicle: mainIcicle,
  zoomTo,
  zoomBack,
  move,
  pan,
};

/** Zoom and cursor of the callers, of the tree that they belong to: another tree has other nodes. */
const place = signal<{ of: FlameModel | null; zoom: number; node: number }>({
  of: null,
  zoom: 0,
  node: 0,
});
const here = computed(() =>
  place.value.of === callers.value ? place.value : { of: callers.value, zoom: 0, node: 0 },
);
const view = computed<View>(() =>
  callers.value ? spanOf(callers.value, here.value.zoom) : { x0: 0, x1: 0 },
);

function go(change: { zoom?: number; node?: number }): void {
  place.value = { ...here.value, ...change };
}

function moveCallers(direction: Direction): void {
  const m = callers.value;
  if (!m) return;
  const to = towards(m.tree, m.weight, here.value.node, direction);
  if (to >= 0) go({ node: to });
}

/** The graph of callers, above the main one. Where it is zoomed to is not kept in the address. */
export const callersGraph: Graph = {
  name: "Callers",
  model: callers,
  view,
  depth: computed(() =>
    callers.value
      ? Math.max(1, levelsWithin(callers.value.layout, view.value.x0, view.value.x1))
      : 1,
  ),
  paint: painting(callers),
  overview: signal(null),
  cursor: computed(() => here.value.node),
  icicle: signal(false),
  zoomTo: (node) => go({ zoom: node, node }),
  zoomBack: () => {
    const up = callers.value ? Math.max(0, callers.value.tree.parent[here.value.zoom]) : 0;
    go({ zoom: up, node: up });
  },
  move: moveCallers,
  pan: () => {},
};
