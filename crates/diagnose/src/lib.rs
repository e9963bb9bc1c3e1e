//! Why the CPU goes where it goes: stages, findings and what to do, computed from evidence alone.
//!
//! The knowledge is data (`knowledge/anatomy`, `knowledge/causes`); the code here reads it, asks
//! its questions of the evidence and weighs the answers. No I/O, no clock, no panic on any input.

mod after;
mod anatomy;
mod answer;
mod asked;
mod bottleneck;
mod breakdown;
mod calibration;
mod canon;
mod checklist;
mod classify;
mod complaint;
mod condition;
mod corroboration;
mod coverage;
mod demand;
mod explain;
mod facts;
mod figures;
mod gain;
mod headline;
mod knowledge;
mod library;
mod look_alikes;
mod machine;
mod measured;
mod name;
mod next;
mod observations;
mod offload;
mod paths;
mod pattern;
mod properties;
mod prose;
mod remedy;
mod root;
mod rows;
mod said;
mod score;
mod share;
mod shell;
mod solidity;
mod stems;
mod times;
mod topic;
mod waiting;
mod what_if;
mod whole;
mod wording;
mod words;

pub use after::{
    AfterAnswer, Cost, Difference, Done, Doubt, FindingChange, Kept, Outcome, Promise, Seen, SettingChange,
    Side, State, Times, Work, change_words, did_it_help, figure_words, rate_words,
};
pub use anatomy::{Anatomy, FrameRule, IDLE, ModuleKind, NOT_ZFS, PatternSource, Stage, StageId, UNKNOWN};
pub use answer::{
    Answer, CONFIDENT, ChoiceAnswer, ConfidenceWord, EvidenceLine, Figure, Finding, Gain, LabelRow,
    MachineLimit, OriginRow, PathRow, PathStep, Quality, Range, RemedyAnswer, RowAnswer, RuledOut, SCHEMA,
    ShareOf, Source, SpeedUp, StageRow, ThreadRow, WaitRow, WhatIf, WhoRow, WholeAnswer,
};
pub use bottleneck::{
    Bottleneck, DiskRow, LimitKind, MOST_CHARACTERS, ProgramTime, QueueRow, TimePart, is_real_disk,
    pools_of_disks,
};
pub use calibration::{Calibration, Line};
pub use checklist::{Check, Checklist, Ranked, Symptom};
pub use classify::{Classified, StackOrigin, classify, classify_alone};
pub use condition::{Condition, QueryBank};
pub use coverage::{Coverage, UnknownFunction, coverage};
pub use demand::{
    BackgroundWork, CallPart, DatasetDemand, Demand, ProgramDemand, duration as duration_words,
};
pub use explain::{Options, explain, explain_classified};
pub use facts::{Argument, CATALOGUE, Family, Query, ResultKind, Signature};
pub use gain::gain_words;
pub use knowledge::{
    Cause, Change, Choice, CpuOf, DIGEST as KNOWLEDGE_DIGEST, Expectation, Fixture, GainRule, IfFalse,
    Knowledge, KnowledgeError, LookAlike, Paste, Remedy, Sign, SourceText, TestCase, TestOutcome, Weight,
    lint, run_tests,
};
pub use name::{BareName, bare};
pub use offload::{Offloaded, offloaded};
pub use pattern::{Glob, Pattern};
pub use remedy::general_remedy;
pub use words::PhraseFit;
