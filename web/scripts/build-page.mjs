// Builds the page into a folder of its own and gives back its text.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

export const WEB = fileURLToPath(new URL("..", import.meta.url));
export const TEMPLATE = fileURLToPath(
  new URL("../../crates/report/template/report.html", import.meta.url),
);

export async function buildPage() {
  const outDir = await mkdtemp(join(tmpdir(), "zwhy-page-"));
  try {
    await build({ root: WEB, logLevel: "warn", build: { outDir, emptyOutDir: true } });
    return await readFile(join(outDir, "index.html"), "utf8");
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}
