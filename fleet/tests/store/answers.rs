//! Every answer of the store equals that of the captures.

use crate::source::{CAPTURES, answer, cpu_samples, evidence, host, of, path, readings, start_ms, store};
use std::collections::BTreeMap;
use zwhy_diagnose::{CONFIDENT, Knowledge};
use zwhy_evidence::Evidence;
use zwhy_fleet::{
    Apart, IngestOptions, Picture, Scope, Store, UnitKey, capture_of, findings, hosts, ingest, judge,
    judge_capture, kstat_points, kstats, stages_over_time, units,
};
use zwhy_formats::{ExportOptions, export};
use zwhy_profile::{Event, FunctionTotals};

fn folded(evidence: &Evidence) -> String {
    let mut out = Vec::new();
    export(evidence, "folded", &ExportOptions::default(), "x", &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Lines of the fold of several recordings, added up.
fn folded_sum(names: &[&str]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for name in names {
        for line in folded(&evidence(name)).lines() {
            let (stack, count) = line.rsplit_once(' ').unwrap();
            *all.entry(stack.to_owned()).or_default() += count.parse::<u64>().unwrap();
        }
    }
    all
}

#[tokio::test]
async fn stages_functions_and_flames_are_those_of_the_captures_to_the_sample() {
    let (_dir, store) = store().await;
    let knowledge = Knowledge::embedded();
    let mut of_all: BTreeMap<String, u64> = BTreeMap::new();
    for name in CAPTURES {
        let picture = Picture::take(&store, of(name), Apart::Nothing).await.unwrap();
        assert_eq!(picture.refused, 0);
        let stages = picture.stages(&knowledge.anatomy);
        let got: Vec<(&str, u64)> = stages.iter().map(|row| (row.stage.as_str(), row.samples)).collect();
        let explained = answer(name);
        let want: Vec<(&str, u64)> =
            explained.stages.iter().map(|row| (row.stage.as_str(), row.samples)).collect();
        assert!(want.len() > 3, "{name}: {want:?}");
        assert_eq!(got, want, "{name}");
        for (ours, theirs) in stages.iter().zip(&explained.stages) {
            assert!((ours.share - theirs.share.value).abs() < 1e-12, "{name} {}", ours.stage);
        }
        want.iter().for_each(|(stage, n)| *of_all.entry((*stage).to_owned()).or_default() += n);

        let of_capture = evidence(name);
        let totals = FunctionTotals::of(&of_capture.profile, Event::Cpu);
        let mut want: Vec<_> = totals
            .rows
            .iter()
            .map(|r| (of_capture.profile.strings.get(r.function), r.own, r.total))
            .collect();
        let functions = picture.functions(Event::Cpu);
        let mut got: Vec<_> = functions.iter().map(|r| (r.function.as_str(), r.own, r.total)).collect();
        want.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, want, "{name}");
        assert_eq!(folded(&picture.evidence()), folded(&of_capture), "{name}");
    }
    let all = Picture::take(&store, Scope::default(), Apart::Nothing).await.unwrap();
    let got: BTreeMap<String, u64> =
        all.stages(&knowledge.anatomy).into_iter().map(|row| (row.stage, row.samples)).collect();
    assert_eq!(got, of_all);
    let lines = folded(&all.evidence());
    let got: BTreeMap<String, u64> = lines
        .lines()
        .map(|line| line.rsplit_once(' ').map(|(s, n)| (s.to_owned(), n.parse().unwrap())).unwrap())
        .collect();
    assert_eq!(got, folded_sum(&CAPTURES));
}

#[tokio::test]
async fn a_range_has_the_samples_of_its_seconds() {
    let (_dir, store) = store().await;
    let start = start_ms("gzip");
    for (from_ms, to_ms) in [
        (start, start + 1),
        (start + 1500, start + 4321),
        (start - 5000, start + 2000),
        (start + 7000, start + 900_000),
        (start + 60_000_000, start + 70_000_000),
        (i64::MIN, start),
    ] {
        let scope = Scope { from_ms, to_ms, ..of("gzip") };
        let picture = Picture::take(&store, scope, Apart::Nothing).await.unwrap();
        let got: u64 = picture.groups.iter().filter(|g| g.event == Event::Cpu).map(|g| g.count).sum();
        assert_eq!(got, cpu_samples("gzip", from_ms, to_ms), "{} to {}", from_ms - start, to_ms - start);
    }
    let whole = cpu_samples("gzip", i64::MIN, i64::MAX);
    let anatomy = &Knowledge::embedded().anatomy;
    let points = stages_over_time(&store, of("gzip"), 1000, anatomy).await.unwrap();
    assert_eq!(points.iter().map(|p| p.samples).sum::<u64>(), whole);
    for begin in points.iter().map(|p| p.begin_ms).collect::<std::collections::BTreeSet<_>>() {
        let of_step = points.iter().filter(|p| p.begin_ms == begin).map(|p| p.samples).sum::<u64>();
        assert_eq!(of_step, cpu_samples("gzip", begin, begin + 1000), "{begin}");
        assert_eq!(begin % 1000, 0);
    }
}

#[tokio::test]
async fn hosts_findings_and_counters_are_those_of_the_captures() {
    let (_dir, store) = store().await;
    let knowledge = Knowledge::embedded();
    let rows = hosts(&store, Scope::default(), &knowledge.anatomy).await.unwrap();
    assert_eq!(rows.len(), CAPTURES.len());
    assert!(rows.windows(2).all(|two| two[0].cpu.kernel >= two[1].cpu.kernel));
    let found = findings(&store, &Scope::default()).await.unwrap();
    let mut with_findings = 0;
    for name in CAPTURES {
        let answer = answer(name);
        let row = rows.iter().find(|row| row.host == host(name)).unwrap();
        assert_eq!((row.begin_ms, row.units), (start_ms(name), 1));
        assert_eq!(row.cpu.samples, cpu_samples(name, i64::MIN, i64::MAX));
        let mut want: Vec<(&str, f64)> =
            answer.findings.iter().map(|f| (f.class.as_str(), f.confidence)).collect();
        let mut got: Vec<(&str, f64)> =
            found.iter().filter(|f| f.host == host(name)).map(|f| (f.class.as_str(), f.confidence)).collect();
        want.sort_by_key(|(class, _)| *class);
        got.sort_by_key(|(class, _)| *class);
        assert_eq!(got, want, "{name}");
        with_findings += usize::from(!got.is_empty());
        let sure = answer.findings.iter().filter(|f| f.confidence >= CONFIDENT).count();
        assert_eq!(row.findings.len(), sure);

        let size = |row: &zwhy_capture::SeriesRow<'_>| row.source == "arcstats" && row.name == "size";
        let points = kstat_points(&store, of(name), "arcstats", "size").await.unwrap();
        let got: Vec<(i64, i64)> = points.iter().map(|p| (p.t_ms, p.value)).collect();
        let want = readings(name, size);
        assert!(!want.is_empty());
        assert_eq!(got, want, "{name}");
        let all = kstats(&store, of(name), None, None).await.unwrap();
        let of_all: i64 = all.iter().map(|row| row.readings).sum();
        assert_eq!(of_all as usize, readings(name, |_| true).len());
        let arc = all.iter().find(|row| row.source == "arcstats" && row.name == "size").unwrap();
        assert_eq!(arc.least, want.iter().map(|(_, v)| *v).min().unwrap());
        assert_eq!(arc.most, want.iter().map(|(_, v)| *v).max().unwrap());
    }
    assert!(with_findings >= 2, "{with_findings}");
}

#[tokio::test]
async fn a_recording_is_there_once_and_comes_back_whole() {
    let (dir, store) = store().await;
    let knowledge = Knowledge::embedded();
    let options = IngestOptions { host: Some(host("gzip")), start_ms: None };
    let again = ingest(&store, &path("gzip"), &options, &knowledge).await.unwrap();
    assert!(!again.new);
    // The agent of this host had sent it before, as its file 42.
    let sent = UnitKey { host: "sent".into(), start_ms: start_ms("lz4"), name: "00000042".into() };
    let capture = zwhy_capture::Capture::open(&path("lz4")).unwrap();
    zwhy_fleet::put_capture(&store, &sent, capture).await.unwrap();
    let options = IngestOptions { host: Some("sent".into()), start_ms: None };
    let again = ingest(&store, &path("lz4"), &options, &knowledge).await.unwrap();
    assert_eq!((again.new, again.unit), (false, sent.clone()));
    assert_eq!(units(&store, &Scope::default()).await.unwrap().len(), CAPTURES.len() + 1);

    // Nobody has judged it yet; then once is enough.
    assert_eq!(judge(&store, &Scope::default(), &knowledge).await.unwrap(), 1);
    assert_eq!(judge(&store, &Scope::default(), &knowledge).await.unwrap(), 0);
    let back = capture_of(&store, &sent).await.unwrap().unwrap();
    let found: Vec<String> = judge_capture(back, &knowledge).into_iter().map(|f| f.class).collect();
    let want: Vec<String> = answer("lz4").findings.into_iter().map(|f| f.class).collect();
    assert_eq!(found, want);

    // Other knowledge found the same, and this one has not looked yet: what was found then is told.
    let before = findings(&store, &Scope::default()).await.unwrap();
    let other = dir.path().join("findings").join("knowledge=0123456789abcdef");
    let ours = std::fs::read_dir(dir.path().join("findings")).unwrap().next().unwrap().unwrap().path();
    std::fs::rename(&ours, &other).unwrap();
    assert_eq!(findings(&store, &Scope::default()).await.unwrap(), before);
    let all = CAPTURES.len() as u64 + 1;
    assert_eq!(judge(&store, &Scope::default(), &knowledge).await.unwrap(), all);
    assert!(ours.is_dir() && other.is_dir());
    assert_eq!(findings(&store, &Scope::default()).await.unwrap(), before);

    // A unit whose facts are not there yet is not whole.
    let facts = zwhy_capture::shipped_key("facts", "sent", sent.start_ms, "00000042", 0);
    std::fs::remove_file(dir.path().join(facts)).unwrap();
    let scope = Scope { hosts: vec!["sent".into()], ..Scope::default() };
    let picture = Picture::take(&store, scope, Apart::Nothing).await.unwrap();
    assert!(picture.groups.is_empty() && picture.snapshot.units.is_empty());
}

#[tokio::test]
async fn an_empty_store_answers_with_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().display().to_string()).unwrap();
    let anatomy = &Knowledge::embedded().anatomy;
    assert!(hosts(&store, Scope::default(), anatomy).await.unwrap().is_empty());
    assert!(stages_over_time(&store, Scope::default(), 1000, anatomy).await.unwrap().is_empty());
    assert!(findings(&store, &Scope::default()).await.unwrap().is_empty());
    assert!(kstats(&store, Scope::default(), None, None).await.unwrap().is_empty());
}
