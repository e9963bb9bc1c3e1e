// Keeps the pages small: fails when a template, as it is or gzipped, is over its budget.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { PAGES } from "./build-page.mjs";

export function checkBudget(text, { entry, budget, whole }) {
  const size = gzipSync(text, { level: 9 }).length;
  const bytes = Buffer.byteLength(text);
  console.log(`${entry}: ${bytes} bytes of ${whole}, ${size} gzipped of ${budget}`);
  if (bytes > whole) throw new Error(`${entry} is ${bytes - whole} bytes over its budget`);
  if (size > budget) throw new Error(`${entry} is ${size - budget} bytes over its budget`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const page of PAGES) checkBudget(await readFile(page.template, "utf8"), page);
}
