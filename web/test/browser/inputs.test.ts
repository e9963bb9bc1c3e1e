// A file of several inputs in chromium: the list with their first lines, one of them at a time, Back.

import { afterAll, beforeAll, expect, it } from "vitest";
import { answer, flameBlock } from "../sample/encryption";
import { blockOf, encode, folded } from "../sample/flame";
import { hostileAnswer } from "../sample/hostile";
import { blockElement, pack, reportWith } from "../sample/report";
import { broken } from "./axe";
import { Chromium, goBack, hashOf, type Opened, settled } from "./open";

let browser: Chromium;
beforeAll(async () => {
  browser = await Chromium.start();
});
afterAll(async () => {
  await browser?.stop();
});

const NAMES = ["before.zwhy", "after.zwhy", '</script><img src=x onerror="alert(1)">'];
const FLAMES = [flameBlock(), blockOf(folded("fio;read;aes_gcm 70\nfio;write 30")), flameBlock()];

function several(): string {
  const answers = [answer(), { ...answer(), why: "Nothing is at its limit." }, hostileAnswer()];
  const listed = answers.map(({ why }, i) => ({ name: NAMES[i], why }));
  return reportWith([
    blockElement("inputs", pack(JSON.stringify(listed))),
    ...answers.flatMap((one, i) => [
      blockElement(i === 0 ? "answer" : `answer.${i}`, pack(JSON.stringify(one))),
      blockElement(i === 0 ? "flame" : `flame.${i}`, pack(encode(FLAMES[i]))),
    ]),
  ]);
}

const list = ({ page }: Opened) => page.getByRole("navigation", { name: "Inputs of this file" });

/** The page is opened anew for another input. */
async function shows(opened: Opened, why: RegExp): Promise<void> {
  await opened.page.locator(".why", { hasText: why }).waitFor();
  await opened.page.waitForSelector("html[data-ready=true]");
  await settled(opened.page);
}

const choose = (opened: Opened, name: string) => list(opened).getByRole("button", { name }).click();

it("lists what it holds and shows one at a time", async () => {
  const opened = await browser.openText(several());
  const { page, wrong } = opened;
  const rows = await list(opened).getByRole("listitem").allInnerTexts();
  expect(rows.map((row) => row.split(" ")[0])).toEqual([
    "before.zwhy",
    "after.zwhy",
    "</script><img",
  ]);
  expect(rows[1]).toContain("Nothing is at its limit.");
  expect(await page.locator(".why").innerText()).toMatch(/AES-CCM/);

  await choose(opened, "after.zwhy");
  await shows(opened, /^Nothing is at its limit\.$/);
  expect((await hashOf(opened)).get("input")).toBe("1");
  await page.getByRole("searchbox").fill("aes_gcm");
  await settled(page);
  expect(await page.locator(".search-result").innerText()).toMatch(/70\.0\s%/);
  expect(await broken(page)).toEqual([]);

  // First what was sought, then the other input.
  await goBack(opened);
  expect(await page.getByRole("searchbox").inputValue()).toBe("");
  await goBack(opened);
  await shows(opened, /AES-CCM/);
  await choose(opened, "onerror");
  await list(opened).locator("[aria-current=page]", { hasText: "onerror" }).waitFor();
  await page.waitForSelector("html[data-ready=true]");
  expect(wrong).toEqual([]);
});

it("shows the first where a link names one that is not there", async () => {
  const { page, wrong } = await browser.openText(several(), "#input=7");
  expect(await page.locator(".why").innerText()).toMatch(/AES-CCM/);
  expect(wrong).toEqual([]);
});

it("has no list where it holds one input, and says when the list is damaged", async () => {
  const one = [
    blockElement("answer", pack(JSON.stringify(answer()))),
    blockElement("flame", pack(encode(flameBlock()))),
  ];
  const alone = await browser.openText(reportWith(one));
  expect(await list(alone).count()).toBe(0);
  const { page } = await browser.openText(reportWith([blockElement("inputs", pack("{")), ...one]));
  expect(await page.locator("main").innerText()).toMatch(/list of inputs block is not JSON/);
});
