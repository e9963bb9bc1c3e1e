//! Free text that people paste: a whole issue thread with perf rows, top, kstats, tables, properties,
//! parameters, versions and stacks between its sentences.
//!
//! Each recognised block becomes evidence whose origin names its lines; every other line is counted.
//! `zwhy_paste` reads the output of tools; the recognisers of stacks here read files of their own, too.

mod few;

use crate::bpftrace::BpftraceMap;
use crate::dtrace::list::StackList;
use crate::folded::block::FoldedLines;
use crate::kernel_stacks::{KernelEvents, KernelStackBlock, StackRows};
use crate::perf_report::{PerfRows, PerfTree};
use crate::perf_script::SampleExcerpt;
use crate::text::blocks::{self, Block};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use zwhy_paste::Tools;

/// Recognisers of stacks with their ranks among the readers of tools.
static STACKS: [(u16, &dyn Block); 9] = [
    (9, &StackRows),
    (10, &PerfRows),
    (77, &PerfTree),
    (11, &KernelStackBlock),
    (12, &KernelEvents),
    (13, &BpftraceMap),
    (14, &SampleExcerpt),
    (16, &StackList),
    (78, &FoldedLines),
];

pub(crate) static IMPORTER: Importer = Importer { name: "pasted", sniff, read };

/// Any text at all: the taker of last resort.
fn sniff(head: &[u8]) -> Confidence {
    let odd = head.iter().filter(|b| **b < b' ' && !matches!(b, b'\n' | b'\r' | b'\t' | 0x1b | 0x0c)).count();
    if head.contains(&0) || odd * 50 > head.len() { Confidence::No } else { Confidence::Possible }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let embedded;
    let tools = match &options.tools {
        Some(tools) => tools,
        None => {
            embedded = Tools::embedded();
            &embedded
        }
    };
    let readers = zwhy_paste::ranked(tools, &STACKS);
    let mut imported = blocks::read("pasted", input, &readers, options.limits.max_depth)?;
    let uncounted = few::stacks_alone(&mut imported.evidence, input.name());
    if uncounted > 0 {
        let text = format!(
            "{uncounted} samples in a few stacks beside a list of perf are kept as stacks without their counts: the list says what took the CPU"
        );
        imported.stats.warnings.push(text);
    }
    let e = &imported.evidence;
    let measured = !(e.profile.samples.is_empty()
        && e.flat.is_empty()
        && e.trees.is_empty()
        && e.threads.is_empty()
        && e.kstats.is_empty()
        && e.params.is_empty()
        && e.tables.is_empty());
    let nothing = !measured && e.properties.is_empty() && e.host == Default::default();
    // A sentence such as "the pool is 85% full" is read as the property of a pool, whatever storage it speaks of.
    let elsewhere = !measured && zwhy_paste::speaks_of_other_storage(&e.text);
    if elsewhere || nothing && !zwhy_paste::speaks_of_zfs(&e.text) {
        let found = format!("none of its {} lines is output of a tool that zwhy knows", imported.stats.read);
        return Err(FormatError::read(ErrorKind::Empty, input.name(), found).hint(
            "paste output of perf, top, arcstats, zfs get or zpool iostat as it stands in the terminal; \
             a report in words alone has to mention ZFS",
        ));
    }
    if nothing {
        let text = "there is no output of a tool in it, only words: they give candidates, and no measurement";
        imported.stats.warnings.push(text.to_owned());
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
