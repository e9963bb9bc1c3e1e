// Unpacks a data block of the page: base64 text around a gzip stream.
//
// The unpacked size is bounded, so that a hostile block cannot take all memory.

import { DataError } from "./error";

export const MAX_BLOCK_BYTES = 1 << 30;

/** Newer browsers decode at once what otherwise takes a step for each byte. */
const NATIVE = Uint8Array as unknown as {
  readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
};

/** Throws where it is none. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (NATIVE.fromBase64) return NATIVE.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** What follows from a promise that fails is told elsewhere. */
const toldElsewhere = () => {};

/** Unpacks a block whose text comes in pieces, as far as it is there. */
export class Unpacker {
  private readonly gunzip = new DecompressionStream("gzip");
  private readonly writer = this.gunzip.writable.getWriter();
  private readonly whole: Promise<Uint8Array>;
  private wrong: DataError | null = null;
  /** Text of the last piece that is no group of four letters yet. */
  private rest = "";
  private packed = 0;
  constructor(
    private readonly what: string,
    private readonly maxBytes = MAX_BLOCK_BYTES,
  ) {
    this.whole = this.gather();
    this.whole.catch(toldElsewhere);
  }

  push(piece: string): void {
    const text = this.rest + piece.trim();
    const groups = text.length - (text.length % 4);
    this.rest = text.slice(groups);
    this.write(text.slice(0, groups));
  }

  /** The bytes. Rejects with DataError for bad base64, bad gzip and more than the most bytes. */
  async end(): Promise<Uint8Array> {
    this.write(this.rest);
    this.writer.close().catch(toldElsewhere);
    if (this.wrong) throw this.wrong;
    return this.whole;
  }

  private write(text: string): void {
    if (text === "" || this.wrong) return;
    try {
      const bytes = fromBase64(text);
      this.packed += bytes.length;
      this.writer.write(bytes).catch(toldElsewhere);
    } catch {
      this.wrong = new DataError(
        `The ${this.what} block is not base64 text; the file was changed or cut.`,
      );
    }
  }

  private async gather(): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let size = 0;
    const reader = this.gunzip.readable.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > this.maxBytes) break;
        parts.push(value);
      }
    } catch {
      throw new DataError(
        `The ${this.what} block is not a whole gzip stream (${this.packed} bytes, ${size} unpacked); the file was changed or cut.`,
      );
    }
    if (size > this.maxBytes) {
      reader.cancel().catch(toldElsewhere);
      throw new DataError(
        `The ${this.what} block unpacks to more than ${this.maxBytes} bytes and was not read.`,
      );
    }
    return joined(parts, size);
  }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Bytes of a block named `what`. Rejects with DataError for bad base64, bad gzip and over `maxBytes`. */
export function unpack(
  text: string,
  what: string,
  maxBytes = MAX_BLOCK_BYTES,
): Promise<Uint8Array> {
  const unpacker = new Unpacker(what, maxBytes);
  unpacker.push(text);
  return unpacker.end();
}
