// The error for data that cannot be read: says which part, what was found and what was expected.

export class DataError extends Error {
  override name = "DataError";
}
