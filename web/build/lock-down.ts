// Gives the built page its content policy: no network, and only the script and style in the file.
//
// The script moves to the end of the body, behind the data marker, so that the data blocks are
// parsed before it runs. What it shares with its worker, the kernel, goes into the head. The build fails when the
// marker is not there exactly once: the Rust side replaces its first occurrence.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";
import { minified } from "./minify.ts";

export const MARKER = "<!--zwhy:data-->";
/** Where a page wants its kernel; one without the place has none. */
export const KERNEL_PLACE = "<!--zwhy:kernel-->";
const POLICY_PLACE = "<!--zwhy:policy-->";

function sha256(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

function hashesOf(html: string, element: RegExp): string[] {
  return [...html.matchAll(element)].map((found) => sha256(found[1] ?? ""));
}

/** The page with its script behind the marker, its kernel in the head, and a policy that allows only what it holds. */
export function lock(html: string, kernel: string | null = null): string {
  const scripts = [...html.matchAll(/<script\b[^>]*>[\s\S]*?<\/script>/g)].map((found) => found[0]);
  if (scripts.length !== 1)
    throw new Error(`expected one script in the page, found ${scripts.length}`);
  const script = scripts[0].replace(/^<script\b[^>]*>/, '<script type="module">');
  // A function as replacement: minified code may hold `$&`, which a string would expand.
  const head = kernel === null ? "" : `<script>${kernel}</script>`;
  if (/<\/script|<!--/i.test(kernel ?? "")) throw new Error("the kernel would end its own element");
  const moved = html
    .replace(scripts[0], () => "")
    .replace("</body>", () => `${script}\n</body>`)
    .replace(KERNEL_PLACE, () => head);
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(moved, /<script\b[^>]*>([\s\S]*?)<\/script>/g).join(" ")}`,
    `style-src ${hashesOf(moved, /<style\b[^>]*>([\s\S]*?)<\/style>/g).join(" ")}`,
    "img-src data:",
    // The worker is made of the text of the kernel, which its hash covers.
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const locked = moved.replace(
    POLICY_PLACE,
    () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
  for (const once of [MARKER, "Content-Security-Policy"]) {
    const count = locked.split(once).length - 1;
    if (count !== 1) throw new Error(`expected ${once} once in the page, found it ${count} times`);
  }
  if (locked.indexOf(MARKER) > locked.indexOf("<script type=")) {
    throw new Error("the script must come after the data marker");
  }
  return locked;
}

/** `kernel` gives the script for the head. */
export function lockDown(kernel: () => Promise<string | null>): Plugin {
  return {
    name: "zwhy-lock-down",
    enforce: "post",
    generateBundle: {
      order: "post",
      async handler(_options, bundle) {
        const head = await kernel();
        for (const output of Object.values(bundle)) {
          if (output.type === "asset" && output.fileName.endsWith(".html")) {
            const html = String(output.source);
            const script = /(?<=<script\b[^>]*>)[\s\S]*?(?=<\/script>)/.exec(html)?.[0] ?? "";
            const short = await minified(head, script);
            output.source = lock(
              html.replace(script, () => short.module),
              short.kernel,
            );
          }
        }
      },
    },
  };
}
