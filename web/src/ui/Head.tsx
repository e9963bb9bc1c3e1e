// The first row of a table: what its columns are called.

import type { ComponentProps } from "preact";

/** A name, and the classes of its cell: `n` for numbers, `wide-only` for what narrow screens leave out. */
export type Column = readonly [name: string, classes?: string];

/** What a column is called. */
export function Col(props: ComponentProps<"th">) {
  return <th scope="col" {...props} />;
}

export function Head({ columns }: { columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(([name, classes]) => (
          <Col key={name} class={classes}>
            {name}
          </Col>
        ))}
      </tr>
    </thead>
  );
}
