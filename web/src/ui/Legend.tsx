// What the colours mean: the stages of this graph with their shares, or the scale of a comparison.

import type { Overview } from "../data/overview";
import { type FlameModel, shareOf } from "../flame/model";
import { showStage } from "../state/actions";
import { field } from "../state/store";
import { glimpse, groups, model } from "../state/view";
import { percent, visible } from "../text";
import { Button } from "./Button";

const MOST = 14;

export function Legend() {
  const m = model.value;
  const early = glimpse.value;
  if (m?.comparison) {
    return (
      <p class="legend">
        <span class="swatch less" /> − less than before <span class="swatch more" /> + more than
        before. Width is the mean of both; numbers are points of share.
      </p>
    );
  }
  if (m && groups.value) return <Groups m={m} />;
  if (m) return <Stages {...m} stages={m.data.stages} weight={m.layout.width} />;
  return early && <Stages {...early} />;
}

function Stages(of: Pick<Overview, "stages" | "stageColour" | "stageWeight" | "weight">) {
  const rows = of.stages
    .map((stage, i) => ({
      stage,
      share: of.weight > 0 ? of.stageWeight[i] / of.weight : 0,
      colour: of.stageColour[i],
    }))
    .filter((row) => row.share > 0)
    .sort((a, b) => b.share - a.share);
  const rest = rows.slice(MOST).reduce((sum, row) => sum + row.share, 0);
  return (
    <div class="legend" role="group" aria-label="Stages in this graph; press one to highlight it">
      {rows.slice(0, MOST).map((row) => (
        <LegendEntry {...row} />
      ))}
      {rest > 0 && (
        <span class="legend-rest">
          {rows.length - MOST} more {percent(rest)}
        </span>
      )}
    </div>
  );
}

function Groups({ m }: { m: FlameModel }) {
  if (!groups.value) return null;
  const { names, colours } = groups.value;
  const weight = groups.value.weight(m);
  const rows = names
    .map((name, i) => ({ name, share: shareOf(m, weight[i]), colour: colours[i] }))
    .filter((row) => row.share > 0)
    .sort((a, b) => b.share - a.share);
  const rest = rows.slice(MOST).reduce((sum, row) => sum + row.share, 0);
  return (
    <div class="legend">
      {rows.slice(0, MOST).map((row) => (
        <span class="legend-rest">
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
