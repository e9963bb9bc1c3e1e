// End to end: each number that the page shows of a capture is one of `zwhy explain --json`, for every capture and profile
// that the repository has.
//
// ZWHY names the program. What it refuses, as some inputs are there to be, is left out; how many are taken is checked.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "zwhy-numbers-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const FOLDERS = ["docs/first-hour", "crates/formats/tests/inputs"];
const AT_LEAST = 60;

function inputs() {
  return FOLDERS.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".md"))
      .map((entry) => join(entry.parentPath, entry.name)),
  ).sort();
}

/** The file with the answer of an input; null where the program refuses it. */
async function answered(input, at) {
  try {
    const { stdout } = await run(resolve(process.env.ZWHY), ["explain", "--json", input], { maxBuffer: 1 << 28 });
    const file = join(folder, `${at}-${input.split("/").pop()}.json`);
    writeFileSync(file, stdout);
    return file;
  } catch (error) {
    // What ends otherwise than with a message is no refusal.
    assert.ok(error.code > 0 && error.code < 100, `${input}: ${error.message}`);
    return null;
  }
}

test("each number of the page is one of the JSON", async () => {
  const answers = [];
  for (const [at, input] of inputs().entries()) {
    const file = await answered(input, at);
    if (file) answers.push(file);
  }
  assert.ok(answers.length >= AT_LEAST, `${answers.length} inputs have an answer`);
  const env = { ...process.env, ZWHY_ANSWERS: answers.join(":") };
  const checked = run("npm", ["test", "--silent", "--", "numbers"], { cwd: join(root, "web"), env, maxBuffer: 1 << 26 });
  await checked.catch((error) => assert.fail(error.stdout.slice(-8000)));
});
