// The pages of the fleet: all hosts, one of them, functions, a finding, two hosts beside each other. What is shown is in
// the address behind the #. Every text from the server is set as text, never as HTML.

import { element, flame, moment, percent, timeline } from "./charts.js";

const main = document.getElementById("main");
const state = document.getElementById("state");
const span = document.getElementById("span");
// Length of a range in ms, and the step that it is shown in.
const STEPS = [[900e3, 10], [3600e3, 30], [6 * 3600e3, 300], [86400e3, 900], [7 * 86400e3, 7200], [Infinity, 86400]];
const SPANS = { "-15m": 900e3, "-1h": 3600e3, "-6h": 6 * 3600e3, "-24h": 86400e3, "-7d": 7 * 86400e3 };

// The token comes behind the #, which no browser sends anywhere, and stays in this tab.
function takeToken() {
  const params = asked();
  const token = params.get("token");
  if (token === null) return;
  sessionStorage.setItem("token", token);
  params.delete("token");
  history.replaceState(null, "", `#${params}`);
}

const asked = () => new URLSearchParams(location.hash.slice(1));
const link = (values, ...children) => element("a", { href: `#${new URLSearchParams(values)}` }, ...children);
const hostLink = (host) => link({ host }, host);

// The range that is looked at: drawn over the timeline, or chosen above.
function range() {
  const params = asked();
  if (params.has("from")) return { from: params.get("from"), to: params.get("to") ?? "" };
  return { from: span.value };
}

async function answer(path, values = {}) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...range(), ...values })) {
    if (value !== "" && value !== undefined) params.append(key, value);
  }
  const headers = { Authorization: `Bearer ${sessionStorage.getItem("token") ?? ""}` };
  const response = await fetch(`/api/v1/${path}?${params}`, { headers });
  if (response.status === 401) throw new Error("Open the address that zwhy-fleet serve printed: the token is in it.");
  if (!response.ok) {
    const told = await response.json().catch(() => ({ error: response.statusText }));
    throw new Error(told.error);
  }
  return response;
}

const json = async (path, values) => (await answer(path, values)).json();

// Numbers are told from texts by their heading: `["share", "n"]`.
function table(heading, rows) {
  const kind = (at) => (heading[at][1] === "n" ? { class: "n" } : { class: "name" });
  const head = heading.map(([text], at) => element("th", { scope: "col", ...kind(at) }, text));
  const line = (cells) => element("tr", {}, ...cells.map((cell, at) => element("td", kind(at), cell)));
  const whole = element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows.map(line)));
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `table by ${heading[0][0]}` }, whole);
}

const title = (text) => element("h2", { class: "name" }, text);
const share = (value) => (value === null ? "" : percent(value));

const stageTable = (stages) =>
  table([["stage"], ["share", "n"], ["samples", "n"]], stages.map((s) => [s.stage, percent(s.share), String(s.samples)]));

const functionTable = (functions) =>
  table([["function"], ["module"], ["self", "n"], ["total", "n"]],
    functions.map((f) => [f.function, f.module, percent(f.self_share), percent(f.total_share)]));

function findingTable(findings) {
  if (findings.length === 0) return element("p", {}, "Nothing was found in this range.");
  return table([["host"], ["finding"], ["confidence", "n"], ["share", "n"], ["files", "n"], ["since (UTC)"], ["until (UTC)"], ["about"]],
    findings.map((f) => [hostLink(f.host), link({ finding: f.class }, f.title), percent(f.confidence), share(f.share),
      `${f.units} of ${f.of_units}`, moment(f.begin_ms), moment(f.end_ms), f.scope.join(", ")]));
}

async function showFleet() {
  const [hosts, stages, findings] = await Promise.all([json("hosts"), json("stages"), json("findings")]);
  const rows = hosts.map((h) => [hostLink(h.host), percent(h.kernel), percent(h.zfs), percent(h.idle), h.most ?? "",
    h.findings.join(", "), h.zfs_release ?? "", h.kernel_release ?? "", moment(h.end_ms)]);
  return [
    title(`${hosts.length} hosts, most kernel time first`),
    table([["host"], ["kernel", "n"], ["ZFS", "n"], ["idle", "n"], ["largest stage"], ["findings"], ["OpenZFS"], ["kernel release"], ["until (UTC)"]], rows),
    title("CPU time by stage, all hosts"),
    stageTable(stages),
    title("Findings"),
    findingTable(findings),
  ];
}

// Milliseconds of a step that suits the range.
function step(hostRange) {
  const chosen = asked();
  const length = chosen.has("from") ? Number(chosen.get("to")) - Number(chosen.get("from"))
    : SPANS[span.value] ?? hostRange.end_ms - hostRange.begin_ms;
  return STEPS.find(([most]) => length <= most)[1];
}

// Saves the flame graph for other tools; a link cannot show the token.
function download(host) {
  const button = element("button", { type: "button" }, "Save as pprof");
  button.addEventListener("click", async () => {
    const response = await answer("flame", { host, format: "pprof" });
    const url = URL.createObjectURL(await response.blob());
    element("a", { href: url, download: "zwhy.pb.gz" }).click();
    URL.revokeObjectURL(url);
  });
  return button;
}

async function showHost(params) {
  const host = params.get("host");
  const [hosts, stages, functions, findings, folded] = await Promise.all([
    json("hosts", { host }), json("stages", { host }), json("functions", { host, most: 30 }), json("findings", { host }),
    answer("flame", { host }).then((response) => response.text()),
  ]);
  if (hosts.length === 0) return [title(host), element("p", {}, "The store has nothing of this host in this range.")];
  const seconds = step(hosts[0]);
  // Without a begin, steps are of a minute or more.
  const steps = await json("stages/steps", { host, step: `${range().from === "" ? Math.max(60, seconds) : seconds}s` });
  const choose = (from, to) => {
    location.hash = new URLSearchParams({ host, from, to });
  };
  const whole = params.has("from") ? [element("p", {}, `${moment(Number(params.get("from")))} to ${moment(Number(params.get("to")))} UTC. `, link({ host }, "Whole range"))] : [];
  return [
    title(host), ...whole, findingTable(findings),
    title("CPU time by stage over time; draw over it to choose a range"),
    ...timeline(steps, stages.map((s) => s.stage), seconds * 1000, choose),
    title("Flame graph"), flame(folded), element("p", {}, download(host)),
    title("Stages"), stageTable(stages), title("Functions"), functionTable(functions),
  ];
}

async function showFunctions() {
  return [title("Functions of all hosts, the largest own count first"), functionTable(await json("functions", { most: 200 }))];
}

async function showFinding(params) {
  const of = params.get("finding");
  const [findings, hosts] = await Promise.all([json("findings"), json("hosts")]);
  const with_it = findings.filter((f) => f.class === of);
  const had = new Map(with_it.map((f) => [f.host, f.end_ms]));
  const cured = hosts.filter((h) => had.has(h.host) && had.get(h.host) < h.end_ms);
  return [
    title(with_it[0]?.title ?? of),
    element("p", {}, `${had.size} of ${hosts.length} hosts had it; ${cured.length} of them do not have it in their newest file.`),
    findingTable(with_it),
    ...(cured.length ? [title("Not in the newest file of"), table([["host"], ["last seen (UTC)"], ["OpenZFS"], ["kernel release"]],
      cured.map((h) => [hostLink(h.host), moment(had.get(h.host)), h.zfs_release ?? "", h.kernel_release ?? ""]))] : []),
  ];
}

function chooser(label, name, hosts, chosen) {
  const options = hosts.map((h) => element("option", h.host === chosen ? { selected: "" } : {}, h.host));
  return element("label", {}, `${label} `, element("select", { name }, ...options));
}

async function showCompare(params) {
  const hosts = await json("hosts");
  if (hosts.length === 0) return [title("Compare"), element("p", {}, "The store has no hosts in this range.")];
  const one = params.get("one") ?? hosts[0].host;
  const other = params.get("other") ?? hosts[hosts.length - 1].host;
  const { from, to } = range();
  const rows = await json("compare", { host: one, other_host: other, other_from: from, other_to: to });
  const form = element("form", {}, chooser("Host", "one", hosts, one), chooser("beside", "other", hosts, other));
  form.addEventListener("change", () => {
    location.hash = new URLSearchParams([["compare", "1"], ...new FormData(form)]);
  });
  return [
    title("CPU time by stage of two hosts"), form,
    table([["stage"], ["first", "n"], ["second", "n"], ["change", "n"]],
      rows.map((r) => [r.stage, percent(r.share), percent(r.other_share), percent(r.change)])),
  ];
}

const PAGES = { host: showHost, functions: showFunctions, finding: showFinding, compare: showCompare };

let newest = 0;
async function show() {
  takeToken();
  newest += 1;
  const turn = newest;
  delete document.documentElement.dataset.ready;
  state.textContent = "asking …";
  const params = asked();
  const page = Object.keys(PAGES).find((name) => params.has(name));
  let shown = [];
  let told = "";
  try {
    shown = await (page === undefined ? showFleet() : PAGES[page](params));
    told = `as of ${moment(Date.now())} UTC`;
  } catch (error) {
    told = String(error.message ?? error);
  }
  // Somebody went on meanwhile.
  if (turn !== newest) return;
  main.replaceChildren(...shown);
  state.textContent = told;
  document.documentElement.dataset.ready = "true";
}

addEventListener("hashchange", show);
span.addEventListener("change", show);
show();
