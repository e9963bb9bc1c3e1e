// The engine (crates/browser) as functions: its side of the calls is crates/browser/src/abi.rs.

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly zwhy_room: (bytes: number) => number;
  readonly zwhy_prepare: () => void;
  readonly zwhy_explain: (
    name: number,
    nameLength: number,
    input: number,
    inputLength: number,
    redact: number,
  ) => number;
  readonly zwhy_result: (which: number) => number;
  readonly zwhy_result_len: (which: number) => number;
}

/** Why the engine has no answer, in its words. */
export class Refused extends Error {}

export interface Explained {
  /** As `zwhy explain --json` prints it, in UTF-8. */
  readonly json: Uint8Array<ArrayBuffer>;
  /** As `zwhy report` writes it. */
  readonly page: Uint8Array<ArrayBuffer>;
}

export interface Input {
  readonly name: string;
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly redact: boolean;
}

const [JSON_TEXT, PAGE] = [0, 1];
/** A place and a length must fit into 32 bits, and what is made of the input into the rest. */
export const MOST_BYTES = 1 << 30;

function result(exports: Exports, which: number): Uint8Array<ArrayBuffer> {
  const at = exports.zwhy_result(which) >>> 0;
  return new Uint8Array(exports.memory.buffer, at, exports.zwhy_result_len(which) >>> 0).slice();
}

/** Room in the engine with the pieces in it, one after the other. */
async function filled(exports: Exports, { bytes, pieces }: Input, taken: (bytes: number) => void) {
  const at = exports.zwhy_room(bytes) >>> 0;
  let end = 0;
  for await (const piece of pieces) {
    if (end + piece.length > bytes) throw new Refused("the file changed while it was read");
    new Uint8Array(exports.memory.buffer).set(piece, at + end);
    end += piece.length;
    taken(end);
  }
  if (end < bytes) throw new Refused("the file changed while it was read");
  return at;
}

/** What a call that ended in the middle left behind: why it failed, if it came to say so. */
function failure(exports: Exports, error: unknown): Refused {
  const why = new TextDecoder().decode(result(exports, JSON_TEXT));
  const what = why || `the memory of the page was not enough (${String(error)})`;
  return new Refused(`zwhy failed on this input: ${what}; the program may read it`);
}

/** What the engine is given to call. A library brings names that only a page of wasm-bindgen would have; nothing calls them. */
function imports(engine: WebAssembly.Module, step: (step: number) => void): WebAssembly.Imports {
  const given: Record<string, Record<string, () => never>> = {};
  for (const { module, name } of WebAssembly.Module.imports(engine)) {
    given[module] ??= {};
    given[module][name] = () => {
      throw new Error(`the engine calls ${name}`);
    };
  }
  return { ...given, page: { step } };
}

/** An engine that is ready for one input: one is made for each, so that its memory is given back. */
export interface Ready {
  explain(input: Input, taken: (bytes: number) => void): Promise<Explained>;
}

/** Makes an engine and has it read its knowledge; `step` is told what it does with the input. */
export async function prepare(
  engine: WebAssembly.Module,
  step: (step: number) => void,
): Promise<Ready> {
  const instance = await WebAssembly.instantiate(engine, imports(engine, step));
  const exports = instance.exports as unknown as Exports;
  exports.zwhy_prepare();
  return { explain: (input, taken) => explain(exports, input, taken) };
}

async function explain(
  exports: Exports,
  input: Input,
  taken: (bytes: number) => void,
): Promise<Explained> {
  const name = new TextEncoder().encode(input.name);
  const nameAt = exports.zwhy_room(name.length) >>> 0;
  new Uint8Array(exports.memory.buffer).set(name, nameAt);
  const at = await filled(exports, input, taken);
  let answered = 0;
  try {
    answered = exports.zwhy_explain(nameAt, name.length, at, input.bytes, input.redact ? 1 : 0);
  } catch (error) {
    throw failure(exports, error);
  }
  if (answered === 0) throw new Refused(new TextDecoder().decode(result(exports, JSON_TEXT)));
  return { json: result(exports, JSON_TEXT), page: result(exports, PAGE) };
}
