// Turns the JSON of the answer block into an Answer; what does not fit becomes a note.
//
// The fields are those of SHAPES, which is generated from the answer's types. A damaged or newer file
// loses the field, not the page: what is missing is empty, and the notes are shown to the reader.

import type { Answer } from "./answer";
import { SHAPES } from "./answer-shapes";
import { DataError } from "./error";

const SUPPORTED = 1;

export interface ReadAnswer {
  readonly answer: Answer;
  /** What did not fit, for the data quality section. */
  readonly notes: readonly string[];
}

class Notes {
  readonly list: string[] = [];
  add(note: string): void {
    // A file with a thousand bad rows says so ten times, not a thousand.
    if (this.list.length < 10) this.list.push(note);
  }
}

type JsonObject = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, string>>;
type Words = readonly string[];
const TYPES: ReadonlyMap<string, Fields | Words> = new Map(SHAPES.split("\n").map(typeOf));
const PLAIN: ReadonlyMap<string, { readonly empty: unknown; readonly what: string }> = new Map([
  ["", { empty: "", what: "text" }],
  ["n", { empty: 0, what: "a number" }],
  ["f", { empty: false, what: "true or false" }],
]);

/** A line of SHAPES. */
function typeOf(line: string): [string, Fields | Words] {
  const [name, ...parts] = line.split(/[ =]/);
  if (line.includes("=")) return [name, parts];
  const fields = parts.map((part) => {
    const field = part.replace(/\W.*/, "");
    return [field, part.slice(field.length).replace(":", "")];
  });
  return [name, Object.fromEntries(fields)];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWords(shape: Fields | Words): shape is Words {
  return Array.isArray(shape);
}

/** The value as `kind` has it (see SHAPES), or an empty one of that kind. */
function read(value: unknown, kind: string, path: string, notes: Notes): unknown {
  if (kind.endsWith("?")) {
    const missing = value === undefined || value === null;
    return missing ? null : (fitting(value, kind.slice(0, -1), path, notes) ?? null);
  }
  return fitting(value, kind, path, notes) ?? emptyOf(kind, path, notes);
}

function emptyOf(kind: string, path: string, notes: Notes): unknown {
  if (kind.endsWith("[]")) return [];
  if (kind.endsWith("{}")) return new Map();
  const shape = TYPES.get(kind);
  if (shape === undefined) return PLAIN.get(kind)?.empty ?? null;
  return isWords(shape) ? "" : readFields({}, shape, path, notes);
}

/** The value, or undefined where it is missing or no such thing, which becomes a note. */
function fitting(value: unknown, kind: string, path: string, notes: Notes): unknown {
  if (value === undefined || value === null) return undefined;
  const of = kind.slice(0, -2);
  if (kind.endsWith("[]")) {
    if (Array.isArray(value)) return value.map((item, i) => read(item, of, `${path}[${i}]`, notes));
    return misfit(path, "a list", notes);
  }
  if (kind.endsWith("{}")) {
    if (!isObject(value)) return misfit(path, "an object", notes);
    const entries = Object.entries(value);
    return new Map(entries.map(([name, v]) => [name, read(v, of, `${path}.${name}`, notes)]));
  }
  const shape = TYPES.get(kind);
  if (shape === undefined) {
    const plain = PLAIN.get(kind);
    const fits = plain === undefined || typeof value === typeof plain.empty;
    return fits ? value : misfit(path, plain.what, notes);
  }
  if (isWords(shape)) {
    const known = shape.some((word) => word === value);
    return known ? value : misfit(path, `one of ${shape.join(", ")}`, notes);
  }
  return isObject(value) ? readFields(value, shape, path, notes) : misfit(path, "an object", notes);
}

function misfit(path: string, what: string, notes: Notes): undefined {
  notes.add(`${path} is not ${what}`);
}

function readFields(from: JsonObject, shape: Fields, path: string, notes: Notes): JsonObject {
  const fields = Object.entries(shape).map(([name, kind]) => {
    const value = Object.hasOwn(from, name) ? from[name] : undefined;
    return [name, read(value, kind, `${path}.${name}`, notes)];
  });
  return Object.fromEntries(fields);
}

/** Reads the unpacked answer block. Throws DataError when it is not a JSON object at all. */
export function readAnswer(bytes: Uint8Array): ReadAnswer {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new DataError("The answer block is not JSON; the file was changed or cut.");
  }
  if (!isObject(json)) {
    throw new DataError("The answer block is not a JSON object; the file was changed.");
  }
  const notes = new Notes();
  // Its fields are read one by one after SHAPES, which is generated together with the type.
  const answer = read(json, "Answer", "answer", notes) as Answer;
  if (answer.schema > SUPPORTED) {
    notes.add(
      `the answer has schema ${answer.schema}, this page knows ${SUPPORTED}: parts may be missing`,
    );
  }
  return { answer, notes: notes.list };
}
