// Decoding: what was encoded comes back, and damage gives an error that says what is wrong.

import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unpack } from "../../src/data/block";
import { DataError } from "../../src/data/error";
import { decodeFlame, type FlameData } from "../../src/data/flame";
import { buildModel } from "../../src/flame/model";
import { flameBlock } from "../sample/encryption";
import { type Block, blockOf, encode, folded } from "../sample/flame";
import { HOSTILE_NAMES, hostileFlame } from "../sample/hostile";
import { stacks } from "./arbitrary";

/** The data, when its tree was checked too. */
function opened(all: Uint8Array): FlameData {
  return buildModel(decodeFlame(all)).data;
}

function changed(edit: (block: Block) => void): Uint8Array {
  const block = blockOf(folded("a;b 3\na;c 2\nd 1"));
  edit(block);
  return encode(block);
}

describe("decodeFlame", () => {
  it("gives back every column", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const block = blockOf(list);
        const data = opened(encode(block));
        expect([...data.level]).toEqual(block.columns.level);
        expect([...data.value]).toEqual(block.columns.value);
        expect([...data.label]).toEqual(block.columns.label);
        expect([...data.stage]).toEqual(block.columns.stage);
        expect(data.total).toBe(block.header.total);
      }),
    );
  });

  it("keeps weights beyond 32 bits and hostile names", () => {
    const big = blockOf([{ frames: [{ name: "a" }], count: 2 ** 52 }], "ns");
    expect(opened(encode(big)).value[1]).toBe(2 ** 52);
    const names = opened(encode(hostileFlame())).labels;
    // A lone surrogate cannot pass through UTF-8; every other name is the same.
    expect(names).toEqual(expect.arrayContaining(HOSTILE_NAMES.filter((n) => !/\p{Cs}/u.test(n))));
  });

  const damage: [string, (block: Block) => void, RegExp][] = [
    ["version", (b) => Object.assign(b.header, { version: 3 }), /version 3.*newer zwhy/],
    ["too many nodes", (b) => Object.assign(b.header, { nodes: 2 ** 40 }), /cut.*are left/],
    ["too few nodes", (b) => Object.assign(b.header, { nodes: 3 }), /damaged/],
    ["no nodes", (b) => Object.assign(b.header, { nodes: 0 }), /no root/],
    ["total", (b) => Object.assign(b.header, { total: 7 }), /root has 6.*says 7/],
    ["labels", (b) => Object.assign(b.header, { labels: [1] }), /"labels"/],
    ["label modules", (b) => Object.assign(b.header, { labelModule: [] }), /"labelModule"/],
    ["module range", (b) => Object.assign(b.header, { modules: [] }), /not below 0/],
    ["unit", (b) => Object.assign(b.header, { unit: null }), /"unit"/],
    ["root level", (b) => Object.assign(b.columns.level, { 0: 1 }), /not the root/],
    ["second root", (b) => Object.assign(b.columns.level, { 2: 0 }), /level 0/],
    [
      "level jump",
      (b) => Object.assign(b.columns.level, { 1: 2 }),
      /node 1 at level 2 is of no kind/,
    ],
    ["child sum", (b) => Object.assign(b.columns.value, { 2: 9 }), /exceed/],
    ["label", (b) => Object.assign(b.columns.label, { 1: 99 }), /label 99/],
    ["stage", (b) => Object.assign(b.columns.stage, { 1: 9 }), /stage 9/],
    ["huge varint", (b) => Object.assign(b.columns.value, { 1: 2 ** 60 }), /too large/],
    ["second total", (b) => Object.assign(b.header, { diff: true }), /totalB/],
    [
      "second sum",
      (b) => {
        Object.assign(b.header, { diff: true, totalB: 1 });
        b.columns.valueB.splice(0, b.columns.valueB.length, 1, 2, 0, 0, 0);
      },
      /exceed/,
    ],
  ];
  it.each(damage)("refuses a damaged %s", (_name, edit, message) => {
    expect(() => opened(changed(edit))).toThrow(DataError);
    expect(() => opened(changed(edit))).toThrow(message);
  });

  it("refuses bytes behind its last column", () => {
    const more = Uint8Array.from([...changed(() => {}), 0]);
    expect(() => opened(more)).toThrow(/1 bytes follow/);
  });

  it("refuses every cut and survives every flipped byte", () => {
    const whole = encode(flameBlock());
    for (let cut = 0; cut < whole.length; cut++) {
      expect(() => opened(whole.subarray(0, cut))).toThrow(DataError);
    }
    for (let at = 0; at < whole.length; at++) {
      const flipped = Uint8Array.from(whole);
      flipped[at] ^= 0x81;
      try {
        opened(flipped);
      } catch (error) {
        expect(error).toBeInstanceOf(DataError);
      }
    }
  });
});

describe("unpack", () => {
  const packed = gzipSync("hello").toString("base64");
  it("unpacks base64 of gzip, with white space around", async () => {
    expect(Buffer.from(await unpack(`\n${packed}\n`, "answer")).toString()).toBe("hello");
  });
  it("names the block that is not base64, not gzip, or cut", async () => {
    await expect(unpack("%%%", "answer")).rejects.toThrow(/answer block is not base64/);
    await expect(unpack("aGVsbG8=", "flame graph")).rejects.toThrow(
      /flame graph.*not a whole gzip/,
    );
    await expect(unpack(packed.slice(0, 20), "answer")).rejects.toThrow(DataError);
    await expect(unpack("", "answer")).rejects.toThrow(DataError);
  });
  it("stops at its limit", async () => {
    const bomb = gzipSync(new Uint8Array(4_000_000)).toString("base64");
    await expect(unpack(bomb, "answer", 1_000_000)).rejects.toThrow(/more than 1000000 bytes/);
  });
});
