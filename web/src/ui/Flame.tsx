// The flame graph section: tools, legend, the graph or its table, and what the search found.

import {
  asIs,
  flip,
  nextMatch,
  reset,
  selectTime,
  showEvent,
  showMode,
  zoomBack,
} from "../state/actions";
import { callersGraph, mainGraph } from "../state/graph";
import { event, events, field, flame } from "../state/store";
import { base, found, inTime, meant, model, plain, query, sandwiched, zoomed } from "../state/view";
import { integer, percent, visible } from "../text";
import { Button } from "./Button";
import { Faint } from "./Faint";
import { FlameGraph } from "./FlameGraph";
import { FunctionLink } from "./FunctionLink";
import { FunctionTable } from "./FunctionTable";
import { flameKeys, SECTION_ID } from "./keys";
import { Legend } from "./Legend";
import { Minimap } from "./Minimap";
import { Save } from "./Save";
import { SearchField } from "./SearchField";
import { Shapes } from "./Shapes";

export function Flame() {
  const part = flame.value;
  // Tools and an empty graph stand while the stacks are unpacked: what is left to do then is to draw them.
  const waiting = part.kind === "waiting";
  const weight = model.value?.weight[0] ?? 0;
  return (
    <section
      id={SECTION_ID}
      tabIndex={-1}
      class="flame"
      aria-labelledby="flame-title"
      onKeyDown={flameKeys}
    >
      <h2 id="flame-title">Flame graph</h2>
      <Events />
      {part.kind === "absent" && <p>This report was made without stacks.</p>}
      {part.kind === "failed" && (
        <p class="notice" role="alert">
          {part.message} The rest of the page does not depend on it.
        </p>
      )}
      {(waiting || model.value) && <Tools />}
      {(waiting || base.value) && (
        <div class="more-tools">
          <Shapes />
          <Save />
        </div>
      )}
      {(waiting || weight > 0) && <Content />}
      {model.value && weight <= 0 && <Nothing />}
      {part.kind === "ready" && !model.value && <TooMany />}
    </section>
  );
}

/** In order of time a long recording has more boxes than can be drawn at once. */
function TooMany() {
  return (
    <p class="flame-waiting" role="status">
      In order of time these samples have too many boxes: select a shorter part of the time above.
    </p>
  );
}

/** An empty graph says why, and how to get back. */
function Nothing() {
  const time = field("time");
  if (base.value?.weight[0] === 0) return <p>There are no samples.</p>;
  return (
    <div class="flame-waiting">
      <p>No samples are left{time ? " in the selected time" : " with these filters"}.</p>
      {time && <Button onClick={() => selectTime(null)}>Select all of the time</Button>}{" "}
      {!plain.value && <Button onClick={asIs}>Show stacks as sampled</Button>}
    </div>
  );
}

/** Where less than all is shown, its shares are of less: that is said, once, beside them. */
function OfWhat() {
  const [m, all] = [model.value, base.value];
  if (!m || !all || all.weight[0] <= 0 || m.weight[0] === all.weight[0]) return null;
  return (
    <p class="of-what" role="note">
      Shown: {percent(m.weight[0] / all.weight[0])} of all samples. Shares in the graph, its legend
      and table, and in stage by thread are of these.
    </p>
  );
}

const EVENT_NAMES = { cpu: "CPU", wait: "Waiting", count: "Counts" } as const;

/** Which samples; nothing where there is only one kind. */
function Events() {
  if (events.value.length < 2) return null;
  return (
    <div class="tools">
      <div class="group" role="group" aria-label="Samples of">
        {events.value.map((one) => (
          <Button key={one} aria-pressed={event.value === one} onClick={() => showEvent(one)}>
            {EVENT_NAMES[one]}
          </Button>
        ))}
      </div>
    </div>
  );
}

function Content() {
  return field("mode") === "table" ? (
    <>
      <OfWhat />
      <FunctionTable />
    </>
  ) : (
    <>
      <OfWhat />
      <Legend />
      <Graphs />
      {inTime.value && (
        <Faint>
          Each thread is a box, the busiest first; in it stacks follow each other from left to right
          as they were sampled. Width is CPU time: a thread that did not run takes none.
        </Faint>
      )}
    </>
  );
}

/** The main graph stays the same element with and without callers above it, so that it keeps the focus. */
function Graphs() {
  const both = sandwiched.value;
  return (
    <div class={both ? "sandwich" : ""}>
      {both && (
        <>
          <h3>
            Callers of <code>{visible(field("of"), 200)}</code>
          </h3>
          <FlameGraph graph={callersGraph} />
          <h3>What it calls</h3>
        </>
      )}
      <FlameGraph key="main" graph={mainGraph} />
      {!both && <Minimap />}
    </div>
  );
}

function Tools() {
  const [mode, icicle, range] = [field("mode"), field("icicle"), field("range")];
  const isTable = mode === "table";
  return (
    <div class="tools">
      <div class="group" role="group" aria-label="Show as">
        <Button aria-pressed={!isTable} onClick={() => showMode("flame")}>
          Graph
        </Button>
        <Button aria-pressed={isTable} onClick={() => showMode("table")}>
          Table
        </Button>
      </div>
      {!isTable && (
        <>
          {!sandwiched.value && (
            <Button aria-pressed={icicle} onClick={flip} title="Root on top (v)">
              Icicle
            </Button>
          )}
          <Button onClick={zoomBack} title="Undo a step (Backspace)">
            Back
          </Button>
          <Button
            onClick={reset}
            disabled={zoomed.value === 0 && range === null}
            title="Show everything (0)"
          >
            Reset zoom
          </Button>
        </>
      )}
      <div class="search">
        <SearchResult />
        <SearchField />
      </div>
    </div>
  );
}

function SearchResult() {
  const q = query.value;
  const f = found.value;
  return (
    <>
      <p class="search-result" role="status">
        {q.kind === "bad" && (
          <span class="bad">Not a regular expression: {visible(q.message, 200)}</span>
        )}
        {flame.value.kind === "waiting" &&
          q.kind === "regex" &&
          "The stacks are still being unpacked…"}
        {f && f.names === 0 && "No function matches."}
        {f && f.names > 0 && (
          <>
            {integer(f.names)} {f.names === 1 ? "name" : "names"}, <b>{percent(f.share)}</b> of all
          </>
        )}
      </p>
      {meant.value.length > 0 && (
        <p>
          Did you mean{" "}
          {meant.value.map((name) => (
            <FunctionLink key={name} name={name} most={60} />
          ))}
        </p>
      )}
      {f && f.names > 0 && field("mode") === "flame" && (
        <div class="group" role="group" aria-label="Matches">
          <Button onClick={() => nextMatch(-1)} title="Previous match (N)">
            Previous
          </Button>
          <Button onClick={() => nextMatch(1)} title="Next match (n)">
            Next
          </Button>
        </div>
      )}
    </>
  );
}
