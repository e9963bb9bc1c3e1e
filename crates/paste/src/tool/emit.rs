//! What a row becomes besides a row of a table: kstats, parameters, properties, threads, facts of the host.

use super::spec::{EmitSpec, Target};
use super::template::{Pattern, Template, Values};
use crate::blocks::Sink;
use crate::cells;
use zwhy_evidence::{Host, OriginId, Param, PctStack, ThreadCpu};

/// Longest fact of a host.
const MOST_LETTERS: usize = 200;

/// What became of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Told,
    /// It says nothing that is asked for.
    Nothing,
    /// It is a statistic whose value is no number.
    NoNumber,
}

impl EmitSpec {
    /// Every column is one, by its heading.
    fn each_column(&self) -> bool {
        self.name.text == "*"
    }

    /// # Errors
    /// What is wrong with a key.
    pub fn check(&self) -> Result<(), String> {
        if self.each_column() && !matches!(self.to, Target::Kstat | Target::Property) {
            return Err("`name = \"*\"` is for kstats and properties".to_owned());
        }
        const FACTS: [&str; 8] = ["host", "zfs", "kernel", "os", "os version", "cpu", "flags", "arch"];
        if self.to == Target::Host && !FACTS.contains(&self.name.text.as_str()) {
            let (name, facts) = (&self.name.text, FACTS.join(", "));
            return Err(format!("`{name}` is no fact of a host: use one of {facts}"));
        }
        Ok(())
    }

    /// Names and numbers of all places.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        let value = Some(&self.value).filter(|_| !self.each_column());
        let texts = [&self.of, &self.name, &self.nice].into_iter().chain(value);
        texts.flat_map(Template::places).chain(self.when.keys().map(String::as_str))
    }

    /// Properties, kstats and so on that it can give; `None` where the text decides.
    pub fn row(&self, values: &Values, origin: OriginId, sink: &mut Sink, host: &mut Host) -> Outcome {
        let fits = |place: &str, pattern: &Pattern| values.get(place).is_some_and(|v| pattern.matches(&v));
        if !self.when.iter().all(|(place, pattern)| fits(place, pattern)) {
            return Outcome::Nothing;
        }
        let Some(of) = self.of.fill(values) else { return Outcome::Nothing };
        if self.each_column() {
            let mut outcome = Outcome::Nothing;
            for (name, value) in values.names.iter().zip(values.cells) {
                if self.one(&of, name, value, values, origin, sink, host) == Outcome::Told {
                    outcome = Outcome::Told;
                }
            }
            return outcome;
        }
        let (Some(name), Some(value)) = (self.name.fill(values), self.value.fill(values)) else {
            return Outcome::Nothing;
        };
        self.one(&of, &name, &value, values, origin, sink, host)
    }

    #[allow(clippy::too_many_arguments)] // one row's parts, used here alone
    fn one(
        &self,
        of: &str,
        name: &str,
        value: &str,
        values: &Values,
        origin: OriginId,
        sink: &mut Sink,
        host: &mut Host,
    ) -> Outcome {
        let mut name = name.to_owned();
        if !self.names.is_empty() {
            let Some(ours) = self.names.get(&name.to_lowercase()) else { return Outcome::Nothing };
            name.clone_from(ours);
        }
        let replaced =
            |text: &str| self.replace.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        match self.to {
            Target::Kstat => {
                let Some(number) = self.kind.number(value) else { return Outcome::NoNumber };
                cells::kstat(sink, &replaced(of), &name, number, origin);
            }
            Target::Parameter => {
                let value = value.to_owned();
                sink.evidence.params.push(Param { name: replaced(&name), value, origin });
            }
            Target::Property => cells::property(sink, of, &name, value, origin),
            Target::Thread => {
                let nice = self.nice.fill(values).and_then(|n| n.parse().ok());
                let thread = ThreadCpu {
                    comm: cells::thread_name(&name),
                    cpu_pct: self.kind.number(value),
                    nice: nice.filter(|n| (-20..=20).contains(n)),
                    origin,
                    ..ThreadCpu::default()
                };
                sink.evidence.threads.push(thread);
            }
            Target::Waiting => sink.evidence.trees.push(PctStack {
                comm: Some(cells::thread_name(&name)),
                waiting: true,
                frames: vec![value.to_owned()],
                origin,
                ..PctStack::default()
            }),
            Target::Host => fact(host, &name, value),
        }
        Outcome::Told
    }
}

/// Fills a fact of the host that is not known yet.
fn fact(host: &mut Host, name: &str, value: &str) {
    let value = value.trim().trim_matches(['"', '`', '*']).trim();
    if value.is_empty() || value.len() >= MOST_LETTERS && name != "flags" {
        return;
    }
    let slot = match name {
        "host" => &mut host.name,
        "zfs" => &mut host.zfs_version,
        "kernel" => &mut host.kernel,
        "cpu" => &mut host.cpu_model,
        "os" => &mut host.os,
        "arch" => &mut host.arch,
        // `Distribution Name` and `Distribution Version` stand in two rows.
        "os version" => {
            host.os = Some(host.os.take().map_or(value.to_owned(), |os| format!("{os} {value}")));
            return;
        }
        _ => {
            if host.cpu_flags.is_empty() {
                host.cpu_flags = value.split_whitespace().map(str::to_owned).collect();
            }
            return;
        }
    };
    slot.get_or_insert_with(|| value.to_owned());
}
