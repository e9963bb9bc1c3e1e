// Prose of the answer, with what stands between backticks as code.

import { prose } from "../text";

export function Prose({ text }: { text: string }) {
  const parts = prose(text).split("`");
  // An odd one belongs to the text.
  if (parts.length % 2 === 0) return <>{parts.join("`")}</>;
  return <>{parts.map((part, i) => (i % 2 === 0 ? part : <code>{part}</code>))}</>;
}
