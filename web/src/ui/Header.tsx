// The line on top: what was measured, where and for how long; theme and help.

import type { Source } from "../data/answer";
import type { Theme } from "../state/hash";
import { adjust, field } from "../state/store";
import { integer, sampled, seconds, visible } from "../text";
import { Button } from "./Button";
import { helpOpen } from "./Help";

function summary(source: Source): string[] {
  const parts: string[] = [];
  if (source.host) parts.push(visible(source.host, 80));
  if (source.zfs_version) parts.push(`OpenZFS ${visible(source.zfs_version, 40)}`);
  if (source.kernel) parts.push(`kernel ${visible(source.kernel, 60)}`);
  if (source.os) parts.push(visible(source.os, 60));
  if (source.zfs_in_use === false) parts.push("no pool in use");
  if (source.duration_s !== null) {
    const rate = source.hz !== null ? ` at ${integer(source.hz)} Hz` : "";
    parts.push(`${seconds(source.duration_s)}${rate}`);
  }
  const lost = source.lost !== null ? `${integer(source.lost)} lost` : "unknown number lost";
  parts.push(`${sampled(source.amount, source.unit, source.samples)}, ${lost}`);
  const kind = source.kind === "" ? "" : ` (${visible(source.kind, 40)})`;
  if (source.name) parts.push(`${visible(source.name, 120)}${kind}`);
  return parts;
}

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

export function Header({ source }: { source: Source | null }) {
  const theme = field("theme");
  return (
    <header class="top">
      <h1>zwhy</h1>
      <p class="source">{source && summary(source).map((part) => <span>{part}</span>)}</p>
      <div class="top-buttons">
        <Button
          onClick={() => adjust({ theme: NEXT[theme] })}
          title={`Colours: ${theme}. Change to ${NEXT[theme]}.`}
          aria-label={`Colours: ${theme}. Change to ${NEXT[theme]}.`}
        >
          <span aria-hidden="true">◐ {theme}</span>
        </Button>
        <Button
          onClick={() => {
            helpOpen.value = true;
          }}
          aria-label="Help and keyboard"
        >
          <span aria-hidden="true">?</span>
        </Button>
      </div>
    </header>
  );
}
