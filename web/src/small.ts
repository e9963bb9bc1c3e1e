// Rows that are too small for a table are told together.

/** Rows below this share are not listed. */
const SMALL = 0.001;

export interface Folded<T> {
  readonly shown: readonly T[];
  readonly small: number;
  /** Their shares together. */
  readonly sum: number;
}

/** The rows to list, and how many are below 0.1 %; nothing is small where no row has a share. */
export function fold<T>(rows: readonly T[], share: (row: T) => number): Folded<T> {
  const shown = rows.filter((row) => share(row) >= SMALL);
  if (shown.length === 0) return { shown: rows, small: 0, sum: 0 };
  const sum = rows.reduce((all, row) => all + (share(row) < SMALL ? share(row) : 0), 0);
  return { shown, small: rows.length - shown.length, sum };
}

/** `and 4 more stages, each below 0.1 %, together 0.2 %`; "" where there are none. */
export function foldedText(folded: Folded<unknown>, one: string, several: string): string {
  if (folded.small === 0) return "";
  if (folded.small === 1) return `and 1 more ${one}, below 0.1\u00a0%`;
  const sum = folded.sum < SMALL / 2 ? "" : `, together ${(folded.sum * 100).toFixed(1)}\u00a0%`;
  return `and ${folded.small} more ${several}, each below 0.1\u00a0%${sum}`;
}
