//! Files that claim to be libzpool and are not, or not one that is known.

use crate::harness::{Test, experiment, options};
use std::path::{Path, PathBuf};
use std::process::Command;
use zwhy_lab::{LabError, Library, LibraryError, NullRecorder, Silent, run};

pub const TESTS: &[Test] = &[
    ("the_installed_library_is_known", the_installed_library_is_known),
    ("a_missing_library_says_which", a_missing_library_says_which),
    ("an_unknown_major_is_refused", an_unknown_major_is_refused),
    ("an_unknown_release_is_refused", an_unknown_release_is_refused),
    ("a_file_that_is_no_library_is_refused", a_file_that_is_no_library_is_refused),
    ("a_cut_library_is_refused", a_cut_library_is_refused),
    ("a_library_that_lacks_functions_is_an_error", a_library_that_lacks_functions_is_an_error),
];

/// Enough for the probe: the functions it asks for.
const PLAUSIBLE: &str = "int kernel_init, spa_create, dmu_objset_own, dsl_crypto_params_create_nvlist;
    char spa_feature_table[56];";

/// Compiles a shared library.
fn fake(folder: &Path, soname: &str, source: &str) -> PathBuf {
    let (file, library) = (folder.join("fake.c"), folder.join(soname));
    std::fs::write(&file, source).unwrap();
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-nostdlib", &format!("-Wl,-soname,{soname}"), "-o"])
        .args([&library, &file])
        .status()
        .unwrap();
    assert!(status.success());
    library
}

fn the_installed_library_is_known() {
    let info = Library::find(None).expect("OpenZFS is installed by `make setup`").info;
    assert!(info.path.is_file() && info.soname.starts_with("libzpool.so."), "{info:?}");
    assert!(info.version_number().starts_with(&info.release.to_string()), "{info:?}");
    assert!(info.build_id.is_some_and(|id| id.len() >= 16));
}

fn a_missing_library_says_which() {
    let error = Library::find(Some("/nonexistent/libzpool.so.6".as_ref())).unwrap_err();
    assert!(matches!(error, LibraryError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains("/nonexistent/libzpool.so.6"), "{error}");
}

fn an_unknown_major_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for soname in ["libzpool.so.9", "libzpool.so.4", "libz.so.1"] {
        let error = Library::open(&fake(dir.path(), soname, PLAUSIBLE)).unwrap_err();
        assert!(matches!(error, LibraryError::UnknownMajor { .. }), "{error}");
        assert!(error.to_string().contains(soname) && error.to_string().contains("2.1 to 2.4"), "{error}");
    }
}

fn an_unknown_release_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let later = format!("{PLAUSIBLE} int libspl_init;");
    for (source, word) in [("int kernel_init;", "spa_create"), (&later, "development version")] {
        let error = Library::open(&fake(dir.path(), "libzpool.so.7", source)).unwrap_err();
        assert!(matches!(error, LibraryError::UnknownRelease { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

fn a_file_that_is_no_library_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("libzpool.so.6");
    std::fs::write(&text, "INPUT(libzpool.so.6.0.0)").unwrap();
    let error = Library::open(&text).unwrap_err();
    assert!(matches!(error, LibraryError::NotALibrary { .. }), "{error}");

    let foreign = fake(dir.path(), "libzpool.so.5", PLAUSIBLE);
    let mut bytes = std::fs::read(&foreign).unwrap();
    // e_machine: SPARC V9
    bytes[18..20].copy_from_slice(&43_u16.to_le_bytes());
    std::fs::write(&foreign, bytes).unwrap();
    let error = Library::open(&foreign).unwrap_err();
    assert!(error.to_string().contains("another processor"), "{error}");
}

/// Cuts and flips anywhere give an error or an answer, never a panic.
fn a_cut_library_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fake(dir.path(), "libzpool.so.6", PLAUSIBLE)).unwrap();
    let path = dir.path().join("broken.so");
    for at in (0..whole.len()).step_by(97) {
        std::fs::write(&path, &whole[..at]).unwrap();
        let error = Library::open(&path).unwrap_err();
        assert!(
            matches!(error, LibraryError::NotALibrary { .. } | LibraryError::UnknownMajor { .. }),
            "{error}"
        );
        let mut flipped = whole.clone();
        flipped[at] ^= 0xff;
        std::fs::write(&path, &flipped).unwrap();
        let _ = Library::open(&path);
    }
}

fn a_library_that_lacks_functions_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(&dir.path().join("out"));
    options.library = Some(fake(dir.path(), "libzpool.so.6", PLAUSIBLE));
    let experiment = experiment(r#"encryption = ["off"]"#, "16M");
    let error = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap_err();
    assert!(matches!(error, LabError::OpenZfs { .. }), "{error}");
    assert!(error.to_string().contains("has no function kernel_fini"), "{error}");
}
