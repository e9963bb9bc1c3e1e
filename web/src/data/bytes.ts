// Reads little-endian numbers and LEB128 varints from bytes; never reads past the end.

import { DataError } from "./error";

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

  /** `into.length` varints, each at most 2^53 − 1. */
  varints<A extends Uint32Array | Float64Array>(into: A, what: string): A {
    const { all } = this;
    const most = into instanceof Uint32Array ? 0xffffffff : Number.MAX_SAFE_INTEGER;
    let at = this.at;
    for (let i = 0; i < into.length; i++) {
      let byte = all[at++];
      let value = byte & 127;
      for (let scale = 128; byte > 127; scale *= 128) {
        byte = all[at++];
        value += (byte & 127) * scale;
        if (value > most) {
          throw new DataError(`Flame data is damaged: ${what} ${i} at byte ${at} is too large.`);
        }
      }
      if (at > all.length) {
        throw new DataError(
          `Flame data is cut: column ${what} ends after ${i} of ${into.length} numbers.`,
        );
      }
      into[i] = value;
    }
    this.at = at;
    return into;
  }
}
