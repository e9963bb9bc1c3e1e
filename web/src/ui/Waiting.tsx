// Where threads wait, for what, and who ends it, apart from CPU time: the longest first.

import { useSignal } from "@preact/signals";
import type { WaitRow } from "../data/answer";
import { integer, seconds, threadName, visible } from "../text";
import { Button } from "./Button";
import { Head } from "./Head";
import { Num } from "./Num";

const FIRST = 12;

export function Waiting({ waiting }: { waiting: readonly WaitRow[] }) {
  const all = useSignal(false);
  if (waiting.length === 0) return null;
  const shown = all.value ? waiting : waiting.slice(0, FIRST);
  return (
    <section aria-labelledby="waiting-title">
      <h2 id="waiting-title">Waiting</h2>
      <table class="numbers">
        <Head
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
        />
        <tbody>
          {shown.map((row, i) => (
            <tr key={i}>
              <th scope="row">
                <bdi>{visible(row.inside, 120)}</bdi>
              </th>
              <Num>{row.wait_s > 0 ? seconds(row.wait_s) : "–"}</Num>
              <td class="n wide-only">{integer(row.samples)}</td>
              <td>
                <bdi>{threadName(row.thread, 60)}</bdi>
              </td>
              <td class="wide-only">{visible(row.role, 80)}</td>
              <td>{visible(row.waits_for, 60)}</td>
              <td>
                <bdi>{visible(row.on, 60)}</bdi>
              </td>
              <td class="wide-only">{visible(row.stage, 80)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {waiting.length > shown.length && (
        <Button
          onClick={() => {
            all.value = true;
          }}
        >
          Show all {integer(waiting.length)} places
        </Button>
      )}
    </section>
  );
}
