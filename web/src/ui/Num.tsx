// Cells of a table: with a number, to the right, and those that narrow screens leave out.

import type { ComponentChildren } from "preact";

interface Props {
  readonly children?: ComponentChildren;
}

export function Num({ children }: Props) {
  return <td class="n">{children}</td>;
}

/** A number that narrow screens leave out. */
export function WideNum({ children }: Props) {
  return <td class="n wide-only">{children}</td>;
}

/** What else narrow screens leave out. */
export function Wide({ children }: Props) {
  return <td class="wide-only">{children}</td>;
}
