// CPU by stage: every sample in exactly one row, with its 95 % interval and who spent it.

import type { OriginRow, ShareOf, SpeedUp, StageRow, WhatIf } from "../data/answer";
import { fold, foldedText } from "../small";
import { showStage } from "../state/actions";
import { field } from "../state/store";
import { model } from "../state/view";
import { integer, percent, prose, range, times, visible } from "../text";
import { Button } from "./Button";
import { Head } from "./Head";
import { Num } from "./Num";

export function Stages({ stages, whatIf }: { stages: readonly StageRow[]; whatIf: WhatIf | null }) {
  if (stages.length === 0) return null;
  const bounds = stages.some((row) => row.without !== null);
  const folded = fold(stages, (row) => row.share.value);
  const widest = Math.max(...stages.map((row) => Math.min(1, row.share.high)), 0.01);
  return (
    <section aria-labelledby="stages-title">
      <h2 id="stages-title">CPU by stage</h2>
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col" class="n" colSpan={2}>
              Share
            </th>
            <th scope="col" class="n">
              95 % interval
            </th>
            {bounds && (
              <th scope="col" class="n wide-only">
                Without it, at most
              </th>
            )}
            <th scope="col" class="wide-only">
              Who
            </th>
          </tr>
        </thead>
        <tbody>
          {folded.shown.map((row, i) => (
            <Stage key={i} row={row} widest={widest} bounds={bounds} />
          ))}
        </tbody>
      </table>
      <p class="faint">{foldedText(folded, "stage", "stages")}</p>
      {whatIf && (
        <p class="faint">
          Without it: {prose(whatIf.assumption)}
          {whatIf.busy !== null && ` Busy: ${percent(whatIf.busy)} of all CPU.`}
        </p>
      )}
    </section>
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
        <th scope="row">
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
        </th>
        <td class="bar-column">
          <div class="bar">
            <div class="bar-fill" style={{ width: at(row.share.value), backgroundColor: colour }} />
            <div class="bar-interval" style={{ left: at(row.share.low), width: at(width) }} />
          </div>
        </td>
        <Num>{percent(row.share.value)}</Num>
        <Num>{span(row.share)}</Num>
        {bounds && <td class="n wide-only">{bound(row.without)}</td>}
        <td class="wide-only">
          {row.who.slice(0, 3).map((who, i) => (
            <span key={i} class="listed">
              <bdi>{visible(who.thread, 40)}</bdi> {percent(who.share)}
            </span>
          ))}
        </td>
      </tr>
      {fold(row.self_label, (part) => part.share.value).shown.map((part, i) => (
        <tr key={i} class="part">
          <th scope="row">of which {visible(part.label, 80)}</th>
          <td class="bar-column" />
          <Num>{percent(part.share.value)}</Num>
          <Num>{span(part.share)}</Num>
          {bounds && <td class="wide-only" />}
          <td class="wide-only" />
        </tr>
      ))}
    </>
  );
}

export function Origins({ origins }: { origins: readonly OriginRow[] }) {
  if (origins.length === 0) return null;
  return (
    <section aria-labelledby="origins-title">
      <h2 id="origins-title">CPU by origin</h2>
      <table class="numbers">
        <Head columns={[["Origin"], ["Samples", "n"], ["Share", "n"], ["95 %", "n wide-only"]]} />
        <tbody>
          {origins.map((row, i) => (
            <tr key={i}>
              <th scope="row">{visible(row.origin, 80)}</th>
              <Num>{integer(row.samples)}</Num>
              <Num>{percent(row.share.value)}</Num>
              <td class="n wide-only">{span(row.share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
