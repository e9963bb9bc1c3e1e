// All of the graph in a strip, with a frame around what is in view. It is for the pointer: + − and Shift with the
// arrows do the same from the keyboard.

import { useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { rasterise } from "../flame/raster";
import { centreOn } from "../state/actions";
import { model, paint, view } from "../state/view";

/** Pixels across; the strip is stretched to the width that there is. */
const WIDTH = 800;
const MOST_LEVELS = 120;

export function Minimap() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const held = useRef(false);
  const shown = useRef<unknown>(null);
  const whole = useComputed(() => {
    const m = model.value;
    return !m || (view.value.x0 <= 0 && view.value.x1 >= m.layout.width);
  });
  useSignalEffect(() => {
    if (whole.value) return;
    const m = model.value;
    const brush = paint.value;
    const context = canvas.current?.getContext("2d", { alpha: false });
    if (!m || !brush || !context || !canvas.current || shown.current === brush) return;
    // A paint belongs to its graph: with the same one the picture is the same.
    shown.current = brush;
    const levels = Math.min(MOST_LEVELS, m.layout.levels.length);
    const image = new ImageData(WIDTH, levels);
    const rows = Array.from({ length: levels }, (_, i) => levels - 1 - i);
    const pixels = new Uint32Array(image.data.buffer);
    const all = { x0: 0, x1: m.layout.width };
    const strip = { rows, view: all, width: WIDTH, paint: brush, pixels };
    rasterise(m.layout.levels, strip, Number.POSITIVE_INFINITY);
    canvas.current.width = WIDTH;
    canvas.current.height = levels;
    context.putImageData(image, 0, 0);
  });
  const m = model.value;
  if (!m || m.layout.width <= 0) return null;
  const { x0, x1 } = view.value;
  const part = (x: number) => `${(100 * x) / m.layout.width}%`;
  const centre = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    if (box.width > 0) centreOn((event.clientX - box.left) / box.width);
  };
  return (
    <div
      class={whole.value ? "minimap whole" : "minimap"}
      aria-hidden="true"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        held.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
        centre(event);
      }}
      onPointerMove={(event) => {
        if (held.current) centre(event);
      }}
      onPointerUp={() => {
        held.current = false;
      }}
    >
      <canvas ref={canvas} />
      <div class="minimap-view" style={{ left: part(x0), width: part(x1 - x0) }} />
    </div>
  );
}
