// Takes the pictures of README and docs from pages that zwhy wrote: node scripts/pictures.mjs NAME=PAGE.html …
//
// NAME.jpg in docs/images is the first screen of the page, light, as wide as the columns of the page stand beside
// each other. What is in a page can be read by everybody then: take captures of a machine that is nobody's.

import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const SIZE = { width: 1440, height: 1000 };

const wanted = process.argv.slice(2).map((one) => one.split("="));
if (wanted.length === 0 || wanted.some(([name, file]) => basename(name) !== name || !file)) {
  console.error("usage: node scripts/pictures.mjs NAME=PAGE.html …");
  process.exit(2);
}
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const executablePath = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args });
try {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  for (const [name, file] of wanted) {
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("html[data-ready=true]");
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".frame canvas")].every((one) => one.dataset.drawn === "true"),
    );
    await page.screenshot({ path: `${IMAGES}${name}.jpg`, type: "jpeg", quality: 82 });
    console.log(`wrote ${IMAGES}${name}.jpg`);
  }
} finally {
  await browser.close();
}
