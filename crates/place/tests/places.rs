//! Files, links, pipes and devices that the tests make themselves, and what writing does to them.

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use tempfile::TempDir;
use zwhy_place::{Place, PlaceError};

fn write(path: &Path, text: &str) -> Result<(), PlaceError> {
    Place::of(path)?
        .write(|out| out.write_all(text.as_bytes()).map_err(|source| PlaceError::refused(path, source)))
}

fn write_seekable(path: &Path, text: &str) -> Result<(), PlaceError> {
    Place::of(path)?.write_seekable(|out| {
        out.write_all(text.as_bytes()).map_err(|source| PlaceError::refused(path, source))
    })
}

type Written = Result<(), PlaceError>;

const BOTH: [fn(&Path, &str) -> Written; 2] = [write, write_seekable];

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn is_root(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        let _ = writeln!(std::io::stderr(), "skipped: {test}: needs root");
    }
    root
}

fn null_device(path: &Path) {
    mknodat(CWD, path, FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 3)).unwrap();
}

#[test]
fn a_new_file_has_the_mode_that_the_umask_gives() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("plain"), "").unwrap();
    let want = fs::metadata(dir.path().join("plain")).unwrap().mode();
    for write in BOTH {
        let path = dir.path().join("x");
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().mode(), want);
        fs::remove_file(path).unwrap();
    }
    assert_eq!(names(dir.path()), ["plain"]);
}

#[test]
fn a_file_is_replaced_whole_and_keeps_its_mode() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x");
    for (write, mode) in BOTH.into_iter().zip([0o640, 0o666]) {
        fs::write(&path, "old and longer").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let mut before = fs::File::open(&path).unwrap();
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
        let mut read = String::new();
        before.read_to_string(&mut read).unwrap();
        assert_eq!(read, "old and longer", "whoever reads the old one reads it to its end");
    }
}

#[test]
fn an_error_leaves_what_was_there_and_no_temporary_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x");
    fs::write(&path, "old").unwrap();
    let place = Place::of(&path).unwrap();
    let failing = place.write(|out| {
        out.write_all(b"half").unwrap();
        Err(PlaceError::refused(&path, std::io::Error::other("it failed")))
    });
    assert!(failing.is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(dir.path()), ["x"]);
}

#[test]
fn the_owner_stays_where_root_writes() {
    if !is_root("the_owner_stays_where_root_writes") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x");
    fs::write(&path, "old").unwrap();
    chown(&path, Some(4321), Some(4322)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    write(&path, "new").unwrap();
    let meta = fs::metadata(&path).unwrap();
    assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o7777), (4321, 4322, 0o604));
}

#[test]
fn links_are_followed_and_stay() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("far")).unwrap();
    fs::write(at("far/target"), "old").unwrap();
    symlink("far/target", at("link")).unwrap();
    symlink("link", at("link2")).unwrap();
    symlink("far/fresh", at("dangling")).unwrap();
    for (write, text) in BOTH.into_iter().zip(["one", "two"]) {
        write(&at("link2"), text).unwrap();
        assert_eq!(fs::read_to_string(at("far/target")).unwrap(), text);
        write(&at("dangling"), text).unwrap();
        assert_eq!(fs::read_to_string(at("far/fresh")).unwrap(), text);
        fs::remove_file(at("far/fresh")).unwrap();
    }
    for link in ["link", "link2", "dangling"] {
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(names(&at("far")), ["target"]);
    symlink("round", at("around")).unwrap();
    symlink("around", at("round")).unwrap();
    assert!(write(&at("round"), "").is_err());
}

#[test]
fn a_link_planted_by_somebody_else_in_a_shared_folder_is_not_followed() {
    let test = "a_link_planted_by_somebody_else_in_a_shared_folder_is_not_followed";
    if !is_root(test) {
        return;
    }
    if fs::read_to_string("/proc/sys/fs/protected_symlinks").ok().as_deref() != Some("1\n") {
        let _ = writeln!(std::io::stderr(), "skipped: {test}: this kernel follows them itself");
        return;
    }
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("shared")).unwrap();
    fs::set_permissions(at("shared"), fs::Permissions::from_mode(0o1777)).unwrap();
    for target in ["victim", "missing"] {
        fs::write(at("victim"), "old").unwrap();
        let link = at("shared/report.html");
        symlink(at(target), &link).unwrap();
        rustix::fs::chownat(
            CWD,
            &link,
            Some(rustix::fs::Uid::from_raw(4321)),
            None,
            rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
        )
        .unwrap();
        assert!(Place::of(&link).is_err(), "{target}");
        fs::remove_file(link).unwrap();
    }
    assert_eq!(fs::read_to_string(at("victim")).unwrap(), "old");
}

#[test]
fn a_pipe_is_written_to_and_stays() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for write in BOTH {
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read_to_string(path).unwrap()
        });
        assert!(Place::of(&path).unwrap().is_stream());
        write(&path, "through the pipe").unwrap();
        assert_eq!(reader.join().unwrap(), "through the pipe");
        assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    }
    // A reader that has had enough is no error.
    let reader = std::thread::spawn({
        let path = path.clone();
        move || drop(fs::File::open(path).unwrap())
    });
    write(&path, &"x".repeat(1 << 20)).unwrap();
    reader.join().unwrap();
    assert_eq!(names(dir.path()), ["pipe"]);
}

#[test]
fn a_device_is_written_to_and_stays() {
    if !is_root("a_device_is_written_to_and_stays") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let (null, full, disk, link) =
        (dir.path().join("null"), dir.path().join("full"), dir.path().join("disk"), dir.path().join("link"));
    null_device(&null);
    mknodat(CWD, &full, FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 7)).unwrap();
    mknodat(CWD, &disk, FileType::BlockDevice, Mode::from_raw_mode(0o600), makedev(7, 250)).unwrap();
    symlink("null", &link).unwrap();
    if let Err(e) = fs::File::options().write(true).open(&null) {
        let _ = writeln!(std::io::stderr(), "skipped: a_device_is_written_to_and_stays: {e}");
        return;
    }
    let before = fs::symlink_metadata(&null).unwrap();
    for write in BOTH {
        write(&null, "gone").unwrap();
        write(&link, "gone").unwrap();
        let error = write(&full, "no room").unwrap_err();
        assert_eq!(error.io().map(std::io::Error::kind), Some(std::io::ErrorKind::StorageFull), "{error}");
        assert!(write(&disk, "x").unwrap_err().to_string().contains("it is a disk"));
    }
    let after = fs::symlink_metadata(&null).unwrap();
    assert_eq!((before.ino(), before.rdev(), before.mode()), (after.ino(), after.rdev(), after.mode()));
    assert!(after.file_type().is_char_device());
    assert_eq!(names(dir.path()), ["disk", "full", "link", "null"]);
}

#[test]
fn folders_sockets_and_places_in_no_folder_are_refused() {
    let dir = TempDir::new().unwrap();
    let socket = dir.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let text = |path: &Path| Place::of(path).unwrap_err().to_string();
    assert!(text(dir.path()).contains("it is a folder; give a file name"));
    assert!(text(&socket).contains("it is a socket; give a file name"));
    assert!(text(&dir.path().join("no/x")).contains("the folder has to be there"));
    assert!(Place::of(Path::new("")).is_err());
    assert!(fs::symlink_metadata(socket).unwrap().file_type().is_socket());
}

#[test]
fn an_open_descriptor_is_written_to_where_it_stands() {
    use std::os::fd::AsRawFd;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x");
    fs::write(&path, "first ").unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    let open = fs::File::options().append(true).open(&path).unwrap();
    let link = dir.path().join("link");
    symlink(format!("/dev/fd/{}", open.as_raw_fd()), &link).unwrap();
    for (write, text) in BOTH.into_iter().zip(["second ", "third"]) {
        write(&link, text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "first second third");
    assert_eq!(fs::metadata(&path).unwrap().ino(), inode, "the file itself, not another in its place");
    assert!(!Place::of(&link).unwrap().is_stdout());
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        if Path::new(name).exists() {
            assert!(Place::of(Path::new(name)).unwrap().is_stdout(), "{name}");
        }
    }
}

#[test]
fn a_file_that_its_owner_protects_stays() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if rustix::process::geteuid().is_root() {
        return write(&path, "root may").unwrap();
    }
    assert!(write(&path, "new").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}
