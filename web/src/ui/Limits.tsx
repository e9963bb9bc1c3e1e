// What one CPU of this machine can do of a stage's work, beside what ZFS gets of it.

import type { StageRow } from "../data/answer";
import { integer, percent, visible } from "../text";
import { Faint } from "./Faint";
import { Num, Wide } from "./Num";
import { Section } from "./Section";
import { RowName, Table } from "./Table";

/** Millions of bytes a second, of one CPU. */
function rate(mb: number): string {
  return mb >= 1000 ? `${(mb / 1000).toFixed(1)}\u00a0GB/s` : `${integer(mb)}\u00a0MB/s`;
}

export function Limits({ stages }: { stages: readonly StageRow[] }) {
  const rows = stages.flatMap((row) => row.limits.map((limit) => ({ ...limit, stage: row.stage })));
  if (rows.length === 0) return null;
  return (
    <Section id="limits" title="What one CPU here can do">
      <Table
        columns={[
          ["Work"],
          ["Stage", "wide-only"],
          ["Can do", "n"],
          ["ZFS gets", "n"],
          ["Part", "n"],
          ["Known from", "wide-only"],
        ]}
      >
        {rows.map((row) => (
          <tr>
            <RowName>{visible(row.work, 80)}</RowName>
            <Wide>{visible(row.stage, 80)}</Wide>
            <Num>{rate(row.mb_s)}</Num>
            <Num>{row.achieved_mb_s === null ? "–" : rate(row.achieved_mb_s)}</Num>
            <Num>
              {row.achieved_mb_s === null || row.mb_s <= 0
                ? "–"
                : percent(row.achieved_mb_s / row.mb_s)}
            </Num>
            <Wide>{visible(row.source, 120)}</Wide>
          </tr>
        ))}
      </Table>
      <Faint>
        Bytes for each second of CPU time. What ZFS gets holds all of the stage's work, so it is
        less where a stage does more than the bare algorithm.
      </Faint>
    </Section>
  );
}
