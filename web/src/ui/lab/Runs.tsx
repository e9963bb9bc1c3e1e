// Every run as a dot, with the median of its cell and the interval: never a mean alone.

import { useSignal } from "@preact/signals";
import type { Cell, Figure, Interval } from "../../data/lab";
import { figureText, type Scale, scaleOf } from "../../lab/scale";
import { prose, visible } from "../../text";
import { Faint } from "../Faint";
import { Section } from "../Section";
import { Axis, Grid, percentOf } from "./Axis";

const HEIGHT = 44;

export function Runs({ figures }: { figures: readonly Figure[] }) {
  const chosen = useSignal(0);
  const figure = figures[chosen.value] ?? figures[0];
  if (!figure) return null;
  const all = figure.cells.flatMap((cell) => [
    cell.median.low,
    cell.median.high,
    ...cell.runs.map((run) => run.value),
  ]);
  const scale = scaleOf(all);
  return (
    <Section id="runs" title="Every run">
      <p class="choose">
        <label>
          Figure{" "}
          <select
            value={String(chosen.value)}
            onChange={(event) => {
              chosen.value = Number(event.currentTarget.value);
            }}
          >
            {figures.map((one, i) => (
              <option value={String(i)}>
                {visible(`${one.step}: ${one.unit}`, 100)}
                {i === 0 ? " (answers the question)" : ""}
              </option>
            ))}
          </select>
        </label>
      </p>
      <ul class="cells" data-figure={chosen.value}>
        {figure.cells.map((cell) => (
          <Row cell={cell} figure={figure} scale={scale} />
        ))}
      </ul>
      <div class="cell-row axis-row">
        <span />
        <Axis scale={scale} />
        <span />
      </div>
      <Faint>
        {visible(figure.unit, 100)} in {visible(figure.step, 60)}
        {scale.log ? ", logarithmic axis" : ""}. A dot is a run, the tall line the median, the bar
        {(figure.cells[0]?.runs.length ?? 0) < 4
          ? " the range of the runs."
          : " its 95 % interval. Ratios are of pairs of runs that were made beside each other."}
      </Faint>
    </Section>
  );
}

function span(interval: Interval): string {
  return `[${figureText(interval.low)}, ${figureText(interval.high)}]`;
}

function compared(cell: Cell, figure: Figure): string {
  const { ratio } = cell;
  if (!ratio) return "";
  const times = `${figureText(ratio.times.value)}x the ${visible(figure.noun, 40)} of ${visible(figure.reference, 60)}`;
  if (ratio.runs < 2) return `${times}, one pair of runs`;
  const told = `${times} ${span(ratio.times)}`;
  return ratio.shown ? told : `no difference shown: ${told}`;
}

function Row({ cell, figure, scale }: { cell: Cell; figure: Figure; scale: Scale }) {
  const { median, runs } = cell;
  const values = runs.map((run) => figureText(run.value)).join(", ");
  const said = `${visible(cell.cell, 80)}: runs ${values}; median ${figureText(median.value)}`;
  const several = runs.length > 1;
  return (
    <li class="cell-row">
      <b class="cell-name">
        <bdi>{visible(cell.cell, 80)}</bdi>
      </b>
      <svg class="dots" width="100%" height={HEIGHT} role="img" aria-label={said}>
        <title>{said}</title>
        <Grid scale={scale} />
        {several && (
          <line
            class="interval"
            x1={percentOf(scale, median.low)}
            x2={percentOf(scale, median.high)}
            y1={HEIGHT / 2}
            y2={HEIGHT / 2}
          />
        )}
        {runs.map((run, i) => (
          <circle
            class="dot"
            r="4.5"
            cx={percentOf(scale, run.value)}
            cy={runs.length === 1 ? HEIGHT / 2 : 9 + (i % 5) * ((HEIGHT - 18) / 4)}
          >
            <title>{`run ${run.repetition}: ${figureText(run.value)} ${prose(figure.unit)}`}</title>
          </circle>
        ))}
        {several && (
          <line
            class="median"
            x1={percentOf(scale, median.value)}
            x2={percentOf(scale, median.value)}
            y1="3"
            y2={HEIGHT - 3}
          />
        )}
      </svg>
      <p class="cell-figure">
        <b>{figureText(median.value)}</b> {several && <span>{span(median)}</span>}
        <span class="cell-ratio">{compared(cell, figure)}</span>
      </p>
    </li>
  );
}
