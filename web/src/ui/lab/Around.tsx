// What was expected, what failed, how the runs were made, and where their figures differ from a kernel's.

import type { LabData } from "../../data/lab";
import { prose, visible } from "../../text";
import { Section } from "../Section";

const OUTCOMES: ReadonlyMap<string, string> = new Map([
  ["holds", "holds"],
  ["fails", "fails"],
  ["not_measured", "not measured"],
]);

export function Failed({ failed }: { failed: LabData["failed"] }) {
  if (failed.length === 0) return null;
  return (
    <Section class="notice" id="failed" title="Runs that did not end">
      <ul class="plain">
        {failed.map((one) => (
          <li>
            <b>{visible(one.cell, 80)}</b>, run {one.repetition}: {prose(one.error)}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Expected({ data }: { data: LabData }) {
  const held = data.checks.filter((check) => check.outcome === "holds").length;
  return (
    <Section id="expected" title="What was expected">
      <p class="readable">{prose(data.expectation)}</p>
      {data.checks.length > 0 && (
        <>
          <p>
            {held === data.checks.length ? "All" : `${held} of`} {data.checks.length} expectations
            hold.
          </p>
          <ul class="checks">
            {data.checks.map((check) => (
              <li>
                <span class={`outcome ${check.outcome === "holds" ? "" : "not"}`}>
                  {OUTCOMES.get(check.outcome) ?? "unknown"}
                </span>
                <span>
                  {prose(check.say)} <span class="faint">{prose(check.found)}</span>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {data.references.length > 0 && (
        <ul class="references plain">
          {data.references.map((reference) => (
            <li>{visible(reference, 300)}</li>
          ))}
        </ul>
      )}
    </Section>
  );
}

export function HowItRan({ data }: { data: LabData }) {
  return (
    <Section id="how" title="How it was run">
      <dl class="about">
        {data.about.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{visible(value, 300)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

export function Distortions({ data }: { data: LabData }) {
  if (data.distortions.length + data.cures.length === 0) return null;
  return (
    <Section id="distortions" title="What to know of these figures">
      <ul class="readable">
        {data.distortions.map((one) => (
          <li>{prose(one)}</li>
        ))}
      </ul>
      {data.cures.length > 0 && (
        <details>
          <summary>What the lab did about other differences to a kernel</summary>
          <ul class="readable">
            {data.cures.map((one) => (
              <li>
                {prose(one.distortion)}: {prose(one.cure)}
                {!one.applied && " (this did not work here)"}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Section>
  );
}
