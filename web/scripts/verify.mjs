// Fails when a checked-in page is not what its sources build.

import { readFile } from "node:fs/promises";
import { checkBudget } from "./budget.mjs";
import { buildPage, PAGES } from "./build-page.mjs";

for (const page of PAGES) {
  const built = await buildPage(page.entry);
  const checkedIn = await readFile(page.template, "utf8").catch(() => "");
  checkBudget(built, page);
  if (built !== checkedIn) {
    console.error(
      `error: ${page.template} (${checkedIn.length} bytes) differs from what web/ builds (${built.length} bytes): run "npm run build" in web/ and commit the result`,
    );
    process.exitCode = 1;
  } else {
    console.log(`the checked-in ${page.entry} is up to date`);
  }
}
