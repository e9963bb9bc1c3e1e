// The page on paper and in forced colours: the answer is on the first sheet, nothing is cut, and colour is never the
// only cue.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { comparison } from "../sample/compare";
import { answer, diffBlock, flameBlock } from "../sample/encryption";
import { encode } from "../sample/flame";
import { blockElement, pack, report, reportWith } from "../sample/report";
import { broken } from "./axe";
import { Chromium, painted } from "./open";

/** A sheet of A4 with margins of 10 mm, in CSS pixels. */
const [WIDTH, HEIGHT] = [718, 1046];
const PAGES = [
  ["report", report(answer(), flameBlock())],
  [
    "comparison",
    reportWith([
      blockElement("answer", pack(JSON.stringify(answer()))),
      blockElement("compare", pack(JSON.stringify(comparison()))),
      blockElement("flame", pack(encode(diffBlock()))),
    ]),
  ],
] as const;

let browser: Chromium;
beforeAll(async () => {
  browser = await Chromium.start();
});
afterAll(async () => {
  await browser?.stop();
});

describe.each(PAGES)("a %s on paper", (name, html) => {
  it("has its answer on the first sheet, dark ink on white, and nothing for a pointer", async () => {
    // Of a dark screen, too.
    const { page, wrong } = await browser.openText(html, "#theme=dark", { colorScheme: "dark" });
    await page.setViewportSize({ width: WIDTH, height: HEIGHT });
    await page.emulateMedia({ media: "print" });
    const of = (selector: string) => page.locator(selector).first();
    for (const part of name === "report" ? [".why", ".do", ".commands code"] : [".why"]) {
      const box = await of(part).boundingBox();
      expect((box?.y ?? HEIGHT) + (box?.height ?? 0), part).toBeLessThan(HEIGHT);
    }
    for (const tool of [".tools", ".top-buttons", ".commands-copy", ".copy-finding", ".show"]) {
      for (const one of await page.locator(tool).all()) expect(await one.isVisible()).toBe(false);
    }
    const ink = await of(".why").evaluate((element) => getComputedStyle(element).color);
    expect(ink).toBe("rgb(22, 25, 29)");
    const over = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(over).toBeLessThanOrEqual(WIDTH);
    expect(wrong).toEqual([]);
  });

  it("shows the graph that was on the screen, and no empty room for rows that were not", async () => {
    const { page } = await browser.openText(html);
    const screen = await page.locator(".frame canvas").boundingBox();
    await page.emulateMedia({ media: "print" });
    const frame = await page.locator(".frame").boundingBox();
    // Its border above and below.
    expect((frame?.height ?? 0) - (screen?.height ?? 0)).toBeLessThanOrEqual(2);
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  });
});

it.each(PAGES)("a %s in forced colours keeps the colours that mean something", async (_, html) => {
  const { page, wrong } = await browser.openText(html, "", { forcedColors: "active" });
  expect(await painted(page)).toBeGreaterThan(0.02);
  const swatches = await page
    .locator(".legend .swatch")
    .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  expect(swatches.length).toBeGreaterThan(1);
  expect(new Set(swatches).size).toBe(swatches.length);
  // What is pressed has a thicker border: a colour would be the browser's.
  const pressed = page.locator("button[aria-pressed=true]:visible").first();
  const border = await pressed.evaluate((one) => getComputedStyle(one).borderTopWidth);
  expect(border).toBe("3px");
  expect(await broken(page)).toEqual([]);
  expect(wrong).toEqual([]);
});
