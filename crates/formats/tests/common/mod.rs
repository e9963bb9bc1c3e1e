//! What the text importers' tests share: importing, folding, golden files, a small random source.
#![allow(dead_code, clippy::print_stderr)] // each test binary uses its part; a skipped test says so

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zwhy_formats::{FormatError, ImportOptions, Imported, import_bytes};
use zwhy_profile::{Event, FoldedStacks, Profile, StackId, StackTotals};

/// Imports bytes with a forced format and checks that every record is accounted for.
pub fn import_as(format: &str, bytes: &[u8]) -> Result<Imported, FormatError> {
    let options =
        ImportOptions { format: Some(format.to_owned()), host_symbols: false, ..ImportOptions::default() };
    let imported = import_bytes("input", bytes.to_vec(), &options)?;
    assert!(imported.stats.balanced(), "{format}: {:?}", imported.stats);
    Ok(imported)
}

/// Imports bytes as whatever they look like; the name of the importer must be `format`.
pub fn import_detected(format: &str, bytes: &[u8]) -> Imported {
    let options = ImportOptions { host_symbols: false, ..ImportOptions::default() };
    let imported = import_bytes("input", bytes.to_vec(), &options).expect("imports");
    assert_eq!(imported.stats.format, format);
    assert!(imported.stats.balanced(), "{:?}", imported.stats);
    imported
}

/// Sorted folded lines of one event.
pub fn folded(profile: &Profile, event: Event) -> String {
    let text = FoldedStacks::text(profile, event);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Samples whose stack holds a function, each stack once.
pub fn inclusive(profile: &Profile, function: &str) -> u64 {
    let totals = StackTotals::of(profile, Event::Cpu);
    (0..profile.stacks.len())
        .map(|i| StackId(i as u32))
        .filter(|s| profile.stacks.leaf_to_root(*s).any(|f| profile.function_of(f) == function))
        .map(|s| totals.own[s.index()])
        .sum()
}

/// Folded text as a map, counts of equal stacks added.
pub fn stack_counts(folded: &str) -> BTreeMap<String, u64> {
    let mut map = BTreeMap::new();
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a folded line");
        *map.entry(stack.to_owned()).or_default() += count.parse::<u64>().expect("a whole count");
    }
    map
}

/// Compares with `tests/golden/NAME`; `BLESS=1` writes it.
pub fn golden(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the golden folder");
        std::fs::write(&path, got).expect("the golden file");
        return;
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs (BLESS=1 rewrites it):\n--- got\n{got}\n--- want\n{want}");
}

/// An input file of the tests.
pub fn input(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs").join(name)).expect("test input")
}

/// A folder beside the project with material of others; `None` (and a line saying so) when absent.
#[allow(clippy::print_stderr)] // a skipped test must be seen
pub fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}

/// Everything an import says, as text for golden files.
pub fn describe(imported: &Imported) -> String {
    use std::fmt::Write;
    let (e, s) = (&imported.evidence, &imported.stats);
    let mut out = String::new();
    let o = &mut out;
    let _ = writeln!(o, "{}: {} {} read, {} kept, {} lost", s.format, s.read, s.unit, s.kept, s.lost);
    for (reason, n) in &s.dropped {
        let _ = writeln!(o, "dropped {n}: {reason}");
    }
    for warning in &s.warnings {
        let _ = writeln!(o, "warning: {warning}");
    }
    for text in [("zfs", &e.host.zfs_version), ("kernel", &e.host.kernel), ("os", &e.host.os)] {
        if let (name, Some(value)) = text {
            let _ = writeln!(o, "{name}: {value}");
        }
    }
    let at = |id| e.origin_name(id);
    for r in &e.flat {
        let _ = writeln!(
            o,
            "flat {:?} children {:?} {:?} {:?} {:?} ({})",
            r.pct,
            r.children_pct,
            r.comm.as_deref().unwrap_or("-"),
            r.module.as_deref().unwrap_or("-"),
            r.symbol,
            at(r.origin)
        );
    }
    for t in &e.trees {
        let _ = writeln!(
            o,
            "{} {:?} {:?} {:?} {} ({})",
            if t.waiting { "wait" } else { "tree" },
            t.pct,
            t.kind,
            t.comm.as_deref().unwrap_or("-"),
            t.frames.join(";"),
            at(t.origin)
        );
    }
    for t in &e.threads {
        let _ = writeln!(o, "thread {:?} {:?} ({})", t.comm, t.cpu_pct, at(t.origin));
    }
    for k in &e.kstats {
        let _ =
            writeln!(o, "kstat {} {} = {} rate {:?} ({})", k.source, k.name, k.value, k.rate, at(k.origin));
    }
    for p in &e.params {
        let _ = writeln!(o, "param {} = {} ({})", p.name, p.value, at(p.origin));
    }
    for p in &e.properties {
        let name = p.dataset.as_deref().unwrap_or("-");
        let _ = writeln!(o, "prop {name} {} = {} ({})", p.name, p.value, at(p.origin));
    }
    for t in &e.tables {
        let _ = writeln!(o, "table {:?} {:?} ({})", t.tool, t.columns, at(t.origin));
        for row in &t.rows {
            let _ = writeln!(o, "  {row:?}");
        }
    }
    for event in Event::ALL {
        let text = folded(&e.profile, event);
        if !text.is_empty() {
            let _ = writeln!(o, "{} samples:\n{text}", event.name());
        }
    }
    for (_, t) in e.profile.threads.iter().filter(|(_, t)| t.tid >= 0 || t.comm.0 > 0) {
        let _ = writeln!(o, "sampled thread {} {}/{}", e.profile.strings.get(t.comm), t.pid, t.tid);
    }
    for (_, f) in e.profile.frames.iter() {
        let get = |id| e.profile.strings.get(id);
        let _ = write!(o, "frame {} [{}] {}", get(f.function), get(f.module), f.kind.name());
        if f.line > 0 || f.file.0 > 0 {
            let _ = write!(o, " {}:{}", get(f.file), f.line);
        }
        if f.reason.0 > 0 {
            let _ = write!(o, " ({})", get(f.reason));
        }
        let _ = writeln!(o);
    }
    out
}

/// xorshift: the same numbers in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Imports cut and flipped copies of a good input: any answer will do, as long as there is one.
pub fn survives_damage(format: &str, good: &[u8]) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..60 {
        let cut = random.below(good.len() + 1);
        let _ = import_as(format, &good[..cut]);
    }
    for _ in 0..60 {
        let mut bytes = good.to_vec();
        for _ in 0..1 + random.below(20) {
            let at = random.below(bytes.len());
            bytes[at] = random.below(256) as u8;
        }
        let _ = import_as(format, &bytes);
    }
}
