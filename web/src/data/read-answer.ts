// Turns the JSON of the answer block into an Answer; what does not fit becomes a note.

import type {
  Answer,
  Evidence,
  Finding,
  Interval,
  Itself,
  Part,
  PathRow,
  PathStep,
  Quality,
  Source,
  SpeedUp,
  StageRow,
} from "./answer";
import { DataError } from "./error";
import { Fields, Notes } from "./fields";

const SUPPORTED = 1;

export interface ReadAnswer {
  readonly answer: Answer;
  /** What did not fit, for the data quality section. */
  readonly notes: readonly string[];
}

const NONE: Interval = { value: 0, low: 0, high: 0 };

/** The share of a row: an object with its interval, or a plain number that has none. */
function share(row: Fields): Interval | null {
  const object = row.shape("share") === "object" ? row.object("share") : null;
  const value = object ? object.number("value") : row.number("share");
  if (value === null) return null;
  return { value, low: object?.number("low") ?? value, high: object?.number("high") ?? value };
}

function part(key: string): (row: Fields) => Part {
  return (row) => ({ name: row.text(key), share: share(row) ?? NONE });
}

function speedUp(from: Fields | null): SpeedUp | null {
  if (from === null) return null;
  return {
    atMost: from.number("at_most"),
    low: from.number("low") ?? 1,
    high: from.number("high"),
  };
}

function evidence(line: Fields): Evidence {
  return {
    claim: line.text("claim"),
    measure: line.text("measure"),
    source: line.text("source"),
    frames: line.texts("frames"),
  };
}

const limit = (row: Fields): string => row.text("text");

function source(from: Fields | null): Source {
  return {
    name: from?.text("name") ?? "",
    kind: from?.text("kind") ?? "",
    host: from?.text("host") ?? "",
    kernel: from?.text("kernel") ?? "",
    os: from?.text("os") ?? "",
    zfsVersion: from?.text("zfs_version") ?? "",
    seconds: from?.number("duration_s") ?? null,
    hz: from?.number("hz") ?? null,
    samples: from?.number("samples") ?? null,
    lost: from?.number("lost") ?? null,
    zfsInUse: from?.flag("zfs_in_use") ?? null,
  };
}

function finding(row: Fields): Finding {
  const remedy = row.object("remedy");
  return {
    class: row.text("class"),
    title: row.text("title"),
    confidence: row.number("confidence"),
    confidenceWord: row.text("confidence_word"),
    share: share(row),
    without: speedUp(row.object("without")),
    limits: row.rows("limits", limit),
    evidence: row.rows("evidence", evidence),
    against: row.rows("against", evidence),
    explanation: row.text("explanation"),
    gain: row.object("gain")?.text("text") ?? "",
    remedy: remedy && {
      text: remedy.text("text"),
      look: remedy.texts("look"),
      commands: remedy.texts("commands"),
      undo: remedy.texts("undo"),
      choices: remedy.rows("choices", (choice) => ({
        text: choice.text("text"),
        commands: choice.texts("commands"),
        undo: choice.texts("undo"),
      })),
      advice: remedy.texts("advice"),
      undoNote: remedy.text("undo_note"),
      rewrite: remedy.text("rewrite"),
      risk: remedy.text("risk"),
    },
    next: row.texts("next"),
    rulesOut: row.rows("rules_out", (out) => ({ class: out.text("class"), why: out.text("why") })),
    experiment: row.text("experiment"),
    references: row.texts("references"),
    affected: row.text("affected"),
    fixedIn: row.text("fixed_in"),
  };
}

function stage(row: Fields): StageRow {
  return {
    stage: row.text("stage"),
    samples: row.number("samples") ?? 0,
    share: share(row) ?? NONE,
    parts: row.rows("self_label", part("label")),
    who: row.rows("who", part("thread")),
    without: speedUp(row.object("without")),
    limits: row.rows("limits", limit),
  };
}

function step(row: Fields): PathStep {
  return {
    name: row.text("function"),
    what: row.text("what"),
    useful: row.flag("useful") ?? false,
    share: share(row) ?? NONE,
    ofPath: row.number("of_path") ?? 0,
    inside: row.rows("inside", step),
  };
}

function path(row: Fields): PathRow {
  return {
    name: row.text("name"),
    root: row.text("root"),
    samples: row.number("samples") ?? 0,
    share: share(row) ?? NONE,
    steps: row.rows("steps", step),
    rest: row.number("rest") ?? 0,
  };
}

function quality(from: Fields | null): Quality {
  return {
    read: from?.number("read") ?? null,
    kept: from?.number("kept") ?? null,
    lost: from?.number("lost") ?? null,
    dropped: from?.counts("dropped") ?? [],
    unresolved: from?.counts("unresolved") ?? [],
    warnings: from?.texts("warnings") ?? [],
  };
}

function itself(from: Fields | null): Itself | null {
  if (from === null) return null;
  return {
    program: from.text("program"),
    cpuSeconds: from.number("cpu_s"),
    ofOneCpu: from.number("of_one_cpu"),
    samples: from.number("samples") ?? 0,
  };
}

/** Reads the unpacked answer block. Throws DataError when it is not a JSON object at all. */
export function readAnswer(bytes: Uint8Array): ReadAnswer {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new DataError("The answer block is not JSON; the file was changed or cut.");
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new DataError("The answer block is not a JSON object; the file was changed.");
  }
  const notes = new Notes();
  const root = Fields.of(json, "answer", notes);
  const schema = root.number("schema") ?? SUPPORTED;
  if (schema > SUPPORTED) {
    notes.add(
      `the answer has schema ${schema}, this page knows ${SUPPORTED}: parts may be missing`,
    );
  }
  const answer: Answer = {
    zwhy: root.text("zwhy"),
    source: source(root.object("source")),
    why: root.text("why"),
    do: root.text("do"),
    findings: root.rows("findings", finding),
    stages: root.rows("stages", stage),
    origins: root.rows("origins", (row) => ({
      origin: row.text("origin"),
      samples: row.number("samples") ?? 0,
      share: share(row) ?? NONE,
    })),
    paths: root.rows("paths", path),
    threads: root.rows("threads", (row) => ({
      comm: row.text("comm"),
      role: row.text("role"),
      threads: row.number("threads"),
      cpuSeconds: row.number("cpu_s"),
      cpuShare: row.number("cpu_share"),
      samples: row.number("samples"),
    })),
    itself: itself(root.object("itself")),
    assumption: root.object("what_if")?.text("assumption") ?? "",
    quality: quality(root.object("quality")),
  };
  return { answer, notes: notes.list };
}
