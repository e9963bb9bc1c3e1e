// What the build takes out of the page, and what it leaves.

import { expect, it } from "vitest";
import { shortProperties, shortTypes, withoutPlaces } from "../../build/shorter";

it("renames types where they are declared and where they are used", () => {
  const code =
    "export const SHAPES = `Answer rows:RowAnswer[] kind:Kind? n:n\nRowAnswer name rows:n\nKind=a b`;";
  expect(shortTypes(code)).toBe(
    "export const SHAPES = `Answer rows:0[] kind:1? n:n\n0 name rows:n\n1=a b`;",
  );
});

it("takes the number of a place out of a list, and no other key", () => {
  expect(withoutPlaces("<li key={i}>{x}</li><tr key={name} id={i}>")).toBe(
    "<li>{x}</li><tr key={name} id={i}>",
  );
});

it("renames custom properties in the style, which nothing else may use", () => {
  const style =
    "<style>:root{--ground:red;--line:tan}p{color:var(--ground);--line:var(--other)}</style>";
  expect(shortProperties(`${style}<p>a--b</p>`)).toBe(
    "<style>:root{--0:red;--1:tan}p{color:var(--0);--1:var(--other)}</style><p>a--b</p>",
  );
  expect(() => shortProperties(`${style}<p style="color:var(--ground)">`)).toThrow("--ground");
});
