// Names and figures that lead to their stacks in the graph.

import { findFunction, showThread, threadNode } from "../state/actions";
import type { FlameEvent } from "../state/hash";
import { threadName, visible } from "../text";
import { Button } from "./Button";
import { scrollToFlame } from "./keys";

/** `show` changes what the graph shows. */
export function Lead({ text, show }: { text: string; show: () => void }) {
  const go = () => {
    show();
    scrollToFlame();
  };
  return (
    <Button class="name" title="Show in the flame graph" onClick={go}>
      <bdi>{text}</bdi>
    </Button>
  );
}

interface Props {
  readonly name: string;
  readonly most?: number;
  /** Samples of another kind than those that are shown. */
  readonly of?: FlameEvent;
}

/** Finds the function in the graph. */
export function FunctionLink({ name, most = 200, of }: Props) {
  return <Lead text={visible(name, most)} show={() => findFunction(name, of)} />;
}

/** Zooms to the stacks of the threads of this name; plain text where there are none. */
export function ThreadLink({ name }: { name: string }) {
  const text = threadName(name, 60);
  return threadNode(name) < 0 ? (
    <bdi>{text}</bdi>
  ) : (
    <Lead text={text} show={() => showThread(name)} />
  );
}
