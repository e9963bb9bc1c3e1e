//! Stack texts to stacks: whole texts and single lines are remembered, so each is parsed once.

use super::frame::{self, FrameText, NO_SYMBOL};
use crate::text::names;
use memchr::{memchr, memchr_iter};
use rustc_hash::{FxBuildHasher, FxHashMap};
use zwhy_profile::{FrameId, FrameKind, NamedFrame, Profile, StackId};

/// Remembers what it has seen of the text `'a`.
pub struct StackTexts<'a> {
    /// Stack of each whole text.
    texts: FxHashMap<&'a [u8], StackId>,
    /// Frame of each line (with its source line), inlined ones left out: their module depends on others.
    lines: FxHashMap<&'a [u8], FrameId>,
    /// Scratch: start and end of the frames of the text at hand, leaf first.
    spans: Vec<(usize, usize)>,
    /// The text parsed last and the stack at each of its frames, root first: neighbours in time share
    /// most of their frames, which then need no look-up.
    last: &'a [u8],
    last_stacks: Vec<Step<'a>>,
    max_depth: usize,
    pub cut_stacks: u64,
}

/// One frame of the text parsed last.
struct Step<'a> {
    /// Start of its line, counted from the end of the text.
    from_end: usize,
    stack: StackId,
    caller: &'a [u8],
}

/// A stack text that was read.
pub struct Taken {
    pub stack: StackId,
    /// Bytes that belong to it; less than given where something else follows.
    pub len: usize,
    /// Lines in it that are no frames.
    pub strange: u64,
}

impl<'a> StackTexts<'a> {
    pub fn new(max_depth: usize, text_len: usize) -> Self {
        /// A guess of how much text a new stack takes, to size the table once.
        const TEXT_BYTES: usize = 2048;
        StackTexts {
            texts: FxHashMap::with_capacity_and_hasher(text_len / TEXT_BYTES, FxBuildHasher),
            lines: FxHashMap::default(),
            spans: Vec::new(),
            last: b"",
            last_stacks: Vec::new(),
            max_depth,
            cut_stacks: 0,
        }
    }

    /// The stack of a text of frame lines, leaf first, that may go on to something else.
    pub fn stack(&mut self, profile: &mut Profile, text: &'a [u8]) -> Taken {
        if let Some(&stack) = self.texts.get(text) {
            return Taken { stack, len: text.len(), strange: 0 };
        }
        let (mut known, mut stack, mut caller) = self.resume(text);
        let part = known.checked_sub(1).and_then(|at| self.last_stacks.get(at)).map_or(0, |s| s.from_end);
        let (mut len, mut strange) = self.find_frames(&text[..text.len() - part]);
        if len == text.len() - part && known + self.spans.len() <= self.max_depth {
            len = text.len();
        } else {
            // Another sample follows without a blank line, or the stack is too deep: begin from nothing.
            (known, stack, caller) = Default::default();
            (len, strange) = self.find_frames(text);
        }
        let skip = self.spans.len().saturating_sub(self.max_depth);
        self.cut_stacks += u64::from(skip > 0);
        self.last_stacks.truncate(known);
        let body = &text[..len];
        let spans = std::mem::take(&mut self.spans);
        for &(start, end) in spans.iter().rev().skip(skip) {
            let frame = self.frame(profile, &body[start..end], &mut caller);
            stack = profile.stacks.child(stack, frame);
            self.last_stacks.push(Step { from_end: len - start, stack, caller });
        }
        self.last = if skip == 0 { body } else { b"" };
        self.spans = spans;
        if len == text.len() && strange == 0 {
            self.texts.insert(text, stack);
        }
        Taken { stack, len, strange }
    }

    /// Frames next to the root that are the same as in the last text: how many, and where they lead.
    fn resume(&self, text: &'a [u8]) -> (usize, StackId, &'a [u8]) {
        let same = common_suffix(self.last, text);
        // A frame counts only when the line break before it is the same too.
        let known = self.last_stacks.partition_point(|step| step.from_end < same);
        match known.checked_sub(1).and_then(|at| self.last_stacks.get(at)) {
            Some(step) => (known, step.stack, step.caller),
            None => (0, StackId::ROOT, b""),
        }
    }

    /// The frame of a sample without call chain.
    pub fn single(&mut self, profile: &mut Profile, text: &'a [u8]) -> StackId {
        let frame = self.frame(profile, text, &mut &b""[..]);
        profile.stacks.child(StackId::ROOT, frame)
    }

    /// Fills `spans`; returns the bytes used and the lines among them that are no frames.
    fn find_frames(&mut self, text: &[u8]) -> (usize, u64) {
        self.spans.clear();
        let (mut start, mut strange) = (0, 0);
        for end in memchr_iter(b'\n', text).chain([text.len()]) {
            if end <= start {
                start = end + 1;
                continue;
            }
            match text[start] {
                b'\t' => self.spans.push((start, end)),
                b' ' => {
                    let line = &text[start..end];
                    if frame::is_frame_line(line) {
                        self.spans.push((start, end));
                    } else if line.starts_with(b"  ") && !self.spans.is_empty() {
                        // A source line belongs to the frame above it.
                        if let Some(last) = self.spans.last_mut() {
                            last.1 = end;
                        }
                    } else {
                        strange += 1;
                    }
                }
                _ => return (start, strange), // the next sample, without a blank line before it
            }
            start = end + 1;
        }
        (text.len(), strange)
    }

    /// The frame of a line. `caller` is the last line towards the root that is no inlined frame.
    fn frame(&mut self, profile: &mut Profile, text: &'a [u8], caller: &mut &'a [u8]) -> FrameId {
        if let Some(&frame) = self.lines.get(text) {
            *caller = text;
            return frame;
        }
        let (line, source) = match memchr(b'\n', text) {
            Some(end) => (&text[..end], frame::source_line(&text[end + 1..])),
            None => (text, None),
        };
        let parts = frame::parse(line);
        if parts.inlined {
            // Inlined frames print no module: they are in that of the frame they were inlined into.
            let line = caller.split(|b| *b == b'\n').next().unwrap_or(b"");
            return intern(profile, parts, frame::parse(line).module, source);
        }
        *caller = text;
        let id = intern(profile, parts, parts.module, source);
        self.lines.insert(text, id);
        id
    }
}

/// Bytes at the end that two texts have in common.
fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    let (mut a_words, mut b_words) = (a.rchunks_exact(8), b.rchunks_exact(8));
    while let (Some(x), Some(y)) = (a_words.next(), b_words.next()) {
        if x != y {
            break;
        }
        same += 8;
    }
    let rest = a[..a.len() - same].iter().rev().zip(b[..b.len() - same].iter().rev());
    same + rest.take_while(|(x, y)| x == y).count()
}

fn intern(profile: &mut Profile, parts: FrameText, module: &[u8], source: Option<(&[u8], u32)>) -> FrameId {
    let [module, symbol] = [module, parts.symbol].map(String::from_utf8_lossy);
    let (file, line) = source.unwrap_or_default();
    let (module, file, kind) = (names::module(&module), &*String::from_utf8_lossy(file), parts.kind());
    let (function, reason) = match &*symbol {
        "" => ("[unknown]", NO_SYMBOL),
        // Of ppc64; in user code a dot may be part of the name.
        symbol if kind == FrameKind::Kernel => (names::without_dot(symbol), ""),
        symbol => (symbol, ""),
    };
    profile.named_frame(NamedFrame { function, module, file, line, kind, reason })
}
