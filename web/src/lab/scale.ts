// Where a value stands on an axis, and which numbers are written along it.

import { integer } from "../text";

export interface Scale {
  /** Place of a value, 0 to 1. */
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
  readonly log: boolean;
}

/** From this factor between the smallest and the largest value on, small ones would lie on one another. */
const WIDE = 30;

/** 1, 2 or 5 times a power of ten: about `count` steps up to `span`. */
function step(span: number, count: number): number {
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const times = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10;
  return times * power;
}

function linear(high: number): Scale {
  const top = high > 0 ? high : 1;
  const by = step(top, 4);
  const end = Math.ceil((top * 1.02) / by) * by;
  const ticks = Array.from({ length: Math.round(end / by) + 1 }, (_, i) => i * by);
  return { at: (value) => value / end, ticks, log: false };
}

function logarithmic(low: number, high: number): Scale {
  const [from, to] = [Math.log10(low) - 0.08, Math.log10(high) + 0.08];
  const all: number[] = [];
  for (let power = Math.floor(from); power <= Math.ceil(to); power++) all.push(10 ** power);
  const many = to - from > 5 ? Math.ceil((to - from) / 5) : 1;
  const fine = to - from < 2 ? all.flatMap((one) => [one, 2 * one, 5 * one]) : all;
  const within = fine.filter((one) => Math.log10(one) >= from && Math.log10(one) <= to);
  return {
    at: (value) => (Math.log10(Math.max(value, low / 10)) - from) / (to - from),
    ticks: within.filter((_, i) => i % many === 0),
    log: true,
  };
}

/** From zero where that can be read, otherwise logarithmic. */
export function scaleOf(values: readonly number[]): Scale {
  const real = values.filter((value) => Number.isFinite(value));
  const [low, high] = [Math.min(...real), Math.max(...real)];
  if (real.length > 0 && low > 0 && high / low > WIDE) return logarithmic(low, high);
  return linear(real.length > 0 ? high : 1);
}

/** Logarithmic wherever that is possible: laws of growth are straight lines there. */
export function logScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => Number.isFinite(value) && value > 0);
  if (positive.length < values.length || positive.length === 0) return scaleOf(values);
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  return high > low ? logarithmic(low, high) : logarithmic(low / 2, high * 2);
}

/** Three significant digits: all that such a measurement carries. */
export function figureText(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 0.0001) return value.toExponential(1);
  if (size >= 99.95) return integer(value);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.0995) return value.toFixed(2);
  return value.toFixed(4);
}

/** As few digits as tell it. */
export function tickText(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 0.0001) return value.toExponential(0);
  return String(Number(value.toPrecision(3)));
}

const LAWS: Readonly<Record<string, (n: number) => number>> = {
  constant: () => 0,
  logarithmic: (n) => Math.log(n),
  linear: (n) => n,
  linearithmic: (n) => n * Math.log(n),
  quadratic: (n) => n * n,
  cubic: (n) => n ** 3,
};

const SURFACES: Readonly<Record<string, (n: number, m: number) => readonly [number, number]>> = {
  constant: () => [0, 0],
  "log-first": (n) => [Math.log(n), 0],
  "log-second": (_, m) => [Math.log(m), 0],
  first: (n) => [n, 0],
  second: (_, m) => [m, 0],
  "linearithmic-first": (n) => [n * Math.log(n), 0],
  "linearithmic-second": (_, m) => [m * Math.log(m), 0],
  sum: (n, m) => [n, m],
  product: (n, m) => [n * m, 0],
  "square-first": (n) => [n * n, 0],
  "square-second": (_, m) => [m * m, 0],
};

/** What a fitted law of two sizes predicts; null for a law that this page does not know. */
export function predictedOf(
  law: {
    readonly law: string;
    readonly fixed: number;
    readonly slopes: readonly [number, number];
  },
  n: number,
  m: number,
): number | null {
  const terms = Object.hasOwn(SURFACES, law.law) ? SURFACES[law.law]?.(n, m) : undefined;
  return terms ? law.fixed + law.slopes[0] * terms[0] + law.slopes[1] * terms[1] : null;
}

/** What a fitted law predicts at a size; null for a law that this page does not know. */
export function predicted(
  law: { readonly model: string; readonly fixed: number; readonly slope: number },
  n: number,
): number | null {
  const of = LAWS[law.model];
  return of ? law.fixed + law.slope * of(n) : null;
}
