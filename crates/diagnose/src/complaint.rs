//! Whether somebody complains: of a host that does its work there is nothing to explain, whatever its words are about.

use crate::prose::prose;
use crate::said::words;

/// Beginnings of words for something that is not as it should be.
const COMPLAINTS: [&str; 78] = [
    "abysmal",
    "ages",
    "awful",
    "bad",
    "bottleneck",
    "bug",
    "burn",
    "cannot",
    "collaps",
    "complain",
    "contention",
    "consum",
    "crash",
    "crawl",
    "deadlock",
    "degrad",
    "drops",
    "dropped",
    "dropping",
    "eating",
    "eats",
    "excess",
    "exhaust",
    "expected",
    "fail",
    "fell",
    "forever",
    "freez",
    "frozen",
    "grind",
    "halt",
    "hang",
    "hiccup",
    "hog",
    "horribl",
    "hours",
    "huge",
    "hung",
    "instead",
    "issue",
    "kills",
    "killed",
    "killer",
    "lag",
    "leak",
    "livelock",
    "long",
    "maxed",
    "minutes",
    "oom",
    "only",
    "painful",
    "panic",
    "pegged",
    "poor",
    "problem",
    "regress",
    "saturat",
    "slow",
    "sluggish",
    "spik",
    "spin",
    "stall",
    "starv",
    "storm",
    "strange",
    "stuck",
    "stutter",
    "suffer",
    "takes",
    "terribl",
    "thrash",
    "timeout",
    "took",
    "trouble",
    "unresponsive",
    "unusable",
    "worse",
];
/// Words that take a complaint back: `no problem`, `nothing slow`, `without any trouble`.
const DENIALS: [&str; 8] = ["no", "not", "nothing", "never", "without", "none", "zero", "nobody"];
/// Of the complaints those that a satisfied report uses as well: `took 40 minutes, as expected`.
const AMBIGUOUS: [&str; 19] = [
    "ages", "bad", "burn", "consum", "drops", "dropped", "dropping", "excess", "exhaust", "expected",
    "hours", "huge", "instead", "long", "maxed", "minutes", "only", "takes", "took",
];
/// Words that follow one another in a report by somebody who is satisfied.
const CONTENT: [&str; 39] = [
    "above plan",
    "above target",
    "all good",
    "all green",
    "as agreed",
    "as always",
    "as designed",
    "as expected",
    "as intended",
    "as planned",
    "as usual",
    "as wanted",
    "by design",
    "busy but fine",
    "everything fine",
    "everything is fine",
    "everything ok",
    "everything is ok",
    "happy with",
    "in its window",
    "inside the window",
    "is intended",
    "is on purpose",
    "is wanted",
    "is what i expected",
    "no action",
    "no complaints",
    "no findings",
    "no user noticed",
    "nobody complains",
    "nobody noticed",
    "nothing to do",
    "nothing unusual",
    "nothing wrong",
    "only want to know",
    "routine check",
    "routine report",
    "target met",
    "within the window",
];
/// The same, but also of plans, checks and disks in a report of trouble: they count where nobody complains at all.
const MILD: [&str; 12] = [
    "accepted",
    "acceptance run",
    "budget",
    "comfortable",
    "copes well",
    "healthy",
    "of the window",
    "plan was",
    "planned",
    "routine",
    "this is normal",
    "works nicely",
];
/// Before hours and minutes: how often something is done, or when.
const OF_A_PLAN: [&str; 10] =
    ["every", "working", "office", "business", "opening", "peak", "quiet", "window", "finishes", "lasts"];
/// What somebody took who made notes.
const TAKEN: [&str; 8] = ["these", "this", "them", "those", "it", "some", "notes", "screenshots"];
/// A sentence has this many words.
const SENTENCE: usize = 5;
/// How far before the complaint they stand.
const BEFORE: usize = 3;

/// Whether a text that a person wrote complains of something.
pub fn complains(said: &str) -> bool {
    let words = words(&spoken_lines(said));
    any_of(&words, |_| true) || stands_still(&words) || changes(&words)
}

/// `everything that writes stands still`.
fn stands_still(words: &[String]) -> bool {
    words.windows(2).any(|two| matches!(two[0].as_str(), "stand" | "stands" | "stood") && two[1] == "still")
}

/// Figures that are others than they were: `commits go from 2-3 ms to 300-900 ms`, `down from 700 MB/s to about 90 MB/s`.
fn changes(words: &[String]) -> bool {
    const VERBS: [&str; 12] =
        ["go", "goes", "went", "gone", "going", "down", "up", "grew", "grown", "rose", "rises", "changed"];
    const NEAR: usize = 5;
    let figure = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    words.windows(2).enumerate().any(|(at, two)| {
        let behind = &words[at + 2..];
        let to = behind.iter().take(NEAR).position(|word| word == "to");
        two[1] == "from"
            && VERBS.contains(&two[0].as_str())
            && behind.iter().take(2).any(figure)
            && to.is_some_and(|to| behind[to + 1..].iter().take(3).any(figure))
    })
}

/// Whether its writer is satisfied: says so, and complains in no word that leaves no doubt.
pub fn is_content(said: &str) -> bool {
    let words = words(&spoken_lines(said));
    // `does not scale as expected`, `worse than planned`.
    let denied = |at: usize| words[at.saturating_sub(BEFORE)..at].iter().any(|w| is_denial(w) || w == "than");
    let says = |phrase: &&str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let mut places = words.windows(phrase.len()).enumerate();
        places.any(|(at, said)| said.iter().eq(&phrase) && !denied(at))
    };
    CONTENT.iter().any(says) && !any_of(&words, |complaint| !AMBIGUOUS.contains(&complaint))
        || MILD.iter().any(says) && !any_of(&words, |_| true)
}

/// Without lines that say nothing of how a host does: commands (`zpool get freeing,leaked`), and columns between bars,
/// which are tables of other programs (`datname | deadlocks | temp_files`).
fn spoken_lines(said: &str) -> String {
    let command =
        |line: &str| ["$ ", "# zpool ", "# zfs "].iter().any(|prompt| line.trim_start().starts_with(prompt));
    // arc_summary calls its own sections healthy.
    // What the shell says of a file.
    let shell =
        |line: &str| line.ends_with("No such file or directory") || line.ends_with("Permission denied");
    let spoken =
        |line: &&str| !line.contains(" | ") && !line.contains("(HEALTHY)") && !command(line) && !shell(line);
    said.lines().filter(spoken).collect::<Vec<_>>().join("\n")
}

/// Whether one of those complaints is among the words and not taken back.
fn any_of(words: &[String], counts: impl Fn(&str) -> bool) -> bool {
    (0..words.len()).any(|at| {
        let before = &words[at.saturating_sub(BEFORE)..at];
        COMPLAINTS.iter().any(|complaint| counts(complaint) && words[at].starts_with(complaint))
            && (words[at] != "only" || of_a_figure(&words[at + 1..]))
            // `I took these while it ran`.
            && !(words[at] == "took" && words.get(at + 1).is_some_and(|next| TAKEN.contains(&next.as_str())))
            // A question, or a note: `how long the disks take`.
            && !(words[at] == "long" && before.last().is_some_and(|word| word == "how"))
            && !(words[at] == "takes" && asks_how_long(&words[..at]))
            // `every six hours`, `in working hours`, `should it run slower?`.
            && !((words[at] == "hours" || words[at] == "minutes") && before.iter().any(|word| OF_A_PLAN.contains(&word.as_str())))
            && !before.windows(2).any(|two| two == ["should", "it"])
            // A counter of MySQL: `Slow queries: 12`.
            && !(words[at] == "slow" && words.get(at + 1).is_some_and(|next| next == "queries") && of_a_figure(&words[at + 2..]))
            && !before.iter().any(is_denial)
            // `0 failed`, but `it drops to 0 and hangs`.
            && before.last().is_none_or(|word| word != "0")
    })
}

fn is_denial(word: &String) -> bool {
    DENIALS.contains(&word.as_str()) || word == "t"
}

/// `how long the replication takes`, `how long it takes`.
fn asks_how_long(before: &[String]) -> bool {
    const NEAR: usize = 6;
    before[before.len().saturating_sub(NEAR)..].windows(2).any(|two| two == ["how", "long"])
}

/// `only 60 MB/s`, not `only this dataset`.
fn of_a_figure(behind: &[String]) -> bool {
    behind.iter().take(2).any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a text has sentences, and none that complains.
pub fn describes_only(said: &str) -> bool {
    let spoken: String = prose(said).lines().filter(|line| !is_log(line)).collect::<Vec<_>>().join("\n");
    words(&spoken).len() >= SENTENCE && !complains(said)
}

/// What the kernel logged: `[Fri Nov  8 14:20:05 2019] sd 0:0:11:0: Power-on or device reset occurred`, `[12345.678901] …`.
fn is_log(line: &str) -> bool {
    const DIGITS: usize = 6;
    let stamp = line.trim_start().strip_prefix('[').and_then(|l| l.split_once("] "));
    stamp.is_some_and(|(stamp, _)| stamp.bytes().filter(u8::is_ascii_digit).count() >= DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_satisfied_says_so_and_complains_of_nothing() {
        assert!(is_content("Routine check: the scrub took eleven hours, as expected"));
        assert!(is_content("CPU is at 70 % because of zstd, which is wanted; throughput is above plan"));
        assert!(!is_content("Routine check: the scrub is much slower than expected"));
        assert!(!is_content("zstd takes 70 % of the CPU"));
        assert!(!is_content("Writes do not scale as expected, it took hours"));
        assert!(!is_content("Everything is far from fine; less than as planned"));
        assert!(is_content("The weekly trim takes an hour, and nobody complains"));
        assert!(is_content("It is busy while the dumps take 40 minutes, which is what I expected"));
        assert!(is_content("sync=always on an Optane log copes well"));
        assert!(!is_content("zfs list takes three hours; tell me whether this is normal"));
        assert!(!is_content("It works nicely on ext4, on ZFS it takes hours"));
        assert!(!is_content("It takes hours, twice what I expected"));
        assert!(is_content("zstd uses 70 % of the CPU, as it was planned"));
        assert!(!is_content("The migration was planned; now zstd takes 70 % of the CPU"));
    }

    #[test]
    fn what_the_kernel_logs_describes_no_host() {
        assert!(describes_only("Output of the storage server while five suites play"));
        assert!(!describes_only("[Fri Nov  8 14:20:05 2019] sd 0:0:11:0: Power-on or device reset occurred"));
    }

    #[test]
    fn a_complaint_is_one_unless_it_is_denied() {
        for text in [
            "zfs list is very slow here",
            "It hangs, and no, the disks are fine",
            "Reads take ages",
            "It writes only at 60 MB/s",
            "Throughput goes to 0 and the host hangs",
            "snapshots took 40 minutes",
            "Commits go from 2-3 ms to 300-900 ms at night",
            "Sequential writes went down from 700 MB/s to about 90 MB/s",
            "Everything that writes to the pool stands still",
            "We have slow queries since the move",
        ] {
            assert!(complains(text), "{text}");
        }
        for text in [
            "Routine check before the upgrade, nothing is wrong, users are happy",
            "No problems seen; it isn't slow",
            "I took these while it was running, for the documentation",
            "The DDT fits in RAM several times over.",
            "The host was moved from rack 3 to rack 9, and went up from there",
            "Threads: 88 Questions: 810228841 Slow queries: 12 Opens: 4102",
            "The old pool is no longer in use",
            "The rsync runs every six hours and ends by itself",
            "For the wiki page on how long the replication takes",
            "Is the load in the trim column fine like this, or should it run slower?",
            "7 tasks OK, 0 warnings, 0 failed; only one dataset has dedup",
            "",
        ] {
            assert!(!complains(text), "{text}");
        }
    }
}
