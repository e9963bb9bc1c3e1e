// The graph of the benchmarks: a call tree of so many boxes, the same each time, as zwhy and its peers read it.
//
// Stacks of up to 58 frames follow a random table of callees.

const [NAMES, CALLEES] = [20_000, 12];
const STAGES = ["decrypt", "copy", "arc", "dbuf", "taskq", "zil", "sync", "dmu", "idle"];

const FIRST_SEED = 12_345;
let seed = FIRST_SEED;
function random() {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 4_294_967_296;
}

/** Parent, name and weight of each of at least `nodes` boxes, in the order in which they were met. */
export function grow(nodes) {
  seed = FIRST_SEED;
  const callee = Uint32Array.from({ length: NAMES * CALLEES }, () => random() * NAMES);
  const [parent, name, value, below] = [[-1], [NAMES], [0], new Map()];
  while (parent.length < nodes) {
    let at = 0;
    let called = Math.floor(random() ** 3 * 16);
    value[0]++;
    for (let left = 8 + random() * 50; left > 0; left--) {
      const key = at * NAMES + called;
      let node = below.get(key);
      if (node === undefined) {
        node = parent.length;
        below.set(key, node);
        parent.push(at);
        name.push(called);
        value.push(0);
      }
      value[node]++;
      at = node;
      const usual = random() < 0.905 ? 0 : Math.floor(random() ** 2.6 * CALLEES);
      called = callee[called * CALLEES + usual];
    }
  }
  return { parent, name, value };
}

/** Header and columns of the graph, in preorder, as the samples of the tests have them. */
export function block({ parent, name, value }) {
  const below = parent.map(() => []);
  for (let i = 1; i < parent.length; i++) below[parent[i]].push(i);
  const columns = { level: [], value: [], label: [], stage: [] };
  const open = [[0, 0]];
  while (open.length > 0) {
    const [node, level] = open.pop();
    columns.level.push(level);
    columns.value.push(value[node]);
    columns.label.push(name[node]);
    columns.stage.push(name[node] % STAGES.length);
    for (const child of below[node]) open.push([child, level + 1]);
  }
  const labels = names();
  const header = {
    version: 2,
    nodes: columns.level.length,
    total: columns.value[0],
    unit: "samples",
    event: "cpu",
    labels,
    modules: ["zfs"],
    labelModule: labels.map(() => 0),
    stages: STAGES,
    diff: false,
  };
  return { header, columns };
}

function names() {
  return [...Array.from({ length: NAMES }, (_, i) => `zio_function_${i}`), "all"];
}

/** For speedscope: its own format, with a frame opened and closed for each box. */
export function speedscope({ parent, name, value }) {
  const below = parent.map(() => []);
  for (let i = 1; i < parent.length; i++) below[parent[i]].push(i);
  const events = [];
  let at = 0;
  const visit = (node) => {
    const end = at + value[node];
    events.push({ type: "O", frame: name[node], at });
    for (const child of below[node]) visit(child);
    at = end;
    events.push({ type: "C", frame: name[node], at });
  };
  visit(0);
  const shared = { frames: names().map((one) => ({ name: one })) };
  const profile = {
    type: "evented",
    name: "bench",
    unit: "none",
    startValue: 0,
    endValue: at,
    events,
  };
  return JSON.stringify({
    $schema: "https://www.speedscope.app/file-format-schema.json",
    shared,
    profiles: [profile],
  });
}

/** For d3-flame-graph: boxes within boxes. */
export function nested({ parent, name, value }) {
  const labels = names();
  const boxes = parent.map((_, i) => ({ name: labels[name[i]], value: value[i], children: [] }));
  for (let i = 1; i < parent.length; i++) boxes[parent[i]].children.push(boxes[i]);
  return JSON.stringify(boxes[0]);
}
