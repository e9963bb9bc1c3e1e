//! CPU profiles of gperftools, on machines of all widths and byte orders.

use crate::common::{folded, golden, import_as, import_detected, survives_damage};
use crate::writer::{MACHINES, MAPS, Machine, java, usual};
use crate::{describe_all, survives_every_cut};
use zwhy_formats::{ErrorKind, ImportOptions, import_bytes};
use zwhy_profile::Event;

#[test]
fn all_machines_say_the_same() {
    for machine in MACHINES {
        let native = import_detected("gperftools", &usual(machine));
        golden("gperftools/native.txt", &describe_all(&native));
        let p = &native.evidence.profile;
        assert_eq!(p.total(Event::Cpu), 15, "{machine:?}");
        let time: i64 = p.samples.weight.iter().map(|w| w.0).sum();
        assert_eq!(time, 150_000_000);
        golden("gperftools/java.txt", &describe_all(&import_detected("gperftools", &java(machine))));
    }
}

/// Files that other tests read: the one of this machine and of Java.
#[test]
fn inputs_are_what_the_writer_writes() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/gperftools");
    for (name, bytes) in [("native.prof", usual(MACHINES[0])), ("java.prof", java(MACHINES[2]))] {
        if std::env::var_os("BLESS").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(name), &bytes).expect("a file");
        }
        assert!(std::fs::read(folder.join(name)).expect("a file") == bytes, "{name}: BLESS=1 writes it");
    }
}

#[test]
fn the_handler_of_the_profiler_is_no_caller() {
    let stack = |leaf: u64| vec![leaf, 0x40_9000, 0x40_a000, 0x40_1001];
    let stacks: Vec<Vec<u64>> = (0..64).map(|i| stack(0x40_2000 + i)).chain([vec![0x40_2000]]).collect();
    let records: Vec<(u64, &[u64])> = stacks.iter().map(|s| (1, &s[..])).collect();
    let imported = import_detected("gperftools", &MACHINES[0].profile(0, &records, MAPS));
    let p = &imported.evidence.profile;
    let depths: Vec<u32> = p.samples.stack.iter().map(|s| p.stacks.depth(*s)).collect();
    assert_eq!((depths[0], depths[63], depths[64]), (2, 2, 1));
    let said = &imported.stats.warnings;
    assert!(said.iter().any(|w| w.starts_with("in 64 stacks") && w.contains("signal handler")), "{said:?}");
    // One of two stacks is no evidence.
    let imported = import_detected("gperftools", &usual(MACHINES[0]));
    assert!(imported.stats.warnings.is_empty(), "{:?}", imported.stats.warnings);
}

#[test]
fn a_file_that_breaks_off_keeps_what_was_whole() {
    let header = 5 * 8;
    let record = (2 + 3) * 8;
    let file = usual(MACHINES[0]);
    let cut = |at: usize| import_as("gperftools", &file[..at]);
    assert_eq!(cut(header + record - 1).unwrap_err().kind(), ErrorKind::Damaged);
    for (at, read, kept, lost, left) in [
        (header + record, 1, 1, 0, 0),
        (header + record + 1, 2, 1, 1, 1),
        (header + 3 * record - 8, 3, 2, 1, record - 8),
        // In the trailer.
        (file.len() - MAPS.len() - 8, 5, 4, 1, 16),
    ] {
        let stats = cut(at).unwrap().stats;
        assert_eq!((stats.read, stats.kept, stats.lost), (read, kept, lost), "{at}");
        assert_eq!(stats.lost_bytes, left as u64);
        assert_eq!(stats.cut_at, Some((at - left) as u64));
        assert!(stats.warnings[0].starts_with("the profile breaks off at byte"), "{:?}", stats.warnings);
    }
    let no_maps = cut(file.len() - MAPS.len()).unwrap().stats;
    assert_eq!((no_maps.kept, no_maps.cut_at), (4, None));
    assert!(no_maps.warnings[0].contains("no list of mapped objects"), "{:?}", no_maps.warnings);
    let half_a_line = cut(file.len() - MAPS.len() + 12).unwrap().stats;
    assert!(half_a_line.warnings.iter().any(|w| w.contains("the last line has no end")));
}

#[test]
fn counts_are_added_up_without_loss() {
    let machine = Machine { wide: true, big: false };
    let most = u64::from(u32::MAX) + 7;
    let records: [(u64, &[u64]); 4] =
        [(most, &[0x40_2000, 0x40_1001]), (0, &[0x40_2000]), (3, &[]), (0, &[])];
    let imported = import_detected("gperftools", &machine.profile(0, &records, MAPS));
    assert_eq!(imported.evidence.profile.total(Event::Cpu), most + 3);
    assert_eq!(imported.stats.dropped["count of zero"], 2);
    let empty = import_as("gperftools", &machine.profile(0, &[], MAPS)).unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::Empty);
    let own = folded(&imported.evidence.profile, Event::Cpu);
    assert!(own.contains(&format!("loader+0x1000;loader+0x2000 {most}")), "{own}");
}

#[test]
fn damage_never_panics() {
    for machine in MACHINES {
        for good in [usual(machine), java(machine)] {
            survives_every_cut("gperftools", &good);
            survives_damage("gperftools", &good);
            for at in 0..good.len() {
                let mut flipped = good.clone();
                flipped[at] ^= 0xff;
                let _ = import_as("gperftools", &flipped);
            }
        }
    }
}

#[test]
fn other_profiles_of_gperftools_are_named() {
    for (text, what) in [
        (
            "heap profile:     12:  4096 [    13:  5000] @ heapz_v2/524288\n  1: 9 [1: 9] @ 0x1 0x2\n",
            "a heap profile",
        ),
        ("heap profile: 3: 96 [ 3: 96] @ growthz\n", "a heap profile"),
        ("--- heapz 1 ---\nformat = java\nresolution = bytes\n", "a heap profile"),
        ("--- contentionz 1 ---\ncycles/second = 3201000000\n  194 27 @ 0xbc 0xc6\n", "a profile of locks"),
        (
            "--- threadz 1 ---\n\n--- Thread 7f (name: main/14) stack: ---\n  PC: 0x00bc: main\n",
            "stacks of threads",
        ),
        ("--- symbol\nbinary=/bin/cat\n0x401 main\n---\n--- profile\n", "with its names in front"),
    ] {
        let error = import_bytes("x", text.as_bytes().to_vec(), &ImportOptions::default()).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::UnknownFormat, "{error}");
        let said = error.to_string();
        assert!(said.contains(what) && said.contains("gperftools"), "{said}");
    }
}
