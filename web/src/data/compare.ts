// The comparison of two profiles: whether a change helped, and what changed by stage, thread and function.

import { type Fields, fields, list, number, parse, text } from "./extras";

export interface Delta {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly change: number;
  readonly low: number;
  readonly high: number;
  /** At most 5 % of the rows marked so are expected to be chance. */
  readonly real: boolean;
}

export interface FindingRow {
  readonly title: string;
  readonly state: string;
  readonly before: string;
  readonly after: string;
  readonly shareBefore: number | null;
  readonly shareAfter: number | null;
  readonly real: boolean;
}

export interface CostRow {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly ratio: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface SettingRow {
  readonly of: string;
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface CompareData {
  readonly outcome: string;
  readonly verdict: string;
  /** What changed most, whatever it means. */
  readonly most: string;
  readonly names: readonly [string, string];
  readonly findings: readonly FindingRow[];
  readonly costs: readonly CostRow[];
  readonly settings: readonly SettingRow[];
  readonly doubts: readonly string[];
  readonly promise: string;
  readonly note: string;
  readonly normalised: string;
  readonly stages: readonly Delta[];
  readonly threads: readonly Delta[];
  readonly functions: readonly Delta[];
}

function delta(value: unknown): Delta {
  const d = fields(value);
  const change = fields(d.change);
  return {
    name: text(d.name),
    before: number(fields(d.share_a).value) ?? 0,
    after: number(fields(d.share_b).value) ?? 0,
    change: number(change.value) ?? 0,
    low: number(change.low) ?? 0,
    high: number(change.high) ?? 0,
    real: d.real === true,
  };
}

function seen(value: unknown): string {
  const { confidence, confidence_word } = fields(value);
  const sure = number(confidence);
  return sure === null ? "–" : `${text(confidence_word)} (${sure.toFixed(2)})`;
}

function finding(value: unknown): FindingRow {
  const f = fields(value);
  return {
    title: text(f.title),
    state: text(f.state),
    before: seen(f.before),
    after: seen(f.after),
    shareBefore: number(fields(f.share_before).value),
    shareAfter: number(fields(f.share_after).value),
    real: fields(f.change).real === true,
  };
}

function cost(name: string, value: unknown): CostRow | null {
  const times = fields(value);
  const [before, after] = [number(times.before), number(times.after)];
  if (before === null || after === null) return null;
  const [ratio, low, high] = [number(times.ratio), number(times.low), number(times.high)];
  return { name, before, after, ratio, low, high };
}

function costs(after: Fields): CostRow[] {
  const [all, work] = [fields(after.cost), fields(after.work)];
  const unit = work.unit === "operations" ? "1,000 operations" : "GB";
  const rows = [
    cost(`CPU seconds for each ${unit}`, all.cpu_s_per_unit),
    cost("of which in ZFS", all.zfs_cpu_s_per_unit),
    cost("CPUs busy", all.cpus),
    cost("of which in ZFS", all.zfs_cpus),
  ];
  return rows.filter((row) => row !== null);
}

export function readCompare(bytes: Uint8Array): CompareData {
  const all = fields(parse(bytes, "comparison"));
  const [after, diff] = [fields(all.after), fields(all.diff)];
  return {
    outcome: text(after.outcome),
    verdict: text(after.verdict),
    most: text(all.verdict_of_change),
    names: [text(fields(after.before).name), text(fields(after.after).name)],
    findings: list(after.findings).map(finding),
    costs: costs(after),
    settings: list(after.settings).map((value) => {
      const s = fields(value);
      const or = (v: unknown) => text(v) || "–";
      return {
        of: text(s.of) || text(s.kind),
        name: text(s.name),
        before: or(s.before),
        after: or(s.after),
      };
    }),
    doubts: list(after.doubts).map((doubt) => text(fields(doubt).text)),
    promise: text(fields(after.promise).text),
    note: text(after.note),
    normalised: text(diff.normalised),
    stages: list(diff.stages).map(delta),
    threads: list(diff.threads).map(delta),
    functions: list(diff.functions).map(delta),
  };
}
