// The worker: the text of a block in, model out.

import { buffersOf, type Packed, type Prepared, prepare } from "./prepare";

/** The scope of a worker, of which the types of pages know nothing. */
interface Scope {
  onmessage: ((event: MessageEvent<Packed>) => void) | null;
  postMessage(message: Prepared, transfer: ArrayBuffer[]): void;
}
const scope = self as unknown as Scope;

scope.onmessage = async ({ data }) => {
  try {
    const model = await prepare(data);
    scope.postMessage({ kind: "model", model }, buffersOf(model));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    scope.postMessage({ kind: "failed", message }, []);
  }
};
