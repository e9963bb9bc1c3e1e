//! What a specification may say, and what is answered when it does not work.

use super::*;

fn encryption_with(change: impl Fn(&str) -> String) -> Result<Experiment, LabError> {
    Experiment::parse(&change(builtin::text("encryption").unwrap()), "test.toml")
}

#[test]
fn all_builtins_are_valid_and_carry_their_name() {
    for name in Experiment::builtin_names() {
        let experiment = Experiment::builtin(name).unwrap();
        assert_eq!(experiment.name, name);
        assert!(!experiment.checks.is_empty(), "{name} can come out as it likes");
        assert!(!experiment.meaning.is_empty(), "{name} does not say what it means for a pool");
    }
}

#[test]
fn cells_are_the_product_of_the_factors() {
    let mut experiment = encryption_with(str::to_owned).unwrap();
    experiment.set("checksum", "fletcher4,sha256").unwrap();
    experiment.set("threads", "1, 4").unwrap();
    let labels: Vec<String> = experiment.variants().unwrap().into_iter().map(|v| v.label).collect();
    assert_eq!(labels.len(), 12);
    assert_eq!(labels[0], "fletcher4 aes-256-ccm threads=1");
    assert_eq!(labels[11], "sha256 off threads=4");
    assert!(experiment.compare.largest_first.is_empty() && experiment.checks.is_empty());
}

#[test]
fn a_single_value_is_held_and_keeps_the_expectation() {
    let mut experiment = encryption_with(str::to_owned).unwrap();
    experiment.set("recordsize", "1M").unwrap();
    assert_eq!(experiment.compare.largest_first.len(), 3);
    assert!(experiment.variants().unwrap().iter().all(|v| v.setup.recordsize() == Bytes(1 << 20)));
}

#[test]
fn combinations_can_be_left_out() {
    let experiment = encryption_with(|text| {
        let text = text.replace("[factors]", "[factors]\nthreads = [1, 4]");
        let text = text.split("[[checks]]").next().unwrap().to_owned();
        let exclude = "exclude = [{ encryption = \"off\", threads = 4 }]\nreferences";
        text.replacen("references", exclude, 1).replace("largest_first = [", "largest_first = [] #")
    })
    .unwrap();
    assert_eq!(experiment.variants().unwrap().len(), 5);
}

#[test]
fn mistakes_are_named_with_what_would_be_right() {
    let wrong: [(&str, &str, &str); 8] = [
        ("encryption = [", "encrypton = [", "did you mean encryption?"),
        ("aes-256-ccm\", \"aes-256-gcm\", \"off\"]\n\n", "off\"]\n\n", "no cell is called \"aes-256-ccm\""),
        ("recordsize = \"128K\"", "recordsize = \"100K\"", "power of two"),
        ("do = \"verify\"", "do = \"vrfy\"", "verify"),
        ("step = \"read\"\nmeasure", "step = \"scrub\"\nmeasure", "scrub is not one of the steps"),
        ("measure = \"cpu_s_per_gb\"", "measure = \"speed\"", "no measure"),
        ("do = \"verify\"", "do = \"read\"", "comes twice"),
        ("name = \"encryption\"", "name = \"En cryption\"", "lower case"),
    ];
    for (from, to, says) in wrong {
        let error = encryption_with(|text| {
            assert!(text.contains(from), "{from:?} is not in the file");
            text.replace(from, to)
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("test.toml"), "{to}: {error}");
    }
}

#[test]
fn set_refuses_what_is_no_setting() {
    let mut experiment = encryption_with(str::to_owned).unwrap();
    assert!(experiment.set("recrodsize", "1M").unwrap_err().contains("did you mean recordsize?"));
    assert!(experiment.set("threads", "0").unwrap_err().contains("1 to 64"));
}
