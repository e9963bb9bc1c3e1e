// The build step that locks the page: hashes, order and refusals.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { lock, MARKER } from "../../build/lock-down";

function pageWith(script: string, body = MARKER): string {
  return `<head><!--zwhy:policy--><style>p{}</style><script type="module" crossorigin>${script}</script></head><body>${body}</body>`;
}

describe("lock", () => {
  it("puts the script behind the marker, byte for byte, with its hash in the policy", () => {
    const script = "const a='$&$1'";
    const page = lock(pageWith(script));
    const hash = createHash("sha256").update(script).digest("base64");
    expect(page).toContain(`script-src 'sha256-${hash}'`);
    expect(page).toContain("default-src 'none'");
    expect(page.indexOf(MARKER)).toBeLessThan(
      page.indexOf(`<script type="module">${script}</script>`),
    );
    expect(page).not.toContain("crossorigin");
  });
  it("puts the kernel before the data, with its hash in the policy", () => {
    const kernel = "var a='$&'";
    const page = lock(`<!--zwhy:kernel-->${pageWith("1")}`, kernel);
    const hash = createHash("sha256").update(kernel).digest("base64");
    expect(page.indexOf(`<script>${kernel}</script>`)).toBeLessThan(page.indexOf(MARKER));
    expect(page).toContain(`script-src 'sha256-${hash}' 'sha256-`);
    expect(() => lock(pageWith("1"), "'</script>'")).toThrow(/end its own element/);
  });
  it("refuses a page without its marker, with two, or with the marker in the script", () => {
    expect(() => lock(pageWith("1", ""))).toThrow(/found it 0 times/);
    expect(() => lock(pageWith("1", MARKER + MARKER))).toThrow(/found it 2 times/);
    expect(() => lock(pageWith(`"${MARKER}"`))).toThrow(/found it 2 times/);
  });
  it("refuses a page with two scripts", () => {
    expect(() => lock(pageWith("1</script><script>2"))).toThrow(/found 2/);
  });
});
