// Operations taken apart: useful work beside what it costs to get there.

import type { PathRow, PathStep } from "../data/answer";
import { percent, prose, range, visible } from "../text";
import { FunctionLink } from "./FunctionLink";
import { Col } from "./Head";
import { Num } from "./Num";
import { Section } from "./Section";
import { RowName } from "./Table";

export function Paths({ paths }: { paths: readonly PathRow[] }) {
  if (paths.length === 0) return null;
  return (
    <Section id="paths" title="Operations">
      {paths.map((row) => (
        <Path row={row} />
      ))}
    </Section>
  );
}

function Path({ row }: { row: PathRow }) {
  const rest = row.rest / Math.max(1, row.samples);
  return (
    <table class="numbers">
      <thead>
        <tr>
          <Col>
            {prose(row.name)} (<bdi>{visible(row.root, 60)}</bdi>)
          </Col>
          <Col class="n">
            {percent(row.share.value)}
            {row.share.low < row.share.high && ` (${range(row.share.low, row.share.high)})`}
          </Col>
          <Col class="n">Of it</Col>
          <Col>What</Col>
        </tr>
      </thead>
      <tbody>
        {row.steps.map((step) => (
          <Step step={step} />
        ))}
        <tr>
          <RowName>all else</RowName>
          <Num>{percent(row.share.value * rest)}</Num>
          <Num>{percent(rest)}</Num>
          <td />
        </tr>
      </tbody>
    </table>
  );
}

function Step({ step }: { step: PathStep }) {
  return (
    <>
      <Cells step={step} />
      {step.inside.map((part) => (
        <Cells step={part} inside />
      ))}
    </>
  );
}

function Cells({ step, inside = false }: { step: PathStep; inside?: boolean }) {
  return (
    <tr class={inside ? "part" : undefined}>
      <RowName>
        <FunctionLink name={step.function} most={60} />
      </RowName>
      <Num>{percent(step.share.value)}</Num>
      <Num>{percent(step.of_path)}</Num>
      <td>
        {prose(step.what)}
        {step.useful && <strong> (useful work)</strong>}
      </td>
    </tr>
  );
}
