//! Which experiment shall run, and what the command changes of it.

use super::like::LikeArgs;
use crate::failure::{usage, usage_about};
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zwhy_lab::{Bytes, Engine, Experiment, Likeness, PoolChoice, Size, SizeSpec, Stop};

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

/// Data of a run with --quick in a VM, at most: all may be emulated.
pub const QUICK_IN_VM: Bytes = Bytes(64 << 20);

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
            size_spec.bytes = size_spec.bytes.min(QUICK_IN_VM);
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
        if !(0.1..=100.0).contains(&percent) {
            return Err(usage_about(
                "lab",
                format!("--enough {percent}: write percent, 0.1 to 100; 10 is usual"),
            ));
        }
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
