//! The whole of the engine against programs that play `zpool` and `zfs`, and killed at every step.
//!
//! The programs keep the pools in a folder, as `pools/NAME` with the guid and the mark, and note each call.

use super::cleanup::Host;
use super::commands::Tools;
use super::host::Roots;
use super::journal::{self, Journal};
use super::kill;
use super::parameters::Wanted;
use super::session::made;
use crate::Bytes;
use crate::engine::Session;
use crate::engine::protocol::PoolPlan;
use crate::failure::Failure;
use crate::io::{Check, Data, Reading};
use crate::spec::{Layout, Order, Setup};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const ZPOOL: &str = r#"#!/bin/sh
world=$(dirname "$0")
echo "zpool $*" >>"$world/calls"
case $1 in
create)
    for word; do case $word in org.zwhy:lab=*) mark=${word#*=} ;; zwhy-lab-*) name=$word ;; esac; done
    echo "4711 $mark" >"$world/pools/$name" ;;
get) echo 4711 ;;
list) for pool in "$world"/pools/*; do printf '%s\t%s\n' "${pool##*/}" "$(cut -d' ' -f1 "$pool")"; done ;;
export) mv "$world/pools/$2" "$world/out/" ;;
import) for word; do guid=$word; done
    for pool in "$world"/out/*; do grep -q "^$guid " "$pool" && mv "$pool" "$world/pools/"; done ;;
destroy)
    if [ -e "$world/busy" ]; then
        rm "$world/busy"
        echo "cannot destroy '$3': pool is busy" >&2
        exit 1
    fi
    rm "$world/pools/$3" ;;
esac
"#;
const ZFS: &str = r#"#!/bin/sh
world=$(dirname "$0")
echo "zfs $*" >>"$world/calls"
case $1 in
create) mkdir -p "$(cat "$world/root")/data/.zfs/snapshot" ;;
get) for word; do name=$word; done; cut -d' ' -f2 "$world/pools/$name" ;;
esac
"#;

/// A host with a pool of somebody else, a module with two parameters, and the programs.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        for folder in ["pools", "out", "scratch", "proc", "sys/module/zfs/parameters"] {
            fs::create_dir_all(world.at(folder)).unwrap();
        }
        for (path, text) in [
            ("zpool", ZPOOL),
            ("zfs", ZFS),
            ("pools/tank", "42 -\n"),
            ("sys/module/zfs/version", "2.3.2\n"),
            ("sys/module/zfs/parameters/zfs_prefetch_disable", "0\n"),
            ("sys/module/zfs/parameters/zfs_fletcher_4_impl", "[fastest] scalar avx2\n"),
        ] {
            fs::write(world.at(path), text).unwrap();
            fs::set_permissions(world.at(path), fs::Permissions::from_mode(0o755)).unwrap();
        }
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_default().trim().to_owned()
    }

    fn host(&self) -> Host {
        let roots = Roots { proc: self.at("proc"), sys: self.at("sys") };
        Host { roots, tools: Tools::in_folder(self.dir.path()), patience: Duration::ZERO }
    }

    fn plan(&self) -> PoolPlan {
        let host = self.host();
        let (journal, begin) =
            Journal::begin(&self.at("journals"), &self.at("scratch"), &host.roots).unwrap();
        let journal = journal.folder().to_owned();
        fs::write(self.at("root"), journal::root(&journal).display().to_string()).unwrap();
        let wanted = |name: &str, value: &str| Wanted { name: name.into(), value: value.into() };
        PoolPlan {
            journal,
            begin,
            roots: host.roots,
            devices: Vec::new(),
            numbers: Vec::new(),
            parameters: vec![wanted("zfs_prefetch_disable", "1"), wanted("zfs_fletcher_4_impl", "avx2")],
        }
    }

    fn open(&self, plan: &PoolPlan) -> Result<Box<dyn Session>, Failure> {
        made(plan, &setup(), &self.at("scratch"), Bytes(1 << 20), self.host().tools)
    }

    /// Nothing of the lab is left, and the other pool is as it was.
    fn assert_as_before(&self, when: &str) {
        assert_eq!(names(&self.at("pools")), ["tank"], "{when}");
        assert_eq!(self.text("pools/tank"), "42 -", "{when}");
        assert_eq!(self.text("sys/module/zfs/parameters/zfs_prefetch_disable"), "0", "{when}");
        let implementation = self.text("sys/module/zfs/parameters/zfs_fletcher_4_impl");
        assert!(implementation.contains("fastest"), "{when}: {implementation}");
        assert_eq!(names(&self.at("scratch")), Vec::<String>::new(), "{when}");
        assert_eq!(names(&self.at("journals")), Vec::<String>::new(), "{when}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn setup() -> Setup {
    let mut setup = Setup { layout: Layout::Raidz1, disks: 3, threads: 2, ..Setup::default() };
    setup.properties.insert("encryption".into(), "aes-256-gcm".into());
    setup.io_size = Bytes(4096);
    setup
}

/// What a run does with a session, from first to last.
fn play(world: &World, plan: &PoolPlan) -> Result<(), Failure> {
    let mut session = world.open(plan)?;
    let data = Data::new(session.objects(), &setup(), Bytes(64 << 10), 1, None)?;
    session.begin();
    data.write(&*session.target(), None, Order::Sequential, &mut |_, _| ())?;
    session.sync()?;
    let measured = session.end();
    assert!(measured.clocks.wall_s() > 0.0 && measured.not_counted.contains("lab.compressed"));
    session.reimport(&mut |_, _| ())?;
    let what = Reading { bytes: None, order: Order::Random, count: 1, check: Check::EveryByte, spoil: false };
    data.read(&*session.target(), &what, &mut |_, _| ())?;
    session.snapshot(0)?;
    session.snapshot(1)?;
    session.destroy(&[0, 1])?;
    session.close()
}

#[test]
fn a_run_makes_its_pool_as_the_cell_wants_it_and_nothing_is_left() {
    let world = World::new();
    let plan = world.plan();
    let (name, root) = (plan.begin.pool(), journal::root(&plan.journal));
    play(&world, &plan).unwrap();
    let calls = world.text("calls");
    let scratch = world.at("scratch");
    let disks: Vec<String> = (0..3).map(|n| scratch.join(format!("vdev{n}")).display().to_string()).collect();
    let create = format!(
        "zpool create -o ashift=12 -o cachefile=none -o failmode=continue -R {} -O mountpoint=none -O canmount=off \
         -O atime=off -O org.zwhy:lab={} {name} raidz1 {}",
        root.display(),
        plan.begin.mark,
        disks.join(" ")
    );
    assert!(calls.contains(&create), "{calls}");
    let key = journal::key(&plan.journal);
    let dataset = format!(
        "zfs create -o mountpoint=/data -o canmount=on -o keyformat=hex -o keylocation=file://{} -o checksum=fletcher4 \
         -o compression=off -o encryption=aes-256-gcm -o recordsize=128K {name}/data",
        key.display()
    );
    assert!(calls.contains(&dataset), "{calls}");
    assert!(calls.contains(&format!("zpool export {name}\nzpool import -l -o cachefile=none")), "{calls}");
    assert!(calls.contains(&format!("zfs destroy {name}/data@s000000%s000001")), "{calls}");
    assert_eq!(world.text("sys/module/zfs/parameters/zfs_prefetch_disable"), "1");
    // The programs leave files where the real ones unmount.
    fs::remove_dir_all(&root).unwrap();
    let cleaned = world.host().clean(&plan.journal);
    assert_eq!(cleaned.left, Vec::<String>::new());
    assert!(cleaned.done.contains(&format!("the pool {name} is destroyed")), "{cleaned:?}");
    world.assert_as_before("after a run");
}

#[test]
fn after_a_kill_at_any_step_cleanup_leaves_the_host_as_it_was() {
    let mut strikes = 0;
    loop {
        let world = World::new();
        let plan = world.plan();
        kill::strike_after(Some(strikes));
        let outcome = play(&world, &plan);
        kill::strike_after(None);
        // What is in a dataset goes with the pool.
        let _ = fs::remove_dir_all(journal::root(&plan.journal));
        let cleaned = world.host().clean(&plan.journal);
        assert_eq!(cleaned.left, Vec::<String>::new(), "after {strikes}");
        world.assert_as_before(&format!("after {strikes}"));
        match outcome {
            Ok(()) => break,
            Err(failure) => assert_eq!(failure.found, "killed"),
        }
        strikes += 1;
    }
    assert!(strikes > 25, "{strikes} places");
}

#[test]
fn cleaning_up_can_be_killed_and_done_again() {
    for strikes in 0..2 {
        let world = World::new();
        let plan = world.plan();
        play(&world, &plan).unwrap();
        fs::remove_dir_all(journal::root(&plan.journal)).unwrap();
        kill::strike_after(Some(strikes));
        let first = world.host().clean(&plan.journal);
        kill::strike_after(None);
        assert!(!first.left.is_empty() && plan.journal.exists(), "{first:?}");
        assert_eq!(world.host().clean(&plan.journal).left, Vec::<String>::new());
        world.assert_as_before("after the second time");
    }
}

#[test]
fn a_pool_that_is_still_busy_is_waited_for() {
    for (patience, left) in [(Duration::ZERO, 1), (Duration::from_secs(20), 0)] {
        let world = World::new();
        let plan = world.plan();
        play(&world, &plan).unwrap();
        fs::remove_dir_all(journal::root(&plan.journal)).unwrap();
        fs::write(world.at("busy"), "").unwrap();
        let cleaned = Host { patience, ..world.host() }.clean(&plan.journal);
        assert_eq!(cleaned.left.len(), left, "{cleaned:?}");
        assert!(cleaned.left.iter().all(|why| why.contains("pool is busy")), "{cleaned:?}");
    }
}

#[test]
fn a_pool_that_only_has_the_name_is_left_alone() {
    let world = World::new();
    let plan = world.plan();
    play(&world, &plan).unwrap();
    let pool = world.at("pools").join(plan.begin.pool());
    fs::write(&pool, "99 somebody\n").unwrap();
    let cleaned = world.host().clean(&plan.journal);
    assert!(cleaned.left[0].contains("not the lab's"), "{cleaned:?}");
    assert!(pool.exists() && plan.journal.exists());
    assert!(world.at("scratch/vdev0").exists(), "its disks stay with it");
    // Renamed, it keeps its guid.
    fs::remove_file(&pool).unwrap();
    fs::write(world.at("pools/mine"), "4711 x\n").unwrap();
    let cleaned = world.host().clean(&plan.journal);
    assert!(cleaned.left[0].contains("is called mine now"), "{cleaned:?}");
    assert!(world.at("pools/mine").exists());
}

#[test]
fn a_pool_without_a_noted_guid_must_have_the_mark() {
    let world = World::new();
    let plan = world.plan();
    // Killed between making the pool and reading its guid.
    let mut strikes = 0;
    let pool = world.at("pools").join(plan.begin.pool());
    while !pool.exists() {
        let _ = fs::remove_file(world.at("scratch/vdev0"));
        for n in 1..3 {
            let _ = fs::remove_file(world.at(&format!("scratch/vdev{n}")));
        }
        kill::strike_after(Some(strikes));
        assert!(play(&world, &plan).is_err());
        kill::strike_after(None);
        strikes += 1;
    }
    fs::write(&pool, "4711 somebody\n").unwrap();
    assert!(world.host().clean(&plan.journal).left[0].contains("not the lab's"));
    fs::write(&pool, format!("4711 {}\n", plan.begin.mark)).unwrap();
    assert_eq!(world.host().clean(&plan.journal).left, Vec::<String>::new());
    world.assert_as_before("by its mark");
}

#[test]
fn an_experiment_that_runs_is_not_cleaned_up() {
    let world = World::new();
    let plan = world.plan();
    let other = world.at("proc/1");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("cmdline"), format!("zpool\0create\0{}\0", plan.begin.pool())).unwrap();
    let cleaned = world.host().clean(&plan.journal);
    assert!(cleaned.left[0].contains("process 1 still works on"), "{cleaned:?}");
    assert!(plan.journal.exists());
}

#[test]
fn where_folders_are_snapshots_no_program_is_started_for_each() {
    let world = World::new();
    fs::write(world.at("sys/module/zfs/parameters/zfs_admin_snapshot"), "0\n").unwrap();
    let mut plan = world.plan();
    plan.parameters.push(Wanted { name: "zfs_admin_snapshot".into(), value: "1".into() });
    let session = world.open(&plan).unwrap();
    assert_eq!(world.text("sys/module/zfs/parameters/zfs_admin_snapshot"), "1");
    let snapshots = journal::root(&plan.journal).join("data/.zfs/snapshot");
    let there = || {
        let names = fs::read_dir(&snapshots).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    (0..3).for_each(|number| session.snapshot(number).unwrap());
    session.rename(1).unwrap();
    assert_eq!(there(), ["s000000", "s000001", "s000002"].map(str::to_owned).into());
    session.destroy(&[1]).unwrap();
    assert_eq!(there(), ["s000000", "s000002"].map(str::to_owned).into());
    assert!(!world.text("calls").contains("zfs snapshot"), "{}", world.text("calls"));
    assert!(session.destroy(&[1]).unwrap_err().to_string().contains("destroy a snapshot"));
    // One call for many is what the program is for.
    session.destroy(&[0, 2]).unwrap();
    assert!(world.text("calls").contains("@s000000%s000002"), "{}", world.text("calls"));
    session.close().unwrap();
    fs::remove_dir_all(journal::root(&plan.journal)).unwrap();
    assert_eq!(world.host().clean(&plan.journal).left, Vec::<String>::new());
    assert_eq!(world.text("sys/module/zfs/parameters/zfs_admin_snapshot"), "0", "as it was");
}
