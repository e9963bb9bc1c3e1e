// Keeps the page small: fails when the template, gzipped, is over its budget.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { TEMPLATE } from "./build-page.mjs";

const BUDGET = 120_000;

export function checkBudget(page) {
  const size = gzipSync(page, { level: 9 }).length;
  console.log(`page: ${page.length} bytes, ${size} gzipped, budget ${BUDGET}`);
  if (size > BUDGET) throw new Error(`the page is ${size - BUDGET} bytes over its budget`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  checkBudget(await readFile(TEMPLATE, "utf8"));
}
