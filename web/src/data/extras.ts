// The blocks beside answer and flame graph: counters over time, tables of facts, a comparison.
//
// What does not fit is left out: these parts explain the answer, and the page is whole without them.

import { DataError } from "./error";

export interface Curve {
  readonly group: string;
  readonly name: string;
  readonly unit: string;
  /** Seconds since the start, and the value; of a rate, the end of its interval. */
  readonly t: readonly number[];
  readonly v: readonly number[];
}

export interface Mark {
  readonly t: number;
  readonly name: string;
  readonly text: string;
}

export interface TimelineData {
  readonly duration: number | null;
  readonly curves: readonly Curve[];
  readonly marks: readonly Mark[];
}

export interface FactTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly more: number;
}

export type Fields = Readonly<Record<string, unknown>>;

export function parse(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new DataError(`The ${what} block is not JSON; the file was changed or cut.`);
  }
}

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function curve(value: unknown): Curve | null {
  const { group, name, unit, t, v } = fields(value);
  const times = list(t).map((x) => number(x) ?? 0);
  const values = list(v).map((x) => number(x) ?? 0);
  if (times.length === 0 || times.length !== values.length) return null;
  return { group: text(group), name: text(name), unit: text(unit), t: times, v: values };
}

export function readTimeline(bytes: Uint8Array): TimelineData {
  const { duration_s, curves, marks } = fields(parse(bytes, "timeline"));
  return {
    duration: number(duration_s),
    curves: list(curves)
      .map(curve)
      .filter((one) => one !== null),
    marks: list(marks).map((mark) => {
      const { t, name, text: words } = fields(mark);
      return { t: number(t) ?? 0, name: text(name), text: text(words) };
    }),
  };
}

export function readFacts(bytes: Uint8Array): readonly FactTable[] {
  return list(parse(bytes, "facts")).map((table) => {
    const { title, columns, rows, more } = fields(table);
    return {
      title: text(title),
      columns: list(columns).map(text),
      rows: list(rows).map((row) => list(row).map(text)),
      more: number(more) ?? 0,
    };
  });
}
