// What the capture knows of the host, its pools and datasets, and of the recording itself.

import { facts } from "../state/store";
import { integer, visible } from "../text";
import { Faint } from "./Faint";
import { Section } from "./Section";

const LONGEST = 2000;

export function Facts() {
  const tables = facts.value;
  if (tables.length === 0) return null;
  return (
    <Section id="facts" title="Host, pools and settings">
      <div class="facts">
        {tables.map((table) => (
          <details open={table.rows.length <= 12 && table.columns.length <= 3}>
            <summary>
              {visible(table.title, 80)}{" "}
              <span class="faint">{integer(table.rows.length + table.more)}</span>
            </summary>
            <table>
              {table.columns.some((column) => column !== "") && (
                <thead>
                  <tr>
                    {table.columns.map((column, k) => (
                      <th key={k} scope="col">
                        {visible(column, 40)}
                      </th>
                    ))}
                  </tr>
                </thead>
              )}
              <tbody>
                {table.rows.map((row, k) => (
                  <tr key={k}>
                    {row.map((cell, c) =>
                      c === 0 ? (
                        <th key={c} scope="row">
                          <bdi>{visible(cell, LONGEST)}</bdi>
                        </th>
                      ) : (
                        <td key={c}>
                          <bdi>{visible(cell, LONGEST)}</bdi>
                        </td>
                      ),
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
            {table.more > 0 && <Faint>and {integer(table.more)} more</Faint>}
          </details>
        ))}
      </div>
    </Section>
  );
}
