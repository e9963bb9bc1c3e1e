// Decodes the flame data block "ZWF2": a call tree as preorder columns.
//
// Labels and stages are those of kinds of boxes: for each kind the block lists those that lie below it, and for each box
// its place in that list (crates/flame/src/block.rs). After decoding what they refer to is there. That the nodes are a
// tree is checked where a model is built of them (flame/grow.ts), in the same pass.

import { Bytes, type Column } from "./bytes";
import { DataError } from "./error";

export interface FlameData {
  readonly nodes: number;
  readonly unit: string;
  readonly event: string;
  readonly labels: readonly string[];
  readonly modules: readonly string[];
  /** What boxes of the module "thread" are, where they are of something else. */
  readonly tops?: string;
  /** Module index of each label. */
  readonly moduleOf: Uint32Array;
  readonly stages: readonly string[];
  /** Fill colour of each stage, `#rrggbb`; "" where the file does not say. */
  readonly stageColours: readonly string[];
  readonly total: number;
  readonly level: Column;
  /** Weight of each node with all below it. */
  readonly value: Float64Array;
  readonly label: Uint32Array;
  readonly stage: Uint8Array;
  /** The second profile of a comparison: same tree, other weights. */
  readonly second: { readonly value: Float64Array; readonly total: number } | null;
}

export function damaged(what: string): DataError {
  return new DataError(`Flame data is damaged: ${what}`);
}

type Header = Record<string, unknown>;

export function count(header: Header, name: string): number {
  const value = header[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw damaged(`header field "${name}" is not a count.`);
  }
  return value;
}

function text(header: Header, name: string): string {
  const value = header[name];
  if (typeof value !== "string") {
    throw damaged(`header field "${name}" is not text.`);
  }
  return value;
}

export function texts(header: Header, name: string): string[] {
  const value = header[name];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw damaged(`header field "${name}" is not a list of text.`);
  }
  return value;
}

/** Colours that are none, as a colour goes into a style, and those of older files are left out. */
export function colours(header: Header, stages: number): string[] {
  const value: unknown[] = Array.isArray(header.stageColours) ? header.stageColours : [];
  return Array.from({ length: stages }, (_, i) => {
    const colour = value[i];
    return typeof colour === "string" && /^#[0-9a-f]{6}$/.test(colour) ? colour : "";
  });
}

/** A list of counts, each less than `below`. */
export function numbers(
  header: Header,
  name: string,
  length?: number,
  below = Number.POSITIVE_INFINITY,
): number[] {
  const value = header[name];
  if (!Array.isArray(value) || value.length !== (length ?? value.length)) {
    throw damaged(`header field "${name}" should list ${length ?? "its"} numbers.`);
  }
  if (!value.every((item) => Number.isSafeInteger(item) && item >= 0 && item < below)) {
    throw damaged(`header field "${name}" has a number not below ${below}.`);
  }
  return value;
}

export function readHeader(bytes: Bytes, magic: string, supported: number): Header {
  const found = String.fromCharCode(...bytes.take(4, "the magic"));
  if (found !== magic) throw new DataError(`Flame data does not begin with ${magic}.`);
  const json = bytes.take(bytes.u32("the header length"), "the header");
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch {
    throw damaged("its header is not JSON.");
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) {
    throw damaged("its header is not a JSON object.");
  }
  const version = count(header as Header, "version");
  if (version !== supported) {
    throw new DataError(
      `Flame data has version ${version}, this page reads ${supported}: make the report with the newer zwhy.`,
    );
  }
  return header as Header;
}

/** Label and stage of each node. */
type Kinds = Pick<FlameData, "label" | "stage">;

function readKinds(bytes: Bytes, level: Column, labels: number, stages: number): Kinds {
  const nodes = level.length;
  /** A column as long as the file says elsewhere: not longer than what is left. */
  const column = (many: number, what: string) => {
    if (many > bytes.left) throw new DataError(`Flame data is cut: it has not all ${what}.`);
    return bytes.small(many, what);
  };
  const [kinds] = bytes.counts(1, "kinds");
  const labelOf = column(kinds, "labels of kinds");
  const stageOf = bytes.take(kinds, "stages of kinds");
  for (let kind = 0; kind < kinds; kind++) {
    if (labelOf[kind] >= labels) throw damaged(`a kind has label ${labelOf[kind]} of ${labels}.`);
    if (stageOf[kind] >= stages) throw damaged(`a kind has stage ${stageOf[kind]} of ${stages}.`);
  }
  const many = column(kinds, "numbers of kinds");
  const begin = new Uint32Array(kinds + 1);
  let edges = 0;
  for (let kind = 0; kind < kinds; ) {
    edges += many[kind++];
    begin[kind] = edges;
  }
  const below = column(edges, "kinds below kinds");
  const place = column(nodes - 1, "places");
  const label = new Uint32Array(nodes);
  const stage = new Uint8Array(nodes);
  /** The kinds of the path to the node. */
  const path = [0];
  label[0] = labelOf[0];
  stage[0] = stageOf[0];
  for (let i = 1; i < nodes; i++) {
    const at = level[i];
    const above = path[at - 1];
    const edge = begin[above] + place[i - 1];
    const kind = edge < begin[above + 1] ? below[edge] : kinds;
    // Also where a level has nothing above it.
    if (!(kind < kinds)) throw damaged(`node ${i} at level ${at} is of no kind.`);
    path[at] = kind;
    label[i] = labelOf[kind];
    stage[i] = stageOf[kind];
  }
  return { label, stage };
}

/** Decodes unpacked block bytes; their tree is not checked yet. Throws DataError that names the damaged part. */
export function decodeFlame(all: Uint8Array): FlameData {
  const bytes = new Bytes(all);
  const header = readHeader(bytes, "ZWF2", 2);
  const nodes = count(header, "nodes");
  const diff = header.diff === true;
  const smallest = nodes * (diff ? 4 : 3);
  if (nodes < 1) throw damaged("it has no root.");
  if (smallest > bytes.left) {
    throw new DataError(
      `Flame data is cut: ${nodes} nodes need at least ${smallest} bytes, ${bytes.left} are left.`,
    );
  }
  const labels = texts(header, "labels");
  const modules = texts(header, "modules");
  const stages = texts(header, "stages");
  const total = count(header, "total");
  const moduleOf = Uint32Array.from(numbers(header, "labelModule", labels.length, modules.length));

  const level = bytes.small(nodes, "level");
  const value = bytes.amounts(nodes, "value");
  const { label, stage } = readKinds(bytes, level, labels.length, stages.length);
  let second: FlameData["second"] = null;
  if (diff) {
    const totalB = count(header, "totalB");
    const valueB = bytes.amounts(nodes, "valueB");
    second = { value: valueB, total: totalB };
  }
  if (bytes.left > 0) {
    throw damaged(`${bytes.left} bytes follow its last column.`);
  }
  const unit = text(header, "unit");
  const event = text(header, "event");
  return {
    nodes,
    unit,
    event,
    labels,
    modules,
    moduleOf,
    stages,
    stageColours: colours(header, stages.length),
    total,
    level,
    value,
    label,
    stage,
    second,
  };
}
