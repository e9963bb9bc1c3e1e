// The types of the answer that `zwhy explain --json` prints, for the page.
//
// Generated from the Rust types (crates/diagnose/src/answer.rs): do not edit. After a change there,
// `BLESS=1 cargo test -p zwhy-report --test faces` writes it anew.

export interface Answer {
  /** What limits the load; null where that is not known. */
  readonly bottleneck: Bottleneck | null;
  /** Who asks for it: programs, datasets, work in the background; null where nothing is known of any. */
  readonly demand: Demand | null;
  readonly do: string | null;
  readonly findings: readonly Finding[];
  /** What the recorder did; in none of the figures above. */
  readonly itself: Itself | null;
  readonly origins: readonly OriginRow[];
  /** Operations that matter here, by what they split into. */
  readonly paths: readonly PathRow[];
  readonly quality: Quality;
  readonly schema: number;
  readonly source: Source;
  readonly stages: readonly StageRow[];
  readonly stats: unknown;
  readonly threads: readonly ThreadRow[];
  /** Where threads wait, longest first; apart from all CPU time, and without threads that wait for work. */
  readonly waiting: readonly WaitRow[];
  /** What the bounds on speed assume; null when there are none. */
  readonly what_if: WhatIf | null;
  /** What all shares of CPU are of; null where there are no samples. */
  readonly whole: WholeAnswer | null;
  readonly why: string;
  readonly zwhy: string;
}

/** Work of a pool that no program waits for. */
export interface BackgroundWork {
  /** Of the requests that the disks of the pool worked on, the part of this work; null where that is not known. */
  readonly disk_share: number | null;
  /** How much is done, 0 to 1. */
  readonly done: number | null;
  readonly left_bytes: number | null;
  /** Seconds that it will still take at the speed it had so far. */
  readonly left_s: number | null;
  readonly pool: string;
  /** Programs that wait for these disks meanwhile. */
  readonly slows: readonly string[];
  /** `scrub`, `resilver`, `freeing of destroyed data`. */
  readonly work: string;
}

/** What limits the load. */
export interface Bottleneck {
  /** Part of the host's CPU time that nobody used. */
  readonly cpu_idle: number | null;
  /** Part of the host's CPU time that its hypervisor gave to others. */
  readonly cpu_stolen: number | null;
  /** Disks that did something, the busiest first. */
  readonly disks: readonly DiskRow[];
  readonly kind: LimitKind;
  /** Programs that wait, those with most waiting time first. */
  readonly programs: readonly ProgramTime[];
  /** Queues of disks in which requests wait longer than they take on the disk, the longest wait first. */
  readonly queues: readonly QueueRow[];
  /** All of it in one sentence. */
  readonly text: string;
  /** The disk, thread, program or function that is at its limit; empty where it is none of these. */
  readonly what: string;
}

/** A part of a program's calls. */
export interface CallPart {
  readonly call: string;
  readonly share: number;
}

/** One of several ways. */
export interface ChoiceAnswer {
  readonly commands: readonly string[];
  readonly text: string;
  readonly undo: readonly string[];
}

export type ConfidenceWord = "high" | "medium" | "low" | "";

/** What programs asked of a dataset, cached or not. */
export interface DatasetDemand {
  /** Synchronous writes, fsync and the like; null before OpenZFS 2.2, which counts them for all together. */
  readonly commits_s: number | null;
  readonly dataset: string;
  /** The guest that has the volume as a disk. */
  readonly owner: string | null;
  readonly read_bytes_s: number;
  readonly reads_s: number;
  readonly writes_s: number;
  readonly written_bytes_s: number;
}

/** Who is behind the load; the busiest stand first. */
export interface Demand {
  readonly background: readonly BackgroundWork[];
  readonly datasets: readonly DatasetDemand[];
  readonly programs: readonly ProgramDemand[];
}

/** A disk while it was recorded, from the counters of the kernel. */
export interface DiskRow {
  /** Part of the time with at least one operation under way. */
  readonly busy: number;
  readonly disk: string;
  /** The pool that it belongs to, where that is known. */
  readonly pool: string | null;
  /** Operations under way, on average. */
  readonly queue: number;
  readonly read_bytes_s: number;
  /** Mean time of one read and one write in milliseconds; null without any. */
  readonly read_ms: number | null;
  readonly reads_s: number;
  readonly write_ms: number | null;
  readonly writes_s: number;
  readonly written_bytes_s: number;
}

/** One thing that speaks for a finding. */
export interface EvidenceLine {
  readonly claim: string;
  readonly figures: readonly Figure[];
  readonly frames: readonly string[];
  /** What was measured, in words; `figures` has the same as numbers. */
  readonly measure: string;
  readonly source: string;
}

/** What the evidence answered to one question of a sign, as a program reads it. */
export interface Figure {
  readonly high: number | null;
  /** Ends of the 95 % interval; both null where nothing was counted. Of yes or no they are of the share that decides it. */
  readonly low: number | null;
  /** What a share is of; empty of other figures. */
  readonly of: string;
  /** As causes ask it: `self_pct(aes_*)`. */
  readonly question: string;
  /** The answer where it is not a number: a version, a property, `yes` or `no`. */
  readonly text: string | null;
  /** `share`, `bytes`, `ns`, `percent`; empty of a number without a unit. */
  readonly unit: string;
  /** Shares are 0 to 1; null where the answer is a text, or yes or no. */
  readonly value: number | null;
}

export interface Finding {
  readonly affected: string;
  /** What speaks against it; each line has lowered the confidence. */
  readonly against: readonly EvidenceLine[];
  readonly class: string;
  readonly confidence: number;
  readonly confidence_word: ConfidenceWord;
  readonly evidence: readonly EvidenceLine[];
  readonly experiment: string | null;
  readonly explanation: string;
  readonly fixed_in: string | null;
  /** What the remedy should bring; null where the remedy has no commands. */
  readonly gain: Gain | null;
  /** What this machine can do of that work. */
  readonly limits: readonly MachineLimit[];
  /** What to measure to be surer. */
  readonly next: readonly string[];
  readonly references: readonly string[];
  readonly remedy: RemedyAnswer;
  /** The datasets, pools, vdevs, threads or processes that it is about, the busiest first. */
  readonly rows: readonly RowAnswer[];
  /** Rows that are guilty too and are not listed. */
  readonly rows_more: number;
  /** Rows that were not looked at one by one, as they do less than many others. */
  readonly rows_unseen: number;
  readonly rules_out: readonly RuledOut[];
  /** Of all CPU samples; samples that a finding above accounts for are not counted again. */
  readonly share: ShareOf | null;
  readonly title: string;
  /** What to upgrade, where this host's release is older than the fix. */
  readonly upgrade: string | null;
  /** Without the work that the share counts. */
  readonly without: SpeedUp | null;
}

/** What following the remedy should bring, for the same load on the same host. */
export interface Gain {
  /** Part of all busy CPU that goes away, what else runs on the host included. */
  readonly cpu_less: Range | null;
  /** How many times as much can be done, where the CPU is what limits. */
  readonly faster: Range | null;
  /** What makes that sure, or why nothing is promised. */
  readonly reason: string;
  /** All of it in words. */
  readonly text: string;
  /** Part of ZFS's CPU for the same work that goes away, 0 to 1; null where nothing is promised. */
  readonly zfs_cpu_less: Range | null;
}

/** The recorder's own work. */
export interface Itself {
  /** CPU time of its threads and of the commands that it ran; null where nothing tells. */
  readonly cpu_s: number | null;
  /** The same as a part of one CPU. */
  readonly of_one_cpu: number | null;
  /** `zwhy`, `perf`. */
  readonly program: string;
  /** CPU samples that were set aside. */
  readonly samples: number;
}

export interface LabelRow {
  readonly label: string;
  readonly share: ShareOf;
}

/** What is at its limit: all CPUs of the host, one thread (which cannot use more than one CPU), a disk, a queue of tasks, a lock, memory, something that holds programs back on purpose (room for changed data, a control group, a hypervisor), a program that computes without ZFS, or nothing at all. */
export type LimitKind =
  | "cpu"
  | "thread"
  | "device"
  | "queue"
  | "lock"
  | "memory"
  | "throttle"
  | "client"
  | "idle"
  | "";

/** What one CPU of this machine can do of some work. */
export interface MachineLimit {
  /** What ZFS got in this evidence, per CPU that was at this work. */
  readonly achieved_mb_s: number | null;
  /** MB (10^6 bytes) per second of CPU time. */
  readonly mb_s: number;
  /** Whose figure it is: a benchmark kstat of OpenZFS, or a library measured by `zwhy limits`. */
  readonly source: string;
  /** All of it in words. */
  readonly text: string;
  /** `aes-256-gcm`, `zstd-3 compress`, `raidz2 gen_pq`. */
  readonly work: string;
}

export interface OriginRow {
  readonly origin: string;
  readonly samples: number;
  readonly share: ShareOf;
}

/** An operation in the profile. */
export interface PathRow {
  readonly name: string;
  /** Samples of the path in none of its steps. */
  readonly rest: number;
  readonly root: string;
  readonly samples: number;
  readonly share: ShareOf;
  readonly steps: readonly PathStep[];
}

/** A part of a path. */
export interface PathStep {
  /** The function of the step that has most of its samples. */
  readonly function: string;
  readonly inside: readonly PathStep[];
  /** Of the path, 0 to 1. */
  readonly of_path: number;
  readonly samples: number;
  /** Of all CPU samples. */
  readonly share: ShareOf;
  /** What the caller asked for. */
  readonly useful: boolean;
  readonly what: string;
}

/** What a program moved, with all files, sockets and devices together. */
export interface ProgramDemand {
  /** What its calls are, as parts of its CPU time in ZFS: `reads`, `writes`, `commits`, `other calls`. */
  readonly calls: readonly CallPart[];
  /** Memory of its processes; what they share counts once for each. */
  readonly memory_bytes: number | null;
  /** The container, service or guest that it runs in: `container 3f2a`, `guest web1`. */
  readonly owner: string | null;
  readonly processes: number;
  readonly program: string;
  /** By system calls, cached or not; null where the kernel's counters were not read. */
  readonly read_bytes_s: number | null;
  readonly written_bytes_s: number | null;
  /** Of all CPU time of ZFS in calls of programs, the part in calls of this one. */
  readonly zfs_part: number | null;
}

/** Where the time of a program's threads goes. */
export interface ProgramTime {
  /** Part of it on a CPU; null where that is not known. */
  readonly on_cpu: number | null;
  readonly program: string;
  /** Threads that waited. */
  readonly threads: number;
  /** What it waited for, longest first. */
  readonly waits: readonly TimePart[];
  /** Seconds that these threads were there, all together. */
  readonly wall_s: number;
}

export interface Quality {
  /** Byte at which the source ends before its time. */
  readonly cut_at: number | null;
  readonly dropped: ReadonlyMap<string, number>;
  readonly kept: number;
  /** null where the source was cut and nobody knows how many followed. */
  readonly lost: number | null;
  readonly lost_bytes: number;
  readonly read: number;
  /** What is counted: samples, lines, boxes. */
  readonly unit: string;
  /** CPU samples whose leaf has no name, by reason. */
  readonly unresolved: ReadonlyMap<string, number>;
  readonly warnings: readonly string[];
}

/** A queue of ZFS for one class of I/O of a disk, from `zpool iostat -lq`. */
export interface QueueRow {
  /** Requests that the disk works on, on average. */
  readonly active: number;
  readonly disk: string;
  readonly disk_ms: number | null;
  /** How many of them ZFS allows at one time (`zfs_vdev_*_max_active`); null where that is not known. */
  readonly limit: number | null;
  readonly pool: string;
  /** `synchronous reads`, `synchronous writes`, `reads ahead`, `writes`. */
  readonly queue: string;
  /** Milliseconds that a request waits for its turn, and then takes on the disk; null without any. */
  readonly wait_ms: number;
  /** Requests that wait for their turn, on average. */
  readonly waiting: number;
}

/** From the least to the most that is expected. */
export interface Range {
  readonly high: number;
  readonly low: number;
}

export interface RemedyAnswer {
  /** What no command does. */
  readonly advice: readonly string[];
  /** Ways of which the user picks one. */
  readonly choices: readonly ChoiceAnswer[];
  /** Commands to run as they stand, in this order. */
  readonly commands: readonly string[];
  /** There are commands, and all name things of this host: nothing in capitals is to be replaced. */
  readonly complete: boolean;
  /** Commands that show whether it is so and change nothing. */
  readonly look: readonly string[];
  /** Which datasets the commands are for, where that is not plain to see: where a value is inherited from. */
  readonly place: readonly string[];
  /** What becomes of blocks that are there already, where a property only changes new ones. */
  readonly rewrite: string | null;
  readonly risk: string;
  readonly text: string;
  /** Commands that take `commands` back, in this order, with what was recorded. */
  readonly undo: readonly string[];
  /** What to know of the way back. */
  readonly undo_note: string;
}

/** One thing that a finding is about. */
export interface RowAnswer {
  /** CPUs' worth of time that a thread or process took; 1 is one CPU full. */
  readonly cpus: number | null;
  /** `dataset`, `pool`, `vdev`, `thread` or `process`. */
  readonly kind: string;
  /** Of a thread or process with its number, where that is known. */
  readonly name: string;
  /** Of what the guilty rows read and wrote together, or of their CPU time, the part that is its own. */
  readonly part: number | null;
  /** Bytes that it read and wrote a second, where counters tell. */
  readonly read_bytes_s: number | null;
  readonly written_bytes_s: number | null;
}

export interface RuledOut {
  readonly class: string;
  readonly why: string;
}

/** A share with its 95 % interval; without counts both ends are the value. */
export interface ShareOf {
  readonly high: number;
  readonly low: number;
  readonly value: number;
}

/** What the answer is about. */
export interface Source {
  /** What they amount to, in `unit`; so do the `samples` of stages, threads and paths. */
  readonly amount: number;
  readonly duration_s: number | null;
  readonly host: string | null;
  readonly hz: number | null;
  readonly kernel: string | null;
  /** `record`, `lab`, `import`, or "" where the source does not say. */
  readonly kind: string;
  /** null where the source was cut and nobody knows how many followed. */
  readonly lost: number | null;
  readonly name: string;
  readonly os: string | null;
  /** How many CPU samples there were; null where the source does not say. */
  readonly samples: number | null;
  /** `samples`, `nanoseconds`, `bytes`, or an event such as `cycles`. */
  readonly unit: string;
  /** Whether ZFS holds any pool; null where that is not known. */
  readonly zfs_in_use: boolean | null;
  readonly zfs_version: string | null;
}

/** How many times everything else would speed up without some work, at most. */
export interface SpeedUp {
  /** `1 / (1 - share of busy CPU)`; null when that share is everything. */
  readonly at_most: number | null;
  readonly high: number | null;
  /** The same for the ends of the share's 95 % interval. */
  readonly low: number;
}

/** One stage; over all rows the samples add up to all samples. */
export interface StageRow {
  readonly limits: readonly MachineLimit[];
  readonly samples: number;
  /** Generic work inside the stage, of all CPU samples. */
  readonly self_label: readonly LabelRow[];
  readonly share: ShareOf;
  readonly stage: string;
  readonly who: readonly WhoRow[];
  /** Without this stage; null for what is not of ZFS. */
  readonly without: SpeedUp | null;
}

export interface ThreadRow {
  readonly comm: string;
  readonly cpu_s: number | null;
  /** CPUs' worth of time; 1 is one CPU full. */
  readonly cpu_share: number | null;
  /** What the thread does for ZFS; empty when it is not of ZFS. */
  readonly role: string;
  readonly samples: number;
  readonly threads: number;
}

/** A part of a program's time. */
export interface TimePart {
  readonly share: number;
  /** `disk reads`, `a lock`, `memory`. */
  readonly waits_for: string;
}

/** Threads of one name that wait in one place. */
export interface WaitRow {
  /** The function that waits, and its caller: `spa_sync > zio_wait`. */
  readonly inside: string;
  /** Who ends it: a disk, or a thread of ZFS; empty where that is not known. */
  readonly on: string;
  /** What the thread does for ZFS; empty when it is not of ZFS. */
  readonly role: string;
  readonly samples: number;
  /** Stage of the work that waits. */
  readonly stage: string;
  readonly thread: string;
  /** Waiting time of all these threads together; 0 where the source has no times. */
  readonly wait_s: number;
  /** `disk reads`, `a lock`, `memory`; empty where the functions do not say. */
  readonly waits_for: string;
}

/** What the bounds of [`SpeedUp`] assume. */
export interface WhatIf {
  readonly assumption: string;
  /** Part of all that the host's CPUs had that was not idle; null where the evidence does not say. */
  readonly busy: number | null;
}

export interface WhoRow {
  /** Of the stage. */
  readonly share: number;
  readonly thread: string;
}

/** What all shares of CPU in the answer are of. */
export interface WholeAnswer {
  /** Seconds of CPU time in it; where it is all of a host, those that were busy. null where the source does not say how often it sampled. */
  readonly cpu_s: number | null;
  /** Idle time is part of it: the samples are of all that the host's CPUs had. */
  readonly idle: boolean;
  /** The same as a part of all that this host's CPUs had, 0 to 1; null where nothing tells, or where it is the host. */
  readonly of_host: number | null;
  /** `the CPU time of fio`, `this host's CPU, idle time included`. */
  readonly what: string;
}
