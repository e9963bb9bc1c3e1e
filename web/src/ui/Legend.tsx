// What the colours mean: the stages of this graph with their shares, or the scale of a comparison.

import { type FlameModel, shareOf } from "../flame/model";
import { showStage } from "../state/actions";
import { field } from "../state/store";
import { model, moduleColour, moduleWeight } from "../state/view";
import { percent, visible } from "../text";
import { Button } from "./Button";

const MOST = 14;

export function Legend() {
  const m = model.value;
  if (!m) return null;
  if (m.comparison) {
    return (
      <p class="legend">
        <span class="swatch less" /> − less than before <span class="swatch more" /> + more than
        before. Width is the mean of both; numbers are points of share.
      </p>
    );
  }
  if (field("colour") === "module") return <Modules m={m} />;
  const rows = m.data.stages
    .map((stage, i) => ({ stage, share: shareOf(m, m.stageWeight[i]), colour: m.stageColour[i] }))
    .filter((row) => row.share > 0)
    .sort((a, b) => b.share - a.share);
  const rest = rows.slice(MOST).reduce((sum, row) => sum + row.share, 0);
  return (
    <div class="legend" role="group" aria-label="Stages in this graph; press one to highlight it">
      {rows.slice(0, MOST).map((row, i) => (
        <LegendEntry key={i} {...row} />
      ))}
      {rest > 0 && (
        <span class="legend-rest">
          {rows.length - MOST} more {percent(rest)}
        </span>
      )}
    </div>
  );
}

function Modules({ m }: { m: FlameModel }) {
  const weight = moduleWeight(m);
  const rows = m.data.modules
    .map((name, i) => ({ name, share: shareOf(m, weight[i]), colour: moduleColour.value[i] }))
    .filter((row) => row.share > 0)
    .sort((a, b) => b.share - a.share);
  const rest = rows.slice(MOST).reduce((sum, row) => sum + row.share, 0);
  return (
    <div class="legend">
      {rows.slice(0, MOST).map((row, i) => (
        <span key={i} class="legend-rest">
          <span class="swatch" style={{ backgroundColor: row.colour }} />{" "}
          <bdi>{row.name === "" ? "no module" : visible(row.name, 40)}</bdi>{" "}
          <span class="legend-share">{percent(row.share)}</span>
        </span>
      ))}
      {rest > 0 && (
        <span class="legend-rest">
          {rows.length - MOST} more {percent(rest)}
        </span>
      )}
    </div>
  );
}

interface Entry {
  readonly stage: string;
  readonly share: number;
  readonly colour: string;
}

function LegendEntry({ stage, share, colour }: Entry) {
  const swatch = (
    <span
      class={stage === "unknown" ? "swatch striped" : "swatch"}
      style={{ backgroundColor: colour }}
    />
  );
  const part = <span class="legend-share">{percent(share)}</span>;
  // Frames without a stage cannot be chosen: the empty name stands for no choice.
  if (stage === "") {
    return (
      <span class="legend-rest">
        {swatch} no stage {part}
      </span>
    );
  }
  return (
    <Button
      aria-pressed={field("stage") === stage && field("query") === ""}
      onClick={() => showStage(stage)}
    >
      {swatch} <bdi>{visible(stage, 40)}</bdi> {part}
    </Button>
  );
}
