// The functions as a table: the full equal of the graph for those who do not see it.

import { useSignal } from "@preact/signals";
import { comparedFunctions, type FlameModel, functionsOf, shareOf } from "../flame/model";
import type { Sort } from "../state/hash";
import { field, go } from "../state/store";
import { found, model } from "../state/view";
import { integer, percent, points, visible, weight } from "../text";
import { Button } from "./Button";
import { Faint } from "./Faint";
import { FunctionLink } from "./FunctionLink";
import { Col } from "./Head";
import { Num, Wide } from "./Num";
import { RowName } from "./Table";

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
            <Col class="wide-only">Module</Col>
            <SortHeader sort="own" text="Self" />
            <SortHeader sort="total" text="Total" />
            {m.comparison && <Col class="n">Change of total</Col>}
          </tr>
        </thead>
        <tbody>
          {all.slice(0, limit.value).map((label) => (
            <Row key={label} m={m} label={label} />
          ))}
        </tbody>
      </table>
      <Faint>
        {integer(Math.min(limit.value, all.length))} of {integer(all.length)} functions. Total
        counts recursion once.
      </Faint>
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
    <Col class={sort === "name" ? "" : "n"} aria-sort={active ? order : "none"}>
      <Button class="sort" onClick={() => go({ sort })}>
        {text}
        <span aria-hidden="true">{active ? (sort === "name" ? " ▴" : " ▾") : ""}</span>
      </Button>
    </Col>
  );
}

/** Of the share of a function, from the first profile to the second. */
function changeOf(m: FlameModel, label: number): number {
  const { before, after } = comparedFunctions(m);
  return after.total[label] - before.total[label];
}

function Row({ m, label }: { m: FlameModel; label: number }) {
  const { own, total } = functionsOf(m);
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
      <RowName>
        <FunctionLink name={m.data.labels[label]} />
      </RowName>
      <Wide>{visible(m.data.modules[m.data.moduleOf[label]], 80)}</Wide>
      <Num>{cell(own[label])}</Num>
      <Num>{cell(total[label])}</Num>
      {m.comparison && <Num>{points(changeOf(m, label))}</Num>}
    </tr>
  );
}
