// Runs the engine beside the page, so that the page stays usable meanwhile.

import { prepare, type Ready, Refused } from "./engine";
import type { Engine, Task, Told } from "./messages";

interface Scope {
  onmessage: ((event: MessageEvent<Engine | Task>) => void) | null;
  postMessage(told: Told): void;
}

async function* piecesOf(input: Blob): AsyncIterable<Uint8Array> {
  const reader = input.stream().getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}

async function work(ready: Promise<Ready>, task: Task): Promise<void> {
  const input = {
    name: task.name,
    bytes: task.input.size,
    pieces: piecesOf(task.input),
    redact: task.redact,
  };
  const engine = await ready.catch((error: unknown) => {
    throw new Refused(
      `the engine of the page did not start: ${error}; the program may read the file`,
    );
  });
  const { json, page } = await engine.explain(input, (bytes) => tell({ kind: "taken", bytes }));
  tell({
    kind: "done",
    json: new Blob([json], { type: "application/json" }),
    page: new Blob([page], { type: "text/html" }),
  });
}

const scope = self as unknown as Scope;
const tell = (told: Told) => scope.postMessage(told);
let ready: Promise<Ready> | null = null;
scope.onmessage = ({ data }) => {
  if (data.kind === "engine") {
    ready = prepare(data.engine, (step) => tell({ kind: "step", step }));
    // Told where an input waits for it.
    ready.catch(() => {});
  } else if (ready) {
    work(ready, data).catch((error: unknown) => {
      const why = error instanceof Refused ? error.message : `the file cannot be read: ${error}`;
      tell({ kind: "failed", why });
    });
  }
};
