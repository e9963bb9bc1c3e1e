// What the flame graph shows, derived from the page state and the data; nothing here is stored.

import { computed, type ReadonlySignal } from "@preact/signals";
import { chart } from "../flame/chart";
import { levelsWithin } from "../flame/layout";
import { kindsOf, type Lit, lampsOf, light, litNodes, startsOf } from "../flame/lit";
import { buildModel, type FlameModel, functionsOf, reweigh, shareOf, spanOf } from "../flame/model";
import { ownNames } from "../flame/names";
import {
  diffEntries,
  diffPalette,
  type Entries,
  moduleColours,
  moduleEntries,
  type Palette,
  stageEntries,
  stagePalette,
} from "../flame/palette";
import type { Paint, View } from "../flame/raster";
import { changesNothing, type Reshape, reshape } from "../flame/reshape";
import { matchLabels, parseQuery, weightWithin } from "../flame/search";
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

const colour = computed(() => page.value.colour);

const asked = computed<Reshape>(() => ({
  // What is around one function needs one; in order of time stacks are as they are.
  shape: shape.value === "callers" || shape.value === "callees" ? shape.value : "stacks",
  of: sandwiched.value || shape.value === "time" ? "" : of.value,
  rooted: false,
  focus: regex(focus.value),
  without: regex(without.value),
  hide: regex(hide.value),
  collapse: collapse.value,
  merge: merge.value,
}));

/** Callers and callees of one function are shown, above and below it. */
export const sandwiched = computed(() => shape.value === "sandwich" && of.value !== "");
/** Stacks are shown in order of time. */
export const inTime = computed(() => shape.value === "time" && timed.value !== null);

/** Whether stacks are shown as they were sampled. */
export const plain = computed(
  () => changesNothing(asked.value) && !sandwiched.value && !inTime.value,
);

const half = (m: FlameModel, side: "callers" | "callees") =>
  buildModel(reshape(m.data, m.tree, { ...asked.value, shape: side, of: of.value, rooted: true }));

/** What is drawn: the selected samples in the shape that was asked for. null also where it would be too much. */
export const model = computed<FlameModel | null>(() => {
  const m = ofTime.value;
  if (!m || m.comparison || plain.value) return m;
  if (sandwiched.value) return half(m, "callees");
  if (inTime.value && base.value && timed.value) {
    const { data, tree } = base.value;
    const ordered = chart(data, tree, timed.value, time.value, asked.value);
    return ordered && buildModel(ordered);
  }
  return buildModel(reshape(m.data, m.tree, asked.value));
});

/** The callers of the function whose callees `model` has. */
export const callers = computed<FlameModel | null>(() => {
  const m = ofTime.value;
  return m && !m.comparison && sandwiched.value ? half(m, "callers") : null;
});

/** Whether the root lies on top: callees hang below their function. */
export const icicle = computed(() => sandwiched.value || page.value.icicle);

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
  /** Matching nodes, in preorder. */
  readonly nodes: Uint32Array;
  /** Fraction of all. */
  readonly share: number;
}

export const found = computed<Found | null>(() => {
  const m = model.value;
  const q = query.value;
  if (!m || q.kind !== "regex") return null;
  const labels = matchLabels(ownNames(m.data.labels), q.regex);
  const nodes = litNodes({ lit: labels, of: m.data.label });
  const share = shareOf(m, weightWithin(m.tree, nodes, m.weight));
  return { labels, names: namesOf(m, labels), nodes, share };
});

/** How many of the functions have samples; those of samples that are not selected do not count. */
function namesOf({ data, weight }: FlameModel, labels: Uint8Array): number {
  const { begin, node } = kindsOf(data.label);
  let names = 0;
  for (let label = 0; label + 1 < begin.length; label++) {
    if (labels[label] === 0) continue;
    let k = begin[label];
    while (k < begin[label + 1] && weight[node[k]] === 0) k++;
    if (k < begin[label + 1]) names++;
  }
  return names;
}

/** Does what the first search would wait for, a step at a time when `idle` says so. */
export async function prepareSearch(idle: () => Promise<void>): Promise<void> {
  const m = base.value;
  if (!m) return;
  await idle();
  kindsOf(m.data.label);
  await idle();
  startsOf(m.layout);
  await idle();
  matchLabels(ownNames(m.data.labels), /-/i);
}

function litOf(m: FlameModel): Lit | null {
  const sought = found.value;
  const lamps = lampsOf(m.data, sought?.labels ?? null, stageName.value);
  if (!lamps) return null;
  // What was found is of the main graph; the callers above it are another tree.
  const nodes = sought && m === model.value ? sought.nodes : litNodes(lamps);
  return light(m, lamps, nodes);
}

/** Colour of each module, by its weight in all samples, so that it stays when a part is selected. */
export const moduleColour = computed<readonly string[]>(() => {
  const m = base.value;
  return m ? moduleColours(m.data.modules, moduleWeight(m)) : [];
});

/** Own weight of each module. */
export function moduleWeight(m: FlameModel): Float64Array {
  const weight = new Float64Array(m.data.modules.length);
  functionsOf(m).own.forEach((own, label) => {
    weight[m.data.labelModule[label]] += own;
  });
  return weight;
}

function entriesOf(m: FlameModel): Entries {
  if (m.comparison) return diffEntries(m.comparison.shareA, m.comparison.shareB);
  return colour.value === "module" ? moduleEntries(m.data) : stageEntries(m.data);
}

function paletteOf(m: FlameModel): Palette {
  if (m.comparison) return diffPalette(dark.value);
  return colour.value === "module"
    ? stagePalette(m.data.modules, moduleColour.value, dark.value)
    : stagePalette(m.data.stages, m.stageColour, dark.value);
}

/** How a model is painted; what changes less often is not computed again with what changes more often. */
export function painting(of: ReadonlySignal<FlameModel | null>): ReadonlySignal<Paint | null> {
  const lit = computed(() => of.value && litOf(of.value));
  const entry = computed(() => of.value && entriesOf(of.value));
  const palette = computed(() => of.value && paletteOf(of.value));
  return computed(
    () => palette.value && entry.value && { ...palette.value, entry: entry.value, lit: lit.value },
  );
}

export const paint = painting(model);
