//! Undoing what wraps a whole file: gzip and zstd, within the decompression limit.

use crate::{ErrorKind, FormatError, Input, Limits};
use std::io::Read;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Wrappings that are undone one inside the other.
const MAX_LAYERS: usize = 3;

/// The input without its compression; what a cut stream still gives is kept and noted.
pub(crate) fn unwrap(mut input: Input, limits: &Limits) -> Result<Input, FormatError> {
    for _ in 0..MAX_LAYERS {
        let bytes = input.bytes();
        let (what, out) = if bytes.starts_with(&GZIP) {
            ("gzip", read_up_to(flate2::read::MultiGzDecoder::new(bytes), limits))
        } else if bytes.starts_with(&ZSTD) {
            match zstd::stream::read::Decoder::with_buffer(bytes) {
                Ok(decoder) => ("zstd", read_up_to(decoder, limits)),
                Err(e) => return Err(FormatError::read_io(input.name(), &e)),
            }
        } else {
            return Ok(input);
        };
        if out.bytes.len() as u64 > limits.max_decompressed {
            let found = format!("its {what} stream holds more than {} bytes", limits.max_decompressed);
            return Err(FormatError::read(ErrorKind::TooLarge, input.name(), found)
                .hint("decompress it by hand and import the plain file"));
        }
        if out.bytes.is_empty() && out.error.is_some() {
            let found = format!("its {what} stream is damaged from the start");
            return Err(
                FormatError::read(ErrorKind::Damaged, input.name(), found).hint("copy the file again")
            );
        }
        let note = out.error.map(|error| {
            format!(
                "the {what} stream breaks after {} decompressed bytes ({error}); what follows is lost, and how much it was is not known: copy the file again",
                out.bytes.len()
            )
        });
        input = input.replaced(out.bytes, note);
    }
    Ok(input)
}

struct Decompressed {
    bytes: Vec<u8>,
    error: Option<std::io::Error>,
}

/// Reads to the end, to an error, or to one byte beyond the limit.
fn read_up_to(reader: impl Read, limits: &Limits) -> Decompressed {
    let mut bytes = Vec::new();
    // read_to_end keeps what it read before an error.
    let error = reader.take(limits.max_decompressed.saturating_add(1)).read_to_end(&mut bytes).err();
    Decompressed { bytes, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gz(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_in_zstd_is_undone_and_a_bomb_refused() {
        let data = vec![b'a'; 100_000];
        let wrapped = zstd::encode_all(&gz(&data)[..], 1).unwrap();
        let limits = Limits::default();
        let input = unwrap(Input::from_bytes("x", wrapped.clone()), &limits).unwrap();
        assert_eq!(input.bytes(), data);
        let small = Limits { max_decompressed: 99_999, ..limits };
        let error = unwrap(Input::from_bytes("x", wrapped), &small).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn a_cut_stream_keeps_its_beginning_and_says_so() {
        let data: Vec<u8> =
            (0..200_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        let mut cut = gz(&data);
        cut.truncate(cut.len() / 2);
        let input = unwrap(Input::from_bytes("x", cut), &Limits::default()).unwrap();
        assert!(!input.bytes().is_empty() && data.starts_with(input.bytes()));
        assert_eq!(input.notes().len(), 1);
    }
}
