// The parts beside the answer: time and what follows it, other shapes of the graph, facts, the comparison.

import { mkdirSync, readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { comparison } from "../sample/compare";
import { answer, diffBlock, STACKS } from "../sample/encryption";
import { blockOf, encode, type Stack } from "../sample/flame";
import { blockElement, pack, reportWith } from "../sample/report";
import { encodeSamples, rowsOf } from "../sample/samples";
import { factsBlock, timelineBlock } from "../sample/surroundings";
import { broken } from "./axe";
import { Chromium, goBack, hashOf, type Opened, painted, settled } from "./open";

const SHOTS = new URL("../../shots/", import.meta.url);
const json = (id: string, value: unknown) => blockElement(id, pack(JSON.stringify(value)));
/** Threads as real ones: under the root, one of them without a name. */
const byThread = (stacks: readonly Stack[]) =>
  stacks.map((stack, i) => ({
    ...stack,
    frames: [
      { name: i % 3 === 0 ? "[]" : "[z_rd_int]", module: "thread", stage: "" },
      ...stack.frames,
    ],
  }));
const block = blockOf(byThread(STACKS));
const unnamed = { comm: "", role: "", threads: 9, cpu_s: 0.5, cpu_share: 0.01, samples: 0 };
const sample = answer();
sample.threads = [...(sample.threads as unknown[]), unnamed];
const FULL = reportWith([
  json("answer", sample),
  blockElement("flame", pack(encode(block))),
  blockElement("samples", pack(encodeSamples(rowsOf(block, 60)))),
  json("timeline", timelineBlock()),
  json("facts", factsBlock()),
]);
const COMPARED = reportWith([
  json("answer", answer()),
  json("compare", comparison()),
  blockElement("flame", pack(encode(diffBlock()))),
]);

let browser: Chromium;
beforeAll(async () => {
  browser = await Chromium.start();
  mkdirSync(SHOTS, { recursive: true });
});
afterAll(async () => {
  await browser?.stop();
});

async function shoot(page: Opened["page"], name: string): Promise<void> {
  await page.screenshot({ path: new URL(`${name}.png`, SHOTS).pathname, fullPage: true });
}

async function press({ page }: Opened, ...keys: string[]): Promise<void> {
  await page.getByRole("tree").last().focus();
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
}

const shown = ({ page }: Opened) => page.locator(".legend").innerText();

async function drag(opened: Opened, from: number, to: number): Promise<void> {
  const box = await opened.page.locator(".time-stack").boundingBox();
  if (!box) throw new Error("no picture over time");
  await opened.page.mouse.move(box.x + from * box.width, box.y + 40);
  await opened.page.mouse.down();
  await opened.page.mouse.move(box.x + to * box.width, box.y + 40, { steps: 4 });
  await opened.page.mouse.up();
  await settled(opened.page);
}

describe("time", () => {
  it("is selected by dragging; graph and legend follow, Back undoes it", async () => {
    const opened = await browser.openText(FULL, "", { viewport: { width: 1440, height: 900 } });
    const all = await shown(opened);
    await drag(opened, 0.1, 0.13);
    expect(await opened.page.locator(".time-fields").innerText()).toMatch(/\d+ of \d+ samples/);
    expect(await shown(opened)).not.toBe(all);
    expect(await opened.page.locator(".of-what").innerText()).toMatch(/^Shown: \d+\.\d\s% of all/);
    expect(await painted(opened.page)).toBeGreaterThan(0.02);
    await goBack(opened);
    expect(await shown(opened)).toBe(all);
    expect(await opened.page.locator(".of-what").count()).toBe(0);
    expect(opened.wrong).toEqual([]);
  });

  it("is selected by fields and a link, and an empty part offers the whole", async () => {
    const opened = await browser.openText(FULL, "#time=59.990-59.999");
    expect(await opened.page.getByText("No samples are left").isVisible()).toBe(true);
    await opened.page.getByRole("button", { name: "Select all of the time" }).click();
    await settled(opened.page);
    expect(await painted(opened.page)).toBeGreaterThan(0.02);
    await opened.page.getByLabel("From").fill("30");
    await opened.page.getByLabel("From").press("Enter");
    await settled(opened.page);
    expect((await hashOf(opened)).get("time")).toBe("30.000-60.000");
  });

  it("is selected within seconds, too", async () => {
    const opened = await browser.openText(FULL);
    const { page } = opened;
    await page.getByText("Within each second").click();
    const picture = page.locator(".heat-picture");
    await expect
      .poll(() => painted(page, "", ".heat-picture canvas"), { timeout: 10_000 })
      .toBeGreaterThan(0.02);
    await picture.scrollIntoViewIfNeeded();
    const box = await picture.boundingBox();
    if (!box) throw new Error("no picture within seconds");
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 3 });
    await page.mouse.up();
    await settled(page);
    const [from, to] = ((await hashOf(opened)).get("time") ?? "").split("-").map(Number);
    expect(from).toBeGreaterThan(29);
    expect(to).toBeLessThan(44);
    expect(await page.locator(".time-fields").innerText()).toMatch(/\d+ of \d+ samples/);
    expect(await broken(page)).toEqual([]);
    expect(opened.wrong).toEqual([]);
  });

  it("stands with the graph on the first screen of a wide window", async () => {
    const { page } = await browser.openText(FULL, "", { viewport: { width: 1440, height: 900 } });
    const canvas = await page.locator(".frame canvas").boundingBox();
    expect(canvas?.y).toBeLessThan(860);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(
      "Skip to the flame graph",
    );
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("flame-section");
  });
});

describe("other views", () => {
  it("turn the graph to callers and around one function, and back", async () => {
    const opened = await browser.openText(FULL, "#shape=callers");
    await opened.page.getByRole("searchbox", { name: /Find/ }).fill("^kfpu_end$");
    await settled(opened.page);
    const share = await opened.page.locator(".search-result").innerText();
    expect(share).toMatch(/1 name/);
    await opened.page.getByRole("button", { name: "As sampled" }).click();
    await settled(opened.page);
    expect(await opened.page.locator(".search-result").innerText()).toBe(share);
    expect((await hashOf(opened)).has("shape")).toBe(false);
  });

  it("follow the keys f, x, s and a", async () => {
    const opened = await browser.openText(FULL, "#find=%5Ekfpu_end%24");
    const hash = () => hashOf(opened);
    await press(opened, "n", "f");
    expect((await hash()).get("focus")).toBe("^kfpu_end$");
    expect(await shown(opened)).toMatch(/decrypt 100\.0/);
    await press(opened, "a", "n", "s");
    expect([(await hash()).get("shape"), (await hash()).get("of")]).toEqual([
      "sandwich",
      "kfpu_end",
    ]);
    await press(opened, "s", "n", "x");
    expect((await hash()).get("hide")).toBe("^kfpu_end$");
    expect(await opened.page.locator(".search-result").innerText()).toBe("No function matches.");
    await press(opened, "a", "]");
    expect((await hash()).get("time")).toBe("0.000-6.000");
    expect(opened.wrong).toEqual([]);
  });

  it("show callers above and callees below, each with its own keys", async () => {
    const opened = await browser.openText(FULL, "#shape=sandwich&of=aes_encrypt_block");
    const { page } = opened;
    const [above, below] = [
      page.getByRole("tree", { name: /^Callers/ }),
      page.getByRole("tree", { name: /^Call tree/ }),
    ];
    const current = (tree: typeof above) =>
      tree.locator("[role=treeitem][aria-selected=true]").innerText();
    for (const tree of [above, below]) expect(await current(tree)).toMatch(/^aes_encrypt_block/);
    await above.focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await settled(opened.page);
    expect(await current(above)).toMatch(/^ccm_|^aes_/);
    expect(await current(below)).toMatch(/^aes_encrypt_block/);
    expect((await hashOf(opened)).has("node")).toBe(false);
    await shoot(page, "sandwich");
    expect(await broken(page)).toEqual([]);
    const both = page.getByRole("button", { name: "Both sides of it" });
    expect(await both.getAttribute("aria-pressed")).toBe("true");
    await both.click();
    await settled(page);
    expect((await hashOf(opened)).has("shape")).toBe(false);
    expect(await above.count()).toBe(0);
    expect(opened.wrong).toEqual([]);
  });

  it("show samples in order of time, coloured by module, with all of the graph in a strip", async () => {
    const opened = await browser.openText(FULL);
    const { page } = opened;
    await page.getByText("Other views").click();
    await page.getByRole("button", { name: "by module" }).click();
    await page.getByRole("button", { name: "In order of time" }).click();
    await settled(page);
    expect(await shown(opened)).toMatch(/zfs \d/);
    await page.getByRole("button", { name: "by origin" }).click();
    await settled(page);
    expect((await hashOf(opened)).get("colour")).toBe("origin");
    expect(await shown(opened)).toMatch(/kernel \d/);
    expect(await painted(page)).toBeGreaterThan(0.02);
    const strip = page.locator(".minimap");
    expect(await strip.isVisible()).toBe(false);
    await press(opened, "+", "+");
    expect(await strip.isVisible()).toBe(true);
    const before = (await hashOf(opened)).get("range");
    await strip.click({ position: { x: 5, y: 10 } });
    await settled(page);
    expect((await hashOf(opened)).get("range")).not.toBe(before);
    await shoot(page, "in-time");
    expect(await broken(page)).toEqual([]);
    expect(opened.wrong).toEqual([]);
  });

  it("are saved with what is selected", async () => {
    const opened = await browser.openText(FULL, "#time=0-30");
    await opened.page.getByText("Save", { exact: true }).click();
    for (const [name, file] of [
      ["folded", "zwhy.folded"],
      ["pprof", "zwhy.pb.gz"],
      ["SVG", "zwhy.svg"],
      ["PNG", "zwhy.png"],
    ]) {
      const [download] = await Promise.all([
        opened.page.waitForEvent("download"),
        opened.page.getByRole("button", { name, exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(file);
      expect(statSync(await download.path()).size).toBeGreaterThan(100);
    }
    expect(opened.wrong).toEqual([]);
  });

  it("keep only what matches", async () => {
    const opened = await browser.openText(FULL, "#without=idle");
    expect(await shown(opened)).not.toMatch(/idle/);
    expect(opened.wrong).toEqual([]);
  });
});

it("shows facts as text", async () => {
  const { page, wrong } = await browser.openText(FULL);
  expect(await page.getByText("<img src=x onerror=alert(1)>").count()).toBe(1);
  expect(wrong).toEqual([]);
});

it.each([
  [1440, "light"],
  [1024, "dark"],
  [390, "light"],
] as const)("breaks no rule and overflows nothing at %i, %s", async (width, colorScheme) => {
  for (const [name, html] of [
    ["full", FULL],
    ["compare", COMPARED],
  ]) {
    const options = { viewport: { width, height: 900 }, colorScheme };
    const { page, wrong } = await browser.openText(html, "", options);
    await page.screenshot({
      path: new URL(`${name}-${width}-${colorScheme}.png`, SHOTS).pathname,
      fullPage: true,
    });
    expect(await broken(page)).toEqual([]);
    const over = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(over).toBeLessThanOrEqual(0);
    expect(wrong).toEqual([]);
  }
});

describe("a comparison", () => {
  it("says first whether it helped, then lists only what really changed", async () => {
    const { page, wrong } = await browser.openText(COMPARED);
    expect(await page.locator(".why").innerText()).toMatch(/^It helped/);
    expect(await page.locator(".why-basis").innerText()).toMatch(/<script>alert/);
    const stages = page.getByRole("region", { name: "Changed by stage" });
    expect(await stages.getByRole("row").count()).toBe(2);
    await stages.getByRole("button", { name: /Show all 2/ }).click();
    expect(await stages.getByRole("row").count()).toBe(3);
    await page.getByRole("button", { name: "aes_encrypt_block" }).click();
    await settled(page);
    expect(await page.locator(".search-result").innerText()).toMatch(/1 name/);
    expect(wrong).toEqual([]);
  });

  it("is saved with both profiles, and copied as Markdown", async () => {
    const opened = await browser.openText(COMPARED, "", { permissions: ["clipboard-read"] });
    const { page } = opened;
    await page.getByText("Save", { exact: true }).click();
    const text = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click(),
      ]);
      return readFileSync(await download.path(), "utf8");
    };
    const stacks = (await text("folded")).trimEnd().split("\n");
    expect(stacks.length).toBeGreaterThan(5);
    for (const line of stacks) expect(line).toMatch(/ \d+ \d+$/);
    expect(await text("CSV")).toMatch(/^function,module,before_self,.*after_total_share\r\n/);
    const scope = JSON.parse(await text("speedscope"));
    expect(scope.profiles.map((one: { name: string }) => one.name)).toEqual(["before", "after"]);
    const svg = await text("SVG");
    const titles = svg.match(/<title>[^<]*\(before [^<]* after [^<]* change /g);
    expect(titles?.length).toBe(svg.match(/<rect/g)?.length);
    for (const name of ["pprof", "PNG"]) expect((await text(name)).length).toBeGreaterThan(100);
    await page.getByRole("button", { name: "Copy as Markdown" }).click();
    await page.getByText("Copied.").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^### It helped/);
    expect(copied).toContain("\\<script\\>");
    expect(opened.wrong).toEqual([]);
  });
});
