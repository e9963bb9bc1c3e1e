// Every number of every run: steps, threads and counters. Long, so it is made when it is opened.

import { useSignal } from "@preact/signals";
import type { Run } from "../../data/lab";
import { visible } from "../../text";
import { Section } from "../Section";

/** As it is in the result, without digits that no clock has. */
function exact(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(9)));
}

export function AllFigures({ runs }: { runs: readonly Run[] }) {
  const open = useSignal(false);
  if (runs.length === 0) return null;
  return (
    <Section id="all" title="All figures">
      <details
        onToggle={(event) => {
          open.value = event.currentTarget.open;
        }}
      >
        <summary>Steps, threads and counters of each run</summary>
        {open.value && runs.map((run) => <OneRun run={run} />)}
      </details>
    </Section>
  );
}

function OneRun({ run }: { run: Run }) {
  return (
    <details class="one-run">
      <summary>
        {run.position + 1}. {visible(run.cell, 80)}, run {run.repetition}
      </summary>
      {run.steps.map((step) => (
        <div>
          <h3>{visible(step.name, 60)}</h3>
          <dl class="figures">
            {step.figures.map(([name, value], at) => (
              <Pair key={at} name={name} value={exact(value)} />
            ))}
            {step.threads.map((group, at) => (
              <Pair
                key={at}
                name={`CPU seconds of ${visible(group.comm, 40) || "(unnamed)"} (${group.threads})`}
                value={exact(group.cpu_s)}
              />
            ))}
            {step.counters.map(([name, value], at) => (
              <Pair key={at} name={name} value={exact(value)} />
            ))}
          </dl>
        </div>
      ))}
    </details>
  );
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{visible(name, 80)}</dt>
      <dd>{value}</dd>
    </div>
  );
}
