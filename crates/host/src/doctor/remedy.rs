//! What helps, by trouble and distribution: a sentence and commands that can be copied (`remedies.toml`).

use super::Distro;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What can be in the way; its name is for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Trouble {
    Privilege,
    HiddenNames,
    NoKallsyms,
    Lockdown,
    Container,
    #[strum(serialize = "no-tracefs")]
    Tracefs,
    NoProbes,
    NoStacks,
    NoPressure,
    NoModule,
    NoTools,
    SuspendedPool,
    NoLines,
    NoKernelLines,
    OtherBuild,
}

impl Trouble {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Help for one trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub trouble: Trouble,
    /// What the commands do and what to mind, in sentences.
    pub text: &'static str,
    /// To be copied in order; none where there is nothing to run.
    pub commands: Vec<String>,
}

/// A trouble in `remedies.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    text: String,
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    on: Vec<Row>,
}

/// What another text or other commands are for some distributions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    distros: Vec<String>,
    text: Option<String>,
    commands: Vec<String>,
}

/// By the name of the trouble; tests look for each.
static REMEDIES: LazyLock<BTreeMap<String, Entry>> =
    LazyLock::new(|| toml::from_str(include_str!("remedies.toml")).unwrap_or_default());

pub(super) fn remedy(trouble: Trouble, distro: Distro) -> Remedy {
    let entry = REMEDIES.get(trouble.name());
    let row =
        entry.and_then(|entry| entry.on.iter().find(|row| row.distros.iter().any(|d| d == distro.name())));
    let text = row.and_then(|row| row.text.as_ref()).or(entry.map(|entry| &entry.text));
    let commands = row.map(|row| &row.commands).or(entry.map(|entry| &entry.commands));
    Remedy { trouble, text: text.map_or("", String::as_str), commands: commands.cloned().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TROUBLES: [Trouble; 15] = [
        Trouble::Privilege,
        Trouble::HiddenNames,
        Trouble::NoKallsyms,
        Trouble::Lockdown,
        Trouble::Container,
        Trouble::Tracefs,
        Trouble::NoProbes,
        Trouble::NoStacks,
        Trouble::NoPressure,
        Trouble::NoModule,
        Trouble::NoTools,
        Trouble::SuspendedPool,
        Trouble::NoLines,
        Trouble::NoKernelLines,
        Trouble::OtherBuild,
    ];

    #[test]
    fn every_trouble_has_a_sentence_on_every_distribution() {
        for &distro in Distro::ALL {
            for trouble in TROUBLES {
                let remedy = remedy(trouble, distro);
                assert!(remedy.text.ends_with('.'), "{remedy:?}");
                assert!(remedy.commands.iter().all(|c| !c.contains('\n') && !c.is_empty()), "{remedy:?}");
            }
        }
    }

    #[test]
    fn every_command_changes_something_and_runs_as_printed() {
        const ONLY_SHOW: [&str; 9] =
            ["cat", "grep", "dmesg", "modinfo", "ls", "apt-cache", "zwhy", "journalctl", "docker"];
        for &distro in Distro::ALL {
            for command in TROUBLES.into_iter().flat_map(|trouble| remedy(trouble, distro).commands) {
                let mut words = command.split(' ').filter(|word| *word != "sudo");
                let first = words.next().unwrap_or_default();
                assert!(!ONLY_SHOW.contains(&first), "{command}");
                assert!(!words.any(|word| matches!(word, "POOL" | "IMAGE")), "{command}");
            }
        }
    }

    #[test]
    fn debug_information_is_asked_for_and_assertions_are_not() {
        for distro in [Distro::Debian, Distro::Arch, Distro::Fedora, Distro::Rhel] {
            let remedy = remedy(Trouble::NoLines, distro);
            let commands = remedy.commands.join("\n");
            assert!(commands.contains("ZFS_DKMS_ENABLE_DEBUGINFO=yes"), "{commands}");
            assert!(commands.contains("ZFS_DKMS_DISABLE_STRIP=yes"), "{commands}");
            assert!(!commands.contains("ENABLE_DEBUG=") && remedy.text.contains("assertions"), "{remedy:?}");
        }
        assert!(remedy(Trouble::NoLines, Distro::Fedora).commands[0].contains("/etc/sysconfig/zfs"));
    }
}
