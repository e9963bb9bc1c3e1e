// Unpacks a large graph while the browser still reads the file: most of it is unpacked when the page begins.
//
// This runs in the head of the page, before the data: a worker is started as soon as the graph's block is longer than
// what the page does itself, and gets its text as it comes. Not where an overview is drawn first: the worker would take
// the CPU time that drawing needs.

import { Aside, SMALL_TEXT } from "./prepare";

/** The script that page and worker are made of; "" until it is known. */
let script = "";
let early: { readonly id: string; readonly aside: Aside } | null = null;
let observer: MutationObserver | null = null;

/** null where the browser refuses, as some do to pages from disk. */
function start(what: string): Aside | null {
  try {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    return new Aside(new Worker(url), what);
  } catch {
    return null;
  }
}

/** The worker for the block of this name: the one that began with it, or a new one. */
export function asideFor(id: string, what: string): Aside | null {
  // Who asks has all of the text.
  observer?.disconnect();
  const begun = early?.id === id ? early.aside : null;
  early = null;
  return begun ?? start(what);
}

/** The element of a data block; null where the file has none of this name. */
export function blockElement(id: string): Element | null {
  return document.querySelector(`script[type="application/zwhy"][id="${id}"]`);
}

/** The name of a block of an input: of those beyond the first, blocks are called ID.n. */
export function blockName(id: string, input: number): string {
  return input > 0 ? `${id}.${input}` : id;
}

/** Follows the page while it is read. `text` is that of this script, `input` the one that the address asks for. */
export function follow(text: string, input: number): void {
  script = text;
  const id = blockName("flame", input);
  const look = () => {
    if (blockElement(blockName("overview", input))) return observer?.disconnect();
    const letters = blockElement(id)?.firstChild;
    // What a browser splits into several texts waits until the page has all of it.
    if (!(letters instanceof Text) || letters.nextSibling || letters.length < SMALL_TEXT) return;
    const aside = early?.aside ?? start("flame graph");
    if (!aside) return observer?.disconnect();
    early = { id, aside };
    if (letters.length > aside.has)
      aside.give(letters.substringData(aside.has, letters.length - aside.has));
  };
  observer = new MutationObserver(look);
  observer.observe(document, { childList: true, characterData: true, subtree: true });
  document.addEventListener("DOMContentLoaded", () => observer?.disconnect());
}
