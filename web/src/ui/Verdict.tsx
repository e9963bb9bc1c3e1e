// The first thing to read: why, and what to do about it.

import type { Answer, Finding, RemedyAnswer } from "../data/answer";
import { counted, integer, percent, prose, range, wholeText } from "../text";
import { limitLine } from "./Bottleneck";
import { Prose } from "./Prose";
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

/** What makes the answer less sure than it looks: parts that are lost, and few samples. */
function Scant({ answer }: { answer: Answer }) {
  const { samples, lost } = answer.source;
  const { lost_bytes, cut_at } = answer.quality;
  const damaged = lost_bytes > 0 || cut_at !== null;
  const gone = samples === 0 && lost !== null && lost > 0;
  if (gone) {
    return (
      <p class="notice">
        {lost === 1 ? "The only sample" : `All ${counted(lost, "samples")}`} of this file{" "}
        {lost === 1 ? "is" : "are"} lost. Data quality, below, says what could be read.
      </p>
    );
  }
  return (
    <>
      {damaged && (
        <p class="notice">
          A part of this file could not be read. Data quality, below, says what is missing.
        </p>
      )}
      {samples !== null && samples > 0 && samples < FEW && (
        <p class="notice">
          Only {counted(samples, "samples")}: mind the intervals. A longer recording narrows them.
        </p>
      )}
    </>
  );
}

export function Verdict({ answer }: { answer: Answer }) {
  const top = answer.findings[0];
  // A remedy for what is only one of several guesses does harm: it stands with its finding.
  const remedy = top && remedyFirst(top) ? top.remedy : null;
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
        <Scant answer={answer} />
      </div>
      {(answer.do || remedy) && (
        <>
          <h2 class="tag">Do</h2>
          <div>
            <p class="do">
              <Prose text={answer.do ?? remedy?.text ?? ""} />
            </p>
            {remedy && answer.do !== null && (
              <p>
                <Prose text={remedy.text} />
              </p>
            )}
            {remedy && <Steps remedy={remedy} />}
          </div>
        </>
      )}
    </section>
  );
}
