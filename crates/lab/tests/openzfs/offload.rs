//! Stages handed to a provider, on real OpenZFS: who did the work, and that the data is right whoever did it.

use crate::harness::{CHILD, Test, options};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use zwhy_lab::{
    ChildProgram, Experiment, ExperimentResult, NullRecorder, Silent, StepResult, VerifyOptions, run,
};

pub const TESTS: &[Test] = &[
    (
        "what_isal_wrote_is_read_by_zlib_and_the_other_way_round",
        what_isal_wrote_is_read_by_zlib_and_the_other_way_round,
    ),
    ("an_ideal_provider_replays_what_it_has_learnt", an_ideal_provider_replays_what_it_has_learnt),
    ("rows_of_isal_are_those_of_openzfs", rows_of_isal_are_those_of_openzfs),
    ("lost_disks_are_resilvered_by_the_provider", lost_disks_are_resilvered_by_the_provider),
    ("a_provider_that_dies_costs_no_byte", a_provider_that_dies_costs_no_byte),
    ("kept_pools_are_read_back_by_openzfs_alone", kept_pools_are_read_back_by_openzfs_alone),
    ("nothing_is_used_that_was_not_brought_back", nothing_is_used_that_was_not_brought_back),
    ("checksums_of_a_provider_are_those_of_openzfs", checksums_of_a_provider_are_those_of_openzfs),
    ("files_of_disks_are_written_by_the_provider", files_of_disks_are_written_by_the_provider),
    ("the_example_of_a_provider_works", the_example_of_a_provider_works),
    ("the_provider_for_gpus_computes_what_openzfs_does", the_provider_for_gpus_computes_what_openzfs_does),
    (
        "codecs_of_the_provider_for_gpus_are_there_where_nvcomp_was",
        codecs_of_the_provider_for_gpus_are_there_where_nvcomp_was,
    ),
    (
        "without_a_cuda_compiler_nothing_is_built_and_that_is_said",
        without_a_cuda_compiler_nothing_is_built_and_that_is_said,
    ),
    (
        "a_provider_that_crashes_or_hangs_fails_its_cell_only",
        a_provider_that_crashes_or_hangs_fails_its_cell_only,
    ),
];

const BLOCKS: i64 = 8;

/// Writes, writes again, reads and verifies 8 records of 1 MiB.
pub fn play(factors: &str, fixed: &str) -> ExperimentResult {
    let fixed = match fixed.contains("recordsize") {
        true => fixed.to_owned(),
        false => format!("compression = \"gzip-6\"\nrecordsize = \"1M\"\n{fixed}"),
    };
    play_steps(factors, &fixed, "8M", &["write", "overwrite", "reimport", "read", "verify"])
}

/// A step that comes again is written as `lose:again`, one with an order as `read?random`.
pub fn specified(factors: &str, fixed: &str, bytes: &str, steps: &[&str]) -> Experiment {
    let step = |step: &&str| match (step.split_once(':'), step.split_once('?')) {
        (Some((verb, name)), _) => format!("[[steps]]\ndo = \"{verb}\"\nname = \"{name}\"\n"),
        (_, Some((verb, order))) => format!("[[steps]]\ndo = \"{verb}\"\norder = \"{order}\"\n"),
        (None, None) => format!("[[steps]]\ndo = \"{step}\"\n"),
    };
    let text = format!(
        "name = \"own\"\ntitle = \"Own\"\nquestion = \"?\"\nexpectation = \"?\"\nengine = \"user\"\n\
         [factors]\n{factors}\n[fixed]\narc_max = \"64M\"\ndata = \"half\"\n{fixed}\n{}[size]\n\
         quick = {{ bytes = \"{bytes}\", repetitions = 1 }}\nfull = {{ bytes = \"{bytes}\", repetitions = 1 }}\n\
         [compare]\nstep = \"write\"\nmeasure = \"cpu_s_per_gb\"\n",
        steps.iter().map(step).collect::<String>()
    );
    Experiment::parse(&text, "own").unwrap()
}

pub fn play_steps(factors: &str, fixed: &str, bytes: &str, steps: &[&str]) -> ExperimentResult {
    let dir = tempfile::tempdir().unwrap();
    let experiment = specified(factors, fixed, bytes, steps);
    let result = run(&experiment, &options(&dir.path().join("out")), &mut NullRecorder, &mut Silent).unwrap();
    assert!(result.failed.is_empty(), "{:?}", result.failed);
    result
}

pub fn step<'a>(result: &'a ExperimentResult, cell: &str, name: &str) -> &'a StepResult {
    let run = result.runs.iter().find(|r| r.variant == cell).unwrap_or_else(|| panic!("no {cell}"));
    run.step(name).unwrap_or_else(|| panic!("no step {name}"))
}

pub fn count(step: &StepResult, name: &str) -> i64 {
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

/// Rows of 8 disks with 8 sectors of data: in each layout some columns are longer than others.
const ROWS: &str = "compression = \"off\"\nrecordsize = \"32K\"\nio_size = \"32K\"\ndisks = 8";

fn rows_of_isal_are_those_of_openzfs() {
    let fixed = format!("{ROWS}\nprovider = \"isal\"\nprovider_check = 1");
    let layouts = "layout = [\"raidz1\", \"raidz2\", \"raidz3\"]";
    let result = play_steps(layouts, &fixed, "56M", &["write", "overwrite", "lose", "read", "verify"]);
    let mut generated = 0;
    for layout in ["raidz1", "raidz2", "raidz3"] {
        let all = |name: &str| {
            let own = result.runs.iter().find(|r| r.variant == layout).unwrap();
            own.steps.iter().map(|step| count(step, name)).sum::<i64>()
        };
        generated += all("offload_raidz_gen.calls");
        assert!(all("offload_raidz_gen.unequal_columns") > 3000, "{layout}");
        // Each block has data on some of the lost disks, but for those whose parity was there.
        let rebuilt = all("offload_raidz_rec.calls");
        assert!(rebuilt > 1000, "{layout}: {rebuilt} rows were reconstructed");
        for verb in ["offload_raidz_gen", "offload_raidz_rec"] {
            assert_eq!(all(&format!("{verb}.differences")), 0, "{layout}: {verb}");
            assert_eq!(all(&format!("{verb}.fallbacks")), 0, "{layout}: {verb}");
        }
    }
    assert!(generated >= 10_000, "{generated} rows");
}

fn lost_disks_are_resilvered_by_the_provider() {
    let fixed = format!("{ROWS}\nprovider = \"isal\"");
    // Other disks are lost the second time: what was resilvered is needed to read the rest.
    let steps = ["write", "lose", "overwrite", "regain", "lose:lose others", "read", "verify"];
    let result = play_steps("layout = [\"raidz1\", \"raidz2\", \"raidz3\"]", &fixed, "8M", &steps);
    for layout in ["raidz1", "raidz2", "raidz3"] {
        let rebuilt = count(step(&result, layout, "regain"), "offload_raidz_rec.calls");
        assert!(rebuilt > 0, "{layout}: nothing was resilvered");
        assert!(count(step(&result, layout, "read"), "offload_raidz_rec.calls") > 0, "{layout}");
    }
}

fn a_provider_that_dies_costs_no_byte() {
    // At the first call of all, inside the write, and later.
    let deaths = [1, 2, 9, 14, 25, 40];
    let fixed = "provider = \"remote\"\ncompression = \"gzip-6\"\nrecordsize = \"128K\"\nlayout = \"raidz2\"\ndisks = 5";
    let factor = format!("provider_dies_after = {deaths:?}");
    let result = play_steps(&factor, fixed, "4M", &["write", "overwrite", "reimport", "read", "verify"]);
    for death in deaths {
        let run = result.runs.iter().find(|r| r.factors["provider_dies_after"] == death.to_string()).unwrap();
        // Its death is counted and marked in one step; the data was compared by `verify`.
        let all = |name: &str| run.steps.iter().map(|step| count(step, name)).sum::<i64>();
        assert_eq!(all("offload.switched_off"), 1, "{death}");
        assert_eq!(run.steps.iter().flat_map(|s| &s.marks).filter(|m| m.name == "provider").count(), 1);
        let calls = all("offload_compress.calls") + all("offload_raidz_gen.calls");
        // What was under way at that moment may have been answered just in time.
        assert!(calls <= death + 8, "{death}: {calls} calls were answered");
    }
}

fn kept_pools_are_read_back_by_openzfs_alone() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    // A whole provider, and one that dies while it writes.
    let fixed = "provider = \"remote\"\ncompression = \"gzip-6\"\nrecordsize = \"128K\"\ndisks = 4";
    let factors = "provider_dies_after = [0, 30]\nlayout = [\"raidz1\", \"mirror\"]";
    let experiment = specified(factors, fixed, "4M", &["write", "overwrite"]);
    let mut options = options(&out);
    options.keep = true;
    let result = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap();
    assert_eq!((result.runs.len(), result.failed.len()), (4, 0));
    let verify = |stock: bool| {
        let options = VerifyOptions {
            stock,
            library: None,
            child: ChildProgram::this([CHILD]),
            silence: Duration::from_secs(60),
            cancel: Arc::default(),
        };
        zwhy_lab::verify(&out, &options).unwrap()
    };
    for stock in [true, false] {
        let verified = verify(stock);
        assert_eq!(verified.len(), 4);
        assert!(verified.iter().all(|pool| pool.is_good() && pool.bytes == Ok(4 << 20)), "{verified:?}");
        // The set-up for tests brings zdb, which has walked the blocks of all of them then.
        let zdb = Command::new("zdb").output().is_ok();
        assert!(verified.iter().all(|pool| pool.zdb.is_some() == zdb), "{verified:?}");
    }
    // Both halves of the mirror and all columns are damaged, but for the labels.
    for disk in 0..4 {
        let file =
            std::fs::File::options().write(true).open(out.join(format!("pool/0000/vdev{disk}"))).unwrap();
        file.write_all_at(&vec![0x55; 64 << 20], 4 << 20).unwrap();
    }
    assert_eq!(verify(true).iter().filter(|pool| !pool.is_good()).count(), 1);
}

fn nothing_is_used_that_was_not_brought_back() {
    let fixed = "provider_strict = 1\nzia_checksum = 1\nzia_file_write = 1\ncompression = \"gzip-6\"\nrecordsize = \"128K\"\nlayout = \"raidz3\"\ndisks = 6";
    let steps = ["write", "overwrite", "lose", "read", "verify"];
    let result = play_steps("provider = [\"software\", \"isal\", \"remote\"]", fixed, "8M", &steps);
    for provider in ["isal", "remote"] {
        let calls = |name: &str, counter: &str| count(step(&result, provider, name), counter);
        assert!(calls("overwrite", "offload_compress.calls") >= 64, "{provider}");
        assert!(calls("overwrite", "offload_raidz_gen.calls") >= 64, "{provider}");
        assert!(calls("read", "offload_raidz_rec.calls") > 0, "{provider}");
        assert!(calls("read", "offload_decompress.calls") >= 64, "{provider}");
    }
}

fn checksums_of_a_provider_are_those_of_openzfs() {
    let fixed = "zia_checksum = 1\nprovider_check = 1\nrecordsize = \"128K\"\ncompression = \"off\"";
    let factors = "provider = [\"software\", \"remote\", \"ideal\"]\nchecksum = [\"fletcher4\", \"sha256\"]";
    let result = play(factors, fixed);
    for (cell, done) in [
        ("fletcher4 software", true),
        ("sha256 software", true),
        ("fletcher4 remote", true),
        ("sha256 ideal", true),
        // Where a provider has no such checksum, or cannot find results sooner than they are made.
        ("sha256 remote", false),
        ("fletcher4 ideal", false),
    ] {
        let write = step(&result, cell, "overwrite");
        let (calls, fallbacks) =
            (count(write, "offload_checksum.calls"), count(write, "offload_checksum.fallbacks"));
        assert_eq!(count(write, "offload_checksum.differences"), 0, "{cell}");
        assert!(if done { calls >= 64 } else { fallbacks >= 64 }, "{cell}: {calls} and {fallbacks}");
    }
    assert!(count(step(&result, "sha256 ideal", "overwrite"), "offload_checksum.replayed") >= 64);
}

fn files_of_disks_are_written_by_the_provider() {
    let fixed =
        "zia_file_write = 1\ncompression = \"off\"\nrecordsize = \"128K\"\nlayout = \"raidz1\"\ndisks = 3";
    let factors = "provider = [\"software\", \"remote\", \"isal\"]\nprovider_strict = [0, 1]";
    let result = play(factors, fixed);
    assert_eq!(result.runs.len(), 6);
    for run in &result.runs {
        let write = run.step("overwrite").unwrap();
        let of = |what: &str| count(write, &format!("offload_file_write.{what}"));
        // All data and its parity; ISA-L writes no files.
        match run.factors["provider"].as_str() {
            "isal" => assert!(of("calls") == 0 && of("fallbacks") > 0, "{}", run.variant),
            _ => assert!(of("bytes_in") >= 12 << 20 && of("fallbacks") == 0, "{}", run.variant),
        }
    }
}

/// Compiles a provider from the repository, or from a text.
pub fn compile(source: &Path, folder: &Path, name: &str) -> PathBuf {
    compile_as(&[], source, folder, name)
}

fn compile_as(language: &[&str], source: &Path, folder: &Path, name: &str) -> PathBuf {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    let library = folder.join(name);
    let status = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"])
        .arg(&plugins)
        .arg("-o")
        .arg(&library)
        .args(language)
        .arg(plugins.join(source))
        .status()
        .unwrap();
    assert!(status.success());
    library
}

fn the_example_of_a_provider_works() {
    let dir = tempfile::tempdir().unwrap();
    let library = compile("example.c".as_ref(), dir.path(), "example.so");
    let fixed = format!("{ROWS}\nprovider_check = 1\nzia_checksum = 1\nprovider = {library:?}");
    let steps = ["write", "lose", "read", "verify"];
    let result = play_steps("layout = [\"raidz1\", \"raidz2\"]", &fixed, "8M", &steps);
    for layout in ["raidz1", "raidz2"] {
        let calls = |name: &str, counter: &str| count(step(&result, layout, name), counter);
        assert!(calls("write", "offload_raidz_gen.calls") >= 256, "{layout}");
        assert!(calls("write", "offload_checksum.calls") >= 256, "{layout}");
        assert!(calls("read", "offload_raidz_rec.calls") > 0, "{layout}");
        for verb in ["raidz_gen", "raidz_rec", "checksum"] {
            for name in ["write", "read"] {
                assert_eq!(calls(name, &format!("offload_{verb}.differences")), 0, "{layout} {name} {verb}");
            }
        }
    }
    // Two columns at once are left to OpenZFS.
    assert!(count(step(&result, "raidz2", "read"), "offload_raidz_rec.fallbacks") > 0);
}

/// The arithmetic of the GPU's provider, with a loop for its threads: no GPU is needed.
fn the_provider_for_gpus_computes_what_openzfs_does() {
    let dir = tempfile::tempdir().unwrap();
    let library = compile_as(&["-x", "c", "-DZWHY_ON_HOST"], "gpu/gpu.cu".as_ref(), dir.path(), "gpu.so");
    let fixed = format!("{ROWS}\nprovider_check = 1\nzia_checksum = 1\nprovider = {library:?}");
    let steps = ["write", "lose", "read", "verify"];
    let layouts = ["raidz1", "raidz2", "raidz3"];
    let factors = format!("layout = {layouts:?}\nchecksum = [\"fletcher4\", \"sha256\"]");
    let result = play_steps(&factors, &fixed, "8M", &steps);
    assert_eq!(result.runs.len(), 2 * layouts.len());
    for run in &result.runs {
        let cell = &run.variant;
        let calls = |name: &str, counter: &str| count(run.step(name).unwrap(), counter);
        assert!(calls("write", "offload_raidz_gen.calls") >= 256, "{cell}");
        assert!(calls("write", "offload_checksum.calls") >= 256, "{cell}");
        assert!(calls("read", "offload_raidz_rec.calls") > 100, "{cell}");
        for verb in ["raidz_gen", "raidz_rec", "checksum"] {
            for name in ["write", "read"] {
                assert_eq!(calls(name, &format!("offload_{verb}.differences")), 0, "{cell} {name} {verb}");
                assert_eq!(calls(name, &format!("offload_{verb}.fallbacks")), 0, "{cell} {name} {verb}");
            }
        }
    }
}

/// What goes to nvCOMP and comes back, with liblz4 and libzstd in its place; OpenZFS alone reads what was written (`verify`).
fn codecs_of_the_provider_for_gpus_are_there_where_nvcomp_was() {
    let dir = tempfile::tempdir().unwrap();
    let build = |nvcomp: &str, name: &str| {
        let how = ["-x", "c", "-DZWHY_ON_HOST", nvcomp];
        compile_as(&how, "gpu/gpu.cu".as_ref(), dir.path(), name)
    };
    let (with, without) = (build("-DZWHY_NVCOMP", "with.so"), build("-UZWHY_NVCOMP", "without.so"));
    let fixed = "provider_strict = 1\nzia_checksum = 1\nrecordsize = \"128K\"\n\
                 layout = \"raidz2\"\ndisks = 5";
    let factors = format!(
        "provider = [{with:?}, {without:?}]\ncompression = [\"lz4\", \"zstd\"]\nzia_compress = [0, 1]\nzia_decompress = [0, 1]"
    );
    let result = play(&factors, fixed);
    assert_eq!(result.runs.len(), 16);
    for run in &result.runs {
        let has = run.factors["provider"].ends_with("with.so");
        for (name, verb) in [("overwrite", "compress"), ("read", "decompress")] {
            let of = |what: &str| count(run.step(name).unwrap(), &format!("offload_{verb}.{what}"));
            let (calls, fallbacks) = (of("calls"), of("fallbacks"));
            match (run.factors[&format!("zia_{verb}")] == "1", has) {
                (true, true) => assert!(calls >= 64 && fallbacks == 0, "{}: {verb}", run.variant),
                (true, false) => assert!(calls == 0 && fallbacks >= 64, "{}: {verb}", run.variant),
                (false, _) => assert_eq!(calls + fallbacks, 0, "{}: {verb}", run.variant),
            }
        }
    }
}

fn without_a_cuda_compiler_nothing_is_built_and_that_is_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/gpu");
    for target in ["gpu.so", "measure"] {
        // What was built here before stays.
        let arguments = ["--no-print-directory", "-W", "kernels.h", "NVCC=no-such-compiler", target];
        let output = Command::new("make").arg("-C").arg(&folder).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert!(said.contains(&format!("{target} is not built: no-such-compiler is missing")), "{said}");
    }
    // `echo` compiles nothing, and tells what it was asked to do.
    let arguments =
        ["--no-print-directory", "-W", "kernels.h", "NVCC=echo", "NVCOMP=/no-such-folder", "gpu.so"];
    let output = Command::new("make").arg("-C").arg(&folder).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("gpu.so leaves LZ4 and zstd to OpenZFS: /no-such-folder/include/nvcomp.h is missing"),
        "{said}"
    );
    assert!(!said.contains("ZWHY_NVCOMP"), "{said}");
}

fn a_provider_that_crashes_or_hangs_fails_its_cell_only() {
    let dir = tempfile::tempdir().unwrap();
    let provider = |name: &str, does: &str| {
        let source = dir.path().join(format!("{name}.c"));
        let text = format!(
            "#include <stdlib.h>\n#include <unistd.h>\n#include \"zwhy_offload.h\"\n\
             static enum zwhy_result compress(void *to, size_t *room, const void *from, size_t size, int level)\n\
             {{ (void)to; (void)room; (void)from; (void)size; (void)level; {does} return ZWHY_ERROR; }}\n\
             const struct zwhy_provider *zwhy_offload_provider(void)\n\
             {{ static const struct zwhy_provider own = {{ .version = ZWHY_OFFLOAD_VERSION, .compress = compress }}; \
             return &own; }}\n"
        );
        std::fs::write(&source, text).unwrap();
        compile(&source, dir.path(), &format!("{name}.so"))
    };
    let (crash, hang) = (provider("crash", "abort();"), provider("hang", "for (;;) pause();"));
    let half = dir.path().join("half.c");
    let text = "#include \"zwhy_offload.h\"\nstatic enum zwhy_result rec(const struct zwhy_row *row, const int *lost, \
                int losts, const int *valid) { (void)row; (void)lost; (void)losts; (void)valid; return ZWHY_ERROR; }\n\
                const struct zwhy_provider *zwhy_offload_provider(void) { static const struct zwhy_provider own = \
                { .version = ZWHY_OFFLOAD_VERSION, .raidz_rec = rec }; return &own; }\n";
    std::fs::write(&half, text).unwrap();
    let half = compile(&half, dir.path(), "half.so");
    let factors = format!("provider = [{crash:?}, {hang:?}, {half:?}, \"none\"]");
    let experiment = specified(&factors, "compression = \"gzip-6\"", "8M", &["write", "verify"]);
    let mut options = options(&dir.path().join("out"));
    options.silence = Duration::from_secs(4);
    let result = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap();
    assert_eq!(result.runs.iter().map(|r| r.variant.as_str()).collect::<Vec<_>>(), ["none"]);
    for (name, says) in
        [("crash.so", "SIGABRT"), ("hang.so", "said nothing for 4 s"), ("half.so", "DPUSM wants both")]
    {
        let failed = result.failed.iter().find(|f| f.variant.ends_with(name)).unwrap();
        assert!(failed.error.contains(says), "{name}: {}", failed.error);
    }

    // What is not there is said before anything runs.
    let absent = dir.path().join("absent.so");
    let factors = format!("provider = [{absent:?}, \"none\"]");
    let experiment = specified(&factors, "compression = \"gzip-6\"", "8M", &["write"]);
    options.out = dir.path().join("none");
    let error = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("absent.so: there is no such file"), "{error}");
}
