//! Command lines after a prompt: they say what the lines below them are.

use crate::blocks::{Block, Line, Sink, Taken, command};
use crate::words::WORDS;

/// One command; later recognisers look at it.
pub struct Command;

impl Block for Command {
    fn of_a_person(&self) -> bool {
        true
    }

    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let line = lines.first()?;
        let typed = command(&line.text).or_else(|| bare(&line.text))?;
        let first = typed.trim_start_matches("sudo ").split_whitespace().next()?;
        let base = first.rsplit('/').next()?.trim_end_matches(".py");
        if !WORDS.commands.has(base) {
            return None;
        }
        let (typed, used) = whole(typed, lines);
        sink.command = Some(typed.clone());
        if super::prose::command_settings(&typed, &lines[..used], sink) {
            return Taken::kept(used);
        }
        let mut taken = Taken::default();
        taken.drop("command line", used);
        Some(taken)
    }
}

/// A command without a prompt, where nothing else begins so: `time zfs list -t snapshot`,
/// `zfs set recordsize=1M tank`, `zpool create -o ashift=12 tank sda`.
fn bare(text: &str) -> Option<&str> {
    let text = text.trim();
    let words: Vec<&str> = text.split_whitespace().take(20).collect();
    let typed = match words[..] {
        ["time", "zfs" | "zpool" | "dd" | "rm" | "ls" | "find" | "cp" | "mkfs.ext4" | "sync", _, ..] => true,
        ["zfs" | "zpool", "set", setting, name] => setting.contains('=') && !name.contains('='),
        ["zfs" | "zpool", "create", option, ..] => option.starts_with('-'),
        _ => false,
    };
    (typed && !text.ends_with(['.', '?', '!', ':', ','])).then_some(text)
}

/// A command with the lines that it goes on over, each ended by a backslash; how many lines it has.
fn whole(typed: &str, lines: &[Line]) -> (String, usize) {
    const MOST: usize = 20;
    let (mut whole, mut used) = (typed.to_owned(), 1);
    while let Some(begun) = whole.strip_suffix('\\').filter(|_| used < MOST) {
        let Some(next) = lines.get(used) else { break };
        whole = format!("{} {}", begun.trim_end(), next.text.trim());
        used += 1;
    }
    (whole, used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::clean_lines;

    #[test]
    fn a_command_needs_no_prompt_where_its_words_are_plain() {
        for typed in [
            "time zfs list -t snapshot >/dev/null",
            "zfs set refquota=1M pool/dataset",
            "zpool create -o ashift=12 tank sda",
            "  zfs create -V 10G tank/vol",
        ] {
            assert_eq!(bare(typed), Some(typed.trim()), "{typed}");
        }
        for prose in [
            "time zfs list -t snapshot takes 20 s.",
            "zfs set this to 1M",
            "zfs set recordsize=1M on tank and try again",
            "zfs create is slow",
            "time is short",
        ] {
            assert_eq!(bare(prose), None, "{prose}");
        }
    }

    #[test]
    fn a_backslash_joins_lines() {
        let lines = clean_lines(b"# fio --name=x \\\n>  --rw=write \\\n> --bs=1M\nfio-3.1");
        let got = whole("fio --name=x \\", &lines);
        assert_eq!(got, ("fio --name=x --rw=write --bs=1M".to_owned(), 3));
    }
}
