//! Function names as the knowledge files spell them, from what profilers print.
//!
//! Sources add modules (`zfs!arc_read`, ``zfs`arc_read``, `arc_read [zfs]`), offsets
//! (`arc_read+0x12/0x340`), marks (`[k] arc_read`) and compiler suffixes (`arc_read.isra.0`). People
//! write `arc_read()`, several names in one place (`mutex_lock / mutex_unlock`) and a lock by the
//! way to it (`&dn->dn_mtx`).

use memchr::{memchr_iter, memchr2, memrchr};

/// A name without decoration, and the module that was written into it (or "").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareName<'a> {
    pub function: &'a str,
    pub module: &'a str,
}

/// What compilers append to a copy of a function; a dot and one of these ends the name.
const SUFFIXES: [&str; 10] =
    ["isra", "part", "constprop", "cold", "lto_priv", "llvm", "unlikely", "localalias", "clone", "ipa"];

/// Takes a printed name apart.
pub fn bare(printed: &str) -> BareName<'_> {
    let mut name = printed.trim();
    if name.starts_with('[') {
        for mark in ["[k]", "[.]", "[K]", "[g]", "[u]"] {
            name = name.strip_prefix(mark).map_or(name, str::trim_start);
        }
    }
    let mut module = "";
    if let Some((head, inside)) = name.strip_suffix(']').and_then(|n| n.rsplit_once(" [")) {
        (name, module) = (head.trim_end(), inside);
    }
    if let Some(at) = memchr2(b'!', b'`', name.as_bytes())
        && let (head, tail) = (&name[..at], &name[at + 1..])
        && !head.is_empty()
        && !head.contains(['(', '<', ' '])
        && !tail.is_empty()
    {
        (module, name) = (head, tail);
    }
    if let Some(at) = memrchr(b'+', name.as_bytes())
        && at > 0
        && name[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    {
        name = &name[..at];
    }
    let name = name.strip_suffix("()").unwrap_or(name);
    BareName { function: without_suffix(member(name)), module }
}

/// The named functions before and after one that has no name: of
/// `libzpool.so.6+0x286ee0 (gcm_mul_pclmulqdq..aesni_gcm_decrypt)`, as `zwhy_symbols::unnamed_label` writes it.
pub fn neighbours(printed: &str) -> Option<(&str, &str)> {
    let (place, inside) = printed.strip_suffix(')')?.rsplit_once(" (")?;
    let (before, after) = inside.split_once("..")?;
    (place.contains("+0x") && is_name(before) && is_name(after)).then_some((before, after))
}

/// Bare names of a place where somebody wrote several: `mutex_lock / mutex_unlock`.
pub fn bare_names(printed: &str) -> impl Iterator<Item = &str> {
    let several = || printed.split(['/', ',']).map(str::trim);
    let split = printed.contains(['/', ',']) && several().all(is_name);
    let (one, more) = if split { (None, Some(several())) } else { (Some(printed), None) };
    one.into_iter().chain(more.into_iter().flatten()).map(|name| bare(name).function)
}

/// Bare names, callers first, of a call chain in one line: `zfs_write > dmu_tx_assign`,
/// `txg_wait_open <- dmu_free_long_range`. `None` where the text is no such chain.
pub fn chain(printed: &str) -> Option<Vec<&str>> {
    const DOWN: [&str; 4] = [" > ", " -> ", " → ", ";"];
    const UP: [&str; 3] = [" < ", " <- ", " ← "];
    let split = |by: &str| -> Option<Vec<&str>> {
        let names: Vec<&str> = printed.split(by).map(|part| bare(part).function).collect();
        (names.len() > 1 && names.iter().all(|n| is_name(n))).then_some(names)
    };
    DOWN.iter().find_map(|by| split(by)).or_else(|| {
        let mut names = UP.iter().find_map(|by| split(by))?;
        names.reverse();
        Some(names)
    })
}

fn is_name(text: &str) -> bool {
    let text = text.strip_suffix("()").unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '*'))
}

/// Of `&dn->dn_mtx` the `dn_mtx`: a lock is known by its name, not by the way to it.
fn member(name: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '&' | '-' | '>');
    match name.rsplit_once("->") {
        Some((way, last)) if !way.is_empty() && is_name(last) && way.chars().all(plain) => last,
        _ => name.strip_prefix('&').filter(|n| is_name(n)).unwrap_or(name),
    }
}

fn without_suffix(name: &str) -> &str {
    let mut end = name.len();
    for at in memchr_iter(b'.', name.as_bytes()) {
        let word = name[at + 1..].split('.').next().unwrap_or("");
        if at > 0 && SUFFIXES.contains(&word) {
            end = at;
            break;
        }
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorations_of_every_profiler_come_off() {
        for (printed, function, module) in [
            ("arc_read", "arc_read", ""),
            ("zfs`arc_read", "arc_read", "zfs"),
            ("zfs.ko`arc_read+0x1f", "arc_read", "zfs.ko"),
            ("libzpool.so.6!arc_read", "arc_read", "libzpool.so.6"),
            ("arc_read [zfs]", "arc_read", "zfs"),
            ("[k] arc_read.isra.0.part.3", "arc_read", ""),
            ("kfpu_restore_xsave.constprop.0", "kfpu_restore_xsave", ""),
            ("arc_evict_state.cold", "arc_evict_state", ""),
            ("zfs_write+0x5c4/0xd70 [zfs]", "zfs_write", "zfs"),
            ("arc_hdr.llvm.1234", "arc_hdr", ""),
            ("std::map<a.b>::find", "std::map<a.b>::find", ""),
            ("rrl->rr_lock", "rr_lock", ""),
            ("&os->os_obj_lock", "os_obj_lock", ""),
            ("operator->", "operator->", ""),
            ("std::map::operator->*", "std::map::operator->*", ""),
            ("", "", ""),
            ("+0x10", "+0x10", ""),
            ("`", "`", ""),
            (".cold", ".cold", ""),
            ("arc_evict()", "arc_evict", ""),
            ("dn->dn_struct_rwlock", "dn_struct_rwlock", ""),
            ("&zilog->zl_lock", "zl_lock", ""),
            ("&spa_namespace_lock", "spa_namespace_lock", ""),
            ("ptr<a>::operator->", "ptr<a>::operator->", ""),
        ] {
            assert_eq!(bare(printed), BareName { function, module }, "{printed}");
        }
    }

    #[test]
    fn a_function_without_a_name_may_have_neighbours() {
        let found = neighbours("libzpool.so.6+0x286ee0 (gcm_mul_pclmulqdq..aesni_gcm_decrypt)");
        assert_eq!(found, Some(("gcm_mul_pclmulqdq", "aesni_gcm_decrypt")));
        for printed in ["libzpool.so.6+0x10", "f (a..b)", "a+0x1 (b)", "a+0x1 (b..)", "a+0x1 (b..c..d d)", ""]
        {
            assert_eq!(neighbours(printed), None, "{printed}");
        }
    }

    #[test]
    fn several_names_in_one_place_come_apart() {
        for (printed, names) in [
            ("arc_space_consume / arc_space_return", &["arc_space_consume", "arc_space_return"][..]),
            ("kstat_waitq_*, kstat_runq_*", &["kstat_waitq_*", "kstat_runq_*"]),
            ("ZFS_ENTER/ZFS_EXIT", &["ZFS_ENTER", "ZFS_EXIT"]),
            ("zfs_write+0x5c4/0xd70 [zfs]", &["zfs_write"]),
            ("std::map<a, b>::find", &["std::map<a, b>::find"]),
            ("arc_read", &["arc_read"]),
        ] {
            assert_eq!(bare_names(printed).collect::<Vec<_>>(), names, "{printed}");
        }
    }

    #[test]
    fn chains_in_one_line_come_apart() {
        for (printed, names) in [
            (
                "zfs_write > dmu_tx_assign+0x12 > dmu_tx_wait",
                Some(vec!["zfs_write", "dmu_tx_assign", "dmu_tx_wait"]),
            ),
            (
                "txg_wait_open <- dmu_free_long_range [zfs]",
                Some(vec!["dmu_free_long_range", "txg_wait_open"]),
            ),
            ("a;b", Some(vec!["a", "b"])),
            ("rrl->rr_lock", None),
            ("arc_read", None),
            ("4k > 8k", None),
            ("", None),
        ] {
            assert_eq!(chain(printed), names, "{printed}");
        }
    }
}
