// A cell of a table with a number, to the right.

import type { ComponentChildren } from "preact";

export function Num({ children }: { children?: ComponentChildren }) {
  return <td class="n">{children}</td>;
}
