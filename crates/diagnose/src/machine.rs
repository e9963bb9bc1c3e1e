//! What this machine can do of a stage's work, and how much of it ZFS gets.
//!
//! OpenZFS's own benchmarks of the host come first, then what `zwhy limits` measured there. Which
//! algorithm a stage runs is taken from properties, and only where they leave no doubt.

use crate::answer::MachineLimit;
use crate::facts::{FactBase, chosen as chosen_word, leading_number};
use crate::knowledge::Cause;
use crate::pattern::Pattern;
use zwhy_evidence::{MeasuredLimits, Table};
use zwhy_profile::grouped;
use zwhy_zfs::Vdev;

/// Fewer samples of a stage say too little of its rate.
const SAMPLES: u64 = 30;
/// Bytes a second below which traffic is noise.
const TRAFFIC: f64 = 1e6;
/// More algorithms in use than this, and it is not known which one a stage ran.
const ALGORITHMS: usize = 2;

/// The direction in which data goes through a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Read,
    Write,
    Both,
}

/// What a stage does: its property, its flow, and the verb of one CPU.
fn work_of(stage: &str) -> Option<(&'static str, Flow, &'static str)> {
    Some(match stage {
        "decrypt" => ("encryption", Flow::Read, "decrypts"),
        "encrypt" => ("encryption", Flow::Write, "encrypts"),
        "checksum" => ("checksum", Flow::Both, "checksums"),
        "compress" => ("compression", Flow::Write, "compresses"),
        "decompress" => ("compression", Flow::Read, "decompresses"),
        "parity" => ("", Flow::Write, "computes parity for"),
        "reconstruct" => ("", Flow::Read, "reconstructs"),
        _ => return None,
    })
}

/// What is known of a stage's work on this machine; `samples` are those of the stage.
pub fn of_stage(stage: &str, samples: u64, facts: &FactBase<'_>) -> Vec<MachineLimit> {
    limits(stage, samples, None, facts)
}

/// As [`of_stage`] for the stage where a finding's CPU goes, by the datasets that it is about, and
/// of what would do the same work with less.
pub fn of_finding(cause: &Cause, facts: &FactBase<'_>) -> Vec<MachineLimit> {
    let Some((stage, samples)) = crate::share::main_stage(&cause.cpu, facts) else { return Vec::new() };
    limits(facts.cpu.classified.stage_name(stage), samples, cause.dataset.as_ref(), facts)
}

fn limits(
    stage: &str,
    samples: u64,
    datasets: Option<&(String, Pattern)>,
    facts: &FactBase<'_>,
) -> Vec<MachineLimit> {
    let Some((property, flow, verb)) = work_of(stage) else { return Vec::new() };
    let only = datasets.filter(|(name, _)| name == property).map(|(_, like)| like);
    let works = match property {
        "" => raidz(stage, facts).into_iter().collect(),
        _ => algorithms(stage, property, only, facts),
    };
    if works.len() > ALGORITHMS {
        return Vec::new();
    }
    let achieved = achieved(flow, samples, facts).filter(|_| works.len() == 1);
    let mut found: Vec<MachineLimit> = Vec::new();
    for work in &works {
        found.extend(limit(work, facts).map(|(mb_s, source)| said(work, verb, mb_s, source, achieved)));
        if let Some(other) = only.and_then(|_| instead(work)) {
            found.extend(limit(&other, facts).map(|(mb_s, source)| said(&other, verb, mb_s, source, None)));
        }
    }
    found
}

/// Algorithms of the same work that cost less, where changing to them loses nothing.
fn instead(work: &str) -> Option<String> {
    work.strip_suffix("-ccm").map(|cipher| format!("{cipher}-gcm"))
}

/// `200 MB/s of the 4,100 MB/s that one CPU here decrypts (aes-256-gcm, measured with ring)`.
fn said(work: &str, verb: &str, mb_s: f64, source: String, achieved: Option<f64>) -> MachineLimit {
    let limit = thousands(mb_s);
    let text = match achieved {
        Some(rate) if rate <= mb_s => format!(
            "{} MB/s of the {limit} MB/s that one CPU here {verb} ({work}, {source})",
            thousands(rate)
        ),
        Some(rate) => format!(
            "{} MB/s a CPU, more than the {limit} MB/s known of this machine ({work}, {source})",
            thousands(rate)
        ),
        None => format!("one CPU here {verb} {limit} MB/s ({work}, {source})"),
    };
    MachineLimit { work: work.to_owned(), mb_s, source, achieved_mb_s: achieved, text }
}

fn thousands(n: f64) -> String {
    grouped(n.round_ties_even() as u64)
}

/// MB of data for each second of CPU that the stage took, where the whole host was recorded and
/// its pools counted their traffic (`iostats`, `spa_iostats_template`, OpenZFS 2.3).
fn achieved(flow: Flow, samples: u64, facts: &FactBase<'_>) -> Option<f64> {
    let recorder = &facts.evidence.facts.recorder;
    let (ticks, seconds) = (recorder.hz?, recorder.duration_s?);
    if samples < SAMPLES || recorder.target.as_deref() != Some("system") {
        return None;
    }
    let rate = |direction: &str| -> f64 {
        let names = ["arc", "direct"].map(|via| format!("{via}_{direction}_bytes"));
        let kstats = facts.evidence.kstats.iter();
        let of_pools = kstats.filter(|k| k.source.ends_with("/iostats") && names.contains(&k.name));
        of_pools.filter_map(|k| k.rate).filter(|r| *r > 0.0).sum()
    };
    let bytes = match flow {
        Flow::Read => rate("read"),
        Flow::Write => rate("write"),
        Flow::Both => rate("read") + rate("write"),
    };
    let cpus = facts.cpu.sampling.samples_in(samples) / (ticks * seconds);
    (bytes >= TRAFFIC && cpus > 0.0).then(|| bytes / 1e6 / cpus).filter(|r| r.is_finite())
}

/// Names of the work that datasets ask of a stage, by property.
fn algorithms(stage: &str, property: &str, only: Option<&Pattern>, facts: &FactBase<'_>) -> Vec<String> {
    let mut works: Vec<String> = Vec::new();
    let rows = facts.evidence.properties.iter().filter(|p| p.name == property);
    for value in rows.map(|p| p.value.trim()).filter(|v| only.is_none_or(|like| like.matches(v))) {
        let work = match (property, value) {
            (_, "off" | "-" | "none" | "" | "noparity") => continue,
            ("checksum", "on") => "fletcher4".to_owned(),
            ("compression", _) => match compressor(value) {
                Some((family, _)) if stage == "decompress" => format!("{family} decompress"),
                Some((_, full)) => format!("{full} compress"),
                // Something compresses in a way that was never measured: nothing can be said.
                None => return Vec::new(),
            },
            // `on` meant CCM before 0.8.4 and GCM since.
            ("encryption", "on") => return Vec::new(),
            _ => value.to_owned(),
        };
        if !works.contains(&work) {
            works.push(work);
        }
    }
    works
}

/// Family and full name: `gzip` is `gzip-6`, `zstd` is `zstd-3`, `on` is `lz4`.
fn compressor(value: &str) -> Option<(&str, &str)> {
    match value {
        "on" | "lz4" => Some(("lz4", "lz4")),
        "gzip" => Some(("gzip", "gzip-6")),
        "zstd" => Some(("zstd", "zstd-3")),
        _ if value.starts_with("gzip-") => Some(("gzip", value)),
        _ if value.starts_with("zstd-") && !value.starts_with("zstd-fast") => Some(("zstd", value)),
        _ => None,
    }
}

/// The parity work of this host, where all its RAID-Z vdevs have the same level.
fn raidz(stage: &str, facts: &FactBase<'_>) -> Option<String> {
    let mut levels = Vec::new();
    let pools = facts.evidence.facts.pools.iter().flatten();
    pools.filter_map(|pool| pool.vdevs.as_ref()).for_each(|vdevs| collect_levels(vdevs, &mut levels));
    levels.sort_unstable();
    levels.dedup();
    let [level] = levels[..] else { return None };
    let which = ["", "p", "pq", "pqr"][level];
    Some(format!("raidz{level} {}_{which}", if stage == "parity" { "gen" } else { "rec" }))
}

/// Parity of RAID-Z vdevs, by their kind or name.
fn collect_levels(vdevs: &[Vdev], levels: &mut Vec<usize>) {
    let level = |text: &str| match text.strip_prefix("raidz")?.bytes().next() {
        Some(b @ b'1'..=b'3') => Some(usize::from(b - b'0')),
        _ => None,
    };
    for vdev in vdevs {
        levels.extend(level(&vdev.kind).or_else(|| level(&vdev.name)));
        collect_levels(&vdev.children, levels);
    }
}

/// MB/s of one CPU and where the figure is from.
fn limit(work: &str, facts: &FactBase<'_>) -> Option<(f64, String)> {
    benchmark(work, facts).or_else(|| measured(work, facts.evidence.facts.limits.as_ref()?))
}

/// From what `zwhy limits` left in the capture. AES-192-GCM is not measured; AES-256-GCM, which
/// does two rounds more, is a safe figure for it.
fn measured(work: &str, limits: &MeasuredLimits) -> Option<(f64, String)> {
    if limits.optimized != Some(true) {
        return None;
    }
    let work = if work == "aes-192-gcm" { "aes-256-gcm" } else { work };
    let row = limits.rows.iter().flatten().find(|r| r.work.as_deref() == Some(work))?;
    let mb_s = row.mb_s.filter(|v| v.is_finite() && *v > 0.0)?;
    Some((mb_s, format!("measured with {}", row.with.as_deref().unwrap_or("zwhy limits"))))
}

/// From OpenZFS's benchmark kstats: bytes a second for fletcher4 and RAID-Z
/// (`module/zcommon/zfs_fletcher.c`, `module/zfs/vdev_raidz_math.c`), MiB/s for the others
/// (`module/zfs/zfs_chksum.c`).
fn benchmark(work: &str, facts: &FactBase<'_>) -> Option<(f64, String)> {
    let table = |name: &str| {
        let pasted = facts.evidence.tables.iter();
        pasted.chain(&facts.benchmarks).find(|t| t.tool == name || t.tool.ends_with(&format!("/{name}")))
    };
    let chosen = |param: &str| facts.evidence.param(param).map(chosen_word);
    if let Some(column) = work.strip_prefix("raidz").and_then(|w| w.split_once(' ')).map(|(_, c)| c) {
        let row = row_of(table("vdev_raidz_bench")?, column, chosen("zfs_vdev_raidz_impl").as_deref())?;
        return Some((row.1 / 1e6, format!("vdev_raidz_bench, {}", row.0)));
    }
    if work == "fletcher4" {
        let row = row_of(table("fletcher_4_bench")?, "native", chosen("zfs_fletcher_4_impl").as_deref())?;
        return Some((row.1 / 1e6, format!("fletcher_4_bench, {}", row.0)));
    }
    let table = table("chksum_bench")?;
    let column = table.columns.iter().position(|c| c == "64k")?;
    let wanted = chosen(&format!("zfs_{work}_impl")).filter(|c| !picks_itself(c));
    let rows = table.rows.iter().filter_map(|row| {
        let implementation = row.first()?.strip_prefix(work)?.strip_prefix('-')?;
        wanted.as_deref().is_none_or(|w| w == implementation).then_some(())?;
        Some((implementation.to_owned(), leading_number(row.get(column)?)?))
    });
    let (name, mib_s) = rows.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((mib_s * 1_048_576.0 / 1e6, format!("chksum_bench, {name}")))
}

/// `fastest` and `cycle` are no implementations but ways to pick one.
fn picks_itself(name: &str) -> bool {
    matches!(name, "fastest" | "cycle" | "auto")
}

/// Implementation and figure in a column: of the chosen one, else of the one that the row `fastest`
/// names, else the best.
fn row_of(table: &Table, column: &str, chosen: Option<&str>) -> Option<(String, f64)> {
    let at = table.columns.iter().position(|c| c == column)?;
    let row = |name: &str| table.rows.iter().find(|r| r.first().is_some_and(|f| f == name));
    let figure = |name: &str| Some((name.to_owned(), leading_number(row(name)?.get(at)?)?));
    if let Some(chosen) = chosen.filter(|c| !picks_itself(c)) {
        return figure(chosen);
    }
    let named = row("fastest").and_then(|r| r.get(at)).and_then(|name| figure(name));
    named.or_else(|| {
        let rows = table.rows.iter().filter_map(|r| Some((r.first()?.clone(), leading_number(r.get(at)?)?)));
        rows.max_by(|a, b| a.1.total_cmp(&b.1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::Anatomy;
    use crate::knowledge::Fixture;

    fn texts(evidence: &str, stage: &str, samples: u64) -> Vec<String> {
        let fixture: Fixture = toml::from_str(evidence).unwrap();
        let (evidence, _) = fixture.evidence();
        let anatomy = Anatomy::load(&[], &mut Vec::new());
        let facts = FactBase::new(&evidence, &anatomy);
        of_stage(stage, samples, &facts).into_iter().map(|l| l.text).collect()
    }

    const LIMITS: &str = r#"
        [facts.recorder]
        target = "system"
        hz = 100
        duration_s = 10
        [facts.limits]
        optimized = true
        rows = [{ work = "aes-256-gcm", mb_s = 4100, with = "ring" },
                { work = "fletcher4", mb_s = 3000, with = "a loop" },
                { work = "sha256", mb_s = 1800, with = "sha2" }]
        [facts.bench.fletcher_4_bench]
        columns = ["implementation", "native", "byteswap"]
        rows = [["scalar", "4000000000", "1"], ["avx2", "20000000000", "1"], ["fastest", "avx2", "avx2"]]
        [facts.bench.chksum_bench]
        columns = ["implementation", "1k", "64k"]
        rows = [["sha256-generic", "200", "300"], ["sha256-shani", "900", "1700"]]
        [facts.bench.vdev_raidz_bench]
        columns = ["implementation", "gen_p", "gen_pq"]
        rows = [["scalar", "1", "900000000"], ["fastest", "scalar", "scalar"]]
        [[facts.pools]]
        vdevs = [{ name = "raidz2-0" }]
        [kstats."tank/iostats"]
        arc_read_bytes = 1
        [rates."tank/iostats"]
        arc_read_bytes = 90e6
        direct_read_bytes = 10e6
    "#;

    #[test]
    fn what_zfs_gets_is_set_against_what_the_cpu_can_do() {
        let gcm = format!("props = {{ encryption = 'aes-256-gcm' }}\n{LIMITS}");
        assert_eq!(
            texts(&gcm, "decrypt", 500),
            ["200 MB/s of the 4,100 MB/s that one CPU here decrypts (aes-256-gcm, measured with ring)"]
        );
        let none = ["one CPU here encrypts 4,100 MB/s (aes-256-gcm, measured with ring)"];
        assert_eq!(texts(&gcm, "encrypt", 500), none, "nothing was written");
        let gcm = gcm.replace("target = \"system\"", "target = \"pid 7\"");
        assert!(texts(&gcm, "decrypt", 500)[0].starts_with("one CPU here"), "a process is not the host");
        assert!(texts(LIMITS, "decrypt", 500).is_empty(), "nobody knows the cipher");
        let debug = gcm.replace("optimized = true", "optimized = false");
        assert!(texts(&debug, "decrypt", 500).is_empty());
    }

    #[test]
    fn benchmarks_of_openzfs_win_over_our_own() {
        let checksum = |property: &str, parameter: &str| {
            let text = format!("props = {{ checksum = '{property}' }}\nparams = {{ {parameter} }}\n{LIMITS}");
            texts(&text, "checksum", 0).join("; ")
        };
        assert!(checksum("on", "").contains("20,000 MB/s (fletcher4, fletcher_4_bench, avx2)"));
        let scalar = checksum("on", "zfs_fletcher_4_impl = 'fastest [scalar] avx2'");
        assert!(scalar.contains("4,000 MB/s (fletcher4, fletcher_4_bench, scalar)"), "{scalar}");
        assert!(checksum("sha256", "").contains("1,783 MB/s (sha256, chksum_bench, shani)"));
        let generic = checksum("sha256", "zfs_sha256_impl = 'fastest [generic] shani'");
        assert!(generic.contains("315 MB/s (sha256, chksum_bench, generic)"), "{generic}");
        assert!(texts(LIMITS, "parity", 0)[0].contains("900 MB/s (raidz2 gen_pq, vdev_raidz_bench, scalar)"));
    }

    #[test]
    fn many_algorithms_or_unmeasured_ones_say_nothing() {
        let of = |values: &str, stage: &str| {
            let sets: Vec<String> = values
                .split(' ')
                .enumerate()
                .map(|(i, v)| format!("p{i} = {{ compression = '{v}' }}"))
                .collect();
            texts(&format!("props = {{ {} }}\n{LIMITS}", sets.join(", ")), stage, 0)
        };
        assert!(of("lz4 gzip zstd", "compress").is_empty());
        assert!(of("zstd-fast-10", "compress").is_empty());
        assert_eq!(thousands(1234567.4), "1,234,567");
    }
}
