// The answer that `zwhy explain --json` prints, as the page uses it.
//
// Shares are fractions 0..1 of all CPU samples; those of `who` are of the stage, and the CPU share of
// threads is in CPUs: 1 is one CPU full.

export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** A part of a stage. */
export interface Part {
  readonly name: string;
  readonly share: Interval;
}

export interface Source {
  readonly name: string;
  readonly kind: string;
  readonly host: string;
  readonly kernel: string;
  readonly os: string;
  readonly zfsVersion: string;
  readonly seconds: number | null;
  readonly hz: number | null;
  readonly samples: number | null;
  readonly lost: number | null;
  readonly zfsInUse: boolean | null;
}

export interface Evidence {
  readonly claim: string;
  readonly measure: string;
  readonly source: string;
  readonly frames: readonly string[];
}

/** One of several ways. */
export interface Choice {
  readonly text: string;
  readonly commands: readonly string[];
  readonly undo: readonly string[];
}

export interface Remedy {
  readonly text: string;
  /** Commands that show whether it is so and change nothing. */
  readonly look: readonly string[];
  readonly commands: readonly string[];
  readonly undo: readonly string[];
  readonly choices: readonly Choice[];
  /** What no command does. */
  readonly advice: readonly string[];
  readonly undoNote: string;
  /** What becomes of blocks that are there already. */
  readonly rewrite: string;
  readonly risk: string;
}

/** How many times everything else would speed up without some work; null: nothing else is done. */
export interface SpeedUp {
  readonly atMost: number | null;
  readonly low: number;
  readonly high: number | null;
}

export interface Finding {
  readonly class: string;
  readonly title: string;
  readonly confidence: number | null;
  readonly confidenceWord: string;
  readonly share: Interval | null;
  readonly without: SpeedUp | null;
  /** What this machine can do of the work, in words. */
  readonly limits: readonly string[];
  /** What lowered the confidence. */
  readonly against: readonly Evidence[];
  readonly evidence: readonly Evidence[];
  readonly explanation: string;
  /** What the remedy should bring, in words; empty where nothing is said. */
  readonly gain: string;
  readonly remedy: Remedy | null;
  readonly next: readonly string[];
  readonly rulesOut: readonly { readonly class: string; readonly why: string }[];
  readonly experiment: string;
  readonly references: readonly string[];
  readonly affected: string;
  readonly fixedIn: string;
}

export interface StageRow {
  readonly stage: string;
  readonly samples: number;
  readonly share: Interval;
  /** Generic work inside the stage. */
  readonly parts: readonly Part[];
  readonly who: readonly Part[];
  readonly without: SpeedUp | null;
  readonly limits: readonly string[];
}

export interface OriginRow {
  readonly origin: string;
  readonly samples: number;
  readonly share: Interval;
}

/** A part of an operation. */
export interface PathStep {
  readonly name: string;
  readonly what: string;
  /** What the caller asked for, not what it costs to get there. */
  readonly useful: boolean;
  readonly share: Interval;
  /** Of the operation, 0..1. */
  readonly ofPath: number;
  readonly inside: readonly PathStep[];
}

/** An operation that matters in this profile, taken apart. */
export interface PathRow {
  readonly name: string;
  readonly root: string;
  readonly samples: number;
  readonly share: Interval;
  readonly steps: readonly PathStep[];
  /** Samples of the operation in none of its steps. */
  readonly rest: number;
}

export interface ThreadRow {
  readonly comm: string;
  readonly role: string;
  readonly threads: number | null;
  readonly cpuSeconds: number | null;
  readonly cpuShare: number | null;
  readonly samples: number | null;
}

/** What the recorder did; counted nowhere else. */
export interface Itself {
  readonly program: string;
  readonly cpuSeconds: number | null;
  readonly ofOneCpu: number | null;
  readonly samples: number;
}

export interface Quality {
  readonly read: number | null;
  readonly kept: number | null;
  readonly lost: number | null;
  readonly dropped: readonly (readonly [string, number])[];
  readonly unresolved: readonly (readonly [string, number])[];
  readonly warnings: readonly string[];
}

export interface Answer {
  readonly zwhy: string;
  readonly source: Source;
  readonly why: string;
  readonly do: string;
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRow[];
  readonly origins: readonly OriginRow[];
  readonly paths: readonly PathRow[];
  readonly threads: readonly ThreadRow[];
  readonly itself: Itself | null;
  /** What the bounds on speed assume; empty when there are none. */
  readonly assumption: string;
  readonly quality: Quality;
}
