// Sets of tests: `unit` runs in Node alone, `browser` drives chromium over sample reports, `report`
// drives it over one real report that is named by ZWHY_REPORT.

import { defineConfig } from "vitest/config";

// Limits are for a test that hangs: a machine that is busy with something else takes minutes for seconds.
const PATIENCE_MS = 300_000;
const patient = {
  environment: "node",
  testTimeout: PATIENCE_MS,
  hookTimeout: PATIENCE_MS,
} as const;
const browser = { ...patient, fileParallelism: false } as const;

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], ...patient } },
      { test: { name: "browser", include: ["test/browser/**/*.test.ts"], ...browser } },
      { test: { name: "report", include: ["test/report/**/*.test.ts"], ...browser } },
    ],
  },
});
