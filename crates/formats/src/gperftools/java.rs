//! The names after the samples of a Java profile: `0x1a com.example.Main.run (Main.java:12)`.

use rustc_hash::FxHashMap;
use zwhy_profile::{FrameId, FrameKind, NamedFrame, Profile};

#[derive(Debug, Default)]
pub struct Names {
    all: FxHashMap<u64, FrameId>,
    /// Lines that say nothing.
    pub odd: u64,
}

impl Names {
    pub fn read(text: &str, profile: &mut Profile) -> Names {
        let mut names = Names::default();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
            match location(line) {
                Some((address, name)) => {
                    let frame = frame(profile, name);
                    names.all.insert(address, frame);
                }
                None => names.odd += 1,
            }
        }
        names
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn get(&self, address: u64) -> Option<FrameId> {
        self.all.get(&address).copied()
    }
}

fn location(line: &str) -> Option<(u64, &str)> {
    let (address, name) = line.strip_prefix("0x")?.split_once([' ', '\t'])?;
    Some((u64::from_str_radix(address, 16).ok()?, name.trim())).filter(|(_, name)| !name.is_empty())
}

/// `function (file:line)`, `function (module)`, or a name alone.
fn frame(profile: &mut Profile, name: &str) -> FrameId {
    let inside = name.strip_suffix(')').and_then(|n| n.rsplit_once(" ("));
    let (function, file, line, module) = match inside {
        Some((function, inside)) => match inside.rsplit_once(':').map(|(f, l)| (f, l.parse::<i64>())) {
            Some((file, Ok(line))) => (function.trim_end(), file, u32::try_from(line).unwrap_or(0), ""),
            _ => (function.trim_end(), "", 0, inside),
        },
        None => (name, "", 0, ""),
    };
    profile.named_frame(NamedFrame { function, module, file, line, kind: FrameKind::User, reason: "" })
}
