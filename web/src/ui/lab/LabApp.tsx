// The page of an experiment, top to bottom: question and answer, every run, CPU by stage, growth, what was
// expected, and how it was run.

import type { ComponentChildren } from "preact";
import type { LabData } from "../../data/lab";
import type { Theme } from "../../state/hash";
import { adjust, page } from "../../state/store";
import { prose, visible } from "../../text";
import { Button } from "../Button";
import { AllFigures } from "./AllFigures";
import { Distortions, Expected, Failed, HowItRan } from "./Around";
import { GrowthCharts } from "./GrowthCharts";
import { Closer, RunsInOrder } from "./Order";
import { Runs } from "./Runs";
import { StageBars } from "./StageBars";

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

function Top({ source }: { source: readonly string[] }) {
  const theme = page.value.theme;
  return (
    <header class="top">
      <h1>zwhy lab</h1>
      <p class="source">
        {source.map((part) => (
          <span>{visible(part, 120)}</span>
        ))}
      </p>
      <div class="top-buttons">
        <Button
          onClick={() => adjust({ theme: NEXT[theme] })}
          title={`Colours: ${theme}. Change to ${NEXT[theme]}.`}
          aria-label={`Colours: ${theme}. Change to ${NEXT[theme]}.`}
        >
          <span aria-hidden="true">◐ {theme}</span>
        </Button>
      </div>
    </header>
  );
}

function Frame({ source, children }: { source: readonly string[]; children: ComponentChildren }) {
  return (
    <>
      <Top source={source} />
      <main>{children}</main>
    </>
  );
}

export function LabApp({ data }: { data: LabData }) {
  return (
    <Frame source={data.source}>
      <Verdict data={data} />
      <Failed failed={data.failed} />
      <Runs figures={data.figures} />
      <StageBars bars={data.stages} />
      <GrowthCharts growth={data.growth} surfaces={data.surfaces} lines={data.growthLines} />
      <Expected data={data} />
      <RunsInOrder data={data} />
      <HowItRan data={data} />
      <Closer data={data} />
      <Distortions data={data} />
      <AllFigures runs={data.runs} />
    </Frame>
  );
}

/** Question, answer, and what it means for a pool. */
function Verdict({ data }: { data: LabData }) {
  return (
    <section class="verdict" aria-label="Question and answer">
      <h2 class="tag">Question</h2>
      <div>
        <p class="do">{prose(data.question)}</p>
      </div>
      <h2 class="tag">Answer</h2>
      <div>
        <p class="why">{prose(data.answer) || "No run came to its end."}</p>
        <p class="why-basis">{data.trust.map(prose).join(" ")}</p>
      </div>
      {data.meaning !== "" && (
        <>
          <h2 class="tag">Do</h2>
          <div>
            <p class="do">{prose(data.meaning)}</p>
          </div>
        </>
      )}
    </section>
  );
}

export function UnreadLab({ message }: { message: string }) {
  return (
    <Frame source={[]}>
      <section class="notice" role="alert">
        <h2>The result cannot be shown</h2>
        <p>{message} Make the page again: zwhy lab report DIR -o PAGE.html</p>
      </section>
    </Frame>
  );
}

export function EmptyLab() {
  return (
    <Frame source={[]}>
      <section class="verdict" aria-label="Empty template">
        <h2 class="tag">Empty</h2>
        <div>
          <p class="why">This is the empty template of an experiment: it holds no result.</p>
          <p>
            Make a page from a result with <code>zwhy lab report DIR -o PAGE.html</code>.
          </p>
        </div>
      </section>
    </Frame>
  );
}
