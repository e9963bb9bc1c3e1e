// Graphs that are prepared aside: the same model from a worker, from a worker that fails, and without one.

import { describe, expect, it } from "vitest";
import {
  Aside,
  buffersOf,
  isLarge,
  type Piece,
  type Prepared,
  prepare,
  prepareAside,
  type Scope,
  serve,
} from "../../src/flame/prepare";
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
  constructor(private readonly act: (fake: Fake, piece: Piece) => void) {}
  postMessage(piece: Piece): void {
    setTimeout(() => this.act(this, piece));
  }
  terminate(): void {
    this.ended = true;
  }
}

const as = (fake: Fake) => () => new Aside(fake as unknown as Worker, "flame graph");

/** What the worker answers to `pieces`. */
function answered(pieces: readonly string[]): Promise<Prepared> {
  return new Promise((done) => {
    const scope: Scope = { onmessage: null, postMessage: done };
    serve(scope);
    pieces.forEach((text, i) => {
      const data = { text, what: "flame graph", last: i === pieces.length - 1 };
      scope.onmessage?.({ data } as MessageEvent<Piece>);
    });
  });
}

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

  it("gives a worker that has begun what it has not, and no more", async () => {
    const got: string[] = [];
    const model = await prepare(SMALL);
    const fake = new Fake((f, { text, last }) => {
      got.push(text);
      if (last) f.onmessage?.({ data: { kind: "model", model } });
    });
    const aside = new Aside(fake as unknown as Worker, "flame graph");
    aside.give(LARGE.text.slice(0, 1001));
    aside.give(LARGE.text.slice(1001, 5000));
    expect(aside.has).toBe(5000);
    expect(await prepareAside(LARGE, () => aside)).toBe(model);
    expect(got.length).toBe(3);
    expect(got.join("")).toBe(LARGE.text);
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

describe("serve", () => {
  it("makes the same model of a text, however it is cut into pieces", async () => {
    const { text } = SMALL;
    const whole = await prepare(SMALL);
    for (const cut of [1, 2, 3, 4, 401, text.length]) {
      const answer = await answered([
        text.slice(0, cut),
        text.slice(cut, cut + 7),
        text.slice(cut + 7),
      ]);
      expect(answer).toEqual({ kind: "model", model: whole });
    }
  });

  it("says what is wrong with what it got", async () => {
    const failed = async (pieces: string[]) => {
      const answer = await answered(pieces);
      return answer.kind === "failed" ? answer.message : "";
    };
    expect(await failed([SMALL.text.slice(0, 100), "%%%%"])).toMatch(/is not base64 text/);
    expect(await failed([SMALL.text.slice(0, 100), ""])).toMatch(/not a whole gzip stream/);
    expect(await failed(["", pack(BYTES.slice(0, BYTES.length - 3))])).toMatch(/cut|damaged/);
  });
});
