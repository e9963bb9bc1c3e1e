//! The zstd stream that runs through all compressed records of a file.
//!
//! perf compresses one stream and cuts it into records (tools/perf/util/zstd.c), so a record that
//! is missing or damaged takes all later ones with it, until a record begins a new frame.

use super::gap::Why;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes added to the output at a time.
const STEP: usize = 256 << 10;

pub struct ZstdStream {
    decoder: Option<Decoder<'static>>,
    /// The record before could not be decompressed.
    pub broken: bool,
    /// Decompressed bytes that may still come.
    left: u64,
}

impl ZstdStream {
    pub fn new(limit: u64) -> ZstdStream {
        ZstdStream { decoder: None, broken: false, left: limit }
    }

    /// Adds what `payload` decompresses to; on an error `out` keeps what came before it.
    pub fn feed(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Why> {
        if self.broken {
            if !payload.starts_with(&MAGIC) {
                return Err(Why::Compression);
            }
            (self.broken, self.decoder) = (false, None);
        }
        let start = out.len();
        let mut result = self.run(payload, out);
        if result == Err(Why::Compression) && payload.starts_with(&MAGIC) {
            // The stream before has no end; here is a new one.
            out.truncate(start);
            self.decoder = None;
            result = self.run(payload, out);
        }
        self.broken = result.is_err();
        result
    }

    fn run(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Why> {
        if self.decoder.is_none() {
            self.decoder = Some(Decoder::new().map_err(|_| Why::Compression)?);
        }
        let Some(decoder) = &mut self.decoder else { return Err(Why::Compression) };
        let mut input = InBuffer::around(payload);
        loop {
            let start = out.len();
            out.resize(start + STEP, 0);
            let mut output = OutBuffer::around(&mut out[start..]);
            let done = decoder.run(&mut input, &mut output);
            let written = output.pos();
            out.truncate(start + written);
            done.map_err(|_| Why::Compression)?;
            self.left = self.left.checked_sub(written as u64).ok_or(Why::Limit)?;
            // A full step may have left more inside the decoder.
            if input.pos() == payload.len() && written < STEP {
                return Ok(());
            }
        }
    }
}
