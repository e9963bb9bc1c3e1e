// What is computed of a flame graph before it can be drawn: in a worker where the browser allows one, else here.
//
// A page that was opened from disk may be refused a worker; the answer is the same, only the page stands still
// for the moment that it takes.

import { decodeFlame } from "../data/flame";
import { buildModel, type FlameModel } from "./model";

/** Smaller graphs are done before a worker has started. */
const SMALL_BYTES = 400_000;
/** A worker that has not answered by then never will. */
const PATIENCE_MS = 20_000;

export type Prepared =
  | { readonly kind: "model"; readonly model: FlameModel }
  | { readonly kind: "failed"; readonly message: string };

export function prepare(bytes: Uint8Array): FlameModel {
  return buildModel(decodeFlame(bytes));
}

/** The model of unpacked block bytes. Rejects with what is wrong with them. */
export async function prepareAside(
  bytes: Uint8Array,
  start: () => Worker | null,
): Promise<FlameModel> {
  const worker = bytes.length < SMALL_BYTES ? null : start();
  if (!worker) return prepare(bytes);
  try {
    const answer = await ask(worker, bytes);
    if (answer?.kind === "model") return answer.model;
    if (answer?.kind === "failed") throw new Error(answer.message);
    return prepare(bytes);
  } finally {
    worker.terminate();
  }
}

/** What the worker answers; null where it cannot work. */
function ask(worker: Worker, bytes: Uint8Array): Promise<Prepared | null> {
  return new Promise((done) => {
    const late = setTimeout(() => done(null), PATIENCE_MS);
    const end = (answer: Prepared | null) => {
      clearTimeout(late);
      done(answer);
    };
    worker.onmessage = (event: MessageEvent<Prepared>) => end(event.data);
    worker.onerror = () => end(null);
    worker.onmessageerror = () => end(null);
    // A copy goes over: the bytes stay here for the case that it does not answer.
    worker.postMessage(bytes);
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
