// Unpacks a data block of the page: base64 text around a gzip stream.
//
// The unpacked size is bounded, so that a hostile block cannot take all memory.

import { DataError } from "./error";

export const MAX_BLOCK_BYTES = 1 << 30;

/** Newer browsers decode at once what otherwise takes a step for each byte. */
const NATIVE = Uint8Array as unknown as {
  readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
};

function fromBase64(text: string, what: string): Uint8Array<ArrayBuffer> {
  try {
    if (NATIVE.fromBase64) return NATIVE.fromBase64(text.trim());
    const binary = atob(text.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  } catch {
    throw new DataError(`The ${what} block is not base64 text; the file was changed or cut.`);
  }
}

/** Bytes of a block named `what`. Throws DataError for bad base64, bad gzip and over `maxBytes`. */
export async function unpack(
  text: string,
  what: string,
  maxBytes = MAX_BLOCK_BYTES,
): Promise<Uint8Array> {
  const packed = fromBase64(text, what);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > maxBytes) break;
      parts.push(value);
    }
  } catch {
    throw new DataError(
      `The ${what} block is not a whole gzip stream (${packed.length} bytes, ${size} unpacked); the file was changed or cut.`,
    );
  }
  if (size > maxBytes) {
    await reader.cancel();
    throw new DataError(
      `The ${what} block unpacks to more than ${maxBytes} bytes and was not read.`,
    );
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
