// Fails when the checked-in page is not what its sources build.

import { readFile } from "node:fs/promises";
import { checkBudget } from "./budget.mjs";
import { buildPage, TEMPLATE } from "./build-page.mjs";

const [built, checkedIn] = await Promise.all([
  buildPage(),
  readFile(TEMPLATE, "utf8").catch(() => ""),
]);
checkBudget(built);
if (built !== checkedIn) {
  console.error(
    `error: ${TEMPLATE} (${checkedIn.length} bytes) differs from what web/ builds (${built.length} bytes): run "npm run build" in web/ and commit the result`,
  );
  process.exitCode = 1;
} else {
  console.log("the checked-in page is up to date");
}
