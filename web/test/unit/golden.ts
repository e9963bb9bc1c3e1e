// Compares text with a checked-in file; BLESS=1 writes the file instead.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

const FOLDER = new URL("../golden/", import.meta.url);

export function expectGolden(name: string, text: string): void {
  const file = new URL(name, FOLDER);
  if (process.env.BLESS === "1") {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, text);
    return;
  }
  expect(text).toBe(readFileSync(file, "utf8"));
}
