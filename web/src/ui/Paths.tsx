// Operations taken apart: useful work beside what it costs to get there.

import type { PathRow, PathStep } from "../data/answer";
import { percent, prose, range, visible } from "../text";
import { Num } from "./Num";

export function Paths({ paths }: { paths: readonly PathRow[] }) {
  if (paths.length === 0) return null;
  return (
    <section aria-labelledby="paths-title">
      <h2 id="paths-title">Operations</h2>
      {paths.map((row, i) => (
        <Path key={i} row={row} />
      ))}
    </section>
  );
}

function Path({ row }: { row: PathRow }) {
  const rest = row.rest / Math.max(1, row.samples);
  return (
    <table class="numbers">
      <thead>
        <tr>
          <th scope="col">
            {prose(row.name)} (<bdi>{visible(row.root, 60)}</bdi>)
          </th>
          <th scope="col" class="n">
            {percent(row.share.value)}
            {row.share.low < row.share.high && ` (${range(row.share.low, row.share.high)})`}
          </th>
          <th scope="col" class="n">
            Of it
          </th>
          <th scope="col">What</th>
        </tr>
      </thead>
      <tbody>
        {row.steps.map((step, i) => (
          <Step key={i} step={step} />
        ))}
        <tr>
          <th scope="row">all else</th>
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
      {step.inside.map((part, i) => (
        <Cells key={i} step={part} inside />
      ))}
    </>
  );
}

function Cells({ step, inside = false }: { step: PathStep; inside?: boolean }) {
  return (
    <tr class={inside ? "part" : undefined}>
      <th scope="row">
        <bdi>{visible(step.function, 60)}</bdi>
      </th>
      <Num>{percent(step.share.value)}</Num>
      <Num>{percent(step.of_path)}</Num>
      <td>
        {prose(step.what)}
        {step.useful && <strong> (useful work)</strong>}
      </td>
    </tr>
  );
}
