// Pictures of the page: CPU time by stage over time, and flame graphs. Every text is set as text, never as HTML.

const COLOURS = ["#c2562a", "#2a78c2", "#4c9a4c", "#9a5fb5", "#c29a2a", "#2aa8a0", "#b54c6e", "#6e7f2a"];
const OTHERS = "#7a7a7a";
// Rows of a flame graph, in pixels, and the narrowest box, in percent of the width.
const ROW = 19;
const NARROWEST = 0.1;

export const percent = (share) => `${(share * 100).toFixed(1)} %`;
export const moment = (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 19);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Samples by stage of each step: a map of maps. Stages that have no colour are one, "".
function bySteps(points, named) {
  const steps = new Map();
  for (const { begin_ms, stage, samples } of points) {
    const at = steps.get(begin_ms) ?? new Map();
    const name = named.includes(stage) ? stage : "";
    at.set(name, (at.get(name) ?? 0) + samples);
    steps.set(begin_ms, at);
  }
  return steps;
}

// Stacked columns, one a step of `step` ms. `choose(from, to)` is called with a range that was drawn over.
export function timeline(points, stages, step, choose) {
  const named = stages.slice(0, COLOURS.length);
  const steps = bySteps(points, named);
  if (steps.size === 0) return [element("p", {}, "No samples in this range.")];
  const first = Math.min(...steps.keys());
  const count = Math.round((Math.max(...steps.keys()) - first) / step) + 1;
  const sum = (at) => [...at.values()].reduce((a, b) => a + b, 0);
  const most = Math.max(1, ...[...steps.values()].map(sum));
  const shown = [...named.map((stage, at) => [stage, COLOURS[at]]), ["", OTHERS]];
  const width = 1000 / count;
  const columns = [...steps].flatMap(([time, at]) => {
    let y = 100;
    return shown.map(([stage, fill]) => {
      const height = ((at.get(stage) ?? 0) / most) * 100;
      y -= height;
      const title = svg("title", {}, `${moment(time)}: ${stage || "others"}, ${at.get(stage) ?? 0} samples`);
      return svg("rect", { x: ((time - first) / step) * width, y, width: width * 0.95, height, fill }, title);
    });
  });
  const label = `CPU samples by stage from ${moment(first)} to ${moment(first + count * step)} UTC`;
  const attributes = { class: "time", viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": label };
  const picture = svg("svg", attributes, ...columns);
  brush(picture, (from, to) => choose(first + Math.floor(from * count) * step, first + Math.ceil(to * count) * step));
  const legend = shown.map(([stage, fill]) => {
    const box = svg("svg", { width: 11, height: 11, "aria-hidden": "true" }, svg("rect", { width: 11, height: 11, fill }));
    return element("span", {}, box, ` ${stage || "others"}`);
  });
  return [picture, element("p", { class: "legend" }, ...legend)];
}

// A range of the width of a picture, drawn with a pointer: `chosen` gets its bounds, 0 to 1.
function brush(picture, chosen) {
  const part = (event) => {
    const { left, width } = picture.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const mark = svg("rect", { y: 0, height: 100, width: 0, fill: "#8886" });
  let from = null;
  picture.append(mark);
  picture.addEventListener("pointerdown", (event) => {
    from = part(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const to = part(event);
    mark.setAttribute("x", Math.min(from, to) * 1000);
    mark.setAttribute("width", Math.abs(to - from) * 1000);
  });
  picture.addEventListener("pointerup", (event) => {
    const to = part(event);
    if (from !== null && Math.abs(to - from) > 0.005) chosen(Math.min(from, to), Math.max(from, to));
    from = null;
  });
}

// Folded lines as a tree of names.
export function tree(folded) {
  const root = { name: "all", value: 0, children: new Map() };
  for (const line of folded.split("\n")) {
    const at = line.lastIndexOf(" ");
    const count = Number(line.slice(at + 1));
    if (at < 0 || !Number.isFinite(count)) continue;
    let node = root;
    node.value += count;
    for (const name of line.slice(0, at).split(";")) {
      if (!node.children.has(name)) node.children.set(name, { name, value: 0, children: new Map() });
      node = node.children.get(name);
      node.value += count;
    }
  }
  return root;
}

// Callers above what they call; a click makes a box as wide as the page, and another one all of it again.
export function flame(folded) {
  const root = tree(folded);
  const box = element("div", { class: "flame", role: "group", "aria-label": "flame graph" });
  const draw = (zoomed) => {
    box.replaceChildren();
    let deepest = 0;
    const put = (node, left, width, depth) => {
      if (width < NARROWEST) return;
      deepest = Math.max(deepest, depth);
      const told = `${node.name}: ${node.value} samples, ${percent(node.value / Math.max(1, root.value))}`;
      const button = element("button", { type: "button", title: told, "aria-label": told }, node.name);
      Object.assign(button.style, { left: `${left}%`, width: `${width}%`, top: `${depth * ROW}px` });
      button.addEventListener("click", () => draw(node === zoomed ? root : node));
      box.append(button);
      let at = left;
      for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
        const of = (width * child.value) / node.value;
        put(child, at, of, depth + 1);
        at += of;
      }
    };
    if (zoomed.value > 0) put(zoomed, 0, 100, 0);
    box.style.height = `${(deepest + 1) * ROW}px`;
  };
  draw(root);
  return box;
}
