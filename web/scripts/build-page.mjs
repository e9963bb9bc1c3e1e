// Builds a page into a folder of its own and gives back its text.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

export const WEB = fileURLToPath(new URL("..", import.meta.url));

const template = (name) =>
  fileURLToPath(new URL(`../../crates/report/template/${name}`, import.meta.url));

export const TEMPLATE = template("report.html");

/** What is built, where the Rust side embeds it, and how many bytes it may have, gzipped and as it is. */
export const PAGES = [
  { entry: "index.html", template: TEMPLATE, budget: 120_000, whole: 150_000 },
  { entry: "lab.html", template: template("lab.html"), budget: 40_000, whole: 150_000 },
];

export async function buildPage(entry) {
  const outDir = await mkdtemp(join(tmpdir(), "zwhy-page-"));
  try {
    const input = join(WEB, entry);
    const options = { outDir, emptyOutDir: true, rolldownOptions: { input } };
    await build({ root: WEB, logLevel: "warn", build: options });
    return await readFile(join(outDir, entry), "utf8");
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}
