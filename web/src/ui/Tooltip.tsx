// The tooltip beside the pointer; it stays inside the window and never takes the pointer.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { NodeText } from "../flame/describe";

const GAP = 14;

export function Tooltip({ text, x, y }: { text: NodeText; x: number; y: number }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { offsetWidth: w, offsetHeight: h } = element;
    const right = document.documentElement.clientWidth;
    const left = Math.max(0, Math.min(x + GAP, right - w - 4));
    const below = y + GAP + h < window.innerHeight;
    element.style.transform = `translate(${left}px, ${Math.max(0, below ? y + GAP : y - GAP - h)}px)`;
  });
  return (
    <div ref={box} class="tooltip" aria-hidden="true">
      <b>
        <bdi>{text.name}</bdi>
      </b>
      <p>{[text.module, text.stage].filter((part) => part !== "").join(" · ")}</p>
      {text.facts.map(([label, value]) => (
        <p key={label}>
          {label} {value}
        </p>
      ))}
    </div>
  );
}
