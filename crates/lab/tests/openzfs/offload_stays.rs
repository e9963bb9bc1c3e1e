//! Blocks stay in the provider from one stage to the next: in another process and in a plugin, until the host needs them.

use crate::harness::{CHILD, Test, options};
use crate::offload::{compile, count, play, play_steps, specified, step};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use zwhy_lab::{ChildProgram, NullRecorder, Silent, StepResult, VerifyOptions, run};

pub const TESTS: &[Test] = &[
    ("a_block_is_moved_into_another_process_once", a_block_is_moved_into_another_process_once),
    ("blocks_that_die_with_the_provider_are_made_again", blocks_that_die_with_the_provider_are_made_again),
    ("lz4_of_a_provider_is_read_by_openzfs", lz4_of_a_provider_is_read_by_openzfs),
    ("zstd_of_a_provider_is_read_by_openzfs", zstd_of_a_provider_is_read_by_openzfs),
    ("zstd_that_was_kept_is_read_by_stock_openzfs", zstd_that_was_kept_is_read_by_stock_openzfs),
    ("each_level_of_zstd_is_handed_over", each_level_of_zstd_is_handed_over),
    ("frames_of_a_plugin_are_looked_at", frames_of_a_plugin_are_looked_at),
    ("zstd_that_dies_with_the_provider_is_made_again", zstd_that_dies_with_the_provider_is_made_again),
    (
        "the_example_keeps_blocks_and_an_older_plugin_copies",
        the_example_keeps_blocks_and_an_older_plugin_copies,
    ),
];

const VERBS: [&str; 6] = ["compress", "decompress", "checksum", "raidz_gen", "raidz_rec", "file_write"];

/// What is not in the provider yet goes over the link, and nothing else does.
fn each_byte_is_counted(step: &StepResult, verbs: &[&str]) {
    for verb in verbs {
        let of = |what: &str| count(step, &format!("offload_{verb}.{what}"));
        let moved = of("bytes_in") - of("bytes_stayed");
        // What a provider refuses was moved in to ask it.
        match of("fallbacks") {
            0 => assert_eq!(of("link_bytes_in"), moved, "{}: {verb}", step.name),
            _ => assert!(of("link_bytes_in") >= moved, "{}: {verb}", step.name),
        }
    }
}

fn a_block_is_moved_into_another_process_once() {
    let fixed = "provider = \"remote\"\nprovider_strict = 1\nzia_checksum = 1\ncompression = \"gzip-6\"\n\
                 recordsize = \"128K\"\nlayout = \"raidz2\"\ndisks = 5";
    let result = play("zia_file_write = [0, 1]", fixed);
    for cell in ["zia_file_write=0", "zia_file_write=1"] {
        let write = step(&result, cell, "overwrite");
        let of = |name: &str| count(write, &format!("offload_{name}"));
        each_byte_is_counted(write, &VERBS);
        // All that was compressed there gets its checksum and its parity there.
        let compressed = of("compress.bytes_out");
        assert!(compressed > 1 << 20, "{cell}: {compressed}");
        assert!(of("checksum.bytes_stayed") >= compressed, "{cell}");
        assert!(of("raidz_gen.bytes_stayed") >= compressed, "{cell}");
        // But for blocks that hold their own checksum, which is written into them when it is known.
        assert!(of("raidz_gen.link_bytes_in") * 50 < of("raidz_gen.bytes_in"), "{cell}");
        assert_eq!(of("file_write.bytes_stayed") > 0, cell.ends_with('1'), "{cell}");
        // Parity is brought back for the host to write it, and not where the provider does.
        let parity = of("raidz_gen.bytes_out");
        match cell.ends_with('1') {
            true => assert!(of("raidz_gen.link_bytes_out") < parity, "{cell}"),
            false => assert_eq!(of("raidz_gen.link_bytes_out"), parity, "{cell}"),
        }
        // What was verified there is decompressed there.
        let read = step(&result, cell, "read");
        each_byte_is_counted(read, &VERBS);
        assert!(count(read, "offload_decompress.calls") >= 64, "{cell}");
        assert_eq!(count(read, "offload_decompress.link_bytes_in"), 0, "{cell}");
    }
}

/// Calls at which the provider dies: neighbours, as which call belongs to which stage differs from run to run, and what
/// dies at a call to compress is still in the host.
const DEATHS: [u32; 12] = [5, 22, 41, 42, 43, 44, 60, 61, 62, 63, 83, 120];

fn blocks_that_die_with_the_provider_are_made_again() {
    let fixed = "provider = \"remote\"\nprovider_strict = 1\nzia_checksum = 1\nzia_file_write = 1\n\
                 compression = \"gzip-6\"\nrecordsize = \"128K\"\nlayout = \"raidz2\"\ndisks = 5";
    let factor = format!("provider_dies_after = {DEATHS:?}");
    let result = play_steps(&factor, fixed, "4M", &["write", "overwrite", "reimport", "read", "verify"]);
    let mut remade = 0;
    for run in &result.runs {
        let all = |name: &str| run.steps.iter().map(|step| count(step, name)).sum::<i64>();
        assert_eq!(all("offload.switched_off"), 1, "{}", run.variant);
        assert_eq!(run.steps.iter().flat_map(|s| &s.marks).filter(|m| m.name == "provider").count(), 1);
        remade += VERBS.iter().map(|verb| all(&format!("offload_{verb}.remade"))).sum::<i64>();
    }
    assert_eq!(result.runs.len(), DEATHS.len());
    assert!(remade > 0, "no provider had blocks that the host lacked when it died");
}

fn lz4_of_a_provider_is_read_by_openzfs() {
    is_read_by_openzfs("lz4");
}

fn zstd_of_a_provider_is_read_by_openzfs() {
    is_read_by_openzfs("zstd");
}

/// Each switch alone: what one side wrote the other reads, and `verify` is OpenZFS alone.
fn is_read_by_openzfs(compression: &str) {
    let fixed = &format!(
        "provider_strict = 1\nzia_checksum = 1\ncompression = {compression:?}\nrecordsize = \"128K\"\n\
         layout = \"raidz2\"\ndisks = 5"
    );
    let factors =
        "provider = [\"remote\", \"software\", \"ideal\"]\nzia_compress = [0, 1]\nzia_decompress = [0, 1]";
    let result = play(factors, fixed);
    assert_eq!(result.runs.len(), 12);
    for run in &result.runs {
        let remote = run.factors["provider"] == "remote";
        for (name, verb) in [("overwrite", "compress"), ("read", "decompress")] {
            let step = run.step(name).unwrap();
            let of = |what: &str| count(step, &format!("offload_{verb}.{what}"));
            match run.factors[&format!("zia_{verb}")] == "1" {
                true => assert!(of("calls") >= 64 && of("fallbacks") == 0, "{}: {verb}", run.variant),
                false => assert_eq!(of("calls"), 0, "{}: {verb}", run.variant),
            }
        }
        // With its length in front the block goes on in the provider.
        let write = run.step("overwrite").unwrap();
        if remote && run.factors["zia_compress"] == "1" {
            let made = count(write, "offload_compress.bytes_out");
            assert!(count(write, "offload_checksum.bytes_stayed") >= made, "{}", run.variant);
        }
    }
}

/// With the installed OpenZFS, and with each that `ZWHY_TEST_LIBZPOOL` names; zdb walks the blocks where it is.
fn zstd_that_was_kept_is_read_by_stock_openzfs() {
    let fixed = "provider = \"remote\"\nprovider_strict = 1\nzia_checksum = 1\nzia_file_write = 1\n\
                 recordsize = \"128K\"\nlayout = \"raidz2\"\ndisks = 5";
    let factors = "compression = [\"zstd\", \"zstd-fast-10\"]";
    let experiment = specified(factors, fixed, "4M", &["write", "overwrite"]);
    let others = std::env::var_os("ZWHY_TEST_LIBZPOOL");
    let others = others.iter().flat_map(std::env::split_paths);
    for library in std::iter::once(None).chain(others.map(Some)) {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let mut options = options(&out);
        (options.keep, options.library) = (true, library.clone());
        let result = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap();
        assert_eq!((result.runs.len(), result.failed.len()), (2, 0), "{:?}", result.failed);
        for run in &result.runs {
            let made = count(run.step("write").unwrap(), "offload_compress.bytes_out");
            assert!(made > 1 << 20, "{}: {made}", run.variant);
        }
        let verify = VerifyOptions {
            stock: true,
            library,
            child: ChildProgram::this([CHILD]),
            silence: Duration::from_secs(60),
            cancel: Arc::default(),
        };
        let verified = zwhy_lab::verify(&out, &verify).unwrap();
        assert_eq!(verified.len(), 2);
        assert!(verified.iter().all(|pool| pool.is_good() && pool.bytes == Ok(4 << 20)), "{verified:?}");
        let zdb = Command::new("zdb").output().is_ok();
        assert!(verified.iter().all(|pool| pool.zdb.is_some() == zdb), "{verified:?}");
    }
}

fn each_level_of_zstd_is_handed_over() {
    let levels = ["zstd-1", "zstd-19", "zstd-fast", "zstd-fast-10", "zstd-fast-20", "zstd-fast-1000"];
    let fixed = "provider = \"remote\"\nprovider_strict = 1\nrecordsize = \"128K\"";
    let steps = ["write", "reimport", "read", "verify"];
    let result = play_steps(&format!("compression = {levels:?}"), fixed, "4M", &steps);
    let made = |level: &str| count(step(&result, level, "write"), "offload_compress.bytes_out");
    for level in levels {
        for (name, verb) in [("write", "compress"), ("read", "decompress")] {
            let of = |what: &str| count(step(&result, level, name), &format!("offload_{verb}.{what}"));
            // What a fast level makes may be too large to be kept, and is not decompressed then.
            let least = if verb == "compress" { 32 } else { 0 };
            assert!(of("calls") >= least && of("fallbacks") == 0, "{level}: {verb}");
        }
    }
    // A level that were taken for another would make as much as that; of this data the fastest keeps nothing.
    assert!(
        made("zstd-19") <= made("zstd-1") && made("zstd-1") > 0,
        "{} and {}",
        made("zstd-19"),
        made("zstd-1")
    );
    assert_ne!(made("zstd-fast-1000"), made("zstd-1"));
}

/// What it says to have made is no frame without a magic number.
const FRAMES: &str = "#include \"zwhy_offload.h\"\n#include <string.h>\n\
    static enum zwhy_result compress(enum zwhy_codec codec, int level, void *to, size_t *to_size, const void *from,\n\
      size_t size)\n\
    { static const unsigned char frame[] = { FRAME }; (void)codec; (void)level; (void)from; (void)size;\n\
      memcpy(to, frame, sizeof(frame)); *to_size = sizeof(frame); return ZWHY_OK; }\n\
    static const struct zwhy_provider own = { .version = ZWHY_OFFLOAD_VERSION, .compress_as = compress };\n\
    const struct zwhy_provider *zwhy_offload_provider(void) { return &own; }\n";

fn frames_of_a_plugin_are_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let plugins: Vec<_> = [
        // With the magic number; with a dictionary; cut off; with bytes behind it; of a reserved kind of block.
        ("magic", "0x28, 0xb5, 0x2f, 0xfd, 0, 0x38, 1, 0, 0"),
        ("dictionary", "1, 0x38, 7, 1, 0, 0"),
        ("cut", "0, 0x38, 0x81, 0, 0"),
        ("long", "0, 0x38, 1, 0, 0, 9"),
        ("reserved", "0, 0x38, 7, 0, 0"),
        ("empty", ""),
    ]
    .into_iter()
    .map(|(name, frame)| {
        let source = dir.path().join(format!("{name}.c"));
        std::fs::write(&source, FRAMES.replace("FRAME", frame)).unwrap();
        compile(&source, dir.path(), &format!("{name}.so"))
    })
    .collect();
    let fixed = "zia_decompress = 0\ncompression = \"zstd\"\nrecordsize = \"128K\"";
    let result = play_steps(&format!("provider = {plugins:?}"), fixed, "2M", &["write", "verify"]);
    assert_eq!(result.runs.len(), plugins.len());
    for run in &result.runs {
        let of = |what: &str| count(run.step("write").unwrap(), &format!("offload_compress.{what}"));
        // Nothing made is no failure: the block is stored as it is.
        match run.variant.contains("empty") {
            true => assert!(of("calls") >= 16 && of("fallbacks") == 0, "{}", run.variant),
            false => assert!(of("calls") == 0 && of("fallbacks") >= 16, "{}", run.variant),
        }
    }
}

fn zstd_that_dies_with_the_provider_is_made_again() {
    // Without its writes of files: they are most of the calls, and then the host has what zstd made.
    let fixed = "provider = \"remote\"\nprovider_strict = 1\nzia_checksum = 1\n\
                 compression = \"zstd\"\nrecordsize = \"128K\"\nlayout = \"raidz2\"\ndisks = 5";
    let factor = format!("provider_dies_after = {DEATHS:?}");
    let result = play_steps(&factor, fixed, "4M", &["write", "overwrite", "reimport", "read", "verify"]);
    let remade = result.runs.iter().flat_map(|run| &run.steps);
    let remade: i64 = remade.map(|step| count(step, "offload_compress.remade")).sum();
    assert_eq!(result.runs.len(), DEATHS.len());
    assert!(remade > 0, "no provider had compressed blocks that the host lacked when it died");
}

/// A provider as they were before blocks could stay.
const OLDER: &str = "#include \"zwhy_offload.h\"\n#include <string.h>\n\
    static enum zwhy_result sum(enum zwhy_checksum kind, uint64_t words[4], const void *from, size_t size)\n\
    { const unsigned char *at = from; memset(words, 0, 32); if (kind != ZWHY_FLETCHER4) return ZWHY_NOT_SUPPORTED;\n\
      for (size_t i = 0; i < size; i += 4) { uint32_t word; memcpy(&word, at + i, 4); words[0] += word;\n\
      words[1] += words[0]; words[2] += words[1]; words[3] += words[2]; } return ZWHY_OK; }\n\
    static enum zwhy_result gen(const struct zwhy_row *row)\n\
    { memset(row->columns[0], 0, row->size); for (int i = 1; i <= row->data; i++) {\n\
      for (size_t at = 0; at < row->size; at++) { row->columns[0][at] ^= row->columns[i][at]; } }\n\
      return ZWHY_OK; }\n\
    /* What stands behind the verbs of version 2 is none of it. */\n\
    static struct { struct zwhy_provider own; } older = { { .version = 2, .checksum = sum, .raidz_gen = gen,\n\
      .put = (void *)1, .checksum_block = (void *)1 } };\n\
    const struct zwhy_provider *zwhy_offload_provider(void) { return &older.own; }\n";

fn the_example_keeps_blocks_and_an_older_plugin_copies() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("older.c");
    std::fs::write(&source, OLDER).unwrap();
    let older = compile(&source, dir.path(), "older.so");
    let example = compile("example.c".as_ref(), dir.path(), "example.so");
    let fixed = "provider_check = 1\nprovider_strict = 1\nzia_checksum = 1\ncompression = \"off\"\n\
                 recordsize = \"32K\"\nio_size = \"32K\"\nlayout = \"raidz1\"\ndisks = 5";
    let factors = format!("provider = [{older:?}, {example:?}]");
    let result = play_steps(&factors, fixed, "8M", &["write", "reimport", "read", "verify"]);
    assert_eq!(result.runs.len(), 2);
    for run in &result.runs {
        let keeps = run.variant.contains("example");
        for name in ["write", "read"] {
            let step = run.step(name).unwrap();
            each_byte_is_counted(step, &["checksum", "raidz_gen"]);
            for verb in ["checksum", "raidz_gen"] {
                assert_eq!(count(step, &format!("offload_{verb}.differences")), 0, "{}", run.variant);
            }
        }
        let write = run.step("write").unwrap();
        let of = |what: &str| count(write, &format!("offload_raidz_gen.{what}"));
        assert!(of("calls") >= 256, "{}", run.variant);
        match keeps {
            // All but blocks that hold their own checksum, which is written into them when it is known.
            true => assert!(of("link_bytes_in") * 50 < of("bytes_in"), "{}", of("link_bytes_in")),
            false => assert_eq!(of("bytes_stayed"), 0, "it copies for each stage"),
        }
    }
}
