// Opens one real report in the browser and checks that it works: npm run test:report -- FILE

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { WEB } from "./build-page.mjs";

const given = process.argv[2] ?? process.env.ZWHY_REPORT;
if (!given || !existsSync(given)) {
  console.error(`error: no report at ${given ?? "(no file given)"}: npm run test:report -- FILE`);
  process.exit(2);
}
const run = spawnSync("npx", ["vitest", "run", "--project", "report"], {
  cwd: WEB,
  stdio: "inherit",
  env: { ...process.env, ZWHY_REPORT: resolve(given) },
});
process.exit(run.status ?? 1);
