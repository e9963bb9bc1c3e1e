// Commands to run, with a button that copies exactly what is shown.
//
// Names in a command may hold control characters; shown and copied text is the readable form, so
// that a name can never smuggle a second command into a terminal.

import { useSignal } from "@preact/signals";
import { visible } from "../text";
import { Button } from "./Button";
import { copyText } from "./copy";

export function Commands({ commands }: { commands: readonly string[] }) {
  const said = useSignal("");
  if (commands.length === 0) return null;
  // A script of several lines is shown as one; every other hidden character is made readable.
  const lines = commands.flatMap((command) => command.split("\n")).map((line) => visible(line));
  const copy = async () => {
    const done = await copyText(`${lines.join("\n")}\n`);
    said.value = done ? "Copied." : "Copying is not allowed here: select the text instead.";
  };
  return (
    <div class="commands">
      <pre>
        {lines.map((line) => (
          <code>{line}</code>
        ))}
      </pre>
      <div class="commands-copy">
        <Button onClick={() => void copy()}>
          {commands.length === 1 ? "Copy command" : "Copy commands"}
        </Button>{" "}
        <span role="status">{said.value}</span>
      </div>
    </div>
  );
}
