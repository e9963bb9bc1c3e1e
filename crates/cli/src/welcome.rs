//! `zwhy` alone on a terminal: what it is, whether this host is ready, and what to type next.

use crate::output;
use anyhow::Result;
use std::process::ExitCode;
use zwhy_host::doctor::{Check, Doctor, State, Trouble, glance};
use zwhy_report::{cells, cut, plain};

pub fn run() -> Result<ExitCode> {
    let seen = glance(zwhy_record::try_sampling);
    output::print(&text(&seen, output::width()))?;
    Ok(ExitCode::SUCCESS)
}

/// Eight lines of at most `width` cells.
fn text(seen: &Doctor, width: usize) -> String {
    let first = format!(
        "zwhy {} says why an OpenZFS host is slow or busy, with evidence and remedy.",
        env!("CARGO_PKG_VERSION")
    );
    let mut rows = vec![("This host", host(seen))];
    rows.extend(next(seen));
    let rows = rows.into_iter().map(|(label, what)| format!("{label:<LABEL$}{what}"));
    let lines = [first].into_iter().chain(rows).map(|line| cut(&plain(&line), width) + "\n");
    lines.collect()
}

/// Cells of the word that begins a line.
const LABEL: usize = 11;
/// Cells of a command, so that what they are for is in one column.
const COMMAND: usize = 35;

fn host(seen: &Doctor) -> String {
    let missing = seen.checks.iter().find(|c| matches!(c.state, State::Missing | State::Unknown));
    match missing {
        None => format!("ready: OpenZFS {}", found(seen, "ZFS module")),
        Some(Check { trouble: Some(Trouble::NoModule), .. }) => {
            "OpenZFS is not loaded here; profiles of other hosts can be explained".to_owned()
        }
        Some(check) => format!("not ready: {}", check.found),
    }
}

fn found<'a>(seen: &'a Doctor, name: &str) -> &'a str {
    seen.checks.iter().find(|c| c.name == name).map_or("", |c| c.found.as_str())
}

/// What to type, most useful first.
fn next(seen: &Doctor) -> Vec<(&'static str, String)> {
    let lacks = |trouble| seen.checks.iter().any(|c| c.trouble == Some(trouble));
    let row = |label, command: &str, what: &str| {
        let gap = COMMAND.saturating_sub(cells(command)).max(2);
        (label, format!("{command}{}{what}", " ".repeat(gap)))
    };
    let sudo = if lacks(Trouble::Privilege) { "sudo " } else { "" };
    let where_it_runs = if lacks(Trouble::Container) || lacks(Trouble::NoModule) {
        "run it on the ZFS host itself"
    } else {
        "look for a minute"
    };
    vec![
        row("Record", &format!("{sudo}zwhy record -a -d 60 -o X.zwhy"), where_it_runs),
        row("Explain", "zwhy explain X.zwhy", "also perf.data, SVG, pasted text"),
        row("Watch", &format!("{sudo}zwhy top"), "second by second"),
        row("Prove", "zwhy lab run encryption --quick", "on real OpenZFS, not your pools"),
        row("Missing?", "zwhy doctor", "what is missing, and what helps"),
        row("More", "zwhy help", "commands and topics"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_host::doctor::Distro;

    fn seen(checks: &[(&'static str, Option<Trouble>, &str)]) -> Doctor {
        let check = |(name, trouble, found): &(&'static str, Option<Trouble>, &str)| Check {
            name,
            state: if trouble.is_some() { State::Missing } else { State::Ready },
            found: (*found).to_owned(),
            trouble: *trouble,
        };
        Doctor {
            host: "db7".into(),
            kernel: "6.1".into(),
            distro: Distro::Debian,
            root: false,
            checks: checks.iter().map(check).collect(),
        }
    }

    #[test]
    fn it_is_eight_lines_that_fit_whatever_the_host_is_like() {
        let long = "refused ".repeat(40);
        let hosts = [
            seen(&[("CPU samples", None, "all"), ("ZFS module", None, "2.3.2-1, built by DKMS")]),
            seen(&[("CPU samples", Some(Trouble::Privilege), &long)]),
            seen(&[("ZFS module", Some(Trouble::NoModule), "not loaded")]),
            seen(&[("place", Some(Trouble::Container), "inside a docker container")]),
        ];
        for host in &hosts {
            let text = text(host, 80);
            assert_eq!(text.lines().count(), 8, "{text}");
            assert!(text.lines().all(|line| cells(line) <= 80), "{text}");
            // What a host says may be long; what to type is read to its end.
            assert!(text.lines().skip(2).all(|line| !line.contains('…')), "{text}");
        }
    }

    #[test]
    fn what_to_type_depends_on_what_is_missing() {
        let ready = text(&seen(&[("ZFS module", None, "2.3.2-1")]), 80);
        assert!(ready.contains("ready: OpenZFS 2.3.2-1") && !ready.contains("sudo"), "{ready}");
        let user = text(&seen(&[("CPU samples", Some(Trouble::Privilege), "not for this user")]), 80);
        assert!(user.contains("not ready: not for this user") && user.contains("sudo zwhy record"), "{user}");
        let elsewhere = text(&seen(&[("ZFS module", Some(Trouble::NoModule), "none")]), 80);
        assert!(
            elsewhere.contains("not loaded here") && elsewhere.contains("on the ZFS host"),
            "{elsewhere}"
        );
    }

    #[test]
    fn every_line_to_type_parses() {
        let all = [Some(Trouble::Privilege), None].map(|t| seen(&[("CPU samples", t, "x")]));
        for (_, row) in all.iter().flat_map(next) {
            let command = row.split("  ").next().unwrap_or_default();
            let words = command.trim_start_matches("sudo ").split(' ');
            assert!(crate::definition().try_get_matches_from(words).is_ok(), "{command}");
        }
    }
}
