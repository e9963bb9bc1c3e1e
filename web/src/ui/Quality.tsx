// Data quality: what was read, kept, dropped, lost and not named, by reason.

import type { Answer } from "../data/answer";
import { unread } from "../state/store";
import { counted, integer, prose, visible } from "../text";
import { Section } from "./Section";

export function Quality(props: { answer: Answer; notes: readonly string[] }) {
  const { answer } = props;
  const notes = [...props.notes, ...unread.value];
  const data = answer.quality;
  const amount = (n: number) => (data.unit === "" ? integer(n) : counted(n, data.unit));
  const facts: [string, string][] = [
    ["Read", amount(data.read)],
    ["Kept", amount(data.kept)],
    ["Lost", data.lost === null ? "not known" : amount(data.lost)],
  ];
  if (data.lost_bytes > 0) facts.push(["Not readable", `${integer(data.lost_bytes)} bytes`]);
  if (data.cut_at !== null) facts.push(["Cut at byte", integer(data.cut_at)]);
  if (answer.zwhy !== "") facts.push(["Made by", `zwhy ${visible(answer.zwhy, 40)}`]);
  return (
    <Section id="quality" title="Data quality">
      <dl class="quality">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <Reasons title="Dropped" rows={data.dropped} />
        <Reasons title="Not named" rows={data.unresolved} />
      </dl>
      {data.warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {data.warnings.map((warning) => (
            <li>{prose(warning)}</li>
          ))}
        </ul>
      )}
      {notes.length > 0 && (
        <>
          <p>Parts of this report could not be read:</p>
          <ul class="warnings">
            {notes.map((note) => (
              <li>{visible(note, 300)}</li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function Reasons({ title, rows }: { title: string; rows: ReadonlyMap<string, number> }) {
  const some = [...rows].filter(([, count]) => count > 0);
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {some.length === 0 && "none"}
        {some.map(([reason, count]) => (
          <span class="listed">
            {integer(count)} <bdi>{visible(reason, 120)}</bdi>
          </span>
        ))}
      </dd>
    </div>
  );
}
