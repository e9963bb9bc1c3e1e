// Data quality: what was read, kept, dropped, lost and not named, by reason.

import type { Quality as Data } from "../data/answer";
import { integer, prose, visible } from "../text";

export function Quality({ data, notes }: { data: Data; notes: readonly string[] }) {
  const counts: [string, number | null][] = [
    ["Read", data.read],
    ["Kept", data.kept],
    ["Lost while recording", data.lost],
  ];
  return (
    <section aria-labelledby="quality-title">
      <h2 id="quality-title">Data quality</h2>
      <dl class="quality">
        {counts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === null ? "not known" : integer(value)}</dd>
          </div>
        ))}
        <Reasons title="Dropped" rows={data.dropped} />
        <Reasons title="Not named" rows={data.unresolved} />
      </dl>
      {data.warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {data.warnings.map((warning, i) => (
            <li key={i}>{prose(warning)}</li>
          ))}
        </ul>
      )}
      {notes.length > 0 && (
        <>
          <p>Parts of this report could not be read:</p>
          <ul class="warnings">
            {notes.map((note, i) => (
              <li key={i}>{visible(note, 300)}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Reasons({ title, rows }: { title: string; rows: readonly (readonly [string, number])[] }) {
  const some = rows.filter(([, count]) => count > 0);
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {some.length === 0 && "none"}
        {some.map(([reason, count], i) => (
          <span key={i} class="listed">
            {integer(count)} <bdi>{visible(reason, 120)}</bdi>
          </span>
        ))}
      </dd>
    </div>
  );
}
