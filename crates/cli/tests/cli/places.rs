//! What stands at the place of a result: links, pipes and devices that the tests make themselves.

use crate::inputs;
use crate::support::{Ran, call, is_root, skip, zwhy};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Every command that writes a result, without the place, and an ending that suits it.
const COMMANDS: [(&str, &str); 6] = [
    ("report ccm.folded -o", "html"),
    ("flame ccm.folded -o", "svg"),
    ("export ccm.folded -o", "folded"),
    ("export ccm.folded --format pprof -o", "pb.gz"),
    ("diff ccm.folded plain.folded -o", "html"),
    ("import ccm.folded -o", "zwhy"),
];

fn pipe(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
    path
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_command_writes_into_a_pipe_and_leaves_it() {
    let folder = inputs::bare_folder();
    for (number, (args, ending)) in COMMANDS.into_iter().enumerate() {
        let name = format!("pipe{number}.{ending}");
        let path = pipe(folder.path(), &name);
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).expect("what came")
        });
        call(folder.path(), &format!("{args} {name}")).ok();
        let came = reader.join().expect("the reader ends");
        assert!(came.len() > 100, "{args}: {} bytes", came.len());
        assert!(fs::symlink_metadata(&path).expect("the pipe").file_type().is_fifo(), "{args}");
        if ending == "zwhy" {
            fs::write(folder.path().join("came.zwhy"), came).expect("a copy");
            call(folder.path(), "explain came.zwhy").ok();
        }
    }
    assert!(!names(folder.path()).iter().any(|name| name.starts_with('.') || name.ends_with(".part")));
}

#[test]
fn every_command_leaves_a_device_as_it_is() {
    let test = "every_command_leaves_a_device_as_it_is";
    if !is_root() {
        return skip(test, "only root makes devices");
    }
    let folder = inputs::bare_folder();
    let null = folder.path().join("null");
    mknodat(CWD, &null, FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 3))
        .expect("a device");
    if let Err(e) = fs::write(&null, "x") {
        return skip(test, &format!("devices do not work in this folder: {e}"));
    }
    symlink("null", folder.path().join("link")).expect("a link");
    let before = fs::symlink_metadata(&null).expect("the device");
    for (args, _) in COMMANDS {
        for name in ["null", "link"] {
            call(folder.path(), &format!("{args} {name}")).ok();
        }
    }
    for name in ["null", "link"] {
        let line = call(folder.path(), &format!("record -o {name} -- true")).failed(1);
        assert!(line.contains("it is a pipe or a device") && line.contains("name a file"), "{line}");
    }
    let after = fs::symlink_metadata(&null).expect("the device");
    assert!(after.file_type().is_char_device());
    assert_eq!((after.ino(), after.rdev(), after.mode()), (before.ino(), before.rdev(), before.mode()));
    assert!(fs::symlink_metadata(folder.path().join("link")).expect("the link").is_symlink());
}

#[test]
fn a_recording_into_a_pipe_is_refused_before_anything_runs() {
    let folder = inputs::bare_folder();
    pipe(folder.path(), "pipe");
    let before = names(folder.path());
    for args in ["record -o pipe -- touch ran", "record -a -o pipe -d 0.1"] {
        let line = call(folder.path(), args).failed(1);
        assert!(line.contains("it is a pipe or a device") && line.contains("name a file"), "{line}");
    }
    assert_eq!(names(folder.path()), before);
}

#[test]
fn links_are_followed_and_a_file_keeps_its_mode() {
    for (args, ending) in COMMANDS {
        let folder = inputs::bare_folder();
        let at = |name: &str| folder.path().join(format!("{name}.{ending}"));
        fs::create_dir(folder.path().join("far")).expect("a folder");
        symlink(format!("far/fresh.{ending}"), at("dangling")).expect("a link");
        call(folder.path(), &format!("{args} dangling.{ending}")).ok();
        assert!(fs::metadata(at("far/fresh")).is_ok_and(|m| m.is_file() && m.len() > 100), "{args}");
        assert!(fs::symlink_metadata(at("dangling")).expect("the link").is_symlink(), "{args}");
        if ending == "zwhy" {
            let line = call(folder.path(), &format!("{args} dangling.{ending}")).failed(1);
            assert!(line.contains("already exists"), "captures are never replaced: {line}");
            continue;
        }
        fs::write(at("far/there"), "old").expect("a file");
        fs::set_permissions(at("far/there"), fs::Permissions::from_mode(0o640)).expect("its mode");
        symlink(format!("far/there.{ending}"), at("link")).expect("a link");
        call(folder.path(), &format!("{args} link.{ending}")).ok();
        let there = fs::metadata(at("far/there")).expect("the file");
        assert!(there.len() > 100 && there.mode() & 0o7777 == 0o640, "{args}: {:o}", there.mode());
        assert!(fs::symlink_metadata(at("link")).expect("the link").is_symlink(), "{args}");
        assert_eq!(names(&folder.path().join("far")).len(), 2, "{args}: no temporary file stays");
    }
}

#[test]
fn names_of_standard_output_and_error_are_written_to() {
    let folder = inputs::bare_folder();
    let before = fs::symlink_metadata("/dev/stdout").expect("a link");
    for (args, _) in COMMANDS {
        if args.starts_with("import") || args.contains("pprof") {
            continue; // not text; the pipe of another test has it
        }
        let hyphen = call(folder.path(), &format!("{args} -")).ok();
        assert!(hyphen.len() > 100, "{args}");
        assert_eq!(call(folder.path(), &format!("{args} /dev/stdout")).ok(), hyphen, "{args}");
        let errors = call(folder.path(), &format!("{args} /dev/stderr"));
        assert_eq!((errors.code, errors.err == hyphen), (Some(0), true), "{args}");
    }
    let file = folder.path().join("redirected");
    let mut command = zwhy(folder.path());
    command.args(["report", "ccm.folded", "-o", "/dev/stdout"]);
    command.stdout(Stdio::from(fs::File::create(&file).expect("a file")));
    let inode = fs::metadata(&file).expect("the file").ino();
    assert_eq!(Ran::of(command.output().expect("it runs")).code, Some(0));
    let page = fs::read_to_string(&file).expect("the page");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert_eq!(fs::metadata(&file).expect("the file").ino(), inode);
    let after = fs::symlink_metadata("/dev/stdout").expect("a link");
    assert_eq!((before.ino(), before.file_type()), (after.ino(), after.file_type()));
}
