// A table of figures with the names of its columns, and the first cell of its rows.

import type { ComponentChildren } from "preact";
import { type Column, Head } from "./Head";

interface Props {
  /** Of words: numbers do not stand below each other. */
  readonly words?: boolean;
  readonly columns: readonly Column[];
  /** Its rows. */
  readonly children?: ComponentChildren;
}

export function Table({ columns, words, children }: Props) {
  return (
    <table class={words ? undefined : "numbers"}>
      <Head columns={columns} />
      <tbody>{children}</tbody>
    </table>
  );
}

/** What a row is about. */
export function RowName({ children }: { children?: ComponentChildren }) {
  return <th scope="row">{children}</th>;
}
