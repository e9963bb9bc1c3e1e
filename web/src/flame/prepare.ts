// What is computed of a flame graph before it can be drawn: in a worker where the browser allows one, else here.
//
// A page that was opened from disk may be refused a worker; the answer is the same, only the page stands still
// for the moment that it takes.

import { unpack } from "../data/block";
import { decodeFlame } from "../data/flame";
import { buildModel, type FlameModel } from "./model";

/** Smaller graphs, as text, are done before a worker has started. */
const SMALL_TEXT = 150_000;
/** A worker that has not answered by then never will. */
const PATIENCE_MS = 20_000;

export type Prepared =
  | { readonly kind: "model"; readonly model: FlameModel }
  | { readonly kind: "failed"; readonly message: string };

/** The text of a block, as it is in the file, and how messages call it. */
export interface Packed {
  readonly text: string;
  readonly what: string;
}

/** Whether it takes so long that it is worth a worker. */
export function isLarge(packed: Packed): boolean {
  return packed.text.length >= SMALL_TEXT;
}

export async function prepare({ text, what }: Packed): Promise<FlameModel> {
  return buildModel(decodeFlame(await unpack(text, what)));
}

/** The model of a block. Rejects with what is wrong with it. */
export async function prepareAside(
  packed: Packed,
  start: () => Worker | null,
): Promise<FlameModel> {
  const worker = isLarge(packed) ? start() : null;
  if (!worker) return prepare(packed);
  try {
    const answer = await ask(worker, packed);
    if (answer?.kind === "model") return answer.model;
    if (answer?.kind === "failed") throw new Error(answer.message);
    return await prepare(packed);
  } finally {
    worker.terminate();
  }
}

/** What the worker answers; null where it cannot work. */
function ask(worker: Worker, packed: Packed): Promise<Prepared | null> {
  return new Promise((done) => {
    const late = setTimeout(() => done(null), PATIENCE_MS);
    const end = (answer: Prepared | null) => {
      clearTimeout(late);
      done(answer);
    };
    worker.onmessage = (event: MessageEvent<Prepared>) => end(event.data);
    worker.onerror = () => end(null);
    worker.onmessageerror = () => end(null);
    worker.postMessage(packed);
  });
}

/** The buffers of a model, which go over to the page without being copied. */
export function buffersOf(model: FlameModel): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (value: unknown) => {
    if (ArrayBuffer.isView(value)) {
      if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
    } else if (Array.isArray(value)) {
      // Lists of texts are long and hold no buffers.
      if (typeof value[0] === "object") value.forEach(visit);
    } else if (typeof value === "object" && value !== null) {
      Object.values(value).forEach(visit);
    }
  };
  visit(model);
  return [...found];
}
