//! What the programs zfs and zpool know, by release: `knowledge/commands/*.toml`, made by
//! scripts/command-table.sh from the programs themselves, and the parameters of the module.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use zwhy_zfs::{ParameterDefaults, parse_version};

type Words = BTreeMap<String, String>;

/// One release series.
#[derive(Debug, Deserialize)]
pub struct Release {
    pub series: String,
    #[allow(dead_code)]
    source: String,
    /// Subcommand and its options.
    zfs: Words,
    zpool: Words,
    /// Property and its values, as the program words them.
    dataset_properties: Words,
    dataset_fixed: Words,
    pool_properties: Words,
    pool_fixed: Words,
    #[serde(skip)]
    parameters: ParameterDefaults,
}

static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| {
    let read = |text: &str| {
        let mut release: Release = toml::from_str(text).ok()?;
        release.parameters = ParameterDefaults::of(&parse_version(&release.series)?);
        Some(release)
    };
    let files = [
        include_str!("../../knowledge/commands/2.1.toml"),
        include_str!("../../knowledge/commands/2.3.toml"),
        include_str!("../../knowledge/commands/2.4.toml"),
    ];
    files.into_iter().filter_map(read).collect()
});

/// The releases there are tables of, oldest first.
pub fn releases() -> &'static [Release] {
    &RELEASES
}

impl Release {
    /// A version of the series for comparisons: its last one.
    pub fn series_end(&self) -> String {
        format!("{}.99", self.series)
    }

    /// What this release does not know of a simple command (its words); `None` when it can be run.
    pub fn unknown(&self, words: &[String]) -> Option<String> {
        let (program, rest) = words.split_first()?;
        match program.as_str() {
            "zfs" => self.of_program(rest, &self.zfs, "zfs", &self.dataset_properties, &self.dataset_fixed),
            "zpool" => self.of_program(rest, &self.zpool, "zpool", &self.pool_properties, &self.pool_fixed),
            _ => words.iter().find_map(|word| self.unknown_parameter(word)),
        }
    }

    /// A path of a module parameter that this release does not have.
    pub fn unknown_parameter(&self, word: &str) -> Option<String> {
        let (folder, name) = word.split_once("/parameters/")?;
        let unknown =
            folder.starts_with("/sys/module/") && !name.contains('*') && !self.parameters.knows(name);
        unknown.then(|| format!("no parameter is called {name}"))
    }

    fn of_program(
        &self,
        words: &[String],
        subcommands: &Words,
        program: &str,
        properties: &Words,
        fixed: &Words,
    ) -> Option<String> {
        let (name, rest) = words.split_first()?;
        let name = match (program, name.as_str()) {
            ("zfs", "recv") => "receive",
            ("zfs", "snap") => "snapshot",
            ("zfs", "umount") => "unmount",
            (_, name) => name,
        };
        let Some(options) = subcommands.get(name) else {
            return Some(format!("{program} has no subcommand {name}"));
        };
        let options: Vec<&str> = options.split(' ').collect();
        let mut rest = rest.iter().peekable();
        let mut plain = Vec::new();
        while let Some(word) = rest.next() {
            if word == "-o" || word == "-O" || word == "-x" {
                let value = rest.next()?;
                // `zpool create -O` and `zfs receive -x` are of datasets, `zfs get -o` are columns.
                let (of, fixed) = if word == "-O" {
                    (&self.dataset_properties, &self.dataset_fixed)
                } else {
                    (properties, fixed)
                };
                if let Some((property, value)) = value.split_once('=')
                    && let Some(wrong) = wrong_value(property, value, &[of, fixed])
                {
                    return Some(wrong);
                }
                continue;
            }
            if let Some(wrong) = wrong_option(word, &options, program, name) {
                return Some(wrong);
            }
            if !word.starts_with('-') {
                plain.push(word.as_str());
            }
        }
        match name {
            "set" => plain
                .iter()
                .filter_map(|w| w.split_once('='))
                .find_map(|(p, v)| wrong_value(p, v, &[properties])),
            "get" | "inherit" => {
                let names = plain.iter().find(|w| !w.starts_with(|c: char| c.is_ascii_digit() || c == '{'));
                let names: Vec<&str> = names.map(|n| n.split(',').collect()).unwrap_or_default();
                names
                    .into_iter()
                    .find(|n| {
                        !matches!(
                            *n,
                            "all"
                                | "name"
                                | "filesystem"
                                | "volume"
                                | "local"
                                | "received"
                                | "value"
                                | "property"
                                | "source"
                        ) && !n.starts_with("feature@")
                            && values(n, &[properties, fixed]).is_none()
                    })
                    .map(|n| format!("{program} has no property {n}"))
            }
            _ => None,
        }
    }
}

/// An option that the subcommand does not have.
fn wrong_option(word: &str, options: &[&str], program: &str, name: &str) -> Option<String> {
    let wrong = |option: &str| Some(format!("{program} {name} has no option {option}"));
    if let Some(long) = word.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or(long);
        return if options.contains(&format!("--{long}").as_str()) { None } else { wrong(word) };
    }
    let letters = word.strip_prefix('-')?;
    let unknown =
        letters.chars().find(|c| c.is_ascii_alphabetic() && !options.contains(&format!("-{c}").as_str()))?;
    wrong(&format!("-{unknown}"))
}

fn values<'t>(property: &str, tables: &[&'t Words]) -> Option<&'t str> {
    tables.iter().find_map(|table| table.get(property)).map(String::as_str)
}

/// A property that is not there, or a value that it does not take.
fn wrong_value(property: &str, value: &str, tables: &[&Words]) -> Option<String> {
    // A variable of the shell.
    if property.starts_with('$') {
        return None;
    }
    let Some(allowed) = values(property, tables) else {
        return Some(format!("there is no property {property}"));
    };
    (!takes(allowed, value)).then(|| format!("{property} takes {allowed}, not {value}"))
}

/// Whether a value is one of those that a program words as `on | off | gzip-[1-9] | <size>`.
fn takes(allowed: &str, value: &str) -> bool {
    let number = value.trim_end_matches(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']);
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    allowed.split(" | ").any(|way| {
        if let Some((head, range)) = way.split_once("-[") {
            let Some(tail) = value.strip_prefix(head).and_then(|v| v.strip_prefix('-')) else { return false };
            return range.trim_end_matches(']').split(',').any(|part| match part.split_once('-') {
                Some((low, high)) => match (low.parse(), high.parse(), tail.parse::<u32>()) {
                    (Ok(low), Ok(high), Ok(n)) => (low..=high).contains(&n),
                    _ => false,
                },
                None => part == tail,
            });
        }
        if way.contains(" to ") {
            return is_number;
        }
        // What stands in brackets is a kind of thing: a size, a path.
        way == value || (way.starts_with('<') && !value.is_empty()) || value.starts_with(['{', '$'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        command.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn all_releases_have_their_tables() {
        let series: Vec<&str> = releases().iter().map(|r| r.series.as_str()).collect();
        assert_eq!(series, ["2.1", "2.3", "2.4"]);
        for release in releases() {
            assert!(release.zfs.len() > 20 && release.parameters.len() > 100, "{release:?}");
        }
    }

    #[test]
    fn what_a_release_knows_can_be_run() {
        let newest = releases().last().unwrap();
        for command in [
            "zfs set compression=zstd-fast-100 tank/a",
            "zfs set atime=on relatime=on tank/a",
            "zfs set recordsize=16K {dataset}",
            "zfs get -r -t filesystem,volume compression,compressratio tank",
            "zfs receive -u -o encryption=aes-256-gcm -o keyformat=raw tank/b",
            "zpool set autotrim=off tank",
            "zpool iostat -vl tank 1 10",
            "cat /sys/module/zfs/parameters/zfs_arc_max",
        ] {
            assert_eq!(newest.unknown(&words(command)), None, "{command}");
        }
    }

    #[test]
    fn what_it_does_not_know_is_told() {
        let newest = releases().last().unwrap();
        for (command, says) in [
            ("zfs frobnicate tank", "no subcommand frobnicate"),
            ("zfs set compression=zstd-20 tank", "compression takes"),
            ("zfs set compresion=lz4 tank", "no property compresion"),
            ("zfs set encryption=aes-256-gcm tank", "no property encryption"),
            ("zfs list -Q tank", "no option -Q"),
            ("zfs get recordsizes tank", "no property recordsizes"),
            ("zpool set autotrim=maybe tank", "autotrim takes"),
            (
                "cat /sys/module/zfs/parameters/zfs_arc_meta_limit",
                "no parameter is called zfs_arc_meta_limit",
            ),
        ] {
            let found = newest.unknown(&words(command)).unwrap_or_default();
            assert!(found.contains(says), "{command}: {found}");
        }
    }
}
