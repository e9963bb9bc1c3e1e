// The first row of a table: what its columns are called.

/** A name, and the classes of its cell: `n` for numbers, `wide-only` for what narrow screens leave out. */
type Column = readonly [name: string, classes?: string];

export function Head({ columns }: { columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(([name, classes]) => (
          <th key={name} scope="col" class={classes}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
