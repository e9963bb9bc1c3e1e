// One real report, made by zwhy: it opens cleanly, answers first, draws, and finds.

import { afterAll, beforeAll, expect, it } from "vitest";
import { Chromium, type Opened, painted, settled } from "../browser/open";

const file = process.env.ZWHY_REPORT ?? "";
let browser: Chromium;
let opened: Opened;

beforeAll(async () => {
  if (file === "") throw new Error("ZWHY_REPORT names no report: npm run test:report -- FILE");
  browser = await Chromium.start();
  opened = await browser.openFile(file);
});
afterAll(async () => {
  await browser?.stop();
});

it("answers first", async () => {
  const why = opened.page.locator(".why");
  expect(await why.isVisible()).toBe(true);
  expect((await why.innerText()).trim()).not.toBe("");
  expect(
    await opened.page.getByRole("heading", { name: "CPU by stage", exact: true }).isVisible(),
  ).toBe(true);
});

it("could read all of the file", async () => {
  expect(await opened.page.getByRole("alert").allInnerTexts()).toEqual([]);
  expect(await opened.page.getByText("Parts of this report could not be read").count()).toBe(0);
});

it("draws the flame graph", async () => {
  await opened.page.locator(".frame canvas").scrollIntoViewIfNeeded();
  expect(await painted(opened.page)).toBeGreaterThan(0.02);
});

it("finds functions", async () => {
  await opened.page.getByRole("searchbox").fill(".");
  await settled(opened.page);
  expect(await opened.page.locator(".search-result").innerText()).toMatch(
    /names?, 100\.0\s% of all/,
  );
});

it("had no console error and asked nothing of the network", () => {
  expect(opened.wrong).toEqual([]);
});
