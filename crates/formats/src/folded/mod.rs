//! Folded stacks: `frame;frame;leaf count` lines, root first, as the stackcollapse scripts write them.
//!
//! Kept: whole and decimal counts, annotations (`_[k]` kernel, `_[j]` compiled at run time, `_[i]`
//! inlined), DTrace's ``module`function``, spaces in names. Of a differential (every line has two counts)
//! the second is taken. A line without a count is one sample. The first frame stays a frame, and is also
//! taken as the thread's name where the second one is a root that only the kernel or the C library has.

pub(crate) mod block;

use crate::text::counts::{Count, CountedStacks};
use crate::text::roots::{has_both_ids, is_thread_start, split_ids};
use crate::text::{lines, names};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, ImportStats, Imported, Importer, Input};
use rustc_hash::FxHashMap;
use zwhy_evidence::Evidence;
use zwhy_profile::{Event, FrameId, Profile, StackId, ThreadId};

pub(crate) static IMPORTER: Importer = Importer { name: "folded", sniff, read };

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let mut reader = Reader::new(options.limits.max_depth, is_differential(input.bytes()));
    for line in lines::raw_lines(input.bytes()) {
        reader.line(line);
    }
    reader.finish(input.name())
}

/// Nearly all lines end in a count, and some have `;` before it.
fn sniff(head: &[u8]) -> Confidence {
    const LOOK_AT: usize = 200;
    let (mut folded, mut single, mut other) = (0, 0, 0);
    for line in
        lines::raw_lines(head).filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#")).take(LOOK_AT)
    {
        if line.contains(&0) {
            return Confidence::No;
        }
        match split_count(line) {
            (stack, Some(_)) if stack.contains(&b';') && !stack.starts_with(b" ") && !is_sentence(stack) => {
                folded += 1;
            }
            (stack, Some(_)) if !stack.is_empty() && !line.starts_with(b" ") => single += 1,
            _ => other += 1,
        }
    }
    // The last line may be cut by the end of the head; a comment or two does not matter.
    if folded > 0 && folded * 2 >= single && (folded + single) * 9 >= other * 91 {
        Confidence::Likely
    } else if folded > other && folded * 2 >= single {
        // With other text between the stacks: so may a paste have.
        Confidence::Possible
    } else {
        Confidence::No
    }
}

struct Reader<'a> {
    profile: Profile,
    stats: ImportStats,
    counted: CountedStacks,
    /// Frames by their bytes in the file.
    seen: FxHashMap<Box<[u8]>, FrameId>,
    no_thread: ThreadId,
    threads: FxHashMap<FrameId, ThreadId>,
    before: Before<'a>,
    max_depth: usize,
    cut_stacks: u64,
    without_count: u64,
    /// Every line has two counts.
    differential: bool,
}

/// The stack before: the next one often begins with the same frames, as such files are sorted.
#[derive(Default)]
struct Before<'a> {
    text: &'a [u8],
    thread: ThreadId,
    /// Where in `text` each frame ends, and the stack up to it.
    path: Vec<(usize, StackId)>,
}

impl Before<'_> {
    /// Keeps the frames that `text` begins with, too. They are two at least, as these tell the thread, or none.
    fn keep(&mut self, text: &[u8]) {
        let same = same(self.text, text);
        let begins_with = |end: usize| end < same || end == same && text.get(end).is_none_or(|b| *b == b';');
        let kept = self.path.partition_point(|(end, _)| begins_with(*end));
        self.path.truncate(if kept < 2 { 0 } else { kept });
    }
}

impl<'a> Reader<'a> {
    fn new(max_depth: usize, differential: bool) -> Reader<'a> {
        let mut profile = Profile::new();
        let no_thread = profile.thread(-1, -1, "");
        Reader {
            profile,
            stats: ImportStats::new("folded", "lines"),
            counted: CountedStacks::default(),
            seen: FxHashMap::default(),
            no_thread,
            threads: FxHashMap::default(),
            before: Before::default(),
            max_depth,
            cut_stacks: 0,
            without_count: 0,
            differential,
        }
    }

    fn line(&mut self, line: &'a [u8]) {
        self.stats.read += 1;
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            return self.stats.drop("blank line", 1);
        }
        if trimmed.starts_with(b"# ") {
            return self.stats.drop("comment", 1);
        }
        let (mut frames, count) = split_count(trimmed);
        if self.differential
            && let (stack, Some(_)) = split_count(frames)
        {
            frames = stack;
        }
        let count = match count {
            Some(count) => count,
            None if ends_in_digits(frames) => return self.stats.drop("count too large to be one", 1),
            None if !frames.contains(&b';') => return self.stats.drop("line is no folded stack", 1),
            None => {
                self.without_count += 1;
                Count::ONE
            }
        };
        if count.digits == 0 {
            return self.stats.drop("count of zero", 1);
        }
        let (thread, stack) = self.stack(frames);
        if stack == StackId::ROOT {
            return self.stats.drop("count without a stack", 1);
        }
        self.counted.push(thread, stack, count);
        self.stats.kept += 1;
    }

    fn stack(&mut self, text: &'a [u8]) -> (ThreadId, StackId) {
        let depth = 1 + memchr::memchr_iter(b';', text).count();
        // Frames towards the root are cut: the leaf says what was running.
        let skip = depth.saturating_sub(self.max_depth);
        self.cut_stacks += u64::from(skip > 0);
        match skip {
            0 => self.before.keep(text),
            _ => self.before.path.clear(),
        }
        let Before { path, thread, .. } = &self.before;
        let mut number = path.len();
        let (mut thread, mut stack, mut at) = match path.last() {
            Some(&(end, stack)) => (*thread, stack, end + 1),
            None => (self.no_thread, StackId::ROOT, 0),
        };
        let mut root = None;
        let mut cut = skip;
        for name in text.get(at..).unwrap_or_default().split(|b| *b == b';') {
            let end = at + name.len();
            at = end + 1;
            if name.is_empty() {
                continue;
            }
            if cut > 0 {
                cut -= 1;
                continue;
            }
            let frame = self.frame(name);
            match (number, root) {
                (0, _) => {
                    root = Some(frame);
                    if has_both_ids(name) {
                        thread = self.thread(frame);
                    }
                }
                (1, Some(root)) if is_thread_start(name) => thread = self.thread(root),
                _ => {}
            }
            stack = self.profile.stacks.child(stack, frame);
            number += 1;
            if skip == 0 {
                self.before.path.push((end, stack));
            }
        }
        (self.before.text, self.before.thread) = (text, thread);
        (thread, stack)
    }

    fn frame(&mut self, bytes: &[u8]) -> FrameId {
        if let Some(&frame) = self.seen.get(bytes) {
            return frame;
        }
        let text = String::from_utf8_lossy(bytes);
        let frame = names::frame_of_folded(&mut self.profile, &text);
        self.seen.insert(bytes.into(), frame);
        frame
    }

    /// The thread named by a root frame: `fio`, `z_rd_int-4711/4712`.
    fn thread(&mut self, root: FrameId) -> ThreadId {
        if let Some(&thread) = self.threads.get(&root) {
            return thread;
        }
        let name = self.profile.function_of(root).to_owned();
        let (comm, pid, tid) = split_ids(&name);
        let thread = self.profile.thread(pid, tid, comm);
        self.threads.insert(root, thread);
        thread
    }

    fn finish(mut self, name: &str) -> Result<Imported, FormatError> {
        if self.counted.is_empty() {
            return Err(FormatError::read(ErrorKind::Empty, name, "no line is a folded stack")
                .hint("a folded stack is `root;frame;leaf 12`"));
        }
        let mut warn = |count: u64, text: &str| {
            if count > 0 {
                self.stats.warnings.push(format!("{count} {text}"));
            }
        };
        warn(self.without_count, "lines have no count and are taken as one sample each");
        warn(self.cut_stacks, "stacks are deeper than the limit: their frames next to the root are cut");
        if self.differential {
            self.stats.warnings.push(
                "the lines have two counts (a differential): the second is taken; import the two profiles it was made from to compare them".to_owned(),
            );
        }
        self.counted.into_samples(&mut self.profile, Event::Cpu, &mut self.stats);
        let mut evidence = Evidence { profile: self.profile, ..Evidence::default() };
        evidence.origin(name);
        Ok(Imported { evidence, stats: self.stats })
    }
}

/// How many bytes are the same from the beginning on.
fn same(a: &[u8], b: &[u8]) -> usize {
    const AT_ONCE: usize = 32;
    let chunks = a.chunks_exact(AT_ONCE).zip(b.chunks_exact(AT_ONCE));
    let at = chunks.take_while(|(a, b)| a == b).count() * AT_ONCE;
    at + a[at..].iter().zip(&b[at..]).take_while(|(a, b)| a == b).count()
}

/// Whether words follow a semicolon as in prose, "it stalls; kernel 5": frames follow one another without a blank,
/// and where a tool writes one, they are no sentence.
fn is_sentence(stack: &[u8]) -> bool {
    const WORDS: usize = 8;
    let blank = memchr::memmem::find(stack, b"; ").is_some();
    blank
        && stack
            .split(u8::is_ascii_whitespace)
            .filter(|w| w.iter().all(u8::is_ascii_alphabetic) && w.len() > 1)
            .count()
            >= WORDS
}

/// Splits `a;b c 12` into stack and count.
fn split_count(line: &[u8]) -> (&[u8], Option<Count>) {
    let line = line.trim_ascii();
    let split = memchr::memrchr2(b' ', b'\t', line)
        .and_then(|space| Some((line[..space].trim_ascii_end(), Count::parse(&line[space + 1..])?)));
    match split {
        Some((stack, count)) => (stack, Some(count)),
        None if Count::parse(line).is_some() => (b"", Count::parse(line)),
        None => (line, None),
    }
}

/// Whether the last word is a number; [`Count::parse`] takes none of more than 19 digits.
fn ends_in_digits(line: &[u8]) -> bool {
    memchr::memrchr2(b' ', b'\t', line).is_some_and(|space| line[space + 1..].iter().all(u8::is_ascii_digit))
}

/// `true` when each of the first lines has two counts, as difffolded.pl writes. A single line with two
/// numbers is more likely a name that ends in one.
fn is_differential(bytes: &[u8]) -> bool {
    const LOOK_AT: usize = 100;
    let (mut lines, mut two) = (0, 0);
    for line in lines::raw_lines(bytes).filter(|l| !l.trim_ascii().is_empty()).take(LOOK_AT) {
        lines += 1;
        if let (stack, Some(_)) = split_count(line)
            && let (stack, Some(_)) = split_count(stack)
        {
            two += usize::from(!stack.is_empty());
        }
    }
    lines > 1 && two == lines
}
