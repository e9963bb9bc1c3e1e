// How the page is built: one HTML file with everything inlined and locked by a content policy.

import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { elements, importElements } from "./build/elements.ts";
import { kernel } from "./build/kernel.ts";
import { lockDown } from "./build/lock-down.ts";

const shared = kernel();

export default defineConfig({
  base: "./",
  oxc: { jsx: elements },
  plugins: [
    shared.plugin,
    importElements(),
    viteSingleFile({ removeViteModuleLoader: true }),
    lockDown(shared.code),
  ],
  build: {
    target: "es2022",
    // From these on a browser knows light-dark(); what older ones need instead is 0.6 kB.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    reportCompressedSize: false,
  },
});
