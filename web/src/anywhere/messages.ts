// What the page and its worker tell each other.

/** To the worker, once and first: be ready with this engine. */
export interface Engine {
  readonly kind: "engine";
  readonly engine: WebAssembly.Module;
}

/** To the worker: explain this. */
export interface Task {
  readonly kind: "task";
  readonly name: string;
  readonly input: Blob;
  /** Replace names before anything is computed. */
  readonly redact: boolean;
}

/** What is being done: bytes of the input taken so far, then the steps of the engine. */
export type Told =
  | { readonly kind: "taken"; readonly bytes: number }
  | { readonly kind: "step"; readonly step: number }
  | { readonly kind: "done"; readonly json: Blob; readonly page: Blob }
  | { readonly kind: "failed"; readonly why: string };
