// Opens pages in chromium from disk, as a reader does, and gathers everything that went wrong.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Only a page that hangs takes longer, on the busiest machine. */
const PATIENCE_MS = 240_000;
const CHROMIUM = process.env.ZWHY_CHROMIUM ?? "/usr/bin/chromium";

export interface Opened {
  readonly page: Page;
  /** Console errors and warnings, uncaught errors, and requests other than the file itself. */
  readonly wrong: string[];
}

export class Chromium {
  private readonly folder = mkdtempSync(join(tmpdir(), "zwhy-web-test-"));
  private files = 0;
  private constructor(private readonly browser: Browser) {}

  static async start(): Promise<Chromium> {
    if (!existsSync(CHROMIUM)) {
      throw new Error(
        `no browser at ${CHROMIUM}: install the Debian package chromium, or set ZWHY_CHROMIUM`,
      );
    }
    // Chromium refuses its sandbox to root, as which tests in containers run.
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    return new Chromium(
      await chromium.launch({ executablePath: CHROMIUM, args, timeout: PATIENCE_MS }),
    );
  }

  async stop(): Promise<void> {
    await this.browser.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** `before` is a script that runs before any of the page. */
  async openText(
    html: string,
    hash = "",
    options: BrowserContextOptions = {},
    before = "",
  ): Promise<Opened> {
    const file = join(this.folder, `${this.files++}.html`);
    writeFileSync(file, html);
    return this.openFile(file, hash, options, before);
  }

  async openFile(
    file: string,
    hash = "",
    options: BrowserContextOptions = {},
    before = "",
  ): Promise<Opened> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 900 },
      colorScheme: "light",
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    if (before !== "") await context.addInitScript(before);
    const page = await context.newPage();
    const wrong: string[] = [];
    const url = pathToFileURL(file).href;
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) wrong.push(message.text());
    });
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("request", (request) => {
      // A worker is made of a text that the page has: blob: is no place elsewhere.
      if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) {
        wrong.push(`request to ${request.url()}`);
      }
    });
    page.on("dialog", (dialog) => {
      wrong.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${url}${hash}`);
    await page.waitForSelector("html[data-ready=true]");
    await settled(page);
    return { page, wrong };
  }
}

/** Waits until what was asked for is drawn: the page says of its canvas whether a drawing is still due. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => done()));
      }),
  );
  await page.waitForFunction(() =>
    [...document.querySelectorAll<HTMLElement>(".frame canvas")].every(
      (canvas) => canvas.dataset.drawn === "true",
    ),
  );
}

/** The state of the page as its address has it when somebody leaves it now; else it follows a moment later. */
export async function hashOf({ page }: Opened): Promise<URLSearchParams> {
  await page.evaluate(() => window.dispatchEvent(new Event("pagehide")));
  return new URLSearchParams(await page.evaluate(() => window.location.hash.slice(1)));
}

/** The Back button; the page follows when it has the address of before. */
export async function goBack({ page }: Opened): Promise<void> {
  const before = await page.evaluate(() => window.location.hash);
  await page.goBack();
  await page.waitForFunction((hash) => window.location.hash !== hash, before);
  await settled(page);
}

/** Fraction of canvas pixels of one colour (#rrggbb), or of any that is not background. */
export async function painted(page: Page, colour = "", where = ".frame canvas"): Promise<number> {
  return page.evaluate(
    ([hex, selector]) => {
      const canvas = document.querySelector<HTMLCanvasElement>(selector);
      if (!canvas) return 0;
      // A copy is read, because reading the canvas itself makes chromium warn on the console.
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      if (!copy) return 0;
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      const dark = document.documentElement.dataset.dark === "true";
      const sought = Number.parseInt((hex || (dark ? "#15181c" : "#ffffff")).slice(1), 16);
      let same = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]) === sought) same++;
      }
      const share = same / (data.length / 4);
      return hex === "" ? 1 - share : share;
    },
    [colour, where] as const,
  );
}
