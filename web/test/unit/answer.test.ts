// Reading the answer: all fields arrive, and a damaged or newer file loses a field, not the page.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DataError } from "../../src/data/error";
import { readAnswer } from "../../src/data/read-answer";
import { answer } from "../sample/encryption";
import { hostileAnswer } from "../sample/hostile";

function read(json: unknown) {
  return readAnswer(new TextEncoder().encode(JSON.stringify(json)));
}

describe("readAnswer", () => {
  it("reads every section", () => {
    const { answer: a, notes } = read(answer());
    expect(notes).toEqual([]);
    expect(a.findings[0].share).toEqual({ value: 0.685, low: 0.676, high: 0.694 });
    expect(a.findings[0].evidence[1].frames).toEqual(["kfpu_begin", "kfpu_end"]);
    expect(a.findings[0].remedy.commands).toHaveLength(2);
    expect(a.findings[0].rules_out[0].class).toBe("disk-bound");
    expect(a.stages[0]).toMatchObject({ stage: "decrypt", self_label: [{ label: "FPU state" }] });
    expect(a.stages[0].without).toEqual({ at_most: 3.2, low: 3.1, high: 3.3 });
    expect(a.findings[0].without).toEqual({ at_most: 3.2, low: 3.1, high: null });
    expect(a.findings[0].limits[0].text).toMatch(/^200 MB/);
    expect(a.findings[0].gain?.text).toMatch(/41 to 67 %/);
    expect(a.findings[1].gain).toBeNull();
    expect(a.findings[0].against[0]).toMatchObject({ claim: "The host has one disk." });
    expect(a.what_if?.assumption).toMatch(/Amdahl/);
    expect(a.threads[0]).toMatchObject({ comm: "z_rd_int", cpu_s: 81.4 });
    expect(a.itself).toEqual({ program: "zwhy", cpu_s: 0.52, of_one_cpu: 0.009, samples: 51 });
    expect(a.quality.dropped).toEqual(new Map([["no stack", 12]]));
    expect(a.source).toMatchObject({ host: "db7", zfs_version: "2.3.2", zfs_in_use: true });
  });

  it("reads operations with their parts, and what is missing of them as nothing", () => {
    const inside = [{ function: "dbuf_hold", share: { value: 0.1, low: 0.1, high: 0.1 } }];
    const steps = [{ function: "uiomove", useful: true, of_path: 0.25, inside }];
    const { answer: a } = read({ paths: [{ root: "zfs_read", samples: 8, steps, rest: 6 }] });
    const [path] = a.paths;
    expect([path?.root, path?.samples, path?.rest]).toEqual(["zfs_read", 8, 6]);
    const [step] = path?.steps ?? [];
    expect([step?.function, step?.useful, step?.of_path]).toEqual(["uiomove", true, 0.25]);
    expect(step?.inside[0]?.function).toBe("dbuf_hold");
    expect(step?.inside[0]?.useful).toBe(false);
  });

  it("takes what has another type for nothing, and says so", () => {
    const rows = [
      { origin: "a", share: { value: 0.2, low: 0.1, high: 0.3 } },
      { origin: "b", share: 0.5 },
      { origin: "c" },
    ];
    const { answer: a, notes } = read({
      origins: rows,
      findings: [{ confidence_word: "certain", upgrade: 7 }],
      quality: { dropped: { __proto__x: 1, cut: "two" } },
    });
    expect(a.origins.map((row) => row.share)).toEqual([
      { value: 0.2, low: 0.1, high: 0.3 },
      { value: 0, low: 0, high: 0 },
      { value: 0, low: 0, high: 0 },
    ]);
    expect([a.findings[0].confidence_word, a.findings[0].upgrade]).toEqual(["", null]);
    expect([...a.quality.dropped]).toEqual([
      ["__proto__x", 1],
      ["cut", 0],
    ]);
    expect(notes).toEqual([
      "answer.findings[0].confidence_word is not one of high, medium, low",
      "answer.findings[0].upgrade is not text",
      "answer.origins[1].share is not an object",
      "answer.quality.dropped.cut is not a number",
    ]);
  });

  it("notes what does not fit and keeps the rest", () => {
    const { answer: a, notes } = read({ ...answer(), findings: [7, { title: 3 }], threads: "no" });
    expect(a.why).toMatch(/AES-CCM/);
    expect(a.stages.length).toBeGreaterThan(3);
    expect(a.threads).toEqual([]);
    expect(notes).toEqual([
      "answer.findings[0] is not an object",
      "answer.findings[1].title is not text",
      "answer.threads is not a list",
    ]);
  });

  it("says that a file is newer", () => {
    expect(read({ ...answer(), schema: 9 }).notes[0]).toMatch(/schema 9/);
  });

  it("takes missing, null and hostile fields", () => {
    expect(read({}).answer.findings).toEqual([]);
    const [empty] = read({ findings: [{ share: null, remedy: null }] }).answer.findings;
    expect([empty.share, empty.remedy.commands]).toEqual([null, []]);
    expect(read(hostileAnswer()).answer.findings.length).toBeGreaterThan(3);
    fc.assert(fc.property(fc.object(), (json) => void read(json)));
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (json) => void read({ source: json, findings: json, quality: json }),
      ),
    );
  });

  it("does not take fields from the prototype", () => {
    const parsed = readAnswer(new TextEncoder().encode('{"__proto__":{"why":"x"}}'));
    expect(parsed.answer.why).toBe("");
  });

  it("bounds its notes", () => {
    expect(read({ findings: Array(500).fill(1) }).notes).toHaveLength(10);
  });

  it("refuses what is no JSON object", () => {
    for (const text of ["", "{", "[]", "null", "7"]) {
      expect(() => readAnswer(new TextEncoder().encode(text))).toThrow(DataError);
    }
  });
});
