// Where threads wait, for what, and who ends it, apart from CPU time: the longest first.

import { useSignal } from "@preact/signals";
import type { WaitRow } from "../data/answer";
import { events } from "../state/store";
import { integer, seconds, threadName, visible } from "../text";
import { Button } from "./Button";
import { FunctionLink } from "./FunctionLink";
import { Num, Wide, WideNum } from "./Num";
import { Section } from "./Section";
import { RowName, Table } from "./Table";

const FIRST = 12;

export function Waiting({ waiting }: { waiting: readonly WaitRow[] }) {
  const all = useSignal(false);
  if (waiting.length === 0) return null;
  const shown = all.value ? waiting : waiting.slice(0, FIRST);
  return (
    <Section id="waiting" title="Waiting">
      <Table
        columns={[
          ["Waits in"],
          ["Time", "n"],
          ["Samples", "n wide-only"],
          ["Thread"],
          ["Role", "wide-only"],
          ["For"],
          ["On"],
          ["Stage", "wide-only"],
        ]}
      >
        {shown.map((row) => (
          <tr>
            <RowName>
              {events.value.includes("wait") ? (
                <FunctionLink name={row.inside} most={120} of="wait" />
              ) : (
                <bdi>{visible(row.inside, 120)}</bdi>
              )}
            </RowName>
            <Num>{row.wait_s > 0 ? seconds(row.wait_s) : "–"}</Num>
            <WideNum>{integer(row.samples)}</WideNum>
            <td>
              <bdi>{threadName(row.thread, 60)}</bdi>
            </td>
            <Wide>{visible(row.role, 80)}</Wide>
            <td>{visible(row.waits_for, 60)}</td>
            <td>
              <bdi>{visible(row.on, 60)}</bdi>
            </td>
            <Wide>{visible(row.stage, 80)}</Wide>
          </tr>
        ))}
      </Table>
      {waiting.length > shown.length && (
        <Button
          onClick={() => {
            all.value = true;
          }}
        >
          Show all {integer(waiting.length)} places
        </Button>
      )}
    </Section>
  );
}
