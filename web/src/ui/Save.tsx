// Saves what is shown for other programs, and copies a link to it.

import { useSignal } from "@preact/signals";
import { foldedOf, functionsCsv, pprofOf, speedscopeOf, svgOf } from "../data/exports";
import type { FlameModel } from "../flame/model";
import { settleAddress } from "../state/store";
import { depth, icicle, model, paint, view } from "../state/view";
import { Button } from "./Button";
import { copyText } from "./copy";
import { Faint } from "./Faint";

const SVG_WIDTH = 1200;

function save(name: string, data: Blob): void {
  const link = document.createElement("a");
  const url = URL.createObjectURL(data);
  link.href = url;
  link.download = name;
  link.click();
  // The browser takes the data when it begins; a minute is more than it needs.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function text(name: string, type: string, content: string): void {
  save(name, new Blob([content], { type }));
}

function picture(): void {
  [...document.querySelectorAll<HTMLCanvasElement>(".frame canvas")].at(-1)?.toBlob((blob) => {
    if (blob) save("zwhy.png", blob);
  });
}

async function pprof(m: FlameModel): Promise<void> {
  const stream = new Blob([pprofOf(m)]).stream().pipeThrough(new CompressionStream("gzip"));
  save("zwhy.pb.gz", await new Response(stream).blob());
}

const FORMATS: readonly (readonly [string, string, (m: FlameModel) => void])[] = [
  ["PNG", "picture of what is in view", picture],
  [
    "SVG",
    "drawing of what is in view",
    (m) => {
      const brush = paint.value;
      if (!brush) return;
      const drawn = svgOf(m, view.value, brush, depth.value, icicle.value, SVG_WIDTH);
      text("zwhy.svg", "image/svg+xml", drawn);
    },
  ],
  ["folded", "stacks, a line each", (m) => text("zwhy.folded", "text/plain", foldedOf(m))],
  ["pprof", "for go tool pprof", (m) => void pprof(m)],
  [
    "speedscope",
    "for speedscope.app",
    (m) => text("zwhy.speedscope.json", "application/json", speedscopeOf(m, "zwhy")),
  ],
  ["CSV", "functions with their shares", (m) => text("zwhy.csv", "text/csv", functionsCsv(m))],
];

export function Save() {
  const said = useSignal("");
  const m = model.value;
  const two = m?.comparison;
  const link = async () => {
    settleAddress();
    const done = await copyText(window.location.href);
    said.value = done ? "Copied." : "Copying is not allowed here: take it from the address bar.";
  };
  return (
    <details class="save">
      <summary>Save</summary>
      <div class="tools">
        {FORMATS.map(([name, what, run]) => (
          <Button key={name} title={what} onClick={() => m && run(m)}>
            {name}
          </Button>
        ))}
        <Button onClick={() => void link()} title="with zoom, search and selected time">
          Copy link
        </Button>
        <span role="status">{said.value}</span>
      </div>
      <Faint>
        {two
          ? "Stacks and functions have the weights of both profiles, before and after."
          : "Stacks and functions are those of the selected time and view."}
      </Faint>
    </details>
  );
}
