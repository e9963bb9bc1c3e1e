// Keeps the pages small: fails when a template, gzipped, is over its budget.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { PAGES } from "./build-page.mjs";

export function checkBudget(text, { entry, budget }) {
  const size = gzipSync(text, { level: 9 }).length;
  console.log(`${entry}: ${text.length} bytes, ${size} gzipped, budget ${budget}`);
  if (size > budget) throw new Error(`${entry} is ${size - budget} bytes over its budget`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const page of PAGES) checkBudget(await readFile(page.template, "utf8"), page);
}
