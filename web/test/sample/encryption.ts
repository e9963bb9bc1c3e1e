// A sample report in the shape of a real one: reads of a dataset encrypted with AES-CCM.

import { type Block, blockOf, type Frame, type Stack } from "./flame";

const zfs = (name: string, stage: string): Frame => ({ name, module: "zfs", stage });
const kernel = (name: string, stage: string): Frame => ({ name, module: "kernel", stage });

const TASKQ = [
  kernel("ret_from_fork", "not zfs"),
  kernel("kthread", "not zfs"),
  { name: "taskq_thread", module: "spl", stage: "other zfs" },
  zfs("zio_execute", "zio"),
];
const DECRYPT = [
  ...TASKQ,
  zfs("zio_done", "zio"),
  zfs("zio_decrypt", "decrypt"),
  zfs("spa_do_crypt_abd", "decrypt"),
  zfs("zio_do_crypt_data", "decrypt"),
  zfs("zio_do_crypt_uio", "decrypt"),
  zfs("crypto_decrypt", "decrypt"),
  zfs("aes_decrypt_atomic", "decrypt"),
  zfs("ccm_mode_decrypt_contiguous_blocks", "decrypt"),
];
const READ = [
  { name: "entry_SYSCALL_64_after_hwframe", module: "kernel", stage: "not zfs" },
  kernel("do_syscall_64", "not zfs"),
  kernel("ksys_read", "not zfs"),
  kernel("vfs_read", "not zfs"),
  zfs("zpl_iter_read", "read path"),
  zfs("zfs_read", "read path"),
];

function some(base: readonly Frame[], leaf: readonly Frame[], count: number): Stack {
  return { frames: [...base, ...leaf], count };
}

export const STACKS: readonly Stack[] = [
  some(DECRYPT, [], 500),
  some(DECRYPT, [zfs("aes_encrypt_block", "decrypt")], 340),
  some(DECRYPT, [zfs("aes_encrypt_block", "decrypt"), kernel("kfpu_end", "decrypt")], 2420),
  some(DECRYPT, [zfs("aes_encrypt_block", "decrypt"), kernel("kfpu_begin", "decrypt")], 2110),
  some(DECRYPT, [zfs("aes_encrypt_block", "decrypt"), zfs("aes_encrypt_intel", "decrypt")], 1390),
  some(DECRYPT, [zfs("aes_xor_block", "decrypt")], 720),
  some(DECRYPT, [zfs("aes_copy_block", "decrypt")], 610),
  some(
    TASKQ,
    [zfs("zio_checksum_verify", "checksum"), zfs("abd_fletcher_4_native", "checksum")],
    240,
  ),
  some(TASKQ, [zfs("vdev_queue_io_done", "vdev queue"), kernel("mutex_lock", "vdev queue")], 130),
  some(TASKQ, [zfs("zio_free", "zio")], 55),
  some(READ, [zfs("dmu_read_uio_dbuf", "dmu"), zfs("dmu_buf_hold_array_by_dnode", "dmu")], 310),
  some(
    READ,
    [zfs("dmu_read_uio_dbuf", "dmu"), zfs("dbuf_read", "dbuf"), zfs("arc_read", "arc")],
    280,
  ),
  some(READ, [zfs("zfs_uiomove", "copy"), kernel("copy_user_enhanced_fast_string", "copy")], 740),
  some(READ, [zfs("dmu_zfetch", "prefetch")], 95),
  some([kernel("kthread", "not zfs"), zfs("arc_evict_cb", "arc")], [zfs("arc_evict", "arc")], 88),
  some([kernel("kthread", "not zfs"), zfs("dbuf_evict_thread", "dbuf")], [], 61),
  some([{ name: "[unresolved]", module: "", stage: "unknown" }], [], 47),
  some([kernel("cpu_startup_entry", "idle"), kernel("do_idle", "idle")], [], 1520),
  some([{ name: "postgres", module: "postgres", stage: "not zfs" }], [], 148),
];

export const TOTAL = STACKS.reduce((sum, stack) => sum + stack.count, 0);

export function flameBlock(): Block {
  return blockOf(STACKS);
}

/** The same tree compared with one after a move to AES-GCM. */
export function diffBlock(): Block {
  return blockOf(
    STACKS.map((stack) => {
      const decrypts = stack.frames.some((frame) => frame.stage === "decrypt");
      return { ...stack, countB: decrypts ? Math.round(stack.count / 9) : stack.count + 20 };
    }),
  );
}

function ownStage(stack: Stack): string {
  return stack.frames[stack.frames.length - 1].stage ?? "unknown";
}

function shareOf(samples: number) {
  const value = samples / TOTAL;
  const half = 1.96 * Math.sqrt((value * (1 - value)) / TOTAL);
  return { value, low: Math.max(0, value - half), high: value + half };
}

function stageRows(): unknown[] {
  const counts = new Map<string, number>();
  for (const stack of STACKS) {
    counts.set(ownStage(stack), (counts.get(ownStage(stack)) ?? 0) + stack.count);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([stage, samples]) => {
      const decrypt = stage === "decrypt";
      return {
        stage,
        samples,
        share: shareOf(samples),
        without: decrypt ? { at_most: 3.2, low: 3.1, high: 3.3 } : null,
        limits: decrypt
          ? [
              {
                work: "aes-256-ccm",
                mb_s: 4100,
                achieved_mb_s: 200,
                source: "icp_aes_impl",
                text: "200 MB/s of the 4,100 MB/s that one CPU here decrypts",
              },
            ]
          : undefined,
        self_label: decrypt ? [{ label: "FPU state", share: shareOf(4530) }] : [],
        who: decrypt
          ? [{ thread: "z_rd_int", share: 1 }]
          : [
              { thread: "dd", share: 0.7 },
              { thread: "z_rd_int", share: 0.3 },
            ],
      };
    });
}

export function answer(): Record<string, unknown> {
  return {
    zwhy: "0.1.0",
    schema: 1,
    source: {
      name: "tank.zwhy",
      kind: "capture",
      host: "db7",
      kernel: "6.12.9",
      os: "Debian GNU/Linux 12",
      zfs_version: "2.3.2",
      duration_s: 60.2,
      hz: 99,
      samples: TOTAL,
      amount: TOTAL,
      unit: "samples",
      lost: 0,
      zfs_in_use: true,
    },
    whole: {
      what: "this host's CPU, idle time included",
      cpu_s: 103.9,
      of_host: null,
      idle: true,
    },
    why: "AES-CCM decryption takes 68.5 % of this host's CPU: ZFS saves and restores the FPU state for every 16-byte block of tank/games.",
    do: "Move tank/games to aes-256-gcm; the cipher of a dataset cannot be changed in place.",
    findings: [
      {
        class: "crypto-ccm-not-accelerated",
        title: "AES-CCM is decrypted block by block",
        confidence: 0.94,
        confidence_word: "high",
        share: { value: 0.685, low: 0.676, high: 0.694 },
        evidence: [
          {
            claim: "Decryption runs in the CCM code path",
            measure: "68.5 % of CPU under ccm_mode_decrypt_contiguous_blocks",
            source: "samples",
            frames: ["ccm_mode_decrypt_contiguous_blocks"],
          },
          {
            claim: "The FPU state is saved and restored for each block",
            measure: "38.4 % of CPU in kfpu_begin and kfpu_end",
            source: "samples",
            frames: ["kfpu_begin", "kfpu_end"],
          },
          {
            claim: "The dataset uses CCM",
            measure: "tank/games encryption=aes-256-ccm",
            source: "facts: zfs get encryption",
            frames: [],
          },
        ],
        gain: { text: "The same work should take 41 to 67 % less CPU. GCM has fast code." },
        explanation:
          "In CCM mode OpenZFS encrypts one 16-byte block at a time and enters and leaves the FPU for each. GCM is done in larger pieces with vector instructions.",
        remedy: {
          text: "Send the dataset into a new one with aes-256-gcm.",
          commands: [
            "zfs snapshot tank/games@move",
            "zfs send tank/games@move | zfs receive -o encryption=aes-256-gcm -o keyformat=passphrase tank/games-gcm",
          ],
          undo: ["zfs destroy -r tank/games-gcm"],
          undo_note: "The old dataset is not touched.",
          risk: "Needs room for a second copy.",
        },
        next: ["Read the new dataset once with a cold ARC and record it again."],
        without: { at_most: 3.2, low: 3.1, high: null },
        limits: [{ text: "200 MB/s of the 4,100 MB/s that one CPU here decrypts (aes-256-gcm)" }],
        against: [{ claim: "The host has one disk.", measure: "", source: "", frames: [] }],
        rules_out: [
          { class: "disk-bound", why: "the CPU is idle for 13 % of the time only" },
          { class: "aes-generic", why: "aes_encrypt_intel is in the stacks" },
        ],
        experiment: "encryption",
        references: ["https://github.com/openzfs/zfs/pull/9749", "module/icp/algs/modes/ccm.c"],
        affected: "all versions with native encryption",
        fixed_in: null,
        upgrade: "Fixed in 2.4 (PR 1); this host runs 2.3.2: upgrade OpenZFS.",
      },
      {
        class: "dbuf-evict-single-thread",
        title: "One thread evicts the dbuf cache",
        confidence: 0.41,
        confidence_word: "low",
        share: { value: 0.005, low: 0.004, high: 0.007 },
        evidence: [
          {
            claim: "The eviction thread runs",
            measure: "0.5 % of CPU",
            source: "samples",
            frames: ["dbuf_evict_thread"],
          },
        ],
        explanation: "The dbuf cache is full and its only thread evicts.",
        remedy: {
          text: "Enlarge the dbuf cache.",
          commands: ["echo 5 > /sys/module/zfs/parameters/dbuf_cache_shift"],
          undo: [],
          risk: "",
        },
        next: [],
        rules_out: [],
        experiment: null,
        references: [],
        affected: "",
        fixed_in: null,
      },
    ],
    bottleneck: {
      kind: "device",
      text: "The CPU is not the limit (20 % idle): postgres waits for disk sda, 97 % busy at 4.1 ms a write.",
      what: "sda",
      cpu_idle: 0.2,
      cpu_stolen: null,
      programs: [
        {
          program: "postgres",
          threads: 3,
          wall_s: 180,
          on_cpu: 0.1,
          waits: [{ waits_for: "synchronous writes", share: 0.6 }],
        },
      ],
      disks: [
        {
          disk: "sda",
          pool: "tank",
          busy: 0.97,
          reads_s: 3,
          writes_s: 240,
          read_bytes_s: 12288,
          written_bytes_s: 983040,
          read_ms: 3.2,
          write_ms: 4.1,
          queue: 1.1,
        },
      ],
    },
    demand: {
      programs: [
        {
          program: "postgres",
          owner: "container 3f2ab1c9d0e4",
          processes: 3,
          read_bytes_s: 12288,
          written_bytes_s: 983040,
          memory_bytes: 268435456,
          zfs_part: 0.8,
          calls: [
            { call: "commits", share: 0.7 },
            { call: "writes", share: 0.3 },
          ],
        },
      ],
      datasets: [
        {
          dataset: "tank/db",
          owner: null,
          reads_s: 3,
          writes_s: 240,
          read_bytes_s: 12288,
          written_bytes_s: 983040,
          commits_s: 120,
        },
      ],
      background: [{ work: "scrub", pool: "tank", done: 0.25, left_bytes: null, left_s: 600 }],
    },
    stages: stageRows(),
    waiting: [
      {
        inside: "zil_commit > cv_wait_common",
        stage: "zil",
        thread: "postgres",
        role: "",
        samples: 41,
        wait_s: 12.5,
        waits_for: "synchronous writes",
        on: "disk sda",
      },
    ],
    what_if: { busy: 0.8, assumption: "Amdahl's bound for work that is bound by the CPU." },
    paths: [
      {
        name: "Reading files",
        root: "zfs_read",
        samples: 1000,
        share: { value: 0.1, low: 0.09, high: 0.11 },
        steps: [
          {
            function: "dmu_buf_hold_array_by_dnode",
            what: "find and hold the blocks",
            useful: false,
            samples: 600,
            share: { value: 0.06, low: 0.05, high: 0.07 },
            of_path: 0.6,
            inside: [],
          },
          {
            function: "uiomove",
            what: "copy to caller",
            useful: true,
            samples: 300,
            share: { value: 0.03, low: 0.02, high: 0.04 },
            of_path: 0.3,
          },
        ],
        rest: 100,
      },
    ],
    origins: [
      { origin: "ZFS read threads", samples: 8515, share: shareOf(8515) },
      { origin: "read system call", samples: 1425, share: shareOf(1425) },
    ],
    threads: [
      {
        comm: "z_rd_int",
        role: "read completion",
        threads: 2,
        cpu_s: 81.4,
        cpu_share: 1.352,
        samples: 8515,
      },
      { comm: "dd", role: "application", threads: 1, cpu_s: 13.9, cpu_share: 0.231, samples: 1425 },
      {
        comm: "arc_evict",
        role: "ARC eviction",
        threads: 1,
        cpu_s: 0.8,
        cpu_share: 0.013,
        samples: 88,
      },
      {
        comm: "dbuf_evict",
        role: "dbuf eviction",
        threads: 1,
        cpu_s: 0.6,
        cpu_share: 0.01,
        samples: 61,
      },
    ],
    itself: { program: "zwhy", cpu_s: 0.52, of_one_cpu: 0.009, samples: 51 },
    quality: {
      read: TOTAL + 12,
      kept: TOTAL,
      dropped: { "no stack": 12 },
      lost: 0,
      unresolved: { "module not in kallsyms": 47 },
      warnings: ["The clock of CPU 1 stepped back once by 3 µs."],
    },
    stats: {},
  };
}
