// The line on top: what was measured, where and for how long; theme and help.

import type { Source } from "../data/answer";
import type { Theme } from "../state/hash";
import { adjust, page } from "../state/store";
import { integer, seconds, visible } from "../text";
import { helpOpen } from "./Help";

function summary(source: Source): string[] {
  const parts: string[] = [];
  if (source.host) parts.push(visible(source.host, 80));
  if (source.zfsVersion) parts.push(`OpenZFS ${visible(source.zfsVersion, 40)}`);
  if (source.seconds !== null) {
    const rate = source.hz !== null ? ` at ${integer(source.hz)} Hz` : "";
    parts.push(`${seconds(source.seconds)}${rate}`);
  }
  if (source.samples !== null) {
    const lost = source.lost !== null ? `, ${integer(source.lost)} lost` : "";
    parts.push(`${integer(source.samples)} samples${lost}`);
  }
  if (source.name) parts.push(visible(source.name, 120));
  return parts;
}

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

export function Header({ source }: { source: Source | null }) {
  const theme = page.value.theme;
  return (
    <header class="top">
      <h1>zwhy</h1>
      <p class="source">
        {source && summary(source).map((part, i) => <span key={i}>{part}</span>)}
      </p>
      <div class="top-buttons">
        <button
          type="button"
          onClick={() => adjust({ theme: NEXT[theme] })}
          title={`Colours: ${theme}. Change to ${NEXT[theme]}.`}
          aria-label={`Colours: ${theme}. Change to ${NEXT[theme]}.`}
        >
          <span aria-hidden="true">◐ {theme}</span>
        </button>
        <button
          type="button"
          onClick={() => {
            helpOpen.value = true;
          }}
          aria-label="Help and keyboard"
        >
          <span aria-hidden="true">?</span>
        </button>
      </div>
    </header>
  );
}
