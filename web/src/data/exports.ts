// What is shown, for other programs: folded stacks, speedscope, pprof, CSV, SVG, and a finding as Markdown.
//
// Names come from strangers: each format gets them in a form in which they are a name and nothing else.

import { describe, nameOf } from "../flame/describe";
import { sumByFunction } from "../flame/functions";
import { clip } from "../flame/labels";
import { firstAbove } from "../flame/layout";
import { isLit } from "../flame/lit";
import { type FlameModel, shareOf } from "../flame/model";
import { pathTo } from "../flame/navigate";
import { cssOf } from "../flame/palette";
import type { Paint, View } from "../flame/raster";
import { ownWeight } from "../flame/tree";
import { oneLine, percent, visible } from "../text";
import type { Finding } from "./answer";
import type { CompareData } from "./compare";

const LONGEST = 10_000;

/** The weights of a graph: one profile's, or those of two beside each other, by name. */
function sidesOf({ data, weight }: FlameModel): [string, Float64Array][] {
  const { value, second } = data;
  return second
    ? [
        ["before", value],
        ["after", second.value],
      ]
    : [["", weight]];
}

/** Nodes that samples end in, with their weights in each profile. */
function leaves(m: FlameModel): [number, number[]][] {
  const found: [number, number[]][] = [];
  const own = sidesOf(m).map(([, value]) => ownWeight(m.tree, value));
  for (let i = 0; i < m.data.nodes; i++) {
    const weights = own.map((side) => side[i]);
    if (weights.some((weight) => weight > 0)) found.push([i, weights]);
  }
  return found;
}

/** `a;b;c 12`, or `a;b;c 12 15` of two profiles, a line for each stack; a semicolon in a name would be another frame. */
export function foldedOf(m: FlameModel): string {
  const lines = leaves(m).map(([node, weights]) => {
    const names = pathTo(m.tree, node).slice(1);
    const frames = names.map((one) => nameOf(m, one, LONGEST).replaceAll(";", ":"));
    return `${frames.join(";") || "all"} ${weights.join(" ")}`;
  });
  return `${lines.join("\n")}\n`;
}

/** The file format of speedscope.app, with a sampled profile of each side. */
export function speedscopeOf(m: FlameModel, name: string): string {
  const all = leaves(m);
  return JSON.stringify({
    $schema: "https://www.speedscope.app/file-format-schema.json",
    exporter: "zwhy",
    name,
    shared: { frames: m.data.labels.map((label) => ({ name: visible(label, LONGEST) })) },
    profiles: sidesOf(m).map(([side], k) => {
      const stacks = all.filter(([, weights]) => weights[k] > 0);
      return {
        type: "sampled",
        name: side || name,
        unit: m.data.unit === "nanoseconds" ? "nanoseconds" : "none",
        startValue: 0,
        endValue: stacks.reduce((sum, [, weights]) => sum + weights[k], 0),
        samples: stacks.map(([node]) =>
          pathTo(m.tree, node)
            .slice(1)
            .map((one) => m.data.label[one]),
        ),
        weights: stacks.map(([, weights]) => weights[k]),
      };
    }),
  });
}

/** A cell that no spreadsheet takes for a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

const SUMS = ["self", "total", "self_share", "total_share"];

/** Functions with their own and total weight, of two profiles those of both. */
export function functionsCsv(m: FlameModel): string {
  const { label, labels, moduleOf, modules } = m.data;
  const sides = sidesOf(m).map(([name, value]) => {
    const sums = sumByFunction(m.tree, label, labels.length, value, ownWeight(m.tree, value));
    return {
      ...sums,
      all: value[0] || 1,
      head: SUMS.map((one) => (name ? `${name}_${one}` : one)),
    };
  });
  const sum = (of: "own" | "total", at: number) =>
    sides.reduce((all, side) => all + side[of][at] / side.all, 0);
  const rows = [...labels.keys()]
    .filter((at) => sum("total", at) > 0)
    .sort((a, b) => sum("own", b) - sum("own", a) || sum("total", b) - sum("total", a))
    .map((at) =>
      [
        cell(visible(labels[at], LONGEST)),
        cell(visible(modules[moduleOf[at]], LONGEST)),
        ...sides.flatMap(({ own, total, all }) => [
          own[at],
          total[at],
          (own[at] / all).toFixed(6),
          (total[at] / all).toFixed(6),
        ]),
      ].join(","),
    );
  const head = ["function", "module", ...sides.flatMap((side) => side.head)];
  return `${[head, ...rows].join("\r\n")}\r\n`;
}

class Proto {
  readonly bytes: number[] = [];
  number(field: number, value: number): this {
    if (value === 0) return this;
    this.varint(field * 8);
    this.varint(value);
    return this;
  }
  inside(field: number, bytes: readonly number[] | Uint8Array): this {
    this.varint(field * 8 + 2);
    this.varint(bytes.length);
    for (const byte of bytes) this.bytes.push(byte);
    return this;
  }
  packed(field: number, values: readonly number[]): this {
    const inner = new Proto();
    for (const value of values) inner.varint(value);
    return this.inside(field, inner.bytes);
  }
  private varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.bytes.push((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    this.bytes.push(rest);
  }
}

/** perftools.profiles.Profile of pprof's profile.proto, not compressed. */
export function pprofOf(m: FlameModel): Uint8Array<ArrayBuffer> {
  const strings = ["", "samples", "count", m.data.unit];
  const known = new Map(strings.map((text, i) => [text, i]));
  const string = (text: string): number => {
    const at = known.get(text);
    if (at !== undefined) return at;
    known.set(text, strings.length);
    return strings.push(text) - 1;
  };
  const unit = m.data.unit === "samples" ? "count" : m.data.unit;
  const out = new Proto();
  for (const [side] of sidesOf(m)) {
    out.inside(
      1,
      new Proto().number(1, string(side || m.data.event)).number(2, string(unit)).bytes,
    );
  }
  for (const [node, weights] of leaves(m)) {
    const places = pathTo(m.tree, node)
      .slice(1)
      .reverse()
      .map((one) => m.data.label[one] + 1);
    out.inside(2, new Proto().packed(1, places).packed(2, weights).bytes);
  }
  m.data.labels.forEach((label, i) => {
    const line = new Proto().number(1, i + 1).bytes;
    out.inside(4, new Proto().number(1, i + 1).inside(4, line).bytes);
    const name = string(visible(label, LONGEST));
    out.inside(
      5,
      new Proto()
        .number(1, i + 1)
        .number(2, name)
        .number(3, name).bytes,
    );
  });
  const encoder = new TextEncoder();
  for (const text of strings) out.inside(6, encoder.encode(text));
  return Uint8Array.from(out.bytes);
}

function markup(text: string): string {
  const named: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (found) => named[found]);
}

const [ROW, ADVANCE] = [17, 7.25];

/** The part of the graph that is in view, as a picture of its own. */
export function svgOf(
  m: FlameModel,
  view: View,
  paint: Paint,
  depth: number,
  icicle: boolean,
  width: number,
): string {
  const scale = width / Math.max(Number.MIN_VALUE, view.x1 - view.x0);
  const out: string[] = [];
  for (let level = 0; level < depth; level++) {
    const row = m.layout.levels[level];
    const y = (icicle ? level : depth - 1 - level) * ROW;
    let k = firstAbove(row.x1, 0, row.count, view.x0);
    for (; k < row.count && row.x0[k] < view.x1; k++) {
      const from = Math.max(0, (row.x0[k] - view.x0) * scale);
      const to = Math.min(width, (row.x1[k] - view.x0) * scale);
      if (to - from < 0.5) continue;
      const node = row.node[k];
      const name = nameOf(m, node);
      const lit = isLit(paint.lit, node);
      const fill = cssOf((lit ? paint.colour : paint.dimmed)[paint.entry(node)]);
      const share = m.comparison
        ? describe(m, node).facts.flat().join(" ")
        : `${(shareOf(m, m.weight[node]) * 100).toFixed(2)} %`;
      const text = clip(name, to - from - 6, ADVANCE);
      out.push(
        `<g><title>${markup(name)} (${share})</title>` +
          `<rect x="${from.toFixed(2)}" y="${y}" width="${(to - from).toFixed(2)}" height="16" fill="${fill}"/>` +
          (text === ""
            ? ""
            : `<text x="${(from + 3).toFixed(2)}" y="${y + 12}">${markup(text)}</text>`) +
          "</g>",
      );
    }
  }
  const height = depth * ROW;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
    `font-family="ui-monospace,DejaVu Sans Mono,monospace" font-size="12" fill="#111">\n${out.join("\n")}\n</svg>\n`
  );
}

/** Names and prose of a finding, so that no letter of them is markup. */
function plain(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>#|~]/g, "\\$&");
}

/** A finding for an issue thread. */
export function findingMarkdown(finding: Finding): string {
  const lines = [`### ${plain(finding.title)}`, ""];
  const share = finding.share ? `${(finding.share.value * 100).toFixed(1)} %, ` : "";
  lines.push(
    `${share}confidence ${finding.confidence_word} (${finding.confidence.toFixed(2)})`,
    "",
  );
  if (finding.explanation !== "") lines.push(plain(finding.explanation), "");
  for (const line of finding.evidence) lines.push(`- ${plain(line.claim)} ${plain(line.measure)}`);
  for (const line of finding.against) lines.push(`- against it: ${plain(line.claim)}`);
  lines.push("", plain(finding.remedy.text), "");
  const commands = finding.remedy.commands.flatMap((one) => one.split("\n"));
  if (commands.length > 0) {
    lines.push(
      "```sh",
      ...commands.map((line) => visible(line).replaceAll("```", "'''")),
      "```",
      "",
    );
  }
  if (finding.remedy.risk !== "") lines.push(`Risk: ${plain(finding.remedy.risk)}`, "");
  if (finding.remedy.undo_note !== "") lines.push(`Undo: ${plain(finding.remedy.undo_note)}`, "");
  return lines.join("\n");
}

/** What a comparison says, for an issue thread. */
export function compareMarkdown(data: CompareData): string {
  const findings = data.findings.map(({ title, state, shareBefore, shareAfter }) => {
    const shares = [shareBefore, shareAfter].map((share) => percent(share ?? 0)).join(" → ");
    return `- ${plain(title)}: ${plain(state)}, ${shares}`;
  });
  const changed = [...data.stages, ...data.functions].filter((row) => row.real);
  return [
    `### ${plain(data.verdict || data.most)}`,
    "",
    `${data.names.map(plain).join(" → ")}. ${plain(data.most)}`,
    "",
    ...findings,
    ...changed.map((row) => `- ${plain(row.name)}: ${percent(row.before)} → ${percent(row.after)}`),
    ...data.doubts.map((doubt) => `- ${plain(doubt)}`),
    "",
  ].join("\n");
}
