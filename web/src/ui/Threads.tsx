// CPU by thread: what the clocks of the threads say beside what the samples say.

import { useSignal } from "@preact/signals";
import type { Itself, ThreadRow } from "../data/answer";
import { fold, foldedText } from "../small";
import { integer, percent, seconds, threadName, visible } from "../text";
import { Button } from "./Button";
import { Head } from "./Head";
import { Num } from "./Num";

const FIRST = 12;

export function Threads(props: {
  threads: readonly ThreadRow[];
  itself: Itself | null;
  amount: number;
}) {
  const { itself } = props;
  const used = (row: ThreadRow) =>
    Math.max(row.cpu_share ?? 0, row.samples / Math.max(1, props.amount));
  const folded = fold(props.threads, used);
  const threads = folded.shown;
  const all = useSignal(false);
  if (threads.length === 0) return null;
  const shown = all.value ? threads : threads.slice(0, FIRST);
  const or = (value: number | null, text: (v: number) => string) =>
    value === null ? "–" : text(value);
  return (
    <section aria-labelledby="threads-title">
      <h2 id="threads-title">CPU by thread</h2>
      <table class="numbers">
        <Head
          columns={[
            ["Thread"],
            ["Role", "wide-only"],
            ["Threads", "n wide-only"],
            ["CPU time", "n"],
            ["Of one CPU", "n"],
            ["Samples", "n"],
          ]}
        />
        <tbody>
          {shown.map((row, i) => (
            <tr key={i}>
              <th scope="row">{threadName(row.comm, 60)}</th>
              <td class="wide-only">{visible(row.role, 80)}</td>
              <td class="n wide-only">{integer(row.threads)}</td>
              <Num>{or(row.cpu_s, seconds)}</Num>
              <Num>{or(row.cpu_share, percent)}</Num>
              <Num>{integer(row.samples)}</Num>
            </tr>
          ))}
        </tbody>
      </table>
      {threads.length > shown.length && (
        <Button
          onClick={() => {
            all.value = true;
          }}
        >
          Show all {integer(threads.length)} threads
        </Button>
      )}
      <p class="faint">{foldedText(folded, "thread", "threads by name")}</p>
      {itself !== null && <p class="muted">{itselfText(itself)}</p>}
    </section>
  );
}

/** What the recorder did; in none of the rows. */
function itselfText(itself: Itself): string {
  const { cpu_s, of_one_cpu, samples } = itself;
  const share = of_one_cpu === null ? "" : ` (${percent(of_one_cpu)} of one CPU)`;
  const told = cpu_s === null ? [] : [`${seconds(cpu_s)} of CPU time${share}`];
  if (samples > 0) {
    const counted = `${integer(samples)} ${samples === 1 ? "sample" : "samples"}`;
    told.push(`${counted}, counted nowhere else`);
  } else if (told.length === 0) {
    told.push("no samples");
  }
  return `${visible(itself.program, 60)} itself: ${told.join(", ")}`;
}
