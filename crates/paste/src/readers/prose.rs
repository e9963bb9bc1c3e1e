//! Well-marked figures in sentences: `recordsize=1M`, `zfs 0.8.3 on Ubuntu 20.04`, `z_wr_iss at 100 % CPU`.
//!
//! Their origin says that they stand in the text; they only fill what no block tells (`blocks::said`).
//! Clauses that ask, advise, compare or speak of another time are left alone (`clauses`): a figure that may
//! not be of this host is worse than none.

use super::clauses::{clauses, is_hedged};
use super::figures::{self, Figure};
use super::functions;
use super::params::is_parameter;
use super::spoken::{self, Release, is_setting};
use super::statements::{Statement, Statements};
use crate::blocks::{Block, Line, MOST_SAID, Sink, Taken};
use crate::cells;
use crate::text::numbers;
use crate::words::WORDS;
use zwhy_evidence::{Evidence, FlatRow, Host, Kstat, OriginId, Param, PctStack, Property, ThreadCpu};

pub struct Prose;

impl Block for Prose {
    fn of_a_person(&self) -> bool {
        true
    }

    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let first = lines.first()?;
        let before = sink.statement;
        let kept = |told: bool| told.then(|| Taken { kept: 1, dropped: Vec::new() });
        if first.number < before.ends_in {
            return kept(before.told);
        }
        if is_full(&sink.said) {
            return None;
        }
        let begun = first.number == before.ends_in;
        let statements = Statements::of(lines, begun);
        let mut found = Said::default();
        for clause in clauses(&statements.text) {
            found.clause(clause);
            // Of a statement over several lines that may not be of this host some lines are.
            if is_hedged(clause) {
                clause.lines().filter(|part| !is_hedged(part)).for_each(|part| found.clause(part));
            }
        }
        let told = found.add(&lines[..statements.lines], "said in the text", sink);
        sink.statement = Statement { ends_in: statements.ends_in, told };
        kept(told || begun && before.told)
    }
}

/// Values of arcstats with names that are words of their own elsewhere.
const ARC_SIZES: [&str; 5] = ["size", "c", "c_max", "c_min", "p"];

/// `arcstats: c 33776195584, size 33759021144`
fn is_arcstats(words: &[&str]) -> bool {
    words.first().is_some_and(|w| w.trim_end_matches(':').eq_ignore_ascii_case("arcstats"))
}

/// What a command sets: `zfs set recordsize=1M tank`, `echo 1 > /sys/module/zfs/parameters/x`.
pub fn command_settings(typed: &str, lines: &[Line], sink: &mut Sink) -> bool {
    let words: Vec<&str> = typed.trim_start_matches("sudo ").split_whitespace().take(60).collect();
    let mut found = Said::default();
    match words[..] {
        ["zfs", "set" | "create", ..] | ["zpool", "create" | "set", ..] => {
            let dataset = if words[0] == "zfs" { words.last() } else { None };
            for word in &words[2..] {
                let setting = word.trim_start_matches("-o").trim_start_matches("-O").split_once('=');
                if let Some((name, value)) = setting.filter(|(n, v)| is_setting(n, v)) {
                    let dataset = dataset.filter(|d| !d.contains('=')).map(|d| (*d).to_owned());
                    found.properties.push((dataset, name.to_owned(), value.to_owned()));
                }
            }
        }
        ["echo", value, ">", path]
        | ["echo", value, "|", "sudo", "tee", path]
        | ["echo", value, "|", "tee", path] => {
            let name = path.split_once("/parameters/").map(|(_, name)| name).filter(|n| is_parameter(n));
            if let Some(name) = name {
                found.params.push((name.to_owned(), value.trim_matches(['"', '\'']).to_owned()));
            }
        }
        _ => {}
    }
    found.add(lines, "set by a command in the text", sink)
}

/// More than anybody says in sentences.
fn is_full(said: &Evidence) -> bool {
    let most = [
        said.params.len(),
        said.properties.len(),
        said.kstats.len(),
        said.threads.len(),
        said.flat.len(),
        said.trees.len(),
    ];
    most.into_iter().any(|items| items > MOST_SAID)
}

/// Items of one line.
#[derive(Default, PartialEq)]
struct Said {
    host: Host,
    params: Vec<(String, String)>,
    properties: Vec<(Option<String>, String, String)>,
    kstats: Vec<(&'static str, String, f64)>,
    threads: Vec<(String, Option<f64>)>,
    functions: Vec<(String, f64)>,
    /// Functions that are named alone.
    named: Vec<String>,
    /// Chains of calls, and whether somebody waits there.
    stacks: Vec<(bool, Vec<String>)>,
}

impl Said {
    /// Hands the items over; `false` when there are none.
    fn add(self, lines: &[Line], how: &str, sink: &mut Sink) -> bool {
        if self == Said::default() || is_full(&sink.said) {
            return false;
        }
        let place = sink.place(lines);
        let said = &mut sink.said;
        let origin: OriginId = said.origin(format!("{place}: {how}"));
        said.host.fill(&self.host);
        said.params.extend(self.params.into_iter().map(|(name, value)| Param { name, value, origin }));
        let properties = self.properties.into_iter();
        said.properties.extend(properties.map(|(dataset, name, value)| Property {
            dataset,
            name,
            value,
            origin,
        }));
        said.kstats.extend(self.kstats.into_iter().map(|(source, name, value)| Kstat {
            source: source.to_owned(),
            name,
            value,
            rate: None,
            origin,
        }));
        said.flat.extend(self.functions.into_iter().map(|(symbol, pct)| FlatRow {
            pct: Some(pct),
            symbol,
            origin,
            ..FlatRow::default()
        }));
        let named = |symbol| FlatRow { symbol, origin, ..FlatRow::default() };
        said.flat.extend(self.named.into_iter().map(named));
        let stack = |(waiting, frames)| PctStack { waiting, frames, origin, ..PctStack::default() };
        said.trees.extend(self.stacks.into_iter().map(stack));
        let thread = |(comm, cpu_pct)| ThreadCpu { comm, cpu_pct, origin, ..ThreadCpu::default() };
        said.threads.extend(self.threads.into_iter().map(thread));
        true
    }

    fn clause(&mut self, clause: &str) {
        const MOST_WORDS: usize = 80;
        if clause.len() > 2000 {
            return;
        }
        let hedged = is_hedged(clause);
        let clause = per_cent(clause);
        let words: Vec<&str> =
            clause.split_whitespace().map(bare).filter(|w| !w.is_empty()).take(MOST_WORDS).collect();
        if hedged {
            // What a stack shows is so, whatever else is asked or supposed.
            self.told(functions::listed(&words));
            return;
        }
        for at in 0..words.len() {
            self.setting(&words, at);
            self.spoken(&words, at);
            self.version(&words, at);
            self.memory(&words, at);
            self.figure(&words, at);
            self.functions.extend(functions::share(&words, at));
        }
        self.thread(&words);
        self.told(functions::told(&words));
    }

    /// `recordsize=1M`, `recordsize of 1M`, `zfs_arc_max=0`, `arc_meta_used 30G`.
    fn setting(&mut self, words: &[&str], at: usize) {
        let (name, value) = match words[at].split_once(['=', ':']) {
            Some((name, value)) if !value.is_empty() => (name, value),
            _ => {
                let name = words[at].trim_end_matches([':', '=']);
                let Some(value) = value_after(words, at) else { return };
                (name, value)
            }
        };
        let assigned = words[at].contains('=');
        if assigned && words[at + 1..].iter().take(6).any(|w| WORDS.helped.has(&w.to_ascii_lowercase())) {
            return;
        }
        if is_setting(name, value) {
            self.properties.push((None, name.to_owned(), value.to_owned()));
        } else if assigned && is_plain_value(bare(value)) && WORDS.kernel_parameters.has(name) {
            self.params.push((name.to_owned(), bare(value).to_owned()));
        } else if let Some(name) = spoken::parameter(name).filter(|_| assigned && is_plain_value(bare(value)))
        {
            self.params.push((name, bare(value).to_owned()));
        } else if (WORDS.arcstats.has(name) || is_arcstats(words) && ARC_SIZES.contains(&name))
            && let Some(figure) = joined_size(words, value)
        {
            self.kstats.push(("arcstats", name.to_owned(), figure));
        }
    }

    /// A setting as nobody types it: `8k record size`, `dedup is enabled`.
    fn spoken(&mut self, words: &[&str], at: usize) {
        let Some((name, value)) = spoken::property(words, at) else { return };
        if !self.properties.iter().any(|(_, said, _)| said == name) {
            self.properties.push((None, name.to_owned(), value));
        }
    }

    /// `zfs 0.8.3`, `kernel 5.4.0-42-generic`, `Ubuntu 20.04`, `zfs-2.1.4-1`.
    fn version(&mut self, words: &[&str], at: usize) {
        let lower = words[at].to_ascii_lowercase();
        let Host { zfs_version: zfs, kernel, os, .. } = &mut self.host;
        let set = |slot: &mut Option<String>, text: &str| {
            slot.get_or_insert_with(|| text.to_owned());
        };
        match spoken::release(words[at]) {
            Some(Release::Zfs(version)) => set(zfs, version),
            Some(Release::Kernel(version)) => set(kernel, version),
            None => {}
        }
        // `a 5.2.9 kernel`, but not `zfs 2.1.5 kernel 5.15`.
        let is = |word: Option<&&str>, name: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(name));
        let before = at.checked_sub(1).and_then(|b| words.get(b)).map_or("", |w| w);
        if is(words.get(at + 1), "kernel")
            && is_version(words[at])
            && words[at].matches('.').count() == 2
            && !words.get(at + 2).is_some_and(|w| is_version(w))
            && !before.to_ascii_lowercase().contains("zfs")
        {
            set(kernel, words[at]);
        }
        let mut next = at + 1;
        if words
            .get(next)
            .is_some_and(|w| matches!(w.to_ascii_lowercase().as_str(), "version" | "v" | "release"))
        {
            next += 1;
        }
        let Some(value) = words.get(next).map(|w| w.trim_start_matches(['v', 'V'])) else { return };
        let version = is_version(value);
        match lower.as_str() {
            "zfs" | "openzfs" | "zol" | "zfsonlinux" | "zfs-dkms" | "zfsutils-linux" | "zfs-kmod"
                if version && value.contains('.') =>
            {
                set(zfs, value);
            }
            "kernel" | "linux" if version && value.matches('.').count() >= 1 => set(kernel, value),
            "ubuntu" | "debian" | "centos" | "fedora" | "rhel" | "proxmox" | "truenas" | "freebsd"
            | "nixos" | "rocky" | "almalinux" | "opensuse" | "gentoo"
                if value.starts_with(|c: char| c.is_ascii_digit()) && value.len() < 30 =>
            {
                set(os, &format!("{} {value}", words[at]));
            }
            _ => {}
        }
    }

    /// `256GB RAM`, `256 GB of memory`, `RAM 256GB`.
    fn memory(&mut self, words: &[&str], at: usize) {
        if !matches!(words[at].trim_end_matches(':').to_ascii_lowercase().as_str(), "ram" | "memory") {
            return;
        }
        let before = words[..at].strip_suffix(&["of"]).unwrap_or(&words[..at]);
        let size = |words: &[&str]| match words {
            [.., figure, unit] if is_memory_unit(unit) => {
                cells::bytes(&format!("{figure}{}", unit.to_uppercase()))
            }
            [.., figure]
                if is_memory_unit(figure.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')) =>
            {
                cells::bytes(&figure.to_uppercase())
            }
            _ => None,
        };
        let after: Vec<&str> = words[at + 1..].iter().take(2).copied().collect();
        let after = size(&after).or_else(|| after.first().and_then(|f| size(&[f])));
        // Programs use memory too; a host has it in whole gibibytes.
        let of_host = |bytes: &f64| *bytes >= 1024f64.powi(3) && (bytes / 1024f64.powi(3)).fract() == 0.0;
        let other = words.iter().any(|w| WORDS.others_memory.has(&w.to_ascii_lowercase()));
        if let Some(bytes) = size(before).or(after).filter(of_host).filter(|_| !other) {
            self.kstats.push(("meminfo", "MemTotal".to_owned(), bytes));
        }
    }

    /// `the pool is 95% full`, `compressratio is 1.00x`, `the ARC is limited to 8 GB`.
    fn figure(&mut self, words: &[&str], at: usize) {
        match figures::figure(words, at) {
            Some(Figure::Property(name, value)) => self.properties.push((None, name.to_owned(), value)),
            Some(Figure::Kstat(source, name, value)) => self.kstats.push((source, name.to_owned(), value)),
            Some(Figure::Param(name, value)) => self.params.push((name, value)),
            None => {}
        }
    }

    /// Functions that no figure of the clause belongs to.
    fn told(&mut self, told: functions::Told) {
        for mut chain in told.chains {
            if chain.len() > 1 || told.waiting {
                self.stacks.push((told.waiting, chain));
            } else if let Some(name) = chain.pop()
                && !self.functions.iter().any(|(known, _)| *known == name)
            {
                self.named.push(name);
            }
        }
    }

    /// `arc_prune uses 100% CPU`, `100 % CPU in z_wr_iss`: a figure belongs to the only name. Several names, or no figure
    /// beside a word for a busy thread, are names alone.
    fn thread(&mut self, words: &[&str]) {
        let lower: Vec<String> = words.iter().map(|w| w.to_ascii_lowercase()).collect();
        let name = |w: &&str| w.contains('_') && !w.ends_with(')') && zwhy_zfs::thread_role(w).is_some();
        let mut names: Vec<&str> = words.iter().map(|w| in_braces(w)).filter(|w| name(w)).collect();
        names.sort_unstable();
        names.dedup();
        let says = |list: &[&str]| lower.iter().any(|w| list.contains(&w.as_str()));
        let busy = lower.iter().any(|w| WORDS.busy.has(w));
        if !says(&["cpu", "cpus", "core", "cores", "pegged", "pegs", "spinning", "spins"])
            || says(&["io", "i/o", "disk", "util", "iowait", "iotop"])
        {
            return;
        }
        let percent = |at: usize| {
            let word = words[at].trim_start_matches('~');
            if let Some(figure) = word.strip_suffix('%') {
                return numbers::number(figure);
            }
            let apart = words.get(at + 1).is_some_and(|w| *w == "%" || w.eq_ignore_ascii_case("percent"));
            apart.then(|| numbers::number(word)).flatten()
        };
        let figures: Vec<f64> = (0..words.len()).filter_map(percent).collect();
        // Of all processors, or of an unknown number of them: the name is all that is sure.
        let several = says(&["all", "every", "each", "total", "both", "multiple", "many"]);
        match (&names[..], &figures[..]) {
            ([comm], [pct]) if !several && *pct > 0.0 && *pct < 1e5 => {
                self.threads.push(((*comm).to_owned(), Some(*pct)));
            }
            ([comm], [_]) => self.threads.push(((*comm).to_owned(), None)),
            (names, []) if busy && names.len() <= MOST_BUSY => {
                self.threads.extend(names.iter().map(|comm| ((*comm).to_owned(), None)));
            }
            _ => {}
        }
    }
}

/// Threads that one clause calls busy, at most; more are a list of what there is.
const MOST_BUSY: usize = 3;

/// FreeBSD's `kernel{arc_prune}` is `arc_prune`.
fn in_braces(word: &str) -> &str {
    word.split_once('{').and_then(|(_, thread)| thread.strip_suffix('}')).unwrap_or(word)
}

fn is_memory_unit(word: &str) -> bool {
    ["gb", "gib", "tb", "tib", "g"].iter().any(|unit| word.eq_ignore_ascii_case(unit))
}

/// A word without the marks that Markdown and punctuation put around it; a function keeps its `()`, as threads are
/// called like some.
fn bare(word: &str) -> &str {
    let unmarked = word.trim_matches(['`', '*', '"', '\'', ',', '.', ':']);
    if unmarked.ends_with("()") && !unmarked.starts_with('(') {
        return unmarked;
    }
    let word = word.trim_matches(['`', '*', '"', '\'', '(', ')', ',', '|', '[', ']', '“', '”']);
    word.trim_end_matches(['.', ',', ')', '`'])
}

/// `57 %` and `57 percent` as `57%`.
fn per_cent(clause: &str) -> std::borrow::Cow<'_, str> {
    const SPELLINGS: [&str; 4] = [" %", " percent", " per cent", " pct"];
    if !SPELLINGS.iter().any(|s| clause.contains(s)) {
        return clause.into();
    }
    let mut text = clause.to_owned();
    for spelling in SPELLINGS {
        let parts: Vec<&str> = text.split(spelling).collect();
        let mut joined = String::with_capacity(text.len());
        for (i, part) in parts.iter().enumerate() {
            joined.push_str(part);
            if i + 1 < parts.len() {
                let ends = parts[i + 1].chars().next().is_none_or(|c| !c.is_alphanumeric());
                let figure = part.ends_with(|c: char| c.is_ascii_digit());
                joined.push_str(if figure && ends { "%" } else { spelling });
            }
        }
        text = joined;
    }
    text.into()
}

/// The word that a name's value is: the next, behind `of`, `is`, `at`, `=`, `set to`.
fn value_after<'w>(words: &[&'w str], at: usize) -> Option<&'w str> {
    const LINKS: [&str; 11] =
        ["of", "is", "at", "=", ":", "set", "to", "around", "about", "being", "currently"];
    words[at + 1..].iter().take(4).find(|w| !LINKS.contains(*w)).copied()
}

/// A size whose unit may stand apart: `30 GiB`.
fn joined_size(words: &[&str], value: &str) -> Option<f64> {
    let unit = words.iter().position(|w| *w == value).and_then(|at| words.get(at + 1)).copied().unwrap_or("");
    let apart = matches!(unit, "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB");
    if apart { cells::bytes(&format!("{value}{unit}")) } else { cells::bytes(value) }
}

fn is_plain_value(value: &str) -> bool {
    value.len() < 40 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// `0.8.3`, `5.4.0-42-generic`, `2.1.5-1ubuntu6`.
fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains('.')
        && text.len() < 40
        && !text.ends_with(['x', '%'])
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+~_".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let mut found = Said::default();
        clauses(text).for_each(|c| found.clause(c));
        let mut out: Vec<String> = Vec::new();
        out.extend(found.host.zfs_version.map(|v| format!("zfs {v}")));
        out.extend(found.host.kernel.map(|v| format!("kernel {v}")));
        out.extend(found.host.os.map(|v| format!("os {v}")));
        out.extend(found.params.iter().map(|(n, v)| format!("param {n}={v}")));
        out.extend(found.properties.iter().map(|(_, n, v)| format!("{n}={v}")));
        out.extend(found.kstats.iter().map(|(s, n, v)| format!("{s}.{n}={v}")));
        out.extend(found.threads.iter().map(|(c, p)| format!("{c} {p:?}")));
        out.join(" ")
    }

    #[test]
    fn marked_figures_are_read() {
        for (text, want) in [
            ("z_wr_iss threads use 100 % CPU", "z_wr_iss Some(100.0)"),
            ("z_wr_iss threads use 100 percent CPU", "z_wr_iss Some(100.0)"),
            ("I see arc_prune at ~99,5% CPU.", "arc_prune Some(99.5)"),
            ("100% cpu in `arc_evict` on all cores", "arc_evict None"),
            (
                "We run zfs 0.8.3 on Ubuntu 20.04, kernel 5.4.0-42-generic.",
                "zfs 0.8.3 kernel 5.4.0-42-generic os Ubuntu 20.04",
            ),
            ("Ubuntu 20.04, stock zfs-dkms 0.8.3-1ubuntu12.4", "zfs 0.8.3-1ubuntu12.4 os Ubuntu 20.04"),
            ("The dataset has `recordsize=1M` and compression=gzip-9.", "recordsize=1M compression=gzip-9"),
            ("recordsize of 128K, encryption aes-256-ccm", "recordsize=128K encryption=aes-256-ccm"),
            ("- RAM: 256GB", "meminfo.MemTotal=274877906944"),
            ("it has 64 GB of RAM", "meminfo.MemTotal=68719476736"),
            (
                "arc_meta_used 30G, arc_meta_limit is 20 GiB",
                "arcstats.arc_meta_used=32212254720 arcstats.arc_meta_limit=21474836480",
            ),
            ("arcstats: c 33776195584 size 33759021144", "arcstats.c=33776195584 arcstats.size=33759021144"),
            ("The pool is 95% full; fragmentation 80%", "capacity=95% fragmentation=80%"),
            ("There are about 5000 snapshots here", "snapshot_count=5000"),
            ("I set zfs_arc_max=8589934592", "param zfs_arc_max=8589934592"),
            ("setting vfs.zfs.arc.max=\"34359738368\" here", "param zfs_arc_max=34359738368"),
            ("I had zfs.zfs_arc_max=2147483648 included", "param zfs_arc_max=2147483648"),
            ("deduplication is enabled, with an 8k record size", "dedup=on recordsize=8K"),
            ("The pool is at 94% capacity", "capacity=94%"),
            ("With zstd the compressratio is 1.00x.", "compressratio=1.00x"),
            (
                "The ARC is limited to 8 GB; zfs_txg_timeout is 30",
                "param zfs_txg_timeout=30 arcstats.c_max=8589934592",
            ),
            ("a total of 32gb of ram", "meminfo.MemTotal=34359738368"),
            ("[arc_prune] processes are eating up all available cpu", "arc_prune None"),
            ("the CPU is very busy in `arc_evict` and `arc_prune`", "arc_evict None arc_prune None"),
            ("kernel{arc_prune} is pegged at 100 percent", "arc_prune Some(100.0)"),
            ("zfs-0.8.1 with the 5.2.9 kernel", "zfs 0.8.1 kernel 5.2.9"),
            ("zfs_prefetch_disable=1 doubled the throughput", ""),
            ("atime=off helps a bit", ""),
            ("with zfs_prefetch_disable=1 the latency of reads halves", ""),
            ("on 96 cores arc_prune takes 9,400 % of the CPU", "arc_prune Some(9400.0)"),
            ("zfs 2.1.5 kernel 5.15.0", "zfs 2.1.5 kernel 5.15.0"),
            ("zfs-2.1.6-2 on Debian with 6.0.0-2-amd64", "zfs 2.1.6-2 kernel 6.0.0-2-amd64"),
        ] {
            assert_eq!(said(text), want, "{text}");
        }
    }

    #[test]
    fn questions_advice_and_other_times_say_nothing() {
        for text in [
            "Did you try recordsize=1M?",
            "You should set compression=lz4",
            "With zfs 0.7.13 it was fine before",
            "upgraded from zfs 0.7.13 to 0.8.3",
            "txg_sync shows 99% IO on one CPU in iotop",
            "arc_prune and arc_evict use 100% CPU",
            "arc_adjust() takes about 50% of one CPU",
            "compression is good",
            "the memory of 50% users",
            "a process using 16GB RAM",
            "zfs is 2.5x slower",
            "the compression ratio was 1.5",
        ] {
            assert_eq!(said(text), "", "{text}");
        }
    }
}
