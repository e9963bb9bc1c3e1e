// A section of the page, named by its heading.

import type { ComponentChildren } from "preact";

interface Props {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly class?: string;
  readonly children?: ComponentChildren;
}

export function Section({ id, title, class: classes, children }: Props) {
  return (
    <section class={classes} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}
