//! A file of the spool that cannot be read holds nobody up: it is tried, stepped past, told, and counted once.

use super::store::FileStore;
use super::tests::{files_below, in_store, slice};
use super::{Shipper, TRIES};
use crate::spool::{Entry, Limits, Rows, Spool, entries};
use crate::status::Look;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const FILE: Duration = Duration::from_secs(20);
const LIMITS: Limits = Limits {
    age: Duration::from_secs(3600),
    bytes: 1 << 30,
    detail: Duration::from_secs(3600),
    sums: Duration::from_secs(3600),
    file: FILE,
    flush: Duration::from_secs(5),
};

/// Intervals from `n` on, of 10 samples and a file each four of them.
fn push(spool: &mut Spool, n: std::ops::Range<i64>) {
    n.for_each(|n| spool.push(&slice(n), 1e9 + (n + 1) as f64 * 5.0));
}

fn shipper(folder: &Path, store: &FileStore, desk: std::sync::Arc<super::Desk>) -> Shipper {
    Shipper::new(folder.to_owned(), "db7".into(), Box::new(store.clone()), desk)
}

/// The second of three files, damaged by `damage` before anything is sent: the spool, what was put of it in the store, and
/// the file that cannot be read.
fn with_a_damaged_file(damage: impl Fn(&Entry)) {
    let (dir, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = FileStore::at(&format!("file://{}", root.path().display())).unwrap();
    let never = AtomicBool::new(false);
    let (mut spool, desk) = Spool::open_shipping(dir.path(), LIMITS).unwrap();
    push(&mut spool, 0..13);
    let files = entries(dir.path()).unwrap();
    damage(&files[1]);
    let mut shipper_ = shipper(dir.path(), &store, desk);
    for attempt in 0..TRIES {
        assert!(shipper_.send_all(&never).is_err(), "try {attempt}");
    }
    // Nothing newer is sent before the spool has noted it: a kill here would lose count of the file.
    shipper_.send_all(&never).unwrap();
    assert_eq!((in_store(root.path(), "samples").0, spool.unsent_files()), (40, 2));
    assert_eq!(files_below(root.path()).iter().filter(|f| f.ends_with("00000001-000000.json")).count(), 0);
    push(&mut spool, 13..14);
    shipper_.send_all(&never).unwrap();
    assert_eq!((in_store(root.path(), "samples").0, spool.unsent_files()), (80, 0));
    assert_eq!(spool.state().passed.iter().copied().collect::<Vec<_>>(), [files[1].number]);
    assert!(shipper_.desk.unreadable().is_some_and(|why| why.contains("zwhy")));
    assert_eq!(Look::at(dir.path()).unwrap().passed, 1);
    assert_eq!(spool.state().unsent.rows, Rows::default(), "it is still in the spool");

    // The next agent goes on behind it, and counts it when it is dropped.
    drop((spool, shipper_));
    let (mut spool, desk) = Spool::open_shipping(dir.path(), Limits { age: FILE * 3, ..LIMITS }).unwrap();
    let mut shipper_ = shipper(dir.path(), &store, desk);
    for n in 0..40 {
        // A file that is sent before it is dropped, each time.
        push(&mut spool, 14 + n..15 + n);
        shipper_.send_all(&never).unwrap();
    }
    let state = spool.state();
    assert_eq!((state.unsent.files, state.passed.len()), (1, 0), "{state:?}");
    assert_eq!(Look::at(dir.path()).unwrap().passed, 0);
    let known = state.unsent.rows.samples;
    assert!(known == 40 || (known == 0 && state.unsent.unreadable == 1), "{:?}", state.unsent);
    spool.finish();
    shipper_.send_all(&never).unwrap();
    assert_eq!(in_store(root.path(), "samples").0, 540 - 40, "all others, each once");
}

#[test]
fn a_file_that_is_cut_is_stepped_past() {
    with_a_damaged_file(|entry| {
        let bytes = fs::read(&entry.path).unwrap();
        fs::write(&entry.path, &bytes[..bytes.len() / 2]).unwrap();
    });
}

/// What was put of it before the damage was met is taken out of the store again.
#[test]
fn a_file_with_a_damaged_part_is_stepped_past() {
    with_a_damaged_file(|entry| {
        let mut bytes = fs::read(&entry.path).unwrap();
        let magic = bytes.windows(4).rposition(|part| part == b"PAR1").unwrap();
        bytes[magic - 20] ^= 0xff;
        fs::write(&entry.path, bytes).unwrap();
    });
}

#[test]
fn a_file_that_the_disk_does_not_give_is_stepped_past() {
    with_a_damaged_file(|entry| {
        fs::remove_file(&entry.path).unwrap();
        // Opening works, reading is EIO.
        std::os::unix::fs::symlink("/proc/self/mem", &entry.path).unwrap();
    });
}

#[test]
fn a_file_that_can_be_read_again_is_sent() {
    let (dir, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = FileStore::at(&format!("file://{}", root.path().display())).unwrap();
    let never = AtomicBool::new(false);
    let (mut spool, desk) = Spool::open_shipping(dir.path(), LIMITS).unwrap();
    push(&mut spool, 0..9);
    let entry = entries(dir.path()).unwrap().remove(0);
    let bytes = fs::read(&entry.path).unwrap();
    fs::write(&entry.path, b"EIO").unwrap();
    let mut shipper = shipper(dir.path(), &store, desk);
    (1..TRIES).for_each(|_| assert!(shipper.send_all(&never).is_err()));
    fs::write(&entry.path, bytes).unwrap();
    shipper.send_all(&never).unwrap();
    assert_eq!((in_store(root.path(), "samples").0, spool.state().passed.len()), (80, 0));
}
