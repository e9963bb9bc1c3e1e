// Seconds beside each other, each from bottom to top: what comes back at the same time of a second, or every few
// seconds, is a pattern. Dragging selects time, as in the picture above it, whose fields do the same for the keyboard.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Heat, heat, PARTS } from "../flame/heat";
import { BACKGROUND, pixelOf } from "../flame/palette";
import { mix } from "../flame/raster";
import { dark, field } from "../state/store";
import { base, timed } from "../state/view";
import { useBrush } from "./brush";
import { Faint } from "./Faint";

const HOT = { light: "#a33a00", dark: "#ffb27d" } as const;

type Time = readonly [number, number] | null;

function paint(canvas: HTMLCanvasElement, drawn: Heat, time: Time, theme: keyof typeof HOT): void {
  const context = canvas.getContext("2d", { alpha: false });
  if (!context) return;
  const { seconds, amount, most } = drawn;
  const [ground, hot] = [pixelOf(BACKGROUND[theme]), pixelOf(HOT[theme])];
  const image = new ImageData(seconds, PARTS);
  const pixels = new Uint32Array(image.data.buffer);
  for (let cell = 0; cell < amount.length; cell++) {
    const t = cell / PARTS;
    const out = time !== null && (t < time[0] - 1e-9 || t >= time[1] - 1e-9);
    const row = PARTS - 1 - (cell % PARTS);
    pixels[row * seconds + Math.floor(t)] = mix(
      ground,
      hot,
      (amount[cell] / most) * (out ? 0.25 : 1),
    );
  }
  canvas.width = seconds;
  canvas.height = PARTS;
  context.putImageData(image, 0, 0);
}

export function Heatmap({ duration }: { duration: number }) {
  const open = useSignal(false);
  const canvas = useRef<HTMLCanvasElement>(null);
  const m = base.value;
  const samples = timed.value;
  const drawn = useMemo(
    () => (open.value && m && samples ? heat(m.data, samples, duration) : null),
    [m, samples, duration, open.value],
  );
  const time = field("time");
  const theme = dark.value ? "dark" : "light";
  useLayoutEffect(() => {
    if (canvas.current && drawn) paint(canvas.current, drawn, time, theme);
  }, [drawn, time, theme]);
  const at = (event: PointerEvent): number => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box || !drawn || box.width === 0 || box.height === 0) return 0;
    const within = (part: number, most: number) =>
      Math.min(most - 1, Math.max(0, Math.floor(part * most)));
    const second = within((event.clientX - box.left) / box.width, drawn.seconds);
    const part = within((box.bottom - event.clientY) / box.height, PARTS);
    return second + part / PARTS;
  };
  const brush = useBrush(at, 1 / PARTS, 0.5 / PARTS);
  return (
    <details
      class="heat"
      open={open.value}
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>Within each second</summary>
      {open.value && !drawn && (
        <Faint>Only recordings of 3 to 900 seconds with samples have this picture.</Faint>
      )}
      {drawn && (
        <>
          <div class="heat-picture" aria-hidden="true" {...brush}>
            <canvas ref={canvas} />
          </div>
          <Faint>
            A column is a second, from bottom to top; the stronger its colour, the more CPU was used
            in these 40 ms, idle time left out. Drag to select.
          </Faint>
        </>
      )}
    </details>
  );
}
