//! Call trees as perf draws them: `|--63.36%--arc_prune_task` of --stdio, `- 63.36% arc_prune_task` of the
//! screen, `56.55% a;b;c` of `-g folded`.
//!
//! Invariant: a node holds the chain of frames that have no branch between them; its children are the
//! branches after the last one. Columns decide who belongs to whom.

use super::row::{is_box, percent};

/// Branches inside branches that are followed; perf itself stops at 127 frames.
const MAX_NESTING: usize = 512;

/// Frames without a branch between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// As printed; `None` where perf prints none because it is that of the parent.
    pub pct: Option<f64>,
    pub names: Vec<String>,
    pub children: Vec<Node>,
}

impl Node {
    /// Most of its names, and of what is below, are spelt as functions of a kernel are: no sentence is.
    pub fn is_of_kernel(&self) -> bool {
        let (mut all, mut spelt) = (0, 0);
        self.count(&mut all, &mut spelt);
        all >= 3 && spelt * 3 >= all * 2
    }

    fn count(&self, all: &mut usize, spelt: &mut usize) {
        for name in &self.names {
            *all += 1;
            let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
            *spelt += usize::from(plain && name.contains('_'));
        }
        self.children.iter().for_each(|child| child.count(all, spelt));
    }
}

/// What a line of a tree says.
#[derive(Debug, PartialEq)]
pub enum TreeLine<'a> {
    /// Only bars.
    Filler,
    /// A new branch at a column.
    Branch { column: usize, pct: Option<f64>, name: &'a str },
    /// The next frame of the chain at hand, at a column.
    Next { column: usize, name: &'a str },
    /// A whole chain.
    Chain { pct: f64, names: &'a str },
}

/// Reads one line; `None` when it cannot be of a tree.
pub fn line(text: &str) -> Option<TreeLine<'_>> {
    if let Some((pct, rest)) = percent(text)
        && !text.starts_with(' ')
    {
        let names = rest.trim();
        // A chain of one frame is told from prose by the two decimals that perf prints.
        let exact = text.split('%').next().is_some_and(|n| n.len() >= 4 && n.as_bytes()[n.len() - 3] == b'.');
        if names.contains(';') || (exact && is_symbol(names)) {
            return Some(TreeLine::Chain { pct, names });
        }
    }
    let bar = |c: char| c.is_whitespace() || c == '|' || c == '`' || is_box(c);
    let body_at = text.find(|c: char| !bar(c)).unwrap_or(text.len());
    // Columns are characters: box glyphs take several bytes.
    let column = text[..body_at].chars().count();
    let body = text[body_at..].trim_end_matches(|c: char| c.is_whitespace() || is_box(c));
    if body.is_empty() {
        return (column > 0).then_some(TreeLine::Filler);
    }
    if column < 2 {
        return None;
    }
    if let Some(rest) = body.strip_prefix("--") {
        // `--63.36%--name`, `--63.36%-- name`, `---name`, `--- name`
        if let Some((pct, rest)) = percent(rest) {
            let name = rest.trim_start_matches('-').trim();
            return (!name.is_empty()).then_some(TreeLine::Branch {
                column: column - 1,
                pct: Some(pct),
                name,
            });
        }
        let name = rest.strip_prefix('-')?.trim();
        return is_symbol(name).then_some(TreeLine::Branch { column: column - 1, pct: None, name });
    }
    let (marked, rest) = match body.strip_prefix("- ").or_else(|| body.strip_prefix("+ ")) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, body),
    };
    if let Some((pct, rest)) = percent(rest) {
        let name = rest.trim();
        if name.is_empty() || is_symbol(name) {
            let column = if marked { column } else { column - 2 };
            return Some(TreeLine::Branch { column, pct: Some(pct), name });
        }
        return None;
    }
    if !is_symbol(rest) {
        return None;
    }
    Some(match marked {
        true => TreeLine::Branch { column, pct: None, name: rest },
        false => TreeLine::Next { column, name: rest },
    })
}

/// A name, not a sentence: blanks only in C++ or Rust names, or before a note of perf.
fn is_symbol(text: &str) -> bool {
    let text = without_notes(text);
    if text.contains(" -> ") || text.contains(" <- ") {
        return text.split(" -> ").flat_map(|part| part.split(" <- ")).all(is_symbol);
    }
    !text.is_empty()
        && text.len() < 4096
        && (!text.contains(' ')
            || text.contains("::")
            || (text.contains('<') && text.contains('>'))
            || text.contains('('))
        && !text.ends_with(['.', ',', ':', ';', '?', '!'])
}

/// A name without `(inlined)` and the source line that `-g srcline` adds.
fn without_notes(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_suffix("(inlined)").map_or(text, str::trim_end);
    // `osq_lock   (dd->dd_lock)`: somebody's own remark.
    let text = match text.find("  (") {
        Some(at) if text.ends_with(')') => text[..at].trim_end(),
        _ => text,
    };
    match text.rsplit_once(' ') {
        Some((name, place))
            if place
                .rsplit_once(':')
                .is_some_and(|(file, line)| file.contains('.') && line.parse::<u32>().is_ok()) =>
        {
            name.trim_end()
        }
        _ => text,
    }
}

/// The frames that one line of a tree has: people put several into one, `mutex_lock -> osq_lock`, in the tree's direction.
fn frames(text: &str) -> Vec<String> {
    let text = without_notes(text);
    let parts = text.split(" -> ").flat_map(|part| part.split(" <- "));
    parts.map(|name| without_notes(name).to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Puts lines together to trees.
#[derive(Debug, Default)]
pub struct Builder {
    done: Vec<Node>,
    /// Open nodes with their columns, outermost first.
    open: Vec<(usize, Node)>,
}

impl Builder {
    /// Takes a line; `false` when it is not of a tree.
    pub fn push(&mut self, text: &str) -> bool {
        let Some(line) = line(text) else { return false };
        if self.open.len() >= MAX_NESTING {
            // No drawing is that deep: its innermost branches become siblings.
            self.close_from(self.open[MAX_NESTING - 1].0);
        }
        match line {
            TreeLine::Filler => {}
            TreeLine::Chain { pct, names } => {
                self.close_from(0);
                let names = names.split(';').map(|n| without_notes(n).to_owned()).collect();
                self.done.push(Node { pct: Some(pct), names, children: Vec::new() });
            }
            TreeLine::Branch { column, pct, name } => {
                self.close_from(column);
                let names = frames(name);
                self.open.push((column, Node { pct, names, children: Vec::new() }));
            }
            TreeLine::Next { column, name } => {
                self.close_from(column);
                match self.open.last_mut() {
                    Some((_, node)) if node.children.is_empty() => node.names.extend(frames(name)),
                    // A chain that goes on after a branch closed: the drawing was cut; it starts again.
                    _ => {
                        let names = frames(name);
                        let column = column.saturating_sub(1);
                        self.close_from(column);
                        self.open.push((column, Node { pct: None, names, children: Vec::new() }));
                    }
                }
            }
        }
        true
    }

    pub fn finish(mut self) -> Vec<Node> {
        self.close_from(0);
        self.done
    }

    /// Closes the open nodes at `column` and right of it.
    fn close_from(&mut self, column: usize) {
        while self.open.last().is_some_and(|(at, _)| *at >= column) {
            let Some((_, node)) = self.open.pop() else { break };
            match self.open.last_mut() {
                Some((_, parent)) => parent.children.push(node),
                None => self.done.push(node),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Vec<Node> {
        let mut builder = Builder::default();
        for line in text.lines() {
            assert!(builder.push(line), "{line}");
        }
        builder.finish()
    }

    fn show(node: &Node) -> String {
        let children: Vec<String> = node.children.iter().map(show).collect();
        let pct = node.pct.map_or(String::new(), |p| format!("{p} "));
        format!("{pct}{}({})", node.names.join(">"), children.join(" "))
    }

    #[test]
    fn stdio_screen_and_flat_trees_are_the_same() {
        let stdio = "            |\n            ---main\n               work\n               |          |\n               |--57.24%--leaf1\n               |          |          \n               |           --0.69%--asm\n               |                     irq\n               |          |\n                --42.07%-- leaf2\n                          x\n";
        assert_eq!(
            tree(stdio).iter().map(show).collect::<Vec<_>>(),
            ["main>work(57.24 leaf1(0.69 asm>irq()) 42.07 leaf2>x())"]
        );
        let screen = "   - main\n        work\n      - 57.24% leaf1\n         - 0.69% asm\n              irq\n      - 42.07% leaf2\n           x\n";
        assert_eq!(
            tree(screen).iter().map(show).collect::<Vec<_>>(),
            ["main>work(57.24 leaf1(0.69 asm>irq()) 42.07 leaf2>x())"]
        );
        let flat = "           56.55%\n                leaf1\n                main\n           1.00%\n                b\n";
        assert_eq!(tree(flat).iter().map(show).collect::<Vec<_>>(), ["56.55 leaf1>main()", "1 b()"]);
        assert_eq!(tree("56.55% a;b;c").iter().map(show).collect::<Vec<_>>(), ["56.55 a>b>c()"]);
        assert_eq!(line("this is a sentence"), None);
        assert_eq!(line("    so is this one"), None);
    }
}
