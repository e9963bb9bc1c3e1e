// The worker: unpacked bytes in, model out.

import { buffersOf, type Prepared, prepare } from "./prepare";

/** The scope of a worker, of which the types of pages know nothing. */
interface Scope {
  onmessage: ((event: MessageEvent<Uint8Array>) => void) | null;
  postMessage(message: Prepared, transfer: ArrayBuffer[]): void;
}
const scope = self as unknown as Scope;

scope.onmessage = ({ data }) => {
  try {
    const model = prepare(data);
    scope.postMessage({ kind: "model", model }, buffersOf(model));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    scope.postMessage({ kind: "failed", message }, []);
  }
};
