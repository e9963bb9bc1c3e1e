// Counters beside the samples, on the same time axis: one row for what belongs together.

import type { Curve } from "../data/extras";
import { field, timeline } from "../state/store";
import { bytes, integer, visible } from "../text";

const HEIGHT = 34;

export function Counters({ duration }: { duration: number }) {
  const curves = timeline.value?.curves ?? [];
  if (curves.length === 0) return null;
  const groups = [...new Set(curves.map((curve) => curve.group))];
  return (
    <details class="counters">
      <summary>Counters: {groups.map((group) => visible(group, 40)).join(", ")}</summary>
      {groups.map((group) => (
        <Group
          key={group}
          name={group}
          curves={curves.filter((curve) => curve.group === group)}
          duration={duration}
        />
      ))}
    </details>
  );
}

function amount(value: number, unit: string): string {
  if (unit === "B") return bytes(value);
  if (unit === "B/s") return `${bytes(value)}/s`;
  if (unit === "CPUs") return `${value.toFixed(2)} CPUs`;
  return `${integer(value)}${unit}`;
}

/** The mean of what lies in the selected time. */
function mean(curve: Curve, time: readonly [number, number] | null): number | null {
  const within = curve.v.filter(
    (_, i) => !time || (curve.t[i] >= time[0] && curve.t[i] <= time[1]),
  );
  return within.length === 0 ? null : within.reduce((a, b) => a + b, 0) / within.length;
}

const DASHES = ["", "7 4", "2 3", "9 3 2 3"];

function Group(props: { name: string; curves: readonly Curve[]; duration: number }) {
  const { name, curves, duration } = props;
  const most = Math.max(...curves.flatMap((curve) => curve.v), 1e-9);
  const time = field("time");
  const points = (curve: Curve) =>
    curve.t
      .map(
        (t, i) =>
          `${((t / duration) * 1000).toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 4) * (curve.v[i] / most)).toFixed(1)}`,
      )
      .join(" ");
  return (
    <div class="counter">
      <p>
        <b>{visible(name, 40)}</b>
        {curves.map((curve, i) => {
          const value = mean(curve, time);
          return (
            <span key={curve.name}>
              <svg class="dash" viewBox="0 0 22 8" aria-hidden="true">
                <line x1="0" x2="22" y1="4" y2="4" stroke-dasharray={DASHES[i % DASHES.length]} />
              </svg>{" "}
              {visible(curve.name, 40)} {value === null ? "–" : amount(value, curve.unit)}
            </span>
          );
        })}
        <span class="faint">mean; top {amount(most, curves[0].unit)}</span>
      </p>
      <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {curves.map((curve, i) => (
          <polyline
            key={curve.name}
            points={points(curve)}
            stroke-dasharray={DASHES[i % DASHES.length]}
          />
        ))}
      </svg>
    </div>
  );
}
