// How the cost grows: every run, medians with intervals, the fitted law, and what it predicts at a size.

import { useSignal } from "@preact/signals";
import type { Growth, Surface } from "../../data/lab";
import { figureText, logScale, predicted } from "../../lab/scale";
import { integer, prose, visible } from "../../text";
import { Section } from "../Section";
import { type Curve, curveOf, Plane, scalesOf } from "./Plane";
import { SurfaceChart } from "./SurfaceChart";

const FURTHER = 10;

export function GrowthCharts({
  growth,
  surfaces,
  lines,
}: {
  growth: readonly Growth[];
  surfaces: readonly Surface[];
  lines: readonly string[];
}) {
  if (growth.length === 0 && surfaces.length === 0) return null;
  const factors = [...new Set(growth.map((one) => one.factor))];
  return (
    <Section id="growth" title="How it grows">
      {lines.map((line) => (
        <p>{prose(line)}</p>
      ))}
      {surfaces.map((one) => one.points.length > 0 && <SurfaceChart surface={one} />)}
      {factors.map((factor) => (
        <Chart factor={factor} curves={growth.filter((one) => one.factor === factor)} />
      ))}
    </Section>
  );
}

function sizes(curve: Growth): number[] {
  return curve.points.map((point) => point.n);
}

function Chart({ factor, curves }: { factor: string; curves: readonly Growth[] }) {
  const drawn: readonly Curve[] = curves.map((curve) =>
    curveOf(visible(curve.of, 60), curve.points, curve.runs, (n) => predicted(curve, n)),
  );
  const { x, y } = scalesOf(drawn, logScale);
  const unit = visible(curves[0]?.unit ?? "", 60);
  const scales = [x.log, y.log].every(Boolean) ? ", both axes logarithmic" : "";
  const title = `${unit} by ${visible(factor, 40)}`;
  return (
    <figure class="growth">
      <figcaption class="faint">
        {title}
        {scales}
      </figcaption>
      <Plane curves={drawn} x={x} y={y} height={260} title={title} />
      {curves.length > 1 && (
        <ul class="curves">
          {curves.map((curve, i) => (
            <li>
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
