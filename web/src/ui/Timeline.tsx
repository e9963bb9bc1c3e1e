// CPU by stage over the length of the recording. Dragging selects a part of it, and everything that is
// counted from samples follows: graph, legend, tables.

import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { type OverTime, overTime } from "../flame/over-time";
import { rowsWithin } from "../flame/select";
import { selectTime } from "../state/actions";
import { field, timeline } from "../state/store";
import { base, timed } from "../state/view";
import { integer, percent, seconds, visible } from "../text";
import { Button } from "./Button";
import { useBrush } from "./brush";
import { Counters } from "./Counters";
import { Heatmap } from "./Heatmap";
import { Section } from "./Section";

const [FEWEST_BINS, MOST_BINS] = [40, 240];
/** Samples that make a bin tell more than chance. */
const A_BIN = 16;
const QUIET: readonly string[] = ["unknown", "not zfs", "idle"];
const HEIGHT = 96;
/** Narrower drags are clicks. */
const CLICK = 0.004;

export function Timeline() {
  const samples = timed.value;
  const m = base.value;
  if (!samples || !m || samples.rows === 0) return null;
  const to = Math.max(timeline.value?.duration ?? 0, samples.time[samples.rows - 1]);
  return (
    <Section class="timeline" id="timeline" title="CPU by stage over time">
      <Stack duration={to} />
      <Selected duration={to} />
      <div class="more-tools">
        <Heatmap duration={to} />
        <Counters duration={to} />
      </div>
    </Section>
  );
}

/** One filled outline per stage, the largest at the bottom. */
function areas(sums: OverTime, order: readonly number[]): { stage: number; path: string }[] {
  const top = new Float64Array(sums.bins);
  return order.map((stage) => {
    const x = (bin: number) => ((bin / sums.bins) * 1000).toFixed(1);
    const y = (value: number) => (HEIGHT * (1 - value / Math.max(1, sums.most))).toFixed(1);
    let up = "";
    let down = "";
    for (let bin = 0; bin < sums.bins; bin++) {
      const low = top[bin];
      top[bin] += sums.amount[stage * sums.bins + bin];
      up += `${bin === 0 ? "M" : "L"}${x(bin)} ${y(top[bin])}H${x(bin + 1)}`;
      down = `L${x(bin + 1)} ${y(low)}H${x(bin)}${down}`;
    }
    return { stage, path: `${up}${down}Z` };
  });
}

function Stack({ duration }: { duration: number }) {
  const m = base.value;
  const samples = timed.value;
  const box = useRef<HTMLDivElement>(null);
  const hover = useSignal<number | null>(null);
  const drawn = useMemo(() => {
    if (!m || !samples) return null;
    const bins = Math.min(MOST_BINS, Math.max(FEWEST_BINS, Math.round(samples.rows / A_BIN)));
    const sums = overTime(m.data, samples, 0, duration, bins);
    // What is quiet lies on top, so that the work stands on the ground.
    const quiet = (stage: number) => QUIET.indexOf(m.data.stages[stage]);
    const order = [...m.stageWeight.keys()]
      .filter((stage) => m.stageWeight[stage] > 0)
      .sort((a, b) => quiet(a) - quiet(b) || m.stageWeight[b] - m.stageWeight[a]);
    return { sums, areas: areas(sums, order), order };
  }, [m, samples, duration]);
  if (!m || !drawn) return null;

  const at = (event: PointerEvent): number => {
    const rect = box.current?.getBoundingClientRect();
    if (!rect || rect.width === 0) return 0;
    return Math.min(1, Math.max(0, (event.clientX - rect.left) / rect.width));
  };
  const brush = useBrush((event) => at(event) * duration, 0, CLICK * duration);
  const time = field("time");
  const marks = timeline.value?.marks ?? [];
  return (
    <div
      ref={box}
      class="time-stack"
      {...brush}
      onPointerMove={(event) => {
        hover.value = at(event);
        brush.onPointerMove(event);
      }}
      onPointerLeave={() => {
        hover.value = null;
      }}
    >
      <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {drawn.areas.map(({ stage, path }) => (
          <path key={stage} d={path} fill={m.stageColour[stage]} />
        ))}
        {marks.map((mark) => (
          <line
            class="mark"
            x1={(mark.t / duration) * 1000}
            x2={(mark.t / duration) * 1000}
            y1={0}
            y2={HEIGHT}
          >
            <title>{visible(`${mark.name} ${mark.text}`, 200)}</title>
          </line>
        ))}
      </svg>
      {time && <Outside time={time} duration={duration} />}
      {hover.value !== null && <Cursor at={hover.value} drawn={drawn} duration={duration} />}
      <div class="time-axis" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{seconds(part * duration)}</span>
        ))}
      </div>
    </div>
  );
}

/** What is not selected is dimmed. */
function Outside({ time, duration }: { time: readonly [number, number]; duration: number }) {
  const part = (t: number) => `${Math.min(100, (t / duration) * 100)}%`;
  return (
    <>
      <div class="time-outside" style={{ left: "0", width: part(time[0]) }} />
      <div class="time-outside" style={{ left: part(time[1]), right: "0" }} />
    </>
  );
}

function Cursor(props: {
  at: number;
  drawn: { sums: OverTime; order: readonly number[] };
  duration: number;
}) {
  const m = base.value;
  const { sums, order } = props.drawn;
  const bin = Math.min(sums.bins - 1, Math.floor(props.at * sums.bins));
  const top = order
    .map((stage) => ({ stage, amount: sums.amount[stage * sums.bins + bin] }))
    .filter((row) => row.amount > 0)
    .sort((a, b) => b.amount - a.amount)
    .slice(0, 3);
  return (
    <>
      <div class="time-cursor" style={{ left: `${props.at * 100}%` }} />
      <p class="time-said" aria-hidden="true">
        {seconds(props.at * props.duration)}
        {top.map(({ stage, amount }) => (
          <span key={stage}>
            {" "}
            · {visible(m?.data.stages[stage] ?? "", 40)} {percent(amount / sums.sums[bin])}
          </span>
        ))}
      </p>
    </>
  );
}

/** The selection in figures, as fields for those who do not drag, and how to undo it. */
function Selected({ duration }: { duration: number }) {
  const samples = timed.value;
  if (!samples) return null;
  const time = field("time");
  const [from, to] = time ?? [0, duration];
  const [first, last] = rowsWithin(samples, time);
  const set = (a: number, b: number) => {
    const [low, high] = [Math.max(0, a), Math.min(duration, b)];
    selectTime(high > low ? [low, high] : null);
  };
  const step = Math.max(0.001, Number((duration / 100).toPrecision(1)));
  return (
    <p class="time-fields">
      <label>
        From{" "}
        <input
          type="number"
          min={0}
          max={duration}
          step={step}
          value={from.toFixed(2)}
          onChange={(event) => set(Number(event.currentTarget.value), to)}
        />
      </label>{" "}
      <label>
        to{" "}
        <input
          type="number"
          min={0}
          max={duration}
          step={step}
          value={to.toFixed(2)}
          onChange={(event) => set(from, Number(event.currentTarget.value))}
        />{" "}
        s
      </label>{" "}
      <span role="status">
        {time
          ? `${integer(last - first)} of ${integer(samples.rows)} samples are selected.`
          : "Drag over the picture to select a part of the time."}
      </span>{" "}
      {time && <Button onClick={() => selectTime(null)}>All of it</Button>}
    </p>
  );
}
