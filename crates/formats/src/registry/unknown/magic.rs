//! Files told by the first bytes of their kind.

use super::Kind;

/// Where a magic number stands, the number, what the file is, what to do.
type Row = (usize, &'static [u8], &'static str, &'static str);

const PICTURE: &str = "give the text or the SVG that it was drawn from; a picture holds no numbers";
const UNPACK: &str = "unpack it and give one of the files in it";
const RECORD: &str = "to see where a program spends its time: zwhy record -- PROGRAM";
const MEMORY: &str = "it says what memory is held, not where CPU time goes; zwhy reads CPU profiles of gperftools (CPUPROFILE=FILE), and pprof";
const NO_PACKETS: &str =
    "it says nothing of the CPU; record the host while the load runs: zwhy record -a -d 30";

static ROWS: &[Row] = &[
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture", PICTURE),
    (0, b"\xff\xd8\xff", "a JPEG picture", PICTURE),
    (0, b"GIF8", "a GIF picture", PICTURE),
    (8, b"WEBP", "a WebP picture", PICTURE),
    (0, b"%PDF-", "a PDF document", "copy the text of interest into a file and give that"),
    (
        0,
        b"PK\x03\x04",
        "a zip archive",
        "unpack it (unzip) and give one of the files in it; a capture of zwhy is given as a file, not through a pipe",
    ),
    (0, b"PK\x05\x06", "an empty zip archive", "archive it again"),
    (0, b"BZh", "a bzip2 file", "unpack it: bunzip2 -c FILE | zwhy explain -"),
    (0, b"\x04\x22\x4d\x18", "an lz4 file", "unpack it: lz4 -dc FILE | zwhy explain -"),
    (0, b"LZIP", "an lzip file", "unpack it: lzip -dc FILE | zwhy explain -"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (257, b"ustar", "a tar archive", "unpack it (tar -xf FILE) and give one of the files in it"),
    (0, b"!<arch>\n", "a static library or a Debian package", RECORD),
    (0, b"\xed\xab\xee\xdb", "an RPM package", RECORD),
    (0, b"heap profile:", "a heap profile of gperftools or Go", MEMORY),
    (0, b"--- heapz", "a heap profile of gperftools", MEMORY),
    (
        0,
        b"--- contentionz",
        "a profile of locks of gperftools",
        "it says how long threads waited for locks, in cycles; zwhy reads CPU profiles of gperftools",
    ),
    (
        0,
        b"--- threadz",
        "stacks of threads of gperftools",
        "it shows one moment; zwhy reads CPU profiles of gperftools",
    ),
    (
        0,
        b"--- symbol",
        "a profile of gperftools with its names in front (pprof --raw)",
        "give the CPU profile that it was made from, or convert it: pprof --collapsed writes folded stacks",
    ),
    (
        0,
        b"SQLite format 3\0",
        "an SQLite database",
        "if a profiler wrote it, export it there as pprof, folded stacks or text",
    ),
    (0, b"MZ", "a program for Windows", "zwhy explains Linux and FreeBSD hosts"),
    (0, b"\xcf\xfa\xed\xfe", "a program for macOS", RECORD),
    (
        0,
        b"JAVA PROFILE 1.0",
        "a heap dump of Java",
        "zwhy explains CPU time; async-profiler writes it as folded stacks",
    ),
    (
        0,
        b"FLR\0",
        "a recording of the Java Flight Recorder",
        "convert it: async-profiler's jfrconv writes folded stacks",
    ),
    (
        0,
        b"\x17\x08\x44tracing",
        "a trace.dat of trace-cmd",
        "record samples instead: zwhy record -a, or perf record -a -g",
    ),
    (0, b"KDUMP   ", "a dump of a crashed kernel", "import the text of `bt -a` or `foreach bt` of crash"),
    (0, b"DISKDUMP", "a dump of a crashed kernel", "import the text of `bt -a` or `foreach bt` of crash"),
    (0, b"PAR1", "a Parquet table", "if it is part of a capture, give the folder that it lies in"),
    (0, b"\xd4\xc3\xb2\xa1", "a capture of network packets", NO_PACKETS),
    (0, b"\x0a\x0d\x0d\x0a", "a capture of network packets", NO_PACKETS),
    (
        8,
        b"\xac\xcb\xba\xf5\x02\0\0\0",
        "a stream of `zfs send`",
        "it holds data, not what the CPU did; record the host while it is sent or received: zwhy record -a -d 30",
    ),
];

pub fn known(head: &[u8]) -> Option<Kind> {
    if head.starts_with(b"\x7fELF") {
        return Some(elf(head));
    }
    if head.starts_with(b"\xca\xfe\xba\xbe") {
        return Some(cafebabe(head));
    }
    let row = ROWS.iter().find(|(at, magic, ..)| head.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    row.map(|(_, _, what, hint)| Kind::new(*what, *hint))
}

fn elf(head: &[u8]) -> Kind {
    let bytes = [head.get(16).copied().unwrap_or(0), head.get(17).copied().unwrap_or(0)];
    let big_endian = head.get(5) == Some(&2);
    let kind = if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    match kind {
        1 => Kind::new("an object file or kernel module (ELF)", "record what it does: zwhy record -a -d 30"),
        4 => Kind::new(
            "a core dump (ELF)",
            "it shows one moment, not where time goes; record the running process: zwhy record -p PID",
        ),
        _ => Kind::new("a program or library (ELF)", RECORD),
    }
}

/// Java and macOS chose the same magic number; the next word is a version there, a small count here.
fn cafebabe(head: &[u8]) -> Kind {
    const MOST_ARCHITECTURES: u8 = 20;
    if head.get(4..7) == Some(&[0, 0, 0]) && head.get(7).is_some_and(|n| *n < MOST_ARCHITECTURES) {
        return Kind::new("a program for macOS", RECORD);
    }
    Kind::new("a Java class", "to see where a program spends its time: zwhy record -- java …")
}
