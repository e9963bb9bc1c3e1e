// The keyboard of the flame graph. Keys work inside its section; `/` and `?` work everywhere.

import { nameOf } from "../flame/describe";
import { type Direction, pathTo } from "../flame/navigate";
import {
  asIs,
  flip,
  focusOnIt,
  hideIt,
  nextMatch,
  reset,
  scaleView,
  shiftTime,
  showMode,
  turnAround,
} from "../state/actions";
import type { Graph } from "../state/graph";
import { page } from "../state/store";
import { cursor, model } from "../state/view";
import { copyText } from "./copy";
import { helpOpen } from "./Help";
import { SEARCH_ID } from "./SearchField";

export const SECTION_ID = "flame-section";

export function scrollToFlame(): void {
  document.getElementById(SECTION_ID)?.scrollIntoView({ block: "start" });
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

function copyStack(): void {
  const m = model.value;
  if (!m) return;
  const names = pathTo(m.tree, cursor.value).map((node) => nameOf(m, node));
  void copyText(`${names.join("\n")}\n`);
}

/** The element with the focus goes with the change, so the section takes the focus over. */
function toggleTable(): void {
  showMode(page.value.mode === "table" ? "flame" : "table");
  requestAnimationFrame(() => {
    const section = document.getElementById(SECTION_ID);
    const tree = section?.querySelector<HTMLElement>("[role=tree]");
    (tree ?? section)?.focus({ preventScroll: true });
  });
}

const LETTERS: Record<string, () => void> = {
  "0": reset,
  n: () => nextMatch(1),
  N: () => nextMatch(-1),
  v: flip,
  t: toggleTable,
  c: copyStack,
  f: focusOnIt,
  x: hideIt,
  s: turnAround,
  a: asIs,
  "[": () => shiftTime(-1),
  "]": () => shiftTime(1),
  "+": () => scaleView(1 / 1.5),
  "=": () => scaleView(1 / 1.5),
  "-": () => scaleView(1.5),
};

/** Keys of the whole section, whatever in it has the focus. */
export function flameKeys(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) || !page.value.keys) return;
  const act = LETTERS[event.key];
  if (!act) return;
  act();
  event.preventDefault();
}

function arrow(key: string, icicle: boolean): Direction | null {
  const up = icicle ? "parent" : "child";
  const down = icicle ? "child" : "parent";
  if (key === "ArrowUp") return up;
  if (key === "ArrowDown") return down;
  if (key === "ArrowLeft") return "left";
  if (key === "ArrowRight") return "right";
  return null;
}

/** Keys of a graph itself: they move its cursor and zoom. */
export function graphKeys(event: KeyboardEvent, graph: Graph): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const direction = arrow(event.key, graph.icicle.value);
  if (event.shiftKey && (direction === "left" || direction === "right")) {
    graph.pan(direction === "left" ? -0.25 : 0.25);
  } else if (direction) {
    graph.move(direction);
  } else if (event.key === "Enter") {
    graph.zoomTo(graph.cursor.value);
  } else if (event.key === "Backspace") {
    graph.zoomBack();
  } else {
    return;
  }
  event.preventDefault();
}

/** `/` and `?`, from anywhere on the page. */
export function pageKeys(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !page.value.keys) return;
  if (typing(event.target) || helpOpen.value) return;
  if (event.key === "/") document.getElementById(SEARCH_ID)?.focus();
  else if (event.key === "?") helpOpen.value = true;
  else return;
  event.preventDefault();
}
