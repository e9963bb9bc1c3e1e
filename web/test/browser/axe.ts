// Rules of accessibility, checked by axe-core in the page.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Rules that the page breaks; empty when none. */
export async function broken(page: Page): Promise<string[]> {
  // The policy of the page allows no other script: the debugger may evaluate it all the same.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    type Result = { violations: { id: string; nodes: { html: string }[] }[] };
    const { axe } = window as unknown as { axe: { run: () => Promise<Result> } };
    const { violations } = await axe.run();
    return violations.map(
      (rule) => `${rule.id}: ${rule.nodes.map((node) => node.html).join(" | ")}`,
    );
  });
}
