//! Stacks that were counted, but are no profile of the host: a few beside a list of what took the CPU.

use zwhy_evidence::{Evidence, PctStack};
use zwhy_profile::{Event, Sample};

/// So few different stacks beside a list of perf were picked by somebody.
const PICKED: usize = 12;

/// A list of perf that has less than this of the CPU, in percent, is of one program or thread: it does not say what the stacks lack.
const OF_HOST: f64 = 30.0;

/// Makes of counted stacks what they are worth beside other text: they say what was called, not how much of the CPU it took.
///
/// A list of perf has the shares of all that ran; beside it a handful of stacks that somebody picked (`trunc(@, 3)`, one thread, one
/// function) would count as the whole.
/// Returns how many samples lost their count by it.
pub fn stacks_alone(evidence: &mut Evidence, file: &str) -> u64 {
    let origin = evidence.origin(file);
    let profile = &mut evidence.profile;
    let counted = |event: Event| event == Event::Cpu;
    let rows = profile.samples.iter().filter(|s| counted(s.event)).count();
    let listed: f64 = evidence.flat.iter().filter_map(|row| row.pct).sum();
    if rows == 0 || rows > PICKED || listed < OF_HOST {
        return 0;
    }
    let of = |sample: &Sample| {
        let frames = profile.function_names(sample.stack).into_iter().map(str::to_owned).collect();
        let comm = profile.strings.get(profile.threads.get(sample.thread).comm).to_owned();
        PctStack { comm: Some(comm).filter(|c| !c.is_empty()), frames, origin, ..PctStack::default() }
    };
    let samples = profile.total(Event::Cpu);
    let stacks: Vec<PctStack> = profile.samples.iter().filter(|s| counted(s.event)).map(|s| of(&s)).collect();
    profile.samples.retain(|sample| !counted(sample.event));
    evidence.trees.extend(stacks);
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportOptions, import_bytes};

    /// Samples that are left beside a list whose row has so much.
    fn counted_beside(pct: f64) -> u64 {
        let text = format!(
            "zfs reads are slow\n\n61240 rg;do_syscall_64;zfs_read;lz4_decompress_zfs\n7044 rg;do_syscall_64;zfs_read\n\n\
             # perf report --stdio --no-children -g none\n    {pct:.2}%  dbu_evict  [zfs]  [k] dbuf_destroy\n"
        );
        let read = import_bytes("x", text.into_bytes(), &ImportOptions::default()).expect("a report");
        assert_eq!(read.evidence.flat.len(), 1);
        read.evidence.profile.total(Event::Cpu)
    }

    #[test]
    fn stacks_count_where_the_list_is_of_one_thread() {
        assert_eq!(counted_beside(3.88), 68_284);
        assert_eq!(counted_beside(53.88), 0);
    }
}
