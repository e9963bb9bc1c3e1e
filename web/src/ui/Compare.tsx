// Two profiles: whether the change helped, then what changed, and nothing that did not.

import { useSignal } from "@preact/signals";
import type { CompareData, CostRow, Delta, FindingRow } from "../data/compare";
import { compareMarkdown } from "../data/exports";
import { percent, points, prose, signed, visible } from "../text";
import { Button } from "./Button";
import { CopyMarkdown } from "./CopyMarkdown";
import { Faint } from "./Faint";
import { FunctionLink } from "./FunctionLink";
import { Col } from "./Head";
import { Num, WideNum } from "./Num";
import { Section } from "./Section";
import { RowName, Table } from "./Table";

const OUTCOMES: ReadonlyMap<string, string> = new Map([
  ["helped", "Helped"],
  ["helped-in-part", "Partly"],
  ["did-not-help", "No"],
  ["worse", "Worse"],
  ["cannot-tell", "Unsure"],
]);
const FIRST = 12;

export function CompareVerdict({ data }: { data: CompareData }) {
  return (
    <section class="verdict" aria-label="Verdict">
      <h2 class="tag">{OUTCOMES.get(data.outcome) ?? "Compared"}</h2>
      <div>
        <p class="why">{prose(data.verdict) || "The two were compared."}</p>
        <p class="why-basis">
          {prose(data.names[0])} → {prose(data.names[1])}. {prose(data.most)}
        </p>
        {data.doubts.length > 0 && (
          <ul class="doubts">
            {data.doubts.map((doubt) => (
              <li>{prose(doubt)}</li>
            ))}
          </ul>
        )}
        {data.promise !== "" && !data.verdict.includes(data.promise) && (
          <p>{prose(data.promise)}</p>
        )}
        <CopyMarkdown text={() => compareMarkdown(data)} />
      </div>
    </section>
  );
}

/** Causes, cost and settings: what stands beside the graph. */
export function CompareCauses({ data }: { data: CompareData }) {
  return (
    <div class="compare-causes">
      <Causes rows={data.findings} />
      <Costs rows={data.costs} />
      {data.settings.length > 0 && (
        <Section id="settings" title="Settings that differ">
          <Table words columns={[["Setting"], ["Of"], ["Before"], ["After"]]}>
            {data.settings.map((row) => (
              <tr>
                <RowName>{visible(row.name, 80)}</RowName>
                <td>
                  <bdi>{visible(row.of, 120)}</bdi>
                </td>
                <td>{visible(row.before, 200)}</td>
                <td>{visible(row.after, 200)}</td>
              </tr>
            ))}
          </Table>
        </Section>
      )}
    </div>
  );
}

const STATES: ReadonlyMap<string, string> = new Map([
  ["gone", "gone"],
  ["came", "new"],
  ["stayed", "stayed"],
]);

function Causes({ rows }: { rows: readonly FindingRow[] }) {
  return (
    <Section id="causes" title="Causes">
      {rows.length === 0 && <p>No known cause, before or after.</p>}
      {rows.length > 0 && (
        <Table words columns={[["Cause"], ["Share", "n"], ["Is"]]}>
          {rows.map((row) => (
            <tr>
              <RowName>
                {prose(row.title)}
                <Faint>
                  confidence {visible(row.before, 40)} → {visible(row.after, 40)}
                </Faint>
              </RowName>
              <Num>
                {(row.shareBefore !== null || row.shareAfter !== null) &&
                  `${percent(row.shareBefore ?? 0)} → ${percent(row.shareAfter ?? 0)}${row.real ? " *" : ""}`}
              </Num>
              <td>
                <b>{STATES.get(row.state) ?? ""}</b>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function Costs({ rows }: { rows: readonly CostRow[] }) {
  if (rows.length === 0) return null;
  const times = (row: CostRow) => {
    if (row.ratio === null) return "";
    const span =
      row.low === null || row.high === null
        ? ""
        : ` (${row.low.toFixed(2)}–${row.high.toFixed(2)})`;
    return `${row.ratio.toFixed(2)}x${span}`;
  };
  return (
    <Section id="costs" title="Cost">
      <Table columns={[["What"], ["Before", "n"], ["After", "n"], ["Times (95 %)", "n"]]}>
        {rows.map((row) => (
          <tr>
            <RowName>{row.name}</RowName>
            <Num>{figure(row.before)}</Num>
            <Num>{figure(row.after)}</Num>
            <Num>{times(row)}</Num>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

/** What really changed by stage, thread and function. */
export function CompareTables({ data }: { data: CompareData }) {
  return (
    <>
      <Deltas id="by-stage" title="Changed by stage" rows={data.stages} />
      <Deltas id="by-thread" title="Changed by thread" rows={data.threads} />
      <Deltas
        id="by-function"
        title="Changed by function, with what it calls"
        rows={data.functions}
        find
      />
      <Faint>{prose(data.normalised)}</Faint>
      {data.note !== "" && <Faint>{prose(data.note)}</Faint>}
    </>
  );
}

function Deltas(props: { id: string; title: string; rows: readonly Delta[]; find?: boolean }) {
  const all = useSignal(false);
  const named = props.rows.filter((row) => row.name !== "");
  const real = named.filter((row) => row.real);
  const shown = all.value ? named : real.slice(0, FIRST);
  if (named.length === 0) return null;
  const widest = Math.max(
    ...named.map((row) => Math.max(Math.abs(row.low), Math.abs(row.high))),
    0.01,
  );
  return (
    <Section id={props.id} title={props.title}>
      {real.length === 0 && <p>Nothing changed beyond chance.</p>}
      {shown.length > 0 && (
        <table class="numbers">
          <thead>
            <tr>
              <Col>Name</Col>
              <Col class="n">Before</Col>
              <Col class="n">After</Col>
              <Col class="n">Change</Col>
              <Col class="bar-column wide-only">
                <span class="unseen">Change with its interval</span>
              </Col>
              <Col class="n wide-only">95 % interval</Col>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <DeltaRow row={row} widest={widest} find={props.find === true} />
            ))}
          </tbody>
        </table>
      )}
      {!all.value && named.length > shown.length && (
        <Button
          onClick={() => {
            all.value = true;
          }}
        >
          Show all {named.length}, {named.length - real.length} of them not beyond chance
        </Button>
      )}
    </Section>
  );
}

function DeltaRow({ row, widest, find }: { row: Delta; widest: number; find: boolean }) {
  const at = (x: number) => `${50 + (x / widest) * 50}%`;
  const wide = (a: number, b: number) => `${(Math.abs(b - a) / widest) * 50}%`;
  return (
    <tr class={row.real ? undefined : "faint"}>
      <RowName>
        {find ? <FunctionLink name={row.name} /> : <bdi>{visible(row.name, 200)}</bdi>}
      </RowName>
      <Num>{percent(row.before)}</Num>
      <Num>{percent(row.after)}</Num>
      <Num>
        {points(row.change)}
        {row.real && <b title="beyond chance at a false discovery rate of 5 %"> *</b>}
      </Num>
      <td class="bar-column wide-only">
        <div class="delta" aria-hidden="true">
          <div
            class={row.change < 0 ? "delta-fill less" : "delta-fill more"}
            style={{ left: at(Math.min(0, row.change)), width: wide(0, row.change) }}
          />
          <div class="bar-interval" style={{ left: at(row.low), width: wide(row.low, row.high) }} />
        </div>
      </td>
      <WideNum>
        {signed(row.low)} … {signed(row.high)}
      </WideNum>
    </tr>
  );
}
