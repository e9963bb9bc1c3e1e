//! The kinds of work, one runner each. Names are those of OpenZFS's properties where it has one.

use ctr::cipher::{KeyIvInit, StreamCipher};
use std::hint::black_box;
use std::io::{Read, Write};

/// Bytes of a record: OpenZFS's default recordsize.
pub const RECORD: usize = 128 << 10;
/// Copies go through memory, not through a cache.
const COPY: usize = 64 << 20;

/// CCM is one pass of CTR and one of CBC-MAC over the same bytes (RFC 3610). Each is run whole: the
/// passes of a record that fits the cache cost what the interleaved form costs at best. A macro,
/// because the bounds of a generic function over block ciphers would be longer than this.
macro_rules! ccm {
    ($cipher:ty, $key_length:literal) => {
        runner(|data| {
            let key = [7u8; $key_length];
            let mut mac = <cbc_mac::CbcMac<$cipher> as cbc_mac::KeyInit>::new(&key.into());
            cbc_mac::Mac::update(&mut mac, data);
            black_box(cbc_mac::Mac::finalize(mac));
            let mut stream = ctr::Ctr64BE::<$cipher>::new(&key.into(), &[0u8; 16].into());
            stream.apply_keystream(data);
            data.len()
        })
    };
}

/// One kind of work.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// `aes-256-gcm`, `zstd-3 compress`.
    pub name: &'static str,
    /// Library that does it.
    pub with: &'static str,
    prepare: fn(&[u8]) -> Option<Runner>,
}

/// All kinds, in the order in which they are shown. AES-192-GCM is not among them: no kept library
/// has it with vector code, and AES-256-GCM, with two rounds more, is a safe figure for it.
pub fn works() -> Vec<Work> {
    const CCM: &str = "RustCrypto aes, ctr and cbc-mac";
    let work = |name, with, prepare| Work { name, with, prepare };
    vec![
        work("aes-128-gcm", "ring", |_| gcm(&ring::aead::AES_128_GCM, 16)),
        work("aes-256-gcm", "ring", |_| gcm(&ring::aead::AES_256_GCM, 32)),
        work("aes-128-ccm", CCM, |_| ccm!(aes::Aes128, 16)),
        work("aes-192-ccm", CCM, |_| ccm!(aes::Aes192, 24)),
        work("aes-256-ccm", CCM, |_| ccm!(aes::Aes256, 32)),
        work("sha256", "RustCrypto sha2", |_| hash(|data| <sha2::Sha256 as sha2::Digest>::digest(data))),
        work("sha512", "RustCrypto sha2", |_| hash(|data| <sha2::Sha512 as sha2::Digest>::digest(data))),
        work("blake3", "blake3", |_| hash(blake3::hash)),
        work("fletcher4", "a loop of eight lanes", |_| hash(fletcher4)),
        work("lz4 compress", "lz4_flex", |_| {
            let mut out = vec![0u8; lz4_flex::block::get_maximum_output_size(RECORD)];
            runner(move |data| done(lz4_flex::block::compress_into(data, &mut out).is_ok(), data))
        }),
        work("lz4 decompress", "lz4_flex", |sample| {
            let packed = lz4_flex::block::compress(sample);
            let mut out = vec![0u8; RECORD];
            runner(move |_| lz4_flex::block::decompress_into(&packed, &mut out).unwrap_or(0))
        }),
        work("zstd-3 compress", "zstd", |_| zstd(3)),
        work("zstd-19 compress", "zstd", |_| zstd(19)),
        work("zstd decompress", "zstd", |sample| {
            let packed = zstd::bulk::compress(sample, 3).ok()?;
            let mut unpacker = zstd::bulk::Decompressor::new().ok()?;
            let mut out = vec![0u8; RECORD];
            runner(move |_| unpacker.decompress_to_buffer(&packed, &mut out).unwrap_or(0))
        }),
        work("gzip-6 compress", "flate2", |_| runner(|data| done(gzip(data, 6).is_some(), data))),
        work("gzip-9 compress", "flate2", |_| runner(|data| done(gzip(data, 9).is_some(), data))),
        work("gzip decompress", "flate2", |sample| {
            let packed = gzip(sample, 6)?;
            let mut out = Vec::with_capacity(RECORD);
            runner(move |_| {
                out.clear();
                flate2::read::ZlibDecoder::new(packed.as_slice()).read_to_end(&mut out).unwrap_or(0)
            })
        }),
        work("memory copy", "the standard library", |_| {
            let (from, mut to) = (vec![1u8; COPY], vec![0u8; COPY]);
            runner(move |_| {
                to.copy_from_slice(black_box(&from));
                black_box(&mut to);
                COPY
            })
        }),
    ]
}

/// Does one unit of work on `record` and returns the bytes done, as ZFS counts them (uncompressed).
pub(crate) type Runner = Box<dyn FnMut(&mut [u8]) -> usize>;

impl Work {
    /// What is prepared here (keys, compressed copies, buffers) is not part of the work.
    pub(crate) fn runner(&self, sample: &[u8]) -> Option<Runner> {
        (self.prepare)(sample)
    }
}

fn runner(run: impl FnMut(&mut [u8]) -> usize + 'static) -> Option<Runner> {
    Some(Box::new(run))
}

/// The bytes done; none when the library refused, which [`crate::measure()`] takes for no result.
fn done(good: bool, data: &[u8]) -> usize {
    if good { data.len() } else { 0 }
}

fn hash<T>(run: impl Fn(&[u8]) -> T + 'static) -> Option<Runner> {
    runner(move |data| {
        black_box(run(data));
        data.len()
    })
}

fn zstd(level: i32) -> Option<Runner> {
    let mut packer = zstd::bulk::Compressor::new(level).ok()?;
    let mut out = vec![0u8; RECORD * 2];
    runner(move |data| done(packer.compress_to_buffer(data, &mut out).is_ok(), data))
}

fn gcm(algorithm: &'static ring::aead::Algorithm, key_length: usize) -> Option<Runner> {
    use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey};
    let key = LessSafeKey::new(UnboundKey::new(algorithm, &[7u8; 32][..key_length]).ok()?);
    runner(move |data| {
        // The same nonce each time: nothing secret is encrypted here.
        let nonce = Nonce::assume_unique_for_key([0; 12]);
        done(key.seal_in_place_separate_tag(nonce, Aad::empty(), data).is_ok(), data)
    })
}

fn gzip(data: &[u8], level: u32) -> Option<Vec<u8>> {
    let out = Vec::with_capacity(RECORD);
    let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::new(level));
    encoder.write_all(data).ok()?;
    encoder.finish().ok()
}

/// Sums of sums of 32-bit words in eight lanes, which compilers turn into vector code. The lanes are
/// not joined at the end: that is a few operations a record.
fn fletcher4(data: &[u8]) -> [[u64; 8]; 4] {
    let mut sums = [[0u64; 8]; 4];
    for block in data.chunks_exact(32) {
        for (lane, word) in block.chunks_exact(4).enumerate() {
            let word = u64::from(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            let mut carry = word;
            for sum in &mut sums {
                sum[lane] = sum[lane].wrapping_add(carry);
                carry = sum[lane];
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_is_done_on_whole_records() {
        let sample = crate::data::records(1, RECORD).remove(0);
        for work in works() {
            let mut runner = work.runner(&sample).unwrap_or_else(|| panic!("{}", work.name));
            let expected = if work.name == "memory copy" { COPY } else { RECORD };
            assert_eq!(runner(&mut sample.clone()), expected, "{}", work.name);
        }
    }

    #[test]
    fn lanes_sum_as_fletcher4_does() {
        let sums = fletcher4(&[1u8; 64]);
        let word = u64::from(0x0101_0101_u32);
        // Two words a lane: a = 2w, b = w + 2w, c = w + 3w, d = w + 4w.
        assert_eq!(sums.map(|s| s[5]), [2 * word, 3 * word, 4 * word, 5 * word]);
    }

    #[test]
    fn ciphers_change_the_record() {
        let sample = vec![0u8; RECORD];
        for work in works().iter().filter(|w| w.name.starts_with("aes")) {
            let mut data = sample.clone();
            work.runner(&sample).unwrap()(&mut data);
            assert!(data.iter().filter(|b| **b != 0).count() > RECORD / 2, "{}", work.name);
        }
    }
}
