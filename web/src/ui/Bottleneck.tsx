// What limits the load: who waits for what, and how busy the disks are.

import type {
  DiskRow,
  Bottleneck as Limit,
  LimitKind,
  ProgramTime,
  QueueRow,
} from "../data/answer";
import { bytes, integer, percent, prose, seconds, visible } from "../text";
import { Num, WideNum } from "./Num";
import { Section } from "./Section";
import { RowName, Table } from "./Table";

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
    <Section id="limit" title="Limit">
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
    </Section>
  );
}

function Programs({ programs }: { programs: readonly ProgramTime[] }) {
  return (
    <Table
      columns={[
        ["Program that waits"],
        ["Threads", "n wide-only"],
        ["Time", "n"],
        ["On a CPU", "n"],
        ["Waits for"],
      ]}
    >
      {programs.map((row) => (
        <tr>
          <RowName>
            <bdi>{visible(row.program, 60)}</bdi>
          </RowName>
          <WideNum>{integer(row.threads)}</WideNum>
          <Num>{seconds(row.wall_s)}</Num>
          <Num>{row.on_cpu === null ? "–" : percent(row.on_cpu)}</Num>
          <td>
            {row.waits.map((part) => `${prose(part.waits_for)} ${percent(part.share)}`).join(", ")}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function each(ms: number | null): string {
  return ms === null ? "–" : `${ms.toFixed(ms < 1 ? 2 : 1)} ms`;
}

/** Queues in which requests wait longer than they take on the disk. */
function Queues({ queues }: { queues: readonly QueueRow[] }) {
  return (
    <Table columns={[["Queue of ZFS"], ["Of"], ["Waiting, each", "n"], ["At the disk, each", "n"]]}>
      {queues.map((row) => (
        <tr>
          <RowName>{prose(row.queue)}</RowName>
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
    </Table>
  );
}

function Disks({ disks }: { disks: readonly DiskRow[] }) {
  return (
    <Table
      columns={[
        ["Disk"],
        ["Busy", "n"],
        ["Reads a second, each", "n"],
        ["Writes a second, each", "n"],
        ["Queue", "n wide-only"],
        ["Read, written a second", "n wide-only"],
      ]}
    >
      {disks.map((row) => (
        <tr>
          <RowName>
            <bdi>{visible(row.disk, 60)}</bdi>
            {row.pool !== null && (
              <>
                {" "}
                (<bdi>{visible(row.pool, 60)}</bdi>)
              </>
            )}
          </RowName>
          <Num>{percent(row.busy)}</Num>
          <Num>
            {integer(row.reads_s)}, {each(row.read_ms)}
          </Num>
          <Num>
            {integer(row.writes_s)}, {each(row.write_ms)}
          </Num>
          <WideNum>{row.queue.toFixed(1)}</WideNum>
          <WideNum>
            {bytes(row.read_bytes_s)}, {bytes(row.written_bytes_s)}
          </WideNum>
        </tr>
      ))}
    </Table>
  );
}
