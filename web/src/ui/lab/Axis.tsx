// The numbers below a drawing, and the lines that lead up from them.

import { type Scale, tickText } from "../../lab/scale";

export const percentOf = (scale: Scale, value: number): string =>
  `${(Math.min(1, Math.max(0, scale.at(value))) * 100).toFixed(3)}%`;

/** Lines of an SVG without a view box, whose places are percentages. */
export function Grid({ scale }: { scale: Scale }) {
  return (
    <>
      {scale.ticks.map((tick) => {
        const x = percentOf(scale, tick);
        return <line class="grid" x1={x} x2={x} y1="0" y2="100%" />;
      })}
    </>
  );
}

/** The same places as text; the drawing says them by itself, so they are not read out. */
export function Axis({ scale }: { scale: Scale }) {
  return (
    <div class="axis" aria-hidden="true">
      {scale.ticks.map((tick) => (
        <span style={{ left: percentOf(scale, tick) }}>{tickText(tick)}</span>
      ))}
    </div>
  );
}
