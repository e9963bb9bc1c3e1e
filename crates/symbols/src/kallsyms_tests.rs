//! Tests of the kallsyms reader: bounds, aliases, modules, hidden and hostile input.

use super::*;
use proptest::prelude::*;

const SMALL: &str = "\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000000 t first_function
ffffffff81000010 T do_read
ffffffff81000100 t helper
ffffffff81000100 T __pi_helper
ffffffff81000200 T _etext
ffffffff81000300 D jiffies
ffffffffc0001000 t zio_execute\t[zfs]
ffffffffc0001100 t zio_wait\t[zfs]
ffffffffc0001180 r __param_str_zfs_arc_max\t[zfs]
ffffffffc0001200 t arc_read\t[zfs]
ffffffffc0009000 t taskq_thread\t[spl]
";

const MODULES: &str =
    "zfs 4096 1 - Live 0xffffffffc0001000 (POE)\nspl 512 1 zfs, Live 0xffffffffc0009000 (OE)\n";

fn name(symbols: &KernelSymbols, address: u64) -> Option<(String, String)> {
    symbols.resolve(address).map(|s| (s.function.to_owned(), s.module.to_owned()))
}

#[test]
fn functions_are_named_inside_their_bounds_only() {
    let symbols = KernelSymbols::parse(SMALL.as_bytes(), Some(MODULES.as_bytes())).unwrap();
    assert_eq!(symbols.base(), Some(0xffffffff81000000));
    for (address, want) in [
        (0xffffffff80ffffffu64, None),
        (0xffffffff81000000, Some(("first_function", "kernel"))),
        (0xffffffff8100000f, Some(("first_function", "kernel"))),
        (0xffffffff81000010, Some(("do_read", "kernel"))),
        (0xffffffff81000100, Some(("helper", "kernel"))),
        (0xffffffff810001ff, Some(("helper", "kernel"))),
        (0xffffffff81000200, None),
        (0xffffffff81000300, None),
        (0xffffffffc0001104, Some(("zio_wait", "zfs"))),
        (0xffffffffc0001180, None),
        (0xffffffffc0001200, Some(("arc_read", "zfs"))),
        (0xffffffffc0001fff, Some(("arc_read", "zfs"))),
        (0xffffffffc0002000, None),
        (0xffffffffc00091ff, Some(("taskq_thread", "spl"))),
        (0xffffffffc0009200, None),
        (u64::MAX, None),
        (0, None),
    ] {
        let want = want.map(|(f, m)| (f.to_owned(), m.to_owned()));
        assert_eq!(name(&symbols, address), want, "{address:#x}");
    }
}

#[test]
fn the_last_symbol_of_a_module_of_unknown_size_ends_with_its_page() {
    let symbols = KernelSymbols::parse(SMALL.as_bytes(), None).unwrap();
    assert!(symbols.resolve(0xffffffffc0001fff).is_some());
    assert!(symbols.resolve(0xffffffffc0002000).is_none());
    assert!(symbols.resolve(0xffffffffc0009fff).is_some());
    assert!(symbols.resolve(0xffffffffc000a000).is_none());
}

#[test]
fn hidden_and_empty_texts_are_refused_with_a_reason() {
    let hidden = "0000000000000000 T _text\n0000000000000000 t a\n";
    assert_eq!(
        KernelSymbols::parse(hidden.as_bytes(), None).unwrap_err(),
        KallsymsError::Hidden { symbols: 2 }
    );
    assert_eq!(KernelSymbols::parse(b"nothing here\n\xff\xff\n", None).unwrap_err(), KallsymsError::Empty);
}

proptest! {
    /// Against a slow reference: the answer is the last text symbol at or below the address, and no
    /// later symbol lies between.
    #[test]
    fn resolve_agrees_with_a_linear_search(
        lines in prop::collection::vec((1u64..400, prop::bool::ANY), 1..60),
        probes in prop::collection::vec(0u64..500, 1..60),
    ) {
        let text: String = lines.iter().enumerate().map(|(i, (address, is_text))|
            format!("{:016x} {} s{i}\n", address * 16, if *is_text { 't' } else { 'd' })).collect();
        let symbols = KernelSymbols::parse(text.as_bytes(), None).unwrap();
        for probe in probes {
            let probe = probe * 16 + 3;
            let below = lines.iter().map(|(a, _)| a * 16).filter(|a| *a <= probe).max();
            let text_there = below.is_some_and(|b| lines.iter().any(|(a, t)| a * 16 == b && *t));
            let last = lines.iter().all(|(a, _)| a * 16 <= probe);
            let answer = symbols.resolve(probe);
            if !last || !text_there {
                prop_assert_eq!(answer.is_some(), text_there);
            }
            if let Some(symbol) = answer {
                prop_assert_eq!(Some(symbol.start), below);
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(symbols) = KernelSymbols::parse(&bytes, Some(&bytes)) {
            let _ = symbols.resolve(0x1000);
        }
    }
}
