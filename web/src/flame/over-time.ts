// CPU by stage over time: how much of each stage lies in each of many equal pieces of the recording.

import type { FlameData } from "../data/flame";
import type { SampleData } from "../data/samples";

export interface OverTime {
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  /** Amount of each stage in each bin: `stage * bins + bin`. */
  readonly amount: Float64Array;
  /** Amount of each bin. */
  readonly sums: Float64Array;
  readonly most: number;
}

/** Sums samples of `from`..`to` seconds into `bins` pieces. */
export function overTime(
  data: FlameData,
  samples: SampleData,
  from: number,
  to: number,
  bins: number,
): OverTime {
  const amount = new Float64Array(data.stages.length * bins);
  const sums = new Float64Array(bins);
  const scale = bins / Math.max(1e-9, to - from);
  for (let i = 0; i < samples.rows; i++) {
    const bin = Math.min(bins - 1, Math.max(0, Math.floor((samples.time[i] - from) * scale)));
    amount[data.stage[samples.node[i]] * bins + bin] += samples.amount[i];
    sums[bin] += samples.amount[i];
  }
  return { from, to, bins, amount, sums, most: sums.reduce((a, b) => Math.max(a, b), 0) };
}
