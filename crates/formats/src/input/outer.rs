//! Undoing what wraps a whole file: gzip, zstd and xz, within the decompression limit.

use super::Bytes;
use super::spill::{self, Stream};
use crate::{ErrorKind, FormatError, Input, Limits};
use liblzma::stream::CONCATENATED;
use std::io::{self, Read};

/// Wrappings that are undone one inside the other.
const MAX_LAYERS: usize = 3;

/// Memory that reading an xz stream may take; `xz -9` asks for 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// One way to wrap a file.
#[derive(Clone, Copy)]
enum Wrapping {
    Gzip,
    Zstd,
    Xz,
}

impl Wrapping {
    fn of(bytes: &[u8]) -> Option<Wrapping> {
        if bytes.starts_with(&[0x1f, 0x8b]) {
            Some(Wrapping::Gzip)
        } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Some(Wrapping::Zstd)
        } else if bytes.starts_with(b"\xfd7zXZ\0") {
            Some(Wrapping::Xz)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Wrapping::Gzip => "gzip",
            Wrapping::Zstd => "zstd",
            Wrapping::Xz => "xz",
        }
    }

    fn reader<'a>(self, bytes: &'a [u8]) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Wrapping::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
            Wrapping::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
            Wrapping::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(bytes, stream))
            }
        })
    }
}

/// The input without its compression; what a cut stream still gives is kept and noted.
pub(crate) fn unwrap(mut input: Input, limits: &Limits) -> Result<Input, FormatError> {
    for _ in 0..MAX_LAYERS {
        let Some(wrapping) = Wrapping::of(input.bytes()) else { return Ok(input) };
        let (bytes, note) = undo(&input, wrapping, limits)?;
        input = input.replaced(bytes, note);
    }
    Ok(input)
}

fn undo(input: &Input, wrapping: Wrapping, limits: &Limits) -> Result<(Bytes, Option<String>), FormatError> {
    let what = wrapping.name();
    let reader = wrapping.reader(input.bytes()).map_err(|e| FormatError::read_io(input.name(), &e))?;
    let Stream { bytes, broken } = spill::collect(input.name(), reader, limits.max_decompressed, limits)?;
    let len = bytes.as_slice().len();
    if len as u64 > limits.max_decompressed {
        let found = format!("its {what} stream holds more than {} bytes", limits.max_decompressed);
        return Err(FormatError::read(ErrorKind::TooLarge, input.name(), found)
            .hint("decompress it by hand and import the plain file"));
    }
    if len == 0 && broken.is_some() {
        let found = format!("its {what} stream is damaged from the start");
        return Err(FormatError::read(ErrorKind::Damaged, input.name(), found).hint("copy the file again"));
    }
    let note = broken.map(|error| {
        format!(
            "the {what} stream breaks after {len} decompressed bytes ({error}); what follows is lost, and how much it was is not known: copy the file again"
        )
    });
    Ok((bytes, note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn xz(data: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

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
    fn two_xz_streams_after_one_another_are_read() {
        let wrapped = [xz(b"main;read 1\n"), xz(b"main;write 2\n")].concat();
        let input = unwrap(Input::from_bytes("x", wrapped), &Limits::default()).unwrap();
        assert_eq!(input.bytes(), b"main;read 1\nmain;write 2\n");
    }

    #[test]
    fn a_cut_stream_keeps_its_beginning_and_says_so() {
        let data: Vec<u8> =
            (0..200_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        for mut cut in [gz(&data), xz(&data), zstd::encode_all(&data[..], 1).unwrap()] {
            cut.truncate(cut.len() / 2);
            let input = unwrap(Input::from_bytes("x", cut), &Limits::default()).unwrap();
            assert!(!input.bytes().is_empty() && data.starts_with(input.bytes()));
            assert_eq!(input.notes().len(), 1);
        }
    }
}
