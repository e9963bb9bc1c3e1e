// Names as an attacker would choose them.

import { type Block, blockOf } from "./flame";

export const HOSTILE_NAMES: readonly string[] = [
  "<script>window.hacked = 1</script>",
  '"><img src=x onerror="window.hacked = 2">',
  "</script><script>window.hacked = 3</script>",
  "<!--zwhy:data-->",
  "javascript:window.hacked=4",
  "evil\u202egnp.exe",
  "\u2066isolate\u2069",
  "null\u0000bell\u0007escape\u001b[31m",
  "line\nbreak\r\ttab",
  "שלום_מילה",
  "\ud800 lone surrogate",
  "__proto__",
  "constructor",
  `long_${"x".repeat(10_000)}`,
  "漢字の関数名",
  "𝓯𝓾𝓷𝓬 👩‍👩‍👧‍👦",
  "",
  "a{b}[c](d)^$.*+?|\\",
];

export function hostileFlame(): Block {
  return blockOf(
    HOSTILE_NAMES.map((name, i) => ({
      frames: [
        { name: "outer", module: "zfs", stage: "read" },
        { name, module: name, stage: i % 2 === 0 ? name : "read" },
      ],
      count: 100 + i,
    })),
  );
}

/** An answer in which every text is hostile. */
export function hostileAnswer(): Record<string, unknown> {
  const bad = HOSTILE_NAMES.join(" ");
  return {
    zwhy: bad,
    schema: 1,
    source: { name: bad, host: bad, zfs_version: bad, samples: 10, lost: 3, hz: 99, duration_s: 1 },
    why: bad,
    do: bad,
    findings: HOSTILE_NAMES.map((name) => ({
      class: `class ${name}`,
      title: name,
      confidence: 2,
      confidence_word: name,
      share: null,
      evidence: [{ claim: name, measure: name, source: name, frames: [name] }],
      explanation: name,
      remedy: {
        text: name,
        commands: [`zfs set ${name}`, name],
        undo: [name],
        undo_note: name,
        look: [name],
        choices: [{ text: name, commands: [name], undo: [name] }],
        advice: [name],
        rewrite: name,
        risk: name,
      },
      next: [name],
      rules_out: [{ class: name, why: name }],
      experiment: name,
      references: [name, "javascript:alert(1)"],
      affected: name,
      fixed_in: name,
    })),
    stages: HOSTILE_NAMES.map((name) => ({
      stage: name,
      samples: 1,
      share: { value: 1e9, low: -4, high: 1e12 },
      who: [{ thread: name, share: 1 }],
      self_label: [{ label: name, share: { value: 0.1, low: 0.1, high: 0.1 } }],
    })),
    origins: HOSTILE_NAMES.map((name) => ({
      origin: name,
      samples: 1,
      share: { value: 0.1, low: 0.1, high: 0.1 },
    })),
    bottleneck: {
      kind: "device",
      text: HOSTILE_NAMES.join(" "),
      what: HOSTILE_NAMES.join(" "),
      programs: HOSTILE_NAMES.map((name) => ({
        program: name,
        wall_s: -1,
        waits: [{ waits_for: name, share: 1e9 }],
      })),
      disks: HOSTILE_NAMES.map((name) => ({ disk: name, pool: name, busy: -4, queue: 1e12 })),
    },
    demand: {
      programs: HOSTILE_NAMES.map((name) => ({
        program: name,
        owner: name,
        processes: -1,
        calls: [{ call: name, share: 1e9 }],
      })),
      datasets: HOSTILE_NAMES.map((name) => ({ dataset: name, owner: name, reads_s: 1e12 })),
      background: HOSTILE_NAMES.map((name) => ({ work: name, pool: name, done: -4 })),
    },
    waiting: HOSTILE_NAMES.map((name) => ({
      inside: name,
      stage: name,
      thread: name,
      role: name,
      waits_for: name,
      on: name,
      wait_s: 1,
    })),
    threads: HOSTILE_NAMES.map((name) => ({ comm: name, role: name })),
    quality: {
      read: 1,
      dropped: Object.fromEntries(HOSTILE_NAMES.map((name) => [name, 1])),
      warnings: [...HOSTILE_NAMES],
    },
  };
}
