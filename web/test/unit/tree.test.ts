// Tree, layout, sums, search and navigation against slow and obvious counterparts.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import { sumByStage } from "../../src/flame/functions";
import { firstAbove, levelsWithin, nodeAt } from "../../src/flame/layout";
import { isLit, type Lamps, lampsOf, light, litNodes } from "../../src/flame/lit";
import { buildModel, type FlameModel, functionsOf, reweigh, spanOf } from "../../src/flame/model";
import { children, commonAncestor, heaviestChild, pathTo, sibling } from "../../src/flame/navigate";
import {
  matchLabels,
  parseQuery,
  queryFor,
  queryForBase,
  weightWithin,
} from "../../src/flame/search";
import { ownWeightOf } from "../../src/flame/tree";
import { blockOf, encode, folded, type Stack } from "../sample/flame";
import { HOSTILE_NAMES } from "../sample/hostile";
import { comparisons, stacks } from "./arbitrary";

function modelOf(list: readonly Stack[]): FlameModel {
  return buildModel(decodeFlame(encode(blockOf(list))));
}

/** Samples whose stack holds a name that fits, counted one stack at a time. */
function naiveShare(list: readonly Stack[], fits: (name: string) => boolean): number {
  return list
    .filter((stack) => [{ name: "all" }, ...stack.frames].some((frame) => fits(frame.name)))
    .reduce((sum, stack) => sum + stack.count, 0);
}

/** The functions of a model have the totals of the stacks. */
function labelsAgree(m: FlameModel, list: readonly Stack[]): void {
  m.data.labels.forEach((name, label) => {
    expect(functionsOf(m).total[label]).toBe(naiveShare(list, (other) => other === name));
  });
}

describe("layout", () => {
  it("sorts boxes, keeps children within parents, and its sums are exact", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const m = modelOf(list);
        for (const level of m.layout.levels) {
          for (let k = 0; k < level.count; k++) {
            expect(level.x1[k] - level.x0[k]).toBe(m.weight[level.node[k]]);
            expect(level.cum[k + 1] - level.cum[k]).toBe(m.weight[level.node[k]]);
            if (k > 0) expect(level.x0[k]).toBeGreaterThanOrEqual(level.x1[k - 1]);
          }
        }
        for (let node = 1; node < m.data.nodes; node++) {
          const parent = spanOf(m, m.tree.parent[node]);
          const span = spanOf(m, node);
          expect(span.x0).toBeGreaterThanOrEqual(parent.x0);
          expect(span.x1).toBeLessThanOrEqual(parent.x1);
        }
      }),
    );
  });

  it("gives each row what its parents have, less what is their own", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const m = modelOf(list);
        const totals = m.layout.levels.map((level) => level.cum[level.count]);
        expect(totals[0]).toBe(naiveShare(list, () => true));
        for (let depth = 1; depth < totals.length; depth++) {
          const parents = [...m.layout.levels[depth - 1].node];
          const own = parents.reduce((sum, node) => sum + ownWeightOf(m.tree, m.weight, node), 0);
          expect(totals[depth]).toBe(totals[depth - 1] - own);
        }
      }),
    );
  });

  it("finds the node at each place", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const m = modelOf(list);
        for (let node = 0; node < m.data.nodes; node++) {
          if (m.weight[node] === 0) continue;
          const { x0, x1 } = spanOf(m, node);
          expect(nodeAt(m.layout, m.data.level[node], (x0 + x1) / 2)).toBe(node);
        }
      }),
    );
  });

  it("is as high as what is in view", () => {
    const m = modelOf(folded("a;b;c 5\nd 5"));
    expect(levelsWithin(m.layout, 0, 10)).toBe(4);
    expect(levelsWithin(m.layout, 5, 10)).toBe(2);
  });

  it("gives no box to what has no weight, and a place within its parent", () => {
    fc.assert(
      fc.property(stacks, fc.array(fc.boolean(), { minLength: 1 }), (list, picks) => {
        const m = modelOf(list);
        const kept = list.filter((_, i) => picks[i % picks.length]);
        const same = list.map((stack, i) =>
          picks[i % picks.length] ? stack : { ...stack, count: 0 },
        );
        const value = decodeFlame(encode(blockOf(same))).value;
        const part = reweigh(m, { ...m.data, value, total: value[0] });
        const boxes = part.layout.levels.flatMap((level) => [...level.node]);
        expect(boxes.sort((a, b) => a - b)).toEqual(
          [...value.keys()].filter((node) => value[node] > 0),
        );
        for (let node = 1; node < m.data.nodes; node++) {
          const parent = spanOf(part, m.tree.parent[node]);
          const span = spanOf(part, node);
          expect(span.x1 - span.x0).toBe(value[node]);
          expect(span.x0).toBeGreaterThanOrEqual(parent.x0);
          expect(span.x1).toBeLessThanOrEqual(parent.x1);
        }
        labelsAgree(part, kept);
      }),
    );
  });

  it("uses the mean of both profiles in a comparison", () => {
    fc.assert(
      fc.property(comparisons, (list) => {
        const m = modelOf(list);
        const { comparison, data } = m;
        if (!comparison || data.total === 0 || !data.second || data.second.total === 0) return;
        for (let node = 0; node < data.nodes; node++) {
          const mean = (comparison.shareA[node] + comparison.shareB[node]) / 2;
          expect(m.weight[node] / m.layout.width).toBeCloseTo(mean, 12);
        }
      }),
    );
  });

  it("binary search agrees with a linear one", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 })),
        fc.integer({ min: -1, max: 10 }),
        (a, x) => {
          const sorted = Float64Array.from(a).sort();
          const naive = [...sorted].findIndex((value) => value > x);
          expect(firstAbove(sorted, 0, sorted.length, x)).toBe(naive < 0 ? sorted.length : naive);
        },
      ),
    );
  });
});

describe("search", () => {
  it("counts each sample once, however often a name recurs", () => {
    fc.assert(
      fc.property(
        stacks,
        fc.constantFrom("a", "b|c", "^zio$", "read", "nothing", "^$"),
        (list, text) => {
          const m = modelOf(list);
          const query = parseQuery(text);
          if (query.kind !== "regex") throw new Error("must be a regular expression");
          const lit = matchLabels(m.data.labels, query.regex);
          const nodes = litNodes({ lit, of: m.data.label });
          const share = naiveShare(list, (name) => query.regex.test(name));
          expect(weightWithin(m.tree, nodes, m.weight)).toBe(share);
        },
      ),
    );
  });

  it("says why an expression is wrong, and takes any other", () => {
    expect(parseQuery("")).toEqual({ kind: "none" });
    const bad = parseQuery("a(");
    expect(bad.kind).toBe("bad");
    expect(bad.kind === "bad" && bad.message).toMatch(/group/i);
    fc.assert(fc.property(fc.string(), (text) => void parseQuery(text)));
  });

  it("finds exactly the names it is made for", () => {
    const matches = (names: readonly string[]) =>
      matchLabels(HOSTILE_NAMES, new RegExp(queryFor(names), "i"));
    for (const [i, name] of HOSTILE_NAMES.entries()) {
      const found = [...matches([name])].flatMap((hit, at) => (hit ? [at] : []));
      expect(found).toEqual([i]);
    }
    expect([...matches(HOSTILE_NAMES)].every((hit) => hit === 1)).toBe(true);
    expect(queryFor([])).toBe("");
  });

  it("finds names with what compilers append, and no others", () => {
    const labels = ["arc_read", "arc_read.isra.0.part.3", "arc_read_done", "arc_write.cold"];
    const regex = new RegExp(queryForBase(["arc_read", "arc_write"]), "i");
    expect([...matchLabels(labels, regex)]).toEqual([1, 1, 0, 1]);
    expect(queryForBase([])).toBe("");
  });

  it("lights what was found, else the chosen stage, else everything", () => {
    const { data } = modelOf(folded("a;b 3\nb 1", (name) => `stage ${name}`));
    expect(data.stages).toContain("");
    expect(lampsOf(data, null, "")).toBeNull();
    expect(lampsOf(data, null, "not there")).toBeNull();
    const named = (lamps: Lamps | null) =>
      [...data.label].flatMap((label, i) => (isLit(lamps, i) ? [data.labels[label]] : []));
    expect(named(lampsOf(data, null, "stage b"))).toEqual(["b", "b"]);
    expect(named(lampsOf(data, matchLabels(data.labels, /a/), "stage b"))).toEqual(["all", "a"]);
  });

  it("sums what is lit, level by level", () => {
    const m = modelOf(folded("a;b 3\na;c 2\nb 5"));
    const lit = Uint8Array.from(m.data.labels, (label) => Number(label === "b"));
    const lamps = { lit, of: m.data.label };
    const { level } = light(m, lamps, litNodes(lamps));
    const levels = m.layout.levels.map((_, at) => level(at));
    expect(levels.map(({ x0, x1, cum }) => [[...x0], [...x1], [...cum]])).toEqual([
      [[], [], [0]],
      [[5], [10], [0, 5]],
      [[0], [3], [0, 3]],
    ]);
    for (const { count, node } of levels) {
      expect(node.length).toBe(count);
      for (const one of node) expect(m.data.labels[m.data.label[one]]).toBe("b");
    }
  });

  it.each([10, 300])("lights the nodes of its labels, in order, of %d labels", (kinds) => {
    const column = fc.array(fc.nat(kinds - 1), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(
        column,
        fc.uint8Array({ minLength: kinds, maxLength: kinds, max: 1 }),
        (labels, lit) => {
          const of = Uint32Array.from(labels);
          const expected = labels.flatMap((label, i) => (lit[label] === 1 ? [i] : []));
          expect([...litNodes({ lit, of })]).toEqual(expected);
          // What the first search leaves does not show in the next.
          const other = Uint8Array.from({ length: kinds }, (_, label) =>
            Number(label === labels[0]),
          );
          const first = labels.flatMap((label, i) => (label === labels[0] ? [i] : []));
          expect([...litNodes({ lit: other, of })]).toEqual(first);
        },
      ),
    );
  });

  it("finds plain text as the regular expression of it does", () => {
    const names = fc.array(fc.stringMatching(/^[aAbB_. -]{0,6}$/), { maxLength: 12 });
    fc.assert(
      fc.property(names, fc.stringMatching(/^[aAbB_ -]{1,3}$/), (list, text) => {
        const expected = list.map((name) => Number(new RegExp(text, "i").test(name)));
        expect([...matchLabels(list, new RegExp(text, "i"))]).toEqual(expected);
      }),
    );
    const odd = ["a\nb", "\u0130", "\u212a", "plain k", ""];
    const matches = (text: string) => [...matchLabels(odd, new RegExp(text, "i"))];
    expect(matches("k")).toEqual([0, 0, 0, 1, 0]);
    expect(matches("b")).toEqual([1, 0, 0, 0, 0]);
  });
});

describe("sums by function", () => {
  it("own and total agree with the stacks", () => {
    fc.assert(
      fc.property(stacks, (list) => {
        const m = modelOf(list);
        const { labels } = m.data;
        const sums = functionsOf(m);
        labels.forEach((name, label) => {
          expect(sums.total[label]).toBe(naiveShare(list, (other) => other === name));
          const own = list
            .filter((stack) => (stack.frames.at(-1)?.name ?? "all") === name)
            .reduce((sum, stack) => sum + stack.count, 0);
          expect(sums.own[label]).toBe(own);
        });
        expect(m.stageWeight.reduce((a, b) => a + b, 0)).toBe(m.layout.width);
        for (let node = 0; node < m.data.nodes; node++) {
          const [from, to] = [node, m.tree.end[node]];
          const naive = new Float64Array(m.data.stages.length);
          for (let i = from; i < to; i++) {
            naive[m.data.stage[i]] += ownWeightOf(m.tree, m.weight, i);
          }
          expect(sumByStage(m.data, m.tree, m.weight, from, to)).toEqual(naive);
        }
      }),
    );
  });
});

describe("navigation", () => {
  it("children, siblings, path and common ancestor fit together", () => {
    fc.assert(
      fc.property(stacks, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), (list, picks) => {
        const m = modelOf(list);
        const { tree } = m;
        for (let node = 0; node < m.data.nodes; node++) {
          const below = children(tree, node);
          expect(below.every((child) => tree.parent[child] === node)).toBe(true);
          below.forEach((child, i) => {
            expect(sibling(tree, child, 1)).toBe(below[i + 1] ?? child);
            expect(sibling(tree, child, -1)).toBe(below[i - 1] ?? child);
          });
          const most = Math.max(...below.map((child) => m.weight[child]));
          const heaviest = heaviestChild(tree, m.weight, node);
          if (below.length > 0) expect(m.weight[heaviest]).toBe(most);
          else expect(heaviest).toBe(-1);
          expect(pathTo(tree, node).length).toBe(m.data.level[node] + 1);
        }
        const nodes = picks.map((pick) => pick % m.data.nodes);
        const paths = nodes.map((node) => pathTo(tree, node));
        const common = paths[0].filter((node) => paths.every((path) => path.includes(node)));
        expect(commonAncestor(tree, nodes)).toBe(common.at(-1));
      }),
    );
  });

  it("has the root for no nodes at all", () => {
    expect(commonAncestor(modelOf(folded("a 1")).tree, [])).toBe(0);
  });
});
