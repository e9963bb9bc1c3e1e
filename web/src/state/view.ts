// What the flame graph shows, derived from the page state and the data; nothing here is stored.

import { computed } from "@preact/signals";
import { levelsWithin } from "../flame/layout";
import { type FlameModel, shareOf, spanOf } from "../flame/model";
import {
  diffEntries,
  diffPalette,
  type Palette,
  stageEntries,
  stagePalette,
} from "../flame/palette";
import type { Lit, Paint, View } from "../flame/raster";
import { lampsOf, light, matchLabels, parseQuery, topMatches, weightOf } from "../flame/search";
import { dark, flame, page } from "./store";

export const model = computed<FlameModel | null>(() =>
  flame.value.kind === "ready" ? flame.value.value : null,
);

const zoom = computed(() => page.value.zoom);
const range = computed(() => page.value.range);
const queryText = computed(() => page.value.query);
const stageName = computed(() => page.value.stage);

/** The zoomed node, or the root when the hash names one that is not there. */
export const zoomed = computed(() => {
  const m = model.value;
  return m && zoom.value < m.data.nodes && m.weight[zoom.value] > 0 ? zoom.value : 0;
});

export const selected = computed(() => {
  const m = model.value;
  return m && page.value.node < m.data.nodes ? page.value.node : 0;
});

export const view = computed<View>(() => {
  const m = model.value;
  if (!m) return { x0: 0, x1: 0 };
  if (range.value) {
    return { x0: range.value[0] * m.layout.width, x1: range.value[1] * m.layout.width };
  }
  return spanOf(m, zoomed.value);
});

export const depth = computed(() => {
  const m = model.value;
  return m ? Math.max(1, levelsWithin(m.layout, view.value.x0, view.value.x1)) : 1;
});

export const query = computed(() => parseQuery(queryText.value));

export interface Found {
  /** 1 for each label that matches. */
  readonly labels: Uint8Array;
  readonly names: number;
  /** Outermost matching nodes. */
  readonly tops: readonly number[];
  /** Fraction of all. */
  readonly share: number;
}

export const found = computed<Found | null>(() => {
  const m = model.value;
  const q = query.value;
  if (!m || q.kind !== "regex") return null;
  const labels = matchLabels(m.data.ownNames, q.regex);
  // Only names that occur count: a label table may hold others.
  const used = new Uint8Array(labels.length);
  for (let i = 0; i < m.data.nodes; i++) used[m.data.label[i]] = 1;
  let names = 0;
  for (let i = 0; i < labels.length; i++) names += labels[i] & used[i];
  const tops = topMatches(m.tree, m.data.label, labels);
  return { labels, names, tops, share: shareOf(m, weightOf(tops, m.weight)) };
});

const lit = computed<Lit | null>(() => {
  const m = model.value;
  if (!m) return null;
  const lamps = lampsOf(m.data, found.value?.labels ?? null, stageName.value);
  return lamps && light(m.layout, lamps);
});

const entries = computed(() => {
  const m = model.value;
  if (!m) return new Uint16Array(0);
  return m.comparison
    ? diffEntries(m.comparison.shareA, m.comparison.shareB)
    : stageEntries(m.data);
});

const palette = computed<Palette | null>(() => {
  const m = model.value;
  if (!m) return null;
  return m.comparison
    ? diffPalette(dark.value)
    : stagePalette(m.data.stages, m.stageColour, dark.value);
});

export const paint = computed<Paint | null>(() =>
  palette.value ? { ...palette.value, entry: entries.value, lit: lit.value } : null,
);
