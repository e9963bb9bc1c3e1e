// Every number that the page writes of an answer is one of `zwhy explain --json`, in one of the page's own notations.
//
// The other direction is faces.test.ts. Digits within words of the answer count as the answer's. Answers of real
// captures are checked with ZWHY_ANSWERS=A.json:B.json.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { readAnswer } from "../../src/data/read-answer";
import { fold } from "../../src/small";
import { answer as encryption } from "../sample/encryption";

const EVERY_FIELD = new URL(
  "../../../crates/report/tests/golden/every-field.json",
  import.meta.url,
);

let shownOf: (json: unknown) => string;
let notations: (value: number) => string[];

beforeAll(async () => {
  const window = { location: { hash: "" }, history: { state: null }, addEventListener: () => {} };
  const media = () => ({ matches: false, addEventListener: () => {} });
  vi.stubGlobal("window", { ...window, matchMedia: media });
  const [{ render }, { h }, { answer, setFlame }, { App }, text] = await Promise.all([
    import("preact-render-to-string"),
    import("preact"),
    import("../../src/state/store"),
    import("../../src/ui/App"),
    import("../../src/text"),
  ]);
  setFlame("cpu", { kind: "absent" });
  shownOf = (json) => {
    const value = readAnswer(new TextEncoder().encode(JSON.stringify(json)));
    answer.value = { kind: "ready", value };
    return render(h(App, {})).replace(/<[^>]*>/g, " ");
  };
  // Numbers without their units, which follow them.
  notations = (value) =>
    [
      String(value),
      ...[0, 1, 2].map((digits) => value.toFixed(digits)),
      ...[0, 1].map((digits) => (value * 100).toFixed(digits)),
      text.integer(value),
      text.bytes(value),
      text.seconds(value),
      text.seconds(value / 1e9),
      (value / 1000).toFixed(1),
    ].map((one) => one.replace(/[^\d.,]/g, ""));
});

/** All numbers, and the digits within texts, of a JSON value. */
function numbersIn(value: unknown, into: Set<string>): Set<string> {
  if (typeof value === "number") for (const one of notations(value)) into.add(one);
  else if (typeof value === "string") for (const one of digits(value)) into.add(one);
  else if (Array.isArray(value)) for (const one of value) numbersIn(one, into);
  else if (typeof value === "object" && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      numbersIn(name, into);
      numbersIn(one, into);
    }
    for (const list of Object.values(value)) {
      // How many there are; of commands how many lines.
      if (Array.isArray(list)) into.add(String(list.length));
      if (Array.isArray(list)) into.add(String(list.join("\n").split("\n").length));
    }
  }
  return into;
}

/** Numbers as they stand in a text: `1,234`, `0.31`. */
function digits(text: string): string[] {
  return (text.match(/\d[\d,]*(?:\.\d+)?/g) ?? []).map((one) => one.replace(/,$/, ""));
}

/** What the page says of its own accord: places in a list, and bounds of its wording. */
const OWN = new Set(["1", "2", "3", "95", "0.1"]);

/**
 * What the page works out: parts of what a CPU can do, of an operation what is not listed, and of rows that are too
 * small to list how many there are and their sum.
 */
function derived({ stages = [], paths = [], threads = [], source }: Derived): string[] {
  const rows = [
    fold(stages, (row) => row.share.value),
    fold(threads, ({ cpu_share, samples }) =>
      Math.max(cpu_share ?? 0, samples / Math.max(1, source?.amount ?? 0)),
    ),
  ].flatMap(({ shown, small, sum }) => [shown.length, small, sum]);
  const parts = stages.flatMap((row) => row.limits ?? []);
  return [
    ...rows,
    ...parts.map(({ mb_s, achieved_mb_s }) => (achieved_mb_s ?? 0) / mb_s),
    ...paths.flatMap(({ rest, samples, share }) => [
      rest / samples,
      (rest / samples) * share.value,
    ]),
  ].flatMap(notations);
}

interface Derived {
  readonly source?: { amount: number };
  readonly stages?: {
    share: { value: number };
    limits?: { mb_s: number; achieved_mb_s: number | null }[];
  }[];
  readonly threads?: { cpu_share: number | null; samples: number }[];
  readonly paths?: { rest: number; samples: number; share: { value: number } }[];
}

const given = (process.env.ZWHY_ANSWERS ?? "").split(":").filter(Boolean);

describe("numbers of the page", () => {
  it.each([
    ...given.map((file) => [file, 0, () => JSON.parse(readFileSync(file, "utf8"))] as const),
    ["a sample with every field", 50, () => JSON.parse(readFileSync(EVERY_FIELD, "utf8"))] as const,
    ["a cause with evidence", 50, () => JSON.parse(JSON.stringify(encryption()))] as const,
  ])("are those of the JSON, for %s", (_name, above, make) => {
    const json = make();
    const known = numbersIn(json, new Set([...OWN, ...derived(json)]));
    const text = shownOf(json)
      .replace(/&#?\w+;/g, " ")
      .replace(/\s+/g, " ");
    const shown = digits(text);
    expect(shown.length).toBeGreaterThan(above);
    const strange = shown.filter((one) => !known.has(one));
    const where = strange.map((one) =>
      text.slice(Math.max(0, text.indexOf(one) - 60)).slice(0, 120),
    );
    expect(where).toEqual([]);
  });
});
