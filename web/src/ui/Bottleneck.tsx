// What limits the load: who waits for what, and how busy the disks are.

import type {
  DiskRow,
  Bottleneck as Limit,
  LimitKind,
  ProgramTime,
  QueueRow,
} from "../data/answer";
import { bytes, integer, percent, prose, seconds, visible } from "../text";
import { Head } from "./Head";
import { Num } from "./Num";

const KINDS: Readonly<Record<LimitKind, string>> = {
  cpu: "all CPUs",
  thread: "one thread",
  device: "disk",
  queue: "a queue",
  lock: "a lock",
  memory: "memory",
  throttle: "a throttle",
  client: "the program itself",
  idle: "nothing",
  "": "not known",
};

/** The sentence on the limit, where the first line does not say it already. */
export function limitLine(limit: Limit | null, why: string): string | null {
  if (limit === null) return null;
  return why.includes(limit.text.replace(/\.$/, "")) ? null : limit.text;
}

export function Bottleneck({ limit }: { limit: Limit | null }) {
  if (limit === null) return null;
  const cpu = [
    limit.cpu_idle === null ? null : `${percent(limit.cpu_idle)} of the CPU is idle`,
    limit.cpu_stolen === null ? null : `the hypervisor took ${percent(limit.cpu_stolen)}`,
  ].filter((part) => part !== null);
  return (
    <section aria-labelledby="limit-title">
      <h2 id="limit-title">Limit</h2>
      <p>
        {KINDS[limit.kind]}
        {limit.what !== "" && (
          <>
            {" "}
            <bdi>{visible(limit.what, 80)}</bdi>
          </>
        )}
        {cpu.length > 0 && `; ${cpu.join(", ")}`}
      </p>
      {limit.programs.length > 0 && <Programs programs={limit.programs} />}
      {limit.disks.length > 0 && <Disks disks={limit.disks} />}
      {limit.queues.length > 0 && <Queues queues={limit.queues} />}
    </section>
  );
}

function Programs({ programs }: { programs: readonly ProgramTime[] }) {
  return (
    <table class="numbers">
      <Head
        columns={[
          ["Program that waits"],
          ["Threads", "n wide-only"],
          ["Time", "n"],
          ["On a CPU", "n"],
          ["Waits for"],
        ]}
      />
      <tbody>
        {programs.map((row, i) => (
          <tr key={i}>
            <th scope="row">
              <bdi>{visible(row.program, 60)}</bdi>
            </th>
            <td class="n wide-only">{integer(row.threads)}</td>
            <Num>{seconds(row.wall_s)}</Num>
            <Num>{row.on_cpu === null ? "–" : percent(row.on_cpu)}</Num>
            <td>
              {row.waits
                .map((part) => `${prose(part.waits_for)} ${percent(part.share)}`)
                .join(", ")}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function each(ms: number | null): string {
  return ms === null ? "–" : `${ms.toFixed(ms < 1 ? 2 : 1)} ms`;
}

/** Queues in which requests wait longer than they take on the disk. */
function Queues({ queues }: { queues: readonly QueueRow[] }) {
  return (
    <table class="numbers">
      <Head
        columns={[["Queue of ZFS"], ["Of"], ["Waiting, each", "n"], ["At the disk, each", "n"]]}
      />
      <tbody>
        {queues.map((row, i) => (
          <tr key={i}>
            <th scope="row">{prose(row.queue)}</th>
            <td>
              <bdi>{visible(row.disk, 60)}</bdi> (<bdi>{visible(row.pool, 60)}</bdi>)
            </td>
            <Num>
              {row.waiting.toFixed(1)}, {each(row.wait_ms)}
            </Num>
            <Num>
              {row.active.toFixed(1)}
              {row.limit !== null && ` of at most ${integer(row.limit)}`}, {each(row.disk_ms)}
            </Num>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Disks({ disks }: { disks: readonly DiskRow[] }) {
  return (
    <table class="numbers">
      <Head
        columns={[
          ["Disk"],
          ["Busy", "n"],
          ["Reads a second, each", "n"],
          ["Writes a second, each", "n"],
          ["Queue", "n wide-only"],
          ["Read, written a second", "n wide-only"],
        ]}
      />
      <tbody>
        {disks.map((row, i) => (
          <tr key={i}>
            <th scope="row">
              <bdi>{visible(row.disk, 60)}</bdi>
              {row.pool !== null && (
                <>
                  {" "}
                  (<bdi>{visible(row.pool, 60)}</bdi>)
                </>
              )}
            </th>
            <Num>{percent(row.busy)}</Num>
            <Num>
              {integer(row.reads_s)}, {each(row.read_ms)}
            </Num>
            <Num>
              {integer(row.writes_s)}, {each(row.write_ms)}
            </Num>
            <td class="n wide-only">{row.queue.toFixed(1)}</td>
            <td class="n wide-only">
              {bytes(row.read_bytes_s)}, {bytes(row.written_bytes_s)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
