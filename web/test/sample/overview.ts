// Makes ZWO1 blocks of ZWF2 blocks, as crates/flame/src/overview.rs does.

import { type Block, packed, varints } from "./flame";

const [CELLS, UNITS, LEVELS, NAMED, SHADES] = [4096, 65_536, 48, 80, 3];

interface Item {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
  readonly node: number;
  readonly named: boolean;
}

/** A level on the way from left to right. */
class Row {
  readonly items: Item[] = [];
  private band = { cell: 0, weight: 0, widest: 0, node: 0 };
  private exact = 0;
  private written = 0;
  private end = 0;
  constructor(private readonly total: number) {}

  add(node: number, from: number, weight: number): void {
    const { total } = this;
    // Weights times the number of cells, so that a part of a box in a cell is a whole number.
    const [begins, ends] = [from * CELLS, (from + weight) * CELLS];
    if (ends - begins >= total) {
      const [begin, end] = [this.units(begins), this.units(ends)];
      this.close(begin);
      const named = weight * NAMED >= total;
      this.items.push({ from: begin, to: end, weight: end - begin, node, named });
      this.end = end;
      return;
    }
    const cell = Math.floor(begins / total);
    const border = (cell + 1) * total;
    this.gather(cell, Math.min(ends, border) - begins, node);
    if (ends > border) this.gather(cell + 1, ends - border, node);
  }

  /** Writes the band, which may go up to `most`. */
  close(most = UNITS): void {
    const { cell, weight, node } = this.band;
    this.band = { cell: 0, weight: 0, widest: 0, node: 0 };
    if (weight === 0) return;
    const from = Math.max(this.end, (cell * UNITS) / CELLS);
    const to = Math.min(most, ((cell + 1) * UNITS) / CELLS);
    this.exact += weight;
    const units = Math.min(this.units(this.exact) - this.written, Math.max(0, to - from));
    if (units <= 0) return;
    this.written += units;
    this.items.push({ from, to, weight: units, node, named: false });
    this.end = to;
  }

  private units(x: number): number {
    return Math.floor((x * (UNITS / CELLS)) / this.total + 0.5);
  }

  private gather(cell: number, weight: number, node: number): void {
    if (this.band.weight > 0 && this.band.cell !== cell) this.close();
    this.band.cell = cell;
    this.band.weight += weight;
    if (weight > this.band.widest) this.band = { ...this.band, widest: weight, node };
  }
}

function rowsOf({ header, columns: { level, value } }: Block): Row[] {
  const rows: Row[] = [];
  const next: number[] = [0];
  level.forEach((at, node) => {
    if (at >= LEVELS || value[node] === 0) return;
    rows[at] ??= new Row(Number(header.total));
    rows[at].add(node, next[at], value[node]);
    next[at + 1] = next[at];
    next[at] += value[node];
  });
  for (const row of rows) row.close();
  return rows;
}

/** FNV-1a of a name, as the page tells shades by it. */
function shadeOf(name: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16_777_619);
  return (hash >>> 0) % SHADES;
}

/** Own weight of each stage. */
function weightsOf({ header, columns: { level, value, stage } }: Block): number[] {
  const sums = (header.stages as string[]).map(() => 0);
  const path: number[] = [];
  level.forEach((at, node) => {
    path[at] = stage[node];
    sums[stage[node]] += value[node];
    if (at > 0) sums[path[at - 1]] -= value[node];
  });
  return sums;
}

/** The bytes of the overview of a block, before gzip. */
export function encodeOverview(block: Block): Uint8Array {
  const { header, columns } = block;
  const rows = rowsOf(block);
  const items = rows.flatMap((row) => row.items);
  const named = [...items.keys()].filter((at) => items[at].named);
  const labels = header.labels as string[];
  const nameOf = ({ node }: Item) => labels[columns.label[node]];
  const free = rows.flatMap((row) =>
    row.items.map(({ from }, k) => from - (k > 0 ? row.items[k - 1].to : 0)),
  );
  return packed(
    "ZWO1",
    {
      version: 1,
      stages: header.stages,
      stageColours: header.stageColours ?? [],
      weights: weightsOf(block),
      total: header.total,
      depth: columns.level.reduce((most, at) => Math.max(most, at + 1), 0),
      items: rows.map((row) => row.items.length),
      named,
      boxes: named.map((at) => items[at].node),
      names: named.map((at) => nameOf(items[at])),
    },
    [
      varints(free),
      varints(items.map(({ from, to }) => to - from)),
      varints(items.map(({ from, to, weight }) => to - from - weight)),
      varints(items.map((item) => columns.stage[item.node] * SHADES + shadeOf(nameOf(item)))),
    ],
  );
}
