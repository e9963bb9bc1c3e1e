//! What each result of a provider does to each verb: the table of docs/LAB.md, line by line.

use crate::harness::Test;
use crate::offload::{count, play_steps};
use zwhy_lab::RunResult;

pub const TESTS: &[Test] = &[
    ("each_result_of_compress_has_its_consequence", || each_result_of("compress")),
    ("each_result_of_decompress_has_its_consequence", || each_result_of("decompress")),
    ("each_result_of_checksum_has_its_consequence", || each_result_of("checksum")),
    ("each_result_of_raidz_gen_has_its_consequence", || each_result_of("raidz_gen")),
    ("each_result_of_raidz_rec_has_its_consequence", || each_result_of("raidz_rec")),
    ("each_result_of_file_write_has_its_consequence", || each_result_of("file_write")),
    ("the_table_in_the_documentation_is_this_one", the_table_in_the_documentation_is_this_one),
];

/// As switches and counters are named.
const VERBS: [&str; 6] = ["compress", "decompress", "checksum", "raidz_gen", "raidz_rec", "file_write"];

/// What follows from a result.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Used,
    /// OpenZFS does it, and the provider is asked for the next.
    Again,
    /// OpenZFS does it, and the provider is off for the pool.
    Off,
}

const TABLE: [(&str, Then); 9] = [
    ("OK", Then::Used),
    ("NOT_IMPLEMENTED", Then::Again),
    ("NOT_SUPPORTED", Then::Again),
    ("BAD_RESULT", Then::Again),
    ("ERROR", Then::Off),
    ("PROVIDER_NOT_EXISTS", Then::Off),
    ("PROVIDER_UNREGISTERED", Then::Off),
    ("PROVIDER_INVALIDATED", Then::Off),
    ("PROVIDER_MISMATCH", Then::Off),
];

/// Threads of the pipeline that may ask at the same moment.
const AT_ONCE: i64 = 16;
const BLOCKS: i64 = 16;

fn each_result_of(verb: &str) {
    let switches: String =
        VERBS.iter().map(|other| format!("zia_{other} = {}\n", u8::from(*other == verb))).collect();
    let fixed = format!(
        "provider = \"software\"\ncompression = \"gzip-1\"\nrecordsize = \"128K\"\nio_size = \"128K\"\n\
         layout = \"raidz2\"\ndisks = 5\n{switches}"
    );
    let answers: Vec<String> = TABLE.iter().map(|(name, _)| format!("{name:?}")).collect();
    let factor = format!("provider_answers = [{}]", answers.join(", "));
    // Two disks are gone while it is read; every byte is compared by the code of the distribution alone.
    let steps = ["write", "lose", "read", "verify"];
    let result = play_steps(&factor, &fixed, "2M", &steps);
    for (name, then) in TABLE {
        let run = result.runs.iter().find(|r| r.factors["provider_answers"] == name);
        judge(run.unwrap_or_else(|| panic!("no cell {name}")), verb, then);
    }
}

fn judge(run: &RunResult, verb: &str, then: Then) {
    let place = format!("{verb}: {}", run.variant);
    let all = |name: &str| run.steps.iter().map(|step| count(step, name)).sum::<i64>();
    let of = |what: &str| all(&format!("offload_{verb}.{what}"));
    let (calls, fallbacks, off) = (of("calls"), of("fallbacks"), all("offload.switched_off"));
    let marks = run.steps.iter().flat_map(|step| &step.marks).filter(|mark| mark.name == "provider").count();
    match then {
        Then::Used => assert!(calls >= BLOCKS && fallbacks == 0, "{place}: {calls} and {fallbacks}"),
        Then::Again => assert!(calls == 0 && fallbacks >= BLOCKS, "{place}: {calls} and {fallbacks}"),
        Then::Off => {
            assert!(calls == 0 && (1..=AT_ONCE).contains(&fallbacks), "{place}: {calls} and {fallbacks}");
        }
    }
    assert_eq!((off, marks as i64), (i64::from(then == Then::Off), i64::from(then == Then::Off)), "{place}");
    // The other verbs were not asked.
    for other in VERBS {
        let asked = all(&format!("offload_{other}.calls")) + all(&format!("offload_{other}.fallbacks"));
        assert!(other == verb || asked == 0, "{place}: {other} was asked {asked} times");
    }
}

fn the_table_in_the_documentation_is_this_one() {
    let docs = include_str!("../../../../docs/LAB.md");
    let rows: Vec<&str> = docs.lines().skip_while(|line| !line.starts_with("| answer (DPUSM)")).collect();
    let says = [
        (Then::Used, "its result is used"),
        (Then::Again, "asked again for the next"),
        (Then::Off, "off for the pool"),
    ];
    for (name, then) in TABLE {
        let row =
            rows.iter().find(|row| row.contains(&format!("`{name}`"))).unwrap_or_else(|| panic!("{name}"));
        let told: Vec<Then> =
            says.iter().filter(|(_, words)| row.contains(words)).map(|(then, _)| *then).collect();
        assert_eq!(told, [then], "{name}: {row}");
    }
}
