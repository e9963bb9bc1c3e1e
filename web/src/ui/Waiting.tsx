// Where threads wait, apart from CPU time: the longest first, threads that wait for work in one line.

import { useSignal } from "@preact/signals";
import type { WaitRow } from "../data/answer";
import { integer, seconds, threadName, visible } from "../text";

const FIRST = 12;

export function Waiting({ waiting }: { waiting: readonly WaitRow[] }) {
  const all = useSignal(false);
  if (waiting.length === 0) return null;
  const rows = waiting.filter((row) => !row.idle);
  const shown = all.value ? rows : rows.slice(0, FIRST);
  const idle = [...new Set(waiting.filter((row) => row.idle).map((row) => row.thread))].sort();
  return (
    <section aria-labelledby="waiting-title">
      <h2 id="waiting-title">Waiting</h2>
      {shown.length > 0 && (
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">Waits in</th>
              <th scope="col" class="n">
                Time
              </th>
              <th scope="col" class="n wide-only">
                Samples
              </th>
              <th scope="col">Thread</th>
              <th scope="col" class="wide-only">
                Role
              </th>
              <th scope="col">Stage</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={i}>
                <th scope="row">
                  <bdi>{visible(row.inside, 120)}</bdi>
                </th>
                <td class="n">{row.wait_s > 0 ? seconds(row.wait_s) : "–"}</td>
                <td class="n wide-only">{integer(row.samples)}</td>
                <td>
                  <bdi>{threadName(row.thread, 60)}</bdi>
                </td>
                <td class="wide-only">{visible(row.role, 80)}</td>
                <td>{visible(row.stage, 80)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rows.length > shown.length && (
        <button
          type="button"
          onClick={() => {
            all.value = true;
          }}
        >
          Show all {integer(rows.length)} places
        </button>
      )}
      {idle.length > 0 && (
        <p class="faint">
          Waiting for work (idle): {idle.map((name) => visible(name, 60)).join(", ")}
        </p>
      )}
    </section>
  );
}
