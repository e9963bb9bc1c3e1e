// Who asks ZFS for work: programs, datasets and what runs in the background.

import type { Demand as Asked, BackgroundWork, DatasetDemand, ProgramDemand } from "../data/answer";
import { bytes, integer, percent, prose, seconds, visible } from "../text";
import { Head } from "./Head";
import { Num } from "./Num";

export function Demand({ demand }: { demand: Asked | null }) {
  if (demand === null) return null;
  return (
    <section aria-labelledby="demand-title">
      <h2 id="demand-title">Who asks</h2>
      {demand.programs.length > 0 && <Programs programs={demand.programs} />}
      {demand.datasets.length > 0 && <Datasets datasets={demand.datasets} />}
      {demand.background.length > 0 && <Background work={demand.background} />}
    </section>
  );
}

function Name({ name, owner }: { name: string; owner: string | null }) {
  return (
    <th scope="row">
      <bdi>{visible(name, 60)}</bdi>
      {owner !== null && (
        <>
          {" "}
          (<bdi>{visible(owner, 60)}</bdi>)
        </>
      )}
    </th>
  );
}

const amount = (n: number | null) => (n === null ? "–" : bytes(n));

function Programs({ programs }: { programs: readonly ProgramDemand[] }) {
  return (
    <table class="numbers">
      <Head
        columns={[
          ["Program"],
          ["Processes", "n wide-only"],
          ["Of ZFS calls", "n"],
          ["Read, written a second", "n"],
          ["Memory", "n wide-only"],
          ["Calls", "wide-only"],
        ]}
      />
      <tbody>
        {programs.map((row, i) => (
          <tr key={i}>
            <Name name={row.program} owner={row.owner} />
            <td class="n wide-only">{integer(row.processes)}</td>
            <Num>{row.zfs_part === null ? "–" : percent(row.zfs_part)}</Num>
            <Num>
              {amount(row.read_bytes_s)}, {amount(row.written_bytes_s)}
            </Num>
            <td class="n wide-only">{amount(row.memory_bytes)}</td>
            <td class="wide-only">
              {row.calls.map((part) => `${prose(part.call)} ${percent(part.share)}`).join(", ")}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Datasets({ datasets }: { datasets: readonly DatasetDemand[] }) {
  return (
    <table class="numbers">
      <Head
        columns={[
          ["Dataset"],
          ["Reads a second", "n"],
          ["Writes a second", "n"],
          ["Commits a second", "n wide-only"],
        ]}
      />
      <tbody>
        {datasets.map((row, i) => (
          <tr key={i}>
            <Name name={row.dataset} owner={row.owner} />
            <Num>
              {integer(row.reads_s)}, {bytes(row.read_bytes_s)}
            </Num>
            <Num>
              {integer(row.writes_s)}, {bytes(row.written_bytes_s)}
            </Num>
            <td class="n wide-only">{row.commits_s === null ? "–" : integer(row.commits_s)}</td>
          </tr>
        ))}
      </tbody>
    </table>
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
      {work.map((row, i) => (
        <li key={i}>
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
