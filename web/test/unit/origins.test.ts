// Origins of modules, the names that a search without hits suggests, and what boxes of a split are called.

import { expect, it } from "vitest";
import { decodeFlame } from "../../src/data/flame";
import { describe as tell } from "../../src/flame/describe";
import { buildModel } from "../../src/flame/model";
import { ORIGINS, originsOf } from "../../src/flame/origins";
import { regroup } from "../../src/flame/regroup";
import { alike } from "../../src/flame/search";
import { blockOf, encode } from "../sample/flame";

const frames = (...of: [string, string][]) => of.map(([name, module]) => ({ name, module }));
const m = buildModel(
  decodeFlame(
    encode(
      blockOf([
        {
          frames: frames(
            ["[postgres]", "thread"],
            ["main", "postgres"],
            ["entry_SYSCALL_64", "kernel"],
            ["zfs_read", "zfs"],
            ["spl_kmem_alloc", "spl"],
            ["nvme_queue_rq", "nvme"],
          ),
          count: 2,
        },
        {
          frames: frames(["[kswapd0]", "thread"], ["kthread", "kernel"], ["xfs_f", "xfs"]),
          count: 1,
        },
      ]),
    ),
  ),
);

it("tells kernel modules from programs by who calls them", () => {
  const origin = originsOf(m.data, m.tree);
  const named = Object.fromEntries(m.data.modules.map((name, i) => [name, ORIGINS[origin[i]]]));
  expect(named).toEqual({
    "": "",
    thread: "",
    postgres: "programs",
    kernel: "kernel",
    zfs: "zfs",
    spl: "spl",
    nvme: "other modules",
    xfs: "other modules",
  });
});

it("suggests the names that are most like what was typed", () => {
  const names = ["zio_execute", "zio_done", "arc_read", "zio_checksum_compute", "kthread"];
  expect(alike(names, "zio_excute").map((i) => names[i])[0]).toBe("zio_execute");
  expect(alike(names, "^ARC_raed$").map((i) => names[i])).toEqual(["arc_read"]);
  expect(alike(names, "q")).toEqual([]);
  expect(alike(names, "(((")).toEqual([]);
});

it("calls the boxes of a split what they are", () => {
  const samples = {
    rows: 1,
    time: Float64Array.of(0),
    node: Uint32Array.of(m.data.nodes - 1),
    amount: Float64Array.of(1),
    thread: Uint32Array.of(0),
    cpu: Int32Array.of(3),
    threads: [{ name: "postgres", pid: 7, tid: 7 }],
  };
  for (const [split, name, what] of [
    ["cpu", "[CPU 3]", "CPU"],
    ["process", "[postgres 7]", "process"],
  ] as const) {
    const one = buildModel(regroup(m.data, m.tree, samples, null, split));
    const told = tell(one, 1);
    expect([told.name, told.module]).toEqual([name, what]);
  }
});
