// The first thing to read: why, and what to do about it.

import type { Answer, Finding, RemedyAnswer } from "../data/answer";
import { integer, percent, prose, range, wholeText } from "../text";
import { limitLine } from "./Bottleneck";
import { RemedyView } from "./RemedyView";

const FEW = 200;
/** Commands of more lines than this are folded: they would push what explains them off the screen. */
const MANY_LINES = 6;

function Steps({ remedy }: { remedy: RemedyAnswer }) {
  const all = [...remedy.commands, ...remedy.choices.flatMap((choice) => choice.commands)];
  const lines = all.flatMap((command) => command.split("\n")).length;
  if (lines <= MANY_LINES) return <RemedyView remedy={remedy} />;
  return (
    <details class="steps">
      <summary>{integer(lines)} lines of commands, what they need, and the way back</summary>
      <RemedyView remedy={remedy} />
    </details>
  );
}

/** Whether the remedy of the first finding stands at the top of the page. */
export function remedyFirst(finding: Finding): boolean {
  return finding.confidence_word === "high" || finding.confidence_word === "medium";
}

export function Verdict({ answer }: { answer: Answer }) {
  const top = answer.findings[0];
  // A remedy for what is only one of several guesses does harm: it stands with its finding.
  const remedy = top && remedyFirst(top) ? top.remedy : null;
  const samples = answer.source.samples;
  const limit = limitLine(answer.bottleneck, answer.why);
  return (
    <section class="verdict" aria-label="Verdict">
      <h2 class="tag">Why</h2>
      <div>
        <p class="why">{prose(answer.why) || "No cause was named."}</p>
        {limit !== null && <p>{prose(limit)}</p>}
        <p class="why-basis">
          {top?.share &&
            `${percent(top.share.value)} (95 % interval ${range(top.share.low, top.share.high)} %). `}
          {answer.whole && wholeText(answer.whole)}
        </p>
        {samples !== null && samples < FEW && (
          <p class="notice">
            Only {samples} samples: mind the intervals. A longer recording narrows them.
          </p>
        )}
      </div>
      {(answer.do || remedy) && (
        <>
          <h2 class="tag">Do</h2>
          <div>
            <p class="do">{prose(answer.do ?? remedy?.text ?? "")}</p>
            {remedy && answer.do !== null && <p>{prose(remedy.text)}</p>}
            {remedy && <Steps remedy={remedy} />}
          </div>
        </>
      )}
    </section>
  );
}
