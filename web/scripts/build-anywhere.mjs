// Puts the engine into the page that needs no installation: node scripts/build-anywhere.mjs ENGINE.wasm PAGE.html

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { WEB } from "./build-page.mjs";

/** The page is one file to be sent by mail or kept in a repository. */
const MOST_BYTES = 4_000_000;

const sha256 = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

/** A script of `src/anywhere/` on its own, with the style that it imports. */
async function script(name, define = {}) {
  const lib = { entry: join(WEB, "src/anywhere", `${name}.ts`), formats: ["iife"], name: "zwhy" };
  const made = await build({
    configFile: false,
    root: WEB,
    logLevel: "warn",
    define,
    build: {
      write: false,
      target: "es2022",
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      lib,
    },
  });
  const parts = [made].flat().flatMap((one) => one.output);
  const code = parts.find((part) => part.type === "chunk").code.trim();
  const style = parts.find((part) => part.fileName.endsWith(".css"))?.source ?? "";
  return { code, style: String(style).trim() };
}

/** Seven bits a character, which takes an eighth less than base64; what HTML would change or end at is lifted above ASCII. */
function asText(bytes) {
  let [held, bits, text] = [0, 0, ""];
  const put = (value) => {
    // NUL, CR and `<`.
    text += String.fromCharCode([0, 13, 60].includes(value) ? value + 0x100 : value);
  };
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 7) {
      bits -= 7;
      put(held >> bits);
      held &= (1 << bits) - 1;
    }
  }
  if (bits > 0) put(held << (7 - bits));
  return text;
}

/** Sources of one kind that the engine's report allows: it is shown in a frame, which has this page's policy too. */
function allowedByReport(kind) {
  const policies = program.matchAll(/Content-Security-Policy" content="([^"]*)"/g);
  const sources = [...policies].flatMap(([, policy]) => {
    return policy.match(new RegExp(`${kind}-src ([^;]*)`))[1].split(" ");
  });
  if (sources.length === 0) throw new Error("the engine has no report");
  return [...new Set(sources)].join(" ");
}

function filled(html, place, text) {
  if (html.split(place).length !== 2) throw new Error(`the page must have ${place} once`);
  // A function as replacement: minified code may hold `$&`, which a string would expand.
  return html.replace(place, () => text);
}

function policyOf(code, style) {
  return [
    "default-src 'none'",
    `script-src 'wasm-unsafe-eval' ${sha256(code)} ${allowedByReport("script")}`,
    `style-src ${sha256(style)} ${allowedByReport("style")}`,
    "img-src data:",
    // Worker and report are made of what is in this file.
    "worker-src blob:",
    "frame-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

const [engine, out] = process.argv.slice(2);
if (!engine || !out) {
  console.error("usage: node scripts/build-anywhere.mjs ENGINE.wasm PAGE.html");
  process.exit(2);
}
const program = readFileSync(engine, "latin1");
const worker = await script("worker");
const { code, style } = await script("main", { WORKER: JSON.stringify(worker.code) });
if (/<\/script|<!--/i.test(code)) throw new Error("the script would end its own element");
const packed = asText(gzipSync(Buffer.from(program, "latin1"), { level: 9 }));
const parts = {
  policy: `<meta http-equiv="Content-Security-Policy" content="${policyOf(code, style)}">`,
  style: `<style>${style}</style>`,
  engine: `<script type="application/zwhy" id="engine">${packed}</script>`,
  script: `<script>${code}</script>`,
};
let html = readFileSync(join(WEB, "anywhere.html"), "utf8");
for (const [name, text] of Object.entries(parts)) html = filled(html, `<!--zwhy:${name}-->`, text);
const size = Buffer.byteLength(html);
if (size > MOST_BYTES) throw new Error(`the page has ${size} bytes, more than ${MOST_BYTES}`);
writeFileSync(out, html);
console.log(`${out}: ${size} bytes`);
