// Reads little-endian numbers and LEB128 varints from bytes; never reads past the end.

import { DataError } from "./error";

/** A column of whole numbers below 2^32. */
export type Column = Uint8Array | Uint32Array;

export class Bytes {
  at = 0;
  constructor(readonly all: Uint8Array) {}

  get left(): number {
    return this.all.length - this.at;
  }

  take(count: number, what: string): Uint8Array {
    if (count > this.left) {
      throw new DataError(
        `Flame data is cut: ${what} needs ${count} bytes at byte ${this.at}, ${this.left} are left.`,
      );
    }
    const part = this.all.subarray(this.at, this.at + count);
    this.at += count;
    return part;
  }

  u32(what: string): number {
    const b = this.take(4, what);
    return (b[0] | (b[1] << 8) | (b[2] << 16) | (b[3] << 24)) >>> 0;
  }

  /** The same as `counts`; numbers that take a byte each stay where they are. */
  small(count: number, what: string): Column {
    const { all, at } = this;
    let i = at;
    const end = Math.min(at + count, all.length);
    while (i < end && all[i] < 128) i++;
    return i === at + count ? this.take(count, what) : this.counts(count, what);
  }

  /** `count` varints below 2^32. */
  counts(count: number, what: string): Uint32Array {
    const into = new Uint32Array(count);
    const { all } = this;
    let at = this.at;
    for (let i = 0; i < count; i++) {
      const byte = all[at++];
      // Nearly all fit one byte, most others two.
      if (byte < 128) {
        into[i] = byte;
        continue;
      }
      const second = all[at++];
      if (second < 128) {
        into[i] = (byte & 127) | (second << 7);
        continue;
      }
      const third = all[at++];
      if (third < 128) {
        into[i] = (byte & 127) | ((second & 127) << 7) | (third << 14);
        continue;
      }
      this.at = at - 3;
      const value = this.varint(what, i, count);
      if (value > 0xffffffff) this.tooLarge(what, i);
      into[i] = value;
      at = this.at;
    }
    this.ended(at, what, count);
    return into;
  }

  /** `count` varints, each at most 2^53 − 1. */
  amounts(count: number, what: string): Float64Array {
    const into = new Float64Array(count);
    const { all } = this;
    let at = this.at;
    for (let i = 0; i < count; i++) {
      const byte = all[at++];
      if (byte < 128) {
        into[i] = byte;
        continue;
      }
      const second = all[at++];
      if (second < 128) {
        into[i] = (byte & 127) | (second << 7);
        continue;
      }
      this.at = at - 2;
      into[i] = this.varint(what, i, count);
      at = this.at;
    }
    this.ended(at, what, count);
    return into;
  }

  private varint(what: string, i: number, count: number): number {
    const { all } = this;
    let at = this.at;
    let byte = all[at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = all[at++];
      value += (byte & 127) * scale;
      if (value > Number.MAX_SAFE_INTEGER) this.tooLarge(what, i);
    }
    this.ended(at, what, count);
    return value;
  }

  private tooLarge(what: string, i: number): never {
    throw new DataError(`Flame data is damaged: ${what} ${i} at byte ${this.at} is too large.`);
  }

  /** A byte beyond the end is `undefined`, whose bits are 0: reading stops there, and this tells. */
  private ended(at: number, what: string, count: number): void {
    if (at > this.all.length) {
      throw new DataError(`Flame data is cut: column ${what} ends before its ${count} numbers do.`);
    }
    this.at = at;
  }
}
