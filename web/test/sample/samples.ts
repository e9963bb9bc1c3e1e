// Makes ZWS1 blocks for the leaves of a ZWF2 block: one row for each sample of a leaf, evenly over time.

import { type Block, varints } from "./flame";

/** The own weight of each node of a block. */
function ownOf({ columns }: Block): number[] {
  const own = [...columns.value];
  const open: number[] = [];
  columns.level.forEach((level, i) => {
    open.length = level;
    if (level > 0) own[open[level - 1]] -= columns.value[i];
    open.push(i);
  });
  return own;
}

export interface SampleRow {
  readonly t: number;
  readonly node: number;
  readonly thread: number;
  readonly cpu: number;
  readonly amount: number;
}

/** Ten rows a leaf (or one for each sample of a smaller one), spread over `seconds` in order of the leaves. */
export function rowsOf(block: Block, seconds: number): SampleRow[] {
  const rows: SampleRow[] = [];
  ownOf(block).forEach((own, node) => {
    const pieces = Math.min(10, own);
    for (let k = 0; k < pieces; k++) {
      const amount = Math.floor((own * (k + 1)) / pieces) - Math.floor((own * k) / pieces);
      rows.push({
        t: ((k + (node % 7) / 7) / 10) * seconds,
        node,
        thread: node % 2,
        cpu: k % 2,
        amount,
      });
    }
  });
  return rows.sort((a, b) => a.t - b.t);
}

export function encodeSamples(rows: readonly SampleRow[]): Uint8Array {
  const ticks = rows.map((row) => Math.floor(row.t * 1000));
  const header = {
    version: 1,
    rows: rows.length,
    tickNs: 1_000_000,
    first: ticks[0] ?? 0,
    threads: [
      { name: "z_rd_int", pid: 7, tid: 7 },
      { name: "dd", pid: 8, tid: 8 },
    ],
    cpus: 1,
  };
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, json.length, true);
  return Uint8Array.from([
    ...new TextEncoder().encode("ZWS1"),
    ...length,
    ...json,
    ...varints(ticks.map((t, i) => t - (i === 0 ? ticks[0] : ticks[i - 1]))),
    ...varints(rows.map((row) => row.node)),
    ...varints(rows.map((row) => row.thread)),
    ...varints(rows.map((row) => row.cpu + 1)),
    ...varints(rows.map((row) => row.amount)),
  ]);
}
