//! `zwhy lab`: what is checked before OpenZFS runs, and what comes of its runs.

use crate::record::may_sample;
use crate::stages::captures_agree;
use crate::support::{call, obeyed, run, skip};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The libzpool of this host, where Debian and others put it.
pub fn libzpool() -> Option<PathBuf> {
    let folders =
        ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"];
    let names = ["libzpool.so.7", "libzpool.so.6", "libzpool.so.5"];
    folders.iter().flat_map(|f| names.map(|n| Path::new(f).join(n))).find(|p| p.exists())
}

#[test]
fn experiments_are_listed_with_their_question() {
    let folder = TempDir::new().expect("a folder");
    let list = call(folder.path(), "lab list").ok();
    assert!(list.lines().any(|l| l.starts_with("encryption ") && l.ends_with('?')), "{list}");
    // What an answer offers as proof can be run.
    let known: Vec<&str> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
    for cause in zwhy_diagnose::Knowledge::embedded().causes {
        let experiment = cause.experiment.as_deref();
        assert!(experiment.is_none_or(|name| known.contains(&name)), "{}: {experiment:?}", cause.class);
    }
}

#[test]
fn a_specification_that_is_not_there_or_wrong_is_named() {
    let folder = TempDir::new().expect("a folder");
    let line = call(folder.path(), "lab run nosuch.toml").failed(1);
    assert!(line.contains("nosuch.toml"), "{line}");
    fs::write(folder.path().join("wrong.toml"), "name = 1\n").expect("a file");
    let line = call(folder.path(), "lab run wrong.toml").failed(1);
    assert!(line.contains("wrong.toml"), "{line}");
}

#[test]
fn settings_that_only_fit_together_may_come_in_any_order() {
    let folder = TempDir::new().expect("a folder");
    let (disks, layout) = ("--set disks=2", "--set layout=mirror");
    for settings in [format!("{disks} {layout}"), format!("{layout} {disks}")] {
        let shown = call(folder.path(), &format!("lab show offload {settings}")).ok();
        assert!(shown.contains("Each of 4 cells"), "{settings}: {shown}");
    }
    let line = call(folder.path(), &format!("lab show offload {disks}")).failed(2);
    assert!(line.contains("--set disks=2: disks is 2; this layout needs 3 to 32"), "{line}");
}

#[test]
fn modelled_devices_are_listed_with_their_sources() {
    let folder = TempDir::new().expect("a folder");
    let shown = call(folder.path(), "lab show offload-model").ok();
    for words in ["model:qat-8950", "provider_gb_per_s=3", "https://", "no public figure of its latency"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!call(folder.path(), "lab show encryption").ok().contains("model:"), "it has no providers");
    let line = call(folder.path(), "lab show offload --set provider=none,model:qat-8590").failed(2);
    assert!(line.contains("did you mean model:qat-8950?"), "{line}");
}

#[test]
fn a_folder_without_results_is_told_with_the_command_that_makes_them() {
    let folder = TempDir::new().expect("a folder");
    let commands =
        ["lab result", "lab check", "lab report -o x.html", "lab verify", "lab resume", "lab compare nosuch"];
    for command in commands {
        let line = call(folder.path(), &format!("{command} nosuch")).failed(1);
        assert!(line.contains("no results of an experiment in nosuch"), "{command}: {line}");
        assert!(line.contains("zwhy lab run NAME -o nosuch"), "{command}: {line}");
    }
    fs::create_dir(folder.path().join("begun")).expect("a folder");
    fs::write(folder.path().join("begun/plan.json"), "{}").expect("a file");
    let line = call(folder.path(), "lab result begun").failed(1);
    assert!(line.contains("zwhy lab resume begun"), "{line}");
}

#[test]
fn a_library_that_is_none_is_refused() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("text.so"), "not a library").expect("a file");
    for (library, says) in [("nosuch.so", "No such file"), ("text.so", "not a"), ("/bin/sh", "libzpool.so.")]
    {
        let args = ["lab", "run", "encryption", "--quick", "-o", "out", "--library", library];
        let line = run(folder.path(), args).failed(1);
        assert!(line.contains(library.trim_start_matches("/bin/")) && line.contains(says), "{line}");
    }
    assert!(!folder.path().join("out").exists(), "nothing was made");
}

#[test]
fn an_unknown_major_is_not_guessed_at() {
    let Some(library) = libzpool() else {
        return skip("an_unknown_major_is_not_guessed_at", "no libzpool is installed");
    };
    let folder = TempDir::new().expect("a folder");
    let mut bytes = fs::read(library).expect("the library");
    let name = b"libzpool.so.";
    let places: Vec<usize> =
        (0..bytes.len() - name.len()).filter(|i| bytes[*i..].starts_with(name)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at + name.len()] = b'9');
    fs::write(folder.path().join("libzpool.so.9"), bytes).expect("a file");
    let args = ["lab", "run", "encryption", "--quick", "-o", "out", "--library", "libzpool.so.9"];
    let line = run(folder.path(), args).failed(1);
    assert!(line.contains("libzpool.so.9") && line.contains("does not guess"), "{line}");
}

#[test]
fn folders_in_use_are_left_alone() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("used")).expect("a folder");
    fs::write(folder.path().join("used/mine"), "precious").expect("a file");
    let line = call(folder.path(), "lab run encryption --quick -o used").failed(1);
    assert!(line.contains("used") && line.contains("not empty"), "{line}");
    if libzpool().is_none() {
        skip("folders_in_use_are_left_alone", "the scratch folder: no libzpool is installed");
    } else {
        let line = call(folder.path(), "lab run encryption --quick -o out --scratch used").failed(1);
        assert!(line.contains("used") && line.contains("not empty"), "{line}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("used/mine")).expect("the file"), "precious");
}

/// Runs an experiment, if this host can, and returns the folder of its captures.
fn captures(test: &str, experiment: &str) -> Option<TempDir> {
    if libzpool().is_none() {
        skip(test, "no libzpool is installed");
        return None;
    }
    if !may_sample(test) {
        return None;
    }
    let folder = TempDir::new().expect("a folder");
    call(folder.path(), &format!("lab run {experiment} --quick -o out")).ok();
    Some(folder)
}

/// The first finding is `class`; with none, nothing is believed.
#[track_caller]
fn is_found(folder: &Path, capture: &str, class: Option<&str>) {
    let answer = call(folder, &format!("explain --json out/{capture}.zwhy")).json();
    let first = &answer["findings"][0];
    match class {
        Some(class) => assert_eq!(first["class"], class, "{capture}: {first}"),
        None => assert!(first["confidence"].as_f64().unwrap_or(0.0) <= 0.5, "{capture}: {first}"),
    }
}

#[test]
fn encryption_in_user_space_is_explained_and_nearly_every_sample_has_a_stage() {
    let test = "encryption_in_user_space_is_explained_and_nearly_every_sample_has_a_stage";
    let Some(folder) = captures(test, "encryption") else { return };
    is_found(folder.path(), "aes-256-ccm-read", Some("crypto-ccm-not-accelerated"));
    is_found(folder.path(), "aes-256-gcm-read", None);
    is_found(folder.path(), "off-read", None);
    // GCM's assembly has no symbol and keeps no frame pointer; the others are here for all the rest.
    for capture in ["aes-256-ccm-read", "aes-256-gcm-read", "aes-256-gcm-write", "off-write"] {
        every_sample_has_a_stage(folder.path(), capture);
    }
    captures_agree(&folder.path().join("out"));
}

#[test]
fn gzip_in_user_space_is_explained() {
    let Some(folder) = captures("gzip_in_user_space_is_explained", "compression") else { return };
    is_found(folder.path(), "gzip-9-write", Some("compression-gzip-cpu"));
    is_found(folder.path(), "lz4-write", None);
    is_found(folder.path(), "off-write", None);
    every_sample_has_a_stage(folder.path(), "gzip-9-write");
    captures_agree(&folder.path().join("out"));
}

/// A small experiment of one's own: two compressions of 8 MiB.
pub const SMALL: &str = r#"
name = "small"
title = "Small"
question = "What does gzip cost?"
expectation = "More than nothing."
engine = "user"
[factors]
compression = ["gzip-9", "off"]
[fixed]
data = "half"
arc_max = "64M"
[[steps]]
do = "write"
[[steps]]
do = "verify"
[size]
quick = { bytes = "8M", repetitions = 2 }
full = { bytes = "8M", repetitions = 2 }
[compare]
step = "write"
measure = "cpu_s_per_gb"
largest_first = ["gzip-9", "off"]
[[checks]]
say = "Compressed data is smaller"
measure = "write_amplification"
step = "write"
of = "gzip-9"
to = "off"
at_most = 0.9
[[checks]]
say = "This cannot hold"
measure = "mb_per_s"
step = "write"
of = "off"
at_most = 0.0001
"#;

#[test]
fn an_experiment_is_explained_before_it_runs() {
    let folder = TempDir::new().expect("a folder");
    let text = call(folder.path(), "lab show snapshot-destroy --grow n=10,20,40").ok();
    for word in [
        "n=40 newest-first",
        "take 10 snapshots",
        "before each (*)",
        "(*) differs between cells; shown is the first one, n=10",
        "30 runs",
        "free in the scratch folder",
    ] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    let line = call(folder.path(), "lab show encryption --set recrodsize=1M").failed(2);
    assert!(line.contains("did you mean recordsize?"), "{line}");
    let line = call(folder.path(), "lab show encryption --set threads").failed(2);
    assert!(line.contains("NAME=V1,V2"), "{line}");
}

#[test]
fn results_are_checked_compared_and_resumed() {
    let test = "results_are_checked_compared_and_resumed";
    if libzpool().is_none() {
        return skip(test, "no libzpool is installed");
    }
    let folder = TempDir::new().expect("a folder");
    let here = folder.path();
    fs::write(here.join("small.toml"), SMALL).expect("a file");
    call(here, "lab run small.toml --quick --no-record -o one").ok();
    let checked = call(here, "lab check one");
    assert_eq!(checked.code, Some(1), "{}", checked.out);
    let good = checked.out.lines().find(|l| l.starts_with("ok")).expect("a line");
    assert!(good.contains("Compressed data is smaller") && good.contains("2 pairs"), "{}", checked.out);
    assert!(
        checked.out.lines().any(|l| l.starts_with("FAIL") && l.contains("cannot hold")),
        "{}",
        checked.out
    );

    // What was lost is told, and run again, from whatever folder, and what is there stays as it is.
    fs::remove_file(here.join("one/cells/0002.json")).expect("a file");
    let unfinished = call(here, "lab check one");
    assert!(unfinished.err.contains("1 more runs were planned; zwhy lab resume one"), "{}", unfinished.err);
    fs::remove_file(here.join("one/result.json")).expect("a file");
    let kept = fs::read(here.join("one/cells/0001.json")).expect("a file");
    call(&here.join("one/cells"), "lab resume ..").ok();
    assert_eq!(fs::read(here.join("one/cells/0001.json")).expect("a file"), kept);
    assert!(here.join("one/cells/0002.json").exists() && !here.join("one/scratch").exists());

    // With nothing missing the result stays what it is, with what was noted in the runs.
    let noted = || {
        let text = fs::read_to_string(here.join("one/result.json")).expect("a result");
        let result: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        ["distortions", "cures", "command", "answer"].map(|field| result[field].clone())
    };
    let before = noted();
    assert!(
        before[..2].iter().all(|list| list.as_array().is_some_and(|list| !list.is_empty())),
        "{before:?}"
    );
    call(here, "lab resume one").ok();
    assert_eq!(noted(), before);

    call(here, "lab run small.toml --quick --no-record -o two").ok();
    let compared = call(here, "lab compare one two").ok();
    assert!(compared.contains("gzip-9") && compared.contains("--repeats 5"), "{compared}");
    let line = call(here, "lab compare one two/../one").failed(2);
    assert!(line.contains("both are the folder one; name two results"), "{line}");
    let line = call(here, "lab compare one nowhere").failed(1);
    assert!(line.contains("no results of an experiment in nowhere"), "{line}");
}

#[test]
fn laws_of_growth_need_sizes_and_predict_at_others() {
    let folder = TempDir::new().expect("a folder");
    let here = folder.path();
    fs::create_dir(here.join("out")).expect("a folder");
    fs::write(here.join("out/result.json"), include_str!("../lab/result.json")).expect("a file");
    let told = call(here, "lab result out --at n=10000").ok();
    assert!(told.contains("At n = 10000") && told.contains("predicted from the others"), "{told}");
    let wrong = [
        ("lab result out --at threads=2", "no law was fitted by threads, but by n"),
        ("lab result out --at n=many", "write FACTOR=N"),
        ("lab show encryption --grow threads=1,2", "threads has too few sizes, 2; a law needs 3 or more"),
        ("lab show encryption --grow recordsize=16K,64K,1M", "write bytes as a number"),
        ("lab show encryption --grow threads=4", "must be a factor with several sizes"),
    ];
    for (command, says) in wrong {
        let line = call(here, command).failed(2);
        assert!(line.contains(says), "{command}: {line}");
    }
    let shown = call(here, "lab show snapshot-destroy --grow n=10,20,40 --grow threads=1,2,4").ok();
    assert!(shown.contains("Each of 18 cells"), "{shown}");
}

/// Reads of a dataset that is cold and of one that is warm.
const CACHES: &str = r#"
name = "caches"
title = "Caches"
question = "What does a warm cache save?"
expectation = "All reads of the disks."
engine = "user"
[factors]
cache = ["cold", "warm"]
[fixed]
arc_max = "128M"
[[steps]]
do = "write"
[[steps]]
do = "cache"
state = "$cache"
[[steps]]
do = "read"
[size]
quick = { bytes = "8M", repetitions = 1 }
full = { bytes = "8M", repetitions = 1 }
[compare]
step = "read"
measure = "read_amplification"
[[checks]]
say = "Cold reads come from the disks"
measure = "read_amplification"
step = "read"
of = "cold"
at_least = 0.9
[[checks]]
say = "Warm reads do not"
measure = "read_amplification"
step = "read"
of = "warm"
at_most = 0.1
"#;

#[test]
fn the_state_of_the_caches_can_be_compared() {
    let folder = TempDir::new().expect("a folder");
    let here = folder.path();
    fs::write(here.join("caches.toml"), CACHES).expect("a file");
    let shown = call(here, "lab show caches.toml").ok();
    assert!(shown.contains("2. cache: export and import the pool: the caches are cold (*)"), "{shown}");
    let line = call(here, "lab show caches.toml --set cache=cold,tepid").failed(2);
    assert!(line.contains("state is \"tepid\"; it must be"), "{line}");
    if libzpool().is_none() {
        return skip("the_state_of_the_caches_can_be_compared", "no libzpool is installed");
    }
    call(here, "lab run caches.toml --no-record -o out").ok();
    call(here, "lab check out").ok();
}

#[test]
fn repetitions_end_when_they_are_enough() {
    let test = "repetitions_end_when_they_are_enough";
    if libzpool().is_none() {
        return skip(test, "no libzpool is installed");
    }
    let folder = TempDir::new().expect("a folder");
    let here = folder.path();
    // gzip-9 takes many times the CPU of no compression: the first look sees it.
    fs::write(
        here.join("small.toml"),
        SMALL.replace("[compare]", "[stop]\nwithin = 0.1\nmost = 8\n[compare]"),
    )
    .expect("a file");
    let shown = call(here, "lab show small.toml").ok();
    assert!(shown.contains("8 of each cell") && shown.contains("After 5, 7, 8 runs"), "{shown}");
    let ran = call(here, "lab run small.toml --no-record -o out").ok();
    assert!(ran.contains("It was enough after 5 of at most 8 runs of each cell"), "{ran}");
    assert!(ran.contains("Memory at most, in any step: gzip-9 "), "{ran}");
    assert!(!call(here, "lab check out").err.contains("unfinished"));
    let result = |folder: &str| {
        let text = fs::read_to_string(here.join(folder).join("result.json")).expect("the result");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    assert_eq!(result("out")["stop"]["after"], 5);
    assert_eq!(result("out")["runs"].as_array().expect("a list").len(), 10);
    // What goes on ends alike.
    fs::remove_file(here.join("out/result.json")).expect("a file");
    fs::remove_file(here.join("out/cells/0003.json")).expect("a file");
    call(here, "lab resume out").ok();
    assert_eq!(result("out")["runs"].as_array().expect("a list").len(), 10);
    // As many as are asked for, whatever the experiment says.
    let shown = call(here, "lab show small.toml --repeats 3").ok();
    assert!(shown.contains("3 of each cell") && !shown.contains("That is at most"), "{shown}");
    let line = call(here, "lab show small.toml --enough 0").failed(2);
    assert!(line.contains("--enough 0: write percent, 0.1 to 100"), "{line}");
}

#[track_caller]
fn every_sample_has_a_stage(folder: &Path, capture: &str) {
    let found = call(folder, &format!("knowledge unknown --json out/{capture}.zwhy")).json();
    let count = |key: &str| found[key].as_u64().expect("a count");
    assert!(count("zfs") > 50, "{capture}: {found}");
    assert!(count("named") * 100 >= count("zfs") * 95, "{capture}: {found}");
}

#[test]
fn a_strangers_result_cannot_steer_the_terminal() {
    let folder = TempDir::new().expect("a folder");
    let text = include_str!("../lab/result.json");
    let mut result: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let hostile = "\u{202e}gpj.\u{1b}[2J\u{7}";
    for field in ["title", "answer", "meaning"] {
        result[field] = hostile.into();
    }
    for expected in result["expected"].as_array_mut().expect("a list") {
        expected["say"] = hostile.into();
    }
    fs::create_dir(folder.path().join("theirs")).expect("a folder");
    fs::write(folder.path().join("theirs/result.json"), result.to_string()).expect("a file");
    fs::write(
        folder.path().join("own.toml"),
        SMALL.replace("title = \"Small\"", "title = \"\\u202E\\u001B[2J\""),
    )
    .expect("a file");
    for command in ["lab result theirs", "lab check theirs", "lab show own.toml"] {
        let ran = call(folder.path(), command);
        assert!(ran.out.contains("\\u{202e}"), "{command}: {}", ran.out);
        assert_eq!(obeyed(&ran.out), [], "{command}");
    }
}

#[test]
fn what_the_hosts_kernel_cannot_do_is_said_before_anything_runs() {
    let folder = TempDir::new().expect("a folder");
    let text = call(folder.path(), "lab show encryption --engine pool").ok();
    assert!(
        text.contains("on the OpenZFS of this host's kernel") && text.contains("Note: arc_max"),
        "{text}"
    );
    let text = call(folder.path(), "lab show idle-arc-pressure --engine pool").ok();
    assert!(text.contains("It cannot run like this: ") && text.contains("memory"), "{text}");
    let text = call(folder.path(), "lab show encryption").ok();
    assert!(!text.contains("zwhy-lab-"), "{text}");
    let line = call(folder.path(), "lab run encryption --allow-parameters -o out").failed(2);
    assert!(line.contains("--engine pool"), "{line}");
}

#[test]
fn a_host_without_the_module_or_a_user_without_rights_is_told() {
    let test = "a_host_without_the_module_or_a_user_without_rights_is_told";
    if Path::new("/sys/module/zfs").exists() {
        return skip(test, "this host has OpenZFS in its kernel");
    }
    let folder = TempDir::new().expect("a folder");
    let line = call(folder.path(), "lab run encryption --engine pool --journal j -o out").failed(1);
    assert!(line.contains("modprobe zfs") || line.contains("needs root"), "{line}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing was made");
    let text = call(folder.path(), "lab cleanup --journal j").ok();
    assert!(text.contains("Nothing of the lab is left"), "{text}");
}
