//! Samples that were recorded with uneven periods: shares follow the periods, intervals the samples,
//! and every command lets one choose.

use crate::support::call;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// 200 samples of decryption that stand for a quarter of the cycles, and 200 of a checksum for the rest.
fn write(folder: &Path) {
    let mut text = String::new();
    for i in 0..400 {
        let (period, leaf) =
            if i % 2 == 0 { (1000, "aes_decrypt_block") } else { (3000, "fletcher_4_avx2_native") };
        let _ = write!(
            text,
            "z_rd_int_0 7/7 [000] {}.{:06}: {period} cycles:P: \n\tffffffff81000010 {leaf}+0x1 ([zfs])\n\
             \tffffffff81000020 zio_execute+0x2 ([zfs])\n\n",
            1 + i / 1000,
            i % 1000 * 1000,
        );
    }
    fs::write(folder.join("uneven.txt"), text).expect("write");
    call(folder, "import uneven.txt -o uneven.zwhy").ok();
}

fn share_of(listed: &Value, function: &str) -> f64 {
    let rows = listed["functions"].as_array().expect("rows");
    let row = rows.iter().find(|r| r["function"] == function).expect("the function");
    row["self"].as_f64().expect("a number") / listed["amount"].as_f64().expect("a number")
}

#[test]
fn shares_follow_periods_and_intervals_the_number_of_samples() {
    let folder = tempfile::tempdir().expect("temp dir");
    write(folder.path());
    for input in ["uneven.txt", "uneven.zwhy"] {
        let listed = call(folder.path(), &format!("top-functions --json {input}")).json();
        assert_eq!(
            (&listed["samples"], &listed["unit"]),
            (&Value::from(400), &Value::from("cycles")),
            "{input}"
        );
        assert!((share_of(&listed, "fletcher_4_avx2_native") - 0.75).abs() < 1e-9, "{input}");
        let alike = call(folder.path(), &format!("top-functions --json --weight samples {input}")).json();
        assert!((share_of(&alike, "fletcher_4_avx2_native") - 0.5).abs() < 1e-9, "{input}");
        let answer = call(folder.path(), &format!("explain --json {input}")).json();
        assert_eq!(answer["source"]["samples"], 400, "{input}");
        let stages = answer["stages"].as_array().expect("stages");
        let checksum = stages.iter().find(|s| s["stage"] == "checksum").expect("a stage");
        let part = |name: &str| checksum["share"][name].as_f64().expect("a number");
        assert_eq!((part("value"), checksum["samples"].as_u64()), (0.75, Some(600_000)), "{input}");
        // The interval of 300 in 400 (E. B. Wilson), not of 600,000 cycles.
        assert!((part("low") - 0.7053).abs() < 1e-3 && (part("high") - 0.7900).abs() < 1e-3, "{checksum}");
        let warnings = answer["stats"]["warnings"].as_array().expect("notes");
        let told = |text: &str| warnings.iter().any(|w| w.as_str().is_some_and(|w| w.contains(text)));
        assert!(told("weighed by the period of event `cycles:P` (1000 to 3000 a sample)"), "{warnings:?}");
    }
    let alike = call(folder.path(), "explain --json --weight samples uneven.zwhy").json();
    let warnings = alike["stats"]["warnings"].to_string();
    assert!(warnings.contains("count alike") && !warnings.contains("weighed by"), "{warnings}");
}

#[test]
fn exports_count_samples_unless_asked_and_graphs_and_diffs_are_weighed() {
    let folder = tempfile::tempdir().expect("temp dir");
    write(folder.path());
    for input in ["uneven.txt", "uneven.zwhy"] {
        let samples = call(folder.path(), &format!("export {input}")).ok();
        assert!(samples.contains("aes_decrypt_block 200\n"), "{samples}");
        let periods = call(folder.path(), &format!("export --weight period {input}")).ok();
        assert!(periods.contains("aes_decrypt_block 200000\n"), "{periods}");
        let picture = call(folder.path(), &format!("flame {input} -o -")).ok();
        assert!(picture.contains("<title>fletcher_4_avx2_native (600,000 cycles, 75.00%)"), "{picture}");
        // Cycles are no nanoseconds: other formats must not take them for time.
        let text = call(folder.path(), &format!("export -f perf-script --weight period {input}")).ok();
        assert!(text.contains(": 3000 cycles:"), "{text}");
        let text = call(folder.path(), &format!("export -f perf-script {input}")).ok();
        assert!(!text.contains(": 3000 "), "{text}");
    }
    let deltas = call(folder.path(), "diff --json uneven.txt uneven.zwhy").json();
    let row = deltas["functions"].as_array().expect("rows").iter();
    let row = row.clone().find(|r| r["name"] == "aes_decrypt_block").expect("the function");
    assert_eq!((row["share_a"]["value"].as_f64(), row["change"]["value"].as_f64()), (Some(0.25), Some(0.0)));
    assert_eq!(deltas["cpu_s"], serde_json::json!([null, null]));
    let text = call(folder.path(), "explain --weight nonsense uneven.txt").failed(2);
    assert!(text.contains("none of samples and period"), "{text}");
}
