// Who asks ZFS for work: programs, datasets and what runs in the background.

import type { Demand as Asked, BackgroundWork, DatasetDemand, ProgramDemand } from "../data/answer";
import { bytes, integer, percent, prose, seconds, visible } from "../text";
import { Num, Wide, WideNum } from "./Num";
import { Section } from "./Section";
import { RowName, Table } from "./Table";

export function Demand({ demand }: { demand: Asked | null }) {
  if (demand === null) return null;
  return (
    <Section id="demand" title="Who asks">
      {demand.programs.length > 0 && <Programs programs={demand.programs} />}
      {demand.datasets.length > 0 && <Datasets datasets={demand.datasets} />}
      {demand.background.length > 0 && <Background work={demand.background} />}
    </Section>
  );
}

function Name({ name, owner }: { name: string; owner: string | null }) {
  return (
    <RowName>
      <bdi>{visible(name, 60)}</bdi>
      {owner !== null && (
        <>
          {" "}
          (<bdi>{visible(owner, 60)}</bdi>)
        </>
      )}
    </RowName>
  );
}

const amount = (n: number | null) => (n === null ? "–" : bytes(n));

function Programs({ programs }: { programs: readonly ProgramDemand[] }) {
  return (
    <Table
      columns={[
        ["Program"],
        ["Processes", "n wide-only"],
        ["Of ZFS calls", "n"],
        ["Read, written a second", "n"],
        ["Memory", "n wide-only"],
        ["Calls", "wide-only"],
      ]}
    >
      {programs.map((row) => (
        <tr>
          <Name name={row.program} owner={row.owner} />
          <WideNum>{integer(row.processes)}</WideNum>
          <Num>{row.zfs_part === null ? "–" : percent(row.zfs_part)}</Num>
          <Num>
            {amount(row.read_bytes_s)}, {amount(row.written_bytes_s)}
          </Num>
          <WideNum>{amount(row.memory_bytes)}</WideNum>
          <Wide>
            {row.calls.map((part) => `${prose(part.call)} ${percent(part.share)}`).join(", ")}
          </Wide>
        </tr>
      ))}
    </Table>
  );
}

function Datasets({ datasets }: { datasets: readonly DatasetDemand[] }) {
  return (
    <Table
      columns={[
        ["Dataset"],
        ["Reads a second", "n"],
        ["Writes a second", "n"],
        ["Commits a second", "n wide-only"],
      ]}
    >
      {datasets.map((row) => (
        <tr>
          <Name name={row.dataset} owner={row.owner} />
          <Num>
            {integer(row.reads_s)}, {bytes(row.read_bytes_s)}
          </Num>
          <Num>
            {integer(row.writes_s)}, {bytes(row.written_bytes_s)}
          </Num>
          <WideNum>{row.commits_s === null ? "–" : integer(row.commits_s)}</WideNum>
        </tr>
      ))}
    </Table>
  );
}

function Background({ work }: { work: readonly BackgroundWork[] }) {
  const progress = (row: BackgroundWork) =>
    [
      row.done === null ? null : `${percent(row.done)} done`,
      row.left_bytes === null ? null : `${bytes(row.left_bytes)} left`,
      row.left_s === null ? null : `${seconds(row.left_s)} to go`,
      row.disk_share === null ? null : `${percent(row.disk_share)} of what its disks work on`,
      row.slows.length === 0
        ? null
        : `slows ${row.slows.map((name) => visible(name, 60)).join(", ")}`,
    ].filter((part) => part !== null);
  return (
    <ul>
      {work.map((row) => (
        <li>
          In the background: {prose(row.work)}
          {row.pool !== "" && (
            <>
              {" of "}
              <bdi>{visible(row.pool, 60)}</bdi>
            </>
          )}
          {progress(row).length > 0 && `: ${progress(row).join(", ")}`}
        </li>
      ))}
    </ul>
  );
}
