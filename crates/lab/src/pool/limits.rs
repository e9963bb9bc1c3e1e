//! What this engine cannot do, and why: known from the experiment alone, before anything is made.

use super::PoolChoice;
use super::counters::NEVER;
use super::parameters::ARC_MAX;
use crate::spec::{Action, Experiment, Measure, Provider, Setup, Variant};
use std::collections::BTreeSet;

/// Something to know before an experiment runs on the host's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It cannot run so.
    Refused(String),
    /// It runs, but this is not set or not told.
    LeftOut(String),
}

/// Everything that this engine cannot do of an experiment.
///
/// # Errors
/// When the experiment has no cells.
pub fn remarks(experiment: &Experiment, choice: &PoolChoice) -> Result<Vec<Remark>, String> {
    let variants = experiment.variants()?;
    let mut remarks: Vec<Remark> = refusals(&variants, choice).into_iter().map(Remark::Refused).collect();
    if uncountable(&experiment.compare.measure) {
        remarks.push(Remark::Refused(format!("{}: {}", experiment.compare.measure, WHY_UNCOUNTABLE)));
    }
    remarks.extend(left_out(experiment, choice).into_iter().map(Remark::LeftOut));
    Ok(remarks)
}

pub const NO_SEND: &str = "half of the work is done by the process of zfs send, whose CPU this engine does not count; \
                           record it where it runs: zwhy record --on-cpu -- zfs send …";

const WHY_UNCOUNTABLE: &str =
    "only the engine in user space counts these calls; in the kernel a recording shows them";

fn uncountable(measure: &Measure) -> bool {
    matches!(measure, Measure::Counter(name) | Measure::CounterPerBlock(name) if NEVER.contains(&name.as_str()))
}

/// Checks of what nobody counts here would fail for that alone.
pub fn leave_out_uncountable(experiment: &mut Experiment) {
    experiment.checks.retain(|check| !uncountable(&check.measure));
}

/// What makes cells impossible.
pub fn refusals(variants: &[Variant], choice: &PoolChoice) -> Vec<String> {
    let mut reasons = BTreeSet::new();
    for variant in variants {
        reasons.extend(of_cell(variant, choice));
    }
    let first = variants.first().map(|v| &v.setup);
    let differs = |of: fn(&Setup) -> u64| variants.iter().any(|v| Some(of(&v.setup)) != first.map(of));
    if variants.iter().any(|v| Some(v.setup.device) != first.map(|setup| setup.device)) {
        reasons.insert(
            "the model of the disks differs between cells: device_mb_per_s, device_ms and device_queue slow down files in \
             user space only; real devices are given with --device"
                .to_owned(),
        );
    }
    if differs(|setup| setup.memory.0) {
        reasons.insert("memory differs between cells: a host has the memory that it has".to_owned());
    }
    if differs(|setup| setup.arc_max.0) && !choice.allow_parameters {
        reasons.insert(format!(
            "arc_max differs between cells: {ARC_MAX} limits the ARC of the whole host; --allow-parameters lets the \
             lab set it and put it back after each run"
        ));
    }
    reasons.into_iter().collect()
}

fn of_cell(variant: &Variant, choice: &PoolChoice) -> Vec<String> {
    let setup = &variant.setup;
    let mut reasons = Vec::new();
    if setup.offload.provider != Provider::None {
        reasons.push(
            "provider: stages of the kernel can only be handed over by the Z.I.A. branch of OpenZFS".into(),
        );
    }
    let pressure = |action: &Action| matches!(action, Action::Idle { available: Some(_), .. });
    if variant.steps.iter().any(|step| pressure(&step.action)) {
        reasons.push(
            "an idle step with available memory: the lab takes no memory from a host that others use".into(),
        );
    }
    let without = |action: &Action| matches!(action, Action::Lose { .. } | Action::Regain);
    if variant.steps.iter().any(|step| without(&step.action)) {
        reasons.push(
            "the steps lose and regain: they move files away that play disks, in user space only".into(),
        );
    }
    if variant.steps.iter().any(|step| matches!(step.action, Action::Send { .. })) {
        reasons.push(format!("the steps send and receive: {NO_SEND}"));
    }
    let parameters = setup.parameters.keys().chain(setup.implementations.keys());
    let names: Vec<&str> = parameters.map(String::as_str).collect();
    if !names.is_empty() && !choice.allow_parameters {
        reasons.push(format!(
            "{}: parameters of the module act on all pools of the host; --allow-parameters lets the lab set them and \
             put them back after each run",
            names.join(", ")
        ));
    }
    if !choice.devices.is_empty() && choice.devices.len() != setup.all_disks() as usize {
        reasons.push(format!(
            "disks is {} and {} devices are given; give as many, or --set disks={}",
            setup.all_disks(),
            choice.devices.len(),
            choice.devices.len()
        ));
    }
    reasons
}

/// What an experiment holds the same in all cells, and this engine leaves as it is on the host.
pub fn left_out(experiment: &Experiment, choice: &PoolChoice) -> Vec<String> {
    let mut lines = Vec::new();
    if experiment.fixed.contains_key("arc_max") && !choice.allow_parameters {
        lines.push(format!("arc_max is not set: the ARC limit is the host's ({ARC_MAX})"));
    }
    if experiment.fixed.contains_key("memory") {
        lines.push("memory is not set: OpenZFS sees the memory of this host".into());
    }
    if experiment.fixed.keys().any(|name| name.starts_with("device_")) {
        lines.push(
            "disks are not slowed down: they are as fast as what is given (--device), or as the files".into(),
        );
    }
    let unchecked = experiment.checks.iter().filter(|check| uncountable(&check.measure));
    lines.extend(unchecked.map(|check| format!("not checked: {} ({WHY_UNCOUNTABLE})", check.say)));
    lines
}

/// The experiment says what the ARC may take.
pub fn sets_arc(experiment: &Experiment) -> bool {
    experiment.fixed.contains_key("arc_max") || experiment.factors.contains_key("arc_max")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remarks_of(name: &str, change: impl FnOnce(&mut Experiment, &mut PoolChoice)) -> Vec<Remark> {
        let (mut experiment, mut choice) = (Experiment::builtin(name).unwrap(), PoolChoice::default());
        change(&mut experiment, &mut choice);
        remarks(&experiment, &choice).unwrap()
    }

    fn refused(remarks: &[Remark], says: &str) {
        let says = remarks.iter().any(|r| matches!(r, Remark::Refused(why) if why.contains(says)));
        assert!(says, "{remarks:?}");
    }

    fn runs(remarks: &[Remark]) -> bool {
        remarks.iter().all(|remark| matches!(remark, Remark::LeftOut(_)))
    }

    #[test]
    fn what_acts_on_the_whole_host_needs_to_be_allowed() {
        refused(&remarks_of("arc-cached-read", |_, _| ()), "arc_max differs");
        assert!(runs(&remarks_of("arc-cached-read", |_, choice| choice.allow_parameters = true)));
        let set = |experiment: &mut Experiment| experiment.set("zfs_fletcher_4_impl", "scalar").unwrap();
        refused(&remarks_of("checksum", |experiment, _| set(experiment)), "zfs_fletcher_4_impl: parameters");
    }

    #[test]
    fn models_and_memory_pressure_are_refused_and_a_limit_that_is_held_is_left_out() {
        refused(&remarks_of("idle-arc-pressure", |_, _| ()), "takes no memory");
        let slow = |experiment: &mut Experiment| experiment.set("device_mb_per_s", "100,200").unwrap();
        refused(&remarks_of("encryption", |experiment, _| slow(experiment)), "device_mb_per_s");
        let modelled = remarks_of("sync-writes", |_, _| ());
        let said = |r: &Remark| matches!(r, Remark::LeftOut(what) if what.contains("not slowed down"));
        assert!(runs(&modelled) && modelled.iter().any(said), "{modelled:?}");
        let encryption = remarks_of("encryption", |_, _| ());
        assert!(runs(&encryption) && !encryption.is_empty(), "{encryption:?}");
    }

    #[test]
    fn there_must_be_as_many_devices_as_disks() {
        let two = |choice: &mut PoolChoice| choice.devices = vec!["/dev/a1".into(), "/dev/b1".into()];
        refused(&remarks_of("direct-io", |_, choice| two(choice)), "disks is 4 and 2 devices");
    }

    #[test]
    fn checks_of_what_nobody_counts_are_left_out_and_said() {
        let remarks = remarks_of("compression", |_, _| ());
        assert!(
            remarks.iter().any(|r| matches!(r, Remark::LeftOut(what) if what.contains("decompressed once")))
        );
        let mut experiment = Experiment::builtin("compression").unwrap();
        let before = experiment.checks.len();
        leave_out_uncountable(&mut experiment);
        assert_eq!(experiment.checks.len(), before - 1);
    }
}
