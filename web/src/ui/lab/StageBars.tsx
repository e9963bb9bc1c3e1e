// What the CPU of each cell went into, stacked by stage of the ZFS pipeline; the table has the numbers.

import type { StageBar } from "../../data/lab";
import { figureText } from "../../lab/scale";
import { integer, visible } from "../../text";
import { Faint } from "../Faint";
import { Section } from "../Section";
import { RowName } from "../Table";

/** Parts narrower than this have no room for their name. */
const NAMED = 0.09;
/** Stages below this share of every bar are told together. */
const SMALL = 0.02;
const OTHERS = { name: "others", colour: "#dadada" };

interface Group {
  readonly step: string;
  readonly unit: string;
  readonly bars: readonly StageBar[];
}

function groups(bars: readonly StageBar[]): Group[] {
  const steps = [...new Set(bars.map((bar) => bar.step))];
  return steps.map((step) => {
    const own = bars.filter((bar) => bar.step === step);
    return { step, unit: own[0].unit, bars: own };
  });
}

const total = (bar: StageBar): number => bar.parts.reduce((sum, part) => sum + part.value, 0);

interface Stage {
  readonly name: string;
  readonly colour: string;
}

/** Stages that count in some bar, the largest first, so that they lie in the same order in all. */
function stagesOf(bars: readonly StageBar[]): Stage[] {
  const sums = new Map<string, { colour: string; sum: number; most: number }>();
  for (const bar of bars) {
    const all = total(bar);
    for (const part of bar.parts) {
      const known = sums.get(part.stage) ?? { colour: part.colour, sum: 0, most: 0 };
      known.sum += part.value;
      known.most = Math.max(known.most, all > 0 ? part.value / all : 0);
      sums.set(part.stage, known);
    }
  }
  return [...sums]
    .filter(([, { most }]) => most >= SMALL)
    .sort((a, b) => b[1].sum - a[1].sum)
    .map(([name, { colour }]) => ({ name, colour }));
}

/** What each stage takes in a bar, the small ones together at the end. */
function valuesOf(bar: StageBar, stages: readonly Stage[]): number[] {
  const values = stages.map(({ name }) => bar.parts.find((p) => p.stage === name)?.value ?? 0);
  return [...values, Math.max(0, total(bar) - values.reduce((sum, value) => sum + value, 0))];
}

export function StageBars({ bars }: { bars: readonly StageBar[] }) {
  if (bars.length === 0) return null;
  return (
    <Section id="stage-bars" title="CPU by stage">
      {groups(bars).map((group) => (
        <Stacks group={group} />
      ))}
      <Faint>
        Means of the runs. Their size is the CPU that the step took by the clocks, divided by the
        samples of its captures: small stages of a few samples are uncertain.
      </Faint>
    </Section>
  );
}

function Stacks({ group }: { group: Group }) {
  const stages = stagesOf(group.bars);
  const shown = [...stages, OTHERS];
  const most = Math.max(...group.bars.map(total), 0);
  const title = `${visible(group.step, 60)}: ${visible(group.unit, 60)}`;
  return (
    <>
      <h3>{title}</h3>
      <ul class="cells">
        {group.bars.map((bar) => {
          const values = valuesOf(bar, stages);
          const all = total(bar);
          return (
            <li class="cell-row">
              <b class="cell-name">
                <bdi>{visible(bar.cell, 80)}</bdi>
              </b>
              <div class="stack" aria-hidden="true">
                {values.map((value, at) => (
                  <span
                    key={at}
                    class="stack-part"
                    style={{
                      width: `${most > 0 ? (value / most) * 100 : 0}%`,
                      backgroundColor: shown[at].colour,
                    }}
                    title={`${visible(shown[at].name, 60)} ${figureText(value)}`}
                  >
                    {most > 0 && value / most >= NAMED ? visible(shown[at].name, 40) : ""}
                  </span>
                ))}
              </div>
              <p class="cell-figure">
                <b>{figureText(all)}</b>{" "}
                <span class="faint">from {integer(bar.samples)} samples</span>
              </p>
            </li>
          );
        })}
      </ul>
      <ul class="curves" aria-hidden="true">
        {shown.map((stage, at) => (
          <li key={at}>
            <span class="swatch" style={{ backgroundColor: stage.colour }} />
            {visible(stage.name, 40)}
          </li>
        ))}
      </ul>
      <details>
        <summary>The same as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <div class="scrolls" tabIndex={0} role="group" aria-label={`Table of ${title}`}>
          <table class="numbers">
            <thead>
              <tr>
                <th scope="col">Stage</th>
                {group.bars.map((bar) => (
                  <th scope="col" class="n">
                    {visible(bar.cell, 60)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((stage, at) => (
                <tr key={at}>
                  <RowName>
                    <span class="swatch" style={{ backgroundColor: stage.colour }} />
                    {visible(stage.name, 60)}
                  </RowName>
                  {group.bars.map((bar) => (
                    <td class="n">{figureText(valuesOf(bar, stages)[at])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}
