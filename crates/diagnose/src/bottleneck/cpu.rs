//! How much CPU there was and who used it: the host, ZFS, and single threads.

use crate::facts::FactBase;
use zwhy_zfs::{thread_base, thread_role};

/// CPU of a recorded host; parts are of all its CPUs, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cpu {
    /// Nobody used it but the recorder.
    pub idle: f64,
    /// The hypervisor gave it to others.
    pub stolen: f64,
    pub cpus: Option<f64>,
    /// Work in stages of ZFS; `None` without samples.
    pub zfs: Option<f64>,
    /// The thread of ZFS that is busiest, in parts of one CPU.
    pub thread: Option<(String, f64)>,
}

impl Cpu {
    /// `None` where the host's own counters are not known.
    pub fn of(facts: &FactBase<'_>) -> Option<Cpu> {
        let all = &facts.evidence.facts;
        let part = |name: &str| all.cpu_time.get(name).copied().unwrap_or(0.0);
        all.cpu_time.get("idle")?;
        let cpus = all.host.cpus.map(|n| n as f64).filter(|n| *n >= 1.0);
        // What the recorder used is no load of the host.
        let own = facts.evidence.itself.as_ref().and_then(|itself| itself.of_one_cpu);
        let own = own.zip(cpus).map_or(0.0, |(own, cpus)| (own / cpus).max(0.0));
        Some(Cpu {
            idle: (part("idle") + part("iowait") + own).clamp(0.0, 1.0),
            stolen: part("steal").clamp(0.0, 1.0),
            cpus,
            zfs: zfs(facts, cpus),
            thread: busiest_thread(facts),
        })
    }
}

/// Samples in stages of ZFS, as a part of the CPU time that the host has.
fn zfs(facts: &FactBase<'_>, cpus: Option<f64>) -> Option<f64> {
    let recorder = &facts.evidence.facts.recorder;
    let samples = facts.cpu.stages.of_zfs();
    let whole = recorder.hz? * recorder.duration_s? * cpus?;
    (facts.cpu.all > 0 && whole > 0.0).then(|| (facts.cpu.sampling.samples_in(samples) / whole).min(1.0))
}

fn busiest_thread(facts: &FactBase<'_>) -> Option<(String, f64)> {
    let of_zfs = facts.evidence.threads.iter().filter(|t| thread_role(&t.comm).is_some());
    let busy = of_zfs.filter_map(|t| Some((thread_base(&t.comm).to_owned(), t.cpu_pct? / 100.0)));
    busy.max_by(|a, b| a.1.total_cmp(&b.1))
}
