//! Runs the samples of tool files: each text must give what its file says.

use super::Tools;
use crate::blocks::{self, Block};
use zwhy_evidence::Evidence;

/// What one sample gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleOutcome {
    pub file: String,
    /// From 1.
    pub sample: usize,
    /// What is missing or wrong; empty when all is as the file says.
    pub wrong: Vec<String>,
}

/// Reads every sample with all tools.
pub fn check_samples(tools: &Tools) -> Vec<SampleOutcome> {
    let all = crate::ranked(tools, &[]);
    let mut outcomes = Vec::new();
    for (file, samples) in &tools.samples {
        for (i, sample) in samples.iter().enumerate() {
            let read = blocks::read("sample", "sample", sample.text.as_bytes(), &all, usize::MAX);
            let given = told(&read.evidence);
            let mut wrong: Vec<String> = Vec::new();
            if sample.nothing {
                let own: Vec<&dyn Block> =
                    tools.blocks.iter().filter(|b| b.file == *file).map(|b| b as &dyn Block).collect();
                let read = blocks::read("sample", "sample", sample.text.as_bytes(), &own, usize::MAX);
                wrong.extend(told(&read.evidence).into_iter().map(|line| format!("it gives `{line}`")));
            } else if sample.gives.is_empty() {
                wrong.push("it says nothing that the text gives: add `gives`".to_owned());
            }
            for line in sample.gives.iter().filter(|line| !given.contains(line)) {
                let near = given.iter().filter(|g| g.split(" = ").next() == line.split(" = ").next());
                let near: Vec<&str> = near.map(String::as_str).take(3).collect();
                let got = if near.is_empty() { "nothing of that name".to_owned() } else { near.join(", ") };
                wrong.push(format!("`{line}` is not there, but {got}"));
            }
            if !read.stats.balanced() {
                wrong.push("lines are not accounted for".to_owned());
            }
            outcomes.push(SampleOutcome { file: file.clone(), sample: i + 1, wrong });
        }
    }
    outcomes
}

/// Everything that evidence says, one line each.
fn told(e: &Evidence) -> Vec<String> {
    let mut out = Vec::new();
    for table in &e.tables {
        for row in &table.rows {
            let first = row.first().map_or("", String::as_str);
            for (column, cell) in table.columns.iter().zip(row) {
                out.push(format!("{} / {first} / {column} = {cell}", table.tool));
            }
        }
    }
    out.extend(e.kstats.iter().map(|k| format!("kstat {} {} = {}", k.source, k.name, k.value)));
    out.extend(e.params.iter().map(|p| format!("parameter {} = {}", p.name, p.value)));
    let dataset = |d: &Option<String>| d.as_ref().map_or(String::new(), |d| format!("{d} "));
    out.extend(
        e.properties.iter().map(|p| format!("property {}{} = {}", dataset(&p.dataset), p.name, p.value)),
    );
    out.extend(e.threads.iter().map(|t| format!("thread {} = {}", t.comm, t.cpu_pct.unwrap_or(f64::NAN))));
    let waiting = e.trees.iter().filter(|t| t.waiting);
    out.extend(
        waiting.map(|t| format!("waiting {} = {}", t.comm.as_deref().unwrap_or(""), t.frames.join(" "))),
    );
    let host = [
        ("host", &e.host.name),
        ("zfs", &e.host.zfs_version),
        ("kernel", &e.host.kernel),
        ("os", &e.host.os),
        ("cpu", &e.host.cpu_model),
        ("arch", &e.host.arch),
    ];
    out.extend(host.into_iter().filter_map(|(name, v)| Some(format!("host {name} = {}", v.as_ref()?))));
    if !e.host.cpu_flags.is_empty() {
        out.push(format!("host flags = {}", e.host.cpu_flags.join(" ")));
    }
    out
}
