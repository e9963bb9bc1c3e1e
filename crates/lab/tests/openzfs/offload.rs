//! Stages handed to a provider, on real OpenZFS: who did the work, and that the data is right whoever did it.

use crate::harness::{Test, options};
use zwhy_lab::{Experiment, ExperimentResult, NullRecorder, Silent, StepResult, run};

pub const TESTS: &[Test] = &[
    (
        "what_isal_wrote_is_read_by_zlib_and_the_other_way_round",
        what_isal_wrote_is_read_by_zlib_and_the_other_way_round,
    ),
    ("an_ideal_provider_replays_what_it_has_learnt", an_ideal_provider_replays_what_it_has_learnt),
    ("a_modelled_device_takes_its_time", a_modelled_device_takes_its_time),
    ("parity_of_isal_is_that_of_openzfs", parity_of_isal_is_that_of_openzfs),
    ("each_result_of_a_provider_has_its_consequence", each_result_of_a_provider_has_its_consequence),
];

const BLOCKS: i64 = 8;

/// Writes, writes again, reads and verifies 8 records of 1 MiB.
fn play(factors: &str, fixed: &str) -> ExperimentResult {
    let fixed = match fixed.contains("recordsize") {
        true => fixed.to_owned(),
        false => format!("compression = \"gzip-6\"\nrecordsize = \"1M\"\n{fixed}"),
    };
    let text = format!(
        "name = \"own\"\ntitle = \"Own\"\nquestion = \"?\"\nexpectation = \"?\"\nengine = \"user\"\n\
         [factors]\n{factors}\n[fixed]\narc_max = \"64M\"\ndata = \"half\"\n{fixed}\n[[steps]]\ndo = \"write\"\n[[steps]]\ndo = \"overwrite\"\n[[steps]]\n\
         do = \"reimport\"\n[[steps]]\ndo = \"read\"\n[[steps]]\ndo = \"verify\"\n[size]\n\
         quick = {{ bytes = \"8M\", repetitions = 1 }}\nfull = {{ bytes = \"8M\", repetitions = 1 }}\n\
         [compare]\nstep = \"write\"\nmeasure = \"cpu_s_per_gb\"\n"
    );
    let dir = tempfile::tempdir().unwrap();
    let experiment = Experiment::parse(&text, "own").unwrap();
    let result = run(&experiment, &options(&dir.path().join("out")), &mut NullRecorder, &mut Silent).unwrap();
    assert!(result.failed.is_empty(), "{:?}", result.failed);
    result
}

fn step<'a>(result: &'a ExperimentResult, cell: &str, name: &str) -> &'a StepResult {
    let run = result.runs.iter().find(|r| r.variant == cell).unwrap_or_else(|| panic!("no {cell}"));
    run.step(name).unwrap_or_else(|| panic!("no step {name}"))
}

fn count(step: &StepResult, name: &str) -> i64 {
    step.counters.get(name).copied().unwrap_or(0)
}

fn what_isal_wrote_is_read_by_zlib_and_the_other_way_round() {
    // Both switches, each alone: reading back with the other library checks the format, `verify` every byte.
    let result = play("zia_compress = [1, 0]\nzia_decompress = [1, 0]", "provider = \"isal\"");
    assert_eq!(result.runs.len(), 4);
    for run in &result.runs {
        let on = |name: &str| run.factors[name] == "1";
        let calls = |step: &str, counter: &str| count(run.step(step).unwrap(), counter);
        let compressed = calls("write", "offload_compress.calls");
        assert_eq!(compressed, if on("zia_compress") { BLOCKS } else { 0 }, "{}", run.variant);
        let decompressed = calls("read", "offload_decompress.calls");
        assert_eq!(decompressed, if on("zia_decompress") { BLOCKS } else { 0 }, "{}", run.variant);
        assert_eq!(calls("verify", "offload_decompress.calls"), 0, "verify is the distribution's code alone");
        assert_eq!(
            calls("write", "offload_compress.fallbacks") + calls("read", "offload_decompress.fallbacks"),
            0
        );
    }
}

fn an_ideal_provider_replays_what_it_has_learnt() {
    let result = play("provider = [\"ideal\"]", "");
    let counts = |name: &str, counter: &str| count(step(&result, "ideal", name), counter);
    assert_eq!(counts("write", "offload_compress.learnt"), BLOCKS);
    assert_eq!(counts("overwrite", "offload_compress.replayed"), BLOCKS);
    assert_eq!(counts("read", "offload_decompress.replayed"), BLOCKS);
}

fn a_modelled_device_takes_its_time() {
    let device =
        "provider = \"model\"\nprovider_link_gb_per_s = 1\nprovider_gb_per_s = 0.5\nprovider_engines = 1";
    let result = play("provider_us = [5000]", device);
    let overwrite = step(&result, "provider_us=5000", "overwrite");
    let out = count(overwrite, "offload_compress.bytes_out");
    // Each block: in over the link, through the engine, out over the link, and the latency.
    let megabyte = f64::from(1 << 20);
    let each = 5e6 + megabyte / 1.0 + megabyte / 0.5 + out as f64 / BLOCKS as f64;
    let waited = count(overwrite, "offload_compress.waited_ns") as f64;
    assert!(waited >= each * BLOCKS as f64 * 0.999, "waited {waited} ns, {each} each");
    assert_eq!(count(overwrite, "offload_compress.replayed"), BLOCKS);
}

fn parity_of_isal_is_that_of_openzfs() {
    // Small records of odd widths: rows of unequal columns, and many of them.
    let fixed = "provider = \"isal\"\nprovider_check = 1\ndisks = 7\nrecordsize = \"16K\"\nio_size = \"16K\"";
    let fixed = format!("compression = \"off\"\n{fixed}");
    let result = play("layout = [\"raidz1\", \"raidz2\", \"raidz3\"]", &fixed);
    for layout in ["raidz1", "raidz2", "raidz3"] {
        let write = step(&result, layout, "write");
        let rows = count(write, "offload_raidz_gen.calls");
        assert!(rows >= 512, "{layout}: {rows} rows of 512 records");
        assert_eq!(count(write, "offload_raidz_gen.fallbacks"), 0, "{layout}");
        assert_eq!(count(write, "offload_raidz_gen.differences"), 0, "{layout}: of {rows} rows");
    }
}

fn each_result_of_a_provider_has_its_consequence() {
    // True: the provider is not asked again. Z.I.A. keeps one that only cannot do this operation.
    let results = [
        ("ERROR", true),
        ("PROVIDER_NOT_EXISTS", true),
        ("PROVIDER_UNREGISTERED", true),
        ("PROVIDER_INVALIDATED", true),
        ("PROVIDER_MISMATCH", true),
        ("NOT_IMPLEMENTED", false),
        ("NOT_SUPPORTED", false),
        ("BAD_RESULT", false),
    ];
    let names: Vec<String> = results.iter().map(|(name, _)| format!("{name:?}")).collect();
    let result =
        play(&format!("provider_answers = [\"OK\", {}]", names.join(", ")), "provider = \"software\"");
    assert_eq!(count(step(&result, "OK", "write"), "offload_compress.calls"), BLOCKS);
    for (name, switched_off) in results {
        // Every byte was compared in `verify`, or the cell had failed.
        let write = step(&result, name, "write");
        assert_eq!(count(write, "offload_compress.calls"), 0, "{name}");
        let fallbacks = count(write, "offload_compress.fallbacks");
        assert_eq!(count(write, "offload.switched_off"), i64::from(switched_off), "{name}");
        match switched_off {
            // As many threads as were asking at that moment.
            true => assert!((1..BLOCKS).contains(&fallbacks), "{name}: {fallbacks}"),
            false => assert_eq!(fallbacks, BLOCKS, "{name}"),
        }
    }
}
