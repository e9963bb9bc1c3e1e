// Builds src/kernel.ts as a script of its own, for the head of the page, and lets the rest of the page take from it
// what it holds instead of holding it again.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";
import { KERNEL_PLACE } from "./lock-down.ts";

/** The variable of the page that holds what the script exports. */
const NAME = "zwhy";
const ENTRY = fileURLToPath(new URL("../src/kernel.ts", import.meta.url));

interface Built {
  readonly code: string;
  readonly exports: ReadonlySet<string>;
}

/** The files from which the kernel hands something on. */
function members(): ReadonlySet<string> {
  const text = readFileSync(ENTRY, "utf8");
  const names = [...text.matchAll(/^(?:export|\}).* from "(.+)";$/gm)].map((found) => found[1]);
  return new Set(names.map((name) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))));
}

async function built(): Promise<Built> {
  const lib = { entry: ENTRY, formats: ["iife" as const], name: NAME };
  const output = { generatedCode: { symbols: false } };
  const options = { write: false, target: "es2022", lib, rolldownOptions: { output } };
  const made = await build({ configFile: false, logLevel: "warn", build: options });
  const all = Array.isArray(made) ? made : [made];
  for (const one of all) {
    const chunk = "output" in one ? one.output[0] : null;
    if (chunk) return { code: chunk.code.trim(), exports: new Set(chunk.exports) };
  }
  throw new Error("the kernel was not built");
}

export interface Kernel {
  readonly plugin: Plugin;
  /** The script; null for a page that has no place for it and holds what it needs itself. */
  readonly code: () => Promise<string | null>;
}

export function kernel(): Kernel {
  let made: Promise<Built> | null = null;
  const files = members();
  const plugin: Plugin = {
    name: "zwhy-kernel",
    enforce: "pre",
    configResolved({ build: { rolldownOptions } }) {
      const page = String(rolldownOptions.input);
      made = readFileSync(page, "utf8").includes(KERNEL_PLACE) ? built() : null;
    },
    async transform(code, id) {
      if (!made || !files.has(id)) return null;
      const has = (await made).exports;
      const names = [...code.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)]
        .map((found) => found[1])
        .filter((name) => has.has(name));
      // As calls that do nothing else, so that those which nobody uses are left out.
      const taken = names.map((n) => `export const ${n} = /* @__PURE__ */ (() => ${NAME}.${n})();`);
      return { code: taken.join("\n"), map: null };
    },
  };
  return { plugin, code: async () => (await made)?.code ?? null };
}
