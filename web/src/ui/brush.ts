// Selecting a part of the time by dragging: everything follows while the pointer moves, and one step of Back undoes it.

import { useRef } from "preact/hooks";
import { selectTime } from "../state/actions";
import { adjust, page } from "../state/store";

interface Brush {
  readonly onPointerDown: (event: PointerEvent & { currentTarget: HTMLElement }) => void;
  readonly onPointerMove: (event: PointerEvent) => void;
  readonly onPointerUp: (event: PointerEvent) => void;
}

/**
 * Handlers for an element whose places are times: `at` tells the time in seconds under the pointer, `cell` how long
 * what lies there is. A drag over less than `least` is a click, which selects all of the time again.
 */
export function useBrush(at: (event: PointerEvent) => number, cell: number, least: number): Brush {
  const start = useRef<number | null>(null);
  const before = useRef(page.value.time);
  const span = (a: number, b: number): [number, number] => [Math.min(a, b), Math.max(a, b) + cell];
  return {
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      before.current = page.value.time;
      start.current = at(event);
      event.currentTarget.setPointerCapture(event.pointerId);
      event.preventDefault();
    },
    onPointerMove: (event) => {
      const now = at(event);
      if (start.current === null || Math.abs(now - start.current) < least) return;
      adjust({ time: span(start.current, now) });
    },
    onPointerUp: (event) => {
      if (start.current === null) return;
      const [from, now] = [start.current, at(event)];
      start.current = null;
      // The drag itself left no steps behind: Back goes to what was selected before it.
      adjust({ time: before.current });
      selectTime(Math.abs(now - from) < least ? null : span(from, now));
    },
  };
}
