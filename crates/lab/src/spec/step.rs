//! The steps of an experiment: what the application and the pool do, one after the other.
//!
//! In a specification an argument may name a factor, as `count = "$n"`; [`StepSpec::resolve`] puts in what the
//! cell has for it.

use super::call::{Call, CallKind};
use super::setup::{Setup, Way};
use crate::Bytes;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A step as it is written. Arguments that its verb does not take are refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    #[serde(rename = "do", alias = "kind")]
    pub verb: Verb,
    /// How results and captures call it; the verb when there is none.
    pub name: Option<String>,
    /// Record this step as a capture.
    #[serde(default)]
    pub record: bool,
    pub order: Option<Word>,
    pub count: Option<Word>,
    pub bytes: Option<Word>,
    pub seconds: Option<Word>,
    pub available: Option<Word>,
    pub form: Option<Word>,
    pub state: Option<Word>,
    pub to: Option<Word>,
    pub call: Option<Word>,
    pub at: Option<Word>,
    pub memory: Option<Word>,
    pub io: Option<Word>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Verb {
    /// Write all data, wait until it is on disk.
    Write,
    /// Write the data (or `bytes` of it) again, in `order`, and wait until they are on disk.
    Overwrite,
    /// Export and import the pool: the ARC is empty after it.
    Reimport,
    /// Bring the caches into a `state`: cold, or warm after one read of all data.
    Cache,
    /// Read all data (or `bytes` of it) in `order`, `count` times; the mark in every 4 KiB is checked.
    Read,
    /// Read all data again and compare every byte.
    Verify,
    /// Read the disks themselves, past OpenZFS, with as many readers and in I/O as large as the application's.
    Raw,
    /// Take `count` snapshots, each after writing `bytes` again.
    Snapshot,
    /// Destroy all snapshots, in `order`.
    Destroy,
    /// `count` disks of the pool are gone, at most as many as its layout can do without.
    Lose,
    /// The disks that were gone are back; what they missed is resilvered.
    Regain,
    /// Give each snapshot another name and its own back, one call each.
    Rename,
    /// Send the newest snapshot whole, in a `form`, `to` nowhere or a file.
    Send,
    /// Receive that file as another dataset, which the following steps read and write.
    Receive,
    /// Do nothing for `seconds`, while the host seems to have `available` memory left.
    Idle,
    /// One `call` of the application on a file of its own: `bytes` of it, `at` a byte, from `memory` so many bytes behind the
    /// start of a page, through a file opened for `io`. What became of it is its outcome.
    Call,
}

impl Verb {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Names of the arguments it takes.
    fn takes(self) -> &'static [&'static str] {
        match self {
            Verb::Lose => &["count"],
            Verb::Cache => &["state"],
            Verb::Send => &["form", "to"],
            Verb::Overwrite => &["order", "bytes"],
            Verb::Read => &["order", "bytes", "count"],
            Verb::Snapshot => &["count", "bytes"],
            Verb::Destroy => &["order"],
            Verb::Idle => &["seconds", "available"],
            Verb::Call => &["call", "at", "bytes", "memory", "io"],
            _ => &[],
        }
    }
}

/// A number or a text, which may name a factor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word {
    Number(i64),
    Text(String),
}

impl Word {
    /// The factor it names: `n` of `$n`.
    pub fn factor(&self) -> Option<&str> {
        match self {
            Word::Text(text) => text.strip_prefix('$'),
            Word::Number(_) => None,
        }
    }

    fn text(&self, setup: &Setup) -> Result<String, String> {
        match (self, self.factor()) {
            (_, Some(name)) => setup
                .words
                .get(name)
                .cloned()
                .ok_or_else(|| format!("${name} is no factor of the experiment")),
            (Word::Text(text), None) => Ok(text.clone()),
            (Word::Number(number), None) => Ok(number.to_string()),
        }
    }
}

/// A step of one cell, with nothing left to look up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    pub record: bool,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Write,
    /// `bytes`: `None` for all.
    Overwrite {
        bytes: Option<Bytes>,
        order: Order,
    },
    Reimport,
    Cache {
        state: State,
    },
    /// As above, so many times.
    Read {
        bytes: Option<Bytes>,
        order: Order,
        #[serde(default = "once")]
        count: u32,
    },
    Verify,
    Raw,
    Snapshot {
        count: u32,
        bytes: Bytes,
    },
    Destroy {
        order: Age,
    },
    /// Disks that are gone.
    Lose {
        count: u32,
    },
    Regain,
    Rename,
    Send {
        form: Form,
        #[serde(default)]
        to: Destination,
    },
    Receive,
    /// `available`: bytes of memory left, negative when the host is short of them; `None`: plenty.
    Idle {
        seconds: u32,
        available: Option<i64>,
    },
    Call(Call),
}

/// What the ARC holds of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing.
    #[default]
    Cold,
    /// As much as fits, of one read of everything after it was cold.
    Warm,
}

/// Where the next I/O goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    #[default]
    Sequential,
    /// Each block once, shuffled.
    Random,
}

/// Which snapshot is destroyed next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Age {
    #[default]
    OldestFirst,
    NewestFirst,
    /// All in one call.
    AllAtOnce,
}

/// What a stream holds of each block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Decompressed and decrypted: `zfs send`.
    #[default]
    Plain,
    /// Compressed as it is on disk: `zfs send -c`.
    Compressed,
    /// Exactly as it is on disk: `zfs send -w`.
    Raw,
}

/// Where a stream goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destination {
    /// It is counted only.
    #[default]
    Nowhere,
    /// A file in the scratch folder, for a receive.
    File,
}

fn once() -> u32 {
    1
}

impl StepSpec {
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.verb.name())
    }

    /// Every argument that is there, by name.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static str, &Word)> {
        let all = [
            ("order", &self.order),
            ("count", &self.count),
            ("bytes", &self.bytes),
            ("seconds", &self.seconds),
            ("available", &self.available),
            ("form", &self.form),
            ("state", &self.state),
            ("to", &self.to),
            ("call", &self.call),
            ("at", &self.at),
            ("memory", &self.memory),
            ("io", &self.io),
        ];
        all.into_iter().filter_map(|(name, word)| Some((name, word.as_ref()?)))
    }

    /// A call that makes the file for the others.
    pub fn makes_file(&self) -> bool {
        matches!(&self.call, Some(Word::Text(text)) if text == "make")
    }

    /// # Errors
    /// Which argument is missing, not taken, or no value.
    pub fn resolve(&self, setup: &Setup) -> Result<Step, String> {
        let at = |what: String| format!("steps: {}: {what}", self.name());
        let takes = self.verb.takes();
        if let Some((name, _)) = self.arguments().find(|(name, _)| !takes.contains(name)) {
            let can = if takes.is_empty() { "no arguments".to_owned() } else { takes.join(" and ") };
            return Err(at(format!("{} takes {can}, not {name}", self.verb.name())));
        }
        let action = self.action(setup).map_err(at)?;
        Ok(Step { name: self.name().to_owned(), record: self.record, action })
    }

    fn action(&self, setup: &Setup) -> Result<Action, String> {
        let bytes = |word: &Option<Word>| -> Result<Option<Bytes>, String> {
            word.as_ref().map(|w| w.text(setup)?.parse::<Bytes>()).transpose()
        };
        Ok(match self.verb {
            Verb::Write => Action::Write,
            Verb::Reimport => Action::Reimport,
            Verb::Cache => Action::Cache { state: one_of("state", &self.state, setup)? },
            Verb::Verify => Action::Verify,
            Verb::Raw => Action::Raw,
            Verb::Read => Action::Read {
                bytes: bytes(&self.bytes)?,
                order: one_of("order", &self.order, setup)?,
                count: number("count", &self.count, setup)?.unwrap_or_else(once).max(1),
            },
            Verb::Rename => Action::Rename,
            Verb::Send => {
                Action::Send { form: one_of("form", &self.form, setup)?, to: one_of("to", &self.to, setup)? }
            }
            Verb::Receive => Action::Receive,
            Verb::Overwrite => {
                Action::Overwrite { bytes: bytes(&self.bytes)?, order: one_of("order", &self.order, setup)? }
            }
            Verb::Snapshot => Action::Snapshot {
                count: number("count", &self.count, setup)?.ok_or("count is missing")?,
                bytes: bytes(&self.bytes)?.unwrap_or(setup.recordsize()),
            },
            Verb::Destroy => Action::Destroy { order: one_of("order", &self.order, setup)? },
            Verb::Lose => Action::Lose { count: lost(number("count", &self.count, setup)?, setup)? },
            Verb::Regain => Action::Regain,
            Verb::Call => Action::Call(self.called(setup)?),
            Verb::Idle => Action::Idle {
                seconds: number("seconds", &self.seconds, setup)?.ok_or("seconds is missing")?,
                available: self.available.as_ref().map(|w| signed(&w.text(setup)?)).transpose()?,
            },
        })
    }

    fn called(&self, setup: &Setup) -> Result<Call, String> {
        const PAGE: u64 = 4096;
        let size = |word: &Option<Word>| -> Result<u64, String> {
            word.as_ref().map_or(Ok(0), |w| w.text(setup)?.parse::<Bytes>().map(|bytes| bytes.0))
        };
        let kind: CallKind = one_of("call", &self.call, setup)?;
        let (at, bytes, memory) = (size(&self.at)?, size(&self.bytes)?, size(&self.memory)?);
        let way = self.io.as_ref().map_or(Ok(None), |_| one_of::<Way>("io", &self.io, setup).map(Some))?;
        if memory >= PAGE {
            return Err(format!("memory is {memory}; it must be below {PAGE}, the size of a page"));
        }
        let moves = !matches!(kind, CallKind::Make | CallKind::Fsync);
        if moves && bytes == 0 {
            return Err("bytes is missing".into());
        }
        let all = super::call::RECORDS * setup.recordsize().0;
        if moves && (at >= all || (kind != CallKind::Read && at + bytes > all)) {
            return Err(format!("at is {at} and bytes {bytes}; the file has {all} in whole records"));
        }
        if kind == CallKind::Map && (at % PAGE, bytes % PAGE) != (0, 0) {
            return Err("at and bytes of a map are whole pages of 4096".into());
        }
        Ok(Call { kind, at, bytes: Bytes(bytes), way: way.unwrap_or(setup.io), memory })
    }
}

/// As many disks as the layout can do without, or fewer.
fn lost(wanted: Option<u32>, setup: &Setup) -> Result<u32, String> {
    let most = setup.layout.redundant(setup.disks);
    let count = wanted.unwrap_or(most);
    if count == 0 || count > most {
        return Err(format!("count is {count}; this layout of {} disks can do without {most}", setup.disks));
    }
    Ok(count)
}

fn number<T: FromStr>(name: &str, word: &Option<Word>, setup: &Setup) -> Result<Option<T>, String> {
    let Some(word) = word else { return Ok(None) };
    let text = word.text(setup)?;
    text.parse().map(Some).map_err(|_| format!("{name} is {text:?}; it must be a whole number"))
}

/// Bytes that may be below 0: `-64M`.
fn signed(text: &str) -> Result<i64, String> {
    let (sign, size) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let bytes: Bytes = size.parse()?;
    i64::try_from(bytes.0).map(|b| sign * b).map_err(|_| format!("{text} is too much"))
}

/// A word of an enumeration with a default, by its name in serde.
fn one_of<T: serde::de::DeserializeOwned + Default>(
    name: &str,
    word: &Option<Word>,
    setup: &Setup,
) -> Result<T, String> {
    let Some(word) = word else { return Ok(T::default()) };
    let text = word.text(setup)?;
    serde_json::from_value(text.as_str().into()).map_err(|e| {
        let known = e.to_string();
        let known = known.split("expected ").nth(1).unwrap_or("another word").replace('`', "");
        format!("{name} is {text:?}; it must be {known}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str) -> StepSpec {
        toml::from_str(text).unwrap()
    }

    fn setup(words: &[(&str, &str)]) -> Setup {
        let words = words.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Setup { words, ..Setup::default() }
    }

    #[test]
    fn arguments_come_from_the_factors_of_the_cell() {
        let spec = step("do = \"snapshot\"\ncount = \"$n\"\nbytes = \"4K\"");
        let resolved = spec.resolve(&setup(&[("n", "200")])).unwrap();
        assert_eq!(resolved.action, Action::Snapshot { count: 200, bytes: Bytes(4096) });
        assert!(spec.resolve(&setup(&[])).unwrap_err().contains("$n is no factor"));
    }

    #[test]
    fn names_and_old_spellings() {
        assert_eq!(step("kind = \"read\"\nrecord = true").name(), "read");
        let named =
            step("do = \"read\"\nname = \"pass 2\"\norder = \"random\"").resolve(&setup(&[])).unwrap();
        assert_eq!(
            (named.name.as_str(), named.action),
            ("pass 2", Action::Read { bytes: None, order: Order::Random, count: 1 })
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        let wrong = [
            ("do = \"write\"\ncount = 3", "write takes no arguments, not count"),
            ("do = \"snapshot\"", "count is missing"),
            ("do = \"destroy\"\norder = \"random\"", "oldest-first"),
            ("do = \"idle\"\nseconds = \"long\"", "whole number"),
            ("do = \"lose\"", "can do without 0"),
            ("do = \"cache\"\nstate = \"tepid\"", "cold or warm"),
            ("do = \"call\"\ncall = \"read\"", "bytes is missing"),
            ("do = \"call\"\ncall = \"write\"\nbytes = \"8M\"", "in whole records"),
            ("do = \"call\"\ncall = \"read\"\nbytes = \"4K\"\nmemory = 4096", "below 4096"),
            ("do = \"call\"\ncall = \"map\"\nbytes = 1000", "whole pages"),
            ("do = \"call\"\ncall = \"poke\"", "write-changing"),
        ];
        for (text, says) in wrong {
            let error = step(text).resolve(&setup(&[])).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn memory_may_be_short() {
        let idle = step("do = \"idle\"\nseconds = 5\navailable = \"-64M\"").resolve(&setup(&[])).unwrap();
        assert_eq!(idle.action, Action::Idle { seconds: 5, available: Some(-(64 << 20)) });
    }
}
