// What a reader can do with the flame graph, as steps that Back undoes.

import { litNodes } from "../flame/lit";
import { spanOf } from "../flame/model";
import { ownNames } from "../flame/names";
import { children, commonAncestor, type Direction, towards } from "../flame/navigate";
import { matchLabels, outermost, queryFor, queryForBase } from "../flame/search";
import type { Colour, FlameEvent, PageState } from "./hash";
import { adjust, back, event, flames, go, page, samples, settled, timeline } from "./store";
import { cursor, found, model, sandwiched, view, zoomed } from "./view";

export function zoomTo(node: number): void {
  go({ zoom: node, range: null, node });
}

export function reset(): void {
  go({ zoom: 0, range: null });
}

/** Undoes a step; a page opened at a zoomed link has none and goes to the parent instead. */
export function zoomBack(): void {
  if (back()) return;
  const m = model.value;
  if (m && zoomed.value > 0) zoomTo(m.tree.parent[zoomed.value]);
}

/** Highlights these functions and zooms to where they all are. */
export function showStacks(frames: readonly string[]): void {
  const m = model.value;
  const query = queryForBase(frames);
  let zoom = 0;
  if (m) {
    const labels = matchLabels(ownNames(m.data.labels), new RegExp(query, "i"));
    zoom = commonAncestor(m.tree, outermost(m.tree, litNodes({ lit: labels, of: m.data.label })));
  }
  go({ query, stage: "", zoom, node: zoom, range: null, mode: "flame" });
}

export function showStage(stage: string): void {
  go({ stage: page.value.stage === stage && page.value.query === "" ? "" : stage, query: "" });
}

/** Selects a part of the time; nodes keep their numbers, so the zoom stays. */
export function selectTime(time: readonly [number, number] | null): void {
  go({ time });
}

type Shaped = Partial<
  Pick<PageState, "shape" | "of" | "focus" | "without" | "hide" | "collapse" | "merge" | "split">
>;

/** Another tree has other nodes: all of it is shown. */
export function reshapeTo(change: Shaped): void {
  go({ ...change, zoom: 0, node: 0, range: null, mode: "flame" });
}

/** The name of the function under the keyboard; "" on the root. */
function cursorName(): string {
  const m = model.value;
  return m && cursor.value > 0 ? ownNames(m.data.labels)[m.data.label[cursor.value]] : "";
}

/** Only stacks with the selected function. */
export function focusOnIt(): void {
  const name = cursorName();
  if (name !== "") reshapeTo({ focus: queryFor([name]) });
}

/** Without the frames of the selected function, beside those that are hidden already. */
export function hideIt(): void {
  const name = cursorName();
  if (name === "") return;
  const one = queryFor([name]);
  reshapeTo({ hide: page.value.hide === "" ? one : `${page.value.hide}|${one}` });
}

/** Callers above and callees below the selected function; once more: as sampled. */
export function turnAround(): void {
  if (sandwiched.value) {
    reshapeTo({ shape: "stacks", of: "" });
    return;
  }
  const of = cursorName() || page.value.of;
  if (of !== "") reshapeTo({ shape: "sandwich", of });
}

export function colourBy(colour: Colour): void {
  go({ colour });
}

/** Brings a place of the whole width, 0 to 1, into the middle of the view. */
export function centreOn(part: number): void {
  const m = model.value;
  if (!m || m.layout.width <= 0) return;
  const { x0, x1 } = view.value;
  const width = (x1 - x0) / m.layout.width;
  const from = Math.min(1 - width, Math.max(0, part - width / 2));
  if (width < 1) adjust({ range: [from, from + width] });
}

/** Moves the selected time by a part of itself; without one, selects the first or the last tenth. */
export function shiftTime(step: -1 | 1): void {
  const rows = samples.value;
  if (!rows || rows.rows === 0) return;
  const end = Math.max(timeline.value?.duration ?? 0, rows.time[rows.rows - 1]);
  const { time } = page.value;
  if (!time) {
    selectTime(step > 0 ? [0, end / 10] : [end * 0.9, end]);
    return;
  }
  const width = time[1] - time[0];
  const from = Math.min(end - width, Math.max(0, time[0] + (step * width) / 2));
  if (from !== time[0]) adjust({ time: [from, from + width] });
}

const AS_SAMPLED: Shaped = {
  shape: "stacks",
  of: "",
  focus: "",
  without: "",
  hide: "",
  collapse: false,
  merge: false,
  split: "thread",
};

export function asIs(): void {
  reshapeTo(AS_SAMPLED);
}

export function flip(): void {
  go({ icicle: !page.value.icicle });
}

export function showMode(mode: "flame" | "table"): void {
  go({ mode });
}

/** Other samples have other stacks: the whole of them is shown. */
export function showEvent(event: FlameEvent): void {
  go({ event, zoom: 0, node: 0, range: null });
}

/** Of the samples that are shown, or of those of `kind`. */
export function findFunction(name: string, kind: FlameEvent = event.value): void {
  go({ query: queryFor([name]), stage: "", mode: "flame", event: kind, zoom: 0, range: null });
}

/** What the CPU time below a box is made of, all of it or that of one stage. */
export function showPart(node: number, stage: string, change: Partial<PageState> = {}): void {
  go({ ...change, zoom: node, node, stage, query: "", range: null, mode: "flame" });
}

/** The box of the threads of this name, in the stacks as they were sampled; -1 where there is none. */
export function threadNode(name: string): number {
  const part = flames.cpu.value;
  if (part.kind !== "ready" || !settled.value) return -1;
  const { data, tree } = part.value;
  const label = data.labels.indexOf(`[${name}]`);
  return children(tree, 0).find((node) => data.label[node] === label) ?? -1;
}

export function showThread(name: string): void {
  const node = threadNode(name);
  if (node >= 0) showPart(node, "", { ...AS_SAMPLED, event: "cpu" });
}

/** Moves the keyboard cursor; what it reaches is brought into the width. */
export function move(direction: Direction): void {
  const m = model.value;
  if (!m) return;
  const to = towards(m.tree, m.weight, cursor.value, direction);
  if (to >= 0) select(to);
}

function select(node: number): void {
  const m = model.value;
  if (!m) return;
  const span = spanOf(m, node);
  const out = span.x1 <= view.value.x0 || span.x0 >= view.value.x1;
  if (out) adjust({ node, zoom: Math.max(0, m.tree.parent[node]), range: null });
  else adjust({ node });
}

/** Selects the next (1) or previous (−1) outermost match. */
export function nextMatch(step: 1 | -1): void {
  const m = model.value;
  const tops = m && found.value ? outermost(m.tree, found.value.nodes) : [];
  if (tops.length === 0) return;
  const at = cursor.value;
  const after = tops.findIndex((node) => (step > 0 ? node > at : node >= at));
  const ahead = after < 0 ? tops.length : after;
  const next = step > 0 ? ahead : ahead - 1;
  select(tops[(next + tops.length) % tops.length]);
}

/** Narrows (< 1) or widens (> 1) the view about its middle. */
export function scaleView(factor: number): void {
  setView(factor, 0);
}

/** Moves the view sideways by a fraction of its width. */
export function pan(fraction: number): void {
  setView(1, fraction);
}

function setView(factor: number, shift: number): void {
  const m = model.value;
  if (!m || m.layout.width <= 0) return;
  const all = m.layout.width;
  const { x0, x1 } = view.value;
  const width = Math.min(1, Math.max(1e-9, ((x1 - x0) / all) * factor));
  const middle = (x0 + x1) / 2 / all + (shift * (x1 - x0)) / all;
  const from = Math.min(1 - width, Math.max(0, middle - width / 2));
  adjust({ range: width >= 1 ? null : [from, from + width], ...(width >= 1 ? { zoom: 0 } : {}) });
}
