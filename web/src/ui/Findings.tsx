// The findings, and the evidence for the selected one: claim, measure, source, and its stacks.

import type { EvidenceLine, Finding, RowAnswer } from "../data/answer";
import { findingMarkdown } from "../data/exports";
import { showStacks } from "../state/actions";
import { field, go } from "../state/store";
import { model } from "../state/view";
import { bytes, integer, percent, prose, times, visible } from "../text";
import { Button } from "./Button";
import { CopyMarkdown } from "./CopyMarkdown";
import { Faint } from "./Faint";
import { scrollToFlame } from "./keys";
import { Prose } from "./Prose";
import { RemedyView } from "./RemedyView";
import { Section } from "./Section";
import { remedyFirst } from "./Verdict";

const MARKS: Record<string, string> = { high: "●", medium: "◐", low: "○" };

export function Findings(props: { findings: readonly Finding[]; hasStages: boolean }) {
  const { findings, hasStages } = props;
  if (findings.length === 0) {
    return (
      <Section id="findings" title="Findings">
        <p>
          No known cause has enough evidence.
          {hasStages && " The stages below show where the CPU went."}
        </p>
      </Section>
    );
  }
  const chosen = Math.min(field("finding"), findings.length - 1);
  return (
    <section class="findings" aria-labelledby="findings-title">
      <div>
        <h2 id="findings-title">Findings</h2>
        <ol class="finding-list">
          {findings.map((finding, i) => (
            <li>
              <Button
                aria-current={i === chosen ? "true" : undefined}
                onClick={() => go({ finding: i })}
              >
                <span class="finding-rank">{i + 1}</span>
                <span class="finding-title">{prose(finding.title)}</span>
                <span class="finding-facts">
                  <span aria-hidden="true">{MARKS[finding.confidence_word] ?? "○"}</span>{" "}
                  {prose(finding.confidence_word)}
                  {finding.share && `, ${percent(finding.share.value)}`}
                </span>
              </Button>
            </li>
          ))}
        </ol>
      </div>
      <Evidence finding={findings[chosen]} rank={chosen + 1} />
    </section>
  );
}

function Evidence({ finding, rank }: { finding: Finding; rank: number }) {
  const { remedy } = finding;
  return (
    <Section class="evidence" id="evidence" title={`Evidence for ${rank}`}>
      <p class="evidence-title">
        {prose(finding.title)} <code class="class">{visible(finding.class, 120)}</code>{" "}
        <span class="faint">confidence {finding.confidence.toFixed(2)}</span>
      </p>
      {finding.explanation !== "" && (
        <p>
          <Prose text={finding.explanation} />
        </p>
      )}
      <About finding={finding} />
      {finding.evidence.length > 0 && (
        <ul class="claims">
          {finding.evidence.map((line) => (
            <li>
              <span class="claim">{prose(line.claim)}</span>
              <span class="measure">{prose(line.measure)}</span>
              <span class="claim-source">{prose(line.source)}</span>
              {line.frames.length > 0 && <ShowStacks frames={line.frames} claim={line.claim} />}
            </li>
          ))}
        </ul>
      )}
      <Lines title="Against it" lines={finding.against.map((line) => against(line))} />
      <Lines title="What this CPU can do" lines={finding.limits.map((limit) => limit.text)} />
      {finding.without?.at_most && (
        <p>
          Without this work everything else speeds up by at most{" "}
          {times(finding.without.at_most, finding.without.low, finding.without.high)}.
        </p>
      )}
      {finding.upgrade !== null && (
        <p>
          <b>Upgrade:</b> <Prose text={finding.upgrade} />
        </p>
      )}
      {(rank > 1 || !remedyFirst(finding)) && (
        <>
          <h3>Remedy</h3>
          <p>
            <Prose text={remedy.text} />
          </p>
          <RemedyView remedy={remedy} />
        </>
      )}
      {finding.gain !== null && (
        <>
          <h3>What the remedy brings</h3>
          <p>
            <Prose text={finding.gain.text} />
          </p>
        </>
      )}
      <Lines title="Ruled out" lines={finding.rules_out.map((out) => `${out.class}: ${out.why}`)} />
      <Lines title="Measure next" lines={finding.next} />
      {finding.experiment !== null && (
        <p>
          Prove it on this machine: <code>zwhy lab run {visible(finding.experiment, 120)}</code>. It
          works on files of its own and touches no pool; <code>zwhy lab show</code> says how long it
          takes.
        </p>
      )}
      {(finding.affected !== "" || finding.fixed_in !== null) && (
        <Faint>
          {finding.affected !== "" && `Affected: ${prose(finding.affected).replace(/\.$/, "")}. `}
          {finding.fixed_in !== null && `Fixed in ${prose(finding.fixed_in)}.`}
        </Faint>
      )}
      <CopyMarkdown text={() => findingMarkdown(finding)} />
      {finding.references.length > 0 && (
        <ul class="references" aria-label="References">
          {finding.references.map((reference) => (
            <li>
              <Reference text={reference} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The datasets, pools, vdevs, threads or processes that it is about. */
function About({ finding }: { finding: Finding }) {
  const first = finding.rows[0];
  if (first === undefined) return null;
  const more = finding.rows_more > 0 ? `; and ${integer(finding.rows_more)} more` : "";
  const unseen =
    finding.rows_unseen > 0
      ? ` (${integer(finding.rows_unseen)} that do less were not looked at)`
      : "";
  return (
    <p>
      About {visible(first.kind, 40)} {finding.rows.map(rowText).join(", ")}
      {more}
      {unseen}.
    </p>
  );
}

/** A name, what it reads and writes or its CPU time, and its part of what all of them do. */
function rowText(row: RowAnswer): string {
  const { kind, name, read_bytes_s, written_bytes_s, cpus, part } = row;
  const work = kind === "thread" || kind === "process" ? "CPU time" : "traffic";
  const told = [
    read_bytes_s === null ? "" : `reads ${bytes(read_bytes_s)} a second`,
    written_bytes_s === null ? "" : `writes ${bytes(written_bytes_s)} a second`,
    cpus === null ? "" : `${percent(cpus)} of one CPU`,
    part === null ? "" : `${percent(part)} of their ${work}`,
  ].filter(Boolean);
  return `${visible(name, 120)}${told.length > 0 ? ` (${told.join(", ")})` : ""}`;
}

/** Claim, measure and where it is from, in one sentence. */
function against({ claim, measure, source }: EvidenceLine): string {
  const from = source === "" ? "" : ` (${source})`;
  return measure === "" ? `${claim}${from}` : `${claim.replace(/\.$/, "")}: ${measure}${from}`;
}

function ShowStacks({ frames, claim }: { frames: readonly string[]; claim: string }) {
  const show = () => {
    showStacks(frames);
    scrollToFlame();
  };
  return (
    <Button
      class="show"
      disabled={model.value === null}
      onClick={show}
      aria-label={`Show stacks: ${prose(claim)}`}
    >
      Show stacks <span aria-hidden="true">▸</span>
    </Button>
  );
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {lines.map((line) => (
          <li>
            <Prose text={line} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Only plain web addresses become links; they open when the reader asks, never by themselves. */
function Reference({ text }: { text: string }) {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text)) return <>{prose(text)}</>;
  return (
    <a href={text} rel="noreferrer noopener" target="_blank">
      {text}
    </a>
  );
}
