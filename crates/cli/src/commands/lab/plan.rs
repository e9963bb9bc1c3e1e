//! What there is to run, and what it will take.

use super::like::LikeArgs;
use super::{accelerators, vm};
use crate::failure::{usage, usage_about};
use crate::output;
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zwhy_lab::{
    Action, Bytes, Call, CallKind, Destination, Engine, Estimate, Experiment, Form, Library, Likeness, Pace,
    PoolChoice, Remark, Size, SizeSpec, State, Stop, Variant, Way, estimate_at, remarks, user_refusals,
    user_unknown,
};
use zwhy_report::{Align, Grid};

/// Which experiment, and what is changed of it.
#[derive(clap::Args, Debug)]
pub struct Chosen {
    /// Name of a built-in experiment, or a specification file (X.toml).
    experiment: String,
    /// Less data and one repetition: about a minute; in a VM that is emulated up to ten.
    #[arg(long)]
    quick: bool,
    /// Another value for a setting, or several to compare: compression=lz4,zstd. Any property, module
    /// parameter or implementation that the lab knows.
    #[arg(long, value_name = "SETTING=V1,V2")]
    set: Vec<String>,
    /// Let this provider do stages, and compare with OpenZFS alone: software, isal, ideal, model:NAME, remote or
    /// ./my.so. Short for --set provider=none,PROVIDER.
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Spoil what is not brought back from the provider. Short for --set provider_strict=1.
    #[arg(long, requires = "provider")]
    strict: bool,
    /// Sizes of a factor, to see how the cost grows with it: n=100,200,400,800. Twice: how it grows with both together, as
    /// with their product.
    #[arg(long, value_name = "FACTOR=N1,N2,N3")]
    grow: Vec<String>,
    /// Runs of each cell; five make an interval.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: Option<u32>,
    /// Repeat until each ratio is told apart from 1 or known to within so many percent: after 5 runs of each cell at
    /// least, and at most --repeats (20).
    #[arg(long, value_name = "PERCENT")]
    enough: Option<f64>,
    /// Data of one run, such as 256M.
    #[arg(long, value_name = "SIZE")]
    bytes: Option<String>,
    /// What runs OpenZFS: libzpool in a process of its own, this host's kernel on a pool of the lab's own, or the kernel
    /// of a VM on disks of its own.
    #[arg(long, value_enum)]
    engine: Option<EngineName>,
    /// A blank partition to make the pool of, with --engine pool; once for each disk. Without it the pool is
    /// made of files in the scratch folder.
    #[arg(long = "device", value_name = "PARTITION")]
    devices: Vec<PathBuf>,
    /// Let --engine pool set parameters of the module for each run, and put them back after it. They act on
    /// all pools of the host.
    #[arg(long)]
    allow_parameters: bool,
    /// Folder where --engine pool notes what it changes on this host, for lab cleanup.
    #[arg(long, value_name = "DIR", default_value = zwhy_lab::JOURNALS)]
    journal: PathBuf,
    #[command(flatten)]
    like: LikeArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EngineName {
    User,
    Pool,
    Vm,
}

/// The option that names sizes.
const GROW: &str = "--grow";

/// An experiment as it shall run.
pub struct Wanted {
    pub experiment: Experiment,
    pub size: Size,
    pub size_spec: SizeSpec,
    /// Its repetitions are the most then.
    pub stop: Option<Stop>,
    pub pool: PoolChoice,
    /// The engine pool, in a VM.
    pub in_vm: bool,
    /// What it has from a recorded host.
    pub like: Option<Likeness>,
}

impl Chosen {
    /// The specification, where it is a file.
    pub fn file(&self) -> Option<&Path> {
        self.experiment.ends_with(".toml").then(|| Path::new(&self.experiment))
    }

    /// The same choice for the engine pool in a VM, which has the file of the specification in the folder /job.
    pub fn words(&self, wanted: &Wanted) -> Result<Vec<String>> {
        let experiment = match self.file() {
            Some(file) => {
                let name = file.file_name().ok_or_else(|| usage("the specification has no name"))?;
                format!("/job/{}", name.display())
            }
            None => self.experiment.clone(),
        };
        let mut words = vec!["lab".to_owned(), "run".to_owned(), experiment];
        words.extend(self.quick.then(|| "--quick".to_owned()));
        let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
        self.given().for_each(|(option, setting)| add(option, setting.clone()));
        wanted.like.iter().flat_map(Likeness::settings).for_each(|setting| add("--set", setting));
        add("--repeats", wanted.size_spec.repetitions.to_string());
        if let Some(stop) = &wanted.stop {
            add("--enough", (stop.within * 100.0).to_string());
        }
        add("--bytes", wanted.size_spec.bytes.to_string());
        Ok(words)
    }

    /// `library`: the libzpool that shall run, where it is named.
    pub fn wanted(&self, library: Option<&Path>) -> Result<Wanted> {
        let mut experiment = match self.experiment.ends_with(".toml") {
            true => Experiment::from_file(Path::new(&self.experiment))?,
            false => Experiment::builtin(&self.experiment)?,
        };
        self.change(&mut experiment)?;
        match self.engine {
            None => {}
            Some(EngineName::User) => experiment.engine = Engine::User,
            Some(EngineName::Pool | EngineName::Vm) => experiment.engine = Engine::Pool,
        }
        let in_vm = matches!(self.engine, Some(EngineName::Vm));
        let mut pool = self.pool()?;
        if in_vm {
            if !pool.devices.is_empty() || pool.allow_parameters {
                return Err(usage(
                    "--device and --allow-parameters are for --engine pool; a VM has disks and parameters of its own",
                ));
            }
            pool.allow_parameters = true;
        }
        if experiment.engine == Engine::User && (!pool.devices.is_empty() || pool.allow_parameters) {
            return Err(usage("--device and --allow-parameters are for --engine pool"));
        }
        let like = self.like.apply(&mut experiment, &self.own(), library, &pool)?;
        let size = if self.quick { Size::Quick } else { Size::Full };
        let mut size_spec = experiment.size(size);
        if in_vm && self.quick {
            size_spec.bytes = size_spec.bytes.min(vm::QUICK);
        }
        if let Some(repetitions) = self.repeats {
            size_spec.repetitions = repetitions;
        }
        let stop = self.stop(&experiment)?;
        if let Some(stop) = &stop {
            size_spec.repetitions = stop.most;
        }
        if let Some(bytes) = &self.bytes {
            size_spec.bytes = bytes.parse::<Bytes>().map_err(|what| usage(format!("--bytes: {what}")))?;
            if size_spec.bytes < Bytes(1 << 20) {
                return Err(usage(format!(
                    "--bytes: {} is too little data; use at least 1M",
                    size_spec.bytes
                )));
            }
        }
        Ok(Wanted { experiment, size, size_spec, stop, pool, in_vm, like })
    }

    /// When repetitions are enough: as the command says, or as the experiment does of its full size.
    fn stop(&self, experiment: &Experiment) -> Result<Option<Stop>> {
        let Some(percent) = self.enough else {
            return Ok(experiment.stop.filter(|_| !self.quick && self.repeats.is_none()));
        };
        let mut stop = Stop::within(percent / 100.0);
        stop.most = self.repeats.unwrap_or(stop.most);
        stop.check().map_err(|what| usage_about("lab", format!("--enough {percent}: {what}")))?;
        if experiment.variants().map_err(usage)?.len() < 2 {
            return Err(usage(
                "--enough: there is one cell only, and no ratio that could be known; use --repeats",
            ));
        }
        Ok(Some(stop))
    }

    /// Each option that changes settings, with what it says.
    fn given(&self) -> impl Iterator<Item = (&'static str, &String)> {
        self.set.iter().map(|s| ("--set", s)).chain(self.grow.iter().map(|s| (GROW, s)))
    }

    /// Settings that were changed so, with the option that did it.
    fn own(&self) -> BTreeMap<String, String> {
        let named = |(option, setting): (&str, &String)| {
            let (name, _) = setting.split_once('=')?;
            Some((name.trim().to_owned(), format!("{option} {setting}")))
        };
        self.given().filter_map(named).collect()
    }

    /// All settings first: one of them alone may not fit the others as they were.
    fn change(&self, experiment: &mut Experiment) -> Result<()> {
        let providers = self.provider.as_ref().map(|name| format!("none,{name}"));
        let (mut settings, mut said) = (Vec::new(), Vec::new());
        if let (Some(name), Some(providers)) = (&self.provider, &providers) {
            settings.push(("provider", providers.as_str()));
            said.push(format!("--provider {name}"));
        }
        if self.strict {
            settings.push(("provider_strict", "1"));
            said.push("--strict".to_owned());
        }
        for (option, setting) in self.given() {
            let (name, values) = setting.split_once('=').ok_or_else(|| {
                usage_about("lab", format!("{setting:?} is no setting with its values; write NAME=V1,V2"))
            })?;
            settings.push((name.trim(), values));
            if option == GROW && !experiment.grow.iter().any(|known| known == name.trim()) {
                experiment.grow.push(name.trim().to_owned());
            }
            said.push(format!("{option} {setting}"));
        }
        if settings.is_empty() {
            return Ok(());
        }
        experiment.set_all(settings).map_err(|what| usage_about("lab", format!("{}: {what}", said.join(" "))))
    }

    /// With whole paths: a later `lab resume` may be called from somewhere else.
    fn pool(&self) -> Result<PoolChoice> {
        let devices: std::io::Result<Vec<PathBuf>> = self.devices.iter().map(std::path::absolute).collect();
        Ok(PoolChoice {
            devices: devices?,
            journals: std::path::absolute(&self.journal)?,
            allow_parameters: self.allow_parameters,
        })
    }
}

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
        "What answers: {} in {}.",
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
        lines.extend(refused.map(|why| format!("It cannot run so: {why}.")));
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
        Remark::Refused(why) => format!("It cannot run so: {why}."),
        Remark::LeftOut(what) => format!("Mind: {what}."),
    };
    Ok(remarks(experiment, pool).map_err(usage)?.into_iter().map(words).collect())
}

/// The steps in words; what a factor decides is told by the factor's name.
fn steps(variants: &[Variant], all: Bytes) -> Vec<String> {
    let Some(first) = variants.first() else { return Vec::new() };
    let mut lines = Vec::new();
    for (at, step) in first.steps.iter().enumerate() {
        let same = variants.iter().all(|v| v.steps[at].action == step.action);
        let words = words(&step.action, all);
        let recorded = if step.record { "; recorded" } else { "" };
        let varies = if same { "" } else { " (by cell; this is the first one)" };
        lines.push(format!("  {}. {}: {words}{varies}{recorded}", at + 1, step.name));
    }
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
        "{}: about {}, {:.1} GB free in the scratch folder, {:.1} GB of memory.",
        runs(estimate, size),
        minutes(estimate.seconds),
        estimate.disk.0 as f64 / 1e9,
        estimate.memory.0 as f64 / 1e9,
    )
}

fn cost_in_vm(estimate: &Estimate, size: SizeSpec, machine: &vm::Machine) -> String {
    const MIB: f64 = (1 << 20) as f64;
    format!(
        "{}: about {} where the machine is emulated, less where KVM works; up to {:.1} GB in the folder for temporary files, up \
         to {:.1} GB of memory.",
        runs(estimate, size),
        minutes(vm::seconds(estimate)),
        machine.disk_mib as f64 * f64::from(machine.disks) * MIB / 1e9,
        machine.memory_mib as f64 * MIB / 1e9,
    )
}

fn runs(estimate: &Estimate, size: SizeSpec) -> String {
    let (moved, runs) = (estimate.moved as f64 / 1e9, estimate.runs);
    format!("{runs} runs ({} of each cell) move {moved:.1} GB", size.repetitions)
}

fn minutes(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s => format!("{:.0} minutes", s / 60.0),
    }
}
