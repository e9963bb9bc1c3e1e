// Makes ZWF1 blocks from folded stacks, so that the tests need nothing of the Rust side.

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
    version: 1,
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
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, json.length, true);
  return Uint8Array.from([
    ...new TextEncoder().encode("ZWF1"),
    ...length,
    ...json,
    ...varints(columns.level),
    ...varints(columns.value),
    ...varints(columns.label),
    ...columns.stage,
    ...(header.diff ? varints(columns.valueB) : []),
  ]);
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
