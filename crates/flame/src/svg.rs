//! A static SVG flame graph: opens anywhere, names in tooltips; where scripts run, it zooms and searches.
//!
//! Invariant: nothing is lost. Neighbours narrower than a pixel are one box as wide as all of them, which tells how
//! many they are; readers of drawings take it for part of what carries it.

use crate::palette::stage_colour;
use crate::tree::{FlameTree, Node, THREAD};
use std::fmt::Write;
use zwhy_profile::grouped;

/// Zoom and search; it sets names as text alone.
const SCRIPT: &str = include_str!("svg.js");

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
    /// Neighbours narrower than this many pixels are drawn as one, and counted.
    pub min_width: f64,
    /// Bytes; where a drawing would be larger, wider boxes are drawn as one, too.
    pub max_bytes: usize,
}

impl Default for SvgOptions {
    fn default() -> Self {
        SvgOptions { title: "CPU".to_owned(), width: 1200, min_width: 1.0, max_bytes: 290_000 }
    }
}

/// Draws a tree. Of two sides the width is the mean of both shares and the colour says which way
/// a box changed: blue less, orange more.
pub fn svg(tree: &FlameTree, options: &SvgOptions) -> String {
    let nodes = tree.nodes();
    let mut narrow = options.min_width;
    loop {
        let picture = drawing(tree, &nodes, options, narrow);
        // A drawing of boxes of a twentieth of its width is as small as it gets.
        if picture.len() <= options.max_bytes || narrow > f64::from(options.width) / 20.0 {
            return picture;
        }
        narrow = (narrow * 1.5).max(0.5);
    }
}

fn drawing(tree: &FlameTree, nodes: &[Node], options: &SvgOptions, narrow: f64) -> String {
    let placed = place(tree, nodes, options, narrow);
    let depth = placed.iter().map(|p| nodes[p.node].level).max().unwrap_or(0);
    let height = TOP + f64::from(depth + 1) * ROW + MARGIN;
    let width = f64::from(options.width);
    let mut out = String::new();
    // Readers take the lowest boxes for frames unless they are told.
    let by_thread = nodes.iter().any(|n| n.level == 1 && tree.label_text(n.label).1 == THREAD);
    let roots = if by_thread { " data-by=\"zwhy\" data-roots=\"threads\"" } else { " data-by=\"zwhy\"" };
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:fg=\"http://github.com/jonhoo/inferno\"{roots} viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"ui-monospace,DejaVu Sans Mono,monospace\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{MARGIN}\" y=\"20\" font-size=\"15\" fill=\"#111\">{}</text>\n\
         <text x=\"{MARGIN}\" y=\"37\" fill=\"#555\">{}</text>\n\
         <text id=\"said\" x=\"{}\" y=\"20\" text-anchor=\"end\" fill=\"#111\"/>\
         <text id=\"search\" x=\"{}\" y=\"20\" text-anchor=\"end\" fill=\"#0b5cad\" style=\"display:none\">Search</text>",
        escape(&options.title),
        escape(&subtitle(tree, nodes, &placed, narrow)),
        width - MARGIN - 70.0,
        width - MARGIN,
    );
    let stages = ranked_stages(tree, nodes);
    if !tree.is_diff() {
        legend(&mut out, &stages, nodes[0].value[0]);
    }
    for p in &placed {
        match p.more {
            0 => draw(&mut out, tree, nodes, p, height),
            _ => draw_group(&mut out, tree, nodes, p, height),
        }
    }
    let _ = writeln!(out, "<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>");
    out
}

fn subtitle(tree: &FlameTree, nodes: &[Node], placed: &[Placed], narrow: f64) -> String {
    let [a, b] = nodes[0].value;
    let unit = tree.unit();
    let samples = match tree.is_diff() {
        true => format!("{} → {}", unit.words(a), unit.words(b)),
        false => unit.words(a),
    };
    let colour = if tree.is_diff() { "blue less, orange more" } else { "coloured by stage" };
    let boxes: usize = placed.iter().map(|p| p.more).sum();
    let groups = placed.iter().filter(|p| p.more > 0).count();
    match boxes {
        0 => format!("{samples}, {colour}"),
        n => format!(
            "{samples}, {colour}; {} boxes (narrower than {narrow:.1} px, or standing on such) are drawn as {}",
            grouped(n as u64),
            grouped(groups as u64)
        ),
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

/// A box, or neighbours that are drawn as one.
struct Placed {
    /// The first of them.
    node: usize,
    /// Amount of side A left of it, for readers that want the place exactly.
    from: u64,
    x: f64,
    width: f64,
    /// Boxes that are drawn as this one, with all above them; 0 for a box of its own.
    more: usize,
    /// What they hold, of both sides.
    value: [u64; 2],
}

/// Share of a node: of side A, or the mean of both sides.
fn share(node: &Node, root: &Node, diff: bool) -> f64 {
    let of = |side: usize| node.value[side] as f64 / (root.value[side].max(1)) as f64;
    if diff { (of(0) + of(1)) / 2.0 } else { of(0) }
}

fn place(tree: &FlameTree, nodes: &[Node], options: &SvgOptions, narrow: f64) -> Vec<Placed> {
    let inner = f64::from(options.width) - 2.0 * MARGIN;
    let mut placed: Vec<Placed> = Vec::new();
    // cursor[level] is where the next box of that level starts.
    let mut cursor = vec![(MARGIN, 0)];
    let mut i = 0;
    while let Some(node) = nodes.get(i) {
        let level = node.level as usize;
        let width = share(node, &nodes[0], tree.is_diff()) * inner;
        cursor.truncate(level + 1);
        let (x, from) = cursor[level];
        cursor[level] = (x + width, from + node.value[0]);
        cursor.push((x, from));
        if width >= narrow || level == 0 {
            placed.push(Placed { node: i, from, x, width, more: 0, value: node.value });
            i += 1;
            continue;
        }
        let end =
            nodes[i + 1..].iter().position(|n| n.level <= node.level).map_or(nodes.len(), |n| i + 1 + n);
        match placed.last_mut() {
            // The one before stands beside it: nothing was drawn in between.
            Some(last)
                if last.more > 0
                    && nodes[last.node].level == node.level
                    && last.x + last.width > x - 1e-6 =>
            {
                last.width += width;
                last.more += end - i;
                last.value = [last.value[0] + node.value[0], last.value[1] + node.value[1]];
            }
            _ => placed.push(Placed { node: i, from, x, width, more: end - i, value: node.value }),
        }
        i = end;
    }
    placed
}

/// Neighbours as one box: no rectangle, as readers take those for boxes of one name.
fn draw_group(out: &mut String, tree: &FlameTree, nodes: &[Node], p: &Placed, height: f64) {
    let node = &nodes[p.node];
    let y = height - MARGIN - f64::from(node.level + 1) * ROW;
    let stage = tree.stages().get(usize::from(node.stage)).map_or("", String::as_str);
    let fill = if tree.is_diff() { diff_colour(p.value, &nodes[0]) } else { stage_colour(stage).to_owned() };
    let boxes = if p.more == 1 {
        "1 narrow box".to_owned()
    } else {
        format!("{} narrow boxes", grouped(p.more as u64))
    };
    let _ = writeln!(
        out,
        "<path class=\"m\" d=\"M{:.2} {y:.1}h{:.2}v16h-{:.2}z\" fill=\"{fill}\" opacity=\".55\" data-more=\"{boxes}: {}\"/>",
        p.x,
        p.width,
        p.width,
        escape(&amounts(tree, p.value, &nodes[0])),
    );
}

fn draw(out: &mut String, tree: &FlameTree, nodes: &[Node], p: &Placed, height: f64) {
    let node = &nodes[p.node];
    let (name, _) = tree.label_text(node.label);
    let y = height - MARGIN - f64::from(node.level + 1) * ROW;
    let stage = tree.stages().get(usize::from(node.stage)).map_or("", String::as_str);
    let fill =
        if tree.is_diff() { diff_colour(node.value, &nodes[0]) } else { stage_colour(stage).to_owned() };
    let exact = match tree.is_diff() {
        true => String::new(),
        false => format!(" fg:x=\"{}\" fg:w=\"{}\"", p.from, node.value[0]),
    };
    let _ = write!(
        out,
        "<g class=\"b\"><title>{}</title><rect x=\"{:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{}\"{exact} fill=\"{fill}\"/>",
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
    format!("{name} ({})", amounts(tree, node.value, root))
}

/// `1,234 samples, 5.67%`, of both sides in a comparison.
fn amounts(tree: &FlameTree, value: [u64; 2], root: &Node) -> String {
    let side = |side: usize| {
        let percent = 100.0 * value[side] as f64 / root.value[side].max(1) as f64;
        format!("{} {}, {percent:.2}%", grouped(value[side]), tree.unit().name())
    };
    if tree.is_diff() { format!("{} → {}", side(0), side(1)) } else { side(0) }
}

fn diff_colour(value: [u64; 2], root: &Node) -> String {
    let share = |side: usize| value[side] as f64 / root.value[side].max(1) as f64;
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
        assert_eq!(picture.matches("<script").count(), 1, "its own");
        assert!(!picture.contains('\u{1b}') && !picture.contains('\u{202e}'));
        assert!(picture.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn narrow_neighbours_are_one_box_with_their_share() {
        let mut names = vec![("big".to_owned(), 900_000)];
        names.extend((0..1000).map(|i| (format!("small_{i}"), 100)));
        let names: Vec<(&str, u32)> = names.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        let picture = svg(&tree(&names), &SvgOptions::default());
        assert!(
            picture.contains("1,000 boxes (narrower than 1.0 px, or standing on such) are drawn as 1<"),
            "{picture}"
        );
        assert!(picture.contains("data-more=\"1,000 narrow boxes: 100,000 samples, 10.00%\""), "{picture}");
        assert!(picture.contains("<title>big (900,000 samples, 90.00%)</title>"));
    }

    #[test]
    fn thirty_thousand_stacks_are_a_small_file_with_all_samples() {
        let mut p = Profile::new();
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..30_000 {
            let names: Vec<String> = (0..8 + next(30))
                .map(|depth| format!("function_{}_{depth}", next(1 + depth.min(4))))
                .collect();
            let frames: Vec<_> = names.iter().map(|name| p.frame(name, "zfs", FrameKind::Kernel)).collect();
            let (stack, thread) = (p.stack(&frames), p.thread(1, 1, "t"));
            p.samples.push_counted(thread, stack, Event::Cpu, 1 + next(3) as u32);
        }
        let mut tree = FlameTree::new(Event::Cpu, &[]);
        tree.add(&p, None, Roots::Frames, Side::A);
        let picture = svg(&tree, &SvgOptions::default());
        assert!(picture.len() < 300_000, "{}", picture.len());
        assert!(picture.len() > 30_000, "{}", picture.len());
        // Boxes of their own and those drawn as one: what stands directly above the root is all of it.
        let nodes = tree.nodes();
        let placed = place(&tree, &nodes, &SvgOptions::default(), 1.0);
        let first: u64 = placed.iter().filter(|p| nodes[p.node].level == 1).map(|p| p.value[0]).sum();
        assert_eq!(first, nodes[0].value[0]);
    }

    #[test]
    fn siblings_touch_and_fill_their_parent() {
        let picture = svg(&tree(&[("a", 1), ("b", 3)]), &SvgOptions { width: 1020, ..SvgOptions::default() });
        for rect in ["x=\"10.00\" y", "width=\"250.00\"", "x=\"260.00\"", "width=\"750.00\""] {
            assert!(picture.contains(rect), "{rect} in {picture}");
        }
    }
}
