//! Feeds mutated inputs to every importer: none may panic, take much memory, or lose count.
//!
//! A short fixed run by default; `ZWHY_FUZZ_SECONDS=600` makes it long, `ZWHY_FUZZ_SEED` starts it
//! elsewhere. An input that fails is written to the temporary directory and named in the message.

#[path = "support/gperftools_writer.rs"]
mod gperftools;
#[path = "support/held.rs"]
mod held;
#[path = "support/perf_data_writer.rs"]
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use zwhy_formats::{ImportOptions, Limits, import_bytes, importers};

/// Mutants of each seed in the short run.
const SHORT: u64 = 40;

/// Most that reading one small input may hold at a time: a zstd window and room for tables.
const MOST_BYTES: usize = 192 << 20;

/// xorshift64*: the same inputs on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Seeds of all formats: files that the writer makes, and every file in the folder of seeds.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for big in [false, true] {
        let w = writer::usual(big, 20);
        for (name, written) in [
            ("file", w.file()),
            ("pipe", w.pipe()),
            ("killed", w.killed()),
            ("zstd", w.compressed(200, false).file()),
            ("zstd2", w.compressed(200, true).pipe()),
        ] {
            seeds.push((format!("perf-data-{name}-{big}"), written.bytes));
        }
    }
    for machine in gperftools::MACHINES {
        seeds.push((format!("gperftools-{machine:?}"), gperftools::usual(machine)));
        seeds.push((format!("gperftools-java-{machine:?}"), gperftools::java(machine)));
    }
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let mut folders = vec![tests];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(mut bytes) = std::fs::read(&path) {
                bytes.truncate(64 << 10);
                seeds.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes));
            }
        }
    }
    seeds
}

fn mutate(random: &mut Random, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut out = seed.to_vec();
    for _ in 0..1 + random.below(8) {
        let at = random.below(out.len());
        match random.below(9) {
            0 => out.truncate(at),
            1 if !out.is_empty() => out[at] ^= 1 << random.below(8),
            2 if !out.is_empty() => out[at] = random.next() as u8,
            3 => {
                let words = [0u64, 1, 7, 8, 0x7fff_ffff, 0xffff_ffff, 10 << 30, u64::MAX, u64::MAX - 512];
                let word = words[random.below(words.len())].to_le_bytes();
                let width = [1, 2, 4, 8][random.below(4)].min(out.len().saturating_sub(at));
                out[at..at + width].copy_from_slice(&word[..width]);
            }
            4 => {
                let end = at + random.below((out.len() - at).min(200));
                out.drain(at..end);
            }
            5 if out.len() < 256 << 10 => {
                let end = at + random.below((out.len() - at).min(2_000));
                let part = out[at..end].to_vec();
                let to = random.below(out.len());
                out.splice(to..to, part);
            }
            6 if !other.is_empty() => {
                let from = random.below(other.len());
                let end = from + random.below((other.len() - from).min(500));
                out.splice(at..at, other[from..end].iter().copied());
            }
            7 => {
                let tokens: [&[u8]; 12] = [
                    b"\n",
                    b"\n\n",
                    b";",
                    b" ",
                    b"\t",
                    b"\0",
                    b"99999999999999999999",
                    b"-1",
                    b"%",
                    b"(",
                    b"\xff",
                    b"<",
                ];
                let token = tokens[random.below(tokens.len())];
                out.splice(at..at, token.repeat(1 + random.below(40)));
            }
            _ => {}
        }
    }
    out
}

/// What went wrong with an input, if anything did.
fn try_input(bytes: &[u8], format: Option<&str>) -> Option<String> {
    let options = ImportOptions {
        format: format.map(str::to_owned),
        host_symbols: false,
        limits: Limits { max_decompressed: 16 << 20, ..Limits::default() },
        ..ImportOptions::default()
    };
    let (result, held) =
        held::most_held(|| catch_unwind(AssertUnwindSafe(|| import_bytes("fuzz", bytes.to_vec(), &options))));
    match result {
        Err(_) => Some("it panics".to_owned()),
        Ok(_) if held > MOST_BYTES => Some(format!("it holds {held} bytes for {} of input", bytes.len())),
        Ok(Ok(imported)) if !imported.stats.balanced() => Some(format!("unbalanced: {:?}", imported.stats)),
        Ok(Err(error)) if error.to_string().chars().any(char::is_control) => {
            Some(format!("message: {error:?}"))
        }
        Ok(_) => None,
    }
}

#[test]
fn mutated_inputs_are_survived_by_every_importer() {
    let seconds = std::env::var("ZWHY_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let until = seconds.map(|s| Instant::now() + Duration::from_secs(s));
    let start = std::env::var("ZWHY_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1u64);
    let seeds = seeds();
    let mut random = Random(start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut round = 0;
    while until.map_or(round < SHORT, |end| Instant::now() < end) {
        for (name, seed) in &seeds {
            let other = &seeds[random.below(seeds.len())].1;
            let input = if round == 0 { seed.clone() } else { mutate(&mut random, seed, other) };
            // By content, and now and then as what it is not.
            let forced = (random.below(4) == 0).then(|| importers()[random.below(importers().len())].name);
            if let Some(problem) = try_input(&input, forced) {
                let path = std::env::temp_dir().join(format!("zwhy-fuzz-{}-{round}", name.replace('/', "_")));
                let saved = std::fs::write(&path, &input);
                panic!("{name} as {forced:?}: {problem}; input in {} ({saved:?})", path.display());
            }
        }
        round += 1;
    }
}
