// Samples over time: decoding, parts of the time, and sums that lose nothing.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import { decodeSamples } from "../../src/data/samples";
import { buildModel } from "../../src/flame/model";
import { overTime } from "../../src/flame/over-time";
import { rowAt, rowsWithin, selected, weigh } from "../../src/flame/select";
import { flameBlock } from "../sample/encryption";
import { encode } from "../sample/flame";
import { encodeSamples, rowsOf } from "../sample/samples";

const block = flameBlock();
const m = buildModel(decodeFlame(encode(block)));
const bytes = encodeSamples(rowsOf(block, 60));
const samples = decodeSamples(bytes, m.data.nodes);

describe("samples", () => {
  it("are decoded in order of time, each in its box", () => {
    expect(samples.rows).toBeGreaterThan(100);
    for (let i = 1; i < samples.rows; i++) {
      expect(samples.time[i]).toBeGreaterThanOrEqual(samples.time[i - 1]);
    }
    expect([...weigh(m.tree, samples, 0, samples.rows)]).toEqual([...m.data.value]);
  });

  it("refuses every cut and survives every flipped byte", () => {
    for (let cut = 0; cut < bytes.length; cut += 7) {
      expect(() => decodeSamples(bytes.subarray(0, cut), m.data.nodes)).toThrow(/ata is |begin/);
    }
    for (let at = 0; at < bytes.length; at += 11) {
      const bad = Uint8Array.from(bytes);
      bad[at] ^= 0x41;
      try {
        decodeSamples(bad, m.data.nodes);
      } catch (error) {
        expect(String(error)).toMatch(/Sample data|Flame data/);
      }
    }
  });

  it("refuses boxes that the graph does not have", () => {
    expect(() => decodeSamples(bytes, 2)).toThrow(/node \d+ of 2/);
  });

  it("are found by time as a walk over all of them finds them", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 61, noNaN: true }), (t) => {
        const walked = samples.time.findIndex((at) => at >= t);
        expect(rowAt(samples.time, t)).toBe(walked < 0 ? samples.rows : walked);
      }),
    );
  });

  it("of parts of the time add up to the whole", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 59.9, noNaN: true }), (t) => {
        const a = selected(m.data, m.tree, samples, [0, t]);
        const b = selected(m.data, m.tree, samples, [t, 1000]);
        a.value.forEach((value, i) => {
          expect(value + b.value[i]).toBe(m.data.value[i]);
        });
      }),
      { numRuns: 30 },
    );
    expect(rowsWithin(samples, null)).toEqual([0, samples.rows]);
  });

  it("over time are all samples, each once, in its stage", () => {
    const sums = overTime(m.data, samples, 0, 60, 50);
    expect(sums.sums.reduce((a, b) => a + b, 0)).toBe(m.data.total);
    m.data.stages.forEach((_, stage) => {
      const ours = sums.amount.subarray(stage * 50, (stage + 1) * 50).reduce((a, b) => a + b, 0);
      expect(ours).toBe(m.stageWeight[stage]);
    });
  });
});
