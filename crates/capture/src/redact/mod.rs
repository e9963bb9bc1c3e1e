//! Takes the names out of what was recorded: each is replaced, everywhere by the same stand-in.
//!
//! Replaced are the names of hosts, pools, datasets, snapshots, processes that are neither of
//! OpenZFS nor of the kernel, directories and files, device serials and IP addresses. What a cause
//! is told by stays: functions, modules, thread roles, parameters, properties, versions, figures.
//! Invariant: two names never become one, so counts per process or dataset stay as they were.

mod known;
mod names;

use known::is_public_process;
use names::Names;
use rustc_hash::FxHashSet;
use serde_json::Value;
use zwhy_evidence::{CaptureFacts, Evidence, Imported, Property, Table};
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
        collect(evidence, names);
        evidence.profile = redacted_profile(&evidence.profile, names);
        rewrite_items(evidence, names);
        redact_facts(evidence, names);
        imported.stats.warnings.iter_mut().for_each(|w| *w = names.text(w));
    }

    /// How many names were replaced.
    pub fn names(&self) -> usize {
        self.names.len()
    }
}

/// Names hide in any text of the facts, also in members that this version does not know.
fn redact_facts(evidence: &mut Evidence, names: &mut Names) {
    let kind = evidence.facts.kind.take();
    let mut value = evidence.facts.to_value();
    rewrite_json(&mut value, names);
    // Texts stay texts, so what was read before fits again.
    evidence.facts = CaptureFacts { kind, ..CaptureFacts::from_value(value).0 };
}

/// Learns what is a name before anything is replaced, so that it is known wherever it appears.
fn collect(evidence: &Evidence, names: &mut Names) {
    names.host(evidence.host.name.as_deref().unwrap_or_default());
    let facts = &evidence.facts;
    names.host(facts.host.name.as_deref().unwrap_or_default());
    let pools = facts.pools.iter().flatten().filter_map(|pool| pool.name.as_deref());
    let datasets = facts.datasets.iter().flatten().filter_map(|dataset| dataset.name.as_deref());
    pools.chain(datasets).for_each(|name| names.pool_of(name));
    evidence.properties.iter().filter_map(|p| p.dataset.as_deref()).for_each(|d| names.pool_of(d));
    evidence.kstats.iter().filter_map(|k| known::pool_of_kstat(&k.source)).for_each(|p| names.pool_of(p));
    let groups = evidence.kstats.iter().filter_map(|k| k.source.strip_prefix("cgroup/"));
    for part in groups.flat_map(|path| path.split('/')).filter(|part| !known::is_public_group(part)) {
        names.process(part);
    }
    for (key, owner) in facts.recorder.owners.iter().flatten() {
        key.strip_prefix("dataset/").into_iter().for_each(|dataset| names.pool_of(dataset));
        // `container NAME`: the word before it stays.
        owner.split_once(' ').into_iter().for_each(|(_, name)| names.process(name));
    }
    let profile = &evidence.profile;
    let sampled = profile.threads.iter().map(|(_, t)| profile.strings.get(t.comm));
    let listed = evidence.threads.iter().map(|t| t.comm.as_str());
    let rows = evidence.flat.iter().filter_map(|r| r.comm.as_deref());
    let trees = evidence.trees.iter().filter_map(|t| t.comm.as_deref());
    for comm in sampled.chain(listed).chain(rows).chain(trees).filter(|c| !is_public_process(c)) {
        names.process(comm);
    }
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
            // Folded stacks begin with the name of the process.
            let function = match text(f.module) {
                "" => names.root(text(f.function)),
                _ => text(f.function).to_owned(),
            };
            let frame = Frame {
                function: out.strings.intern(&function),
                module: out.strings.intern(&module),
                file: out.strings.intern(&names.text(text(f.file))),
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
    if let Some(host) = &mut evidence.host.name {
        *host = names.text(host);
    }
    for row in &mut evidence.flat {
        row.comm = row.comm.as_deref().map(|c| names.comm(c));
        row.module = row.module.as_deref().map(|m| names.module(m));
    }
    for tree in &mut evidence.trees {
        tree.comm = tree.comm.as_deref().map(|c| names.comm(c));
    }
    evidence.threads.iter_mut().for_each(|t| t.comm = names.comm(&t.comm));
    evidence.kstats.iter_mut().for_each(|k| k.source = names.text(&k.source));
    evidence.params.iter_mut().for_each(|p| p.value = names.text(&p.value));
    for Property { dataset, value, .. } in &mut evidence.properties {
        *dataset = dataset.as_deref().map(|d| names.text(d));
        *value = names.text(value);
    }
    for Table { columns, rows, .. } in &mut evidence.tables {
        columns.iter_mut().chain(rows.iter_mut().flatten()).for_each(|cell| *cell = names.text(cell));
    }
    evidence.origins.iter_mut().for_each(|o| *o = names.text(o));
}

/// Every string of the facts, and every key: pools and datasets may be keys too.
fn rewrite_json(value: &mut Value, names: &mut Names) {
    match value {
        Value::String(text) => *text = names.text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite_json(item, names)),
        Value::Object(map) => {
            for (key, mut item) in std::mem::take(map) {
                rewrite_json(&mut item, names);
                map.insert(names.text(&key), item);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use zwhy_evidence::{Host, Kstat, ThreadCpu};
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
