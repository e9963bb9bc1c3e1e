// Copies what a part of the page says as Markdown, for an issue thread or a chat.

import { useSignal } from "@preact/signals";
import { Button } from "./Button";
import { copyText } from "./copy";

export function CopyMarkdown({ text }: { text: () => string }) {
  const said = useSignal("");
  const copy = async () => {
    said.value = (await copyText(text())) ? "Copied." : "Copying is not allowed here.";
  };
  return (
    <p class="copy-finding">
      <Button onClick={() => void copy()}>Copy as Markdown</Button>{" "}
      <span role="status">{said.value}</span>
    </p>
  );
}
