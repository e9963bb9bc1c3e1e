// The list of inputs, of a file that holds several.

import { DataError } from "./error";
import { fields, list, parse, text } from "./extras";

/** One of the inputs that the file holds. */
export interface Listed {
  readonly name: string;
  /** The first line of its answer. */
  readonly why: string;
}

/** Throws DataError where the block is no list. */
export function readInputs(bytes: Uint8Array): readonly Listed[] {
  const value = parse(bytes, "list of inputs");
  if (!Array.isArray(value))
    throw new DataError("The list of inputs is none; the file was changed.");
  return list(value).map((one) => ({ name: text(fields(one).name), why: text(fields(one).why) }));
}
