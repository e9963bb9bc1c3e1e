//! The screen as a terminal of two sizes would show it, and what its keys do.

mod common;

use common::{HOSTILE, host};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::Path;
use std::time::Duration;
use zwhy_diagnose::Knowledge;
use zwhy_live::{Asked, Key, Kind, Model, Replay, Table, VERDICT_SPAN, View, draw, freeze};

const EVERY: Duration = Duration::from_secs(1);

fn played(seconds: i64, program: &str, dataset: &str) -> Model {
    let mut model = Model::new(Knowledge::embedded());
    let replay = Replay::new(host(seconds, program, dataset), EVERY);
    model.set_facts(replay.facts().clone());
    for (n, slice) in replay.enumerate() {
        model.push(slice);
        if n % 10 == 9 {
            model.decide();
        }
    }
    model
}

/// The lines of a terminal of that size.
fn screen(model: &Model, view: &mut View, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model, view)).unwrap();
    let cells = terminal.backend().buffer().content();
    let line = |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
    cells.chunks(usize::from(width)).map(line).collect()
}

/// Compares with `tests/golden/NAME`; `BLESS=1` writes it.
fn golden(name: &str, lines: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let got: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs (BLESS=1 rewrites it):\n--- got\n{got}\n--- want\n{want}");
}

fn press(view: &mut View, model: &Model, keys: &str) {
    for key in keys.chars() {
        assert_eq!(view.press(Key::Char(key), model), Asked::Nothing, "{key}");
    }
}

const SMALL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (200, 60);

#[test]
fn screens_of_a_small_and_a_large_terminal() {
    let mut model = played(30, "fio", "tank/db");
    let mut view = View::default();
    golden("small-stages.txt", &screen(&model, &mut view, SMALL));
    golden("large.txt", &screen(&model, &mut view, LARGE));
    press(&mut view, &model, "5>>r");
    golden("small-disks.txt", &screen(&model, &mut view, SMALL));
    press(&mut view, &model, "?");
    golden("small-help.txt", &screen(&model, &mut view, SMALL));
    let mut view = View::default();
    model.missing.push("stages: the kernel does not allow sampling; run this as root".to_owned());
    golden("large-missing.txt", &screen(&model, &mut view, LARGE));
}

#[test]
fn every_table_fits_every_size() {
    let model = played(12, "fio", "tank/db");
    for size in [(40, 12), (61, 17), SMALL, (120, 50), (159, 60), (160, 30), LARGE, (300, 90)] {
        for kind in '1'..='7' {
            let mut view = View::default();
            press(&mut view, &model, &kind.to_string());
            let lines = screen(&model, &mut view, size);
            assert!(lines[0].starts_with("WHY"), "{size:?}: {lines:#?}");
            let title = Kind::ALL[kind as usize - '1' as usize].title();
            assert!(lines.iter().any(|line| line.contains(title)), "{title} in {size:?}: {lines:#?}");
            assert!(lines.last().unwrap().contains("UTC"), "{lines:#?}");
        }
    }
    let tiny = screen(&model, &mut View::default(), (20, 5));
    assert!(tiny[0].starts_with("needs 40"), "{tiny:?}");
}

#[test]
fn hostile_names_move_no_cursor_and_end_no_line() {
    let mut model = played(12, HOSTILE, HOSTILE);
    model.missing.push(format!("nothing of {HOSTILE}"));
    let mut view = View::default();
    view.note = Some(HOSTILE.to_owned());
    for keys in ["1", "3", "4", "/\u{202e}\u{7f}", "e"] {
        for key in keys.chars() {
            view.press(Key::Char(key), &model);
        }
        for size in [SMALL, LARGE] {
            let lines = screen(&model, &mut view, size);
            let hostile = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!lines.iter().any(|line| line.chars().any(hostile)), "{keys}: {lines:#?}");
        }
        if keys.starts_with('/') {
            view.press(Key::Escape, &model);
        }
    }
}

#[test]
fn history_is_walked_and_stands_still_while_time_goes_on() {
    let mut model = played(30, "fio", "tank/db");
    let mut view = View::default();
    let at = |view: &View, model: &Model| view.figures(model).unwrap().at_s.round() as u64;
    assert_eq!((at(&view, &model), view.is_paused()), (30, false));
    view.press(Key::Left, &model);
    assert_eq!((at(&view, &model), view.is_paused()), (29, true));
    press(&mut view, &model, "[[");
    assert_eq!(at(&view, &model), 9);
    assert!(model.told(9.0).unwrap().at_s == 10.0, "the verdict about these seconds");
    press(&mut view, &model, "[");
    assert_eq!(at(&view, &model), 1, "the oldest");
    press(&mut view, &model, "]");
    assert_eq!(at(&view, &model), 11);
    let last = screen(&model, &mut view, SMALL).pop().unwrap();
    assert!(last.contains("PAUSED -19 s"), "{last}");
    let mut slice = Replay::new(host(1, "fio", "tank/db"), EVERY).next().unwrap();
    (slice.from, slice.to) = (Duration::from_secs(30), Duration::from_secs(31));
    model.push(slice);
    assert_eq!(at(&view, &model), 11, "it stands still");
    press(&mut view, &model, " ");
    assert_eq!((at(&view, &model), view.is_paused()), (31, false));
    view.press(Key::Home, &model);
    assert_eq!(at(&view, &model), 1);
    assert_eq!(view.press(Key::End, &model), Asked::Nothing);
    assert_eq!((at(&view, &model), view.is_paused()), (31, false));
}

#[test]
fn what_the_owner_must_do_is_asked_for() {
    let model = played(12, "fio", "tank/db");
    let mut view = View::default();
    view.replay = true;
    assert_eq!(view.press(Key::Right, &model), Asked::Step);
    assert_eq!(view.press(Key::End, &model), Asked::ToEnd);
    let Asked::Freeze(until) = view.press(Key::Char('f'), &model) else { panic!("freeze") };
    assert_eq!(until.as_secs_f64().round() as u64, 12);
    press(&mut view, &model, "?");
    assert_eq!(view.press(Key::Char('q'), &model), Asked::Nothing, "the help is closed first");
    press(&mut view, &model, "/q");
    assert_eq!(view.press(Key::Interrupt, &model), Asked::Quit);
    view.press(Key::Enter, &model);
    assert_eq!(view.press(Key::Char('q'), &model), Asked::Quit);
    let none = Model::new(Knowledge::embedded());
    let mut view = View::default();
    for key in [Key::Left, Key::Right, Key::Home, Key::Char('f'), Key::Char('e'), Key::Char(' ')] {
        assert_eq!(view.press(key, &none), Asked::Nothing, "nothing was seen");
    }
    assert!(screen(&none, &mut view, SMALL)[0].starts_with("waiting"));
}

#[test]
fn rows_are_sorted_and_filtered_on_the_screen() {
    let model = played(12, "fio", "tank/db");
    let mut view = View::default();
    press(&mut view, &model, "4/db");
    view.press(Key::Enter, &model);
    assert!(screen(&model, &mut view, SMALL).iter().any(|line| line.contains("tank/db")));
    press(&mut view, &model, "/x");
    let lines = screen(&model, &mut view, SMALL);
    assert!(lines.last().unwrap().contains("filter: dbx_"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("no row has that name")), "{lines:#?}");
    view.press(Key::Backspace, &model);
    assert!(screen(&model, &mut view, SMALL).iter().any(|line| line.contains("tank/db")));
    view.press(Key::Escape, &model);
    press(&mut view, &model, "1>");
    let lines = screen(&model, &mut view, SMALL);
    assert!(lines.iter().any(|line| line.contains("stage ▼")), "{lines:#?}");
}

#[test]
fn the_whole_answer_is_there_and_can_be_scrolled() {
    let model = played(12, "fio", "tank/db");
    let mut view = View::default();
    press(&mut view, &model, "e");
    let low = (80, 16);
    let first = screen(&model, &mut view, low);
    let why = model.told(12.0).unwrap().why.split(' ').take(4).collect::<Vec<_>>().join(" ");
    assert!(first.iter().any(|line| line.contains(&why)), "{why}: {first:#?}");
    for _ in 0..100 {
        view.press(Key::PageDown, &model);
    }
    let last = screen(&model, &mut view, low);
    assert!(first != last && !last[0].contains("for more"), "{last:#?}");
    view.press(Key::Escape, &model);
    assert!(screen(&model, &mut view, SMALL)[0].starts_with("WHY"));
}

/// The flame graph of a host with two threads, of 500 and 100 samples in ten seconds.
#[test]
fn the_flame_graph_is_walked_and_zoomed() {
    let model = played(12, "fio", "tank/db");
    let mut view = View::default();
    press(&mut view, &model, "F");
    let lines = screen(&model, &mut view, SMALL);
    golden("small-flame.txt", &lines);
    assert!(lines[1].starts_with("all  600 samples, 100.0 % of all"), "{lines:#?}");
    for (key, told) in [
        (Key::Down, "[z_rd_int]  500 samples, 83.3 % of all"),
        (Key::Left, "[fio]  100 samples, 16.7 % of all"),
        (Key::Left, "[fio]  100 samples, 16.7 % of all"),
        (Key::Right, "[z_rd_int]  500 samples, 83.3 % of all"),
        (Key::Down, "taskq_thread  500 samples"),
        (Key::Enter, "taskq_thread  500 samples, 83.3 % of all, 100.0 % of taskq_thread"),
        (Key::Up, "taskq_thread  500 samples"),
        (Key::Down, "zio_execute  500 samples, 83.3 % of all, 100.0 % of taskq_thread"),
        (Key::Backspace, "[z_rd_int]  500 samples, 83.3 % of all, 100.0 % of [z_rd_int]"),
        (Key::Backspace, "all  600 samples, 100.0 % of all"),
        (Key::Backspace, "all  600 samples, 100.0 % of all"),
    ] {
        assert_eq!(view.press(key, &model), Asked::Nothing);
        let lines = screen(&model, &mut view, SMALL);
        assert!(lines[1].starts_with(told), "{key:?}: {lines:#?}");
    }
    // The first line tells all of the chosen box.
    for _ in 0..5 {
        view.press(Key::Down, &model);
    }
    let lines = screen(&model, &mut view, (100, 12));
    assert!(lines[1].contains("stage checksum") && lines[1].contains("module zfs"), "{lines:#?}");
    view.press(Key::Escape, &model);
    assert!(screen(&model, &mut view, SMALL)[0].starts_with("WHY"));
    let mut hostile = View::default();
    let model = played(12, HOSTILE, HOSTILE);
    press(&mut hostile, &model, "F");
    let lines = screen(&model, &mut hostile, LARGE);
    assert!(!lines.iter().any(|line| line.chars().any(|c| c.is_control() || c == '\u{202e}')), "{lines:#?}");
}

/// Reads and writes of a pool and of two disks, one of which is slow: what a third and a fourth report hold.
fn with_latencies(model: &mut Model) {
    let section = |name: &str, times: u64, slow: bool| {
        let cell = |column: usize, bucket: usize| {
            let middle = [17, 19, 16, 18, 12, 12, 13, 18, 0, 0, 0][column];
            let near = 12 * (5_u64.saturating_sub(bucket.abs_diff(middle) as u64)).pow(3);
            let tail = u64::from(slow && column < 4 && bucket == 30);
            if middle == 0 { 0 } else { times * (near + tail) }
        };
        let line = |bucket: usize| {
            let cells: String = (0..11).map(|column| format!("\t{}", cell(column, bucket))).collect();
            format!("{}{cells}\n", (2u64 << bucket) - 1)
        };
        format!("\n{name}\n{}", (0..37).map(line).collect::<String>())
    };
    for second in 1..=4 {
        let report = [("tank", 2 * second, true), ("tank/sda", second, false), ("tank/sdb", second, true)];
        let report: String = report.map(|(name, times, slow)| section(name, times, slow)).concat();
        model.latency.push(Duration::from_secs(second), zwhy_zfs::parse_latency_report(&report));
    }
}

#[test]
fn latencies_of_vdevs_are_shown_while_they_are_looked_at() {
    let mut model = played(12, "fio", "tank/db");
    let mut view = View::default();
    press(&mut view, &model, "w");
    assert!(view.wants_latency());
    assert!(screen(&model, &mut view, SMALL)[1].starts_with("waiting for zpool iostat -w"));
    with_latencies(&mut model);
    golden("small-latency.txt", &screen(&model, &mut view, SMALL));
    golden("large-latency.txt", &screen(&model, &mut view, LARGE));
    for (key, named) in [
        (Key::Left, "tank "),
        (Key::Right, "tank/sda "),
        (Key::Right, "tank/sdb "),
        (Key::Right, "tank/sdb "),
    ] {
        assert_eq!(view.press(key, &model), Asked::Nothing);
        let lines = screen(&model, &mut view, SMALL);
        assert!(lines[1].starts_with(named) && lines[1].contains("the last 3 s"), "{key:?}: {lines:#?}");
    }
    let last = |view: &mut View| screen(&model, view, SMALL)[22].clone();
    assert!(!last(&mut view).starts_with("2s"), "there are more buckets than rows");
    (0..100).for_each(|_| assert_eq!(view.press(Key::Down, &model), Asked::Nothing));
    assert!(last(&mut view).starts_with("2s"), "{}", last(&mut view));
    view.press(Key::Up, &model);
    assert!(last(&mut view).starts_with("1s"), "it is scrolled back at once");
    view.press(Key::Escape, &model);
    assert!(!view.wants_latency() && screen(&model, &mut view, SMALL)[0].starts_with("WHY"));
}

#[test]
fn latencies_are_of_now_and_a_capture_has_none() {
    let model = played(12, "fio", "tank/db");
    let mut view = View::default();
    press(&mut view, &model, " [w");
    assert!(view.wants_latency() && !view.is_paused());
    let mut view = View::default();
    view.replay = true;
    press(&mut view, &model, "w");
    assert!(!view.wants_latency());
    assert!(screen(&model, &mut view, SMALL)[23].contains("latency histograms: a capture has none"));
}

#[test]
fn latencies_fit_every_size() {
    let mut model = played(12, "fio", "tank/db");
    with_latencies(&mut model);
    let mut slow = zwhy_zfs::parse_latency_report("a\n1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n");
    slow[0].name = format!("tank/{HOSTILE}").repeat(30);
    for size in [(40, 12), (61, 17), SMALL, (120, 50), (159, 60), (160, 30), LARGE, (300, 90)] {
        let mut view = View::default();
        press(&mut view, &model, "w");
        let lines = screen(&model, &mut view, size);
        assert!(lines[1].starts_with("tank  the last 3 s") && lines[3].starts_with("latency"), "{lines:#?}");
        let mut named = Model::new(Knowledge::embedded());
        named.latency.push(Duration::from_secs(1), slow.clone());
        let lines = screen(&named, &mut view, size);
        assert!(lines[1].trim_end().ends_with("since import"), "{lines:#?}");
        assert!(
            !lines.iter().any(|line| line.chars().any(|c| c.is_control() || c == '\u{202e}')),
            "{lines:#?}"
        );
    }
}

#[test]
fn a_frozen_minute_is_a_capture_with_the_same_answer() {
    let model = played(90, "fio", "tank/db");
    let folder = tempfile::tempdir().unwrap();
    let until = Duration::from_secs(90);
    let frozen = freeze(&model, until, folder.path()).unwrap().unwrap();
    assert_eq!(frozen.path.file_name().unwrap(), "zwhy-top-20010909-014810.zwhy");
    assert_eq!(frozen.seconds, 60.0);
    let second = freeze(&model, until, folder.path()).unwrap().unwrap();
    assert!(second.path.ends_with("zwhy-top-20010909-014810-2.zwhy"), "{second:?}");
    let capture = zwhy_capture::Capture::open(&frozen.path).unwrap();
    assert!(capture.damage.is_empty(), "{:?}", capture.damage);
    assert_eq!(capture.profile.samples.len(), 60 * 60);
    let mut again = Model::new(Knowledge::embedded());
    let replay = Replay::new(capture, EVERY);
    again.set_facts(replay.facts().clone());
    replay.for_each(|slice| again.push(slice));
    let of = |model: &Model, until| {
        let verdict = model.explain(VERDICT_SPAN, Duration::from_secs(until)).unwrap();
        (verdict.answer.why, verdict.answer.act)
    };
    assert_eq!(of(&again, 60), of(&model, 90));
    let newest = |model: &Model| model.history().back().unwrap().clone();
    assert_eq!(Table::of(Kind::Disks, &newest(&again)), Table::of(Kind::Disks, &newest(&model)));
    assert!(freeze(&model, Duration::from_secs(5), folder.path()).unwrap().is_none());
}
