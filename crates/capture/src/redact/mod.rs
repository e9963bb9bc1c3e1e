//! Takes the names out of what was recorded: each is replaced, everywhere by the same stand-in.
//!
//! Replaced are the names of hosts, pools, datasets, snapshots, processes that are neither of
//! OpenZFS nor of the kernel, directories and files, device serials, addresses of networks, of mail and of hardware, and
//! numbers that identify a pool or a machine. What a cause is told by stays: functions, modules, thread roles, parameters, properties, versions, figures.
//! Invariant: two names never become one, so counts per process or dataset stay as they were.

mod capture;
mod facts;
mod identity;
mod known;
mod names;
mod properties;
#[cfg(test)]
mod share_tests;
mod tables;

use facts::kstat_source;
use known::is_public_process;
use names::Names;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use zwhy_evidence::{CaptureFacts, Evidence, Host, Imported, Property};
use zwhy_profile::{Event, Frame, FrameKind, Profile, StackId, StringId, Thread};

/// The stand-ins given so far; the same one for two recordings gives the same name to both.
#[derive(Default)]
pub struct Redactor {
    names: Names,
}

impl Redactor {
    /// Replaces every private name of `imported` in place.
    pub fn redact(&mut self, imported: &mut Imported) {
        let evidence = &mut imported.evidence;
        let names = &mut self.names;
        facts::learn(&evidence.facts, names);
        collect_items(evidence, names);
        collect_profile(&evidence.profile, names);
        names.settle(&datasets(evidence, &evidence.facts));
        evidence.profile = redacted_profile(&evidence.profile, names);
        rewrite_items(evidence, names);
        evidence.facts = facts::redacted(std::mem::take(&mut evidence.facts), names);
        for line in &mut evidence.timeline.lines {
            line.source = kstat_source(&line.source, names);
        }
        evidence.text = names.text(&evidence.text);
        evidence.said = names.text(&evidence.said);
        imported.stats.warnings.iter_mut().for_each(|w| *w = names.text(w));
    }

    /// How many names were replaced.
    pub fn names(&self) -> usize {
        self.names.len()
    }

    /// How many names were replaced, by the word of their stand-ins: `pool`, `process`, …
    pub fn replaced(&self) -> BTreeMap<&'static str, usize> {
        self.names.counts()
    }

    /// How many properties, words of marks and facts were left out, as nobody can say what they hold.
    pub fn left_out(&self) -> usize {
        self.names.left_out
    }
}

/// Every pool and dataset that facts and evidence name.
fn datasets<'a>(evidence: &'a Evidence, facts: &'a CaptureFacts) -> Vec<&'a str> {
    let of_properties = evidence.properties.iter().filter_map(|p| p.dataset.as_deref());
    facts::datasets(facts).into_iter().chain(of_properties).collect()
}

/// Learns what is a name before anything is replaced, so that it is known wherever it appears.
fn collect_items(evidence: &Evidence, names: &mut Names) {
    names.host(evidence.host.name.as_deref().unwrap_or_default());
    evidence.properties.iter().filter_map(|p| p.dataset.as_deref()).for_each(|d| names.pool_of(d));
    evidence.kstats.iter().filter_map(|k| known::pool_of_kstat(&k.source)).for_each(|p| names.pool_of(p));
    let groups = evidence.kstats.iter().filter_map(|k| k.source.strip_prefix("cgroup/"));
    for part in groups.flat_map(|path| path.split('/')).filter(|part| !known::is_public_group(part)) {
        names.process(part);
    }
    let values = evidence.properties.iter().map(|p| (p.name.as_str(), p.value.as_str()));
    values.for_each(|(name, value)| properties::learn(name, value, names));
    evidence.tables.iter().for_each(|table| tables::learn(table, names));
    let listed = evidence.threads.iter().map(|t| t.comm.as_str());
    let rows = evidence.flat.iter().filter_map(|r| r.comm.as_deref());
    let trees = evidence.trees.iter().filter_map(|t| t.comm.as_deref());
    for comm in listed.chain(rows).chain(trees).filter(|c| !is_public_process(c)) {
        names.process(comm);
    }
}

fn collect_profile(profile: &Profile, names: &mut Names) {
    let sampled = profile.threads.iter().map(|(_, t)| profile.strings.get(t.comm));
    sampled.filter(|c| !is_public_process(c)).for_each(|comm| names.process(comm));
}

/// The profile with other names of processes, programs and source files; samples stay as they are.
fn redacted_profile(profile: &Profile, names: &mut Names) -> Profile {
    let mut out = Profile::new();
    let text = |id| profile.strings.get(id);
    let in_kernel = profile.frames.iter().filter(|(_, f)| f.kind == FrameKind::Kernel);
    let kernel_modules: FxHashSet<StringId> = in_kernel.map(|(_, f)| f.module).collect();
    let frames: Vec<_> = profile
        .frames
        .iter()
        .map(|(_, f)| {
            // Functions inlined into a kernel module are in that module.
            let module = match f.kind {
                FrameKind::Kernel => text(f.module).to_owned(),
                FrameKind::Inlined if kernel_modules.contains(&f.module) => text(f.module).to_owned(),
                _ => names.module(text(f.module)),
            };
            // Folded stacks begin with the name of the process; code made at run time may be called by its file.
            let function = match (text(f.module), text(f.function)) {
                ("", function) => names.root(function),
                (_, function) if f.kind != FrameKind::Kernel && function.contains('/') => {
                    names.text(function)
                }
                (_, function) => function.to_owned(),
            };
            let frame = Frame {
                function: out.strings.intern(&function),
                module: out.strings.intern(&module),
                file: out.strings.intern(&match f.kind {
                    FrameKind::User => names.file(text(f.file)),
                    _ => names.text(text(f.file)),
                }),
                reason: out.strings.intern(&names.text(text(f.reason))),
                ..f
            };
            out.frames.intern(frame)
        })
        .collect();
    let mut stacks = vec![StackId::ROOT];
    for (_, parent, frame, _) in profile.stacks.iter() {
        stacks.push(out.stacks.child(stacks[parent.index()], frames[frame.index()]));
    }
    let threads: Vec<_> = profile
        .threads
        .iter()
        .map(|(_, t)| {
            let comm = out.strings.intern(&names.comm(text(t.comm)));
            out.threads.intern(Thread { comm, ..t })
        })
        .collect();
    Event::ALL.into_iter().for_each(|e| out.set_measure(e, profile.measure(e).clone()));
    out.samples.reserve(profile.samples.len());
    for mut sample in profile.samples.iter() {
        sample.stack = stacks[sample.stack.index()];
        sample.thread = threads.get(sample.thread.index()).copied().unwrap_or_default();
        out.samples.push(sample);
    }
    out
}

fn rewrite_items(evidence: &mut Evidence, names: &mut Names) {
    let Host { name, zfs_version, kernel, os, cpu_model, arch, .. } = &mut evidence.host;
    [name, zfs_version, kernel, os, cpu_model, arch]
        .into_iter()
        .flatten()
        .for_each(|text| *text = names.text(text));
    for row in &mut evidence.flat {
        row.comm = row.comm.as_deref().map(|c| names.comm(c));
        row.module = row.module.as_deref().map(|m| names.module(m));
    }
    for tree in &mut evidence.trees {
        tree.comm = tree.comm.as_deref().map(|c| names.comm(c));
        tree.frames.iter_mut().for_each(|frame| *frame = names.root(frame));
    }
    evidence.threads.iter_mut().for_each(|t| t.comm = names.comm(&t.comm));
    let before = evidence.kstats.len() + evidence.params.len() + evidence.properties.len();
    evidence.kstats.retain(|k| !known::is_identity(&k.name) && !known::is_identity(&k.source));
    evidence.kstats.iter_mut().for_each(|k| k.source = kstat_source(&k.source, names));
    evidence.params.retain(|p| !known::is_identity(&p.name));
    evidence.params.iter_mut().for_each(|p| p.value = names.text(&p.value));
    evidence.properties.retain_mut(|Property { dataset, name, value, .. }| {
        let Some(kept) = properties::redacted(name, value, names) else { return false };
        *value = kept;
        *dataset = dataset.as_deref().map(|d| names.dataset(d));
        true
    });
    names.left_out(before - evidence.kstats.len() - evidence.params.len() - evidence.properties.len());
    evidence.tables.iter_mut().for_each(|table| tables::rewrite(table, names));
    for origin in &mut evidence.origins {
        // `thread.txt, lines 3-8`
        let (file, rest) = origin.split_at(origin.find(", ").unwrap_or(origin.len()));
        *origin = format!("{}{}", names.stand_in("input", file), names.text(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use zwhy_evidence::{Kstat, ThreadCpu};
    use zwhy_profile::Event;

    fn sample() -> Imported {
        let mut evidence = Evidence {
            host: Host { name: Some("db7.example.org".into()), ..Host::default() },
            facts: CaptureFacts::from_value(json!({
                "host": { "name": "db7.example.org" },
                "pools": [{ "name": "tank", "vdevs": [
                    { "name": "ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0AAAAAA" }, { "name": "sda" },
                ] }],
                "datasets": [{ "name": "tank/games", "properties": { "mountpoint": "/srv/games" } }],
                "mounts": ["tank/games on /srv/games"],
                "parameters": { "zfs_arc_max": "0" },
            }))
            .0,
            ..Evidence::default()
        };
        let origin = evidence.origin("db7.zwhy");
        evidence.kstats.push(Kstat {
            source: "tank/iostats".into(),
            name: "direct_read_count".into(),
            value: 1.0,
            rate: None,
            origin,
        });
        evidence.threads.push(ThreadCpu {
            comm: "secretd".into(),
            cpu_pct: Some(3.0),
            origin,
            ..ThreadCpu::default()
        });
        let profile = &mut evidence.profile;
        let frames = [
            profile.frame("main", "secretd", FrameKind::User),
            profile.frame("zfs_read", "acme_drv", FrameKind::Kernel),
            profile.frame("inlined_in_it", "acme_drv", FrameKind::Inlined),
        ];
        let stack = profile.stack(&frames);
        for comm in ["secretd", "other", "z_rd_int_1"] {
            let thread = profile.thread(1, 1, comm);
            profile.samples.push_counted(thread, stack, Event::Cpu, 2);
        }
        Imported { evidence, ..Imported::default() }
    }

    fn shown(imported: &Imported) -> String {
        let profile = &imported.evidence.profile;
        let strings: Vec<&str> = profile.strings.iter().map(|(_, s)| s).collect();
        let items = serde_json::to_string(&imported.evidence).unwrap_or_default();
        format!("{items} {} {strings:?}", imported.evidence.facts.to_value())
    }

    #[test]
    fn no_private_name_is_left() {
        let mut imported = sample();
        let mut redactor = Redactor::default();
        redactor.redact(&mut imported);
        assert!(redactor.names() > 5);
        let shown = shown(&imported);
        for private in ["db7", "tank", "games", "secretd", "other", "srv", "WCC7K0"] {
            assert!(!shown.contains(private), "{private} in {shown}");
        }
    }

    #[test]
    fn what_a_cause_is_told_by_stays() {
        let mut imported = sample();
        Redactor::default().redact(&mut imported);
        let shown = shown(&imported);
        for public in
            ["zfs_read", "z_rd_int_1", "pool1/iostats", "zfs_arc_max", "\"sda\"", "pool1/fs1", "acme_drv"]
        {
            assert!(shown.contains(public), "{public} not in {shown}");
        }
    }

    #[test]
    fn one_name_is_replaced_alike_and_samples_stay() {
        let mut imported = sample();
        Redactor::default().redact(&mut imported);
        let profile = &imported.evidence.profile;
        assert_eq!(profile.total(Event::Cpu), 6);
        assert_eq!(profile.threads.len(), 3);
        let comm = &imported.evidence.threads[0].comm;
        assert!(profile.strings.find(comm).is_some(), "{comm}");
        let again = shown(&imported);
        Redactor::default().redact(&mut imported);
        assert_eq!(shown(&imported), again, "stand-ins are public names");
    }
}
