// Graphs that are prepared aside: the same model from a worker, from a worker that fails, and without one.

import { describe, expect, it } from "vitest";
import { buffersOf, prepare, prepareAside } from "../../src/flame/prepare";
import { flameBlock } from "../sample/encryption";
import { blockOf, encode } from "../sample/flame";

/** Large enough for a worker: a long name that the header carries. */
const BLOCK = blockOf([{ frames: [{ name: "x".repeat(500_000) }, { name: "b" }], count: 3 }]);
const BYTES = encode(BLOCK);

class Fake {
  ended = false;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: (() => void) | null = null;
  constructor(private readonly act: (fake: Fake, bytes: Uint8Array) => void) {}
  postMessage(bytes: Uint8Array): void {
    setTimeout(() => this.act(this, bytes));
  }
  terminate(): void {
    this.ended = true;
  }
}

const as = (fake: Fake) => () => fake as unknown as Worker;

describe("prepareAside", () => {
  it("takes the model of the worker, which can be sent over", async () => {
    const sent = structuredClone(prepare(BYTES));
    const fake = new Fake((f) => f.onmessage?.({ data: { kind: "model", model: sent } }));
    expect(await prepareAside(BYTES, as(fake))).toBe(sent);
    expect(fake.ended).toBe(true);
    const model = prepare(encode(flameBlock()));
    const buffers = buffersOf(model);
    expect(buffers.length).toBeGreaterThan(8);
    const moved = structuredClone(model, { transfer: buffers });
    expect(moved.data.value[0]).toBeGreaterThan(0);
    expect(model.data.value.length).toBe(0);
  });

  it("does the work itself where there is no worker or it breaks", async () => {
    const broken = new Fake((f) => f.onerror?.());
    for (const start of [() => null, as(broken)]) {
      const model = await prepareAside(BYTES, start);
      expect(model.data.value[0]).toBe(3);
    }
  });

  it("says what is wrong with the bytes, wherever they are read", async () => {
    const bad = BYTES.slice(0, BYTES.length - 3);
    await expect(prepareAside(bad, () => null)).rejects.toThrow(/cut|damaged/);
    const fake = new Fake((f) => f.onmessage?.({ data: { kind: "failed", message: "is cut" } }));
    await expect(prepareAside(bad, as(fake))).rejects.toThrow("is cut");
  });

  it("starts no worker for what is small", async () => {
    let started = 0;
    await prepareAside(encode(flameBlock()), () => {
      started++;
      return null;
    });
    expect(started).toBe(0);
  });
});
