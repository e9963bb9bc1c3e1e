//! `zwhy top` in the VM: what it says while a fault goes on, and its figures beside those of `zpool iostat`, of `arcstat` and
//! of the kernel.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use zwhy_kernel_tests::scenario::{Scenario, scenarios};
use zwhy_kernel_tests::{Boot, Machine, root};

/// One in the code that runs, one in a cipher, and one that only counters show.
const FAULTS: [&str; 3] = ["gzip-9", "ccm", "arc-limit-small"];
/// From the command to the verdict.
const MOST_SECONDS: f64 = 15.0;
/// The same in a machine whose processors are emulated, beside a load that leaves it little of them: zwhy needs a second
/// and a half of CPU time on hardware, and some twenty times that here.
const MOST_SECONDS_EMULATED: f64 = 240.0;

fn faults() -> Vec<Scenario> {
    scenarios().into_iter().filter(|scenario| FAULTS.contains(&scenario.name.as_str())).collect()
}

fn boot() -> &'static Boot {
    static BOOT: OnceLock<Boot> = OnceLock::new();
    BOOT.get_or_init(|| {
        let guest = ["lib.sh", "scenario.sh"].map(|name| Path::new("tests/kernel/guest").join(name));
        let files: Vec<PathBuf> = faults().into_iter().map(|fault| fault.file).chain(guest).collect();
        let machine = Machine {
            disks: 5,
            disk_mib: 4096,
            special_disks: &[],
            limit: 1800,
            kernel: "init_on_alloc=0",
            debug: false,
            files: &files,
        };
        Boot::run("top", Path::new("tests/kernel/guest/top.sh"), &FAULTS.map(str::to_owned), &machine)
    })
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_fault_is_in_the_first_line_within_fifteen_seconds() {
    let faults = faults();
    assert_eq!(faults.len(), FAULTS.len());
    for fault in faults {
        let line = boot().json(&format!("{}.json", fault.name));
        let finding = &line["verdict"]["finding"];
        let class = finding["class"].as_str().unwrap_or_default().to_owned();
        assert!(fault.expect.contains(&class), "{}: {}", fault.name, line["verdict"]);
        let log = boot().text(&format!("{}.log", fault.name));
        let times: Vec<f64> = log.lines().filter_map(|line| line.parse().ok()).collect();
        let took = times[1] - times[0];
        let _ = writeln!(
            std::io::stderr(),
            "{}: {class}, confidence {}, {took:.1} s: {}",
            fault.name,
            finding["confidence"],
            line["verdict"]["why"]
        );
        let is_kvm = boot().text("clocks").contains("kvm-clock");
        let most = if is_kvm { MOST_SECONDS } else { MOST_SECONDS_EMULATED };
        assert!(took <= most, "{}: {took} s", fault.name);
    }
}

/// Lines of `zwhy top --json`.
fn all_lines() -> Vec<Value> {
    let text = boot().text("beside.json");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// What zwhy asks `zpool` and `zfs` when it begins is in the ones before.
fn lines_before() -> usize {
    boot().text("beside.lines").parse().expect("a number of lines")
}

/// Those between the two readings of the counters, without those that tell of no readings.
fn lines() -> Vec<Value> {
    let until: usize = boot().text("beside.until").parse().expect("a number of lines");
    let between = all_lines().into_iter().take(until).skip(lines_before());
    between.filter(|line| seconds(line) > 0.0).collect()
}

fn seconds(line: &Value) -> f64 {
    line["seconds"].as_f64().unwrap_or(0.0)
}

/// What a figure a second comes to over all lines.
fn sum(lines: &[Value], figure: impl Fn(&Value) -> f64) -> f64 {
    lines.iter().map(|line| figure(line) * seconds(line)).sum()
}

/// A figure of all rows of a table.
fn all(line: &Value, table: &str, figure: &str) -> f64 {
    line[table].as_array().into_iter().flatten().filter_map(|row| row[figure].as_f64()).sum()
}

fn near(what: &str, told: f64, wanted: f64, part: f64) {
    let _ = writeln!(std::io::stderr(), "{what}: zwhy {told:.0}, {wanted:.0}");
    assert!(wanted > 0.0 && (told - wanted).abs() <= wanted * part, "{what}: {told}, {wanted}");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn disks_have_the_bytes_of_the_kernel_and_of_zpool_iostat() {
    let lines = lines();
    let grown = |field: usize| {
        let of = |name: &str| -> f64 {
            let text = boot().text(&format!("diskstats.{name}"));
            let disks = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let disks = disks.filter(|fields| fields[2].starts_with("nvme") && fields[2].ends_with("n1"));
            disks.map(|fields| fields[field].parse::<f64>().expect("a counter") * 512.0).sum()
        };
        of("after") - of("before")
    };
    let read = sum(&lines, |line| all(line, "disks", "read_bytes_s"));
    let written = sum(&lines, |line| all(line, "disks", "written_bytes_s"));
    near("bytes read, of /proc/diskstats", read, grown(5), 0.001);
    near("bytes written, of /proc/diskstats", written, grown(9), 0.001);
    let text = boot().text("beside.iostat");
    let columns: Vec<f64> = text.split_whitespace().skip(5).map(|n| n.parse().expect("a figure")).collect();
    let load: Vec<f64> = boot().text("beside.load").lines().map(|t| t.parse().expect("a time")).collect();
    assert!(load[1] - load[0] < 38.0, "the load went on when zpool iostat ended");
    near("bytes read, of zpool iostat", read, columns[0] * 40.0, 0.03);
    near("bytes written, of zpool iostat", written, columns[1] * 40.0, 0.03);
    near(
        "bytes written by programs",
        sum(&lines, |line| all(line, "datasets", "write_bytes_s")),
        48.0 * 1048576.0,
        0.001,
    );
}

/// Requests of a report of `zpool iostat -Hpvw` by vdev, bucket and column.
fn requests(name: &str) -> BTreeMap<(String, u64, usize), f64> {
    let (mut found, mut vdev) = (BTreeMap::new(), String::new());
    for line in boot().text(name).lines().filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [end, columns @ ..] = &cells[..] else { unreachable!("a line has a cell") };
        if columns.is_empty() {
            vdev = (*end).to_owned();
        }
        for (column, cell) in columns.iter().enumerate() {
            let end = end.parse().expect("the end of a bucket");
            found.insert((vdev.clone(), end, column), cell.parse().expect("requests"));
        }
    }
    found
}

/// Columns of `zpool iostat -w`.
const WAITS: [&str; 11] = [
    "total_wait read",
    "total_wait write",
    "disk_wait read",
    "disk_wait write",
    "syncq_wait read",
    "syncq_wait write",
    "asyncq_wait read",
    "asyncq_wait write",
    "scrub",
    "trim",
    "rebuild",
];

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn latencies_are_those_of_zpool_iostat_to_the_request() {
    let mut told: BTreeMap<(String, u64, usize), f64> = BTreeMap::new();
    // The last report may come later.
    for line in all_lines().into_iter().skip(lines_before()) {
        for vdev in line["latency"].as_array().into_iter().flatten() {
            let name = vdev["vdev"].as_str().expect("a name");
            let name = name.strip_prefix("tank/").unwrap_or(name).to_owned();
            for wait in vdev["waits"].as_array().expect("waits") {
                let column = WAITS.iter().position(|name| wait["wait"] == **name).expect("a column");
                for bucket in wait["buckets"].as_array().expect("buckets") {
                    let end = bucket["most_ns"].as_u64().expect("an end");
                    *told.entry((name.clone(), end, column)).or_default() +=
                        bucket["requests"].as_f64().unwrap_or(0.0);
                }
            }
        }
    }
    let (before, mut wanted) = (requests("latency.before"), requests("latency.after"));
    wanted.iter_mut().for_each(|(place, requests)| *requests -= before[place]);
    wanted.retain(|_, requests| *requests > 0.0);
    let sum = |of: &BTreeMap<_, f64>| of.values().sum::<f64>();
    let _ = writeln!(std::io::stderr(), "requests: zwhy {}, {} of zpool iostat", sum(&told), sum(&wanted));
    assert!(wanted.len() > 20 && told == wanted, "{told:?}\n{wanted:?}");
}

/// Runs `arcstat` with the counters of the first moment when it reads them first, and with those of the second then.
const ARCSTAT: &str = "
import builtins, os, sys
folder, script = sys.argv[1:3]
real, seen = builtins.open, set()
def read(path, *rest, **more):
    if str(path).startswith('/proc/spl/kstat/zfs/'):
        name = os.path.basename(path)
        path = f'{folder}/{name}.' + ('after' if name in seen else 'before')
        seen.add(name)
    return real(path, *rest, **more)
builtins.open = read
sys.argv = [script] + sys.argv[3:]
exec(compile(real(script).read(), script, 'exec'))
";

/// What the real `arcstat` says of the time between the two moments, as if it were a second.
fn arcstat(fields: &str) -> Option<Vec<f64>> {
    let script = [Path::new("/usr/sbin/arcstat").to_owned(), root().join(".tools/zdb/usr/sbin/arcstat")];
    let script = script.into_iter().find(|path| path.exists())?;
    let output = Command::new("python3")
        .args(["-c", ARCSTAT])
        .args([boot().folder(), &script])
        .args(["-p", "-f", fields, "1", "1"])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row = text.lines().rfind(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    row.map(|row| row.split_whitespace().map(|n| n.parse().expect("a figure")).collect())
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_arc_has_the_hits_of_arcstat() {
    let lines = lines();
    let of = |kind: &'static str, figure: &'static str| {
        sum(&lines, move |line| line["arc"][kind][figure].as_f64().unwrap_or(0.0))
    };
    let Some(wanted) = arcstat("read,miss,ddread,ddmis,dmread,dmmis,pread,pmis") else {
        let _ = writeln!(std::io::stderr(), "skipped: no arcstat");
        return;
    };
    let kinds = ["all", "demand_data", "demand_metadata", "prefetch"];
    let told = kinds.iter().flat_map(|kind| [of(kind, "accesses_s"), of(kind, "misses_s")]);
    for ((told, wanted), at) in told.zip(&wanted).zip(0..) {
        let what = format!("{} {} of the ARC", ["accesses", "misses"][at % 2], kinds[at / 2]);
        // The two moments are not the same; meanwhile the pool rests but for what zwhy asks it.
        assert!((told - wanted).abs() <= wanted * 0.02 + 10.0, "{what}: {told}, arcstat {wanted}");
        let _ = writeln!(std::io::stderr(), "{what}: zwhy {told:.0}, arcstat {wanted:.0}");
    }
    assert!(wanted[0] > 100.0, "{wanted:?}");
}
