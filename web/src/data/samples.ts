// Decodes the samples block "ZWS1": when and where each sample of the flame graph was taken.
//
// After decoding these hold: times never decrease, and every node and thread index is in range.

import { Bytes } from "./bytes";
import { DataError } from "./error";

export interface SampleThread {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
}

export interface SampleData {
  readonly rows: number;
  /** Seconds since the start of the recording. */
  readonly time: Float64Array;
  /** Box of the flame graph in which the sample ends. */
  readonly node: Uint32Array;
  readonly thread: Uint32Array;
  /** −1 where the source does not say. */
  readonly cpu: Int32Array;
  readonly amount: Float64Array;
  readonly threads: readonly SampleThread[];
}

function damaged(what: string): DataError {
  return new DataError(`Sample data is damaged: ${what}`);
}

const MAGIC = "ZWS1";
const SUPPORTED = 1;

interface Header {
  readonly version: number;
  readonly rows: number;
  readonly tickNs: number;
  readonly first: number;
  readonly threads: readonly SampleThread[];
}

function isThread(value: unknown): value is SampleThread {
  if (typeof value !== "object" || value === null) return false;
  return (
    "name" in value &&
    typeof value.name === "string" &&
    "pid" in value &&
    typeof value.pid === "number" &&
    "tid" in value &&
    typeof value.tid === "number"
  );
}

function count(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw damaged(`header field "${name}" is not a count.`);
}

function readHeader(bytes: Bytes): Header {
  if (String.fromCharCode(...bytes.take(4, "the magic")) !== MAGIC) {
    throw new DataError(`Sample data does not begin with ${MAGIC}.`);
  }
  let json: unknown;
  try {
    const text = bytes.take(bytes.u32("the header length"), "the header");
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw damaged("its header is not JSON.");
  }
  if (typeof json !== "object" || json === null) {
    throw damaged("its header is not an object.");
  }
  const fields = json as Readonly<Record<string, unknown>>;
  const { threads } = fields;
  if (!Array.isArray(threads) || !threads.every(isThread)) {
    throw damaged('header field "threads" is not a list of threads.');
  }
  return {
    version: count(fields.version, "version"),
    rows: count(fields.rows, "rows"),
    tickNs: count(fields.tickNs, "tickNs"),
    first: count(fields.first, "first"),
    threads,
  };
}

function below(column: Uint32Array, limit: number, what: string): void {
  for (let i = 0; i < column.length; i++) {
    if (column[i] >= limit) {
      throw damaged(`row ${i} has ${what} ${column[i]} of ${limit}.`);
    }
  }
}

/** Decodes unpacked block bytes; `nodes` is the number of boxes of the flame graph. */
export function decodeSamples(all: Uint8Array, nodes: number): SampleData {
  const bytes = new Bytes(all);
  const { version, rows, tickNs, first, threads } = readHeader(bytes);
  if (version !== SUPPORTED) {
    throw new DataError(
      `Sample data has version ${version}, this page reads ${SUPPORTED}: make the report with the newer zwhy.`,
    );
  }
  if (rows * 5 > bytes.left) {
    throw new DataError(`Sample data is cut: ${rows} rows need at least ${rows * 5} bytes.`);
  }
  const time = bytes.amounts(rows, "time");
  let ticks = first;
  for (let i = 0; i < rows; i++) {
    ticks += time[i];
    time[i] = (ticks * tickNs) / 1e9;
  }
  const node = bytes.counts(rows, "node");
  const thread = bytes.counts(rows, "thread");
  const cpu = Int32Array.from(bytes.counts(rows, "cpu"), (n) => n - 1);
  const amount = bytes.amounts(rows, "amount");
  if (bytes.left > 0) throw damaged(`${bytes.left} bytes follow it.`);
  below(node, nodes, "node");
  below(thread, Math.max(1, threads.length), "thread");
  return { rows, time, node, thread, cpu, amount, threads };
}
