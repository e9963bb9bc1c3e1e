//! pprof, gperftools, OTLP, speedscope and Firefox profiles in, and everything that goes out.

#[path = "../common/mod.rs"]
mod common;
#[path = "../support/gperftools_writer.rs"]
mod writer;

mod export;
mod firefox;
mod folded;
mod gperftools;
mod json_damage;
mod otlp;
mod otlp_json;
mod pprof;
mod pprof_oracle;
mod round_trip;
mod speedscope;

use common::{describe, import_as};
use std::fmt::Write;
use zwhy_formats::Imported;

/// What [`describe`] says, and the rows with times, CPUs and weights.
fn describe_all(imported: &Imported) -> String {
    let mut out = describe(imported);
    let host = &imported.evidence.host;
    for (name, value) in [("host", &host.name), ("cpu", &host.cpu_model)] {
        if let Some(value) = value {
            let _ = writeln!(out, "{name}: {value}");
        }
    }
    let p = &imported.evidence.profile;
    for s in p.samples.iter() {
        let t = p.threads.get(s.thread);
        let leaf = p.stacks.frame(s.stack).map_or("-", |f| p.function_of(f));
        let _ = writeln!(
            out,
            "row {} ns, cpu {}, thread {:?} {}/{}, {} x {leaf}, {} ns {}",
            s.t.0,
            s.cpu,
            p.strings.get(t.comm),
            t.pid,
            t.tid,
            s.count,
            s.weight.0,
            s.event.name()
        );
    }
    out
}

/// Imports the input cut at every byte: each cut gives an answer, and balanced stats where it gives one.
fn survives_every_cut(format: &str, good: &[u8]) {
    for cut in 0..good.len() {
        let _ = import_as(format, &good[..cut]);
    }
}
