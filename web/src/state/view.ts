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
import { regroup } from "../flame/regroup";
import { changesNothing, type Reshape, reshape } from "../flame/reshape";
import { matchLabels, parseQuery, weightWithin } from "../flame/search";
import { selected } from "../flame/select";
import { dark, event, field, flame, picture, samples } from "./store";

/** The whole of the samples, as the file has them. */
export const base = computed<FlameModel | null>(() =>
  flame.value.kind === "ready" ? flame.value.value : null,
);

/** Times are known of the CPU samples alone, and not of a comparison. */
export const timed = computed(() =>
  event.value === "cpu" && base.value && !base.value.comparison ? samples.value : null,
);

/** The samples of the selected time, over the same tree. */
const ofTime = computed<FlameModel | null>(() => {
  const m = base.value;
  if (!m || !timed.value || !field("time")) return m;
  return reweigh(m, selected(m.data, m.tree, timed.value, field("time")));
});

/** Whether the samples say on which CPU each was taken. */
export const knowsCpus = computed(() => timed.value?.cpu.some((cpu) => cpu >= 0) ?? false);

/** What stands above the stacks, as far as the samples say. */
export const split = computed(() => {
  const asked = field("split");
  const known = asked === "cpu" ? knowsCpus.value : timed.value !== null;
  return known ? asked : "thread";
});

/** The same by process or CPU, where that was asked for. */
const grouped = computed<FlameModel | null>(() => {
  const [m, by] = [base.value, split.value];
  if (!m || !timed.value || by === "thread") return ofTime.value;
  return buildModel(regroup(m.data, m.tree, timed.value, field("time"), by));
});

function regex(text: string): RegExp | null {
  const q = parseQuery(text);
  return q.kind === "regex" ? q.regex : null;
}

const asked = computed<Reshape>(() => {
  const shape = field("shape");
  return {
    // What is around one function needs one; in order of time stacks are as they are.
    shape: shape === "callers" || shape === "callees" ? shape : "stacks",
    of: sandwiched.value || shape === "time" ? "" : field("of"),
    rooted: false,
    focus: regex(field("focus")),
    without: regex(field("without")),
    hide: regex(field("hide")),
    collapse: field("collapse"),
    merge: field("merge"),
  };
});

/** Callers and callees of one function are shown, above and below it. */
export const sandwiched = computed(() => field("shape") === "sandwich" && field("of") !== "");
/** Stacks are shown in order of time. */
export const inTime = computed(() => field("shape") === "time" && timed.value !== null);

/** Whether stacks keep their frames and their order. */
const whole = computed(() => changesNothing(asked.value) && !sandwiched.value && !inTime.value);

/** Whether stacks are shown as they were sampled. */
export const plain = computed(() => whole.value && split.value === "thread");

const half = (m: FlameModel, side: "callers" | "callees") =>
  buildModel(
    reshape(m.data, m.tree, { ...asked.value, shape: side, of: field("of"), rooted: true }),
  );

/** What is drawn: the selected samples in the shape that was asked for. null also where it would be too much. */
export const model = computed<FlameModel | null>(() => {
  const m = grouped.value;
  if (!m || m.comparison || whole.value) return m;
  if (sandwiched.value) return half(m, "callees");
  if (inTime.value && base.value && timed.value) {
    const { data, tree } = base.value;
    const ordered = chart(data, tree, timed.value, field("time"), asked.value);
    return ordered && buildModel(ordered);
  }
  return buildModel(reshape(m.data, m.tree, asked.value));
});

/** The callers of the function whose callees `model` has. */
export const callers = computed<FlameModel | null>(() => {
  const m = grouped.value;
  return m && !m.comparison && sandwiched.value ? half(m, "callers") : null;
});

/** Whether the root lies on top: callees hang below their function. */
export const icicle = computed(() => sandwiched.value || field("icicle"));

/** The zoomed node, or the root when the hash names one that is not there. */
export const zoomed = computed(() => {
  const m = model.value;
  return m && field("zoom") < m.data.nodes && m.weight[field("zoom")] > 0 ? field("zoom") : 0;
});

export const cursor = computed(() => {
  const m = model.value;
  return m && field("node") < m.data.nodes ? field("node") : 0;
});

export const view = computed<View>(() => {
  const m = model.value;
  if (!m) return { x0: 0, x1: 0 };
  const range = field("range");
  if (range) {
    return { x0: range[0] * m.layout.width, x1: range[1] * m.layout.width };
  }
  return spanOf(m, zoomed.value);
});

export const depth = computed(() => {
  const m = model.value;
  if (!m) return picture.value?.depth ?? 1;
  return Math.max(1, levelsWithin(m.layout, view.value.x0, view.value.x1));
});

export const query = computed(() => parseQuery(field("query")));

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
  const lamps = lampsOf(m.data, sought?.labels ?? null, field("stage"));
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
  return field("colour") === "module" ? moduleEntries(m.data) : stageEntries(m.data);
}

function paletteOf(m: FlameModel): Palette {
  if (m.comparison) return diffPalette(dark.value);
  return field("colour") === "module"
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
