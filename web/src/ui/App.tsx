// The whole page, top to bottom: why and what to do; beside each other the evidence and the graph over time;
// then tables, facts and data quality.

import { answer, compare, flame } from "../state/store";
import { Bottleneck } from "./Bottleneck";
import { CompareCauses, CompareTables, CompareVerdict } from "./Compare";
import { Demand } from "./Demand";
import { Facts } from "./Facts";
import { Findings } from "./Findings";
import { Flame } from "./Flame";
import { Header } from "./Header";
import { Help } from "./Help";
import { Inputs } from "./Inputs";
import { Limits } from "./Limits";
import { Matrix } from "./Matrix";
import { Paths } from "./Paths";
import { Quality } from "./Quality";
import { SkipLinks } from "./SkipLinks";
import { Origins, Stages } from "./Stages";
import { Threads } from "./Threads";
import { Timeline } from "./Timeline";
import { Verdict } from "./Verdict";
import { Waiting } from "./Waiting";

export function App() {
  const part = answer.value;
  const source = part.kind === "ready" ? part.value.answer.source : null;
  return (
    <>
      {source && <SkipLinks />}
      <Header source={source} />
      <Inputs />
      <main>
        <Body />
      </main>
      <Help />
    </>
  );
}

function Body() {
  const part = answer.value;
  if (part.kind === "absent" && flame.value.kind === "absent") return <EmptyTemplate />;
  if (part.kind === "waiting") return null;
  const two = compare.value;
  const one = part.kind === "ready" && !two ? part.value.answer : null;
  return (
    <>
      {part.kind === "failed" && (
        <section class="notice" role="alert">
          <h2>The answer cannot be shown</h2>
          <p>{part.message} Make the report again from its capture.</p>
        </section>
      )}
      {two && <CompareVerdict data={two} />}
      {one && <Verdict answer={one} />}
      <div class="split">
        <div class="split-text" id="evidence" tabIndex={-1}>
          {two && <CompareCauses data={two} />}
          {one && <Bottleneck limit={one.bottleneck} />}
          {one && <Demand demand={one.demand} />}
          {one && <Findings findings={one.findings} hasStages={one.stages.length > 0} />}
        </div>
        <div class="split-graph">
          <Timeline />
          <Flame />
        </div>
      </div>
      <div id="tables" tabIndex={-1}>
        {two && <CompareTables data={two} />}
        {one && (
          <>
            <Stages stages={one.stages} whatIf={one.what_if} />
            <Limits stages={one.stages} />
            <Matrix />
            <Paths paths={one.paths} />
            <div class="pair">
              <Threads threads={one.threads} itself={one.itself} amount={one.source.amount} />
              <Origins origins={one.origins} />
            </div>
            <Waiting waiting={one.waiting} />
          </>
        )}
        <Facts />
        {part.kind === "ready" && <Quality answer={part.value.answer} notes={part.value.notes} />}
      </div>
    </>
  );
}

function EmptyTemplate() {
  return (
    <section class="verdict" aria-label="Empty template">
      <h2 class="tag">Empty</h2>
      <div>
        <p class="why">This is the empty report template: it holds no profile.</p>
        <p>
          Make a report from a capture with <code>zwhy report CAPTURE -o REPORT.html</code> and open
          that file.
        </p>
      </div>
    </section>
  );
}
