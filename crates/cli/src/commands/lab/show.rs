//! What there is to run, and what it will take, in words.

use super::plan::{Chosen, Wanted};
use super::{accelerators, vm};
use crate::failure::usage;
use crate::output;
use anyhow::Result;
use std::process::ExitCode;
use zwhy_lab::{
    Action, Bytes, Call, CallKind, Destination, Engine, Estimate, Experiment, Form, Library, Likeness, Pace,
    PoolChoice, Remark, SizeSpec, State, Variant, Way, estimate_at, remarks, user_refusals, user_unknown,
};
use zwhy_report::{Align, Grid};

#[derive(clap::Args, Debug)]
pub struct ShowArgs {
    #[command(flatten)]
    chosen: Chosen,
}

pub fn list() -> Result<ExitCode> {
    let mut grid = Grid::new(0, &[Align::Left, Align::Left]);
    for name in Experiment::builtin_names() {
        grid.row([name, &Experiment::builtin(name)?.question]);
    }
    output::print(&(grid.lines(output::width()).join("\n") + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

pub fn show(args: &ShowArgs) -> Result<ExitCode> {
    let Wanted { experiment, size_spec, stop, pool, in_vm, like, .. } = args.chosen.wanted(None)?;
    let variants = experiment.variants().map_err(usage)?;
    let mut lines = vec![
        experiment.title.clone(),
        format!("Question: {}", experiment.question),
        format!("Expected: {}", experiment.expectation),
        String::new(),
        format!("Each of {} cells:", variants.len()),
    ];
    lines.extend(variants.iter().map(|v| format!("  {}", v.label)));
    lines.push("goes through these steps:".into());
    lines.extend(steps(&variants, size_spec.bytes));
    lines.push(format!(
        "The figure that answers: {} in {}.",
        experiment.compare.measure.unit(),
        experiment.compare.step
    ));
    lines.extend(like.iter().flat_map(Likeness::sentences));
    lines.push(String::new());
    let pace = if in_vm { Pace::EMULATED } else { Pace::NATIVE };
    let estimate = estimate_at(&experiment, size_spec, pace)?;
    lines.push(match in_vm {
        true => cost_in_vm(&estimate, size_spec, &vm::Machine::of(&variants, &estimate)),
        false => cost(&estimate, size_spec),
    });
    lines.extend(stop.map(|stop| {
        let looks: Vec<String> = stop.looks().iter().map(u32::to_string).collect();
        format!("That is at most. After {} runs of each cell it ends if {stop}.", looks.join(", "))
    }));
    lines.extend(match in_vm {
        true => vec![
            "It runs in a VM with a kernel and OpenZFS of its own; this host's kernel and pools are not touched, and root \
             is not needed. The first run builds the kernel's modules, which takes minutes."
                .to_owned(),
        ],
        false => where_it_runs(&experiment, &pool)?,
    });
    if in_vm {
        lines.extend(remarked(&experiment, &pool)?);
    }
    if experiment.has_providers() {
        lines.push(String::new());
        lines.extend(accelerators::lines());
    }
    super::print_text(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// What it touches, and what this engine cannot do of it.
fn where_it_runs(experiment: &Experiment, pool: &PoolChoice) -> Result<Vec<String>> {
    if experiment.engine == Engine::User {
        let mut lines = vec![
            "It runs the OpenZFS of this host in a process of its own, on files in the scratch folder; pools of the \
             host are not touched."
                .to_owned(),
        ];
        let variants = experiment.variants().map_err(usage)?;
        // Where there is none, running it says what to install.
        let unknown =
            Library::find(None).map(|library| user_unknown(&variants, &library)).unwrap_or_default();
        let refused = user_refusals(&variants).into_iter().chain(unknown);
        lines.extend(refused.map(|why| format!("It cannot run like this: {why}.")));
        return Ok(lines);
    }
    let disks = match pool.devices.as_slice() {
        [] => "files in the scratch folder".to_owned(),
        devices => devices.iter().map(|d| d.display().to_string()).collect::<Vec<_>>().join(", "),
    };
    let mut lines = vec![format!(
        "It makes a pool of its own, zwhy-lab-…, on the OpenZFS of this host's kernel, of {disks}; it needs root. Other \
         pools are not touched, but share the ARC and the CPU with it."
    )];
    lines.extend(remarked(experiment, pool)?);
    Ok(lines)
}

/// What a kernel cannot do of it.
fn remarked(experiment: &Experiment, pool: &PoolChoice) -> Result<Vec<String>> {
    let words = |remark| match remark {
        Remark::Refused(why) => format!("It cannot run like this: {why}."),
        Remark::LeftOut(what) => format!("Note: {what}."),
    };
    Ok(remarks(experiment, pool).map_err(usage)?.into_iter().map(words).collect())
}

/// The steps in words; what a factor decides is told by the factor's name.
fn steps(variants: &[Variant], all: Bytes) -> Vec<String> {
    let Some(first) = variants.first() else { return Vec::new() };
    let (mut lines, mut any) = (Vec::new(), false);
    for (at, step) in first.steps.iter().enumerate() {
        let varies = variants.iter().any(|v| v.steps[at].action != step.action);
        let words = words(&step.action, all);
        let recorded = if step.record { "; recorded" } else { "" };
        let star = if varies { " (*)" } else { "" };
        lines.push(format!("  {}. {}: {words}{star}{recorded}", at + 1, step.name));
        any |= varies;
    }
    lines.extend(
        any.then(|| format!("  (*) differs between cells; shown is the first one, {}.", first.label)),
    );
    lines
}

fn words(action: &Action, all: Bytes) -> String {
    match action {
        Action::Write => format!("write {all}, wait until it is on disk"),
        Action::Overwrite { bytes, .. } => {
            format!("write {} again", bytes.map_or("all of it".into(), |b| format!("{b} of it")))
        }
        Action::Reimport => "export and import the pool: the ARC is empty".into(),
        Action::Cache { state: State::Cold } => "export and import the pool: the caches are cold".into(),
        Action::Cache { state: State::Warm } => {
            format!("export and import the pool, and read all {all} once: the caches are warm")
        }
        Action::Read { bytes, count: 1, .. } => format!("read {}", bytes.unwrap_or(all)),
        Action::Read { bytes, count, .. } => format!("read {} {count} times", bytes.unwrap_or(all)),
        Action::Rename => "give each snapshot another name and its own back, one call each".into(),
        Action::Receive => "receive the stream as another dataset, which later steps read and write".into(),
        Action::Send { form, to } => format!(
            "send the newest snapshot, {}, to {}",
            match form {
                Form::Plain => "decompressed and decrypted",
                Form::Compressed => "compressed as it is on disk (zfs send -c)",
                Form::Raw => "exactly as it is on disk (zfs send -w)",
            },
            match to {
                Destination::Nowhere => "nowhere",
                Destination::File => "a file",
            }
        ),
        Action::Raw => format!("read {all} of the disks themselves, past OpenZFS"),
        Action::Verify => "read all of it and compare every byte".into(),
        Action::Snapshot { count: 1, bytes } => format!("write {bytes} and take a snapshot"),
        Action::Snapshot { count, bytes } => {
            format!("take {count} snapshots, with {bytes} written before each")
        }
        Action::Destroy { .. } => "destroy all snapshots".into(),
        Action::Lose { count: 1 } => "take 1 disk away".into(),
        Action::Lose { count } => format!("take {count} disks away"),
        Action::Regain => "bring the disks back, wait until they are resilvered".into(),
        Action::Idle { seconds, .. } => format!("do nothing for {seconds} s"),
        Action::Call(call) => called(call),
    }
}

fn called(call: &Call) -> String {
    let way = if call.way == Way::Direct { ", opened with O_DIRECT" } else { "" };
    let memory = match call.memory {
        0 => String::new(),
        bytes => format!(", in memory that begins {bytes} bytes behind a page"),
    };
    let place = format!("{} at byte {}{memory}{way}", call.bytes, call.at);
    match call.kind {
        CallKind::Make => "make a file of 8 records and 1000 bytes".into(),
        CallKind::Read => format!("read {place}, in one call"),
        CallKind::Write => format!("write {place}, in one call"),
        CallKind::WriteChanging => format!("write {place}, while the memory changes"),
        CallKind::Map => format!("map {} at byte {} into memory", call.bytes, call.at),
        CallKind::Fsync => "wait until the file is on disk".into(),
    }
}

fn cost(estimate: &Estimate, size: SizeSpec) -> String {
    format!(
        "{}: about {}. They need {:.1} GB free in the scratch folder and {:.1} GB of memory.",
        runs(estimate, size),
        minutes(estimate.seconds),
        estimate.disk.0 as f64 / 1e9,
        estimate.memory.0 as f64 / 1e9,
    )
}

fn cost_in_vm(estimate: &Estimate, size: SizeSpec, machine: &vm::Machine) -> String {
    const MIB: f64 = (1 << 20) as f64;
    format!(
        "{}: about {} where the machine is emulated, less where KVM works. They need up to {:.1} GB in the folder for temporary \
         files and up to {:.1} GB of memory.",
        runs(estimate, size),
        minutes(vm::seconds(estimate)),
        machine.disk_mib as f64 * f64::from(machine.disks) * MIB / 1e9,
        machine.memory_mib as f64 * MIB / 1e9,
    )
}

fn runs(estimate: &Estimate, size: SizeSpec) -> String {
    let moved = match estimate.moved as f64 / 1e9 {
        gb if gb < 0.1 => format!("{:.0} MB", gb * 1e3),
        gb => format!("{gb:.1} GB"),
    };
    let runs = if estimate.runs == 1 { "1 run".to_owned() } else { format!("{} runs", estimate.runs) };
    format!("{runs} ({} of each cell), {moved} of data written and read", size.repetitions)
}

fn minutes(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s => format!("{:.0} minutes", s / 60.0),
    }
}
