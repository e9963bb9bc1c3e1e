// Stage by thread: which kind of thread, process or CPU does which work, of the samples that are selected.

import { sumByStage } from "../flame/functions";
import type { FlameModel } from "../flame/model";
import { children } from "../flame/navigate";
import { showPart } from "../state/actions";
import { settled } from "../state/store";
import { base, model, split } from "../state/view";
import { percent, threadName, visible } from "../text";
import { Faint } from "./Faint";
import { Lead } from "./FunctionLink";
import { Col } from "./Head";
import { Num } from "./Num";
import { Section } from "./Section";
import { RowName } from "./Table";

const THREADS = 10;
const STAGES = 9;
const NAMES = { thread: "thread", process: "process", cpu: "CPU" } as const;

interface Row {
  readonly node: number;
  readonly name: string;
  readonly total: number;
  readonly stages: Float64Array;
}

/** The threads, which stand directly above the root, with the own weight of each stage below. */
function rowsOf(m: FlameModel): Row[] {
  const thread = m.data.modules.indexOf("thread");
  if (thread < 0) return [];
  const rows = children(m.tree, 0, m.weight).filter(
    (node) => m.data.moduleOf[m.data.label[node]] === thread,
  );
  return rows
    .map((node) => {
      const stages = sumByStage(m.data, m.tree, m.weight, node, m.tree.end[node]);
      const name = m.data.labels[m.data.label[node]].replace(/^\[(.*)\]$/, "$1");
      return { node, name, total: m.weight[node], stages };
    })
    .sort((a, b) => b.total - a.total);
}

export function Matrix() {
  const m = model.value;
  if (!settled.value || !m || m.comparison || base.value?.comparison || m.layout.width <= 0)
    return null;
  const all = rowsOf(m);
  if (all.length < 2) return null;
  const rows = all.slice(0, THREADS);
  const stages = [...m.stageWeight.keys()]
    .filter((stage) => m.stageWeight[stage] > 0 && m.data.stages[stage] !== "")
    .sort((a, b) => m.stageWeight[b] - m.stageWeight[a])
    .slice(0, STAGES);
  const share = (amount: number) => amount / m.layout.width;
  const by = NAMES[split.value];
  return (
    <Section id="matrix" title={`Stage by ${by}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div class="scrolls" tabIndex={0} role="group" aria-label={`Table of stage by ${by}`}>
        <table class="numbers matrix">
          <thead>
            <tr>
              <Col>Samples of</Col>
              <Col class="n">All</Col>
              {stages.map((stage) => (
                <th key={stage} scope="col" class="n">
                  <span class="swatch" style={{ backgroundColor: m.stageColour[stage] }} />
                  {visible(m.data.stages[stage], 40)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.node}>
                <RowName>
                  <Lead text={threadName(row.name, 40)} show={() => showPart(row.node, "")} />
                </RowName>
                <Num>{percent(share(row.total))}</Num>
                {stages.map((stage) => (
                  <td key={stage} class="n">
                    {row.stages[stage] > 0 && (
                      <Lead
                        text={percent(share(row.stages[stage]))}
                        show={() => showPart(row.node, m.data.stages[stage])}
                      />
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {all.length > rows.length && (
        <Faint>
          and {all.length - rows.length} more, together{" "}
          {percent(share(all.slice(THREADS).reduce((sum, row) => sum + row.total, 0)))}
        </Faint>
      )}
    </Section>
  );
}
