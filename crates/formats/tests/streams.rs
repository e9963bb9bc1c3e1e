//! Long streams are read without holding them: bytes held are counted, not time.

#[path = "support/held.rs"]
mod held;

use std::io::{Read, Write};
use zwhy_formats::{ImportOptions, Input, Limits, import};

/// Far more than may be held, and little enough to make in a test.
const STREAM: usize = 16 << 20;

/// What an import may hold besides: the buffer, which grows by doubling, and rows of samples.
const ROOM: usize = 6 << 20;

fn options() -> ImportOptions {
    ImportOptions { limits: Limits { max_held: 1 << 20, ..Limits::default() }, ..ImportOptions::default() }
}

/// One sample in the text of perf script, with as many frames as kernel stacks have.
fn sample() -> String {
    let mut text = "fio 4711/4712 [003]  2374.923095:    1001001 cpu-clock:ppp: \n".to_owned();
    for depth in 0..30 {
        text += &format!("\tffffffffc0a3{depth:04x} zio_do_crypt_uio_at_depth_{depth}+0xc3 ([zfs])\n");
    }
    text + "\n"
}

/// A pipe that gives the same text again and again.
struct Again {
    text: Vec<u8>,
    times: usize,
    at: usize,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.text.len() && self.times > 1 {
            (self.at, self.times) = (0, self.times - 1);
        }
        let read = (&self.text[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

fn pipe() -> (Again, u64) {
    let text = sample().into_bytes();
    let times = STREAM / text.len();
    (Again { text, times, at: 0 }, times as u64)
}

#[test]
fn a_long_pipe_of_text_is_not_held_in_memory() {
    let options = options();
    let (pipe, samples) = pipe();
    let (imported, held) = held::most_held(|| {
        let input = Input::from_reader("standard input", pipe, &options.limits).unwrap();
        import(input, &options).unwrap()
    });
    assert_eq!(imported.stats.kept, samples);
    assert!(held < options.limits.max_held * 3 + ROOM, "{held} bytes held for a pipe of {STREAM}");
}

#[test]
fn neither_is_what_a_small_compressed_file_becomes() {
    let options = options();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    let outs: [&mut dyn Write; 3] = [&mut gz, &mut xz, &mut zstd];
    for out in outs {
        std::io::copy(&mut pipe().0, out).unwrap();
    }
    let packed =
        [("gzip", gz.finish().unwrap()), ("xz", xz.finish().unwrap()), ("zstd", zstd.finish().unwrap())];
    for (what, packed) in packed {
        let (imported, held) =
            held::most_held(|| import(Input::from_bytes("text", packed), &options).unwrap());
        assert_eq!(imported.stats.kept, pipe().1, "{what}");
        assert!(held < options.limits.max_held * 3 + ROOM, "{held} bytes held for {what} of {STREAM}");
    }
}
