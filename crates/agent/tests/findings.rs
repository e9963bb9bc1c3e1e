//! Findings have a begin and an end, and the log tells both whatever ends the agent.

mod common;

use common::START;
use std::fs;
use zwhy_agent::{Change, Found, Log, LogEvent, Tracker, read_log};

fn found(class: &str, confidence: f64) -> Found {
    let (title, scope) = (format!("about {class}"), vec!["dataset tank/home".to_owned()]);
    Found { class: class.to_owned(), title, scope, confidence, share: Some(0.4) }
}

/// Verdicts of two minutes, one a minute.
fn verdict(tracker: &mut Tracker, minute: i32, found: &[Found]) -> Vec<(char, String, f64, f64)> {
    let changes = tracker.take(found, START + f64::from(minute) * 60.0, 120.0);
    let told = |change: &Change| {
        let (what, episode) = match change {
            Change::Begins(episode) => ('b', episode),
            Change::Ends(episode) => ('e', episode),
        };
        (what, episode.class.clone(), episode.begin_unix_s - START, episode.seen_unix_s - START)
    };
    changes.iter().map(told).collect()
}

#[test]
fn a_finding_lasts_over_one_verdict_without_it() {
    let mut tracker = Tracker::default();
    let (a, b) = (found("a", 0.9), found("b", 0.8));
    let begins = verdict(&mut tracker, 2, std::slice::from_ref(&a));
    assert_eq!(begins, [('b', "a".to_owned(), 0.0, 120.0)], "of the first verdict all may be true");
    let begins = verdict(&mut tracker, 3, &[a.clone(), b]);
    assert_eq!(begins, [('b', "b".to_owned(), 120.0, 180.0)], "the verdict before did not have it");
    assert_eq!(verdict(&mut tracker, 4, &[]), []);
    assert_eq!(verdict(&mut tracker, 5, &[a]), [('e', "b".to_owned(), 120.0, 180.0)]);
    assert_eq!(tracker.lasting().len(), 1);
    assert_eq!(verdict(&mut tracker, 6, &[found("c", 0.4)]), [], "nobody is told of what is hardly likely");
    assert_eq!(tracker.end().len(), 1);
}

#[test]
fn the_log_has_a_begin_and_an_end_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::open(dir.path(), None).unwrap();
    let mut tracker = Tracker::default();
    for (minute, of) in
        [(1, vec![found("a", 0.9)]), (2, vec![]), (3, vec![]), (4, vec![found("b\n\u{1b}", 0.75)])]
    {
        let changes = tracker.take(&of, START + f64::from(minute) * 60.0, 120.0);
        log.put(changes).unwrap();
    }
    let lines = read_log(dir.path()).unwrap();
    let told: Vec<_> =
        lines.iter().map(|line| (line.event, line.episode.class.as_str(), line.end_unix_s)).collect();
    assert_eq!(
        told,
        [
            (LogEvent::Begin, "a", None),
            (LogEvent::End, "a", Some(START + 60.0)),
            (LogEvent::Begin, "b\n\u{1b}", None)
        ]
    );
    assert_eq!((lines[0].episode.confidence, lines[0].episode.share), (0.9, Some(0.4)));
    assert_eq!(lines[0].episode.scope, ["dataset tank/home"]);
    // A kill in the middle of a line, and an agent that comes after it.
    let path = dir.path().join("findings.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3, "a name ends no line");
    fs::write(&path, text + "{\"event\":\"be").unwrap();
    Log::open(dir.path(), Some(START + 500.0)).unwrap();
    let lines = read_log(dir.path()).unwrap();
    let last = lines.last().unwrap();
    assert_eq!((lines.len(), last.event, last.end_unix_s), (4, LogEvent::Unknown, Some(START + 500.0)));
    Log::open(dir.path(), Some(START + 900.0)).unwrap();
    assert_eq!(read_log(dir.path()).unwrap().len(), 4, "ended once");
}

#[test]
fn the_log_does_not_grow_without_end() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::open(dir.path(), None).unwrap();
    let mut tracker = Tracker::default();
    for n in 0..1000 {
        let of = [Found { title: "t".repeat(2000), ..found(&format!("class-{}", n % 7), 0.9) }];
        log.put(tracker.take(&of, START + f64::from(n) * 60.0, 120.0)).unwrap();
        log.put(tracker.end()).unwrap();
        if n % 100 == 0 {
            let bytes: u64 =
                fs::read_dir(dir.path()).unwrap().flatten().map(|f| f.metadata().unwrap().len()).sum();
            assert!(bytes < 3 << 20, "{bytes}");
        }
    }
    assert_eq!(read_log(dir.path()).unwrap().last().unwrap().event, LogEvent::End);
}
