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
        let text = text.split("[[checks]]").next().unwrap().replace("above = ", "# ");
        let exclude = "exclude = [{ encryption = \"off\", threads = 4 }]\nreferences";
        text.replacen("references", exclude, 1).replace("largest_first = [", "largest_first = [] #")
    })
    .unwrap();
    assert_eq!(experiment.variants().unwrap().len(), 5);
}

#[test]
fn mistakes_are_named_with_what_would_be_right() {
    let wrong: [(&str, &str, &str); 13] = [
        ("encryption = [", "encrypton = [", "did you mean encryption?"),
        ("aes-256-ccm\", \"aes-256-gcm\", \"off\"]\n\n", "off\"]\n\n", "no cell is called \"aes-256-ccm\""),
        ("recordsize = \"128K\"", "recordsize = \"100K\"", "power of two"),
        ("do = \"verify\"", "do = \"vrfy\"", "verify"),
        ("step = \"read\"\nmeasure", "step = \"scrub\"\nmeasure", "scrub is not one of the steps"),
        ("measure = \"cpu_s_per_gb\"", "measure = \"speed\"", "no measure"),
        ("do = \"verify\"", "do = \"read\"", "comes twice"),
        ("\"off\"]\n\n", "\"off\", \"off\"]\n\n", "two cells are called \"off\""),
        ("compression = \"off\"", "compression = \"lz5\"", "did you mean lz4?"),
        ("measure = \"cpu", "raw = \"verify\"\nmeasure = \"cpu", "does not read the disks themselves"),
        ("measure = \"cpu", "raw = \"raed\"\nmeasure = \"cpu", "did you mean read?"),
        ("measure = \"cpu", "stage = \"decrpyt\"\nmeasure = \"cpu", "did you mean decrypt?"),
        ("name = \"encryption\"", "name = \"En cryption\"", "lower case"),
    ];
    for (from, to, says) in wrong {
        let error = encryption_with(|text| {
            assert!(text.contains(from), "{from:?} is not in the file");
            text.replacen(from, to, 1)
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

#[test]
fn settings_that_only_fit_together_may_come_in_any_order() {
    for (first, second) in [("layout", "disks"), ("disks", "layout")] {
        let value = |name| if name == "layout" { "mirror" } else { "2" };
        let mut experiment = Experiment::builtin("offload").unwrap();
        experiment.set_all([(first, value(first)), (second, value(second))]).unwrap();
        let variants = experiment.variants().unwrap();
        assert!(
            variants.iter().all(|v| v.setup.layout == Layout::Mirror && v.setup.disks == 2),
            "{first} first"
        );
    }
    // raidz2 of the experiment needs more, whatever else is set.
    let mut experiment = Experiment::builtin("offload").unwrap();
    let error = experiment.set_all([("disks", "2"), ("compression", "gzip-1")]).unwrap_err();
    assert!(error.contains("disks is 2; this layout needs 3 to 32"), "{error}");
}

#[test]
fn a_modelled_device_gives_way_to_what_is_set_by_name() {
    let mut experiment = Experiment::builtin("offload-model").unwrap();
    experiment.set("provider", "none,model:qat-8950").unwrap();
    let of = |experiment: &Experiment, us: &str| {
        let cells = experiment.variants().unwrap();
        let cell = cells
            .into_iter()
            .find(|v| v.factors["provider"] == "model:qat-8950" && v.factors["provider_us"] == us);
        cell.unwrap().setup.offload
    };
    // Factors of the experiment are set by name: only its rate is left of the device.
    let offload = of(&experiment, "1000");
    assert_eq!((offload.provider, offload.us, offload.gb_per_s), (Provider::Model, 1000.0, 3.0));
    assert_eq!(offload.device.as_deref(), Some("qat-8950"));
    let mut experiment = Experiment::builtin("offload").unwrap();
    experiment.set_all([("provider", "none,model:qat-8950"), ("provider_us", "7")]).unwrap();
    let offload = &experiment.variants().unwrap()[1].setup.offload;
    assert_eq!((offload.us, offload.link_gb_per_s, offload.gb_per_s), (7.0, 7.88, 3.0));
    let error = experiment.set("provider", "model:qat-8590").unwrap_err();
    assert!(error.contains("did you mean model:qat-8950?"), "{error}");
}

#[test]
fn a_receive_needs_a_stream_and_is_the_last_of_the_steps_on_snapshots() {
    let text = builtin::text("send-receive").unwrap();
    let wrong =
        |from: &str, to: &str| Experiment::parse(&text.replace(from, to), "x").unwrap_err().to_string();
    assert!(text.contains("to = \"file\"\n"));
    assert!(wrong("to = \"file\"\n", "").contains("receive needs a send before it with to = \"file\""));
    assert!(wrong("to = \"file\"", "to = \"tape\"").contains("it must be"));
    let destroyed = wrong("do = \"reimport\"", "do = \"destroy\"");
    assert!(destroyed.contains("destroy comes after receive"), "{destroyed}");
}

#[test]
fn slips_in_verbs_fields_and_names_are_answered_with_the_word() {
    let error = |from: &str, to: &str| {
        let text = builtin::text("encryption").unwrap();
        assert!(text.contains(from), "{from}");
        Experiment::parse(&text.replacen(from, to, 1), "x").unwrap_err().to_string()
    };
    assert!(error("do = \"write\"", "do = \"wriet\"").ends_with("; did you mean write?"));
    assert!(error("question =", "qestion =").ends_with("; did you mean question?"));
    assert!(!error("do = \"write\"", "do = \"zzzzz\"").contains("did you mean"));
    let unknown = Experiment::builtin("encrytion").unwrap_err().to_string();
    assert!(unknown.contains("did you mean encryption? Known are: encryption, "), "{unknown}");
    assert!(Experiment::builtin("qqq").unwrap_err().to_string().contains("\"qqq\". Known are"));
}

#[test]
fn the_disks_can_be_read_once_something_lies_on_them() {
    let error = encryption_with(|text| text.replacen("[[steps]]", "[[steps]]\ndo = \"raw\"\n\n[[steps]]", 1));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("steps: raw comes before anything is written"), "{error}");
}
