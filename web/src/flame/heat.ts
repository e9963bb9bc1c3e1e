// How busy each small part of each second was: periodic work, such as a transaction group every few seconds, is a
// pattern here that a curve does not show.

import type { FlameData } from "../data/flame";
import type { SampleData } from "../data/samples";

/** Parts of a second; 40 ms are longer than the pause between samples at the usual rates. */
export const PARTS = 25;
/** More seconds would be columns narrower than a pixel, fewer no pattern. */
const [FEWEST_SECONDS, MOST_SECONDS] = [3, 900];

export interface Heat {
  readonly seconds: number;
  /** Amount in each part: `second * PARTS + part`. */
  readonly amount: Float64Array;
  readonly most: number;
}

/** Sums of all samples that are not idle; null for recordings that are too short or too long. */
export function heat(data: FlameData, samples: SampleData, duration: number): Heat | null {
  const seconds = Math.ceil(duration);
  if (seconds < FEWEST_SECONDS || seconds > MOST_SECONDS) return null;
  const idle = data.stages.indexOf("idle");
  const amount = new Float64Array(seconds * PARTS);
  let most = 0;
  for (let i = 0; i < samples.rows; i++) {
    if (data.stage[samples.node[i]] === idle) continue;
    const cell = Math.floor(samples.time[i] * PARTS);
    if (cell >= amount.length) continue;
    amount[cell] += samples.amount[i];
    if (amount[cell] > most) most = amount[cell];
  }
  return most > 0 ? { seconds, amount, most } : null;
}
