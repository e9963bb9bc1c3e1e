//! Command lines taken apart into simple commands, as far as the remedies use the shell.

/// Simple commands of a line with their words, those in `$(…)` too; quotes are undone.
pub fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    take_apart(line, &mut found);
    found.retain(|words| !words.is_empty());
    found
}

fn take_apart(line: &str, found: &mut Vec<Vec<String>>) {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    let end_word = |word: &mut Option<String>, words: &mut Vec<String>| words.extend(word.take());
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let mut text = String::new();
                while let Some(inner) = chars.next() {
                    if inner == c {
                        break;
                    }
                    if inner == '\\' && c == '"' {
                        text.extend(chars.next());
                    } else {
                        text.push(inner);
                    }
                }
                word.get_or_insert_default().push_str(&text);
            }
            '$' if chars.peek() == Some(&'(') => {
                chars.next();
                let inner = until_closed(&mut chars);
                take_apart(&inner, found);
                word.get_or_insert_default().push_str("{of a command}");
            }
            ' ' | '\t' => end_word(&mut word, &mut words),
            // Of a redirection: `2>&1`.
            '&' if word.as_ref().is_some_and(|w| w.ends_with('>')) => word.get_or_insert_default().push(c),
            '|' | ';' | '&' | '\n' | '(' | ')' => {
                end_word(&mut word, &mut words);
                found.push(std::mem::take(&mut words));
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    end_word(&mut word, &mut words);
    found.push(words);
}

/// What stands up to the bracket that closes an opened one.
fn until_closed(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let (mut depth, mut text) = (1, String::new());
    for c in chars.by_ref() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_lists_and_substitutions_are_taken_apart() {
        let shown =
            |line: &str| simple_commands(line).iter().map(|w| w.join("·")).collect::<Vec<_>>().join(" / ");
        assert_eq!(
            shown("zfs send a@b | zfs receive c && zfs list; df"),
            "zfs·send·a@b / zfs·receive·c / zfs·list / df"
        );
        assert_eq!(
            shown("renice -n 0 -p $(pgrep -x arc_evict)"),
            "pgrep·-x·arc_evict / renice·-n·0·-p·{of a command}"
        );
        assert_eq!(
            shown("awk '$3 == \"zfs\" {print $2}' /proc/mounts"),
            "awk·$3 == \"zfs\" {print $2}·/proc/mounts"
        );
        assert_eq!(shown("(umask 077; dd of=k)"), "umask·077 / dd·of=k");
        assert_eq!(shown("echo 'unclosed"), "echo·unclosed");
        assert_eq!(shown("strace -p 1 2>&1 | head"), "strace·-p·1·2>&1 / head");
    }
}
