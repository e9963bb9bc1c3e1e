//! Reading `knowledge/anatomy/*.toml`.
//!
//! `stages.toml` lists the stages, `generic.toml` what is not of ZFS, `threads.toml` the threads that
//! do one thing only, every other file the functions of some OpenZFS source files. Which is which is told by the keys, not by the name.

use super::threads::{Only, ThreadStage};
use super::{Anatomy, FrameRule, NameMap, PatternSource, Stage, StageId};
use crate::knowledge::{KnowledgeError, SourceText, read};
use serde::Deserialize;
use std::collections::BTreeMap;

type Groups = BTreeMap<String, Vec<String>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    stage: Vec<StageEntry>,
    source: Vec<Source>,
    thread: Vec<ThreadEntry>,
    labels: Groups,
    idle: Functions,
    interrupt: Functions,
    syscall: Functions,
    /// Functions of others that signs may name; no part of the anatomy.
    others: Functions,
    modules: Modules,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StageEntry {
    name: String,
    what: String,
    #[serde(default)]
    more_exact: Vec<String>,
}

/// Threads whose samples count as a stage when their stacks have none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadEntry {
    stage: String,
    #[serde(default)]
    between: bool,
    cut_by: Option<String>,
    names: Vec<String>,
}

/// The functions of one OpenZFS source file (or of a few that belong together).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    file: String,
    #[serde(default)]
    stages: Groups,
    #[serde(default)]
    context: Groups,
    #[serde(default)]
    shared: Groups,
    #[serde(default)]
    ambiguous: Groups,
    #[serde(default)]
    ambiguous_context: Groups,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Functions {
    functions: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Modules {
    zfs: Vec<String>,
    kernel: Vec<String>,
}

/// Most stages or labels there may be.
const MOST: usize = 250;

impl Anatomy {
    /// Builds from the texts of all anatomy files; what is wrong in one file is reported and the
    /// rest is used.
    pub(crate) fn load(texts: &[SourceText], problems: &mut Vec<KnowledgeError>) -> Anatomy {
        let mut files: Vec<(&str, File)> = Vec::new();
        for text in texts {
            match read::<File>(&text.text) {
                Ok(file) => files.push((&text.name, file)),
                Err(what) => problems.push(KnowledgeError::new(&text.name, what)),
            }
        }
        let mut builder = Builder::default();
        builder.stages(&files, problems);
        for (name, file) in &files {
            builder.file(name, file, problems);
            let stars = builder.patterns.iter().filter(|p| p.pattern.trim_end_matches('*').contains('*'));
            problems.extend(stars.map(|p| {
                KnowledgeError::new(name, format!("`{}`: a star may only be at the end", p.pattern))
            }));
            builder.patterns.retain(|p| !p.pattern.trim_end_matches('*').contains('*'));
        }
        builder.check_cutters(problems);
        builder.finish(&files)
    }
}

#[derive(Default)]
struct Builder {
    stages: Vec<Stage>,
    labels: Vec<String>,
    patterns: Vec<PatternSource>,
    threads: Vec<ThreadStage>,
}

impl Builder {
    fn stages(&mut self, files: &[(&str, File)], problems: &mut Vec<KnowledgeError>) {
        for (name, what) in [
            ("unknown", "ZFS code or a ZFS thread, in no function that the anatomy knows."),
            ("idle", "The CPU had nothing to run."),
            ("not zfs", "No ZFS function on the stack."),
        ] {
            self.stages.push(Stage { name: name.into(), what: what.into(), more_exact: Vec::new() });
        }
        let entries: Vec<(&str, &StageEntry)> =
            files.iter().flat_map(|(name, file)| file.stage.iter().map(move |s| (*name, s))).collect();
        for (file, entry) in &entries {
            if self.stages.len() >= MOST || self.find(&entry.name).is_some() {
                problems.push(KnowledgeError::new(file, format!("stage `{}` is there twice", entry.name)));
                continue;
            }
            let (name, what) = (entry.name.clone(), entry.what.clone());
            self.stages.push(Stage { name, what, more_exact: Vec::new() });
        }
        for (file, entry) in &entries {
            let exact = entry.more_exact.iter().filter_map(|name| self.known(file, name, problems)).collect();
            if let Some(id) = self.find(&entry.name) {
                self.stages[usize::from(id)].more_exact = exact;
            }
        }
    }

    fn find(&self, stage: &str) -> Option<StageId> {
        self.stages.iter().position(|s| s.name == stage).map(|i| i as StageId)
    }

    fn known(&self, file: &str, stage: &str, problems: &mut Vec<KnowledgeError>) -> Option<StageId> {
        let id = self.find(stage);
        if id.is_none() {
            problems.push(KnowledgeError::new(file, format!("no stage is called `{stage}`")));
        }
        id
    }

    fn file(&mut self, name: &str, file: &File, problems: &mut Vec<KnowledgeError>) {
        for source in &file.source {
            for (groups, rule) in [
                (&source.stages, FrameRule::Stage as fn(StageId) -> FrameRule),
                (&source.context, FrameRule::Context),
                (&source.shared, FrameRule::Shared),
                (&source.ambiguous, FrameRule::AmbiguousStage),
                (&source.ambiguous_context, FrameRule::AmbiguousContext),
            ] {
                for (stage, functions) in groups {
                    if let Some(id) = self.known(name, stage, problems) {
                        self.add(&source.file, functions, rule(id));
                    }
                }
            }
        }
        for entry in &file.thread {
            let Some(stage) = self.known(name, &entry.stage, problems) else { continue };
            for thread in &entry.names {
                if zwhy_zfs::thread_role(thread).is_none_or(|role| role.name != thread) {
                    problems.push(KnowledgeError::new(name, format!("no thread's role is `{thread}`")));
                }
                let only = match &entry.cut_by {
                    Some(library) => Only::CutBy(library.clone()),
                    None if entry.between => Only::Whole,
                    None => Only::Any,
                };
                self.threads.push(ThreadStage { name: thread.clone(), stage, only });
            }
        }
        for (label, functions) in &file.labels {
            let id = self.labels.iter().position(|l| l == label).unwrap_or_else(|| {
                self.labels.push(label.clone());
                self.labels.len() - 1
            });
            if id >= MOST {
                problems.push(KnowledgeError::new(name, "too many labels"));
                continue;
            }
            self.add("", functions, FrameRule::Label(id as u8 + 1));
        }
        self.add("", &file.idle.functions, FrameRule::Idle);
        self.add("", &file.interrupt.functions, FrameRule::Interrupt);
        self.add("", &file.syscall.functions, FrameRule::Syscall);
    }

    fn add(&mut self, file: &str, functions: &[String], rule: FrameRule) {
        self.patterns.extend(functions.iter().map(|pattern| PatternSource {
            pattern: pattern.clone(),
            file: file.to_owned(),
            rule,
        }));
    }

    /// Stacks keep a bit for each library that cuts them off.
    fn check_cutters(&self, problems: &mut Vec<KnowledgeError>) {
        let cutters = super::cutters(&self.threads);
        if cutters.len() > super::MOST_CUTTERS {
            let what = format!("more than {} libraries are named in `cut_by`", super::MOST_CUTTERS);
            problems.push(KnowledgeError::new("threads.toml", what));
        }
    }

    fn finish(mut self, files: &[(&str, File)]) -> Anatomy {
        let modules = |pick: fn(&Modules) -> &Vec<String>| {
            NameMap::new(files.iter().flat_map(|(_, f)| pick(&f.modules).iter().map(|m| (m.clone(), ()))))
        };
        self.labels.insert(0, String::new());
        Anatomy {
            functions: NameMap::new(self.patterns.iter().map(|p| (p.pattern.clone(), p.rule))),
            others: NameMap::new(
                files.iter().flat_map(|(_, f)| f.others.functions.iter().map(|name| (name.clone(), ()))),
            ),
            zfs_modules: modules(|m| &m.zfs),
            kernel_modules: modules(|m| &m.kernel),
            threads: self.threads,
            stages: self.stages,
            labels: self.labels,
            patterns: self.patterns,
        }
    }
}
