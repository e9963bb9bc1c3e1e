//! Functions that a sentence speaks of: with a share of the CPU, as a chain of calls, or by name alone.
//!
//! A name counts only beside words for a profile or for waiting: elsewhere people name what they suspect.

use crate::text::numbers;
use crate::words::WORDS;

/// A function and its per cent of the CPU: `clear_page_erms at 25%`, `osq_lock takes 40%`, `25% in zio_checksum`. A figure
/// of several functions together (`a and b 14%`) is none of theirs.
pub fn share(words: &[&str], at: usize) -> Option<(String, f64)> {
    let figure = words[at].trim_start_matches(['~', '(', '≈']).trim_end_matches(')').strip_suffix('%')?;
    let pct = numbers::number(figure).filter(|pct| *pct >= 1.0 && *pct <= 100.0)?;
    let between = |word: &str| WORDS.share_links.has(&lower(word));
    let before = (0..at).rev().take(4).find(|&i| !between(words[i])).filter(|&i| is_name(words[i]));
    let before = before.filter(|_| !figures_come_first(words));
    let (function, others) = match before {
        Some(i) => (words[i], &words[..i]),
        None => {
            let i = (at + 1..words.len()).take(5).find(|&i| !between(words[i]))?;
            (words[i], &words[i + 1..])
        }
    };
    let together = |word: &&str| matches!(lower(word).as_str(), "and" | "&" | "+" | "plus" | "or");
    let neighbour = match before {
        Some(_) => others.iter().rev().find(|w| !together(w)),
        None => others.iter().take(2).find(|w| !together(w)).filter(|_| others.first().is_some_and(together)),
    };
    (is_function(function) && !neighbour.is_some_and(|w| is_name(w)))
        .then(|| (plain(function).to_owned(), pct))
}

/// `21% dbuf_find, 14% zio_done`: figures stand before their names when the first of them does.
fn figures_come_first(words: &[&str]) -> bool {
    let is_figure = |word: &&str| word.strip_suffix('%').is_some_and(|f| numbers::number(f).is_some());
    let Some(first) = words.iter().position(is_figure) else { return false };
    let next = words[first + 1..].iter().find(|w| !WORDS.share_links.has(&lower(w)));
    next.is_some_and(|w| is_name(w)) && !words[..first].iter().rev().take(4).any(|w| is_name(w))
}

/// A name that only a function has: of small letters, in parts, and neither a thread nor a quantity.
fn is_function(word: &str) -> bool {
    let name = plain(word);
    // zstd and lz4 spell their functions in their own way.
    let of_library = ["ZSTD_", "HUF_", "FSE_", "LZ4_"].iter().any(|prefix| name.starts_with(prefix));
    if of_library && name.len() >= 6 {
        return name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    }
    name.len() >= 6
        && name.contains('_')
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !WORDS.quantity_ends.iter().any(|end| name.ends_with(end))
        && zwhy_zfs::thread_role(name).is_none()
}

/// A word that names something of a program, be it a function, a thread or a symbol with a place in it.
fn is_name(word: &str) -> bool {
    let name = plain(word);
    name.len() >= 6 && name.contains('_') && !name.contains(['=', '/', '%'])
}

/// A function without marks, calls and its place: `zio_execute()`, `taskq_thread+0x1a4/0x320`.
fn plain(word: &str) -> &str {
    let name = word.split_once("+0x").map_or(word, |(name, _)| name);
    // `&os->os_obj_lock`, `dn->dn_mtx`: the member.
    const LONGEST_POINTER: usize = 5;
    let name = match name.rsplit_once("->") {
        Some((pointer, member)) if pointer.len() <= LONGEST_POINTER => member,
        _ => name,
    };
    name.trim_matches('`').trim_end_matches("()")
}

/// Functions as a clause puts them together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Whether threads are said to wait in them.
    pub waiting: bool,
    /// Chains, the caller first; a function alone is a chain of one.
    pub chains: Vec<Vec<String>>,
}

/// Functions without a figure that a profile or a stack is said to show: `perf shows arc_evict -> osq_lock`,
/// `everything is stuck in txg_wait_synced()`.
pub fn told(words: &[&str]) -> Told {
    let says = |list: &crate::words::List| words.iter().any(|w| list.has(&lower(w)));
    let waiting = says(&WORDS.waiting);
    let mut chains: Vec<Vec<String>> = Vec::new();
    let mut arrow = None;
    if let Some((chain, others)) = listed_stack(words) {
        let mut told = told(&others);
        told.chains.insert(0, chain);
        told.chains.truncate(MOST_CHAINS);
        return Told { waiting, ..told };
    }
    if !waiting && !says(&WORDS.profiles) {
        return Told::default();
    }
    for word in words {
        match *word {
            "->" | "→" | "=>" | "-->" | ">" => arrow = Some(false),
            "<-" | "←" | "<=" | "<--" => arrow = Some(true),
            word if is_function(word) => {
                let name = plain(word).to_owned();
                match (arrow.take(), chains.last_mut()) {
                    (Some(false), Some(chain)) => chain.push(name),
                    (Some(true), Some(chain)) => chain.insert(0, name),
                    _ => chains.push(vec![name]),
                }
            }
            _ => arrow = None,
        }
    }
    chains.truncate(MOST_CHAINS);
    Told { waiting, chains }
}

/// A chain of that many calls is no supposition.
const FEWEST_CALLS: usize = 3;

/// The stacks that a clause lists or draws, and nothing else that it tells.
pub fn listed(words: &[&str]) -> Told {
    let waiting = words.iter().any(|w| WORDS.waiting.has(&lower(w)));
    let chains = match listed_stack(words) {
        Some((chain, _)) => vec![chain],
        None => told(words).chains.into_iter().filter(|chain| chain.len() >= FEWEST_CALLS).collect(),
    };
    Told { waiting, chains }
}

/// A stack that is listed: names in a row behind a word for one, `the stack is cv_wait, zio_wait, dbuf_read, zfs_read`,
/// or a row that ends where threads start; the last called first, as tools print it. With it the other words.
fn listed_stack<'w>(words: &[&'w str]) -> Option<(Vec<String>, Vec<&'w str>)> {
    const FEWEST: usize = 4;
    let is_stack = |w: &&str| {
        matches!(lower(w).as_str(), "stack" | "stacks" | "backtrace" | "backtraces" | "trace" | "traces")
    };
    let said = words.iter().position(is_stack);
    let mut at = 0;
    while at < words.len() {
        let mut chain: Vec<String> = Vec::new();
        let from = at;
        while let Some(word) = words.get(at) {
            // `a (or b)`: the same place under another name.
            let another =
                lower(word) == "or" && !chain.is_empty() && words.get(at + 1).is_some_and(|w| is_frame(w));
            if another {
                at += 2;
            } else if is_frame(word) {
                chain.push(plain(word).to_owned());
                at += 1;
            } else {
                break;
            }
        }
        let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
            at += 1;
            continue;
        };
        let (from_root, to_root) = (begins_thread(first), begins_thread(last));
        let told = said.is_some_and(|said| said < from) || from_root || to_root;
        if chain.len() >= FEWEST && told {
            if to_root || !from_root {
                chain.reverse();
            }
            return Some((chain, words[..from].iter().chain(&words[at..]).copied().collect()));
        }
    }
    None
}

/// A function, or what stands at the ends of stacks.
fn is_frame(word: &str) -> bool {
    is_function(word)
        || begins_thread(plain(word))
        || matches!(plain(word), "schedule" | "swtch" | "osq_lock")
}

/// Where stacks of threads and of system calls begin.
fn begins_thread(name: &str) -> bool {
    matches!(
        name,
        "taskq_thread" | "kthread" | "ret_from_fork" | "thread_start" | "do_syscall_64" | "fork_exit"
    ) || ["entry_SYSCALL", "sys_", "ksys_", "syscall_"].iter().any(|s| name.starts_with(s))
}

/// Functions that one clause tells, at most; more are a list of what there is.
const MOST_CHAINS: usize = 8;

fn lower(word: &str) -> String {
    word.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_and_its_share() {
        let shares = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let found = (0..words.len()).filter_map(|at| share(&words, at));
            found.map(|(name, pct)| format!("{name} {pct}")).collect::<Vec<_>>().join(", ")
        };
        for (text, want) in [
            ("perf top shows clear_page_erms at 25%", "clear_page_erms 25"),
            ("osq_lock() takes about ~40% of the CPU", "osq_lock 40"),
            ("I see 31.5% of cpu time in `zio_checksum_compute`", "zio_checksum_compute 31.5"),
            ("z_wr_iss at 100% and zfs_arc_max at 50% of memory", ""),
            ("dnode_size at 191% of its limit, 0.2% in dbuf_hold", ""),
            ("disk_usage at 90%, a hit_rate of 93% and pool_capacity at 95%", ""),
            ("it is 25% slower with zfs_read", ""),
            ("taskq_thread+0x1a4 (72%) spl_kmem_alloc", "taskq_thread 72"),
            (
                "taskq_thread+0x1a4/0x320 72% mutex_lock_slowpath 11%",
                "taskq_thread 72, mutex_lock_slowpath 11",
            ),
            ("dbuf_hold_impl and dnode_hold_impl 14%", ""),
            ("14% in dbuf_hold_impl and dnode_hold_impl", ""),
            ("dbuf_hold_impl 20% and dnode_hold_impl 14%", "dbuf_hold_impl 20, dnode_hold_impl 14"),
            ("20% in dbuf_hold_impl and 14% in dnode_hold_impl", "dbuf_hold_impl 20, dnode_hold_impl 14"),
            ("LZ4_compressCtx 30% zio_write_compress", "LZ4_compressCtx 30"),
            (
                "41.0% ZSTD_compressBlock_lazy 13.9% HUF_compress1X",
                "ZSTD_compressBlock_lazy 41, HUF_compress1X 13.9",
            ),
            (
                "perf top: 21% zap_cursor_retrieve 14% zfs_ioc_snapshot_list_next 7% rrw_enter_read_impl 5% dsl_dataset_name",
                "zap_cursor_retrieve 21, zfs_ioc_snapshot_list_next 14, rrw_enter_read_impl 7, dsl_dataset_name 5",
            ),
        ] {
            assert_eq!(shares(text), want, "{text}");
        }
    }

    #[test]
    fn chains_and_names() {
        let read = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let told = told(&words);
            let chains: Vec<String> = told.chains.iter().map(|chain| chain.join(" ")).collect();
            format!("{}{}", if told.waiting { "waits: " } else { "" }, chains.join(", "))
        };
        for (text, want) in [
            (
                "perf shows arc_evict_state -> multilist_sublist_lock -> osq_lock on top",
                "arc_evict_state multilist_sublist_lock osq_lock",
            ),
            ("the flame graph has osq_lock ← mutex_lock_slowpath", "mutex_lock_slowpath osq_lock"),
            (
                "all threads are stuck in txg_wait_synced() and dmu_tx_wait()",
                "waits: txg_wait_synced, dmu_tx_wait",
            ),
            (
                "the stack of smbd is cv_wait_common arc_wait_for_eviction arc_read dbuf_read zfs_read and I see zio_wait stuck",
                "waits: zfs_read dbuf_read arc_read arc_wait_for_eviction cv_wait_common, zio_wait",
            ),
            (
                "stacks are do_syscall_64 zfs_write dmu_tx_assign dmu_tx_wait",
                "waits: do_syscall_64 zfs_write dmu_tx_assign dmu_tx_wait",
            ),
            (
                "first kind: _raw_spin_lock list_lru_walk_one or list_lru_count_one zfs_prune taskq_thread",
                "taskq_thread zfs_prune list_lru_walk_one _raw_spin_lock",
            ),
            ("I suspect dbuf_find and zfs_arc_max", ""),
            ("perf with zfs_arc_max and hit_ratio", ""),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }
}
