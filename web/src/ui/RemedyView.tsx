// What to do about a cause: look, run, choose, take back.

import type { RemedyAnswer } from "../data/answer";
import { Commands } from "./Commands";
import { Prose } from "./Prose";

export function RemedyView({ remedy }: { remedy: RemedyAnswer }) {
  return (
    <>
      {remedy.place.map((text) => (
        <p>
          <Prose text={text} />
        </p>
      ))}
      <Commands commands={remedy.commands} />
      {remedy.choices.map((choice) => (
        <div>
          <p>
            <b>{remedy.commands.length > 0 ? "Or:" : "Choose:"}</b> <Prose text={choice.text} />
          </p>
          <Commands commands={choice.commands} />
          <Undo commands={choice.undo} />
        </div>
      ))}
      {[...remedy.advice, remedy.rewrite ?? ""].filter(Boolean).map((text) => (
        <p>
          <Prose text={text} />
        </p>
      ))}
      <Undo commands={remedy.undo} />
      <Caution risk={remedy.risk} note={remedy.undo_note} />
      {remedy.look.length > 0 && (
        <details>
          <summary>Look first</summary>
          <Commands commands={remedy.look} />
        </details>
      )}
    </>
  );
}

function Undo({ commands }: { commands: readonly string[] }) {
  if (commands.length === 0) return null;
  return (
    <details>
      <summary>Undo</summary>
      <Commands commands={commands} />
    </details>
  );
}

function Caution({ risk, note }: { risk: string; note: string }) {
  if (risk === "" && note === "") return null;
  return (
    <p class="caution">
      {risk !== "" && (
        <>
          <b>Risk:</b> <Prose text={risk} />{" "}
        </>
      )}
      {note !== "" && (
        <>
          <b>Undo:</b> <Prose text={note} />
        </>
      )}
    </p>
  );
}
