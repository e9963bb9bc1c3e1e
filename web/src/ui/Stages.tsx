// CPU by stage: every sample in exactly one row, with its 95 % interval and who spent it.

import type { OriginRow, ShareOf, SpeedUp, StageRow, WhatIf } from "../data/answer";
import { fold, foldedText } from "../small";
import { showStage } from "../state/actions";
import { field } from "../state/store";
import { model } from "../state/view";
import { integer, percent, prose, range, times, visible } from "../text";
import { Button } from "./Button";
import { Faint } from "./Faint";
import { Col } from "./Head";
import { Num, Wide, WideNum } from "./Num";
import { Section } from "./Section";
import { RowName, Table } from "./Table";

export function Stages({ stages, whatIf }: { stages: readonly StageRow[]; whatIf: WhatIf | null }) {
  if (stages.length === 0) return null;
  const bounds = stages.some((row) => row.without !== null);
  const folded = fold(stages, (row) => row.share.value);
  const widest = Math.max(...stages.map((row) => Math.min(1, row.share.high)), 0.01);
  return (
    <Section id="stages" title="CPU by stage">
      <table class="numbers">
        <thead>
          <tr>
            <Col>Stage</Col>
            <Col class="n" colSpan={2}>
              Share
            </Col>
            <Col class="n">95 % interval</Col>
            {bounds && <Col class="n wide-only">Without it, at most</Col>}
            <Col class="wide-only">Who</Col>
          </tr>
        </thead>
        <tbody>
          {folded.shown.map((row) => (
            <Stage row={row} widest={widest} bounds={bounds} />
          ))}
        </tbody>
      </table>
      <Faint>{foldedText(folded, "stage", "stages")}</Faint>
      {whatIf && (
        <Faint>
          Without it: {prose(whatIf.assumption)}
          {whatIf.busy !== null && ` Busy: ${percent(whatIf.busy)} of all CPU.`}
        </Faint>
      )}
    </Section>
  );
}

/** `2.7x (2.5–3.0)`; nothing where there is no bound. */
function bound(speed: SpeedUp | null): string {
  return speed?.at_most ? times(speed.at_most, speed.low, speed.high) : "";
}

/** The interval of a share; none where the source had no counts. */
function span(share: ShareOf): string {
  return share.low === share.high ? "" : range(share.low, share.high);
}

function Stage({ row, widest, bounds }: { row: StageRow; widest: number; bounds: boolean }) {
  const m = model.value;
  const index = m && row.stage !== "" ? m.data.stages.indexOf(row.stage) : -1;
  const colour = m && index >= 0 ? m.stageColour[index] : "transparent";
  const name = visible(row.stage, 80);
  const at = (fraction: number) => `${(Math.min(1, Math.max(0, fraction)) / widest) * 100}%`;
  const width = Math.max(0, row.share.high - row.share.low);
  return (
    <>
      <tr>
        <RowName>
          {index >= 0 ? (
            <Button
              class="stage"
              aria-pressed={field("stage") === row.stage}
              onClick={() => showStage(row.stage)}
              title={`Highlight ${name} in the flame graph`}
            >
              <span class="swatch" style={{ backgroundColor: colour }} />
              {name}
            </Button>
          ) : (
            <span class="stage">
              <span class="swatch" />
              {name}
            </span>
          )}
        </RowName>
        <td class="bar-column">
          <div class="bar">
            <div class="bar-fill" style={{ width: at(row.share.value), backgroundColor: colour }} />
            <div class="bar-interval" style={{ left: at(row.share.low), width: at(width) }} />
          </div>
        </td>
        <Num>{percent(row.share.value)}</Num>
        <Num>{span(row.share)}</Num>
        {bounds && <WideNum>{bound(row.without)}</WideNum>}
        <Wide>
          {row.who.slice(0, 3).map((who) => (
            <span class="listed">
              <bdi>{visible(who.thread, 40)}</bdi> {percent(who.share)}
            </span>
          ))}
        </Wide>
      </tr>
      {fold(row.self_label, (part) => part.share.value).shown.map((part) => (
        <tr class="part">
          {/* It has no bar, and its name the room of one. */}
          <th scope="row" colSpan={2}>
            of which {visible(part.label, 80)}
          </th>
          <Num>{percent(part.share.value)}</Num>
          <Num>{span(part.share)}</Num>
          {bounds && <Wide />}
          <Wide />
        </tr>
      ))}
    </>
  );
}

export function Origins({ origins }: { origins: readonly OriginRow[] }) {
  if (origins.length === 0) return null;
  return (
    <Section id="origins" title="CPU by origin">
      <Table columns={[["Origin"], ["Samples", "n"], ["Share", "n"], ["95 %", "n wide-only"]]}>
        {origins.map((row) => (
          <tr>
            <RowName>{visible(row.origin, 80)}</RowName>
            <Num>{integer(row.samples)}</Num>
            <Num>{percent(row.share.value)}</Num>
            <WideNum>{span(row.share)}</WideNum>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
