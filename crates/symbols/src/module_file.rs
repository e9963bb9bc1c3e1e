//! What a kernel module's file (`zfs.ko`, also packed as `.xz`, `.zst`, `.gz`) or its debug file holds.

use crate::elf_head::gnu_build_id;
use crate::lines::has_dwarf;
use object::Endianness;
use object::elf::FileHeader64;
use object::read::Object;
use object::read::elf::NoteIterator;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A module with debug information is some 100 MiB; anything larger is no module.
const LONGEST: u64 = 512 << 20;

/// Identity and debug information of a module's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleFile {
    pub build_id: Option<Vec<u8>>,
    /// It has DWARF: source lines and inlined functions can be told.
    pub has_lines: bool,
}

/// Reads a module's file, unpacked by the end of its name.
///
/// # Errors
/// When it cannot be read or unpacked, is longer than 512 MiB or is no ELF object.
pub fn read_module_file(path: &Path) -> io::Result<ModuleFile> {
    parse(&unpacked(path)?)
}

/// The bytes of a module's file, unpacked by the end of its name.
pub(crate) fn unpacked(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let reader: Box<dyn Read> = match extension {
        "xz" => Box::new(liblzma::read::XzDecoder::new(file)),
        "zst" => Box::new(zstd::stream::read::Decoder::new(file)?),
        "gz" => Box::new(flate2::read::GzDecoder::new(file)),
        _ => Box::new(file),
    };
    let mut bytes = Vec::new();
    reader.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "longer than any module"));
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> io::Result<ModuleFile> {
    let file = object::File::parse(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
    Ok(ModuleFile {
        build_id: file.build_id().ok().flatten().map(<[u8]>::to_vec),
        has_lines: has_dwarf(&file),
    })
}

/// The build-id in the bytes of a notes file such as `/sys/module/zfs/notes/.note.gnu.build-id`, or of
/// `/sys/kernel/notes`, where it is one of several.
pub fn build_id_of_notes(notes: &[u8]) -> Option<Vec<u8>> {
    let endian = Endianness::default();
    gnu_build_id(endian, NoteIterator::<FileHeader64<Endianness>>::new(endian, 4, notes).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn packed_and_plain_files_are_the_same_module() {
        // Any ELF object of this machine serves: the test's own program.
        let plain = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&plain).unwrap();
        let expected = read_module_file(&plain).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&bytes).unwrap();
        std::fs::write(path("zfs.ko.gz"), gz.finish().unwrap()).unwrap();
        std::fs::write(path("zfs.ko.zst"), zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
        xz.write_all(&bytes).unwrap();
        std::fs::write(path("zfs.ko.xz"), xz.finish().unwrap()).unwrap();
        for name in ["zfs.ko.gz", "zfs.ko.zst", "zfs.ko.xz"] {
            assert_eq!(read_module_file(&path(name)).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("zfs.ko", "text"), ("zfs.ko.xz", "text"), ("zfs.ko.zst", "text"), ("a.gz", "")]
        {
            std::fs::write(dir.path().join(name), text).unwrap();
            assert!(read_module_file(&dir.path().join(name)).is_err(), "{name}");
        }
        assert!(read_module_file(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn build_ids_of_notes_are_read_and_odd_ones_refused() {
        let mut note = Vec::new();
        for word in [4u32, 3, 3] {
            note.extend(word.to_ne_bytes());
        }
        note.extend(b"GNU\0\x01\x02\x03");
        assert_eq!(build_id_of_notes(&note), Some(vec![1, 2, 3]));
        for cut in 0..note.len() {
            assert_eq!(build_id_of_notes(&note[..cut]), None);
        }
        let other: Vec<u8> = [4u32, 1, 1].into_iter().flat_map(u32::to_ne_bytes).collect();
        let several = [&other[..], b"Xen\0x\0\0\0", &note].concat();
        assert_eq!(build_id_of_notes(&several), Some(vec![1, 2, 3]));
        assert_eq!(build_id_of_notes(&several[..20]), None);
        note[0..4].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(build_id_of_notes(&note), None);
    }
}
