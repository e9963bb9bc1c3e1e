//! What a load has moved so far, kept in a file for whoever measures beside it.
//!
//! `ZWHY_LOAD_COUNTS` names a folder; each load writes one line there into a file named after its
//! process, ten times a second: bytes, operations. Without it nothing is kept.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often the file is written: far less often than anything is moved, so that it costs nothing.
const EVERY: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct Count {
    moved: Arc<Moved>,
    file: Option<Arc<File>>,
}

#[derive(Default)]
struct Moved {
    bytes: AtomicU64,
    operations: AtomicU64,
}

impl Count {
    /// One that is kept in the folder of `ZWHY_LOAD_COUNTS` from now on.
    pub fn kept() -> io::Result<Count> {
        let mut count = Count::default();
        if let Some(folder) = std::env::var_os("ZWHY_LOAD_COUNTS") {
            let file = Arc::new(File::create(Path::new(&folder).join(std::process::id().to_string()))?);
            count.file = Some(file.clone());
            let moved = count.moved.clone();
            std::thread::spawn(move || {
                while moved.write(&file).is_ok() {
                    std::thread::sleep(EVERY);
                }
            });
        }
        Ok(count)
    }

    /// One operation that moved so many bytes.
    pub fn add(&self, bytes: u64) {
        self.moved.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.moved.operations.fetch_add(1, Ordering::Relaxed);
    }
}

/// What was moved since the file was written last.
impl Drop for Count {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Nobody is left to be told.
            let _ = self.moved.write(file);
        }
    }
}

impl Moved {
    /// The line has one width, so that a reader never sees the end of a longer one.
    fn line(&self) -> String {
        let [bytes, operations] = [&self.bytes, &self.operations].map(|n| n.load(Ordering::Relaxed));
        format!("{bytes:20} {operations:20}\n")
    }

    fn write(&self, file: &File) -> io::Result<()> {
        file.write_all_at(self.line().as_bytes(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn bytes_and_operations_are_summed_in_a_line_of_one_width() {
        let count = Count::default();
        let empty = count.moved.line();
        count.add(4096);
        count.add(4096);
        let line = count.moved.line();
        assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["8192", "2"]);
        assert_eq!(line.len(), empty.len());
    }
}
