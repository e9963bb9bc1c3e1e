//! Folded text of any names comes back as it was written.

use crate::common::import_as;
use proptest::prelude::*;
use zwhy_evidence::Evidence;
use zwhy_formats::{ExportOptions, Ids, export};
use zwhy_profile::{Event, FrameKind, Profile};

fn fold(profile: &Profile, ids: Ids) -> String {
    let evidence = Evidence { profile: profile.clone(), ..Evidence::default() };
    let mut out = Vec::new();
    let options = ExportOptions { event: Event::Cpu, ids };
    export(&evidence, "folded", &options, "out", &mut out).expect("exports");
    String::from_utf8(out).expect("text")
}

/// Names as strangers choose them: what the format gives a meaning, what readers take apart, anything else.
const NAME: &str = "\\PC{0,8}|[;: \n\r\t#`+_\\[\\]0-9a-f.]{0,8}|[a-z]{1,4}\\+0x[0-9a-f]{1,3}|[a-z]{1,4}_\\[[kjiw]\\]|[a-z]{1,3} [0-9]{1,3}|[a-z]{1,3}-[0-9?]/[0-9]";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_names_come_back(
        rows in prop::collection::vec((NAME, prop::collection::vec(NAME, 0..4), 1u32..9, -1i32..3), 1..12),
        ids in prop::sample::select(&[Ids::None, Ids::Process, Ids::Thread][..]),
    ) {
        let mut p = Profile::new();
        for (comm, names, count, tid) in &rows {
            let frames: Vec<_> = names.iter().map(|n| p.frame(n, "zfs", FrameKind::Kernel)).collect();
            let (stack, thread) = (p.stack(&frames), p.thread(*tid, *tid, comm));
            p.samples.push_counted(thread, stack, Event::Cpu, *count);
        }
        let text = fold(&p, ids);
        let imported = import_as("folded", text.as_bytes()).expect("reads what was written");
        let back = imported.evidence.profile;
        prop_assert_eq!(imported.stats.dropped_total(), 0, "{:?} {:?}", imported.stats, text);
        prop_assert_eq!(back.total(Event::Cpu), p.total(Event::Cpu), "{:?}", text);
        prop_assert_eq!(fold(&back, Ids::None), text);
    }
}
