// How the cost grows: every run, medians with intervals, the fitted law, and what it predicts at a size.

import { useSignal } from "@preact/signals";
import type { Growth } from "../../data/lab";
import { figureText, logScale, predicted, type Scale, tickText } from "../../lab/scale";
import { integer, prose, visible } from "../../text";
import { Section } from "../Section";
import { Axis, Grid, percentOf } from "./Axis";

/** Points of a drawn law. */
const STEPS = 60;
const FURTHER = 10;

export function GrowthCharts({
  growth,
  lines,
}: {
  growth: readonly Growth[];
  lines: readonly string[];
}) {
  if (growth.length === 0) return null;
  const factors = [...new Set(growth.map((one) => one.factor))];
  return (
    <Section id="growth" title="How it grows">
      {lines.map((line, i) => (
        <p key={i}>{prose(line)}</p>
      ))}
      {factors.map((factor, i) => (
        <Chart key={i} factor={factor} curves={growth.filter((one) => one.factor === factor)} />
      ))}
    </Section>
  );
}

function sizes(curve: Growth): number[] {
  return curve.points.map((point) => point.n);
}

function lawOf(curve: Growth): { n: number; cost: number }[] {
  const [low, high] = [Math.min(...sizes(curve)), Math.max(...sizes(curve))];
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const n = low * (high / low) ** (i / STEPS);
    return { n, cost: predicted(curve, n) };
  }).flatMap(({ n, cost }) => (cost !== null && cost > 0 ? [{ n, cost }] : []));
}

function Chart({ factor, curves }: { factor: string; curves: readonly Growth[] }) {
  const x = logScale(curves.flatMap(sizes));
  const y = logScale(
    curves.flatMap((curve) => [
      ...curve.runs.map((run) => run.value),
      ...curve.points.flatMap((p) => [p.median.low, p.median.high]),
      ...lawOf(curve).map((point) => point.cost),
    ]),
  );
  const unit = visible(curves[0]?.unit ?? "", 60);
  const scales = [x.log, y.log].every(Boolean) ? ", both axes logarithmic" : "";
  return (
    <figure class="growth">
      <figcaption class="faint">
        {unit} by {visible(factor, 40)}
        {scales}
      </figcaption>
      <div class="plane">
        <div class="axis-y" aria-hidden="true">
          {y.ticks.map((tick, i) => (
            <span key={i} style={{ bottom: percentOf(y, tick) }}>
              {tickText(tick)}
            </span>
          ))}
        </div>
        <svg width="100%" height="260" role="img" aria-label={`${unit} by ${visible(factor, 40)}`}>
          <Grid scale={x} />
          {curves.map((curve, i) => (
            <Curve key={i} curve={curve} number={i % 4} x={x} y={y} />
          ))}
        </svg>
      </div>
      <Axis scale={x} />
      {curves.length > 1 && (
        <ul class="curves">
          {curves.map((curve, i) => (
            <li key={i}>
              <svg class="curve-key" width="34" height="10" aria-hidden="true">
                <line class={`law law-${i % 4}`} x1="0" x2="34" y1="5" y2="5" />
              </svg>
              {visible(curve.of, 80) || "all"}
            </li>
          ))}
        </ul>
      )}
      <Prediction factor={factor} curves={curves} />
    </figure>
  );
}

function Curve({ curve, number, x, y }: { curve: Growth; number: number; x: Scale; y: Scale }) {
  const up = (value: number) =>
    `${(100 - Math.min(1, Math.max(0, y.at(value))) * 100).toFixed(3)}%`;
  const law = lawOf(curve).map(
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
      {curve.points.map((point, i) => (
        <line
          key={i}
          class="interval"
          x1={percentOf(x, point.n)}
          x2={percentOf(x, point.n)}
          y1={up(point.median.low)}
          y2={up(point.median.high)}
        />
      ))}
      {curve.runs.map((run, i) => (
        <circle key={i} class="dot" r="4" cx={percentOf(x, run.n)} cy={up(run.value)}>
          <title>{`${visible(curve.of, 60)} ${run.n}: ${figureText(run.value)}`}</title>
        </circle>
      ))}
    </>
  );
}

/** The cost at a size that the reader names; far beyond what was measured a law is a guess. */
function Prediction({ factor, curves }: { factor: string; curves: readonly Growth[] }) {
  const largest = Math.max(...curves.flatMap(sizes));
  const n = useSignal(largest * FURTHER);
  const name = visible(factor, 40);
  return (
    <p class="predict">
      <label>
        At {name} ={" "}
        <input
          type="number"
          min={1}
          value={n.value}
          onInput={(event) => {
            const typed = Number(event.currentTarget.value);
            if (Number.isFinite(typed) && typed > 0) n.value = typed;
          }}
        />
      </label>{" "}
      <span role="status">
        {curves.map((curve) => {
          const cost = predicted(curve, n.value);
          const of = curve.of === "" ? "" : `${visible(curve.of, 60)} `;
          const said =
            cost === null ? "not known" : `${figureText(cost)} ${visible(curve.unit, 60)}`;
          return `${of}${said}. `;
        })}
        {n.value > largest &&
          `Measured up to ${name} = ${integer(largest)}; beyond it the law is assumed.`}
      </span>
    </p>
  );
}
