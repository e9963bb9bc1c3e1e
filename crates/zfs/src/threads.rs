//! Threads of OpenZFS by their names: what each does (`knowledge/threads/roles.toml`).
//!
//! Linux cuts names at 15 characters. The SPL adds `_N` to threads of a taskq, priorities and batches add `/N`, `-N`
//! or a letter.

use crate::data::table;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Role {
    /// The whole name without numbers, also where Linux shows it cut: `z_rd_int`, `spl_system_taskq`.
    pub name: &'static str,
    /// A phrase that can follow "this thread".
    pub what: &'static str,
    /// Gone from current OpenZFS; names the last line that has it.
    pub until: Option<&'static str>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table<'a> {
    #[serde(borrow)]
    idle: Vec<&'a str>,
    roles: BTreeMap<&'a str, &'a str>,
    gone: BTreeMap<&'a str, &'a str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table(include_str!("../threads/roles.toml")));

static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| {
    let role = |(name, what): (&&'static str, &&'static str)| Role {
        name,
        what,
        until: TABLE.gone.get(name).copied(),
    };
    TABLE.roles.iter().map(role).collect()
});

/// Whether a thread that sleeps right below this function has nothing to do. Compiler suffixes
/// (`taskq_thread.isra.0`) do not count.
pub fn waits_for_work(function: &str) -> bool {
    function.split('.').next().is_some_and(|name| TABLE.idle.contains(&name))
}

/// The name of a thread without its number: `z_wr_iss/3`, `z_wr_iss_3` and `zvol_tq-0` are
/// `z_wr_iss` and `zvol_tq`; without what `ps` puts around it (`[arc_prune]`, `zfskern{arc_prune}`),
/// and where the thread is called by its function (`dbuf_evict_thread`) by what it is called elsewhere.
pub fn thread_base(comm: &str) -> &str {
    let name = without_brackets(comm.trim());
    if let Some(role) = name.strip_suffix("_thread").and_then(thread_role) {
        return role.name;
    }
    if let Some(role) = thread_role(name) {
        return role.name;
    }
    let name = name.split('/').next().unwrap_or(name);
    let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if short.len() == name.len() {
        return name;
    }
    short.strip_suffix(['_', '-']).filter(|s| !s.is_empty()).unwrap_or(name)
}

fn without_brackets(name: &str) -> &str {
    let bracketed = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
    let of_process = || name.strip_suffix('}').and_then(|n| n.split_once('{')).map(|(_, thread)| thread);
    bracketed.or_else(of_process).filter(|n| !n.is_empty()).unwrap_or(name)
}

/// What the thread of this name does, or `None` when it is not known as a thread of OpenZFS.
pub fn thread_role(comm: &str) -> Option<Role> {
    let renamed = of_old_freebsd(comm);
    let comm = renamed.as_deref().unwrap_or(comm);
    // Most names of a host are not of ZFS and differ in their first letter.
    let first = comm.bytes().next()?;
    let alike = ROLES.iter().filter(|role| role.name.starts_with(char::from(first)));
    alike.filter(|role| is_named(comm, role.name)).max_by_key(|role| role.name.len()).copied()
}

/// `zio_write_issue_3` of FreeBSD before 13 and of illumos is what others call `z_wr_iss_3`.
fn of_old_freebsd(comm: &str) -> Option<String> {
    const TYPES: [(&str, &str); 6] = [
        ("null_", "null"),
        ("read_", "rd"),
        ("write_", "wr"),
        ("free_", "fr"),
        ("claim_", "cl"),
        ("ioctl_", "ioctl"),
    ];
    let rest = comm.strip_prefix("zio_")?;
    let (kind, rest) = TYPES.iter().find_map(|(old, new)| Some((new, rest.strip_prefix(old)?)))?;
    let (stage, rest) = match rest.strip_prefix("issue") {
        Some(rest) => ("iss", rest),
        None => ("int", rest.strip_prefix("intr")?),
    };
    let (high, rest) = rest.strip_prefix("_high").map_or(("", rest), |rest| ("_h", rest));
    // Cut before its number.
    Some(format!("z_{kind}_{stage}{high}{}", if rest == "_" { "" } else { rest }))
}

/// `comm` is `name`, cut at 15 bytes or followed by numbers.
fn is_named(comm: &str, name: &str) -> bool {
    if let Some(rest) = comm.strip_prefix(name) {
        return rest.is_empty() || (numbering(rest) && (name != "mmp" && name != "zvol" || rest.len() > 1));
    }
    // Cut by the kernel: fifteen characters of a longer name.
    comm.len() == 15 && name.len() > 15 && name.starts_with(comm)
}

/// `_3`, `/11`, `-0`, `/u:8`, `_h_2`: what follows a taskq's name.
fn numbering(rest: &str) -> bool {
    let mut bytes = rest.bytes();
    let separated =
        matches!(bytes.next(), Some(b'_' | b'/' | b'-' | b':')) || rest.bytes().all(|b| b.is_ascii_digit());
    separated && bytes.all(|b| b.is_ascii_digit() || matches!(b, b'_' | b'/' | b'-' | b':' | b'h' | b'u'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_threads_without_what_is_around_them() {
        for (printed, base) in [
            ("z_wr_iss/3", "z_wr_iss"),
            ("[arc_prune]", "arc_prune"),
            ("zfskern{arc_prune}", "arc_prune"),
            ("dbuf_evict_thread", "dbuf_evict"),
            ("my_thread", "my_thread"),
            ("kworker/u8:1", "kworker"),
            ("python3", "python3"),
            ("worker_12", "worker"),
            ("z_wr_iss_h_2", "z_wr_iss_h"),
            ("[]", "[]"),
            ("java{", "java{"),
        ] {
            assert_eq!(thread_base(printed), base, "{printed}");
        }
    }

    #[test]
    fn idle_threads_are_told_by_the_function_that_sleeps() {
        for idle in ["taskq_thread", "txg_thread_wait.isra.0", "ithread_loop"] {
            assert!(waits_for_work(idle), "{idle}");
        }
        for busy in ["txg_wait_synced", "taskq_thread_spawn", "", "zio_wait"] {
            assert!(!waits_for_work(busy), "{busy}");
        }
    }

    #[test]
    fn names_are_known_with_and_without_numbers() {
        for (comm, want) in [
            ("z_rd_int", "z_rd_int"),
            ("z_rd_int/12", "z_rd_int"),
            ("z_rd_int_3", "z_rd_int"),
            ("z_rd_int-0", "z_rd_int"),
            ("z_wr_iss", "z_wr_iss"),
            ("z_wr_iss_12", "z_wr_iss"),
            ("z_wr_iss_h", "z_wr_iss_h"),
            ("z_wr_iss_h/1", "z_wr_iss_h"),
            ("z_fr_iss_5", "z_fr_iss"),
            ("z_unlinked_drai", "z_unlinked_drain"),
            ("dp_zil_clean_ta", "dp_zil_clean_taskq"),
            ("spl_dynamic_tas", "spl_dynamic_taskq"),
            ("metaslab_group_", "metaslab_group_taskq"),
            ("zvol", "zvol"),
            ("zio_write_issue_", "z_wr_iss"),
            ("zio_write_issue_high_2", "z_wr_iss_h"),
            ("zio_read_intr_1_3", "z_rd_int"),
            ("zvol_tq-1", "zvol_tq"),
            ("zvol_tq-10_2", "zvol_tq"),
            ("dbuf_evict", "dbuf_evict"),
            ("arc_reclaim", "arc_reclaim"),
            ("arc_adapt", "arc_adapt"),
            ("mmp", "mmp"),
            ("txg_sync", "txg_sync"),
        ] {
            assert_eq!(thread_role(comm).map(|r| r.name), Some(want), "{comm}");
        }
        assert_eq!(thread_role("arc_reclaim").and_then(|r| r.until), Some("0.7"));
    }

    #[test]
    fn other_threads_have_no_role() {
        for comm in
            ["", "kworker/0:1", "z_rd_intx", "zvolume", "mmpd", "txg_syncer", "dd", "z", "zfs", "zpool"]
        {
            assert_eq!(thread_role(comm), None, "{comm}");
        }
    }

    #[test]
    fn names_fit_a_thread_and_are_not_repeated() {
        let mut names: Vec<_> = ROLES.iter().map(|r| r.name).collect();
        assert!(names.iter().all(|n| !n.is_empty()));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROLES.len());
    }

    proptest! {
        #[test]
        fn a_number_does_not_change_the_role(at in 0..ROLES.len(), n in 0u32..999, separator in "[/_-]") {
            let role = ROLES[at];
            let comm = format!("{}{separator}{n}", role.name);
            prop_assert_eq!(thread_role(&comm), Some(role));
        }

        #[test]
        fn any_text_is_survived(comm in ".{0,20}") {
            let _ = thread_role(&comm);
        }
    }
}
