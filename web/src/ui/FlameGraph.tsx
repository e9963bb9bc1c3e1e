// The graph: a canvas in a scrolling frame, pointer and keyboard on it, a tooltip, and the tree
// that assistive technology reads instead of the canvas.

import { effect, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { MOST_PIXELS } from "../data/overview";
import { describe, sentence } from "../flame/describe";
import { levelOfRow, Painter, ROW_HEIGHT } from "../flame/draw";
import { nodeAt } from "../flame/layout";
import type { Graph } from "../state/graph";
import { dark } from "../state/store";
import { graphKeys } from "./keys";
import { Tooltip } from "./Tooltip";
import { TreeWindow } from "./TreeWindow";

interface Pointer {
  readonly node: number;
  readonly x: number;
  readonly y: number;
}

/** As `useSignalEffect`, but from before the first paint on, and as soon as a signal changes. */
function useNow(run: () => (() => void) | undefined): void {
  useLayoutEffect(() => effect(run), []);
}

/** With the next frame, when the elements have their sizes; what is given back takes it back. */
function withFrame(work: () => void): () => void {
  const frame = requestAnimationFrame(work);
  return () => cancelAnimationFrame(frame);
}

/** The sheet of a graph that is not there yet, so that its frame has its height already where it is a deep one. */
const HIGHEST = 900;

export function FlameGraph({ graph }: { graph: Graph }) {
  const { model, view, depth, paint, overview, cursor, icicle } = graph;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | null>(null);
  const size = useSignal({ width: 0, height: 0, ratio: 1 });
  const scrollTop = useSignal(0);
  const pointer = useSignal<Pointer | null>(null);
  const focused = useSignal(false);
  const due = useRef(false);
  const waiting = !model.value && !overview.value;
  const height = !waiting ? depth.value * ROW_HEIGHT : HIGHEST;

  const scrollTo = (top: number) => {
    if (!frame.current) return;
    frame.current.scrollTop = top;
    scrollTop.value = frame.current.scrollTop;
  };

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || !canvas.current) return;
    painter.current = new Painter(canvas.current);
    const measure = () => {
      const { clientWidth, clientHeight } = element;
      size.value = { width: clientWidth, height: clientHeight, ratio: window.devicePixelRatio };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // To lay out a new page takes as long as to draw its graph: a task of its own, before the frame.
    const first = setTimeout(measure);
    return () => {
      clearTimeout(first);
      observer.disconnect();
    };
  }, [size]);

  // A new view starts at its root: at the bottom as flame, on top as icicle.
  useNow(() => {
    const rows = depth.value;
    const atTop = icicle.value;
    return withFrame(() => scrollTo(atTop ? 0 : rows * ROW_HEIGHT));
  });

  // The keyboard cursor stays in view.
  useNow(() => {
    const m = model.value;
    if (!m) return;
    const level = m.data.level[cursor.value];
    const row = icicle.value ? level : depth.value - 1 - level;
    return withFrame(() => {
      const top = row * ROW_HEIGHT;
      const bottom = top + ROW_HEIGHT - (frame.current?.clientHeight ?? 0);
      const now = frame.current?.scrollTop ?? 0;
      scrollTo(Math.max(Math.min(now, top), bottom));
    });
  });

  const scene = () => {
    const m = model.value;
    const brush = paint.value;
    const { width, height: visibleHeight, ratio } = size.value;
    const rest = {
      view: view.value,
      dark: dark.value,
      depth: depth.value,
      icicle: icicle.value,
      scrollTop: scrollTop.value,
      selected: focused.value || cursor.value > 0 ? cursor.value : -1,
      hovered: pointer.value?.node ?? -1,
    };
    const whole = width * ratio <= MOST_PIXELS ? overview.value : null;
    return (
      brush &&
      (m || whole) && {
        ...rest,
        model: m,
        overview: whole,
        paint: brush,
        width,
        visibleHeight,
        ratio,
      }
    );
  };

  // Whatever changes, and however often, before the next frame is drawn with it, once.
  useNow(() => {
    const sheet = canvas.current;
    if (!scene() || !sheet) return;
    // Tests and tools wait for this.
    sheet.dataset.drawn = "false";
    if (due.current) return;
    due.current = true;
    requestAnimationFrame(() => {
      due.current = false;
      const now = scene();
      if (!now || now.width === 0 || !sheet.isConnected) return;
      painter.current?.draw(now, now.width, now.visibleHeight, now.ratio);
      sheet.dataset.drawn = "true";
    });
  });

  const under = (event: MouseEvent): number => {
    const m = model.value;
    const box = canvas.current?.getBoundingClientRect();
    if (!m || !box || box.width === 0) return -1;
    const row = Math.floor((event.clientY - box.top + scrollTop.value) / ROW_HEIGHT);
    if (row < 0 || row >= depth.value) return -1;
    const { x0, x1 } = view.value;
    const x = x0 + ((event.clientX - box.left) / box.width) * (x1 - x0);
    return nodeAt(m.layout, levelOfRow(row, depth.value, icicle.value), x);
  };

  const hover = (event: MouseEvent) => {
    const node = under(event);
    pointer.value = node < 0 ? null : { node, x: event.clientX, y: event.clientY };
  };
  const leave = () => {
    pointer.value = null;
  };
  const click = (event: MouseEvent) => {
    const node = under(event);
    if (node >= 0) graph.zoomTo(node);
  };

  const m = model.value;
  const told = pointer.value?.node ?? cursor.value;
  return (
    <>
      <div
        ref={frame}
        class="frame"
        onScroll={(event) => {
          scrollTop.value = event.currentTarget.scrollTop;
          pointer.value = null;
        }}
      >
        {waiting && <p class="flame-waiting">Unpacking the stacks…</p>}
        <div class="sheet" style={{ height: `${height}px` }}>
          <canvas
            ref={canvas}
            style={{ height: `${size.value.height}px` }}
            onMouseMove={hover}
            onMouseLeave={leave}
            onClick={click}
          />
        </div>
        <TreeWindow
          graph={graph}
          onFocus={() => {
            focused.value = true;
          }}
          onBlur={() => {
            focused.value = false;
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape") pointer.value = null;
            graphKeys(event, graph);
          }}
        />
      </div>
      {m && <NodeLine text={describe(m, told)} />}
      {m && pointer.value && (
        <Tooltip text={describe(m, pointer.value.node)} x={pointer.value.x} y={pointer.value.y} />
      )}
      <p class="unseen" role="status">
        {m && focused.value ? sentence(m, cursor.value) : ""}
      </p>
    </>
  );
}

function NodeLine({ text }: { text: ReturnType<typeof describe> }) {
  return (
    <dl class="node-line">
      <div>
        <dt>{[text.module, text.stage].filter((part) => part !== "").join(" · ") || "function"}</dt>
        <dd>
          <bdi>{text.name}</bdi>
        </dd>
      </div>
      {text.facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
