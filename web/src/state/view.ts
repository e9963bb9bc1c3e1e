// What the flame graph shows, derived from the page state and the data; nothing here is stored.

import { computed } from "@preact/signals";
import { levelsWithin } from "../flame/layout";
import { buildModel, type FlameModel, reweigh, shareOf, spanOf } from "../flame/model";
import {
  diffEntries,
  diffPalette,
  type Palette,
  stageEntries,
  stagePalette,
} from "../flame/palette";
import type { Lit, Paint, View } from "../flame/raster";
import { changesNothing, type Reshape, reshape } from "../flame/reshape";
import { lampsOf, light, matchLabels, parseQuery, topMatches, weightOf } from "../flame/search";
import { selected } from "../flame/select";
import { dark, event, flame, page, samples } from "./store";

/** The whole of the samples, as the file has them. */
export const base = computed<FlameModel | null>(() =>
  flame.value.kind === "ready" ? flame.value.value : null,
);

const time = computed(() => page.value.time);
/** Times are known of the CPU samples alone, and not of a comparison. */
export const timed = computed(() =>
  event.value === "cpu" && base.value && !base.value.comparison ? samples.value : null,
);

/** The samples of the selected time, over the same tree. */
const ofTime = computed<FlameModel | null>(() => {
  const m = base.value;
  if (!m || !timed.value || !time.value) return m;
  return reweigh(m, selected(m.data, m.tree, timed.value, time.value));
});

function regex(text: string): RegExp | null {
  const q = parseQuery(text);
  return q.kind === "regex" ? q.regex : null;
}

const shape = computed(() => page.value.shape);
const of = computed(() => page.value.of);
const focus = computed(() => page.value.focus);
const without = computed(() => page.value.without);
const hide = computed(() => page.value.hide);
const collapse = computed(() => page.value.collapse);
const merge = computed(() => page.value.merge);

const asked = computed<Reshape>(() => ({
  shape: shape.value,
  of: of.value,
  focus: regex(focus.value),
  without: regex(without.value),
  hide: regex(hide.value),
  collapse: collapse.value,
  merge: merge.value,
}));

/** Whether stacks are shown as they were sampled. */
export const plain = computed(() => changesNothing(asked.value));

/** What is drawn: the selected samples in the shape that was asked for. */
export const model = computed<FlameModel | null>(() => {
  const m = ofTime.value;
  if (!m || m.comparison || plain.value) return m;
  return buildModel(reshape(m.data, m.tree, asked.value));
});

const zoom = computed(() => page.value.zoom);
const range = computed(() => page.value.range);
const queryText = computed(() => page.value.query);
const stageName = computed(() => page.value.stage);

/** The zoomed node, or the root when the hash names one that is not there. */
export const zoomed = computed(() => {
  const m = model.value;
  return m && zoom.value < m.data.nodes && m.weight[zoom.value] > 0 ? zoom.value : 0;
});

export const cursor = computed(() => {
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
  for (let i = 0; i < m.data.nodes; i++) if (m.weight[i] > 0) used[m.data.label[i]] = 1;
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
