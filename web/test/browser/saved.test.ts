// What leaves the page, where names are hostile: saved files and the clipboard hold each as a name and nothing else.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOSTILE_NAMES, hostileAnswer, hostileFlame } from "../sample/hostile";
import { report } from "../sample/report";
import { Chromium, type Opened } from "./open";

/** Control, direction and other characters that hide or reorder what is around them, line ends apart. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
const LONG = "x".repeat(9_900);
const PAGE = report(hostileAnswer(), hostileFlame());

let browser: Chromium;
beforeAll(async () => {
  browser = await Chromium.start();
});
afterAll(async () => {
  await browser?.stop();
});

async function saved({ page }: Opened, name: string): Promise<Buffer> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).click(),
  ]);
  return readFileSync(await download.path());
}

async function opened(): Promise<Opened> {
  const one = await browser.openText(PAGE);
  await one.page.getByText("Save", { exact: true }).click();
  return one;
}

/** The cells of each record, as RFC 4180 has them. */
function records(csv: string): string[][] {
  return csv
    .trimEnd()
    .split("\r\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, bare]) =>
        quoted === undefined ? bare : quoted.replaceAll('""', '"'),
      ),
    );
}

describe("of hostile names", () => {
  it("the SVG is well-formed, and runs and loads nothing", async () => {
    const one = await opened();
    const svg = (await saved(one, "SVG")).toString("utf8");
    expect(svg).not.toMatch(HIDDEN);
    // As a document of its own, in which nothing but its own policy would hold a script back.
    const { page, wrong } = await browser.openText(
      `<!doctype html><html lang="en" data-ready="true"><title>x</title>${svg}`,
    );
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    const found = await page.evaluate((text) => {
      const read = new DOMParser().parseFromString(text, "image/svg+xml");
      const all = [...read.querySelectorAll("*")];
      return {
        names: [...new Set(all.map((element) => element.localName))].sort(),
        attributes: [...new Set(all.flatMap((element) => element.getAttributeNames()))],
        titles: [...read.querySelectorAll("title")].map((title) => title.textContent),
      };
    }, svg);
    expect(found.names).toEqual(["g", "rect", "svg", "text", "title"]);
    expect(found.attributes.filter((name) => /^on|href/.test(name))).toEqual([]);
    expect(found.titles.join("\n")).toContain("</script><script>window.hacked = 3</script> (");
    expect(wrong).toEqual([]);
    expect(one.wrong).toEqual([]);
  });

  it("the PNG is a picture", async () => {
    const png = await saved(await opened(), "PNG");
    expect(png.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
    expect(png.readUInt32BE(16)).toBeGreaterThan(300);
  });

  it("the CSV has a record for each function, and no formula", async () => {
    const csv = (await saved(await opened(), "CSV")).toString("utf8");
    expect(csv).not.toMatch(HIDDEN);
    const [head, ...rows] = records(csv);
    expect(head).toEqual(["function", "module", "self", "total", "self_share", "total_share"]);
    // The root, the frame that calls them, and each of them.
    expect(rows.length).toBe(HOSTILE_NAMES.length + 2);
    for (const row of rows) {
      expect(row.length).toBe(6);
      expect(row[0]).not.toMatch(/^[=+\-@]/);
      expect(Number(row[3])).toBeGreaterThan(0);
    }
    const names = rows.map((row) => row[0]);
    expect(names).toContain('"><img src=x onerror="window.hacked = 2">');
    expect(names.join()).toContain(LONG);
  });

  it("folded stacks have a line each, and speedscope's file is JSON", async () => {
    const one = await opened();
    const text = (await saved(one, "folded")).toString("utf8");
    expect(text).not.toMatch(HIDDEN);
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBe(HOSTILE_NAMES.length);
    for (const line of lines) expect(line).toMatch(/^outer;[^;]* \d+$/);
    const scope = JSON.parse((await saved(one, "speedscope")).toString("utf8"));
    expect(scope.shared.frames.some(({ name }: { name: string }) => HIDDEN.test(name))).toBe(false);
  });

  it("a finding as Markdown has no markup of theirs", async () => {
    const one = await browser.openText(PAGE, "#finding=2", { permissions: ["clipboard-read"] });
    await one.page.getByRole("button", { name: "Copy as Markdown" }).click();
    await one.page.getByText("Copied.").waitFor();
    const text = await one.page.evaluate(() => navigator.clipboard.readText());
    expect(text).not.toMatch(HIDDEN);
    const [prose, commands] = text.split("```sh\n");
    expect(prose).not.toMatch(/(?<!\\)[<>`*[\]]/);
    expect(prose.split("\n").filter((line) => line.startsWith("#")).length).toBe(1);
    expect(commands.split("```").length).toBe(2);
  });
});
