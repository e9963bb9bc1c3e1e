//! What distinguishes one way of using OpenZFS from another must show in counters, on real OpenZFS.

use crate::harness::{Test, options};
use zwhy_lab::{Experiment, ExperimentResult, NullRecorder, Outcome, Silent, StepResult, run};

pub const TESTS: &[Test] = &[
    ("a_small_dbuf_cache_decompresses_every_block_again", a_small_dbuf_cache_decompresses_every_block_again),
    ("direct_io_is_counted_as_direct", direct_io_is_counted_as_direct),
    ("the_disks_themselves_are_read_as_the_model_allows", the_disks_themselves_are_read_as_the_model_allows),
    ("snapshots_are_taken_and_destroyed_in_any_order", snapshots_are_taken_and_destroyed_in_any_order),
    ("large_records_amplify_small_reads", large_records_amplify_small_reads),
    ("a_write_forces_no_txg_for_want_of_room", a_write_forces_no_txg_for_want_of_room),
    ("redundant_layouts_write_their_parity", redundant_layouts_write_their_parity),
    ("implementations_and_parameters_are_set_or_refused", implementations_and_parameters_are_set_or_refused),
    ("a_modelled_disk_is_the_limit", a_modelled_disk_is_the_limit),
    ("a_log_device_takes_what_must_be_safe", a_log_device_takes_what_must_be_safe),
    ("small_blocks_go_to_a_special_vdev", small_blocks_go_to_a_special_vdev),
    (
        "draid_writes_its_parity_and_is_read_without_a_disk",
        draid_writes_its_parity_and_is_read_without_a_disk,
    ),
    ("snapshots_are_renamed_and_sent", snapshots_are_renamed_and_sent),
    ("streams_are_received_and_read_back", streams_are_received_and_read_back),
    ("memory_pressure_shrinks_the_arc", memory_pressure_shrinks_the_arc),
    ("the_users_own_files_are_written", the_users_own_files_are_written),
];

/// A built-in experiment in its quick size.
fn quick(name: &str) -> ExperimentResult {
    let dir = tempfile::tempdir().unwrap();
    let experiment = Experiment::builtin(name).unwrap();
    run(&experiment, &options(&dir.path().join("out")), &mut NullRecorder, &mut Silent).unwrap()
}

/// An experiment of one's own with `bytes` of data.
fn own(factors: &str, fixed: &str, steps: &str, bytes: &str) -> Result<ExperimentResult, zwhy_lab::LabError> {
    let dir = tempfile::tempdir().unwrap();
    let experiment = Experiment::parse(&specification(factors, fixed, steps, bytes), "own").unwrap();
    run(&experiment, &options(&dir.path().join("out")), &mut NullRecorder, &mut Silent)
}

fn specification(factors: &str, fixed: &str, steps: &str, bytes: &str) -> String {
    format!(
        "name = \"own\"\ntitle = \"Own\"\nquestion = \"?\"\nexpectation = \"?\"\nengine = \"user\"\n\
         [factors]\n{factors}\n[fixed]\narc_max = \"64M\"\n{fixed}\n{steps}\n[size]\n\
         quick = {{ bytes = \"{bytes}\", repetitions = 1 }}\nfull = {{ bytes = \"{bytes}\", repetitions = 1 }}\n\
         [compare]\nstep = \"write\"\nmeasure = \"cpu_s_per_gb\"\n"
    )
}

const WRITE_READ: &str = "[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"reimport\"\n[[steps]]\ndo = \"read\"\n\
                          [[steps]]\ndo = \"verify\"";

fn step<'a>(result: &'a ExperimentResult, cell: &str, name: &str) -> &'a StepResult {
    let run = result.runs.iter().find(|r| r.variant == cell).unwrap_or_else(|| panic!("no {cell}"));
    run.step(name).unwrap_or_else(|| panic!("no step {name}"))
}

fn outcome(result: &ExperimentResult, words: &str) -> Outcome {
    let check =
        result.checks.iter().find(|c| c.say.contains(words)).unwrap_or_else(|| panic!("no check {words}"));
    assert!(!check.found.is_empty());
    check.outcome
}

/// Records that hold their data and records that read it back: both are in the log, and the data is right after an import.
fn a_log_device_takes_what_must_be_safe() {
    for io_size in ["4K", "16K"] {
        let fixed =
            format!("fsync = \"each-write\"\nthreads = 2\nrecordsize = \"16K\"\nio_size = \"{io_size}\"");
        let result = own("log_disks = [0, 1]", &fixed, WRITE_READ, "2M").unwrap();
        for (cell, written, not) in [("log_disks=0", "normal", "slog"), ("log_disks=1", "slog", "normal")] {
            let write = step(&result, cell, "write");
            let count = |class: &str| write.counter(&format!("zil.zil_itx_metaslab_{class}_count"));
            assert!(count(written) > Some(0.0) && count(not) == Some(0.0), "{io_size} {cell}: {write:?}");
        }
    }
    let fixed = "fsync = \"each-write\"\nsync = \"disabled\"\nio_size = \"4K\"";
    let result = own("log_disks = [0]", fixed, WRITE_READ, "1M").unwrap();
    assert_eq!(step(&result, "log_disks=0", "write").counter("zil.zil_itx_count"), Some(0.0));
}

/// The modelled disk is slow and the special vdev is not.
fn small_blocks_go_to_a_special_vdev() {
    let fixed = "special_disks = 1\nrecordsize = \"16K\"\nio_size = \"16K\"\ndevice_ms = 4";
    let factors = "special_small_blocks = [\"0\", \"16K\"]";
    let result = own(factors, fixed, WRITE_READ, "4M").unwrap();
    let read = |small: &str| step(&result, &format!("special_small_blocks={small}"), "read").wall_s;
    assert!(read("16K") * 2.0 < read("0"), "{:?}", result.summary);
}

/// Whole rows of three data disks and one of parity: 132K for each record of 128K, and a third of it on top.
fn draid_writes_its_parity_and_is_read_without_a_disk() {
    let steps = "[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"lose\"\n[[steps]]\ndo = \"read\"\n\
                 [[steps]]\ndo = \"regain\"\n[[steps]]\ndo = \"verify\"";
    let write = "[[steps]]\ndo = \"write\"";
    let result = own("layout = [\"draid1\", \"stripe\"]", "disks = 4", write, "16M");
    let written =
        |result: &ExperimentResult, cell: &str| step(result, cell, "write").device_written_bytes as f64;
    let result = result.unwrap();
    let times = written(&result, "draid1") / written(&result, "stripe");
    assert!((1.3..1.55).contains(&times), "{times}");
    let result = own("layout = [\"draid1\", \"draid2\"]", "disks = 6", steps, "16M").unwrap();
    assert!(result.failed.is_empty() && result.runs.len() == 2, "{:?}", result.failed);
}

fn snapshots_are_renamed_and_sent() {
    let fixed = "compression = \"lz4\"\ndata = \"half\"";
    let steps = "[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"snapshot\"\ncount = 3\n[[steps]]\ndo = \"rename\"\n\
                 [[steps]]\ndo = \"send\"\nform = \"$form\"\n[[steps]]\ndo = \"destroy\"\n[[steps]]\ndo = \"verify\"";
    let result = own("form = [\"plain\", \"compressed\", \"raw\"]", fixed, steps, "8M").unwrap();
    let sent = |cell: &str| step(&result, cell, "send").counter("lab.stream_bytes").unwrap();
    assert!(sent("plain") >= f64::from(8 << 20) && sent("compressed") < 0.8 * sent("plain"), "{result:?}");
    assert!(sent("raw") <= 1.05 * sent("compressed"));
    // Each got another name and its own back, else they could not be destroyed.
    assert_eq!(step(&result, "raw", "rename").operations, 6);
    assert_eq!(step(&result, "raw", "destroy").operations, 3);
}

/// The copy is read after an import, from disk, and every byte of it compared; the original may be gone by then.
fn streams_are_received_and_read_back() {
    let fixed = "compression = \"lz4\"\ndata = \"half\"\nthreads = 2";
    let steps = "[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"snapshot\"\ncount = 2\n\
                 [[steps]]\ndo = \"send\"\nform = \"$form\"\nto = \"file\"\n[[steps]]\ndo = \"receive\"\n\
                 [[steps]]\ndo = \"reimport\"\n[[steps]]\ndo = \"read\"\n[[steps]]\ndo = \"verify\"\n\
                 [[steps]]\ndo = \"overwrite\"\nbytes = \"1M\"\n[[steps]]\ndo = \"verify\"\nname = \"again\"";
    let factors = "form = [\"plain\", \"compressed\", \"raw\"]\nencryption = [\"off\", \"aes-256-gcm\"]";
    let result = own(factors, fixed, steps, "8M").unwrap();
    assert!(result.failed.is_empty() && result.runs.len() == 6, "{:?}", result.failed);
    let compressed = |cell: &str| step(&result, cell, "receive").counter("lab.compressed").unwrap();
    let blocks = step(&result, "off plain", "receive").blocks as f64;
    // Metadata is compressed in any case; that of a raw receive in more and smaller pieces.
    assert!(compressed("off compressed") + 0.9 * blocks <= compressed("off plain"), "{:?}", result.summary);
    for run in &result.runs {
        let [sent, received] =
            ["send", "receive"].map(|name| run.step(name).unwrap().counter("lab.stream_bytes"));
        assert!(sent == received && sent > Some(0.0), "{}", run.variant);
        assert!(run.step("receive").unwrap().device_written_bytes > 0, "{}", run.variant);
        // What is read back after the import comes from the copy on disk.
        assert!(run.step("read").unwrap().device_read_bytes >= 2 << 20, "{}", run.variant);
    }
}

fn a_small_dbuf_cache_decompresses_every_block_again() {
    let result = quick("arc-cached-read");
    for words in
        ["every pass decompresses", "next to nothing is decompressed", "Nothing comes from the disks"]
    {
        assert_eq!(outcome(&result, words), Outcome::Holds, "{:#?}", result.checks);
    }
    let pass = step(&result, "arc_max=256M lz4", "pass 2");
    assert!(pass.counters.keys().any(|name| name.starts_with("arcstats.")), "{:?}", pass.counters);
}

fn direct_io_is_counted_as_direct() {
    let factors = "io = [\"buffered\", \"direct\"]";
    let fixed = "recordsize = \"1M\"";
    let result = match own(factors, fixed, WRITE_READ, "32M") {
        // Before 2.3 there is none, and the lab says so.
        Err(error) => return assert!(error.to_string().contains("since 2.3"), "{error}"),
        Ok(result) => result,
    };
    if result.failed.iter().any(|f| f.error.contains("since 2.3")) {
        return;
    }
    for name in ["write", "read"] {
        let counter = format!("lab.direct_{name}_bytes");
        let bytes = |cell: &str| step(&result, cell, name).counters.get(&counter).copied().unwrap_or(0);
        assert_eq!((bytes("direct"), bytes("buffered")), (32 << 20, 0), "{name}");
    }
}

fn the_disks_themselves_are_read_as_the_model_allows() {
    let fixed = "recordsize = \"1M\"\nio_size = \"1M\"\ndisks = 2\nthreads = 2\ndevice_mb_per_s = 100\n\
                 device_ms = 2\ndevice_queue = 2";
    let steps = "[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"raw\"\n[[steps]]\ndo = \"verify\"";
    let result = own("compression = [\"off\"]", fixed, steps, "32M").unwrap();
    let raw = step(&result, "off", "raw");
    assert_eq!(
        (raw.bytes, raw.blocks, raw.threads[0].comm.as_str()),
        (32 << 20, 32, "raw-reader"),
        "{raw:?}"
    );
    // Two disks of 100 MB/s, whatever the file system below could do.
    assert!(raw.mb_per_s.unwrap() <= 200.0 && raw.latency.as_ref().unwrap().p50_us >= 12_000.0, "{raw:?}");
}

fn snapshots_are_taken_and_destroyed_in_any_order() {
    let factors = "order = [\"oldest-first\", \"newest-first\", \"all-at-once\"]";
    let steps = "[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"snapshot\"\ncount = 6\nbytes = \"300K\"\n\
                 [[steps]]\ndo = \"destroy\"\norder = \"$order\"\n[[steps]]\ndo = \"verify\"";
    let result = own(factors, "recordsize = \"16K\"", steps, "8M").unwrap();
    assert_eq!(result.runs.len(), 3, "{:?}", result.failed);
    for run in &result.runs {
        assert_eq!(run.step("snapshot").unwrap().operations, 6);
        assert_eq!(run.step("destroy").unwrap().operations, 6);
    }
}

fn large_records_amplify_small_reads() {
    let result = quick("recordsize");
    assert_eq!(outcome(&result, "ten times as much"), Outcome::Holds, "{:#?}", result.checks);
}

/// A pool of the lab is little larger than its data.
fn a_write_forces_no_txg_for_want_of_room() {
    let waits = |fixed: &str| {
        let result = own("compression = [\"off\"]", fixed, WRITE_READ, "128M").unwrap();
        step(&result, "off", "write").counters.get("dmu_tx.dmu_tx_quota").copied().unwrap_or(0)
    };
    assert_eq!(waits(""), 0);
    assert!(waits("spa_asize_inflation = 24") > 0, "what OpenZFS reserves by itself");
}

fn redundant_layouts_write_their_parity() {
    let factors = "layout = [\"stripe\", \"mirror\", \"raidz1\", \"raidz2\"]";
    let result = own(factors, "disks = 4\nrecordsize = \"1M\"", WRITE_READ, "32M").unwrap();
    let written = |cell| step(&result, cell, "write").device_written_bytes as f64 / f64::from(32 << 20);
    for (cell, least, most) in
        [("stripe", 1.0, 1.4), ("mirror", 4.0, 5.0), ("raidz1", 1.3, 1.8), ("raidz2", 1.9, 2.6)]
    {
        let times = written(cell);
        assert!((least..most).contains(&times), "{cell}: {times}");
    }
}

fn implementations_and_parameters_are_set_or_refused() {
    let factors = "zfs_fletcher_4_impl = [\"scalar\", \"fastest\"]";
    let result = own(factors, "zfs_compressed_arc_enabled = 0", WRITE_READ, "8M").unwrap();
    assert_eq!(result.runs.len(), 2, "{:?}", result.failed);

    let error = own("zfs_fletcher_4_impl = [\"abacus\"]", "", WRITE_READ, "8M").unwrap_err().to_string();
    assert!(error.contains("zfs_fletcher_4_impl") && error.contains("no such implementation"), "{error}");
    // Property values are looked at before anything runs, parameters by OpenZFS itself.
    let text = specification("compression = [\"zip\"]", "", WRITE_READ, "8M");
    let error = Experiment::parse(&text, "own").unwrap_err().to_string();
    assert!(error.contains("\"zip\"") && error.contains("must be one of"), "{error}");
}

fn a_modelled_disk_is_the_limit() {
    let factors = "device_mb_per_s = [40]";
    let result = own(factors, "device_ms = 1\ndevice_queue = 8", WRITE_READ, "32M").unwrap();
    let read = step(&result, "device_mb_per_s=40", "read");
    let speed = read.mb_per_s.unwrap();
    assert!((20.0..=42.0).contains(&speed), "a disk of 40 MB/s read {speed} MB/s");
}

fn memory_pressure_shrinks_the_arc() {
    let factors = "available = [\"1G\", \"-32M\"]";
    let steps = "[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"read\"\n[[steps]]\ndo = \"idle\"\nseconds = 3\n\
                 available = \"$available\"";
    let result = own(factors, "zfs_arc_max = \"256M\"", steps, "96M").unwrap();
    let change = |cell| step(&result, cell, "idle").counters.get("arcstats.c").copied().unwrap_or(0);
    assert!(
        change("available=-32M") < change("available=1G"),
        "{} and {}",
        change("available=-32M"),
        change("available=1G")
    );
}

/// Half of the files compress to nothing and half not at all; the sample is gone at the end, and needed at the begin.
fn the_users_own_files_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let mut noise: u64 = 1;
    let mut random = || {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (noise >> 33) as u8
    };
    for i in 0..4 {
        std::fs::write(data.join(format!("text{i}")), "the same words ".repeat(70_000)).unwrap();
        std::fs::write(data.join(format!("noise{i}")), (0..1 << 20).map(|_| random()).collect::<Vec<u8>>())
            .unwrap();
    }
    let mut experiment = Experiment::builtin("compression").unwrap();
    experiment.set("compression", "lz4,off").unwrap();
    experiment.write_sample().unwrap();
    let mut options = options(&dir.path().join("out"));
    options.size_spec = Some(zwhy_lab::SizeSpec { bytes: zwhy_lab::Bytes(32 << 20), repetitions: 1 });
    let without = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap_err().to_string();
    assert!(without.contains("--data DIR"), "{without}");
    options.data = Some(data);
    let result = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap();
    let written = |cell: &str| {
        let write = step(&result, cell, "write");
        write.device_written_bytes as f64 / write.bytes as f64
    };
    assert!((0.4..0.75).contains(&written("lz4")) && written("off") >= 1.0, "{}", result.answer);
    assert!(result.answer.contains("so many went to the disks"), "{}", result.answer);
    assert!(!dir.path().join("out/sample").exists() && result.checks.is_empty());
}
