//! Free text that people paste: a whole issue thread with perf rows, top, kstats, tables, properties,
//! parameters, versions and stacks between its sentences.
//!
//! Each recognised block becomes evidence whose origin names its lines; every other line is counted.
//! The same recognisers read perf report, kernel stacks and tracer output as files of their own.

mod arc_summary;
mod arcstat;
mod benchmarks;
mod blocked;
mod cells;
mod clock_tables;
mod command;
mod dbgmsg;
mod ddt_histogram;
mod dstat;
mod fio;
mod folded_lines;
mod histograms;
mod iotop;
mod kstats;
mod lists;
mod memory;
mod params;
mod procstat;
mod properties;
mod prose;
mod report_lines;
mod spl_slab;
mod strace;
mod sysctl;
mod tables;
mod threads;
mod versions;
mod zdb;
mod zpool_iostat;
mod zpool_status;

use crate::blocks::{self, Block};
use crate::bpftrace::BpftraceMap;
use crate::kernel_stacks::{KernelEvents, KernelStackBlock};
use crate::perf_report::PerfRows;
use crate::stack_list::StackList;
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};

/// Every recogniser; the first that takes a line has it, so the more particular stand first.
static BLOCKS: &[&dyn Block] = &[
    &PerfRows,
    &KernelStackBlock,
    &KernelEvents,
    &BpftraceMap,
    &histograms::TracerHistogram,
    &StackList,
    &dstat::Dstat,
    &clock_tables::ClockTable,
    &iotop::Iotop,
    &blocked::Blocked,
    &procstat::Procstat,
    &threads::Threads,
    &threads::TopHeader,
    &kstats::SplTable,
    &kstats::NamedKstats,
    &sysctl::Sysctl,
    &sysctl::KstatP,
    &sysctl::MdbArc,
    &zpool_iostat::ZpoolIostat,
    &zpool_status::ZpoolStatus,
    &lists::Lists,
    &properties::Properties,
    &arc_summary::ArcSummary,
    &arcstat::Arcstat,
    &zdb::Metaslabs,
    &zdb::Ddt,
    &zdb::Blocks,
    &zdb::FatZap,
    &fio::Fio,
    &benchmarks::Dd,
    &benchmarks::PerfStat,
    &benchmarks::Time,
    &strace::Strace,
    &dbgmsg::Dbgmsg,
    &memory::Free,
    &memory::Buddyinfo,
    &memory::Slabinfo,
    &memory::SlabtopHead,
    &spl_slab::SplSlab,
    &tables::KnownTable,
    &memory::Meminfo,
    &versions::Versions,
    &params::Parameters,
    &folded_lines::FoldedLines,
    &command::Command,
    // Any sentence; must stay last.
    &prose::Prose,
];

pub(crate) struct Pasted;

impl Importer for Pasted {
    fn name(&self) -> &'static str {
        "pasted"
    }

    /// Any text at all: the taker of last resort.
    fn sniff(&self, head: &[u8]) -> Confidence {
        let odd =
            head.iter().filter(|b| **b < b' ' && !matches!(b, b'\n' | b'\r' | b'\t' | 0x1b | 0x0c)).count();
        if head.contains(&0) || odd * 50 > head.len() { Confidence::No } else { Confidence::Possible }
    }

    fn read(&self, input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
        let mut imported = blocks::read(self.name(), input, BLOCKS, options.limits.max_depth)?;
        let e = &imported.evidence;
        let nothing = e.profile.samples.is_empty()
            && e.flat.is_empty()
            && e.trees.is_empty()
            && e.threads.is_empty()
            && e.kstats.is_empty()
            && e.params.is_empty()
            && e.properties.is_empty()
            && e.tables.is_empty()
            && e.host == Default::default();
        if nothing {
            let found =
                format!("none of its {} lines is output of a tool that zwhy knows", imported.stats.read);
            return Err(FormatError::read(ErrorKind::Empty, input.name(), found).hint(
                "paste output of perf, top, arcstats, zfs get or zpool iostat as it stands in the terminal",
            ));
        }
        let unknown = imported.stats.dropped.get(blocks::NOT_RECOGNISED).copied().unwrap_or(0);
        if unknown > 0 {
            let text = format!(
                "{unknown} of {} lines were not recognised (sentences, or output of other tools)",
                imported.stats.read
            );
            imported.stats.warnings.push(text);
        }
        Ok(imported)
    }
}
