// Sets of tests: `unit` runs in Node alone, `browser` drives chromium over sample reports, `report`
// drives it over one real report that is named by ZWHY_REPORT.

import { defineConfig } from "vitest/config";

const browser = {
  environment: "node",
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 120_000,
} as const;

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], environment: "node" } },
      { test: { name: "browser", include: ["test/browser/**/*.test.ts"], ...browser } },
      { test: { name: "report", include: ["test/report/**/*.test.ts"], ...browser } },
    ],
  },
});
