// Graphs that are prepared aside: the same model from a worker, from a worker that fails, and without one.

import { describe, expect, it } from "vitest";
import { buffersOf, isLarge, type Packed, prepare, prepareAside } from "../../src/flame/prepare";
import { flameBlock } from "../sample/encryption";
import { blockOf, encode } from "../sample/flame";
import { pack } from "../sample/report";

/** Large enough for a worker: a long name that the header carries. */
const LONG = Array.from({ length: 40_000 }, (_, i) => Math.imul(i, 2_654_435_761) >>> 0).join("");
const BYTES = encode(blockOf([{ frames: [{ name: LONG }, { name: "b" }], count: 3 }]));
const block = (bytes: Uint8Array) => ({ text: pack(bytes), what: "flame graph" });
const LARGE = block(BYTES);
const SMALL = block(encode(flameBlock()));

class Fake {
  ended = false;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: (() => void) | null = null;
  constructor(private readonly act: (fake: Fake, packed: Packed) => void) {}
  postMessage(packed: Packed): void {
    setTimeout(() => this.act(this, packed));
  }
  terminate(): void {
    this.ended = true;
  }
}

const as = (fake: Fake) => () => fake as unknown as Worker;

describe("prepareAside", () => {
  it("takes the model of the worker, which can be sent over", async () => {
    const sent = structuredClone(await prepare(LARGE));
    const fake = new Fake((f) => f.onmessage?.({ data: { kind: "model", model: sent } }));
    expect(await prepareAside(LARGE, as(fake))).toBe(sent);
    expect(fake.ended).toBe(true);
    const model = await prepare(SMALL);
    const buffers = buffersOf(model);
    expect(buffers.length).toBeGreaterThan(8);
    const moved = structuredClone(model, { transfer: buffers });
    expect(moved.data.value[0]).toBeGreaterThan(0);
    expect(model.data.value.length).toBe(0);
  });

  it("does the work itself where there is no worker or it breaks", async () => {
    const broken = new Fake((f) => f.onerror?.());
    for (const start of [() => null, as(broken)]) {
      const model = await prepareAside(LARGE, start);
      expect(model.data.value[0]).toBe(3);
    }
  });

  it("says what is wrong with the bytes, wherever they are read", async () => {
    const bad = block(BYTES.slice(0, BYTES.length - 3));
    await expect(prepareAside(bad, () => null)).rejects.toThrow(/cut|damaged/);
    const fake = new Fake((f) => f.onmessage?.({ data: { kind: "failed", message: "is cut" } }));
    await expect(prepareAside(bad, as(fake))).rejects.toThrow("is cut");
  });

  it("starts no worker for what is small", async () => {
    let started = 0;
    expect([isLarge(LARGE), isLarge(SMALL)]).toEqual([true, false]);
    await prepareAside(SMALL, () => {
      started++;
      return null;
    });
    expect(started).toBe(0);
  });
});
