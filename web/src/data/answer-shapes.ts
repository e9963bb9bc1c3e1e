// The types of answer.ts as data, for reading JSON that nobody vouches for.
//
// Generated from the Rust types (crates/diagnose/src/answer.rs): do not edit. After a change there,
// `BLESS=1 cargo test -p zwhy-report --test faces` writes it anew.

/**
 * A type a line, with its fields: NAME is text, NAME:n a number, NAME:f a flag, NAME:a anything, NAME:TYPE another type.
 * Behind it `?` is or null, `[]` a list, `{}` a map by name. A type that knows only some words has `=` and those.
 * Types but the answer have numbers, as every report holds this text.
 */
export const SHAPES = `Answer bottleneck:2? demand:7? do? findings:11[] itself:13? origins:17[] paths:18[] quality:22 schema:n source:29 stages:31[] stats:a threads:32[] waiting:34[] what_if:35? whole:37? why zwhy
1 disk_share:n? done:n? left_bytes:n? left_s:n? pool slows[] work
2 cpu_idle:n? cpu_stolen:n? disks:8[] kind:15 programs:21[] queues:23[] text what
3 call share:n
4 commands[] text undo[]
5=high medium low
6 commits_s:n? dataset owner? read_bytes_s:n reads_s:n writes_s:n written_bytes_s:n
7 background:1[] datasets:6[] programs:20[]
8 busy:n disk pool? queue:n read_bytes_s:n read_ms:n? reads_s:n write_ms:n? writes_s:n written_bytes_s:n
9 claim figures:10[] frames[] measure source
10 high:n? low:n? of question text? unit value:n?
11 affected against:9[] class confidence:n confidence_word:5 evidence:9[] experiment? explanation fixed_in? gain:12? limits:16[] next[] references[] remedy:25 rows:26[] rows_more:n rows_unseen:n rules_out:27[] share:28? title upgrade? without:30?
12 cpu_less:24? faster:24? reason text zfs_cpu_less:24?
13 cpu_s:n? of_one_cpu:n? program samples:n
14 label share:28
15=cpu thread device queue lock memory throttle client idle
16 achieved_mb_s:n? mb_s:n source text work
17 origin samples:n share:28
18 name rest:n root samples:n share:28 steps:19[]
19 function inside:19[] of_path:n samples:n share:28 useful:f what
20 calls:3[] memory_bytes:n? owner? processes:n program read_bytes_s:n? written_bytes_s:n? zfs_part:n?
21 on_cpu:n? program threads:n waits:33[] wall_s:n
22 cut_at:n? dropped:n{} kept:n lost:n? lost_bytes:n read:n unit unresolved:n{} warnings[]
23 active:n disk disk_ms:n? limit:n? pool queue wait_ms:n waiting:n
24 high:n low:n
25 advice[] choices:4[] commands[] complete:f look[] place[] rewrite? risk text undo[] undo_note
26 cpus:n? kind name part:n? read_bytes_s:n? written_bytes_s:n?
27 class why
28 high:n low:n value:n
29 amount:n duration_s:n? host? hz:n? kernel? kind lost:n? name os? samples:n? unit zfs_in_use:f? zfs_version?
30 at_most:n? high:n? low:n
31 limits:16[] samples:n self_label:14[] share:28 stage who:36[] without:30?
32 comm cpu_s:n? cpu_share:n? role samples:n threads:n
33 share:n waits_for
34 inside on role samples:n stage thread wait_s:n waits_for
35 assumption busy:n?
36 share:n thread
37 cpu_s:n? idle:f of_host:n? what`;
