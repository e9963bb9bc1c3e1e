//! What tables and counters say by themselves, in plain words: observations, not causes.
//!
//! Invariant: each sentence repeats figures of one table or kstat; nothing is concluded from them. They
//! stand in an answer that names no cause, so that its reader learns what the evidence does show.

use crate::facts::leading_number;
use zwhy_evidence::{Evidence, Table};
use zwhy_zfs::format_bytes;

/// What the evidence says, and which tables need not be named beside it.
#[derive(Default)]
pub struct Observations {
    pub sentences: Vec<String>,
    /// Tools of the tables, and sources of the kstats, that a sentence is of.
    pub told: Vec<String>,
}

/// The observations of all evidence that has any, tables first, in their order.
pub fn observations(evidence: &Evidence) -> Observations {
    let mut all = Observations::default();
    for table in &evidence.tables {
        let sentence = of_table(table);
        let computed = table.tool == "quantiles" && sentence.is_some();
        all.add(&table.tool, sentence);
        if computed {
            // They are computed from a histogram of the same lines.
            let same = evidence.tables.iter().filter(|t| t.origin == table.origin);
            all.told.extend(same.map(|t| t.tool.clone()));
        }
    }
    let property = |name: &str| evidence.properties.iter().find(|p| p.name == name).map(|p| p.value.as_str());
    let scan = property("scan").filter(|scan| scan.contains("in progress"));
    let scan = scan.and_then(|scan| scan.split_whitespace().next());
    all.add("zpool status", scan.map(|what| format!("a {what} is in progress")));
    let full = property("capacity").and_then(leading_number);
    all.add("zpool list", full.map(|percent| format!("the pool is {} % full", plain(percent))));
    all.add("arcstats", arc(evidence));
    all.add("dmu_tx", delays(evidence));
    let entries = evidence.kstats.iter().find(|k| k.name == "entries" && k.source.ends_with("ddt"));
    let entries = entries.map(|k| (k.source.clone(), format!("the dedup table has {:.0} entries", k.value)));
    if let Some((source, sentence)) = entries {
        all.told.extend(["zdb -D".to_owned(), "zdb -DD".to_owned(), "zpool status -D".to_owned()]);
        all.add(&source, Some(sentence));
    }
    all
}

impl Observations {
    fn add(&mut self, source: &str, sentence: Option<String>) {
        if let Some(sentence) = sentence.filter(|s| !self.sentences.contains(s)) {
            self.sentences.push(sentence);
            self.told.push(source.to_owned());
        }
    }
}

fn of_table(table: &Table) -> Option<String> {
    let t = Rows { table };
    match table.tool.as_str() {
        "zpool status" => errors(&t),
        "zpool iostat" => rates(&t),
        "kernel log" => events(&t),
        "zpool iostat -l" | "zpool iostat -lq" => waits(&t),
        "zpool iostat -q" => queues(&t),
        "quantiles" => quantiles(&t),
        "iostat" => busiest_disk(&t),
        "txgs" => txgs(&t),
        "taskq" => task_queues(&t),
        "top" => cpu(&t, ["sy", "id", "wa"]),
        "vmstat" => cpu(&t, ["sy", "id", "wa"]),
        "avg-cpu" => cpu(&t, ["%system", "%idle", "%iowait"]),
        "dstat" => cpu(&t, ["sys", "idl", "wai"]),
        "dd" => copy(&t),
        "time" => command(&t),
        "zdb -m" => metaslabs(&t),
        "iotop" => waiting_thread(&t),
        "slabtop" => largest_cache(&t, "cache size"),
        "spl kmem slab" => largest_cache(&t, "size").or_else(|| largest_cache(&t, "alloc")),
        "fio" => benchmark(&t),
        _ => None,
    }
}

/// A table asked by the names of its columns.
struct Rows<'a> {
    table: &'a Table,
}

impl<'a> Rows<'a> {
    fn rows(&self) -> impl Iterator<Item = &'a Vec<String>> + use<'a> {
        self.table.rows.iter()
    }

    fn text(&self, row: &'a [String], column: &str) -> Option<&'a str> {
        let at = self.table.columns.iter().position(|c| c == column)?;
        row.get(at).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    fn number(&self, row: &'a [String], column: &str) -> Option<f64> {
        leading_number(self.text(row, column)?)
    }

    /// The row with the largest figure in a column, and the figure.
    fn most(&self, column: &str) -> Option<(&'a Vec<String>, f64)> {
        self.largest(|row| self.number(row, column))
    }

    /// As [`Rows::most`], of any figure of a row; of equals the first.
    fn largest(&self, figure: impl Fn(&[String]) -> Option<f64>) -> Option<(&'a Vec<String>, f64)> {
        let figures = self.rows().filter_map(|row| Some((row, figure(row)?)));
        figures.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// Devices with errors; what stands above them in the tree repeats theirs.
fn errors(t: &Rows) -> Option<String> {
    const MOST: usize = 3;
    const GROUPS: [&str; 5] = ["mirror-", "raidz", "draid", "replacing-", "spare-"];
    let device = |row: &&Vec<String>| {
        let name = t.text(row, "name").unwrap_or("");
        let is_pool = t.text(row, "pool").is_some_and(|pool| pool == name);
        !is_pool && !GROUPS.iter().any(|group| name.starts_with(group))
    };
    let of = |row: &Vec<String>| {
        let kinds = [("read", "read"), ("write", "write"), ("cksum", "checksum")];
        let found = kinds.iter().filter_map(|(column, what)| {
            let n = t.number(row, column).filter(|n| *n > 0.0)?;
            Some(format!("{n:.0} {what}"))
        });
        let found: Vec<String> = found.collect();
        let name = t.text(row, "name")?;
        (!found.is_empty()).then(|| format!("{name} has {} errors", found.join(" and ")))
    };
    let found: Vec<String> = t.rows().filter(device).filter_map(of).take(MOST).collect();
    if found.is_empty() {
        return t.rows().next().map(|_| "no device listed has errors".to_owned());
    }
    Some(format!("device {}", found.join(", device ")))
}

/// The row that moves most; the first row of a report is the mean since the pool was imported.
fn rates(t: &Rows) -> Option<String> {
    let (row, _) = t.largest(|row| Some(t.number(row, "r bw")? + t.number(row, "w bw")?))?;
    let most = if t.table.rows.len() > 1 { " at most" } else { "" };
    let (read, written) = (t.text(row, "r bw")?, t.text(row, "w bw")?);
    Some(format!("{} reads {read} and writes {written} a second{most}", row.first()?))
}

/// What the kernel reports of tasks, each kind once.
fn events(t: &Rows) -> Option<String> {
    const MOST: usize = 3;
    let mut told: Vec<String> = Vec::new();
    for row in t.rows() {
        let Some(event) = t.text(row, "event") else { continue };
        let task = t.text(row, "task").map_or(String::new(), |task| format!(" of {task}"));
        let lasted = t.text(row, "lasted s").map_or(String::new(), |s| format!(" ({s} s)"));
        let one = format!("{event}{task}{lasted}");
        if told.len() < MOST && !told.contains(&one) {
            told.push(one);
        }
    }
    (!told.is_empty()).then(|| format!("the kernel reports: {}", told.join(", ")))
}

/// The longest wait, and how much of it was on the device.
fn waits(t: &Rows) -> Option<String> {
    let of = |what| {
        let (row, all) = t.most(&format!("total_wait {what} ns")).filter(|(_, ns)| *ns > 0.0)?;
        Some((what, row, all, t.number(row, &format!("disk_wait {what} ns"))?))
    };
    let both = ["read", "write"].into_iter().filter_map(of);
    let (what, row, all, disk) = both.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let name = row.first()?;
    Some(format!("{what}s of {name} take {} on average, of which {} on the device", time(all), time(disk)))
}

/// What waits in the queues of ZFS.
fn queues(t: &Rows) -> Option<String> {
    let pending = t.table.columns.iter().filter(|c| c.ends_with(" pend"));
    let most = pending.filter_map(|c| Some((c, t.most(c)?.1)));
    let (column, n) = most.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    Some(match n {
        n if n <= 0.0 => "no request waits in a queue of the pool".to_owned(),
        n => format!("up to {n:.0} requests wait in {}", column.trim_end_matches(" pend")),
    })
}

/// A histogram in two figures: that of the devices where there are several.
fn quantiles(t: &Rows) -> Option<String> {
    let is_disk = |row: &[String]| t.text(row, "of").is_some_and(|of| of.contains("disk_wait"));
    let of_disks = t.largest(|row| t.number(row, "p99").filter(|_| is_disk(row)));
    let (row, p99) = of_disks.or_else(|| t.most("p99"))?;
    let at = |column: &str| t.table.columns.iter().position(|c| c == column).and_then(|at| row.get(at));
    let (of, unit) = (at("of")?, at("unit").map_or("", String::as_str));
    let p50 = leading_number(at("p50")?)?;
    let show = |value: f64| match unit {
        "ns" => time(value),
        "bytes" => format_bytes(value as u64),
        _ => plain(value),
    };
    Some(format!("median {of} {}, 99th percentile {}", show(p50), show(p99)))
}

fn busiest_disk(t: &Rows) -> Option<String> {
    let (row, busy) = t.most("%util")?;
    let await_ms = ["await", "r_await", "w_await"].iter().filter_map(|c| t.number(row, c)).reduce(f64::max);
    let await_ms = await_ms.map_or(String::new(), |ms| format!(" with {} a request", time(ms * 1e6)));
    Some(format!("the busiest disk, {}, is busy {} % of the time{await_ms}", row.first()?, plain(busy)))
}

/// How long transaction groups take; rows that are still open have no figures.
fn txgs(t: &Rows) -> Option<String> {
    let done: Vec<&Vec<String>> = t.rows().filter(|r| t.text(r, "state") == Some("C")).collect();
    let figures = |column: &str| done.iter().filter_map(|r| t.number(r, column)).collect::<Vec<f64>>();
    let (sync, written) = (figures("stime"), figures("nwritten"));
    let longest = sync.iter().copied().reduce(f64::max)?;
    let mean = sync.iter().sum::<f64>() / sync.len() as f64;
    let idle = !written.is_empty() && written.iter().all(|w| *w == 0.0);
    let idle = if idle { ", and nothing was written in them" } else { "" };
    let n = sync.len();
    Some(format!("{n} txgs took {} to sync on average, {} at most{idle}", time(mean), time(longest)))
}

/// Queues whose threads all work.
fn task_queues(t: &Rows) -> Option<String> {
    const MOST: usize = 3;
    let full = t.rows().filter_map(|row| {
        let (active, threads) = (t.number(row, "act")?, t.number(row, "nthr")?);
        (active > 0.0 && active >= threads).then(|| format!("{} ({active:.0})", row[0]))
    });
    let full: Vec<String> = full.take(MOST).collect();
    let any = t.rows().any(|row| t.number(row, "act").is_some_and(|n| n > 0.0));
    match (full.is_empty(), any) {
        (false, _) => Some(format!("all threads of {} are busy", full.join(", "))),
        (true, true) => None,
        (true, false) => Some("no listed task queue has a busy thread".to_owned()),
    }
}

/// What the processors do, by the names of the columns in the kernel, idle and waiting; of several rows
/// that with most time in the kernel.
fn cpu(t: &Rows, [system, idle, waits]: [&str; 3]) -> Option<String> {
    if let Some(load) = t.rows().next().and_then(|row| t.number(row, "load1")) {
        return Some(format!(
            "the load average is {} (on Linux tasks that wait for a disk count too)",
            plain(load)
        ));
    }
    let (row, system) = t.most(system)?;
    let most = if t.table.rows.len() > 1 { "at most " } else { "" };
    let idle = t.number(row, idle)?;
    // What tools call waiting is idle time of a CPU that some I/O was started from.
    let waits = t.number(row, waits).filter(|wa| *wa >= 1.0);
    let waits = waits.map_or(String::new(), |wa| format!(" and {} % iowait", plain(wa)));
    Some(format!("of all CPU time {most}{} % is in the kernel, {} % idle{waits}", plain(system), plain(idle)))
}

fn copy(t: &Rows) -> Option<String> {
    let rate = t.rows().filter_map(|row| t.number(row, "MB/s")).reduce(f64::min)?;
    Some(format!("dd moves {} MB a second", plain(rate)))
}

/// How much of a command's time was CPU; the rest it waited.
fn command(t: &Rows) -> Option<String> {
    let (row, real) = t.most("real s")?;
    let cpu = t.number(row, "user s")? + t.number(row, "sys s")?;
    let most = if t.table.rows.len() > 1 { "the longest" } else { "a" };
    Some(format!("{most} timed command took {}, of which {} on a CPU", time(real * 1e9), time(cpu * 1e9)))
}

fn metaslabs(t: &Rows) -> Option<String> {
    let (row, _) = t.most("free")?;
    let n = t.table.rows.len();
    let worst = t
        .most("fragmentation %")
        .map_or(String::new(), |(_, f)| format!(", highest fragmentation {} %", plain(f)));
    Some(format!("of {n} listed metaslabs the emptiest has {} free{worst}", t.text(row, "free")?))
}

/// Who waits for I/O most of its time, which is no CPU, or else who reads most.
fn waiting_thread(t: &Rows) -> Option<String> {
    let name = |row| t.text(row, "command").map(|c| c.trim_matches(['[', ']']));
    if let Some((row, part)) = t.most("io %").filter(|(_, part)| *part >= 1.0) {
        return Some(format!(
            "{} waits for I/O {} % of its time, which takes no CPU",
            name(row)?,
            plain(part)
        ));
    }
    let (row, _) = t.most("disk read").filter(|(_, read)| *read > 0.0)?;
    Some(format!("{} reads {} according to iotop", name(row)?, t.text(row, "disk read")?))
}

fn largest_cache(t: &Rows, column: &str) -> Option<String> {
    let (row, bytes) = t.most(column).filter(|(_, bytes)| *bytes > 0.0)?;
    Some(format!(
        "the largest slab cache listed is {} with {}",
        t.text(row, "name")?,
        format_bytes(bytes as u64)
    ))
}

fn benchmark(t: &Rows) -> Option<String> {
    let row = t.rows().next()?;
    let name = t.text(row, "job").or_else(|| t.text(row, "rw"))?;
    let latency = t.number(row, "lat avg ns").or_else(|| t.number(row, "clat avg ns"));
    let latency = latency.map_or(String::new(), |ns| format!(" of {} on average", time(ns)));
    Some(format!("fio's {name} does {} operations a second{latency}", plain(t.number(row, "iops")?)))
}

/// Size, target and misses of the ARC.
fn arc(evidence: &Evidence) -> Option<String> {
    let value = |name: &str| evidence.kstat("arcstats", name).map(|k| k.value).filter(|v| *v >= 0.0);
    let misses = value("hits").zip(value("misses")).filter(|(hits, misses)| hits + misses > 0.0);
    let misses = misses
        .map(|(hits, misses)| format!("{} % of its lookups missed", plain(100.0 * misses / (hits + misses))));
    let size = value("size").map(|size| {
        let target =
            value("c").map_or(String::new(), |c| format!(" of a target of {}", format_bytes(c as u64)));
        format!("the ARC holds {}{target}", format_bytes(size as u64))
    });
    match (size, misses) {
        (Some(size), Some(misses)) => Some(format!("{size}, {misses}")),
        (Some(size), None) => Some(size),
        (None, Some(misses)) => Some(format!("of the ARC {}", misses.replace("its lookups", "all lookups"))),
        (None, None) => None,
    }
}

/// Transactions that the write throttle held up.
fn delays(evidence: &Evidence) -> Option<String> {
    let value = |name: &str| evidence.kstat("dmu_tx", name).map(|k| k.value);
    let (assigned, delayed) =
        (value("dmu_tx_assigned")?, value("dmu_tx_delay").or(value("dmu_tx_dirty_delay"))?);
    (assigned > 0.0).then(|| format!("of {assigned:.0} transactions {delayed:.0} were delayed"))
}

/// Nanoseconds as people say them.
fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", plain(ns)),
        ns if ns < 1e6 => format!("{} µs", plain(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", plain(ns / 1e6)),
        ns => format!("{} s", plain(ns / 1e9)),
    }
}

/// Three digits are enough for a sentence.
fn plain(value: f64) -> String {
    let digits = match value.abs() {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Fixture;

    fn said(evidence: &str) -> String {
        let fixture: Fixture = toml::from_str(evidence).unwrap();
        observations(&fixture.evidence().0).sentences.join("; ")
    }

    fn table(tool: &str, columns: &str, rows: &str) -> String {
        let list = |text: &str| text.split('|').map(|c| format!("{c:?}")).collect::<Vec<_>>().join(", ");
        let rows: Vec<String> = rows.split('/').map(|r| format!("[{}]", list(r))).collect();
        format!(
            "tables = [{{ tool = {tool:?}, columns = [{}], rows = [{}] }}]",
            list(columns),
            rows.join(", ")
        )
    }

    #[test]
    fn each_table_says_its_figures() {
        for (tool, columns, rows, want) in [
            (
                "zpool status",
                "pool|name|state|read|write|cksum",
                "t|t|ONLINE|701|0|0/t|mirror-0|ONLINE|701|0|0/t|z2|ONLINE|701|0|0/t|z3|ONLINE|0|2|129",
                "device z2 has 701 read errors, device z3 has 2 write and 129 checksum errors",
            ),
            (
                "zpool status",
                "pool|name|state|read|write|cksum",
                "t|t|ONLINE|0|0|0",
                "no device listed has errors",
            ),
            (
                "zpool iostat -l",
                "pool|total_wait read ns|total_wait write ns|disk_wait read ns|disk_wait write ns",
                "tank|-|41000000|-|2000000",
                "writes of tank take 41 ms on average, of which 2 ms on the device",
            ),
            (
                "zpool iostat -q",
                "pool|syncq_read pend|asyncq_write pend",
                "t|0|12",
                "up to 12 requests wait in asyncq_write",
            ),
            ("zpool iostat -q", "pool|syncq_read pend", "t|0", "no request waits in a queue of the pool"),
            (
                "quantiles",
                "of|unit|count|p50|p90|p99|max",
                "t total_wait read|ns|9|1|1|99000000|1/t disk_wait read|ns|9|34000000|1|67000000|1",
                "median t disk_wait read 34 ms, 99th percentile 67 ms",
            ),
            (
                "iostat",
                "Device|await|%util",
                "sda|10.10|18.60/sdb|5.5|5",
                "the busiest disk, sda, is busy 18.6 % of the time with 10.1 ms a request",
            ),
            (
                "txgs",
                "txg|state|nwritten|stime",
                "1|C|0|700000/2|C|0|900000/3|S|0|0",
                "2 txgs took 800 µs to sync on average, 900 µs at most, and nothing was written in them",
            ),
            ("taskq", "taskq|act|nthr", "z_wr_iss|12|12/zvol|0|1", "all threads of z_wr_iss (12) are busy"),
            ("taskq", "taskq|act|nthr", "z_wr_iss|0|1", "no listed task queue has a busy thread"),
            (
                "top",
                "us|sy|id|wa",
                "4|3|52|41",
                "of all CPU time 3 % is in the kernel, 52 % idle and 41 % iowait",
            ),
            (
                "zdb -m",
                "metaslab|free|fragmentation %",
                "0|3.08M|83/1|13.0M|",
                "of 2 listed metaslabs the emptiest has 13.0M free, highest fragmentation 83 %",
            ),
            (
                "iotop",
                "tid|io %|command",
                "968|99.99%|[txg_sync]",
                "txg_sync waits for I/O 100 % of its time, which takes no CPU",
            ),
            (
                "fio",
                "job|iops|lat avg ns",
                "w|138|226320000",
                "fio's w does 138 operations a second of 226 ms on average",
            ),
            (
                "zpool iostat",
                "pool|r op|w op|r bw|w bw",
                "t|0|0|460|0/t|2|1.04K|12.5K|7.51M",
                "t reads 12.5K and writes 7.51M a second at most",
            ),
            (
                "kernel log",
                "event|task|lasted s",
                "hung task|zfs|120/hung task|zfs|120/rcu stall||",
                "the kernel reports: hung task of zfs (120 s), rcu stall",
            ),
            (
                "vmstat",
                "r|sy|id|wa",
                "1|4|95|0/21|68|31|1",
                "of all CPU time at most 68 % is in the kernel, 31 % idle and 1 % iowait",
            ),
            (
                "avg-cpu",
                "%user|%system|%iowait|%idle",
                "2|38.18|0|56.5",
                "of all CPU time 38.2 % is in the kernel, 56.5 % idle",
            ),
            (
                "time",
                "command|real s|user s|sys s",
                "ls|21.713|0.164|0.37",
                "a timed command took 21.7 s, of which 534 ms on a CPU",
            ),
            ("dd", "bytes|MB/s", "1|0.425", "dd moves 0.42 MB a second"),
            ("lsblk", "NAME|ROTA", "sda|1", ""),
        ] {
            assert_eq!(said(&table(tool, columns, rows)), want, "{tool}");
        }
        let arc = "kstats = { arcstats = { size = 2147483648, c = 2147483648, hits = 38, misses = 62 } }";
        assert_eq!(said(arc), "the ARC holds 2G of a target of 2G, 62 % of its lookups missed");
        assert_eq!(
            said(r#"props = { scan = "resilver in progress since Mon" }"#),
            "a resilver is in progress"
        );
    }

    #[test]
    fn odd_cells_say_nothing() {
        assert_eq!(said(&table("txgs", "txg|state|stime", "a|C|b")), "");
        assert_eq!(said(&table("top", "us|sy", "1|2")), "");
        assert_eq!(said("kstats = { arcstats = { size = -1, hits = 0, misses = 0 } }"), "");
    }
}
