//! Flame graphs come back as they were: published figures to the sample, and inferno as an oracle.

mod common;

use common::{folded, import_as, import_detected, inclusive, shared, stack_counts, survives_damage};
use inferno::flamegraph::{Direction, Options, from_lines};
use proptest::prelude::*;
use zwhy_profile::{Event, Profile, StackTotals};

fn published(file: &str) -> Option<Profile> {
    let bytes = std::fs::read(shared("flamegraphs")?.join(file)).expect("a readable SVG");
    let imported = import_detected("flamegraph-svg", &bytes);
    assert!(imported.stats.warnings.is_empty(), "{file}: {:?}", imported.stats.warnings);
    Some(imported.evidence.profile)
}

#[test]
fn arc_cached_reads_to_the_sample() {
    let Some(p) = published("stock-1m-64.svg") else { return };
    assert_eq!(p.total(Event::Cpu), 4_751_716);
    // Towers from the widest: the figures published are those of the first one.
    for (function, towers) in [
        ("zfs_read", &[4_069_157, 27_874][..]),
        ("dmu_buf_hold_array_by_dnode", &[2_463_359]),
        ("uiomove", &[1_097_022, 487]),
        ("dbuf_hold", &[706_301, 490]),
        ("dbuf_evict_thread", &[557_873]),
        ("dmu_buf_rele_array", &[476_189]),
    ] {
        assert_eq!(towers_of(&p, function), towers, "{function}");
        assert_eq!(inclusive(&p, function), towers.iter().sum::<u64>(), "{function}");
    }
}

/// Counts of the boxes of a function, largest first.
fn towers_of(p: &Profile, function: &str) -> Vec<u64> {
    let totals = StackTotals::of(p, Event::Cpu);
    let boxes = p.stacks.iter().filter(|(_, _, frame, _)| p.function_of(*frame) == function);
    let mut counts: Vec<u64> = boxes.map(|(stack, ..)| totals.total[stack.index()]).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

#[test]
fn snapshot_destroy_to_the_sample() {
    for (file, all, figures) in [
        ("sdimitro_snap_unmount.svg", 59_838, [3_756, 2_225, 1_530]),
        ("sdimitro_snap_unmount4.svg", 59_844, [269, 249, 19]),
    ] {
        let Some(p) = published(file) else { return };
        assert_eq!(p.total(Event::Cpu), all, "{file}");
        let names = ["zfs_ioc_destroy_snaps", "zfs_unmount_snap", "dsl_destroy_snapshots_nvl"];
        for (name, samples) in names.into_iter().zip(figures) {
            assert_eq!(inclusive(&p, name), samples, "{file}: {name}");
        }
    }
}

/// Draws folded lines with inferno.
fn draw(lines: &str, change: impl Fn(&mut Options)) -> Vec<u8> {
    let mut options = Options::default();
    change(&mut options);
    let mut svg = Vec::new();
    from_lines(&mut options, lines.lines(), &mut svg).expect("inferno draws");
    svg
}

const STACKS: &str = "\
fio;entry_SYSCALL_64_after_hwframe;zfs_read;std::move<A&&, \"b\">(int (*)(char)) 7
fio;entry_SYSCALL_64_after_hwframe;zfs_read;uiomove 90
fio;entry_SYSCALL_64_after_hwframe;zfs_write 3
z_rd_int;kthread;zio_done 1
z_rd_int;kthread;zio_done;<T as core::ops::Fn>::call 100000
";

#[test]
fn inferno_draws_and_we_read_the_same() {
    let want = stack_counts(STACKS);
    for (name, change) in [
        ("flames", (|_| {}) as fn(&mut Options)),
        ("icicles", |o| o.direction = Direction::Inverted),
        ("other-words", |o| o.count_name = "ms".to_owned()),
        ("narrow", |o| o.image_width = Some(300)),
        ("reversed-colours", |o| o.title = "a <b> & (3 samples, 1%)".to_owned()),
    ] {
        let svg = draw(STACKS, |o| {
            o.min_width = 0.0;
            change(o);
        });
        let imported = import_detected("flamegraph-svg", &svg);
        assert_eq!(stack_counts(&folded(&imported.evidence.profile, Event::Cpu)), want, "{name}");
        assert_eq!(imported.stats.warnings.len(), usize::from(name == "other-words"), "{name}");
    }
}

#[test]
fn threads_are_named_by_the_root_frame() {
    let p = import_as("flamegraph-svg", &draw(STACKS, |o| o.min_width = 0.0)).unwrap().evidence.profile;
    let comm = |name: &str| {
        let id = p.strings.find(name).unwrap();
        p.samples.iter().filter(|s| p.threads.get(s.thread).comm == id).map(|s| s.count).sum::<u32>()
    };
    assert_eq!((comm("fio"), comm("z_rd_int")), (100, 100_001));
}

#[test]
fn samples_of_boxes_too_narrow_to_draw_stay_with_their_parent() {
    let svg = draw(STACKS, |o| o.min_width = 1.0);
    let p = import_as("flamegraph-svg", &svg).unwrap().evidence.profile;
    assert_eq!(p.total(Event::Cpu), 100_101);
    assert_eq!(inclusive(&p, "zfs_write"), 0);
    assert_eq!(inclusive(&p, "zio_done"), 100_001);
}

#[test]
fn a_differential_keeps_the_second_profile_and_says_so() {
    let svg = draw("a;b 10 20\na;c 5 1\n", |o| o.min_width = 0.0);
    let imported = import_as("flamegraph-svg", &svg).unwrap();
    assert_eq!(folded(&imported.evidence.profile, Event::Cpu), "a;b 20\na;c 1\n");
    assert!(imported.stats.warnings[0].contains("differential"));
}

/// The layout of flamegraph.pl: boxes in any order, places rounded to 0.1 (labels to 0.01), no exact ones.
fn draw_rounded(stacks: &[(Vec<u8>, u32)]) -> String {
    use std::collections::BTreeMap;
    let mut sorted: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        *sorted.entry(stack.clone()).or_default() += u64::from(*count);
    }
    let total: u64 = sorted.values().sum();
    let unit = 1180.0 / total as f64;
    let mut boxes: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
    let mut at = 0u64;
    for (stack, count) in &sorted {
        for depth in 1..=stack.len() {
            let b = boxes.entry(stack[..depth].to_vec()).or_insert((at, 0));
            b.1 += count;
        }
        at += count;
    }
    let mut svg = String::from("<?xml version=\"1.0\"?>\n<svg>\n<text id=\"title\">Flame Graph</text>\n");
    let mut put = |name: &str, x: u64, count: u64, depth: usize| {
        let left = 10.0 + x as f64 * unit;
        let right = 10.0 + (x + count) as f64 * unit;
        svg += &format!(
            "<g class=\"func_g\"><title>{name} ({count} samples, 1.00%)</title><rect x=\"{left:.1}\" y=\"{}\" width=\"{:.1}\" height=\"15.0\"/>\n<text x=\"{:.2}\" y=\"9\">..</text></g>\n",
            1000 - depth * 16,
            right - left,
            left + 3.0,
        );
    };
    for (stack, (x, count)) in boxes.iter().rev() {
        let name = format!("f{}", stack[stack.len() - 1]);
        put(&name, *x, *count, stack.len());
    }
    put("all", 0, total, 0);
    svg + "</svg>\n"
}

proptest! {
    #[test]
    fn rounded_places_give_the_tree_back(
        stacks in prop::collection::vec((prop::collection::vec(0u8..4, 1..8), 1u32..500), 1..40)
    ) {
        let want: Vec<String> = stacks.iter().map(|(stack, count)| {
            let names: Vec<String> = stack.iter().map(|f| format!("f{f}")).collect();
            format!("{} {count}", names.join(";"))
        }).collect();
        let imported = import_detected("flamegraph-svg", draw_rounded(&stacks).as_bytes());
        prop_assert_eq!(
            stack_counts(&folded(&imported.evidence.profile, Event::Cpu)),
            stack_counts(&want.join("\n"))
        );
    }
}

/// The layouts before 2014: no titles, the text is what the mouse shows.
fn as_of_2011(svg: &str, unit: &str) -> String {
    let mut out = String::from("<svg>\n<text x=\"600\" y=\"24\">Off-CPU Time</text>\n");
    for line in svg.lines().filter(|l| l.contains("<title>")) {
        let (_, rest) = line.split_once("<title>").unwrap();
        let (title, rest) = rest.split_once("</title><rect ").unwrap();
        let title = title.replace("samples", unit).replace('\'', "\\'");
        let place = rest.trim_end_matches("/>");
        out += &format!("<rect {place} rx=\"2\" onmouseover=\"s('{title}')\" onmouseout=\"c()\" />\n");
    }
    out + "</svg>\n"
}

#[test]
fn drawings_of_2011_and_of_times_are_read() {
    // Threads off and on the CPU, with the separator that hot/cold drawings have between them.
    let stacks: Vec<(Vec<u8>, u32)> =
        vec![(vec![1, 2, 3], 40), (vec![1, 2, 0, 3], 700), (vec![2], 5), (vec![2, 1], 1)];
    let svg = as_of_2011(&draw_rounded(&stacks), "samples");
    let imported = import_detected("flamegraph-svg", svg.as_bytes());
    assert_eq!(
        folded(&imported.evidence.profile, Event::Cpu),
        "f1;f2;f0;f3 700\nf1;f2;f3 40\nf2 5\nf2;f1 1\n"
    );
    assert!(imported.stats.warnings.is_empty(), "{:?}", imported.stats);

    let svg = as_of_2011(&draw_rounded(&stacks), "ms");
    let imported = import_detected("flamegraph-svg", svg.as_bytes());
    let p = &imported.evidence.profile;
    assert_eq!((p.total(Event::Cpu), p.total(Event::Wait), p.sampling(Event::Wait).counted), (0, 746, false));
    assert_eq!(p.measure(Event::Wait).unit.words(746), "746 ms");
    assert!(imported.stats.warnings[0].contains("`ms`"), "{:?}", imported.stats);
}

/// Boxes narrower than the rounding stand beside boxes that have no room for them.
#[test]
fn narrow_boxes_go_where_there_is_room() {
    let mut stacks: Vec<(Vec<u8>, u32)> = vec![(vec![0, 0], 400_000)];
    for i in 1..60u8 {
        stacks.push((vec![i, i], 1 + u32::from(i) % 3));
        stacks.push((vec![i, i, 7], u32::from(i) % 2));
        stacks.push((vec![i, 8], 2));
    }
    stacks.retain(|(_, count)| *count > 0);
    let total: u64 = stacks.iter().map(|(_, count)| u64::from(*count)).sum();
    // Without labels places are known to 0.1 only.
    let svg: String = draw_rounded(&stacks)
        .lines()
        .map(|l| match l.split_once("<text x=\"") {
            Some((before, _)) if l.contains("y=\"9\"") => format!("{before}</g>\n"),
            _ => format!("{l}\n"),
        })
        .collect();
    let imported = import_detected("flamegraph-svg", svg.as_bytes());
    assert_eq!(imported.evidence.profile.total(Event::Cpu), total, "{:?}", imported.stats);
}

#[test]
fn a_factor_of_inferno_does_not_change_the_samples() {
    let svg = draw(STACKS, |o| {
        o.min_width = 0.0;
        o.factor = 2.5;
    });
    let imported = import_detected("flamegraph-svg", &svg);
    assert_eq!(stack_counts(&folded(&imported.evidence.profile, Event::Cpu)), stack_counts(STACKS));
    assert!(imported.stats.warnings[0].contains("2.500 for each sample"), "{:?}", imported.stats);
}

#[test]
fn cut_and_flipped_drawings_do_no_harm() {
    let svg = draw(STACKS, |o| o.min_width = 0.0);
    survives_damage("flamegraph-svg", &svg);
    let half = &svg[..svg.len() - 400];
    let imported = import_as("flamegraph-svg", half).unwrap();
    assert!(imported.stats.warnings[0].contains("breaks"), "{:?}", imported.stats);
    assert!(import_as("flamegraph-svg", b"<svg><title>Reset Zoom</title></svg>").is_err());
}
