// Builds the page and writes it where the Rust side embeds it.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { checkBudget } from "./budget.mjs";
import { buildPage, TEMPLATE } from "./build-page.mjs";

const page = await buildPage();
checkBudget(page);
await mkdir(dirname(TEMPLATE), { recursive: true });
await writeFile(TEMPLATE, page);
console.log(`wrote ${TEMPLATE}`);
