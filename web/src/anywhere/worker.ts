// Runs the engine beside the page, so that the page stays usable meanwhile.

import { explain, Refused } from "./engine";
import type { Task, Told } from "./messages";

interface Scope {
  onmessage: ((event: MessageEvent<Task>) => void) | null;
  postMessage(told: Told): void;
}

async function* piecesOf(input: Blob): AsyncIterable<Uint8Array> {
  const reader = input.stream().getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}

async function work(task: Task, tell: (told: Told) => void): Promise<void> {
  const input = {
    name: task.name,
    bytes: task.input.size,
    pieces: piecesOf(task.input),
    redact: task.redact,
  };
  const { json, page } = await explain(
    task.engine,
    input,
    (bytes) => tell({ kind: "taken", bytes }),
    (step) => tell({ kind: "step", step }),
  );
  tell({
    kind: "done",
    json: new Blob([json], { type: "application/json" }),
    page: new Blob([page], { type: "text/html" }),
  });
}

const scope = self as unknown as Scope;
scope.onmessage = ({ data }) => {
  work(data, (told) => scope.postMessage(told)).catch((error: unknown) => {
    const why = error instanceof Refused ? error.message : `the file cannot be read: ${error}`;
    scope.postMessage({ kind: "failed", why });
  });
};
