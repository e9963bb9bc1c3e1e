// How the page is built: one HTML file with everything inlined and locked by a content policy.

import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { elements, importElements } from "./build/elements.ts";
import { lockDown } from "./build/lock-down.ts";

export default defineConfig({
  base: "./",
  oxc: { jsx: elements },
  plugins: [importElements(), viteSingleFile({ removeViteModuleLoader: true }), lockDown()],
  build: {
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: false,
  },
});
