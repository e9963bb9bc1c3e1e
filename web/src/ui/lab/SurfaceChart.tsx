// Growth with two factors at once: a small drawing over the first for each size of the second, all with the same axes,
// and what the law predicts at two sizes.

import { useSignal } from "@preact/signals";
import type { Surface } from "../../data/lab";
import { figureText, logScale, predictedOf } from "../../lab/scale";
import { integer, visible } from "../../text";
import { curveOf, Plane, scalesOf } from "./Plane";

const FURTHER = 10;

export function SurfaceChart({ surface }: { surface: Surface }) {
  const [n, m] = surface.factors.map((name) => visible(name, 40)) as [string, string];
  const seconds = [...new Set(surface.points.map((point) => point.m))].sort((a, b) => a - b);
  const curves = seconds.map((size) =>
    curveOf(
      `${m} = ${size}, ${n} =`,
      surface.points.filter((point) => point.m === size),
      surface.runs.filter((run) => run.m === size),
      (at) => predictedOf(surface, at, size),
    ),
  );
  const { x, y } = scalesOf(curves, logScale);
  const unit = visible(surface.unit, 60);
  const of = surface.of === "" ? "" : `${visible(surface.of, 60)}: `;
  const scales = x.log && y.log ? ", both axes logarithmic and the same in each drawing" : "";
  return (
    <figure class="growth surface">
      <figcaption class="faint">
        {of}
        {unit} by {n}, for each {m}
        {scales}. The line is the law of both.
      </figcaption>
      <div class="multiples">
        {curves.map((curve, i) => {
          const title = `${m} = ${integer(seconds[i] ?? 0)}`;
          return (
            <div class="growth">
              <p class="multiple">{title}</p>
              <Plane
                curves={[curve]}
                x={x}
                y={y}
                height={150}
                title={`${unit} by ${n}, ${title}`}
              />
            </div>
          );
        })}
      </div>
      <Prediction surface={surface} n={n} m={m} unit={unit} />
    </figure>
  );
}

/** The cost at two sizes that the reader names. */
function Prediction({
  surface,
  n,
  m,
  unit,
}: {
  surface: Surface;
  n: string;
  m: string;
  unit: string;
}) {
  const most = [
    Math.max(...surface.points.map((point) => point.n)),
    Math.max(...surface.points.map((point) => point.m)),
  ] as const;
  const [first, second] = [useSignal(most[0] * FURTHER), useSignal(most[1] * FURTHER)];
  const cost = predictedOf(surface, first.value, second.value);
  const beyond = first.value > most[0] || second.value > most[1];
  return (
    <p class="predict">
      {[[n, first] as const, [m, second] as const].map(([name, size], i) => (
        <label>
          {i === 0 ? "At" : "and"} {name} ={" "}
          <input
            type="number"
            min={1}
            value={size.value}
            onInput={(event) => {
              const typed = Number(event.currentTarget.value);
              if (Number.isFinite(typed) && typed > 0) size.value = typed;
            }}
          />{" "}
        </label>
      ))}
      <span role="status">
        {cost === null ? "not known" : `${figureText(cost)} ${unit}`}.{" "}
        {beyond &&
          `Measured up to ${n} = ${integer(most[0])} and ${m} = ${integer(most[1])}; beyond that the law is assumed.`}
      </span>
    </p>
  );
}
