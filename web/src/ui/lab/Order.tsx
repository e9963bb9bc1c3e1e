// The runs in the order in which they were made, and the commands to repeat them or to look closer.

import { useSignal } from "@preact/signals";
import type { Capture, LabData } from "../../data/lab";
import { figureText } from "../../lab/scale";
import { visible } from "../../text";
import { Commands } from "../Commands";
import { Faint } from "../Faint";
import { Section } from "../Section";

const HEIGHT = 120;

/** Each run beside the median of its cell: what drifts while an experiment runs is seen here. */
export function RunsInOrder({ data }: { data: LabData }) {
  const figure = data.figures[0];
  if (!figure || data.runs.length < 4) return null;
  const dots = figure.cells.flatMap(({ cell, median, runs }) =>
    median.value > 0 ? runs.map((run) => ({ ...run, cell, of: run.value / median.value })) : [],
  );
  if (dots.length < 4) return null;
  const last = Math.max(...dots.map((dot) => dot.position), 1);
  const far = Math.max(...dots.map((dot) => Math.abs(Math.log(dot.of))), Math.log(1.1)) * 1.15;
  const up = (of: number) => `${((0.5 - Math.log(of) / far / 2) * 100).toFixed(3)}%`;
  const along = (position: number) => `${(2 + (position / last) * 96).toFixed(3)}%`;
  const edge = Math.exp(far / 1.15);
  return (
    <Section id="order" title="In the order they ran">
      <div class="plane order">
        <div class="axis-y" aria-hidden="true">
          {[1 / edge, 1, edge].map((of) => (
            <span style={{ bottom: `${(0.5 + Math.log(of) / far / 2) * 100}%` }}>
              {figureText(of)}x
            </span>
          ))}
        </div>
        <svg
          width="100%"
          height={HEIGHT}
          role="img"
          aria-label={`${dots.length} runs in the order they ran, each beside the median of its cell; the farthest is ${figureText(edge)} times away`}
        >
          <line class="median faint-line" x1="0" x2="100%" y1="50%" y2="50%" />
          {dots.map((dot) => (
            <circle class="dot" r="4.5" cx={along(dot.position)} cy={up(dot.of)}>
              <title>{`${dot.position + 1}. ${visible(dot.cell, 80)}, run ${dot.repetition}: ${figureText(dot.value)}, ${figureText(dot.of)} of the median`}</title>
            </circle>
          ))}
        </svg>
      </div>
      <Faint>
        From the first run to the last; each beside the median of its cell. A slope would mean that
        the machine changed.
      </Faint>
    </Section>
  );
}

const named = (capture: Capture): string =>
  `${visible(capture.cell, 60)}, ${visible(capture.step, 40)}, run ${capture.repetition}`;

function Choice({
  label,
  captures,
  value,
  choose,
}: {
  label: string;
  captures: readonly Capture[];
  value: number;
  choose: (at: number) => void;
}) {
  return (
    <label>
      {label}{" "}
      <select value={String(value)} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {captures.map((capture, i) => (
          <option value={String(i)}>{named(capture)}</option>
        ))}
      </select>
    </label>
  );
}

/** A run of a cell in the answering step; the first capture where there is none. */
function captureOf(data: LabData, cell: string): number {
  const step = data.figures[0]?.step;
  return Math.max(
    0,
    data.captures.findIndex((one) => one.cell === cell && one.step === step),
  );
}

/** Commands: again, and the captures of one cell or of two. */
export function Closer({ data }: { data: LabData }) {
  const answering = data.figures[0];
  const dearest = answering?.cells.find((cell) => cell.cell !== answering.reference)?.cell ?? "";
  const first = useSignal(captureOf(data, dearest));
  const second = useSignal(captureOf(data, answering?.reference ?? ""));
  const [a, b] = [data.captures[first.value], data.captures[second.value]];
  const closer =
    a && b ? [`zwhy explain ${a.file}`, `zwhy diff ${a.file} ${b.file} -o diff.html`] : [];
  return (
    <Section id="closer" title="Commands">
      {data.commands.map(({ what, command }) => (
        <div>
          <h3>{visible(what, 100)}</h3>
          <Commands commands={[command]} />
        </div>
      ))}
      {a && b && (
        <>
          <h3>Why a cell costs what it does, and a differential flame graph of two</h3>
          <p class="choose">
            <Choice
              label="One"
              captures={data.captures}
              value={first.value}
              choose={(at) => {
                first.value = at;
              }}
            />{" "}
            <Choice
              label="and another"
              captures={data.captures}
              value={second.value}
              choose={(at) => {
                second.value = at;
              }}
            />
          </p>
          <Commands commands={closer} />
        </>
      )}
    </Section>
  );
}
