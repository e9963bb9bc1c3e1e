// Searches function names by regular expression and measures what was found, exactly.
//
// A sample counts once, however often a matching function recurs in its stack: once a node
// matches, its whole subtree is counted and skipped.

import { ownName } from "./names";
import type { Tree } from "./tree";

export type Query =
  | { readonly kind: "none" }
  | { readonly kind: "bad"; readonly message: string }
  | { readonly kind: "regex"; readonly regex: RegExp };

export function parseQuery(text: string): Query {
  if (text === "") return { kind: "none" };
  try {
    return { kind: "regex", regex: new RegExp(text, "i") };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "bad", message: message.replace(/^Invalid regular expression: /, "") };
  }
}

/** Text that means itself in a regular expression. A space is none of it: names contain no line break, but spaces. */
const LITERAL = /^[\w:@%&~#<>=,;!'" -]+$/;

/** Names in lower case in one text, each behind a line break, and where each begins. */
interface Haystack {
  readonly text: string;
  readonly begin: Uint32Array;
}

const haystackOf = new WeakMap<readonly string[], Haystack | null>();

/** null where a name has a line break, or letters of which a regular expression knows more cases than two. */
function haystack(names: readonly string[]): Haystack | null {
  const known = haystackOf.get(names);
  if (known !== undefined) return known;
  const text = `\n${names.join("\n")}`;
  const begin = new Uint32Array(names.length);
  let at = 1;
  names.forEach((name, i) => {
    begin[i] = at;
    at += name.length + 1;
  });
  const simple = /^[\n -~]*$/.test(text) && names.every((name) => !name.includes("\n"));
  const made = simple ? { text: text.toLowerCase(), begin } : null;
  haystackOf.set(names, made);
  return made;
}

function containing({ text, begin }: Haystack, needle: string): Uint8Array {
  const matches = new Uint8Array(begin.length);
  let label = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, begin[label])) {
    while (label < begin.length && begin[label] <= at) label++;
    matches[label - 1] = 1;
    if (label === begin.length) break;
  }
  return matches;
}

/** 1 for each of the functions' own names that matches. */
export function matchLabels(names: readonly string[], regex: RegExp): Uint8Array {
  const plain = regex.flags === "i" && LITERAL.test(regex.source) ? haystack(names) : null;
  if (plain) return containing(plain, regex.source.toLowerCase());
  const matches = new Uint8Array(names.length);
  for (let i = 0; i < names.length; i++) matches[i] = Number(regex.test(names[i]));
  return matches;
}

/** A search longer than that is no name that somebody mistyped. */
const LONGEST_MISTYPED = 60;
const MOST_ALIKE = 20;

/** Names that share most of their pairs of letters with a text, the most alike first. */
export function alike(names: readonly string[], text: string): number[] {
  const letters = text.toLowerCase().replace(/\W/g, "").slice(0, LONGEST_MISTYPED);
  const pairs = [...letters].slice(1).map((letter, i) => letters[i] + letter);
  const likeness = names.map((name) => {
    const lower = name.toLowerCase();
    const shared = pairs.filter((pair) => lower.includes(pair)).length;
    return (2 * shared) / (pairs.length + name.length - 1);
  });
  return [...names.keys()]
    .filter((i) => likeness[i] > 0.5)
    .sort((a, b) => likeness[b] - likeness[a])
    .slice(0, MOST_ALIKE);
}

/** Those of `nodes`, in preorder, that lie below no other of them. */
export function outermost(tree: Tree, nodes: Uint32Array): number[] {
  const found: number[] = [];
  let end = 0;
  for (let j = 0; j < nodes.length; j++) {
    const node = nodes[j];
    if (node < end) continue;
    found.push(node);
    end = tree.end[node];
  }
  return found;
}

/** Weight of all that lies in `nodes`, in preorder, or below them: what lies in several counts once. */
export function weightWithin(tree: Tree, nodes: Uint32Array, value: Float64Array): number {
  const { end } = tree;
  let sum = 0;
  let beyond = 0;
  for (let j = 0; j < nodes.length; j++) {
    const node = nodes[j];
    if (node < beyond) continue;
    sum += value[node];
    beyond = end[node];
  }
  return sum;
}

function oneOf(names: readonly string[]): string {
  const escaped = names.map((name) => ownName(name).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return escaped.length === 1 ? escaped[0] : `(${escaped.join("|")})`;
}

/** A query that finds exactly these function names. */
export function queryFor(names: readonly string[]): string {
  return names.length === 0 ? "" : `^${oneOf(names)}$`;
}

/** The same for names without compiler suffixes: `arc_read` finds `arc_read.isra.0` too. */
export function queryForBase(names: readonly string[]): string {
  return names.length === 0 ? "" : `^${oneOf(names)}(\\.\\w+)*$`;
}
