// The help dialog: every key, how to read the graph, and the switch for single-key shortcuts.

import { signal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { adjust, field } from "../state/store";
import { Button } from "./Button";

export const helpOpen = signal(false);

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "find functions by regular expression"],
  ["n  N", "next, previous match"],
  ["← →", "previous, next sibling"],
  ["↑ ↓", "child, parent (the other way round as icicle)"],
  ["Enter", "zoom to the selected function"],
  ["Backspace", "back one step"],
  ["0", "reset the zoom"],
  ["+  −", "widen, narrow"],
  ["Shift ← →", "move sideways"],
  ["v", "flame or icicle"],
  ["t", "table or graph"],
  ["f", "only stacks with the selected function"],
  ["x", "leave its frames out"],
  ["s", "callers above and callees below it; again: as sampled"],
  ["a", "all stacks as sampled"],
  ["[  ]", "select time, move the selection"],
  ["c", "copy the stack of the selected function"],
  ["Esc", "close the tooltip; in the search field: clear it"],
  ["?", "this help"],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useSignalEffect(() => {
    const open = helpOpen.value;
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  });
  const close = () => {
    helpOpen.value = false;
  };
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">Reading this page</h2>
      <p>
        A box is a function in a call stack; its width is its share of all samples, with all that it
        called. Nothing is left out: boxes narrower than a pixel are blended in by their share.
        Colours are stages of ZFS. Back undoes every step, and the address holds all of them.
      </p>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={field("keys")}
          onChange={(event) => adjust({ keys: event.currentTarget.checked })}
        />
        Single keys are shortcuts
      </label>
      <p>
        <Button onClick={close}>Close</Button>
      </p>
    </dialog>
  );
}
