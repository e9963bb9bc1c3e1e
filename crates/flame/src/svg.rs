//! A static SVG flame graph: opens anywhere, names in tooltips, no script.

use crate::palette::stage_colour;
use crate::tree::{FlameTree, Node, THREAD};
use std::fmt::Write;
use zwhy_profile::grouped;

const ROW: f64 = 17.0;
const MARGIN: f64 = 10.0;
const TOP: f64 = 64.0;
/// Stages named in the legend, the largest first.
const LEGEND: usize = 8;
/// Advance of one character of the 12 px monospace text.
const CHAR: f64 = 7.25;

/// How the picture is drawn.
#[derive(Clone, Debug)]
pub struct SvgOptions {
    pub title: String,
    /// Pixels.
    pub width: u32,
    /// Boxes narrower than this many pixels are left out and counted in the subtitle.
    pub min_width: f64,
}

impl Default for SvgOptions {
    fn default() -> Self {
        SvgOptions { title: "CPU".to_owned(), width: 1200, min_width: 0.1 }
    }
}

/// Draws a tree. Of two sides the width is the mean of both shares and the colour says which way
/// a box changed: blue less, orange more.
pub fn svg(tree: &FlameTree, options: &SvgOptions) -> String {
    let nodes = tree.nodes();
    let placed = place(tree, &nodes, options);
    let depth = placed.iter().map(|p| nodes[p.node].level).max().unwrap_or(0);
    let height = TOP + f64::from(depth + 1) * ROW + MARGIN;
    let width = f64::from(options.width);
    let cut = nodes.len() - placed.len();
    let mut out = String::new();
    // Readers take the lowest boxes for frames unless they are told.
    let by_thread = nodes.iter().any(|n| n.level == 1 && tree.label_text(n.label).1 == THREAD);
    let roots = if by_thread { " data-by=\"zwhy\" data-roots=\"threads\"" } else { " data-by=\"zwhy\"" };
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:fg=\"http://github.com/jonhoo/inferno\"{roots} viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"ui-monospace,DejaVu Sans Mono,monospace\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fbfaf8\"/>\n\
         <text x=\"{MARGIN}\" y=\"20\" font-size=\"15\" fill=\"#111\">{}</text>\n\
         <text x=\"{MARGIN}\" y=\"37\" fill=\"#555\">{}</text>",
        escape(&options.title),
        escape(&subtitle(tree, &nodes, cut, options)),
    );
    let stages = ranked_stages(tree, &nodes);
    if !tree.is_diff() {
        legend(&mut out, &stages, nodes[0].value[0]);
    }
    for p in &placed {
        draw(&mut out, tree, &nodes, p, height);
    }
    out.push_str("</svg>\n");
    out
}

fn subtitle(tree: &FlameTree, nodes: &[Node], cut: usize, options: &SvgOptions) -> String {
    let [a, b] = nodes[0].value;
    let unit = tree.unit();
    let samples = match tree.is_diff() {
        true => format!("{} → {}", unit.words(a), unit.words(b)),
        false => unit.words(a),
    };
    let colour = if tree.is_diff() { "blue less, orange more" } else { "coloured by stage" };
    match cut {
        0 => format!("{samples}, {colour}"),
        n => format!("{samples}, {colour}; {n} boxes narrower than {} px not drawn", options.min_width),
    }
}

/// Stages by samples of their own, the largest first.
fn ranked_stages<'a>(tree: &'a FlameTree, nodes: &[Node]) -> Vec<(&'a str, u64)> {
    let mut own = vec![0u64; tree.stages().len()];
    for node in nodes {
        if let Some(sum) = own.get_mut(usize::from(node.stage)) {
            *sum += node.own[0];
        }
    }
    let mut order: Vec<(&str, u64)> = tree.stages().iter().map(String::as_str).zip(own).collect();
    order.retain(|(name, own)| !name.is_empty() && *own > 0);
    order.sort_by(|x, y| (y.1, x.0).cmp(&(x.1, y.0)));
    order
}

/// Swatches of the largest stages.
fn legend(out: &mut String, stages: &[(&str, u64)], total: u64) {
    let mut x = MARGIN;
    for (name, samples) in stages.iter().take(LEGEND) {
        let text = format!("{name} {:.1}%", 100.0 * *samples as f64 / total.max(1) as f64);
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"46\" width=\"11\" height=\"11\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"56\" fill=\"#333\">{}</text>",
            stage_colour(name),
            x + 15.0,
            escape(&text)
        );
        x += 15.0 + (text.chars().count() as f64 + 2.0) * CHAR;
    }
}

struct Placed {
    node: usize,
    /// Amount of side A left of it, for readers that want the place exactly.
    from: u64,
    x: f64,
    width: f64,
}

/// Share of a node: of side A, or the mean of both sides.
fn share(node: &Node, root: &Node, diff: bool) -> f64 {
    let of = |side: usize| node.value[side] as f64 / (root.value[side].max(1)) as f64;
    if diff { (of(0) + of(1)) / 2.0 } else { of(0) }
}

fn place(tree: &FlameTree, nodes: &[Node], options: &SvgOptions) -> Vec<Placed> {
    let inner = f64::from(options.width) - 2.0 * MARGIN;
    let mut placed = Vec::new();
    // cursor[level] is where the next box of that level starts.
    let mut cursor = vec![(MARGIN, 0)];
    for (i, node) in nodes.iter().enumerate() {
        let level = node.level as usize;
        let width = share(node, &nodes[0], tree.is_diff()) * inner;
        cursor.truncate(level + 1);
        let (x, from) = cursor[level];
        cursor[level] = (x + width, from + node.value[0]);
        cursor.push((x, from));
        if width >= options.min_width || level == 0 {
            placed.push(Placed { node: i, from, x, width });
        }
    }
    placed
}

fn draw(out: &mut String, tree: &FlameTree, nodes: &[Node], p: &Placed, height: f64) {
    let node = &nodes[p.node];
    let (name, _) = tree.label_text(node.label);
    let y = height - MARGIN - f64::from(node.level + 1) * ROW;
    let stage = tree.stages().get(usize::from(node.stage)).map_or("", String::as_str);
    let fill = if tree.is_diff() { diff_colour(node, &nodes[0]) } else { stage_colour(stage).to_owned() };
    let exact = match tree.is_diff() {
        true => String::new(),
        false => format!(" fg:x=\"{}\" fg:w=\"{}\"", p.from, node.value[0]),
    };
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{}\"{exact} rx=\"1\" fill=\"{fill}\"/>",
        escape(&tooltip(tree, node, &nodes[0], name)),
        p.x,
        p.width,
        ROW - 1.0,
    );
    let room = ((p.width - 6.0) / CHAR) as usize;
    if room >= 3 {
        let _ = write!(
            out,
            "<text x=\"{:.2}\" y=\"{:.1}\" fill=\"#111\">{}</text>",
            p.x + 3.0,
            y + ROW - 5.0,
            escape(&shorten(name, room))
        );
    }
    out.push_str("</g>\n");
}

/// `name (1,234 samples, 5.67%)`: the form that other flame graph tools write and read, nothing more.
fn tooltip(tree: &FlameTree, node: &Node, root: &Node, name: &str) -> String {
    let side = |side: usize| {
        let percent = 100.0 * node.value[side] as f64 / root.value[side].max(1) as f64;
        format!("{} {}, {percent:.2}%", grouped(node.value[side]), tree.unit().name())
    };
    if tree.is_diff() {
        format!("{name} ({} → {})", side(0), side(1))
    } else {
        format!("{name} ({})", side(0))
    }
}

fn diff_colour(node: &Node, root: &Node) -> String {
    let share = |side: usize| node.value[side] as f64 / root.value[side].max(1) as f64;
    let (a, b) = (share(0), share(1));
    let change = if a + b > 0.0 { (b - a) / (a + b) } else { 0.0 };
    let blend = |from: f64, to: f64| (from + (to - from) * change.abs()) as u8;
    let target = if change < 0.0 { [96.0, 160.0, 230.0] } else { [240.0, 150.0, 60.0] };
    let [r, g, b] = target.map(|t| blend(228.0, t));
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn shorten(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    name.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// XML text: markup escaped, characters that XML forbids or that reorder text shown as U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                out.push('\u{fffd}')
            }
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Roots, Side};
    use zwhy_profile::{Event, FrameKind, Profile};

    fn tree(names: &[(&str, u32)]) -> FlameTree {
        let mut p = Profile::new();
        for (name, count) in names {
            let frame = p.frame(name, "zfs", FrameKind::Kernel);
            let stack = p.stack(&[frame]);
            let thread = p.thread(1, 1, "t");
            p.samples.push_counted(thread, stack, Event::Cpu, *count);
        }
        let mut tree = FlameTree::new(Event::Cpu, &[]);
        tree.add(&p, None, Roots::Frames, Side::A);
        tree
    }

    #[test]
    fn hostile_names_are_escaped() {
        let picture =
            svg(&tree(&[("<script>alert(1)</script>\u{1b}[2J\u{202e}", 5)]), &SvgOptions::default());
        assert!(!picture.contains("<script") && !picture.contains('\u{1b}') && !picture.contains('\u{202e}'));
        assert!(picture.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn boxes_left_out_are_counted() {
        let picture = svg(&tree(&[("big", 1_000_000), ("small", 1)]), &SvgOptions::default());
        assert!(picture.contains("1 boxes narrower than 0.1 px not drawn"), "{picture}");
        assert!(picture.contains("<title>big (1,000,000 samples, 100.00%)</title>"));
    }

    #[test]
    fn siblings_touch_and_fill_their_parent() {
        let picture = svg(&tree(&[("a", 1), ("b", 3)]), &SvgOptions { width: 1020, ..SvgOptions::default() });
        for rect in ["x=\"10.00\" y", "width=\"250.00\"", "x=\"260.00\"", "width=\"750.00\""] {
            assert!(picture.contains(rect), "{rect} in {picture}");
        }
    }
}
