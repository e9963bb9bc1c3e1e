//! What a frame without a name is called, whoever saw it: the recorder or a reader of perf.data.
//!
//! One rule: code of a known object is `object+0xaddress`, the address being that of its function where the
//! object tells functions apart, else that of its page (a reader that has not the object
//! at hand keeps the address, as another host may have it); all else is its reason in square brackets. So the
//! same address has the same label in a capture and in a perf.data of the same seconds.

use zwhy_profile::{FrameId, FrameKind, NamedFrame, Profile};
use zwhy_symbols::{Reason, unnamed_label};

/// Code that lies in no object: `[not mapped]`, `[process ended]`, `[virtual machine]`.
pub fn nameless(profile: &mut Profile, kind: FrameKind, module: &str, reason: Reason) -> FrameId {
    reasoned(profile, kind, &format!("[{reason}]"), module, reason.text())
}

/// Code of an object that has no symbol there: `address` is that of its function, or of its page.
///
/// `between`: the named functions around it, where they are known.
pub fn in_object(
    profile: &mut Profile,
    module: &str,
    address: u64,
    between: Option<&(String, String)>,
    reason: &str,
) -> FrameId {
    let label = unnamed_label(module, address, between);
    reasoned(profile, FrameKind::User, &label, module, reason)
}

/// What addresses fold to where an object does not tell functions apart, or each would be a frame of its own.
pub fn page(address: u64) -> u64 {
    address & !0xfff
}

/// A frame of this label, with the reason why it has no better name.
pub fn reasoned(
    profile: &mut Profile,
    kind: FrameKind,
    function: &str,
    module: &str,
    reason: &str,
) -> FrameId {
    profile.named_frame(NamedFrame { function, module, kind, reason, ..NamedFrame::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_where_or_why() {
        let mut p = Profile::new();
        let ids = [
            nameless(&mut p, FrameKind::User, "", Reason::NotMapped),
            in_object(&mut p, "libc.so.6", page(0x1234), None, "no symbol"),
            in_object(&mut p, "libc.so.6", 0x1230, None, "no symbol"),
        ];
        let text = ids.map(|id| p.function_of(id).to_owned());
        assert_eq!(text, ["[not mapped]", "libc.so.6+0x1000", "libc.so.6+0x1230"]);
        assert_eq!(p.strings.get(p.frames.get(ids[0]).reason), "not mapped");
    }
}
