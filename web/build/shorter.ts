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
