//! Source lines as frames of a profile.

use super::SourceFrame;
use zwhy_profile::{Frame, FrameId, FrameKind, Profile};

/// `frame` with its file and line, and the frames of what is inlined there, one into the other.
///
/// `chain` is what [`super::Lines`] found at an address of `frame`. The name stays the one that the
/// symbol table has: debug information does not know what the compiler made of a function.
pub fn source_frames(
    profile: &mut Profile,
    frame: FrameId,
    chain: &[SourceFrame],
) -> (FrameId, Box<[FrameId]>) {
    let Some((first, inlined)) = chain.split_first() else { return (frame, Box::default()) };
    let named = profile.frames.get(frame);
    let file = profile.strings.intern(&first.file);
    let itself = profile.frames.intern(Frame { file, line: first.line, ..named });
    let inlined = inlined.iter().filter(|f| !f.function.is_empty()).map(|f| {
        let frame = Frame {
            function: profile.strings.intern(&f.function),
            module: named.module,
            file: profile.strings.intern(&f.file),
            line: f.line,
            kind: FrameKind::Inlined,
            ..Frame::default()
        };
        profile.frames.intern(frame)
    });
    let inlined = inlined.collect();
    (itself, inlined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(function: &str, line: u32) -> SourceFrame {
        SourceFrame { function: function.into(), file: "zio.c".into(), line }
    }

    #[test]
    fn inlined_functions_follow_the_frame_that_keeps_its_name() {
        let mut profile = Profile::new();
        let frame = profile.frame("zio_read.part.0", "zfs", FrameKind::Kernel);
        assert_eq!(source_frames(&mut profile, frame, &[]), (frame, Box::default()));
        let chain = [source("zio_read", 10), source("zio_create", 20), source("", 25), source("list", 30)];
        let (itself, inlined) = source_frames(&mut profile, frame, &chain);
        let mut shown = Vec::new();
        for id in std::iter::once(&itself).chain(&*inlined) {
            let f = profile.frames.get(*id);
            assert_eq!((profile.strings.get(f.file), profile.module_of(*id)), ("zio.c", "zfs"));
            shown.push((profile.function_of(*id).to_owned(), f.line, f.kind));
        }
        let expected = [
            ("zio_read.part.0".to_owned(), 10, FrameKind::Kernel),
            ("zio_create".to_owned(), 20, FrameKind::Inlined),
            ("list".to_owned(), 30, FrameKind::Inlined),
        ];
        assert_eq!(shown, expected);
    }
}
