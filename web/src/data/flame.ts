// Decodes the flame data block "ZWF1": a call tree as preorder columns.
//
// After decoding every module index is in range. That the nodes are a tree, and what they refer to is there, is
// checked where a model is built of them (flame/grow.ts), in the same pass.

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
  readonly labelModule: Uint32Array;
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

const MAGIC = "ZWF1";
const SUPPORTED = 1;

type Header = Record<string, unknown>;

function count(header: Header, name: string): number {
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

function texts(header: Header, name: string): string[] {
  const value = header[name];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw damaged(`header field "${name}" is not a list of text.`);
  }
  return value;
}

/** Colours that are none, as a colour goes into a style, and those of older files are left out. */
function colours(header: Header, stages: number): string[] {
  const value: unknown[] = Array.isArray(header.stageColours) ? header.stageColours : [];
  return Array.from({ length: stages }, (_, i) => {
    const colour = value[i];
    return typeof colour === "string" && /^#[0-9a-f]{6}$/.test(colour) ? colour : "";
  });
}

function indices(header: Header, name: string, length: number, below: number): Uint32Array {
  const value = header[name];
  if (!Array.isArray(value) || value.length !== length) {
    throw damaged(`header field "${name}" should list ${length} numbers.`);
  }
  if (!value.every((item) => Number.isInteger(item) && item >= 0 && item < below)) {
    throw damaged(`header field "${name}" has a number not below ${below}.`);
  }
  return Uint32Array.from(value as number[]);
}

function readHeader(bytes: Bytes): Header {
  const magic = String.fromCharCode(...bytes.take(4, "the magic"));
  if (magic !== MAGIC) throw new DataError(`Flame data does not begin with ${MAGIC}.`);
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
  return header as Header;
}

/** Decodes unpacked block bytes; their tree is not checked yet. Throws DataError that names the damaged part. */
export function decodeFlame(all: Uint8Array): FlameData {
  const bytes = new Bytes(all);
  const header = readHeader(bytes);
  const version = count(header, "version");
  if (version !== SUPPORTED) {
    throw new DataError(
      `Flame data has version ${version}, this page reads ${SUPPORTED}: make the report with the newer zwhy.`,
    );
  }
  const nodes = count(header, "nodes");
  const diff = header.diff === true;
  const smallest = nodes * (diff ? 5 : 4);
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
  const labelModule = indices(header, "labelModule", labels.length, modules.length);

  const level = bytes.small(nodes, "level");
  const value = bytes.amounts(nodes, "value");
  const label = bytes.counts(nodes, "label");
  const stage = bytes.take(nodes, "column stage");
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
    labelModule,
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
