// Decides which boxes get text and how much of it fits.

import type { Run } from "./raster";

export const MOST_LABELS = 700;

/** The widest runs, at most `MOST_LABELS`. */
export function labelled(runs: readonly Run[]): Run[] {
  if (runs.length <= MOST_LABELS) return [...runs];
  return [...runs].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, MOST_LABELS);
}

/** What of `text` fits into `pixels` in a font of fixed width; "" when not even three letters do. */
export function clip(text: string, pixels: number, charWidth: number): string {
  const room = Math.floor(pixels / charWidth);
  if (room < 3) return "";
  // Cut a long name before it is split into characters: only the first few can be seen.
  const letters = Array.from(text.slice(0, 2 * room + 2));
  if (letters.length <= room) return letters.join("");
  return `${letters.slice(0, room - 1).join("")}…`;
}
