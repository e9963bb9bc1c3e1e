// End to end: the built program, the real OpenZFS and a real browser find why CCM encryption eats the CPU.
//
// ZWHY names the program. The assertions are orders and names, never times.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const program = process.env.ZWHY;
const folder = mkdtempSync(join(tmpdir(), "zwhy-end-to-end-"));
const lab = join(folder, "lab");
const capture = join(lab, "aes-256-ccm-read.zwhy");

const zwhy = (...args) => execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28 });

before(() => zwhy("lab", "run", "encryption", "--quick", "-o", lab));
after(() => rmSync(folder, { recursive: true, force: true }));

test("reading costs most CPU with CCM and least without encryption", () => {
  const { summary } = JSON.parse(readFileSync(join(lab, "result.json"), "utf8"));
  const readCost = (variant) =>
    summary.find((row) => row.variant === variant).steps.find((row) => row.step === "read").cpu_s_per_gb.value;
  const [ccm, gcm, off] = ["aes-256-ccm", "aes-256-gcm", "off"].map(readCost);
  assert.ok(ccm > gcm && gcm > off, `CPU seconds per GB: ccm ${ccm}, gcm ${gcm}, off ${off}`);
});

test("the cause is named, with the functions that show it", () => {
  const { findings, stages, stats } = JSON.parse(zwhy("explain", "--json", capture));
  assert.equal(findings[0]?.class, "crypto-ccm-not-accelerated");
  const { low, value, high } = findings[0].share;
  assert.ok(0 < low && low <= value && value <= high && high <= 1, `share ${low} ${value} ${high}`);
  const functions = findings[0].evidence.flatMap((line) => line.frames);
  assert.ok(functions.includes("ccm_mode_decrypt_contiguous_blocks"), `evidence shows ${functions}`);
  assert.ok(functions.some((name) => /^aes_\w+_block$/.test(name)), `evidence shows ${functions}`);
  assert.equal(stages.reduce((sum, stage) => sum + stage.samples, 0), stats.kept);
});

test("without encryption no cause of encryption is claimed", () => {
  const { findings } = JSON.parse(zwhy("explain", "--json", join(lab, "off-read.zwhy")));
  assert.deepEqual(findings.filter((finding) => finding.class.startsWith("crypto-")), []);
});

test("the report works in the browser", () => {
  const page = join(folder, "report.html");
  zwhy("report", capture, "-o", page);
  execFileSync("npm", ["run", "--silent", "test:report", "--", page], {
    cwd: new URL("../web", import.meta.url),
    stdio: "inherit",
  });
});
