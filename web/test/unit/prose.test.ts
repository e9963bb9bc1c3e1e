// Prose with code in it: what stands between backticks, and nothing else.

import { h } from "preact";
import { render } from "preact-render-to-string";
import { expect, it } from "vitest";
import { Prose } from "../../src/ui/Prose";

const shown = (text: string) => render(h(Prose, { text }));

it("shows what stands between backticks as code", () => {
  expect(shown("Pause it; `zpool scrub` goes on after 3 s.")).toBe(
    "Pause it; <code>zpool scrub</code> goes on after 3\u00a0s.",
  );
  expect(shown("`a` and `<b>`")).toBe("<code>a</code> and <code>&lt;b></code>");
});

it("leaves a backtick that has no other as it is", () => {
  expect(shown("5` and nothing")).toBe("5` and nothing");
  expect(shown("`a` and `b")).toBe("`a` and `b");
  expect(shown("")).toBe("");
});
