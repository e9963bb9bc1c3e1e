// Other flame graph viewers over the same graph, in the same browser: from the file read to the graph painted.
//
// They are fetched by npm into the folder of the benchmark, at fixed versions with fixed digests, and run as they are.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { nested, speedscope } from "./bench-graph.mjs";

const PACKAGES = {
  "speedscope@1.25.0":
    "cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag==",
  "d3-flame-graph@5.0.0":
    "ALZQ4at8Dex8HCoj9D5p5TY6gLNEc2vAZAy+NKO/6GLEfhYJmGxYuRClO6RPoplndyOHxQTPipdlGeMggkjtnQ==",
  "d3@7.9.0":
    "e1U46jVP+w7Iut8Jt8ri1YsPOvFpg46k+K8TpCb0P+zjCkjkPnV7WzfDJzMHy1LnA+wj5pLT1wjO901gLXeEhA==",
};
/** One that has not drawn by then is said to take longer. */
const PATIENCE_MS = 120_000;

/** Fetches and unpacks a package into `folder`/NAME; throws where that cannot be done. */
async function fetched(spec, folder) {
  const to = join(folder, spec.split("@")[0]);
  await mkdir(to, { recursive: true });
  const options = { cwd: to, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const file = execFileSync("npm", ["pack", "--silent", spec], options).trim();
  const digest = createHash("sha512")
    .update(await readFile(join(to, file)))
    .digest("base64");
  if (digest !== PACKAGES[spec]) throw new Error(`${spec} is not the file that it was`);
  execFileSync("tar", ["xzf", file], { cwd: to });
}

/** Serves `folder` on loopback. */
async function serve(folder) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
  const server = createServer(async ({ url }, response) => {
    try {
      const path = normalize(decodeURIComponent(new URL(url, "http://localhost").pathname));
      const body = await readFile(join(folder, path));
      const type = types[extname(path)] ?? "application/octet-stream";
      response.writeHead(200, { "Content-Type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

const D3_PAGE = `<!doctype html><title>d3</title><div id="chart"></div>
<script src="d3/package/dist/d3.min.js"></script>
<script src="d3-flame-graph/package/dist/d3-flamegraph.umd.min.js"></script>
<script>
fetch("nested.json").then((got) => got.text()).then((text) => {
  d3.select("#chart").datum(JSON.parse(text)).call(flamegraph().width(1392).minFrameSize(1));
});
</script>`;

/** Milliseconds from the moment the profile was read until `sign` is on the page and drawn. */
async function opening(browser, url, profile, sign) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  try {
    await page.goto(url);
    await page.waitForFunction(sign, null, { timeout: PATIENCE_MS, polling: "raf" });
    return await page.evaluate(
      (name) =>
        new Promise((done) => {
          requestAnimationFrame(() =>
            setTimeout(() => {
              const all = performance.getEntriesByType("resource");
              const read = all.find((entry) => entry.name.endsWith(name)).responseEnd;
              done(performance.now() - read);
            }),
          );
        }),
      profile,
    );
  } finally {
    await page.close();
  }
}

/** What each peer took, in words. Without a network there is nothing to compare with, and that is said. */
export async function measurePeers(browser, graph, folder) {
  try {
    for (const spec of Object.keys(PACKAGES)) await fetched(spec, folder);
  } catch (error) {
    return [["peers", `not measured: ${String(error.message).split("\n")[0]}`]];
  }
  await writeFile(join(folder, "speedscope.json"), speedscope(graph));
  await writeFile(join(folder, "nested.json"), nested(graph));
  await writeFile(join(folder, "d3.html"), D3_PAGE);
  const { server, url } = await serve(folder);
  const peers = [
    [
      "speedscope 1.25.0, the same",
      `${url}/speedscope/package/dist/release/index.html#profileURL=${encodeURIComponent(`${url}/speedscope.json`)}`,
      "speedscope.json",
      () => document.body.innerText.includes("Left Heavy") && document.querySelector("canvas"),
    ],
    [
      "d3-flame-graph 5.0.0, the same",
      `${url}/d3.html`,
      "nested.json",
      () => document.querySelector("#chart svg rect"),
    ],
  ];
  const told = [];
  for (const [name, address, profile, sign] of peers) {
    try {
      const ms = await opening(browser, address, profile, sign);
      told.push([name, `${ms.toFixed(0).padStart(6)} ms`]);
    } catch (error) {
      const late = /Timeout/.test(error.message);
      told.push([
        name,
        late ? `over ${PATIENCE_MS / 1000} s` : `failed: ${error.message.split("\n")[0]}`,
      ]);
    }
  }
  server.close();
  return told;
}
