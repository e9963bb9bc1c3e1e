//! What `zwhy doctor` found, for a terminal of 80 columns, for programs, and as commands to copy.

use crate::escape::plain;
use crate::layout::{labelled, wrap};
use crate::style::Style;
use serde_json::json;
use zwhy_host::doctor::{Check, Doctor, Remedy, State};

const WIDTH: usize = 80;
/// Cells of the state of a check.
const WORD: usize = 9;
/// Where the text of a check begins.
const INDENT: usize = 27;

/// One screen: every check, then how to fix what is missing.
pub fn doctor_text(doctor: &Doctor, style: Style) -> String {
    let mut out = style.bold(&format!(
        "{} · Linux {} · advice for {}",
        plain(&doctor.host),
        plain(&doctor.kernel),
        doctor.distro.name()
    ));
    out.push_str("\n\n");
    for check in &doctor.checks {
        out.push_str(&check_text(check, style));
    }
    let missing: Vec<Remedy> = needed(doctor);
    if !missing.is_empty() {
        out.push_str(&format!("\n{}\n", style.heading("HOW TO FIX")));
    }
    for remedy in &missing {
        out.push_str(&labelled("  -", 4, remedy.text, WIDTH));
        for command in &remedy.commands {
            out.push_str(&format!("      {}\n", plain(command)));
        }
    }
    out.push('\n');
    out.push_str(&verdict(doctor));
    out
}

fn check_text(check: &Check, style: Style) -> String {
    let word = match check.state {
        State::Ready => "ok",
        State::Missing => "missing",
        State::Optional => "optional",
        State::Unknown => "?",
    };
    // Padded before it is coloured: escapes take no cells.
    let word = format!("{word:<WORD$}");
    let word = match check.state {
        State::Ready => style.dim(&word),
        State::Missing | State::Unknown => style.warning(&word),
        State::Optional => word,
    };
    let mut out = String::new();
    for (i, line) in wrap(&check.found, WIDTH - INDENT).iter().enumerate() {
        if i == 0 {
            out.push_str(&format!("{word}{:<width$}{}\n", check.name, plain(line), width = INDENT - WORD));
        } else {
            out.push_str(&format!("{}{}\n", " ".repeat(INDENT), plain(line)));
        }
    }
    out
}

/// Remedies of what is missing; the commands of optional checks are in `--fix-hints`.
fn needed(doctor: &Doctor) -> Vec<Remedy> {
    let missing =
        |r: &Remedy| doctor.checks.iter().any(|c| c.state == State::Missing && c.trouble == Some(r.trouble));
    doctor.remedies().into_iter().filter(missing).collect()
}

fn verdict(doctor: &Doctor) -> String {
    let count = |state| doctor.checks.iter().filter(|c| c.state == state).count();
    let (missing, unknown, optional) = (count(State::Missing), count(State::Unknown), count(State::Optional));
    let mut text = match (missing, unknown) {
        (0, 0) => "Everything an answer needs can be recorded here: zwhy record -a -d 60.".to_owned(),
        (_, 0) => format!("{missing} of {} missing; the rest can be recorded.", doctor.checks.len()),
        _ => format!("{missing} of {} missing, {unknown} gave no answer in time.", doctor.checks.len()),
    };
    if missing + optional > 0 {
        text.push_str(" All commands: zwhy doctor --fix-hints");
    }
    wrap(&text, WIDTH).join("\n") + "\n"
}

/// Only commands, one a line, each once.
pub fn doctor_commands(doctor: &Doctor) -> String {
    let mut lines = Vec::new();
    for command in doctor.remedies().into_iter().flat_map(|r| r.commands) {
        if !lines.contains(&command) {
            lines.push(command);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The same for programs: `ready`, `checks` with `state` and `trouble`, `remedies` by trouble.
///
/// # Errors
/// As writing JSON.
pub fn doctor_json(doctor: &Doctor) -> serde_json::Result<String> {
    let checks: Vec<_> = doctor
        .checks
        .iter()
        .map(|c| {
            json!({
                "name": c.name, "state": c.state.name(), "found": c.found,
                "trouble": c.trouble.map(|t| t.name()),
            })
        })
        .collect();
    let remedies: Vec<_> = doctor
        .remedies()
        .iter()
        .map(|r| json!({ "trouble": r.trouble.name(), "text": r.text, "commands": r.commands }))
        .collect();
    let value = json!({
        "host": doctor.host, "kernel": doctor.kernel, "distro": doctor.distro.name(),
        "ready": doctor.is_ready(), "checks": checks, "remedies": remedies,
    });
    serde_json::to_string_pretty(&value).map(|s| s + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_host::doctor::{Distro, Trouble};

    fn doctor(distro: Distro) -> Doctor {
        let check = |name, state, found: &str, trouble| Check { name, state, found: found.into(), trouble };
        Doctor {
            host: "db\u{1b}[2J7".into(),
            kernel: "6.1.0".into(),
            distro,
            root: false,
            checks: vec![
                check("CPU samples", State::Ready, "user and kernel, all CPUs, by hardware cycles", None),
                check(
                    "kernel names",
                    State::Missing,
                    "addresses are hidden (kernel.kptr_restrict is 2)",
                    Some(Trouble::HiddenNames),
                ),
                check("wait stacks", State::Missing, "for root only", Some(Trouble::Privilege)),
                check(
                    "source lines",
                    State::Optional,
                    "functions are named, lines are not: /lib/modules/6.1.0/updates/dkms/zfs.ko.xz has no debug \
                     information",
                    Some(Trouble::NoLines),
                ),
                check("ZFS tools", State::Unknown, "no answer in time", None),
            ],
        }
    }

    #[test]
    fn one_screen_says_what_is_missing_and_how_to_fix_it() {
        let text = doctor_text(&doctor(Distro::Debian), Style::PLAIN);
        let long: Vec<_> =
            text.lines().filter(|l| l.chars().count() > 80 && !l.starts_with("      ")).collect();
        assert!(long.is_empty() && text.lines().count() <= 24, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.contains("missing  kernel names      addresses are hidden"), "{text}");
        assert!(
            text.contains("sysctl kernel.kptr_restrict=1") && text.contains("2 of 5 missing, 1 gave no"),
            "{text}"
        );
        assert!(!text.contains("ZFS_DKMS"), "what is only good to have is in --fix-hints: {text}");
    }

    #[test]
    fn hints_are_commands_only() {
        let text = doctor_commands(&doctor(Distro::Debian));
        assert!(text.lines().any(|l| l == "sudo sysctl kernel.kptr_restrict=1"), "{text}");
        assert!(text.contains("ZFS_DKMS_DISABLE_STRIP=yes"), "{text}");
    }

    #[test]
    fn programs_get_states_and_remedies() {
        let value: serde_json::Value =
            serde_json::from_str(&doctor_json(&doctor(Distro::NixOs)).unwrap()).unwrap();
        assert_eq!((&value["ready"], &value["distro"]), (&json!(false), &json!("nixos")));
        assert_eq!(value["checks"][1]["trouble"], "hidden-names");
        assert_eq!(value["remedies"].as_array().unwrap().len(), 3);
    }
}
