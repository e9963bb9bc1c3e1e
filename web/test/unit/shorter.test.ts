// What the build takes out of the page, and what it leaves.

import { expect, it } from "vitest";
import {
  FIELDS,
  shortNames,
  shortProperties,
  shortTypes,
  withoutPlaces,
} from "../../build/shorter";
import { SHAPES } from "../../src/data/answer-shapes";

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

it("renames what scripts ask of the browser and the page's own fields, and no texts", () => {
  const { kernel, html } = shortNames(
    "var zwhy=(function(e){return e.a=new Float64Array(2),e.layout.runFrom})({});",
    "<p>layout</p><script>var a={layout:Math.max(1,2),b:`layout: x`};window.history.go(a.layout,a?.layout)</script>",
  );
  expect(kernel).toMatch(/^const _0=Float64Array,/);
  expect(kernel).toContain("new _0(2),e._2._3}");
  expect(html).toBe(
    "<p>layout</p><script>var a={_2:_3(1,2),b:`layout: x`};history.go(a._2,a?._2)</script>",
  );
  expect(() => shortNames("var _1=2", "")).toThrow("such as _0");
  expect(() => shortNames("f({layout})", "")).toThrow("{layout}");
  expect(() => shortNames("class A{layout(){}}", "")).toThrow("layout");
});

it("renames no field that the page reads from its file", () => {
  const read = SHAPES.match(/\w+/g);
  for (const field of FIELDS) expect(read).not.toContain(field);
});
