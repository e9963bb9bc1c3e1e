// Makes the page shorter where a minifier may not: what it takes out is known to have no meaning here.

import type { Plugin } from "vite";

const SHAPES = /src\/data\/answer-shapes\.ts$/;

/** The types of the answer under short names: nobody but their reader asks for them, which knows `Answer` alone. */
export function shortTypes(code: string): string {
  const text = /`([^`]*)`/.exec(code)?.[1] ?? "";
  const names = [...text.matchAll(/^\w+/gm)].map(([name]) => name).filter((n) => n !== "Answer");
  // Kinds of plain values have small letters.
  const short = new Map(names.map((name, i) => [name, i.toString(36).toUpperCase()]));
  const renamed = text.replace(
    /(^|:)(\w+)/gm,
    (all, before: string, name: string) => before + (short.get(name) ?? all.slice(before.length)),
  );
  return code.replace(text, () => renamed);
}

/** Elements of a list without the number of their place as key: without a key they are told apart by it, too. */
export function withoutPlaces(code: string): string {
  return code.replaceAll(/ key=\{i\}/g, "");
}

/** Custom properties under short names: scripts know none of them. */
export function shortProperties(html: string): string {
  const style = /<style\b[^>]*>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";
  const names = [...new Set(style.match(/--[a-z-]+(?=:)/g))];
  const rest = html.replace(style, "");
  const used = names.filter((name) => new RegExp(`${name}(?![\\w-])`).test(rest));
  if (used.length > 0) throw new Error(`the page uses ${used.join(", ")} outside its style`);
  const short = new Map(names.map((name, i) => [name, `--${i.toString(36)}`]));
  const renamed = style.replace(/--[a-z-]+/g, (name) => short.get(name) ?? name);
  return html.replace(style, () => renamed.replace(/\s*\/\*[^*]*\*\/\s*/g, ""));
}

/** What scripts ask of the browser most often; each gets a constant of one letter, which kernel, worker and page share. */
const GLOBALS = [
  "Float64Array",
  "Uint32Array",
  "Uint8Array",
  "Math.max",
  "Math.min",
  "Math.floor",
  "Math.round",
  "Array.isArray",
];
/** What every browser has; what a window may lack can be asked of it alone. */
const OF_WINDOW =
  /(?<![\w$.])window\.(?=(addEventListener|clearTimeout|setTimeout|history|innerHeight|location|matchMedia)\b)/g;
/** Fields of the page's own objects, of none that it reads from the file: a test compares them with those. */
export const FIELDS = [
  "comparison",
  "labelModule",
  "layout",
  "runFrom",
  "shareA",
  "shareAfter",
  "shareB",
  "shareBefore",
  "stageColour",
  "stageWeight",
  "visibleHeight",
];

/** Short names in the script in the head and in that of the page, which is the only one in `html`. */
export function shortNames(kernel: string, html: string): { kernel: string; html: string } {
  const declared = GLOBALS.map((name, i) => `_${i}=${name}`);
  const shortened = (code: string) => {
    if (/(?<![\w$.])_\d/.test(code)) throw new Error("a script has names such as _0 already");
    let short = code.replace(OF_WINDOW, "");
    GLOBALS.forEach((name, i) => {
      const pattern = new RegExp(`(?<![\\w$.])${name.replace(".", "\\.")}(?![\\w$])`, "g");
      short = short.replace(pattern, () => `_${i}`);
    });
    FIELDS.forEach((name, i) => {
      // A method, or a field and its variable at once.
      const alone = new RegExp(`(?<![.\\w$])${name}(?=[(])|[{,]${name}[,}=]`).exec(short);
      if (alone) throw new Error(`${alone[0]} has the name of a field that is shortened`);
      short = short.replace(
        new RegExp(`(?<=[\\w$)\\]?]\\.|[{,])${name}(?=$|[^\\w$])`, "g"),
        (all, at: number) => {
          const isField = short[at - 1] === "." || short[at + name.length] === ":";
          return isField ? `_${i.toString(36)}` : all;
        },
      );
    });
    return short;
  };
  const page = html.replace(
    /(<script\b[^>]*>)([\s\S]*?)(<\/script>)/,
    (_, open: string, code: string, close: string) => open + shortened(code) + close,
  );
  return { kernel: `const ${declared.join()};${shortened(kernel)}`, html: page };
}

export function shorter(): Plugin {
  return {
    name: "zwhy-shorter",
    enforce: "pre",
    transform(code, id) {
      if (SHAPES.test(id)) return { code: shortTypes(code), map: null };
      return id.endsWith(".tsx") ? { code: withoutPlaces(code), map: null } : null;
    },
  };
}
