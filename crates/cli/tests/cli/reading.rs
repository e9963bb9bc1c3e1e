//! Every kind of input on every command that reads.

use crate::inputs;
use crate::support::{call, call_with, run};
use serde_json::Value;
use std::fs;

#[test]
fn explain_json_is_the_same_answer_for_every_kind_of_input() {
    let folder = inputs::folder();
    for input in ["ccm.folded", "ccm.zwhy", "cut.zwhy", "evidence.json", "pasted.txt", "hostile.folded"] {
        let answer = call(folder.path(), &format!("explain --json {input}")).json();
        assert_eq!(answer["source"]["name"], input);
        assert!(answer["why"].as_str().is_some_and(|why| !why.is_empty()), "{input}");
        let stats = &answer["stats"];
        let count = |name: &str| stats[name].as_u64().unwrap_or_else(|| panic!("{name} of {input}: {stats}"));
        let dropped: u64 =
            stats["dropped"].as_object().expect("by reason").values().filter_map(Value::as_u64).sum();
        assert_eq!(count("read"), count("kept") + dropped + count("lost"), "{input}: {stats}");
        let samples = answer["source"]["samples"].as_u64().expect("samples");
        if samples > 0 {
            let stages = answer["stages"].as_array().expect("stages");
            assert_eq!(stages.iter().filter_map(|s| s["samples"].as_u64()).sum::<u64>(), samples, "{input}");
        }
    }
}

#[test]
fn the_cause_is_named_in_every_form_of_the_answer() {
    let folder = inputs::folder();
    for input in ["ccm.folded", "ccm.zwhy"] {
        let answer = call(folder.path(), &format!("explain --json {input}")).json();
        assert_eq!(answer["findings"][0]["class"], "crypto-ccm-not-accelerated", "{input}");
        for form in ["", "-v ", "--markdown "] {
            let text = call(folder.path(), &format!("explain {form}{input}")).ok();
            assert!(text.contains("CCM") && text.contains("aes-256-gcm"), "{form}{input}: {text}");
        }
    }
    let text = call(folder.path(), "explain ccm.folded").ok();
    let order = ["WHY", "DO", "Evidence", "CPU by stage", "More"].map(|part| text.find(part));
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "why, evidence, exploration: {text}");
}

#[test]
fn what_a_device_could_bring_is_a_bound() {
    let folder = inputs::bare_folder();
    let stacks = "z_wr_iss_3;taskq_thread;zio_execute;zio_write_compress;zio_compress_data;lz4_compress_zfs 600\n\
                  z_wr_int_0;taskq_thread;zio_execute;zio_done 400\n";
    fs::write(folder.path().join("compress.folded"), stacks).unwrap();
    let text = |what: &str| {
        let out = call(folder.path(), &format!("explain compress.folded --what-if offload={what}")).ok();
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for what in ["compress", "compress,checksum"] {
        let text = text(what);
        assert!(text.contains("60.0 % of the busy CPU") && text.contains("at most 2.5x"), "{text}");
        assert!(text.contains("a bound and no forecast"), "{text}");
    }
    assert!(text("raidz").contains("0.0 % of the busy CPU"));
}

#[test]
fn functions_have_self_and_total() {
    let folder = inputs::bare_folder();
    let listed = call(folder.path(), "top-functions --json -n 100 ccm.folded").json();
    assert_eq!(listed["samples"], 882);
    let rows = listed["functions"].as_array().expect("rows");
    let of = |name: &str| rows.iter().find(|r| r["function"] == name).map(|r| (&r["self"], &r["total"]));
    assert_eq!(of("kfpu_end"), Some((&Value::from(247), &Value::from(247))));
    assert_eq!(of("zio_execute"), Some((&Value::from(0), &Value::from(722))));
    let text = call(folder.path(), "top-functions -n 1 ccm.folded").ok();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("kfpu_end"), "{text}");
    assert!(call(folder.path(), "top-functions --total -n 1 ccm.folded").ok().contains("81.9 %"));
}

#[test]
fn diff_names_what_changed_and_not_the_idle_loop() {
    let folder = inputs::bare_folder();
    let text = run(folder.path(), ["diff", "ccm.folded", "plain.folded"]).ok();
    let verdict = text.split("\n\n").next().expect("a verdict").replace('\n', " ");
    assert!(verdict.starts_with("882 → 882 samples: ") && verdict.contains("722 → 0"), "{verdict}");
    let deltas = run(folder.path(), ["diff", "--json", "ccm.folded", "plain.folded"]).json();
    let real = |name: &str| {
        let rows = deltas["functions"].as_array().expect("rows");
        rows.iter().find(|r| r["name"] == name).map(|r| r["real"] == true)
    };
    assert_eq!(real("ccm_mode_decrypt_contiguous_blocks"), Some(true));
    assert_eq!(real("uiomove"), Some(false));
    let same = run(folder.path(), ["diff", "ccm.folded", "ccm.folded"]).ok();
    assert!(same.contains("nothing changed beyond chance"), "{same}");
}

#[test]
fn import_then_export_gives_the_same_stacks() {
    let folder = inputs::folder();
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(sorted(&call(folder.path(), "export ccm.zwhy").ok()), sorted(inputs::CCM));
    for format in ["pprof", "speedscope", "firefox", "perf-script", "csv", "svg"] {
        let out = format!("out.{format}");
        call(folder.path(), &format!("export ccm.zwhy --format {format} -o {out}")).ok();
        assert!(fs::metadata(folder.path().join(&out)).is_ok_and(|m| m.len() > 0), "{format}");
        if format != "csv" {
            let listed = call(folder.path(), &format!("top-functions --json {out}")).json();
            assert_eq!(listed["samples"], 882, "{format} is read back");
        }
    }
}

#[test]
fn several_files_become_one_capture_with_all_counts() {
    let folder = inputs::folder();
    let ran = call(folder.path(), "import ccm.folded plain.folded pasted.txt -o all.zwhy");
    for line in [
        "ccm.folded (folded): 7 lines read, 7 kept",
        "plain.folded (folded): 3 lines read",
        "pasted.txt (pasted)",
    ] {
        assert!(ran.err.contains(line), "{ran:?}");
    }
    assert_eq!(ran.ok(), "all.zwhy\n");
    assert_eq!(call(folder.path(), "explain --json all.zwhy").json()["source"]["samples"], 882 * 2);
    let line = call(folder.path(), "import ccm.folded -o all.zwhy").failed(1);
    assert!(line.contains("all.zwhy already exists"), "{line}");
}

#[test]
fn standard_input_is_read_as_a_file_is() {
    let folder = inputs::bare_folder();
    let piped = |args: &str| call_with(folder.path(), args, inputs::CCM.as_bytes());
    assert_eq!(piped("explain --json -").json()["findings"][0]["class"], "crypto-ccm-not-accelerated");
    assert!(piped("explain -").ok().starts_with("standard input · 882 samples"));
    assert!(piped("top-functions -").ok().starts_with("882 samples"));
    assert_eq!(piped("export -").ok().lines().count(), 7);
    assert_eq!(piped("import - -o piped.zwhy").ok(), "piped.zwhy\n");
    assert_eq!(piped("report - -o piped.html").ok(), "piped.html\n");
    assert!(piped("diff plain.folded -").ok().contains("882"));
    let line = call(folder.path(), "explain -").failed(1);
    assert!(line.contains("standard input") && line.contains("empty"), "{line}");
}

#[test]
fn redacted_answers_name_nobody_and_say_the_same() {
    let folder = inputs::bare_folder();
    fs::write(folder.path().join("db7.folded"), "secretd;__libc_start_main;zfs_read;dmu_read 5\n")
        .expect("written");
    fs::write(
        folder.path().join("other.folded"),
        "other;__libc_start_main 1\nsecretd;__libc_start_main;zfs_read;dmu_read 9\n",
    )
    .expect("written");
    for command in [
        "explain --redact db7.folded",
        "explain --redact --json db7.folded",
        "explain --redact --markdown db7.folded",
        "export --redact db7.folded",
        "diff --redact other.folded db7.folded",
        "flame --redact db7.folded -o -",
    ] {
        let said = call(folder.path(), command).ok();
        assert!(!said.contains("secretd") && !said.contains("db7"), "{command}: {said}");
    }
    assert_eq!(
        call(folder.path(), "export --redact db7.folded").ok(),
        "process1;__libc_start_main;zfs_read;dmu_read 5\n"
    );
    let plain = call(folder.path(), "explain --json db7.folded").json();
    let redacted = call(folder.path(), "explain --json --redact db7.folded").json();
    assert_eq!(plain["stages"][0]["samples"], redacted["stages"][0]["samples"]);
}

#[test]
fn a_capture_of_text_counts_in_the_lines_of_its_source() {
    let folder = inputs::folder();
    call(folder.path(), "import pasted.txt -o odd.zwhy").ok();
    let stats = |input: &str| call(folder.path(), &format!("explain --json {input}")).json()["stats"].clone();
    let (text, capture) = (stats("pasted.txt"), stats("odd.zwhy"));
    for name in ["unit", "read", "kept", "dropped", "lost"] {
        assert_eq!(text[name], capture[name], "{name}: {text} and {capture}");
    }
    assert_eq!(capture["format"], "zwhy");
}
