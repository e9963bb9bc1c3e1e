// Whose code each module is: that of OpenZFS, of the layer below it, of the kernel, of its other modules or of programs.
//
// Names tell the first three. Another module is one of the kernel where kernel code calls it: programs it never calls.

import type { FlameData } from "../data/flame";
import type { Tree } from "./tree";

export const ORIGINS: readonly string[] = ["zfs", "spl", "kernel", "other modules", "programs", ""];
const [OTHER, PROGRAMS, NONE] = [3, 4, 5];
const NAMED = [/^(zfs|icp|z(avl|common|lua|nvpair|unicode|zstd))$/, /^spl$/, /^(kernel|vmlinux)$/];

/** The origin of each module, by its place in ORIGINS. The tree has callers above what they call. */
export function originsOf({ modules, label, moduleOf }: FlameData, { parent }: Tree): Uint8Array {
  const origin = Uint8Array.from(modules, (name) => {
    const known = NAMED.findIndex((one) => one.test(name));
    if (known >= 0) return known;
    return name === "" || name === "thread" ? NONE : PROGRAMS;
  });
  for (let i = 1; i < parent.length; i++) {
    const module = moduleOf[label[i]];
    const caller = moduleOf[label[parent[i]]];
    if (origin[module] === PROGRAMS && origin[caller] < PROGRAMS) origin[module] = OTHER;
  }
  return origin;
}
