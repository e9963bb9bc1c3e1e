// The page in chromium, from disk: what a reader sees and does, and that nothing goes wrong.

import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answer, diffBlock, flameBlock, TOTAL } from "../sample/encryption";
import { blockOf, encode, folded } from "../sample/flame";
import { hostileAnswer, hostileFlame } from "../sample/hostile";
import { blockElement, pack, report, reportWith, template } from "../sample/report";
import { broken } from "./axe";
import { Chromium, goBack, hashOf, type Opened, painted, settled } from "./open";

const SHOTS = new URL("../../shots/", import.meta.url);
/** A flame graph of folded stacks. */
const flameOf = (stacks: string) => blockOf(stacks === "" ? [] : folded(stacks));
const REPORT = report(answer(), flameBlock());

let browser: Chromium;
beforeAll(async () => {
  browser = await Chromium.start();
  mkdirSync(SHOTS, { recursive: true });
});
afterAll(async () => {
  await browser?.stop();
});

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: new URL(`${name}.png`, SHOTS).pathname, fullPage: true });
}

const tree = (page: Page) => page.getByRole("tree");
const statusText = (page: Page) => page.locator(".search-result").innerText();

async function press(opened: Opened, ...keys: string[]): Promise<void> {
  await tree(opened.page).focus();
  for (const key of keys) await opened.page.keyboard.press(key);
  await settled(opened.page);
}

/** The canvas, scrolled into the window. */
async function canvasBox(page: Page) {
  await page.locator("#flame-section").evaluate((section) => section.scrollIntoView());
  const box = await page.locator(".frame canvas").boundingBox();
  if (!box) throw new Error("no canvas");
  return box;
}

/** The widest place of a row of the graph, counted from the root. */
async function clickRow(opened: Opened, row: number): Promise<void> {
  const box = await canvasBox(opened.page);
  await opened.page.mouse.click(box.x + box.width / 3, box.y + box.height - 20 * row - 10);
  await settled(opened.page);
}

describe("a report", () => {
  it("opens from disk without errors or requests, and answers first", async () => {
    const { page, wrong } = await browser.openText(REPORT);
    expect(await page.locator(".why").innerText()).toMatch(/AES-CCM decryption takes 68.5\s%/);
    // Two to run, and one that takes them back, folded away.
    expect(await page.locator(".commands code").count()).toBe(3);
    expect(await page.locator(".commands code:visible").count()).toBe(2);
    const headings = await page.getByRole("heading", { level: 2 }).allInnerTexts();
    expect(headings.map((text) => text.toLowerCase())).toEqual([
      "why",
      "do",
      "limit",
      "who asks",
      "findings",
      "evidence for 1",
      "flame graph",
      "cpu by stage",
      "what one cpu here can do",
      "operations",
      "cpu by thread",
      "cpu by origin",
      "waiting",
      "data quality",
    ]);
    // In full colour: nothing is dimmed before the reader asks for something.
    expect(await painted(page, "#f7c15f")).toBeGreaterThan(0.05);
    await shoot(page, "report-1280-light");
    expect(wrong).toEqual([]);
  });

  it("has the stage table with shares and intervals", async () => {
    const { page } = await browser.openText(REPORT);
    const row = page.getByRole("row", { name: /^decrypt/ });
    expect(await row.innerText()).toMatch(/68\.\d\s%\s+67\.\d–69\.\d/);
    expect(await page.getByRole("row", { name: /of which FPU state/ }).innerText()).toMatch(
      /38\.\d\s%/,
    );
  });

  it.each([
    ["1280-dark", { colorScheme: "dark" as const }],
    ["400-light", { viewport: { width: 400, height: 800 } }],
    ["400-dark", { viewport: { width: 400, height: 800 }, colorScheme: "dark" as const }],
  ])("breaks no rule and overflows nothing at %s", async (name, options) => {
    const { page, wrong } = await browser.openText(REPORT, "", options);
    await shoot(page, `report-${name}`);
    expect(await broken(page)).toEqual([]);
    const over = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(over).toBeLessThanOrEqual(0);
    expect(wrong).toEqual([]);
  });

  it.each([
    ["the graph", ""],
    ["a search", "#find=kfpu&icicle=1"],
    ["a bad search", "#find=kfpu("],
    ["the table", "#view=table"],
    ["the second finding", "#finding=1&stage=copy"],
  ])("breaks no rule with %s", async (_name, hash) => {
    const { page, wrong } = await browser.openText(REPORT, hash);
    expect(await broken(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  it("shows the stacks of an evidence line, and Back undoes it", async () => {
    const opened = await browser.openText(REPORT);
    const { page } = opened;
    await page.getByRole("button", { name: /Show stacks: The FPU state/ }).click();
    await settled(page);
    expect((await hashOf(opened)).get("find")).toBe("^(kfpu_begin|kfpu_end)(\\.\\w+)*$");
    expect(Number((await hashOf(opened)).get("zoom"))).toBeGreaterThan(0);
    expect(await statusText(page)).toMatch(/2 names, 38\.\d\s%/);
    expect(
      await page.locator("#flame-section").evaluate((e) => e.getBoundingClientRect().top),
    ).toBeLessThan(200);
    await shoot(page, "show-stacks");
    await goBack(opened);
    expect((await hashOf(opened)).toString()).toBe("");
    expect(await page.getByRole("searchbox").inputValue()).toBe("");
  });

  it("copies exactly the commands shown", async () => {
    const { page } = await browser.openText(REPORT, "", { permissions: ["clipboard-read"] });
    await page.getByRole("button", { name: "Copy commands" }).click();
    await page.getByText("Copied.").waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text.split("\n")[0]).toBe("zfs snapshot tank/games@move");
  });

  it("chooses another finding", async () => {
    const opened = await browser.openText(REPORT);
    await opened.page.getByRole("button", { name: /One thread evicts/ }).click();
    expect((await hashOf(opened)).get("finding")).toBe("1");
    expect(await opened.page.locator(".evidence").innerText()).toMatch(/dbuf_cache_shift/);
  });
});

describe("the flame graph", () => {
  it("zooms by click, back by Back, and resets", async () => {
    const opened = await browser.openText(REPORT);
    const before = await painted(opened.page);
    await clickRow(opened, 4);
    expect(Number((await hashOf(opened)).get("zoom"))).toBeGreaterThan(0);
    expect(await painted(opened.page)).not.toBe(before);
    await clickRow(opened, 7);
    const deep = (await hashOf(opened)).get("zoom");
    await goBack(opened);
    expect((await hashOf(opened)).get("zoom")).not.toBe(deep);
    await opened.page.getByRole("button", { name: "Reset zoom" }).click();
    expect((await hashOf(opened)).get("zoom")).toBeNull();
    expect(opened.wrong).toEqual([]);
  });

  it("searches by regular expression with the exact share", async () => {
    const { page, wrong } = await browser.openText(REPORT);
    await page.getByRole("searchbox").fill("kfpu|aes_xor");
    await settled(page);
    const share = ((2420 + 2110 + 720) / TOTAL) * 100;
    expect(await statusText(page)).toBe(`3 names, ${share.toFixed(1)}\u00a0% of all`);
    await page.getByRole("searchbox").fill("zio");
    await shoot(page, "search");
    await page.getByRole("searchbox").fill("(");
    expect(await statusText(page)).toMatch(/Not a regular expression/);
    await page.getByRole("searchbox").fill("nothing_like_it");
    expect(await statusText(page)).toBe("No function matches.");
    expect(await page.getByText("Did you mean").count()).toBe(0);
    await page.getByRole("searchbox").fill("kfpu_edn");
    expect(await broken(page)).toEqual([]);
    await page.getByText("Did you mean").getByRole("button", { name: "kfpu_end" }).click();
    expect(await statusText(page)).toMatch(/^1 name/);
    await page.getByRole("searchbox").press("Escape");
    expect(await statusText(page)).toBe("");
    expect(wrong).toEqual([]);
  });

  it("is driven by keys alone", async () => {
    const opened = await browser.openText(REPORT);
    const current = () => opened.page.locator("[role=treeitem][aria-selected=true]").innerText();
    await press(opened, "ArrowUp");
    expect(await current()).toMatch(/^ret_from_fork, kernel/);
    await press(opened, "ArrowLeft");
    expect(await current()).toMatch(/^postgres/);
    await press(opened, "ArrowRight", "ArrowUp", "ArrowUp", "ArrowDown", "Enter");
    expect(await current()).toMatch(/^kthread/);
    expect((await hashOf(opened)).get("zoom")).toBe((await hashOf(opened)).get("node"));
    await press(opened, "Backspace");
    expect((await hashOf(opened)).get("zoom")).toBeNull();
    await press(opened, "v");
    expect((await hashOf(opened)).get("icicle")).toBe("1");
    await press(opened, "v", "+", "+", "Shift+ArrowRight");
    expect((await hashOf(opened)).get("range")).toMatch(/^0\.\d+-0\.\d+$/);
    await press(opened, "0");
    expect((await hashOf(opened)).get("range")).toBeNull();
    await press(opened, "/");
    await opened.page.keyboard.type("aes_");
    await settled(opened.page);
    await press(opened, "n");
    const first = await current();
    await press(opened, "n", "N");
    expect(await current()).toBe(first);
    await press(opened, "t");
    expect((await hashOf(opened)).get("view")).toBe("table");
    await settled(opened.page);
    await opened.page.keyboard.press("t");
    await settled(opened.page);
    expect((await hashOf(opened)).get("view")).toBeNull();
    await opened.page.keyboard.press("?");
    await opened.page.getByRole("dialog").waitFor();
    expect(await broken(opened.page)).toEqual([]);
    await opened.page.keyboard.press("Escape");
    await opened.page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(opened.wrong).toEqual([]);
  });

  it("lets the reader switch single keys off", async () => {
    const opened = await browser.openText(REPORT, "#keys=0");
    await press(opened, "v", "t", "?");
    expect((await hashOf(opened)).toString()).toBe("keys=0");
    await press(opened, "ArrowUp");
    expect((await hashOf(opened)).get("node")).not.toBeNull();
  });

  it("flips root and leaves", async () => {
    const { page } = await browser.openText(REPORT);
    const rootRow = (at: "top" | "bottom") =>
      page.evaluate((place) => {
        const canvas = document.querySelector("canvas");
        if (!canvas) return false;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
        if (!copy) return false;
        copy.drawImage(canvas, 0, 0);
        const y = place === "top" ? 3 : canvas.height - 5;
        const { data } = copy.getImageData(canvas.width - 40, y, 1, 1);
        return data[0] !== 255 || data[1] !== 255;
      }, at);
    expect([await rootRow("top"), await rootRow("bottom")]).toEqual([false, true]);
    await page.getByRole("button", { name: "Icicle" }).click();
    await settled(page);
    expect([await rootRow("top"), await rootRow("bottom")]).toEqual([true, false]);
    await shoot(page, "icicle");
  });

  it("tells function, module, self, total and share under the pointer", async () => {
    const { page } = await browser.openText(REPORT);
    const box = await canvasBox(page);
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height - 20 * 13 - 10);
    const text = await page.locator(".tooltip").innerText();
    expect(text).toMatch(/aes_|ccm_/);
    expect(text).toMatch(/zfs · decrypt/);
    expect(text).toMatch(/total [\d,]+ samples, [\d.]+\s% of all, [\d.]+\s% of parent/);
    expect(text).toMatch(/self [\d,]+ samples, [\d.]+\s% of all/);
    await page.screenshot({ path: new URL("tooltip.png", SHOTS).pathname });
  });

  it("highlights a stage from its legend or table", async () => {
    const opened = await browser.openText(REPORT);
    const before = await painted(opened.page);
    await opened.page.getByRole("button", { name: /^copy/ }).first().click();
    await settled(opened.page);
    expect((await hashOf(opened)).get("stage")).toBe("copy");
    expect(await painted(opened.page)).toBeGreaterThan(0);
    expect(await painted(opened.page)).toBeLessThanOrEqual(before);
    await shoot(opened.page, "stage-copy");
  });

  it("has the same numbers as a table", async () => {
    const opened = await browser.openText(REPORT, "#view=table");
    const row = opened.page.getByRole("row", { name: /^kfpu_end/ });
    const share = ((2420 / TOTAL) * 100).toFixed(1);
    expect(await row.innerText()).toMatch(new RegExp(`${share}\\s% 2,420 samples`));
    await opened.page.getByRole("button", { name: "Total" }).click();
    expect((await hashOf(opened)).get("sort")).toBe("total");
    await shoot(opened.page, "table");
    await row.getByRole("button").click();
    expect((await hashOf(opened)).get("find")).toBe("^kfpu_end$");
  });

  it("shows what a link says", async () => {
    const { page } = await browser.openText(REPORT, "#find=arc_&icicle=1&theme=dark");
    expect(await statusText(page)).toMatch(/^3 names/);
    expect(await page.evaluate(() => document.documentElement.dataset.dark)).toBe("true");
  });

  it("takes a link to what is not there", async () => {
    const { page, wrong } = await browser.openText(
      REPORT,
      "#zoom=99999&node=99999&finding=99&stage=x",
    );
    expect(await painted(page)).toBeGreaterThan(0.3);
    expect(wrong).toEqual([]);
  });

  it("shows waiting apart from CPU, and the switch only where there are both", async () => {
    const one = await browser.openText(REPORT);
    expect(await one.page.getByRole("group", { name: "Samples of" }).count()).toBe(0);
    const html = reportWith([
      blockElement("answer", pack(JSON.stringify(answer()))),
      blockElement("flame", pack(encode(flameBlock()))),
      blockElement("flame-wait", pack(encode(diffBlock()))),
    ]);
    const opened = await browser.openText(html);
    const { page, wrong } = opened;
    const kinds = page.getByRole("group", { name: "Samples of" });
    expect(await kinds.getByRole("button").allInnerTexts()).toEqual(["CPU", "Waiting"]);
    await kinds.getByRole("button", { name: "Waiting" }).click();
    await settled(page);
    expect((await hashOf(opened)).get("event")).toBe("wait");
    expect(await page.locator(".legend").innerText()).toContain("less than before");
    await goBack(opened);
    expect(await page.locator(".legend").innerText()).not.toContain("less than before");
    expect(await broken(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  it("shows a comparison with signs", async () => {
    const { page, wrong } = await browser.openText(report(answer(), diffBlock()));
    expect(await page.locator(".legend").innerText()).toMatch(
      /less than before.*more than before/s,
    );
    expect(await painted(page)).toBeGreaterThan(0.3);
    await shoot(page, "diff");
    expect(await broken(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });
});

describe("bad and hostile files", () => {
  it("shows hostile names as text and runs nothing of them", async () => {
    const html = report(hostileAnswer(), hostileFlame());
    for (const hash of ["", "#view=table", "#find=script", "#finding=13"]) {
      const { page, wrong } = await browser.openText(html, hash);
      expect(await page.evaluate(() => "hacked" in window)).toBe(false);
      expect(await page.locator("#app script, #app img").count()).toBe(0);
      expect(await page.locator("a[href^='javascript:']").count()).toBe(0);
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      await shoot(page, "hostile");
      expect(over).toBeLessThanOrEqual(0);
      expect(wrong).toEqual([]);
    }
  });

  it("never copies what is not shown", async () => {
    const evil = answer();
    (evil.findings as { remedy: { commands: string[] } }[])[0].remedy.commands = [
      "zfs set a=b\nrm -rf x\u202e",
    ];
    const { page } = await browser.openText(report(evil, flameBlock()), "", {
      permissions: ["clipboard-read"],
    });
    await page.getByRole("button", { name: "Copy command" }).click();
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      "zfs set a=b\nrm -rf x\\u{202e}\n",
    );
    // Each line is seen as one: the second is not hidden behind the first.
    const seen = await page.locator(".commands code:visible").allInnerTexts();
    expect(seen).toEqual(["zfs set a=b", "rm -rf x\\u{202e}"]);
  });

  it("blocks scripts that are not its own", async () => {
    const html = reportWith([
      "<script>window.hacked = 1</script>",
      "<img src=x onerror='window.hacked = 2'>",
    ]);
    const { page, wrong } = await browser.openText(html);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(wrong.join()).toMatch(/Content Security Policy/);
  });

  it("says that the template is empty", async () => {
    const { page, wrong } = await browser.openText(template());
    expect(await page.locator("main").innerText()).toMatch(/empty report template/);
    expect(await broken(page)).toEqual([]);
    await shoot(page, "empty");
    expect(wrong).toEqual([]);
  });

  const good = blockElement("answer", pack(JSON.stringify(answer())));
  it.each([
    [
      "cut flame block",
      [good, blockElement("flame", pack("ZWF2").slice(0, 12))],
      /not a whole gzip/,
    ],
    [
      "foreign flame block",
      [good, blockElement("flame", pack("PNG…"))],
      /does not begin with ZWF2/,
    ],
    ["no flame block", [good], /without stacks/],
    ["damaged answer", [blockElement("answer", pack("{"))], /answer block is not JSON/],
    ["newer answer", [blockElement("answer", pack('{"schema":3,"why":"newer"}'))], /schema 3/],
  ])("keeps the usable sections with a %s", async (_name, elements, message) => {
    const { page, wrong } = await browser.openText(reportWith(elements));
    expect(await page.locator("main").innerText()).toMatch(message);
    expect(await broken(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  it.each([
    ["no samples", flameOf("")],
    ["one sample", flameOf("dd;read;arc_read 1")],
  ])("is a whole page with %s, no counters, no threads and no facts", async (_name, flame) => {
    const bare = { ...answer(), findings: [], do: null, threads: [], stages: [], paths: [] };
    const { page, wrong } = await browser.openText(report(bare, flame));
    expect(await page.locator("h1").innerText()).toBe("zwhy");
    for (const hash of [
      "#view=table",
      "#shape=time",
      "#shape=sandwich&of=read",
      "#colour=module",
      "#colour=origin",
    ]) {
      await page.evaluate((to) => {
        window.location.hash = to;
      }, hash);
      await settled(page);
      expect(await broken(page)).toEqual([]);
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    [{ samples: 0, lost: 6260 }, {}, /All 6,260 samples of this file are lost/],
    [{ samples: 1, lost: 0 }, {}, /Only 1 sample:/],
    [{ samples: 900, lost: 3 }, { cut_at: 20000 }, /A part of this file could not be read/],
  ])("says on top what the answer lacks: %o", async (source, quality, message) => {
    const scant = {
      ...answer(),
      source: { ...(answer().source as object), ...source },
      quality: { ...(answer().quality as object), ...quality },
    };
    const { page } = await browser.openText(report(scant, flameBlock()));
    expect(await page.locator(".verdict").innerText()).toMatch(message);
  });

  it("stays usable with few samples and no findings", async () => {
    const few = {
      ...answer(),
      findings: [],
      do: null,
      why: "Too little was seen to name a cause.",
      source: { ...(answer().source as object), samples: 57 },
    };
    const { page } = await browser.openText(report(few, flameBlock()));
    const text = await page.locator("main").innerText();
    expect(text).toMatch(/Only 57 samples/);
    expect(text).toMatch(/No known cause has enough evidence/);
    expect(await broken(page)).toEqual([]);
  });
});
