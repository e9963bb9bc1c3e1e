// Writes elements as calls with their children as arguments, `h("p", null, a, b)`: the page has hundreds of them,
// and is 6 kB smaller so than with `jsx("p", { children: [a, b] })`.
//
// The names that the calls use are imported into files with elements alone: the worker has none, and needs no Preact.

import type { Plugin } from "vite";

const [ELEMENT, FRAGMENT] = ["jsxElement", "jsxFragment"];

export const elements = {
  runtime: "classic",
  pragma: ELEMENT,
  pragmaFrag: FRAGMENT,
} as const;

export function importElements(): Plugin {
  return {
    name: "zwhy-elements",
    enforce: "pre",
    transform(code, id) {
      if (!id.endsWith(".tsx")) return null;
      // On the first line, so that lines keep their numbers.
      const names = `Fragment as ${FRAGMENT}, h as ${ELEMENT}`;
      return { code: `import { ${names} } from "preact";${code}`, map: null };
    },
  };
}
