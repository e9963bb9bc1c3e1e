//! The application's data in files of the dataset, one for each thread.

use crate::failure::Failure;
use crate::io::Target;
use crate::spec::Way;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

pub struct Files {
    buffered: Vec<File>,
    /// Opened with O_DIRECT, where the cell does direct I/O.
    direct: Vec<File>,
    /// Each write waits until it is on disk.
    fsync: bool,
}

impl Files {
    /// Opens them, and makes those that are not there.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn open(folder: &Path, count: u32, way: Way, fsync: bool) -> Result<Files, Failure> {
        let one = |index: u32, flags: i32| {
            let path = folder.join(format!("file{index}"));
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false).custom_flags(flags);
            options.open(&path).map_err(|e| Failure::other(format!("open {}", path.display()), e))
        };
        let all = |flags| (0..count).map(|index| one(index, flags)).collect::<Result<Vec<File>, Failure>>();
        Ok(Files {
            buffered: all(0)?,
            direct: if way == Way::Direct { all(libc::O_DIRECT)? } else { Vec::new() },
            fsync,
        })
    }

    fn write(&self, file: &File, data: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(data, offset)?;
        if self.fsync { file.sync_data() } else { Ok(()) }
    }

    fn file(&self, way: Way, object: u64) -> io::Result<&File> {
        let files = if way == Way::Direct { &self.direct } else { &self.buffered };
        files.get(object as usize).ok_or_else(|| io::Error::other("there is no such file"))
    }
}

impl Target for &Files {
    fn write_at(&self, way: Way, object: u64, offset: u64, data: &[u8]) -> Result<(), Failure> {
        self.file(way, object).and_then(|file| self.write(file, data, offset)).map_err(|e| {
            Failure::other(format!("write {} bytes at byte {offset} of file {object}", data.len()), e)
        })
    }

    fn read_at(&self, way: Way, object: u64, offset: u64, data: &mut [u8]) -> Result<(), Failure> {
        let length = data.len();
        self.file(way, object)
            .and_then(|file| file.read_exact_at(data, offset))
            .map_err(|e| Failure::other(format!("read {length} bytes at byte {offset} of file {object}"), e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_from_the_file_of_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path(), 2, Way::Buffered, true).unwrap();
        let target: &dyn Target = &&files;
        target.write_at(Way::Buffered, 1, 8192, &[7; 4096]).unwrap();
        let mut data = [0; 4096];
        target.read_at(Way::Buffered, 1, 8192, &mut data).unwrap();
        assert_eq!(data, [7; 4096]);
        let error = target.read_at(Way::Buffered, 0, 0, &mut data).unwrap_err().to_string();
        assert!(error.contains("4096 bytes at byte 0 of file 0"), "{error}");
        assert_eq!(std::fs::metadata(dir.path().join("file1")).unwrap().len(), 12288);
    }
}
