// The search field: every letter searches; the first one is a step that Back undoes.

import { adjust, field, go, page } from "../state/store";
import { query } from "../state/view";

export const SEARCH_ID = "find";

function search(text: string): void {
  const change = { query: text, stage: "" };
  if (page.value.query === "") go(change);
  else adjust(change);
}

export function SearchField() {
  const clear = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || page.value.query === "") return;
    go({ query: "" });
    event.preventDefault();
  };
  return (
    <input
      id={SEARCH_ID}
      type="search"
      value={field("query")}
      onInput={(event) => search(event.currentTarget.value)}
      onKeyDown={clear}
      placeholder="Find functions (regular expression)"
      aria-label="Find functions by regular expression"
      aria-invalid={query.value.kind === "bad"}
      spellcheck={false}
      autocomplete="off"
      maxLength={2000}
    />
  );
}
