// The page shows every field of the answer, or crates/report/tests/waived.json says why not.
//
// The other half of crates/report/tests/faces, over the same sample, which is made from the answer's types:
// a made-up word of the sample is looked for; of a figure, a flag and a word of a list, another one has to
// show.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { readAnswer } from "../../src/data/read-answer";

const TESTS = new URL("../../../crates/report/tests/", import.meta.url);
const SAMPLE = readFileSync(new URL("golden/every-field.json", TESTS), "utf8");
const WAIVED = JSON.parse(readFileSync(new URL("waived.json", TESTS), "utf8")) as readonly {
  readonly fields: readonly string[];
  readonly faces: readonly string[];
}[];
const WORD = /^w\d\d\dw$/;

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** One thing that can be changed: its field as waivers name it, its value, and the sample with another. */
interface Leaf {
  readonly field: string;
  readonly value: Json;
  readonly other: () => Json;
}

function another(value: Json): Json {
  if (typeof value === "number") return value * 3 + 1;
  if (typeof value === "boolean") return !value;
  return value === "cpu" ? "idle" : "low";
}

/** Every leaf; `rebuilt` gives the sample with another value in place of this one. */
function leaves(value: Json, field: string, rebuilt: (value: Json) => Json): Leaf[] {
  if (Array.isArray(value)) {
    return value.flatMap((row, i) =>
      leaves(row, `${field}[]`, (other) => rebuilt(value.map((r, at) => (at === i ? other : r)))),
    );
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, inner]) => {
      const map = WORD.test(name);
      const at = map ? `${field}{}` : `${field}${field === "" ? "" : "."}${name}`;
      const below = leaves(inner, at, (other) => rebuilt({ ...value, [name]: other }));
      return map ? [{ field: `${at} name`, value: name, other: () => value }, ...below] : below;
    });
  }
  return [{ field, value, other: () => rebuilt(another(value)) }];
}

let shownOf: (answer: Json) => string;

beforeAll(async () => {
  const window = { location: { hash: "" }, history: { state: null }, addEventListener: () => {} };
  const media = () => ({ matches: false, addEventListener: () => {} });
  vi.stubGlobal("window", { ...window, matchMedia: media });
  const [{ render }, { h }, { answer, setFlame }, { App }] = await Promise.all([
    import("preact-render-to-string"),
    import("preact"),
    import("../../src/state/store"),
    import("../../src/ui/App"),
  ]);
  setFlame("cpu", { kind: "absent" });
  shownOf = (json) => {
    const value = readAnswer(new TextEncoder().encode(JSON.stringify(json)));
    answer.value = { kind: "ready", value };
    // What a reader sees: attributes are no text.
    return render(h(App, {})).replace(/<[^>]*>/g, " ");
  };
});

describe("the page", () => {
  it("shows every field of the answer", () => {
    const sample = JSON.parse(SAMPLE) as Json;
    expect(readAnswer(new TextEncoder().encode(SAMPLE)).notes).toEqual([]);
    const shown = shownOf(sample);
    const waived = new Set(
      WAIVED.filter((row) => row.faces.includes("page")).flatMap((row) => row.fields),
    );
    const isShown = ({ value, other }: Leaf) =>
      typeof value === "string" && WORD.test(value)
        ? shown.includes(value)
        : shownOf(other()) !== shown;
    const all = leaves(sample, "", (value) => value);
    expect(all.length).toBeGreaterThan(100);
    const visible = new Set(all.filter(isShown).map((leaf) => leaf.field));
    const missing = all.map((leaf) => leaf.field).filter((f) => !visible.has(f) && !waived.has(f));
    expect(
      missing,
      "fields that the page leaves out: show them in web/src/ui, or name them in " +
        "crates/report/tests/waived.json with the reason",
    ).toEqual([]);
    const stale = [...waived].filter((field) => visible.has(field));
    expect(stale, "fields that the page shows though waived.json says otherwise").toEqual([]);
  });
});
