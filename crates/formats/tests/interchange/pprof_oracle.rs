//! Profiles of others against `go tool pprof -raw`: totals and every function's self and total, to the unit.
//!
//! `ZWHY_PPROF_DIR=DIR cargo test -p zwhy-formats --test interchange pprof_oracle -- --ignored --nocapture`
//! runs over every profile.proto file of a folder, gzipped or not; `go` must be installed.
#![allow(clippy::print_stderr)] // a table for people

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use zwhy_formats::{ImportOptions, import_path};
use zwhy_profile::{Event, FunctionTotals, Unit};

/// Self and total by function.
type Functions = BTreeMap<String, (u64, u64)>;

#[test]
#[ignore = "needs a folder of profiles and the Go tools"]
fn every_function_of_a_folder_of_profiles() {
    let Some(folder) = std::env::var_os("ZWHY_PPROF_DIR") else {
        eprintln!("skipped: ZWHY_PPROF_DIR names no folder");
        return;
    };
    let (mut equal, mut wrong) = (0, Vec::new());
    for path in files(Path::new(&folder)) {
        let options = ImportOptions { host_symbols: false, ..ImportOptions::default() };
        let imported = match import_path(&path, &options) {
            Ok(imported) if imported.stats.format == "pprof" => imported,
            Ok(_) => continue,
            Err(e) => {
                eprintln!("{}: {e}", path.display());
                continue;
            }
        };
        let p = &imported.evidence.profile;
        let Some(event) = Event::ALL.into_iter().find(|e| p.total(*e) > 0) else { continue };
        let measure = p.measure(event);
        let Some((columns, samples)) = raw(&path) else { continue };
        let mut ours = Functions::new();
        for row in FunctionTotals::of(p, event).rows {
            let sum = ours.entry(p.strings.get(row.function).to_owned()).or_default();
            *sum = (sum.0 + row.own, sum.1 + row.total);
        }
        // One of the columns must be what was taken, whole.
        let total = p.total(event);
        let theirs = (0..columns.len())
            .filter(|c| unit_fits(&columns[*c], &measure.unit))
            .map(|c| sums(&samples, c, &columns[c]))
            .find(|(sum, _)| *sum == total);
        let same = theirs.as_ref().is_some_and(|(_, functions)| named(functions) == named(&ours));
        eprintln!(
            "{} {} {}",
            if same { "equal" } else { "WRONG" },
            path.display(),
            measure.unit.words(total)
        );
        if same { equal += 1 } else { wrong.push((path, total, columns)) }
    }
    assert!(equal > 0 && wrong.is_empty(), "{equal} equal, wrong: {wrong:?}");
}

/// Functions that have names: addresses are spelt differently by everyone.
fn named(functions: &Functions) -> BTreeMap<&str, (u64, u64)> {
    let nameless = |n: &str| n.starts_with("0x") || n.contains("+0x") || n.starts_with('[') || n.is_empty();
    functions.iter().filter(|(name, _)| !nameless(name)).map(|(n, v)| (n.as_str(), *v)).collect()
}

fn unit_fits(column: &str, unit: &Unit) -> bool {
    let suffix = column.split_once('/').map_or("", |(_, unit)| unit);
    match unit {
        Unit::Samples | Unit::Other(_) => suffix == "count" || suffix.is_empty(),
        Unit::Bytes => suffix == "bytes",
        Unit::Nanos => suffix.ends_with("seconds"),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|p| p.is_dir());
    files.into_iter().chain(folders.iter().flat_map(|f| self::files(f))).collect()
}

/// Values and functions, leaf first, of every sample.
type Raw = (Vec<String>, Vec<(Vec<i64>, Vec<String>)>);

fn raw(path: &Path) -> Option<Raw> {
    let out =
        Command::new("go").args(["tool", "pprof", "-raw", "-symbolize=none"]).arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let section = |from: &str, to: &str| {
        let start = text.find(&format!("\n{from}\n"))? + from.len() + 2;
        let end = text[start..].find(&format!("\n{to}\n")).map_or(text.len(), |e| start + e);
        Some(text[start..end].to_owned())
    };
    let locations = locations(&section("Locations", "Mappings")?);
    let samples = section("Samples:", "Locations")?;
    let mut lines = samples.lines();
    let columns: Vec<String> =
        lines.next()?.split_whitespace().map(|c| c.trim_end_matches("[dflt]").to_owned()).collect();
    let mut rows = Vec::new();
    for line in lines {
        let Some((values, ids)) = line.split_once(": ") else { continue };
        let values: Option<Vec<i64>> = values.split_whitespace().map(|v| v.parse().ok()).collect();
        let Some(values) = values.filter(|v| v.len() == columns.len()) else { continue }; // a line of labels
        let names = ids.split_whitespace().flat_map(|id| locations.get(id).cloned().unwrap_or_default());
        rows.push((values, names.collect()));
    }
    Some((columns, rows))
}

/// Names by location id: `   3: 0x4012 M=1 main.f /src/main.go:12:0 s=10`, inlined callers on lines below.
fn locations(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut id = String::new();
    for line in text.lines() {
        let mut rest = line.trim();
        if let Some((number, after)) = rest.split_once(": 0x") {
            id = number.trim().to_owned();
            rest = after.split_once(' ').map_or("", |(_, r)| r).trim();
            while let Some(after) = ["M=", "[F] "].iter().find_map(|p| rest.strip_prefix(p)) {
                rest = after.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
            }
            names.entry(id.clone()).or_default();
        }
        // `function file:line:column s=start`, each but the function may be missing.
        let rest = rest.rsplit_once(" s=").map_or(rest, |(r, _)| r);
        let function =
            rest.rsplit_once(' ').filter(|(_, place)| place.contains(':')).map_or(rest, |(f, _)| f);
        if !function.is_empty() {
            names.entry(id.clone()).or_default().push(function.to_owned());
        }
    }
    names
}

fn sums(samples: &[(Vec<i64>, Vec<String>)], column: usize, name: &str) -> (u64, Functions) {
    let scale = match name.split_once('/').map_or("", |(_, unit)| unit) {
        "microseconds" => 1_000,
        "milliseconds" => 1_000_000,
        "seconds" => 1_000_000_000,
        _ => 1,
    };
    let (mut total, mut functions) = (0, Functions::new());
    for (values, names) in samples {
        let value = u64::try_from(values[column]).unwrap_or(0) * scale;
        total += value;
        if let Some(leaf) = names.first() {
            functions.entry(leaf.clone()).or_default().0 += value;
        }
        for name in names.iter().collect::<BTreeSet<_>>() {
            functions.entry(name.clone()).or_default().1 += value;
        }
    }
    functions.retain(|_, (_, total)| *total > 0);
    (total, functions)
}
