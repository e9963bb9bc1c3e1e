//! The modelled device: it takes what its figures say, and pays from where the formula puts the break-even.
//!
//! What is compared are seconds that the model counts itself. A call waits for the device, for calls before it and for
//! the host that wakes it: the counters tell the three apart, so that a busy host does not look like a slow device.

use crate::harness::{Test, options};
use crate::offload::{count, play, specified, step};
use zwhy_lab::{ExperimentResult, NullRecorder, Ratio, RunResult, Silent, paired, run};

pub const TESTS: &[Test] = &[
    ("a_modelled_device_takes_its_time", a_modelled_device_takes_its_time),
    ("nine_modelled_devices_take_what_is_predicted", nine_modelled_devices_take_what_is_predicted),
    ("a_device_pays_from_its_break_even_on", a_device_pays_from_its_break_even_on),
    ("a_known_device_is_played_with_its_figures", a_known_device_is_played_with_its_figures),
    ("what_is_in_the_device_is_not_moved_in_again", what_is_in_the_device_is_not_moved_in_again),
];

fn a_modelled_device_takes_its_time() {
    let device =
        "provider = \"model\"\nprovider_link_gb_per_s = 1\nprovider_gb_per_s = 0.5\nprovider_engines = 1";
    let result = play("provider_us = [5000]", device);
    let overwrite = step(&result, "provider_us=5000", "overwrite");
    let of = |name: &str| count(overwrite, &format!("offload_compress.{name}")) as f64;
    // Each block: in over the link, through the engine, out over the link, and the latency.
    let (calls, megabyte) = (of("calls"), f64::from(1 << 20));
    let each = 5e6 + megabyte / 1.0 + megabyte / 0.5 + of("bytes_out") / calls;
    let own = of("waited_ns") - of("queued_ns") - of("late_ns");
    assert!((own / calls / each - 1.0).abs() < 1e-3, "{own} ns of {calls} calls, {each} each");
    assert_eq!(of("replayed"), calls);
}

/// Runs of `factors`, five or so of each cell.
fn repeated(factors: &str, fixed: &str, bytes: &str, steps: &[&str], times: u32) -> ExperimentResult {
    let dir = tempfile::tempdir().unwrap();
    let mut experiment = specified(factors, fixed, bytes, steps);
    experiment.size.quick.repetitions = times;
    let result = run(&experiment, &options(&dir.path().join("out")), &mut NullRecorder, &mut Silent).unwrap();
    assert!(result.failed.is_empty(), "{:?}", result.failed);
    result
}

/// Nanoseconds that calls of the verb waited, by whom they waited for.
struct Waited {
    calls: f64,
    /// Bytes over the link, both ways, of each call.
    moved: f64,
    /// Each call: for the device, for calls before it, for the host.
    device: f64,
    queued: f64,
    late: f64,
}

fn waited(run: &RunResult, name: &str, verb: &str) -> Waited {
    let step = run.step(name).unwrap();
    let of = |what: &str| count(step, &format!("offload_{verb}.{what}")) as f64;
    let calls = of("calls");
    assert!(calls >= 4.0 && of("replayed") == calls, "{}: {calls} calls", run.variant);
    let (queued, late) = (of("queued_ns") / calls, of("late_ns") / calls);
    let device = of("waited_ns") / calls - queued - late;
    Waited { calls, moved: (of("bytes_in") + of("bytes_out")) / calls, device, queued, late }
}

fn nine_modelled_devices_take_what_is_predicted() {
    let fixed = "provider = \"model\"\ncompression = \"gzip-6\"\nrecordsize = \"1M\"";
    let factors = "provider_link_gb_per_s = [0.01, 0.05, 0.25]\nprovider_us = [20000, 60000, 180000]";
    let result = repeated(factors, fixed, "4M", &["write", "reimport", "read?random", "verify"], 3);
    let mut cells: Vec<&str> = result.runs.iter().map(|run| run.variant.as_str()).collect();
    cells.sort_unstable();
    cells.dedup();
    assert_eq!(cells.len(), 9);
    for cell in cells {
        // A host adds to a wait and never takes from it: of three runs the quickest tells.
        let mut quickest = f64::MAX;
        for run in result.runs.iter().filter(|run| run.variant == cell) {
            let number = |name: &str| run.factors[name].parse::<f64>().unwrap();
            let found = waited(run, "read", "decompress");
            // In over the link, out over the link, and the latency.
            let predicted = number("provider_us") * 1e3 + found.moved / number("provider_link_gb_per_s");
            assert!((found.device / predicted - 1.0).abs() < 1e-3, "{cell}: {} of {predicted}", found.device);
            // One reader, one block after the other: no call waits for another, and their times add up.
            assert_eq!(found.queued, 0.0, "{cell}: calls overlapped");
            assert!(run.step("read").unwrap().wall_s * 1e9 >= predicted * found.calls, "{cell}");
            quickest = quickest.min((found.device + found.late) / predicted);
        }
        assert!(quickest < 1.1, "{cell}: {quickest} of what was predicted");
    }
}

/// Nanoseconds of CPU that OpenZFS's own code takes for each call of the verb.
fn software(run: &RunResult, name: &str, verb: &str) -> f64 {
    let step = run.step(name).unwrap();
    let of = |what: &str| count(step, &format!("offload_{verb}.{what}")) as f64;
    of("cpu_ns") / of("calls")
}

const VERB: &str = "compress";
const STEP: &str = "overwrite";
const WRITES: &str = "compression = \"gzip-6\"\nrecordsize = \"1M\"\nio_size = \"1M\"";

/// What one block takes without a device, the bytes that it would move, and the time that a device would take.
fn measured_software() -> (f64, f64) {
    let result = repeated("provider = [\"software\"]", WRITES, "8M", &["write", STEP], 3);
    let mut each: Vec<f64> = result.runs.iter().map(|run| software(run, STEP, VERB)).collect();
    each.sort_by(f64::total_cmp);
    let step = result.runs[0].step(STEP).unwrap();
    let of = |what: &str| count(step, &format!("offload_{VERB}.{what}")) as f64;
    (each[each.len() / 2], (of("bytes_in") + of("bytes_out")) / of("calls"))
}

fn a_device_pays_from_its_break_even_on() {
    const ATTEMPTS: u32 = 3;
    for _ in 0..ATTEMPTS {
        if break_even_holds() {
            return;
        }
    }
    panic!("in {ATTEMPTS} attempts this host computed at another speed each time it was asked");
}

/// False when the host changed its speed between the two measurements that must fit.
fn break_even_holds() -> bool {
    const STEADY: f64 = 0.1;
    let (each, moved) = measured_software();
    // A device whose latency is a quarter of what the CPU takes: its link may take the rest.
    let us = each / 4e3;
    let link = moved / (each - us * 1e3);
    // As text: a number would lose its last zeros.
    let links = [0.5, 1.0, 2.0].map(|times| format!("{:.6}", link * times));
    let fixed = format!("{WRITES}\nprovider_us = {us:.3}");
    let factors = format!("provider = [\"software\", \"model\"]\nprovider_link_gb_per_s = {links:?}");
    let result = repeated(&factors, &fixed, "8M", &["write", STEP, "verify"], 5);
    let of = |provider: &str, link: &str| {
        let fits = |run: &&RunResult| {
            run.factors["provider"] == provider && run.factors["provider_link_gb_per_s"] == *link
        };
        result.runs.iter().filter(fits).collect::<Vec<_>>()
    };
    // The device's own seconds, to those of the CPU in the run beside it: neither has the host's other work in it.
    let ratio = |link: &str| -> Ratio {
        let pairs: Vec<(f64, f64)> = of("model", link)
            .into_iter()
            .map(|run| {
                let beside =
                    of("software", link).into_iter().find(|other| other.repetition == run.repetition);
                let found = waited(run, STEP, VERB);
                (found.device, software(beside.unwrap(), STEP, VERB))
            })
            .collect();
        paired(&pairs).unwrap()
    };
    let [slower, even, faster] = links.each_ref().map(|link| ratio(link));
    assert!(slower.times.low > 1.0 && slower.is_shown, "at half of the break-even: {slower:?}");
    assert!(faster.times.high < 1.0 && faster.is_shown, "at twice the break-even: {faster:?}");
    // The break-even was computed from another measurement: 1 only where the host was as fast then.
    (even.times.low..=even.times.high).contains(&1.0) || (even.times.value - 1.0).abs() < STEADY
}

fn a_known_device_is_played_with_its_figures() {
    let result = play("provider = [\"none\", \"model:qat-8950\"]", "");
    let overwrite = step(&result, "model:qat-8950", "overwrite");
    let of = |name: &str| count(overwrite, &format!("offload_compress.{name}")) as f64;
    let (calls, megabyte) = (of("calls"), f64::from(1 << 20));
    let each = megabyte / 7.88 + megabyte / 3.0 + of("bytes_out") / calls / 7.88;
    let own = of("waited_ns") - of("queued_ns") - of("late_ns");
    assert!((own / calls / each - 1.0).abs() < 1e-3, "{own} ns of {calls} calls, {each} each");
    assert!(result.answer.contains("model:qat-8950 in write is at most"), "{}", result.answer);
}

fn what_is_in_the_device_is_not_moved_in_again() {
    let device = "provider = \"model\"\nprovider_link_gb_per_s = 0.1\nchecksum = \"sha256\"";
    let result = play("zia_checksum = [0, 1]\nprovider_us = [100]", device);
    let of = |cell: &str, name: &str, counter: &str| count(step(&result, cell, name), counter) as f64;
    let (alone, both) = ("provider_us=100 zia_checksum=0", "provider_us=100 zia_checksum=1");
    // Written: what compression made is there when its checksum is asked for.
    let compressed = of(both, "overwrite", "offload_compress.bytes_out");
    let stayed = of(both, "overwrite", "offload_checksum.bytes_stayed");
    assert!(stayed >= compressed && stayed < compressed * 1.02, "{stayed} of {compressed}");
    assert_eq!(of(both, "overwrite", "offload_compress.bytes_stayed"), 0.0);
    // Read: what was verified is there to be decompressed, and its way in is not waited for.
    let moved = |cell: &str| of(cell, "read", "offload_decompress.bytes_in");
    assert_eq!(of(both, "read", "offload_decompress.bytes_stayed"), moved(both));
    assert_eq!(of(alone, "read", "offload_decompress.bytes_stayed"), 0.0);
    let device = |cell: &str| {
        let of = |what: &str| of(cell, "read", &format!("offload_decompress.{what}"));
        of("waited_ns") - of("queued_ns") - of("late_ns")
    };
    let saved = device(alone) - device(both);
    assert!((saved / (moved(alone) / 0.1) - 1.0).abs() < 1e-2, "{saved} ns of {} bytes", moved(alone));
}
