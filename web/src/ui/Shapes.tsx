// Other views of the same samples: by caller, around one function, without some frames.

import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { ownName } from "../flame/names";
import { asIs, colourBy, reshapeTo, turnAround } from "../state/actions";
import { COLOURS, type Grouped } from "../state/hash";
import { compare, field } from "../state/store";
import { base, cursor, knowsCpus, model, plain, sandwiched, split, timed } from "../state/view";
import { visible } from "../text";
import { Button } from "./Button";
import { Faint } from "./Faint";

const FIELDS = [
  ["focus", "Only stacks with"],
  ["without", "No stacks with"],
  ["hide", "Leave out frames"],
] as const;

const SPLITS = [
  ["thread", "Threads by name"],
  ["process", "Each process"],
  ["cpu", "Each CPU"],
] as const;

/** Whether the samples say what it takes. */
function offers(by: Grouped): boolean {
  return by === "cpu" ? knowsCpus.value : timed.value !== null;
}

export function Shapes() {
  const open = useSignal(!plain.value || field("shape") !== "stacks");
  if (compare.value || base.value?.comparison) return null;
  const m = model.value;
  const node = m ? cursor.value : 0;
  const name = m ? ownName(m.data.labels[m.data.label[node]]) : "";
  const around = (shape: "callers" | "callees") => reshapeTo({ shape, of: node > 0 ? name : "" });
  return (
    <details
      class="shapes"
      open={open.value}
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>Other views</summary>
      <div class="tools">
        <div class="group" role="group" aria-label="Stacks by">
          <Button
            aria-pressed={field("shape") === "stacks"}
            onClick={() => reshapeTo({ shape: "stacks", of: "" })}
          >
            Callees
          </Button>
          <Button
            aria-pressed={field("shape") === "callers" && field("of") === ""}
            onClick={() => reshapeTo({ shape: "callers", of: "" })}
          >
            Callers
          </Button>
          {timed.value && (
            <Button
              aria-pressed={field("shape") === "time"}
              onClick={() => reshapeTo({ shape: "time", of: "" })}
            >
              In order of time
            </Button>
          )}
        </div>
        <div class="group" role="group" aria-label="Of the selected function">
          <Button
            aria-pressed={sandwiched.value}
            disabled={node === 0 && field("of") === ""}
            onClick={turnAround}
            title="Callers above, callees below (s)"
          >
            Both sides of it
          </Button>
          <Button disabled={node === 0} onClick={() => around("callers")}>
            Who calls it
          </Button>
          <Button disabled={node === 0} onClick={() => around("callees")}>
            What it calls
          </Button>
        </div>
        <Button
          aria-pressed={field("collapse")}
          onClick={() => reshapeTo({ collapse: !field("collapse") })}
        >
          Fold recursion
        </Button>
        <div class="group" role="group" aria-label="Stacks of">
          {SPLITS.filter(([by]) => split.value === by || offers(by)).map(([by, label]) => (
            <Button
              key={by}
              aria-pressed={!field("merge") && split.value === by}
              onClick={() => reshapeTo({ split: by, merge: false })}
            >
              {label}
            </Button>
          ))}
          <Button
            aria-pressed={field("merge")}
            onClick={() => reshapeTo({ split: "thread", merge: !field("merge") })}
          >
            All threads as one
          </Button>
        </div>
        <Button disabled={plain.value} onClick={asIs}>
          As sampled
        </Button>
        <div class="group" role="group" aria-label="Colours by">
          {COLOURS.map((colour) => (
            <Button
              key={colour}
              aria-pressed={field("colour") === colour}
              onClick={() => colourBy(colour)}
            >
              {colour === "stage" ? "Coloured by stage" : `by ${colour}`}
            </Button>
          ))}
        </div>
      </div>
      <div class="tools">
        {FIELDS.map(([key, label]) => (
          <Fragment key={key}>
            <label class="shape-field">
              {label}{" "}
              <input
                type="search"
                value={field(key)}
                placeholder="regular expression"
                spellcheck={false}
                autocomplete="off"
                maxLength={500}
                onChange={(event) => reshapeTo({ [key]: event.currentTarget.value })}
              />
            </label>
          </Fragment>
        ))}
      </div>
      {field("of") !== "" && m && !sandwiched.value && (
        <Faint>
          {field("shape") === "callers" ? "Callers" : "Callees"} of{" "}
          <code>{visible(field("of"), 200)}</code>; its stacks are{" "}
          {m.layout.width > 0 ? "all that is shown" : "not among the selected samples"}.
        </Faint>
      )}
    </details>
  );
}
