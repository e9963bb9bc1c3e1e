// A graph that is large enough for a worker: unpacked beside the page while it is read, or by the page where it may not
// have one; and a page at 200 %, and Back and Forward.

import { afterAll, beforeAll, expect, it } from "vitest";
import { answer, flameBlock } from "../sample/encryption";
import { blockOf, encode } from "../sample/flame";
import { encodeOverview } from "../sample/overview";
import { blockElement, pack, report, reportWith } from "../sample/report";
import { broken } from "./axe";
import { Chromium, goBack, hashOf, type Opened, painted, settled } from "./open";

/** Names that hardly compress, so that the block is a large text. */
const NAMES = Array.from({ length: 30_000 }, (_, i) =>
  [1, 7, 13].map((k) => (Math.imul(i * 31 + k, 2_654_435_761) >>> 0).toString(36)).join("_"),
);
const BLOCK = blockOf(
  NAMES.map((name, i) => ({
    frames: [{ name: i % 2 === 0 ? "even" : "odd" }, { name }],
    count: 1 + (i % 3),
  })),
);
const LARGE = pack(encode(BLOCK));

let browser: Chromium;
beforeAll(async () => {
  browser = await Chromium.start();
});
afterAll(async () => {
  await browser?.stop();
});

/** Counts the workers that a page starts; with `refuse`, as browsers that have none for pages from disk. */
const counting = (refuse: boolean) => `
  window.started = 0;
  const Given = window.Worker;
  window.Worker = class extends Given {
    constructor(...args) {
      window.started++;
      if (${refuse}) throw new DOMException("refused", "SecurityError");
      super(...args);
    }
  };`;

async function isRight({ page, wrong }: Opened): Promise<void> {
  expect(await painted(page)).toBeGreaterThan(0.02);
  await page.getByRole("searchbox").fill("^odd$");
  await settled(page);
  const odd = NAMES.reduce((sum, _, i) => sum + (i % 2 === 1 ? 1 + (i % 3) : 0), 0);
  const all = NAMES.reduce((sum, _, i) => sum + 1 + (i % 3), 0);
  const share = ((100 * odd) / all).toFixed(1);
  const text = (await page.locator(".search-result").innerText()).replace(/\s/g, " ");
  expect(text).toBe(`1 name, ${share} % of all`);
  expect(wrong).toEqual([]);
}

it.each([
  ["", "flame"],
  ["#input=1", "flame.1"],
])("is unpacked by one worker, at %s", async (hash, id) => {
  const inputs = pack(JSON.stringify([0, 1].map((n) => ({ name: `i${n}`, why: "" }))));
  const html = reportWith([blockElement("inputs", inputs), blockElement(id, LARGE)]);
  const opened = await browser.openText(html, hash, {}, counting(false));
  expect(await opened.page.evaluate("window.started")).toBe(1);
  await isRight(opened);
});

/** Keeps the model back until something is drawn without it. */
const SLOW = `
  const Given = window.Worker;
  window.Worker = class extends Given {
    set onmessage(take) {
      super.onmessage = (event) => {
        const wait = setInterval(() => {
          const sheet = document.querySelector('.frame canvas[data-drawn="true"]');
          if (!sheet) return;
          clearInterval(wait);
          window.first = sheet.toDataURL();
          window.noModel = document.querySelector(".node-line") === null;
          window.legend = document.querySelector(".legend")?.innerText;
          const find = document.querySelector("#find");
          find.value = "^even$";
          find.dispatchEvent(new Event("input", { bubbles: true }));
          requestAnimationFrame(() => requestAnimationFrame(() => {
            window.told = document.querySelector(".search-result").innerText;
            find.value = "";
            find.dispatchEvent(new Event("input", { bubbles: true }));
            take(event);
          }));
        }, 50);
      };
    }
  };`;

const withOverview = () => {
  const overview = blockElement("overview", pack(encodeOverview(BLOCK)));
  return reportWith([overview, blockElement("flame", LARGE)]);
};

it.each(["", "#theme=dark", "#icicle=1"])(
  "is drawn from its overview before it is there, and alike, at %s",
  async (hash) => {
    const opened = await browser.openText(withOverview(), hash, {}, SLOW);
    const [first, now] = await opened.page.evaluate(() => [
      Reflect.get(window, "first"),
      document.querySelector<HTMLCanvasElement>(".frame canvas")?.toDataURL(),
    ]);
    expect(await opened.page.evaluate("window.noModel")).toBe(true);
    // Not by toBe, which would print both pictures.
    expect(first === now).toBe(true);
    expect(first).toMatch(/^data:image.png/);
    expect(await opened.page.locator(".legend").innerText()).toBe(
      await opened.page.evaluate("window.legend"),
    );
    expect(await opened.page.evaluate("window.told")).toMatch(/still being unpacked/);
    await isRight(opened);
  },
);

it("is the picture of the graph itself where that is wider than an overview", async () => {
  const options = { viewport: { width: 1400, height: 900 }, deviceScaleFactor: 3 };
  const opened = await browser.openText(withOverview(), "", options);
  expect(await painted(opened.page)).toBeGreaterThan(0.02);
  expect(opened.wrong).toEqual([]);
});

it("is drawn without an overview that is damaged, which the page says", async () => {
  const elements = [
    blockElement("answer", pack(JSON.stringify(answer()))),
    blockElement("overview", pack("no")),
    blockElement("flame", LARGE),
  ];
  const opened = await browser.openText(reportWith(elements));
  expect(await opened.page.locator('[aria-labelledby="quality-title"]').innerText()).toContain(
    "cut",
  );
  await isRight(opened);
});

it("is unpacked by the page where there is no worker", async () => {
  const html = reportWith([blockElement("flame", LARGE)]);
  const opened = await browser.openText(html, "", {}, counting(true));
  expect(await opened.page.evaluate("window.started")).toBeGreaterThan(0);
  await isRight(opened);
});

it("says what is wrong with it where it was cut", async () => {
  const html = reportWith([blockElement("flame", LARGE.slice(0, 160_000))]);
  const { page, wrong } = await browser.openText(html);
  expect(await page.getByRole("alert").innerText()).toMatch(/not a whole gzip stream.*cut/);
  expect(wrong).toEqual([]);
});

it("breaks no rule and overflows nothing at 200 %", async () => {
  const options = { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 };
  const { page, wrong } = await browser.openText(report(answer(), flameBlock()), "", options);
  expect(await broken(page)).toEqual([]);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(over).toBeLessThanOrEqual(0);
  const sharp = await page.locator(".frame canvas").evaluate((canvas: HTMLCanvasElement) => {
    return canvas.width / canvas.clientWidth;
  });
  expect(sharp).toBeCloseTo(2, 1);
  expect(wrong).toEqual([]);
});

it("goes forward again to what Back left", async () => {
  const opened = await browser.openText(report(answer(), flameBlock()));
  const { page } = opened;
  await page.getByRole("button", { name: "Icicle" }).click();
  await settled(page);
  const there = (await hashOf(opened)).toString();
  await goBack(opened);
  expect((await hashOf(opened)).toString()).not.toBe(there);
  await page.goForward();
  await page.waitForFunction((hash) => window.location.hash === `#${hash}`, there);
  await settled(page);
  const icicle = page.getByRole("button", { name: "Icicle" });
  expect(await icicle.getAttribute("aria-pressed")).toBe("true");
});
