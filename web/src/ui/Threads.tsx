// CPU by thread: what the clocks of the threads say beside what the samples say.

import { useSignal } from "@preact/signals";
import type { Itself, ThreadRow } from "../data/answer";
import { fold, foldedText } from "../small";
import { integer, percent, seconds, visible } from "../text";
import { Button } from "./Button";
import { Faint } from "./Faint";
import { ThreadLink } from "./FunctionLink";
import { Num, Wide, WideNum } from "./Num";
import { Section } from "./Section";
import { RowName, Table } from "./Table";

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
    <Section id="threads" title="CPU by thread">
      <Table
        columns={[
          ["Thread"],
          ["Role", "wide-only"],
          ["Threads", "n wide-only"],
          ["CPU time", "n"],
          ["Of one CPU", "n"],
          ["Samples", "n"],
        ]}
      >
        {shown.map((row) => (
          <tr>
            <RowName>
              <ThreadLink name={row.comm} />
            </RowName>
            <Wide>{visible(row.role, 80)}</Wide>
            <WideNum>{integer(row.threads)}</WideNum>
            <Num>{or(row.cpu_s, seconds)}</Num>
            <Num>{or(row.cpu_share, percent)}</Num>
            <Num>{integer(row.samples)}</Num>
          </tr>
        ))}
      </Table>
      {threads.length > shown.length && (
        <Button
          onClick={() => {
            all.value = true;
          }}
        >
          Show all {integer(threads.length)} threads
        </Button>
      )}
      <Faint>{foldedText(folded, "thread", "threads by name")}</Faint>
      {itself !== null && <p class="muted">{itselfText(itself)}</p>}
    </Section>
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
