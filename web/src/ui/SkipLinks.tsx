// Links for the keyboard to the parts of the page; seen only while they have the focus.

import { SECTION_ID } from "./keys";

const PLACES: readonly (readonly [string, string])[] = [
  [SECTION_ID, "Skip to the flame graph"],
  ["evidence", "Skip to the evidence"],
  ["tables", "Skip to the tables"],
];

export function SkipLinks() {
  const jump = (event: MouseEvent, id: string) => {
    const target = document.getElementById(id);
    if (!target) return;
    // The address holds the state of the page: it must not become that of a place.
    event.preventDefault();
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
  };
  return (
    <nav class="skip" aria-label="Skip">
      {PLACES.map(([id, text]) => (
        <a key={id} href={`#${id}`} onClick={(event) => jump(event, id)}>
          {text}
        </a>
      ))}
    </nav>
  );
}
