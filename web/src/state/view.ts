// What the flame graph shows, derived from the page state and the data; nothing here is stored.

import { computed, type ReadonlySignal } from "@preact/signals";
import type { Overview } from "../data/overview";
import { chart } from "../flame/chart";
import { levelsWithin } from "../flame/layout";
import { kindsOf, type Lit, lampsOf, light, litNodes, startsOf } from "../flame/lit";
import { buildModel, type FlameModel, functionsOf, reweigh, shareOf, spanOf } from "../flame/model";
import { ownNames } from "../flame/names";
import { ORIGINS, originsOf } from "../flame/origins";
import {
  diffEntries,
  diffPalette,
  type Entries,
  groupEntries,
  listEntries,
  moduleColours,
  type Palette,
  stageEntries,
  stagePalette,
} from "../flame/palette";
import type { Paint, View } from "../flame/raster";
import { regroup } from "../flame/regroup";
import { changesNothing, type Reshape, reshape } from "../flame/reshape";
import { alike, matchLabels, parseQuery, weightWithin } from "../flame/search";
import { selected } from "../flame/select";
import { START } from "./hash";
import { dark, event, field, flame, overview, samples } from "./store";

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
  if (!m) return glimpse.value?.depth ?? 1;
  return Math.max(1, levelsWithin(m.layout, view.value.x0, view.value.x1));
});

/** What a graph is drawn from that is not there yet, unless something else than all of its stacks was asked for. */
const OF_THE_GRAPH = [
  "zoom",
  "range",
  "time",
  "shape",
  "focus",
  "without",
  "hide",
  "collapse",
  "merge",
  "split",
] as const;

/** The overview, where all of the stacks are shown: it stays when the graph is there, so that the picture does. */
export const glimpse = computed<Overview | null>(() => {
  const m = model.value;
  if (!overview.value || event.value !== "cpu" || field("colour") !== "stage") return null;
  const all = m
    ? m === base.value && view.value.x0 <= 0 && view.value.x1 >= m.layout.width
    : flame.value.kind === "waiting" && OF_THE_GRAPH.every((key) => field(key) === START[key]);
  return all ? overview.value : null;
});

/** How the overview is painted before the graph is there. */
export const glimpsePaint = computed<Paint | null>(() => {
  if (!glimpse.value) return null;
  const { stages, stageColour, entry } = glimpse.value;
  return { ...stagePalette(stages, stageColour, dark.value), entry, lit: null };
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
function namesOf(m: FlameModel, labels: Uint8Array): number {
  let names = 0;
  for (let label = 0; label < labels.length; label++) {
    if (labels[label] === 1 && isThere(m, label)) names++;
  }
  return names;
}

function isThere({ data, weight }: FlameModel, label: number): boolean {
  const { begin, node } = kindsOf(data.label);
  for (let k = begin[label]; k < begin[label + 1]; k++) if (weight[node[k]] > 0) return true;
  return false;
}

const MOST_MEANT = 3;

/** Functions of a search without hits that may have been meant. */
export const meant = computed<readonly string[]>(() => {
  const m = model.value;
  if (!m || found.value?.names !== 0) return [];
  const names = ownNames(m.data.labels);
  const there = alike(names, field("query")).filter((label) => isThere(m, label));
  return [...new Set(there.map((label) => names[label]))].slice(0, MOST_MEANT);
});

/** Searches that find one of so many names, and how many of them. */
const [PARTS, REHEARSALS] = [20, 6];

/** Does what the first search would wait for, a step at a time when `idle` says so. */
export async function prepareSearch(idle: () => Promise<void>): Promise<void> {
  const m = base.value;
  if (!m) return;
  await idle();
  kindsOf(m.data.label);
  await idle();
  startsOf(m.layout);
  await idle();
  listEntries(m.data);
  await idle();
  matchLabels(ownNames(m.data.labels), /-/i);
  // Engines are slow with what they have not run yet, and a first search should be as quick as the next.
  for (let part = 0; part < REHEARSALS; part++) {
    await idle();
    const lit = Uint8Array.from(m.data.labels, (_, label) => Number(label % PARTS === part));
    const lamps = { lit, of: m.data.label };
    const nodes = litNodes(lamps);
    weightWithin(m.tree, nodes, m.weight);
    await idle();
    const { level } = light(m, lamps, nodes);
    for (let depth = 0; depth < m.tree.depth; depth++) level(depth);
  }
}

function litOf(m: FlameModel): Lit | null {
  const sought = found.value;
  const lamps = lampsOf(m.data, sought?.labels ?? null, field("stage"));
  if (!lamps) return null;
  // What was found is of the main graph; the callers above it are another tree.
  const nodes = sought && m === model.value ? sought.nodes : litNodes(lamps);
  return light(m, lamps, nodes);
}

/** What colours stand for where that is not a stage: groups of modules, the group of each, and their colours. */
interface Groups {
  readonly names: readonly string[];
  readonly of: ArrayLike<number>;
  readonly colours: readonly string[];
  /** Own weight of each in the graph that is shown. */
  readonly weight: (m: FlameModel) => Float64Array;
}

/** Of all samples, so that colours stay when a part of them is selected. */
export const groups = computed<Groups | null>(() => {
  const m = base.value;
  const by = field("colour");
  if (!m || by === "stage") return null;
  const { modules } = m.data;
  const names = by === "origin" ? ORIGINS : modules;
  const of = by === "origin" ? originsOf(m.data, m.tree) : [...modules.keys()];
  const weight = (shown: FlameModel) => {
    const sums = new Float64Array(names.length);
    functionsOf(shown).own.forEach((own, label) => {
      sums[of[shown.data.moduleOf[label]]] += own;
    });
    return sums;
  };
  // Origins have the same colours everywhere, modules by their weight.
  const order = by === "origin" ? Float64Array.from(names, (_, i) => names.length - i) : weight(m);
  return { names, of, weight, colours: moduleColours(names, order) };
});

function entriesOf(m: FlameModel): Entries {
  if (m.comparison) return diffEntries(m.comparison.shareA, m.comparison.shareB);
  return groups.value ? groupEntries(m.data, groups.value.of) : stageEntries(m.data);
}

function paletteOf(m: FlameModel): Palette {
  if (m.comparison) return diffPalette(dark.value);
  const { names, colours } = groups.value ?? { names: m.data.stages, colours: m.stageColour };
  return stagePalette(names, colours, dark.value);
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
