// What a function is called by itself.
//
// Code without a symbol is labelled `object+0xaddress (before..after)`: the names in brackets are those of
// the functions around it, which say where it lies and not what it is.

import { once } from "./once";

const WITH_NEIGHBOURS = /^([^()]+\+0x[0-9a-f]+) \(.+\.\..+\)$/;

/** The label without the names of its neighbours. */
export function ownName(label: string): string {
  return label.includes("+0x") ? (WITH_NEIGHBOURS.exec(label)?.[1] ?? label) : label;
}

/** The labels of a graph as search sees them: their own names. */
export const ownNames = once((labels: readonly string[]): readonly string[] => labels.map(ownName));
