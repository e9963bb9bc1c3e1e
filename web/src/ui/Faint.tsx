// A remark in small letters, below what it is about.

import type { ComponentChildren } from "preact";

export function Faint({ children }: { children?: ComponentChildren }) {
  return <p class="faint">{children}</p>;
}
