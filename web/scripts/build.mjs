// Builds the pages and writes them where the Rust side embeds them.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { checkBudget } from "./budget.mjs";
import { buildPage, PAGES } from "./build-page.mjs";

for (const page of PAGES) {
  const built = await buildPage(page.entry);
  checkBudget(built, page);
  await mkdir(dirname(page.template), { recursive: true });
  await writeFile(page.template, built);
  console.log(`wrote ${page.template}`);
}
