// Makes ZWF2 blocks from folded stacks, so that the tests need nothing of the Rust side.

import { STAGE_COLOURS } from "./colours";

export interface Frame {
  readonly name: string;
  readonly module?: string;
  readonly stage?: string;
}

export interface Stack {
  readonly frames: readonly Frame[];
  readonly count: number;
  /** Weight in the second profile; any makes the block a comparison. */
  readonly countB?: number;
}

interface Node {
  readonly frame: Frame;
  readonly children: Map<string, Node>;
  value: number;
  valueB: number;
}

export interface Columns {
  level: number[];
  value: number[];
  label: number[];
  stage: number[];
  valueB: number[];
}

export interface Block {
  readonly header: Record<string, unknown>;
  readonly columns: Columns;
}

class Names {
  readonly all: string[] = [];
  private readonly places = new Map<string, number>();
  place(key: string, name: string): number {
    const known = this.places.get(key);
    if (known !== undefined) return known;
    this.places.set(key, this.all.length);
    return this.all.push(name) - 1;
  }
}

/** Header and columns of the call tree of `stacks`, siblings by name. */
export function blockOf(stacks: readonly Stack[], unit = "samples"): Block {
  const diff = stacks.some((stack) => stack.countB !== undefined);
  const root: Node = {
    frame: { name: "all", stage: "" },
    children: new Map(),
    value: 0,
    valueB: 0,
  };
  for (const { frames, count, countB } of stacks) {
    let node = root;
    const add = (to: Node) => {
      to.value += count;
      to.valueB += countB ?? 0;
    };
    add(node);
    for (const frame of frames) {
      const key = `${frame.name}\n${frame.module ?? ""}`;
      let child = node.children.get(key);
      if (!child) {
        child = { frame, children: new Map(), value: 0, valueB: 0 };
        node.children.set(key, child);
      }
      node = child;
      add(node);
    }
  }
  const labels = new Names();
  const modules = new Names();
  const stages = new Names();
  const labelModule: number[] = [];
  const columns: Columns = { level: [], value: [], label: [], stage: [], valueB: [] };
  const visit = (node: Node, level: number) => {
    const { name, module = "", stage = "unknown" } = node.frame;
    const label = labels.place(`${name}\n${module}`, name);
    labelModule[label] = modules.place(module, module);
    columns.level.push(level);
    columns.value.push(node.value);
    columns.valueB.push(node.valueB);
    columns.label.push(label);
    columns.stage.push(stages.place(stage, stage));
    const below = [...node.children.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [, child] of below) visit(child, level + 1);
  };
  visit(root, 0);
  const header = {
    version: 2,
    nodes: columns.level.length,
    total: root.value,
    unit,
    event: "cpu",
    labels: labels.all,
    modules: modules.all,
    labelModule,
    stages: stages.all,
    stageColours: stages.all.map((stage) => STAGE_COLOURS.get(stage) ?? ""),
    diff,
    ...(diff ? { totalB: root.valueB } : {}),
  };
  return { header, columns };
}

export function varints(numbers: readonly number[]): number[] {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    while (rest > 127) {
      bytes.push((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
  }
  return bytes;
}

/** The bytes of a block, before gzip. */
export function encode({ header, columns }: Block): Uint8Array {
  return packed("ZWF2", header, [
    varints(columns.level),
    varints(columns.value),
    kindsOf(columns),
    header.diff ? varints(columns.valueB) : [],
  ]);
}

/** Magic, length of the header, header and columns. */
export function packed(
  magic: string,
  header: Record<string, unknown>,
  columns: readonly (readonly number[])[],
): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const begin = 8 + json.length;
  const bytes = new Uint8Array(columns.reduce((sum, one) => sum + one.length, begin));
  bytes.set(new TextEncoder().encode(magic));
  new DataView(bytes.buffer).setUint32(4, json.length, true);
  bytes.set(json, 8);
  let at = begin;
  for (const column of columns) {
    bytes.set(column, at);
    at += column.length;
  }
  return bytes;
}

interface Edge {
  readonly below: number;
  boxes: number;
}

/** The kinds of boxes, what lies below each, the most frequent first, and the place of each box there. */
function kindsOf({ level, label, stage }: Columns): number[] {
  const numbers = new Map<string, number>();
  const kinds: [label: number, stage: number][] = [];
  const edges: Edge[][] = [];
  const path: number[] = [];
  const edgeOf = level.map((at, node) => {
    const key = `${label[node]} ${stage[node]}`;
    const kind = numbers.get(key) ?? kinds.push([label[node], stage[node]]) - 1;
    numbers.set(key, kind);
    edges[kind] ??= [];
    const above = edges[path[at - 1] ?? 0];
    path[at] = kind;
    if (node === 0) return null;
    const edge = above.find(({ below }) => below === kind) ?? { below: kind, boxes: 0 };
    if (edge.boxes++ === 0) above.push(edge);
    return { edge, above };
  });
  for (const below of edges) below.sort((a, b) => b.boxes - a.boxes);
  const places = new Map(edges.flatMap((below) => below.map((edge, place) => [edge, place])));
  return [
    ...varints([kinds.length]),
    ...varints(kinds.map(([of]) => of)),
    ...kinds.map(([, of]) => of),
    ...varints(edges.map((below) => below.length)),
    ...varints(edges.flatMap((below) => below.map((edge) => edge.below))),
    ...varints(edgeOf.flatMap((one) => (one ? [places.get(one.edge) ?? 0] : []))),
  ];
}

/** Folded text ("a;b 3" per line), all of one stage unless `stageOf` says otherwise. */
export function folded(text: string, stageOf: (name: string) => string = () => "unknown"): Stack[] {
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [stack, count] = line.trim().split(" ");
      const frames = stack.split(";").map((name) => ({ name, stage: stageOf(name) }));
      return { frames, count: Number(count) };
    });
}
