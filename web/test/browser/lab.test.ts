// The page of an experiment in chromium, over the sample that the Rust side writes.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MARKER } from "../../build/lock-down";
import { figureText, predicted } from "../../src/lab/scale";
import { blockElement, pack } from "../sample/report";
import { broken } from "./axe";
import { Chromium } from "./open";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const TEMPLATE = read("../../../crates/report/template/lab.html");
const SAMPLE = JSON.parse(read("../sample/lab.json"));
const PAGE = TEMPLATE.replace(MARKER, () => blockElement("lab", pack(JSON.stringify(SAMPLE))));

let browser: Chromium;
beforeAll(async () => {
  browser = await Chromium.start();
});
afterAll(() => browser.stop());

const headings = (page: Page) => page.getByRole("heading", { level: 2 }).allInnerTexts();

describe("the page of an experiment", () => {
  it("opens from disk without errors or requests, question and answer first", async () => {
    const { page, wrong } = await browser.openText(PAGE);
    expect((await headings(page)).map((text) => text.toLowerCase()).slice(0, 5)).toEqual([
      "question",
      "answer",
      "do",
      "runs that did not end",
      "every run",
    ]);
    expect(await page.locator(".why").innerText()).toContain("CPU ms per operation in destroy");
    // A name that is code is shown as the text that it is.
    expect(await page.locator("main").innerText()).toContain(
      "<img src=x onerror=alert(1)>\\u{202e}",
    );
    expect(await page.locator("img").count()).toBe(0);
    expect(wrong).toEqual([]);
  });

  it("shows every run as a dot with its figure, of any figure that is chosen", async () => {
    const { page, wrong } = await browser.openText(PAGE);
    for (const [i, figure] of SAMPLE.figures.entries()) {
      await page.locator(".choose select").first().selectOption(String(i));
      await page.waitForSelector(`.cells[data-figure="${i}"]`);
      const runs = figure.cells.flatMap((cell: { runs: { value: number }[] }) => cell.runs);
      const titles = await page.locator(".cells[data-figure] .dot title").allTextContents();
      expect(titles.length).toBe(runs.length);
      runs.forEach(({ value }: { value: number }, at: number) => {
        expect(titles[at]).toContain(`: ${figureText(value)} `);
      });
    }
    expect(SAMPLE.figures[0].cells.length).toBe(6);
    expect(wrong).toEqual([]);
  });

  it("stacks the CPU of each cell by stage, and has the same as a table", async () => {
    const { page } = await browser.openText(PAGE);
    expect(await page.locator(".stack").count()).toBe(SAMPLE.stages.length);
    await page.getByText("The same as a table").click();
    const first = SAMPLE.stages[0].parts[0];
    const row = page.getByRole("row", { name: new RegExp(first.stage) });
    expect(await row.first().innerText()).toContain(figureText(first.value));
  });

  it("predicts the cost at a size as the Rust side does", async () => {
    const { page } = await browser.openText(PAGE);
    for (const [i, growth] of SAMPLE.result.growth.entries()) {
      const said = /at n = (\d+) that would be ([0-9.e]+)\.$/.exec(SAMPLE.growth[i]);
      const cost = predicted(growth.fit, Number(said?.[1])) ?? Number.NaN;
      expect(Number(figureText(cost).replaceAll(",", ""))).toBeCloseTo(Number(said?.[2]), 6);
    }
    await page.locator(".predict input").fill("4000");
    const cost = predicted(SAMPLE.result.growth[0].fit, 4000) ?? Number.NaN;
    expect(await page.locator(".predict").innerText()).toContain(figureText(cost));
  });

  it("draws two factors that grow, a drawing for each size of the second, and predicts at both", async () => {
    const sizes = [10, 20, 40].flatMap((n) => [3, 9, 27].map((m) => [n, m] as const));
    const cost = (n: number, m: number) => n * m * 1e-3;
    const [run, figure] = [SAMPLE.result.runs[0], SAMPLE.figures[0]];
    const exponent = { value: 1, low: 0.98, high: 1.02 };
    const surface = {
      of: "",
      factors: ["n", "<b>m</b>"],
      fit: {
        law: "product",
        fixed: 0,
        slopes: [1e-3, 0],
        exponents: [exponent, exponent],
        error: 0.01,
      },
      points: sizes.map(([n, m]) => {
        const value = cost(n, m);
        return [n, m, { value, low: value * 0.9, high: value * 1.1 }];
      }),
    };
    const runs = sizes.map(([n, m], position) => ({
      ...run,
      position,
      factors: { n: String(n), "<b>m</b>": String(m) },
    }));
    const dots = sizes.map(([n, m], position) => ({ position, repetition: 1, value: cost(n, m) }));
    const cells = [{ ...figure.cells[0], runs: dots }];
    const line =
      "CPU ms, by n and m: grows as n·m (exponents: n 1.00 [0.98, 1.02], m 1.00 [0.98, 1.02])";
    const data = {
      ...SAMPLE,
      growth: [line],
      figures: [{ ...figure, cells }],
      result: {
        ...SAMPLE.result,
        runs,
        growth: [],
        surfaces: [surface, { ...surface, points: [] }],
      },
    };
    const text = TEMPLATE.replace(MARKER, () => blockElement("lab", pack(JSON.stringify(data))));
    const { page, wrong } = await browser.openText(text);
    expect(await page.getByText("grows as n·m").count()).toBe(1);
    expect(await page.locator(".multiple").allInnerTexts()).toEqual([
      "<b>m</b> = 3",
      "<b>m</b> = 9",
      "<b>m</b> = 27",
    ]);
    expect(await page.locator(".surface").count()).toBe(1);
    expect(await page.locator(".surface .dot").count()).toBe(9);
    expect(await page.locator(".surface .interval").count()).toBe(9);
    expect(await page.locator(".surface polyline.law").count()).toBe(3);
    expect(await page.locator(".surface figcaption").innerText()).toContain("logarithmic");
    // The law goes through the middle of each dot.
    const off = await page.locator(".surface svg[role=img]").evaluateAll((drawings) =>
      drawings.flatMap((drawing) => {
        const law = drawing.querySelector("polyline")?.getAttribute("points")?.split(" ") ?? [];
        const dots = [...drawing.querySelectorAll(".dot")].map((dot) =>
          ["cx", "cy"].map((name) => Number.parseFloat(dot.getAttribute(name) ?? "")),
        );
        const drawn = law.map((pair) => pair.split(",").map(Number));
        return dots.map(([x, y]) =>
          Math.min(...drawn.map(([a, b]) => Math.hypot((a ?? 0) - (x ?? 0), (b ?? 0) - (y ?? 0)))),
        );
      }),
    );
    expect(Math.max(...off)).toBeLessThan(1);
    await page.locator(".surface .predict input").nth(0).fill("1000");
    await page.locator(".surface .predict input").nth(1).fill("100");
    expect(await page.locator(".surface .predict").innerText()).toContain("100 CPU ms");
    expect(await broken(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  it("has every number of every run in its details", async () => {
    const { page, wrong } = await browser.openText(PAGE);
    await page.getByText("Steps, threads and counters of each run").click();
    await page.locator(".figures dd").first().waitFor({ state: "attached" });
    const shown = await page.locator(".figures dd").allTextContents();
    const known = new Set(shown.map(Number));
    for (const run of SAMPLE.result.runs) {
      for (const step of run.steps) {
        const counters: number[] = Object.values(step.counters);
        for (const number of [step.wall_s, step.user_s, step.bytes, ...counters]) {
          const kept = Number.isInteger(number) ? number : Number(number.toPrecision(9));
          expect(known.has(kept), `${step.name} ${number}`).toBe(true);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it("says why when its data is damaged", async () => {
    const damaged = TEMPLATE.replace(MARKER, () => blockElement("lab", pack("{")));
    const { page } = await browser.openText(damaged);
    expect(await page.getByRole("alert").innerText()).toContain("not JSON");
  });

  for (const width of [1280, 390]) {
    for (const colorScheme of ["light", "dark"] as const) {
      it(`breaks no rule of accessibility and no width: ${width} px, ${colorScheme}`, async () => {
        const options = { viewport: { width, height: 900 }, colorScheme };
        const { page, wrong } = await browser.openText(PAGE, "", options);
        await page.evaluate(() => {
          for (const one of document.querySelectorAll("details")) one.open = true;
        });
        expect(await broken(page)).toEqual([]);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide).toBeLessThanOrEqual(width);
        expect(wrong).toEqual([]);
      });
    }
  }
});
