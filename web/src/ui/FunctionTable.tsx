// The functions as a table: the full equal of the graph for those who do not see it.

import { useSignal } from "@preact/signals";
import { comparedFunctions, type FlameModel, functionsOf, shareOf } from "../flame/model";
import { findFunction } from "../state/actions";
import type { Sort } from "../state/hash";
import { field, go } from "../state/store";
import { found, model } from "../state/view";
import { integer, percent, points, visible, weight } from "../text";
import { Button } from "./Button";
import { Num } from "./Num";

const STEP = 100;

/** Labels that occur, filtered by the search, in the chosen order. */
function rows(m: FlameModel, matches: Uint8Array | null, sort: Sort): number[] {
  const { own, total } = functionsOf(m);
  const root = m.data.label[0];
  const shown: number[] = [];
  for (let i = 0; i < total.length; i++) {
    // The root is not a function, unless a function has its name.
    if (total[i] > 0 && (i !== root || own[i] > 0) && (!matches || matches[i] === 1)) shown.push(i);
  }
  const { labels } = m.data;
  const byName = (a: number, b: number) =>
    labels[a] < labels[b] ? -1 : labels[a] > labels[b] ? 1 : 0;
  const keys: Record<Sort, (a: number, b: number) => number> = {
    name: byName,
    own: (a, b) => own[b] - own[a] || total[b] - total[a] || byName(a, b),
    total: (a, b) => total[b] - total[a] || byName(a, b),
  };
  return shown.sort(keys[sort]);
}

export function FunctionTable() {
  const limit = useSignal(STEP);
  const m = model.value;
  if (!m) return null;
  const all = rows(m, found.value?.labels ?? null, field("sort"));
  return (
    <>
      <table class="numbers functions">
        <thead>
          <tr>
            <SortHeader sort="name" text="Function" />
            <th scope="col" class="wide-only">
              Module
            </th>
            <SortHeader sort="own" text="Self" />
            <SortHeader sort="total" text="Total" />
            {m.comparison && (
              <th scope="col" class="n">
                Change of total
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {all.slice(0, limit.value).map((label) => (
            <Row key={label} m={m} label={label} />
          ))}
        </tbody>
      </table>
      <p class="faint">
        {integer(Math.min(limit.value, all.length))} of {integer(all.length)} functions. Total
        counts recursion once.
      </p>
      {all.length > limit.value && (
        <Button
          onClick={() => {
            limit.value += STEP;
          }}
        >
          Show {STEP} more
        </Button>
      )}
    </>
  );
}

function SortHeader({ sort, text }: { sort: Sort; text: string }) {
  const active = field("sort") === sort;
  const order = sort === "name" ? "ascending" : "descending";
  return (
    <th scope="col" class={sort === "name" ? "" : "n"} aria-sort={active ? order : "none"}>
      <Button class="sort" onClick={() => go({ sort })}>
        {text}
        <span aria-hidden="true">{active ? (sort === "name" ? " ▴" : " ▾") : ""}</span>
      </Button>
    </th>
  );
}

/** Of the share of a function, from the first profile to the second. */
function changeOf(m: FlameModel, label: number): number {
  const { before, after } = comparedFunctions(m);
  return after.total[label] - before.total[label];
}

function Row({ m, label }: { m: FlameModel; label: number }) {
  const { own, total } = functionsOf(m);
  const name = m.data.labels[label];
  const cell = (amount: number) =>
    m.comparison ? (
      percent(shareOf(m, amount))
    ) : (
      <>
        {percent(shareOf(m, amount))} <span class="faint">{weight(amount, m.data.unit)}</span>
      </>
    );
  return (
    <tr>
      <th scope="row">
        <Button
          class="name"
          onClick={() => findFunction(name)}
          title="Highlight in the flame graph"
        >
          <bdi>{visible(name, 200)}</bdi>
        </Button>
      </th>
      <td class="wide-only">{visible(m.data.modules[m.data.labelModule[label]], 80)}</td>
      <Num>{cell(own[label])}</Num>
      <Num>{cell(total[label])}</Num>
      {m.comparison && <Num>{points(changeOf(m, label))}</Num>}
    </tr>
  );
}
