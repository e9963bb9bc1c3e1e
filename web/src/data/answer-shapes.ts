// The types of answer.ts as data, for reading JSON that nobody vouches for.
//
// Generated from the Rust types (crates/diagnose/src/answer.rs): do not edit. After a change there,
// `BLESS=1 cargo test -p zwhy-report --test faces` writes it anew.

/**
 * A type a line, with its fields: NAME is text, NAME:n a number, NAME:f a flag, NAME:a anything, NAME:TYPE another type.
 * Behind it `?` is or null, `[]` a list, `{}` a map by name. A type that knows only some words has `=` and those.
 */
export const SHAPES = `Answer bottleneck:Bottleneck? demand:Demand? do? findings:Finding[] itself:Itself? origins:OriginRow[] paths:PathRow[] quality:Quality schema:n source:Source stages:StageRow[] stats:a threads:ThreadRow[] waiting:WaitRow[] what_if:WhatIf? whole:WholeAnswer? why zwhy
BackgroundWork disk_share:n? done:n? left_bytes:n? left_s:n? pool slows[] work
Bottleneck cpu_idle:n? cpu_stolen:n? disks:DiskRow[] kind:LimitKind programs:ProgramTime[] queues:QueueRow[] text what
CallPart call share:n
ChoiceAnswer commands[] text undo[]
ConfidenceWord=high medium low
DatasetDemand commits_s:n? dataset owner? read_bytes_s:n reads_s:n writes_s:n written_bytes_s:n
Demand background:BackgroundWork[] datasets:DatasetDemand[] programs:ProgramDemand[]
DiskRow busy:n disk pool? queue:n read_bytes_s:n read_ms:n? reads_s:n write_ms:n? writes_s:n written_bytes_s:n
EvidenceLine claim figures:Figure[] frames[] measure source
Figure high:n? low:n? of question text? unit value:n?
Finding affected against:EvidenceLine[] class confidence:n confidence_word:ConfidenceWord evidence:EvidenceLine[] experiment? explanation fixed_in? gain:Gain? limits:MachineLimit[] next[] references[] remedy:RemedyAnswer rows:RowAnswer[] rows_more:n rows_unseen:n rules_out:RuledOut[] share:ShareOf? title upgrade? without:SpeedUp?
Gain cpu_less:Range? faster:Range? reason text zfs_cpu_less:Range?
Itself cpu_s:n? of_one_cpu:n? program samples:n
LabelRow label share:ShareOf
LimitKind=cpu thread device queue lock memory throttle client idle
MachineLimit achieved_mb_s:n? mb_s:n source text work
OriginRow origin samples:n share:ShareOf
PathRow name rest:n root samples:n share:ShareOf steps:PathStep[]
PathStep function inside:PathStep[] of_path:n samples:n share:ShareOf useful:f what
ProgramDemand calls:CallPart[] memory_bytes:n? owner? processes:n program read_bytes_s:n? written_bytes_s:n? zfs_part:n?
ProgramTime on_cpu:n? program threads:n waits:TimePart[] wall_s:n
Quality cut_at:n? dropped:n{} kept:n lost:n? lost_bytes:n read:n unit unresolved:n{} warnings[]
QueueRow active:n disk disk_ms:n? limit:n? pool queue wait_ms:n waiting:n
Range high:n low:n
RemedyAnswer advice[] choices:ChoiceAnswer[] commands[] complete:f look[] place[] rewrite? risk text undo[] undo_note
RowAnswer cpus:n? kind name part:n? read_bytes_s:n? written_bytes_s:n?
RuledOut class why
ShareOf high:n low:n value:n
Source amount:n duration_s:n? host? hz:n? kernel? kind lost:n? name os? samples:n? unit zfs_in_use:f? zfs_version?
SpeedUp at_most:n? high:n? low:n
StageRow limits:MachineLimit[] samples:n self_label:LabelRow[] share:ShareOf stage who:WhoRow[] without:SpeedUp?
ThreadRow comm cpu_s:n? cpu_share:n? role samples:n threads:n
TimePart share:n waits_for
WaitRow inside on role samples:n stage thread wait_s:n waits_for
WhatIf assumption busy:n?
WhoRow share:n thread
WholeAnswer cpu_s:n? idle:f of_host:n? what`;
