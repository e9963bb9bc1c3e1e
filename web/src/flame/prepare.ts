// What is computed of a flame graph before it can be drawn: in a worker where the browser allows one, else here.
//
// A page that was opened from disk may be refused a worker; the answer is the same, only the page stands still
// for the moment that it takes.

import { Unpacker, unpack } from "../data/block";
import { decodeFlame } from "../data/flame";
import { buildModel, type FlameModel } from "./model";

/** Smaller graphs, as text, are done before a worker has started. */
export const SMALL_TEXT = 150_000;
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

/** A part of such a text, in its order. */
export interface Piece extends Packed {
  readonly last: boolean;
}

/** Whether it takes so long that it is worth a worker. */
export function isLarge(packed: Packed): boolean {
  return packed.text.length >= SMALL_TEXT;
}

export async function prepare({ text, what }: Packed): Promise<FlameModel> {
  return buildModel(decodeFlame(await unpack(text, what)));
}

/** A worker that prepares one graph, and begins before all of its text is there. */
export class Aside {
  private given = 0;
  constructor(
    private readonly worker: Worker,
    private readonly what: string,
  ) {}

  /** How much of the text the worker has. */
  get has(): number {
    return this.given;
  }

  give(text: string, last = false): void {
    this.given += text.length;
    this.worker.postMessage({ text, what: this.what, last } satisfies Piece);
  }

  /** What the worker answers when it has all of the text; null where it cannot work. */
  async finish(text: string): Promise<Prepared | null> {
    const { worker } = this;
    const answer = await new Promise<Prepared | null>((done) => {
      const late = setTimeout(() => done(null), PATIENCE_MS);
      const end = (prepared: Prepared | null) => {
        clearTimeout(late);
        done(prepared);
      };
      worker.onmessage = ({ data }: MessageEvent<Prepared>) => end(data);
      worker.onerror = () => end(null);
      worker.onmessageerror = () => end(null);
      this.give(text.slice(this.given), true);
    });
    worker.terminate();
    return answer;
  }
}

/** The model of a block. Rejects with what is wrong with it. */
export async function prepareAside(packed: Packed, start: () => Aside | null): Promise<FlameModel> {
  const aside = isLarge(packed) ? start() : null;
  const answer = aside && (await aside.finish(packed.text));
  if (answer?.kind === "model") return answer.model;
  if (answer?.kind === "failed") throw new Error(answer.message);
  return prepare(packed);
}

/** What of the page a worker answers. */
export interface Scope {
  onmessage: ((event: MessageEvent<Piece>) => void) | null;
  postMessage(message: Prepared, transfer: ArrayBuffer[]): void;
}

/** The worker's side: the text of a block in, in pieces, and its model out. */
export function serve(scope: Scope): void {
  let unpacker: Unpacker | null = null;
  scope.onmessage = async ({ data: given }) => {
    unpacker ??= new Unpacker(given.what);
    unpacker.push(given.text);
    if (!given.last) return;
    try {
      const model = buildModel(decodeFlame(await unpacker.end()));
      scope.postMessage({ kind: "model", model }, buffersOf(model));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      scope.postMessage({ kind: "failed", message }, []);
    }
  };
}

/** The buffers of what is answered, which go over to the page without being copied. */
export function buffersOf(all: FlameModel): ArrayBuffer[] {
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
  visit(all);
  return [...found];
}
