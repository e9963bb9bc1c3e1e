//! What is read off a step: the name in a specification, the value of a result, and its unit in words.

use super::call::OUTCOMES;
use super::near;
use crate::latency::Percentile;
use crate::result::StepResult;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A figure of one step of one cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// CPU seconds for each GB that the application moved.
    CpuSPerGb,
    MbPerS,
    /// CPU milliseconds for each operation: a snapshot taken or destroyed.
    CpuMsPerOperation,
    /// CPU seconds of the whole process.
    CpuS,
    WallS,
    /// Microseconds of the calls of the application: `latency_us p99`.
    LatencyUs(Percentile),
    /// CPU seconds of all threads of a name for each second of the step.
    ThreadBusy(String),
    /// Bytes read from the disks for each byte that the application read.
    ReadAmplification,
    WriteAmplification,
    /// Millions of bytes that the process held at most.
    PeakMb,
    /// How much a counter of OpenZFS grew, `arcstats.demand_hit_predictive_prefetch`, for each block that the
    /// application touched.
    CounterPerBlock(String),
    /// How much it grew.
    Counter(String),
    /// 1 where the call of the step ended so, `EINVAL`, 0 where it ended otherwise.
    Outcome(String),
}

/// Names without an argument.
const PLAIN: [(&str, Measure); 8] = [
    ("cpu_s_per_gb", Measure::CpuSPerGb),
    ("mb_per_s", Measure::MbPerS),
    ("cpu_ms_per_operation", Measure::CpuMsPerOperation),
    ("cpu_s", Measure::CpuS),
    ("wall_s", Measure::WallS),
    ("read_amplification", Measure::ReadAmplification),
    ("write_amplification", Measure::WriteAmplification),
    ("peak_mb", Measure::PeakMb),
];

impl Measure {
    /// Those that have no argument.
    pub fn plain() -> impl Iterator<Item = Measure> {
        PLAIN.into_iter().map(|(_, measure)| measure)
    }

    /// The figure of `step`; `None` where it has none.
    pub fn of(&self, step: &StepResult) -> Option<f64> {
        let each = |amount: f64, units: u64| (units > 0).then(|| amount / units as f64);
        match self {
            Measure::CpuSPerGb => step.cpu_s_per_gb,
            Measure::MbPerS => step.mb_per_s,
            Measure::CpuMsPerOperation => each(step.cpu_s() * 1e3, step.operations),
            Measure::CpuS => Some(step.cpu_s()),
            Measure::WallS => Some(step.wall_s),
            Measure::LatencyUs(percentile) => step.latency.as_ref().map(|latency| percentile.of(latency)),
            Measure::ThreadBusy(comm) => {
                let own = step.threads.iter().filter(|t| t.comm == *comm).map(|t| t.cpu_s).sum::<f64>();
                (step.wall_s > 0.0).then(|| own / step.wall_s)
            }
            Measure::ReadAmplification => each(step.device_read_bytes as f64, step.bytes),
            Measure::WriteAmplification => each(step.device_written_bytes as f64, step.bytes),
            Measure::PeakMb => step.peak_bytes.map(|bytes| bytes as f64 / 1e6),
            Measure::CounterPerBlock(name) => each(step.counter(name)?, step.blocks),
            Measure::Counter(name) => step.counter(name),
            Measure::Outcome(name) => step.outcome.as_ref().map(|outcome| f64::from(outcome == name)),
        }
    }

    /// After a number: `CPU seconds per GB`.
    pub fn unit(&self) -> String {
        match self {
            Measure::CpuSPerGb => "CPU seconds per GB".into(),
            Measure::MbPerS => "MB/s".into(),
            Measure::CpuMsPerOperation => "CPU ms per operation".into(),
            Measure::CpuS => "CPU seconds".into(),
            Measure::WallS => "seconds".into(),
            Measure::LatencyUs(percentile) => format!("µs a call ({})", percentile.name()),
            Measure::ThreadBusy(comm) => format!("CPUs in {comm}"),
            Measure::ReadAmplification => "bytes read from the disks per byte".into(),
            Measure::WriteAmplification => "bytes written to the disks per byte".into(),
            Measure::PeakMb => "MB of memory at most".into(),
            Measure::CounterPerBlock(name) => format!("{name} per block"),
            Measure::Counter(name) => name.clone(),
            Measure::Outcome(name) => format!("calls that end as {name}"),
        }
    }

    /// What a cell does with it: `takes` CPU, `reaches` a speed.
    pub fn verb(&self) -> &'static str {
        match self {
            Measure::MbPerS => "reaches",
            Measure::Counter(_) | Measure::CounterPerBlock(_) | Measure::Outcome(_) => "has",
            _ => "takes",
        }
    }

    /// What a ratio of it compares: `the CPU of`.
    pub fn noun(&self) -> &'static str {
        match self {
            Measure::CpuSPerGb | Measure::CpuMsPerOperation | Measure::CpuS | Measure::ThreadBusy(_) => "CPU",
            Measure::MbPerS => "speed",
            Measure::WallS | Measure::LatencyUs(_) => "time",
            Measure::ReadAmplification | Measure::WriteAmplification => "traffic",
            Measure::PeakMb => "memory",
            Measure::CounterPerBlock(_) | Measure::Counter(_) | Measure::Outcome(_) => "count",
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::LatencyUs(percentile) => write!(f, "latency_us {}", percentile.name()),
            Measure::ThreadBusy(comm) => write!(f, "thread {comm}"),
            Measure::CounterPerBlock(name) => write!(f, "counter {name} per block"),
            Measure::Counter(name) => write!(f, "counter {name}"),
            Measure::Outcome(name) => write!(f, "outcome {name}"),
            plain => {
                let name = PLAIN.iter().find(|(_, measure)| measure == plain);
                f.write_str(name.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Measure, String> {
        if let Some((_, measure)) = PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(measure.clone());
        }
        if let Some(name) = text.strip_prefix("latency_us ") {
            let found = Percentile::ALL.iter().find(|(known, _)| *known == name.trim());
            let known = || Percentile::ALL.map(|(known, _)| known).join(", ");
            return found
                .map(|(_, percentile)| Measure::LatencyUs(*percentile))
                .ok_or_else(|| format!("{text:?} is no measure; latency_us has {}", known()));
        }
        if let Some(comm) = text.strip_prefix("thread ") {
            return Ok(Measure::ThreadBusy(comm.trim().to_owned()));
        }
        if let Some(name) = text.strip_prefix("counter ") {
            return Ok(match name.strip_suffix(" per block") {
                Some(name) => Measure::CounterPerBlock(name.trim().to_owned()),
                None => Measure::Counter(name.trim().to_owned()),
            });
        }
        if let Some(name) = text.strip_prefix("outcome ") {
            let name = name.trim();
            return match OUTCOMES.contains(&name) {
                true => Ok(Measure::Outcome(name.to_owned())),
                false => Err(format!("{text:?} is no measure; outcome is {}", OUTCOMES.join(", "))),
            };
        }
        let known: Vec<&str> = PLAIN.iter().map(|(name, _)| *name).collect();
        Err(format!(
            "{text:?} is no measure; known are {}, \"latency_us p99\", \"thread NAME\", \"counter KSTAT.NAME\" or \
             \"counter KSTAT.NAME per block\", and \"outcome direct\" of a call{}",
            known.join(", "),
            meant(text)
        ))
    }
}

/// `; did you mean latency_us?`: the first word of what was written is taken for the name.
fn meant(text: &str) -> String {
    /// Part of the letters that may differ.
    const NEAR: f64 = 0.6;
    let with_argument = ["latency_us", "thread", "counter", "outcome"];
    let known = PLAIN.iter().map(|(name, _)| *name).chain(with_argument);
    let word = text.split_whitespace().next().unwrap_or_default();
    near::meant(word, known, NEAR)
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Measure, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_read_and_print_alike() {
        for text in [
            "cpu_s_per_gb",
            "read_amplification",
            "peak_mb",
            "thread dbuf_evict",
            "latency_us p99.9",
            "counter arcstats.hits",
            "counter dbufstats.hash_misses per block",
            "outcome direct in part",
        ] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        assert!("cpu".parse::<Measure>().unwrap_err().contains("cpu_s_per_gb"));
        for (slip, meant) in [("cpu_s_pre_gb", "cpu_s_per_gb"), ("latncy_us p99", "latency_us")] {
            let error = slip.parse::<Measure>().unwrap_err();
            assert!(error.ends_with(&format!("; did you mean {meant}?")), "{error}");
        }
        assert!("outcome EINVALID".parse::<Measure>().unwrap_err().contains("EINVAL, EIO"));
    }
}
