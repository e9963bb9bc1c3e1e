// The inputs that the file holds, each with the first line of its answer: a choice of what the page shows.

import { field, inputs, openInput } from "../state/store";
import { visible } from "../text";
import { Button } from "./Button";

export function Inputs() {
  if (inputs.value.length < 2) return null;
  const shown = field("input");
  return (
    <nav class="inputs" aria-label="Inputs of this file">
      <ol>
        {inputs.value.map(({ name, why }, i) => (
          <li>
            <Button
              aria-current={i === shown ? "page" : undefined}
              onClick={() => i !== shown && openInput(i)}
            >
              {visible(name, 80)}
            </Button>{" "}
            <span>{visible(why, 200)}</span>
          </li>
        ))}
      </ol>
    </nav>
  );
}
