// The whole page, top to bottom: why, do, evidence, stages, threads, flame graph, data quality.

import { answer, flame } from "../state/store";
import { Findings } from "./Findings";
import { Flame } from "./Flame";
import { Header } from "./Header";
import { Help } from "./Help";
import { Paths } from "./Paths";
import { Quality } from "./Quality";
import { Origins, Stages } from "./Stages";
import { Threads } from "./Threads";
import { Verdict } from "./Verdict";
import { Waiting } from "./Waiting";

export function App() {
  const part = answer.value;
  const source = part.kind === "ready" ? part.value.answer.source : null;
  return (
    <>
      <Header source={source} />
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
  return (
    <>
      {part.kind === "failed" && (
        <section class="notice" role="alert">
          <h2>The answer cannot be shown</h2>
          <p>{part.message} Make the report again from its capture.</p>
        </section>
      )}
      {part.kind === "ready" && (
        <>
          <Verdict answer={part.value.answer} />
          <Findings findings={part.value.answer.findings} />
          <Stages stages={part.value.answer.stages} whatIf={part.value.answer.what_if} />
          <Paths paths={part.value.answer.paths} />
          <div class="pair">
            <Threads
              threads={part.value.answer.threads}
              itself={part.value.answer.itself}
              amount={part.value.answer.source.amount}
            />
            <Origins origins={part.value.answer.origins} />
          </div>
          <Waiting waiting={part.value.answer.waiting} />
        </>
      )}
      <Flame />
      {part.kind === "ready" && <Quality answer={part.value.answer} notes={part.value.notes} />}
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
