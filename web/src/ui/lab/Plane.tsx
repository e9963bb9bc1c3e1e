// One drawing of costs over a size: every run, medians with intervals, and fitted laws.

import type { Interval } from "../../data/lab";
import { figureText, type Scale, tickText } from "../../lab/scale";
import { Axis, Grid, percentOf } from "./Axis";

/** Points of a drawn law. */
const STEPS = 60;

export interface Curve {
  readonly name: string;
  readonly points: readonly { readonly n: number; readonly median: Interval }[];
  readonly runs: readonly { readonly n: number; readonly value: number }[];
  /** What the law says, from the smallest size to the largest. */
  readonly law: readonly { readonly n: number; readonly cost: number }[];
}

/** `at` is what the law says at a size; null where it is not known. */
export function curveOf(
  name: string,
  points: Curve["points"],
  runs: Curve["runs"],
  at: (n: number) => number | null,
): Curve {
  const sizes = points.map((point) => point.n);
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  const law = Array.from({ length: STEPS + 1 }, (_, i) => {
    const n = low * (high / low) ** (i / STEPS);
    return { n, cost: at(n) };
  }).flatMap(({ n, cost }) => (cost !== null && cost > 0 ? [{ n, cost }] : []));
  return { name, points, runs, law };
}

/** Axes that hold all of these curves. */
export function scalesOf(
  curves: readonly Curve[],
  scale: (values: readonly number[]) => Scale,
): { readonly x: Scale; readonly y: Scale } {
  return {
    x: scale(curves.flatMap((curve) => curve.points.map((point) => point.n))),
    y: scale(
      curves.flatMap((curve) => [
        ...curve.runs.map((run) => run.value),
        ...curve.points.flatMap((p) => [p.median.low, p.median.high]),
        ...curve.law.map((point) => point.cost),
      ]),
    ),
  };
}

export function Plane({
  curves,
  x,
  y,
  height,
  title,
}: {
  curves: readonly Curve[];
  x: Scale;
  y: Scale;
  /** Pixels. */
  height: number;
  title: string;
}) {
  return (
    <>
      <div class="plane">
        <div class="axis-y" aria-hidden="true">
          {y.ticks.map((tick) => (
            <span style={{ bottom: percentOf(y, tick) }}>{tickText(tick)}</span>
          ))}
        </div>
        <svg width="100%" height={height} role="img" aria-label={title}>
          <Grid scale={x} />
          {curves.map((curve, i) => (
            <Drawn curve={curve} number={i % 4} x={x} y={y} />
          ))}
        </svg>
      </div>
      <Axis scale={x} />
    </>
  );
}

function Drawn({ curve, number, x, y }: { curve: Curve; number: number; x: Scale; y: Scale }) {
  const up = (value: number) =>
    `${(100 - Math.min(1, Math.max(0, y.at(value))) * 100).toFixed(3)}%`;
  const law = curve.law.map(
    ({ n, cost }) => `${(x.at(n) * 100).toFixed(3)},${((1 - y.at(cost)) * 100).toFixed(3)}`,
  );
  return (
    <>
      <svg
        x="0"
        y="0"
        width="100%"
        height="100%"
        viewBox="0 0 100 100"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <polyline class={`law law-${number}`} points={law.join(" ")} />
      </svg>
      {curve.points.map((point) => (
        <line
          class="interval"
          x1={percentOf(x, point.n)}
          x2={percentOf(x, point.n)}
          y1={up(point.median.low)}
          y2={up(point.median.high)}
        />
      ))}
      {curve.runs.map((run) => (
        <circle class="dot" r="4" cx={percentOf(x, run.n)} cy={up(run.value)}>
          <title>{`${curve.name} ${run.n}: ${figureText(run.value)}`}</title>
        </circle>
      ))}
    </>
  );
}
