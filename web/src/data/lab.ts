// The data of an experiment's page: the result as it is on disk, and what is drawn of it.
//
// Nobody vouches for the file, so every field is read with its type; what is missing is empty.

import { type Fields, fields, list, number, parse, text } from "./extras";

export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Ratio {
  readonly times: Interval;
  readonly runs: number;
  /** The runs tell the cells apart. */
  readonly shown: boolean;
}

export interface Dot {
  readonly position: number;
  readonly repetition: number;
  readonly value: number;
}

export interface Cell {
  readonly cell: string;
  readonly runs: readonly Dot[];
  readonly median: Interval;
  /** To the reference of the figure; null of the reference itself. */
  readonly ratio: Ratio | null;
}

/** One measure of one step, of all cells. */
export interface Figure {
  readonly step: string;
  readonly unit: string;
  readonly noun: string;
  readonly reference: string;
  readonly cells: readonly Cell[];
}

export interface StageBar {
  readonly step: string;
  readonly cell: string;
  readonly unit: string;
  readonly samples: number;
  readonly parts: readonly {
    readonly stage: string;
    readonly colour: string;
    readonly value: number;
  }[];
}

/** The law is `fixed + slope · f(n)`. */
export interface Growth {
  readonly of: string;
  readonly factor: string;
  readonly unit: string;
  readonly model: string;
  readonly fixed: number;
  readonly slope: number;
  readonly points: readonly { readonly n: number; readonly median: Interval }[];
  readonly runs: readonly { readonly n: number; readonly value: number }[];
}

/** Growth with two factors at once: the law is `fixed + slopes · (f(n, m), g(n, m))`. */
export interface Surface {
  readonly of: string;
  readonly factors: readonly [string, string];
  readonly unit: string;
  readonly law: string;
  readonly fixed: number;
  readonly slopes: readonly [number, number];
  readonly points: readonly { readonly n: number; readonly m: number; readonly median: Interval }[];
  readonly runs: readonly { readonly n: number; readonly m: number; readonly value: number }[];
}

export interface Check {
  readonly say: string;
  readonly outcome: string;
  readonly found: string;
}

export interface Step {
  readonly name: string;
  /** The plain numbers of a step by their names in the result. */
  readonly figures: readonly (readonly [string, number])[];
  readonly threads: readonly {
    readonly comm: string;
    readonly threads: number;
    readonly cpu_s: number;
  }[];
  readonly counters: readonly (readonly [string, number])[];
}

export interface Run {
  readonly position: number;
  readonly cell: string;
  readonly repetition: number;
  readonly steps: readonly Step[];
}

export interface Capture {
  readonly cell: string;
  readonly step: string;
  readonly repetition: number;
  readonly file: string;
}

export interface LabData {
  readonly experiment: string;
  readonly title: string;
  readonly question: string;
  readonly expectation: string;
  readonly meaning: string;
  readonly answer: string;
  readonly asExpected: boolean | null;
  readonly references: readonly string[];
  /** Name and value: what ran, where, and in which order. */
  readonly about: readonly (readonly [string, string])[];
  readonly source: readonly string[];
  readonly trust: readonly string[];
  readonly growthLines: readonly string[];
  readonly growth: readonly Growth[];
  readonly surfaces: readonly Surface[];
  readonly figures: readonly Figure[];
  readonly stages: readonly StageBar[];
  readonly checks: readonly Check[];
  readonly failed: readonly {
    readonly cell: string;
    readonly repetition: number;
    readonly error: string;
  }[];
  readonly cures: readonly {
    readonly distortion: string;
    readonly cure: string;
    readonly applied: boolean;
  }[];
  readonly distortions: readonly string[];
  readonly runs: readonly Run[];
  readonly commands: readonly { readonly what: string; readonly command: string }[];
  readonly captures: readonly Capture[];
}

const or0 = (value: unknown): number => number(value) ?? 0;

function interval(value: unknown): Interval {
  const i = fields(value);
  return { value: or0(i.value), low: or0(i.low), high: or0(i.high) };
}

function ratio(value: unknown): Ratio | null {
  const r = fields(value);
  if (number(fields(r.times).value) === null) return null;
  return { times: interval(r.times), runs: or0(r.runs), shown: r.is_shown === true };
}

function cell(value: unknown): Cell {
  const c = fields(value);
  return {
    cell: text(c.cell),
    runs: list(c.runs).map((run) => {
      const d = fields(run);
      return {
        position: or0(d.position),
        repetition: or0(d.repetition),
        value: or0(d.value),
      };
    }),
    median: interval(c.median),
    ratio: ratio(c.ratio),
  };
}

function figure(value: unknown): Figure {
  const f = fields(value);
  return {
    step: text(f.step),
    unit: text(f.unit),
    noun: text(f.noun),
    reference: text(f.reference),
    cells: list(f.cells).map(cell),
  };
}

const COLOUR = /^#[0-9a-f]{6}$/;

function stageBar(value: unknown): StageBar {
  const b = fields(value);
  return {
    step: text(b.step),
    cell: text(b.cell),
    unit: text(b.unit),
    samples: or0(b.samples),
    parts: list(b.parts).map((part) => {
      const p = fields(part);
      const colour = text(p.colour);
      return {
        stage: text(p.stage),
        colour: COLOUR.test(colour) ? colour : "#dadada",
        value: or0(p.value),
      };
    }),
  };
}

function step(value: unknown): Step {
  const s = fields(value);
  const plain = Object.entries(s).flatMap(([name, inner]) => {
    const known = number(inner);
    return known === null ? [] : [[name, known] as const];
  });
  const latency = Object.entries(fields(s.latency)).map(
    ([name, value]) => [`latency ${name}`, or0(value)] as const,
  );
  return {
    name: text(s.name),
    figures: [...plain, ...latency],
    threads: list(s.threads).map((group) => {
      const g = fields(group);
      return { comm: text(g.comm), threads: or0(g.threads), cpu_s: or0(g.cpu_s) };
    }),
    counters: Object.entries(fields(s.counters)).map(
      ([name, change]) => [name, or0(change)] as const,
    ),
  };
}

function run(value: unknown): Run {
  const r = fields(value);
  return {
    position: or0(r.position),
    cell: text(r.variant),
    repetition: or0(r.repetition),
    steps: list(r.steps).map(step),
  };
}

/** Costs at the sizes of some factors, of the runs whose other factors are `of`. */
function behind(runs: readonly unknown[], own: readonly string[], of: string) {
  return runs.flatMap((each) => {
    const { factors, value } = fields(each);
    const all = fields(factors);
    const others = Object.keys(all)
      .filter((name) => !own.includes(name))
      .sort()
      .map((name) => text(all[name]));
    const at = own.map((name) => Number(text(all[name])));
    const shown = others.join(" ") === of && at.every(Number.isFinite);
    return shown ? [{ n: at[0] ?? 0, m: at[1] ?? 0, value: or0(value) }] : [];
  });
}

function surface(value: unknown, runs: readonly unknown[], unit: string): Surface {
  const s = fields(value);
  const fit = fields(s.fit);
  const [n, m] = list(s.factors).map(text);
  const factors = [n ?? "", m ?? ""] as const;
  const [first, second] = list(fit.slopes).map(or0);
  return {
    of: text(s.of),
    factors,
    unit,
    law: text(fit.law),
    fixed: or0(fit.fixed),
    slopes: [first ?? 0, second ?? 0],
    points: list(s.points).map((point) => {
      const [n, m, median] = list(point);
      return { n: or0(n), m: or0(m), median: interval(median) };
    }),
    runs: behind(runs, factors, text(s.of)),
  };
}

function growth(value: unknown, runs: readonly unknown[], unit: string): Growth {
  const g = fields(value);
  const fit = fields(g.fit);
  const factor = text(g.factor);
  const ofFunction = text(g.function);
  return {
    of: [ofFunction, text(g.of)].filter((part) => part !== "").join(", "),
    factor,
    unit,
    model: text(fit.model),
    fixed: or0(fit.fixed),
    slope: or0(fit.slope),
    points: list(g.points).map((point) => {
      const [n, median] = list(point);
      return { n: or0(n), median: interval(median) };
    }),
    // The runs hold what the whole step took; of a function there are only its points.
    runs: ofFunction === "" ? behind(runs, [factor], text(g.of)) : [],
  };
}

function when(seconds: number | null): string {
  if (seconds === null || seconds <= 0) return "";
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime())
    ? ""
    : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function about(all: Fields, r: Fields): (readonly [string, string])[] {
  const [library, cpu, size] = [fields(r.library), fields(r.cpu), fields(r.size_spec)];
  const kernel = r.engine === "pool";
  const count = list(r.runs).length;
  const rows: (readonly [string, string])[] = [
    ["OpenZFS", text(library.package) || text(library.version) || text(library.release)],
    [kernel ? "Module" : "Library", text(library.path)],
    [
      "Engine",
      kernel
        ? "pool: this host's kernel, on a pool of the lab's own"
        : "user: libzpool in a process of its own",
    ],
    ["CPU", `${text(cpu.model) || "unknown"}, ${or0(cpu.cores)} cores`],
    ["Runs", `${count}, ${or0(size.repetitions)} of each cell, ${text(size.bytes)} of data each`],
    ["Order", "interleaved: each cell once, shuffled, then each again"],
    ["Seed of the order", text(all.seed)],
    ["Started", when(number(r.started_s))],
    ["zwhy", text(r.zwhy)],
  ];
  return rows.filter(([, value]) => value !== "");
}

export function readLab(bytes: Uint8Array): LabData {
  const all = fields(parse(bytes, "experiment"));
  const r = fields(all.result);
  const figures = list(all.figures).map(figure);
  const unit = figures[0]?.unit ?? "";
  const library = fields(r.library);
  const valued = list(r.runs).map((each) => {
    const at = or0(fields(each).position);
    const dot = figures[0]?.cells.flatMap((c) => c.runs).find((d) => d.position === at);
    return { factors: fields(each).factors, value: dot?.value };
  });
  const count = list(r.runs).length;
  return {
    experiment: text(r.experiment),
    title: text(r.title),
    question: text(r.question),
    expectation: text(r.expectation),
    meaning: text(r.meaning),
    answer: text(r.answer),
    asExpected: typeof r.as_expected === "boolean" ? r.as_expected : null,
    references: list(r.references).map(text),
    about: about(all, r),
    source: [
      text(r.title),
      `OpenZFS ${text(library.release)}`,
      r.engine === "pool" ? "kernel" : "user space",
      `${count} ${count === 1 ? "run" : "runs"}`,
      when(number(r.started_s)),
    ].filter((part) => part !== ""),
    trust: list(all.trust).map(text),
    growthLines: list(all.growth).map(text),
    growth: list(r.growth).map((one) => growth(one, valued, unit)),
    surfaces: list(r.surfaces).map((one) => surface(one, valued, unit)),
    figures,
    stages: list(all.stages).map(stageBar),
    checks: list(r.checks).map((value) => {
      const c = fields(value);
      return { say: text(c.say), outcome: text(c.outcome), found: text(c.found) };
    }),
    failed: list(r.failed).map((value) => {
      const f = fields(value);
      return { cell: text(f.variant), repetition: or0(f.repetition), error: text(f.error) };
    }),
    cures: list(r.cures).map((value) => {
      const c = fields(value);
      return { distortion: text(c.distortion), cure: text(c.cure), applied: c.applied === true };
    }),
    distortions: list(r.distortions).map(text),
    runs: list(r.runs).map(run),
    commands: list(all.commands).map((value) => {
      const c = fields(value);
      return { what: text(c.what), command: text(c.command) };
    }),
    captures: list(all.captures).map((value) => {
      const c = fields(value);
      return {
        cell: text(c.cell),
        step: text(c.step),
        repetition: or0(c.repetition),
        file: text(c.file),
      };
    }),
  };
}
