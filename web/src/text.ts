// Turns numbers and host strings into text that is safe and honest to show.
//
// Names come from strangers. `visible` makes control and direction characters readable, so that a
// name can neither hide, reorder nor break the text around it; the page only uses text nodes.

import type { WholeAnswer } from "./data/answer";

// C0, C1, soft hyphen, zero-width and direction marks, line separators, byte order mark, tags.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to show
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** The name with each hidden character as `\u{…}`; `most` bounds its length in UTF-16 units. */
export function visible(name: string, most = Number.POSITIVE_INFINITY): string {
  const cut = name.length > most ? name.slice(0, most) : name;
  const shown = cut.replace(HIDDEN, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
  return cut.length < name.length ? `${shown}… (${integer(name.length)} characters)` : shown;
}

/** As `visible`, of a thread that ended before anybody read its name, too. */
export function threadName(name: string, most: number): string {
  return visible(name, most) || "(unnamed)";
}

const LONGEST_PROSE = 4000;

/** A text as one line: as `visible`, with line breaks as blanks, and not without end. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, " ").trim(), LONGEST_PROSE);
}

/** Prose of the answer: one line in which a number and its unit stay together. */
export function prose(text: string): string {
  return oneLine(text).replace(/(\d) (?=(?:%|[kKMGT]i?B|[µmn]?s|[MG]?Hz)(?!\w))/g, "$1\u00a0");
}

/** 1234567 → "1,234,567". Browsers load their tables of languages when first asked, which takes as long as a graph. */
export function integer(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A fraction as a share with one decimal: 0.631 → "63.1 %"; tiny but real ones as "< 0.1 %". */
export function percent(fraction: number): string {
  const shown = fraction * 100;
  if (!Number.isFinite(shown)) return "–";
  if (shown > 0 && shown < 0.05) return "< 0.1\u00a0%";
  return `${shown.toFixed(1)}\u00a0%`;
}

/** A signed change of a share, in points: 0.031 → "+3.1". What rounds to nothing has no direction. */
export function signed(change: number): string {
  const shown = Math.abs(change * 100).toFixed(1);
  return (Number(shown) === 0 ? "±" : change > 0 ? "+" : "\u2212") + shown;
}

/** The same with its unit: 0.031 → "+3.1 points". */
export function points(change: number): string {
  return `${signed(change)} points`;
}

export function range(low: number, high: number): string {
  return `${(low * 100).toFixed(1)}–${(high * 100).toFixed(1)}`;
}

/** A bound with its interval: "2.7x (2.5–3.0)"; without a width, "1.20x". */
export function times(most: number, low: number, high: number | null): string {
  if (high === null) return `${most.toFixed(1)}x (${low.toFixed(1)} or more)`;
  if (high - low < 0.05) return `${most.toFixed(2)}x`;
  return `${most.toFixed(1)}x (${low.toFixed(1)}–${high.toFixed(1)})`;
}

export function seconds(value: number): string {
  if (value >= 100) return `${integer(value)} s`;
  return `${value.toFixed(value >= 10 ? 1 : 2)} s`;
}

/** What all shares are of, said once. */
export function wholeText(whole: WholeAnswer): string {
  const time = whole.cpu_s === null ? "" : seconds(whole.cpu_s) + (whole.idle ? " of it busy" : "");
  const cpus = whole.what.includes("host") ? "its CPUs" : "the CPUs of this host";
  const part = ((whole.of_host ?? 0) * 100).toFixed((whole.of_host ?? 0) < 0.1 ? 1 : 0);
  const host = whole.of_host === null ? "" : `${part}\u00a0% of all that ${cpus} had`;
  const parts = [time, host].filter((part) => part !== "").join(", ");
  return `Shares are of ${prose(whole.what)}${parts === "" ? "" : `: ${parts}`}.`;
}

/** Bytes in units of 1024: 31.2M, as zfs prints them. */
export function bytes(value: number): string {
  const units = ["", "K", "M", "G", "T", "P"];
  let [left, unit] = [value, 0];
  while (left >= 1024 && unit < units.length - 1) [left, unit] = [left / 1024, unit + 1];
  return `${left.toFixed(unit === 0 || left >= 100 ? 0 : 1)}${units[unit]}`;
}

/** What was sampled: `1,234 samples`, `14.7 s in 1,472 samples`. */
export function sampled(amount: number, unit: string, samples: number | null): string {
  if (unit === "samples" || unit === "") return weight(amount, "samples");
  const count = samples === null ? "an unknown number of samples" : counted(samples, "samples");
  return `${weight(amount, unit)} in ${count}`;
}

/** A weight with its unit: nanoseconds read better as seconds. */
export function weight(value: number, unit: string): string {
  if (unit === "ns" || unit === "nanoseconds") return seconds(value / 1e9);
  return counted(value, unit);
}

/** A number of things whose name is plural: `1,234 samples`, `1 sample`. */
export function counted(value: number, things: string): string {
  const name = visible(things, 40);
  return `${integer(value)} ${Math.round(value) === 1 ? name.replace(/s$/, "") : name}`;
}
