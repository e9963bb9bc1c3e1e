//! The boxes of a flame graph drawing: name, count and place, in whatever order they were drawn.

use crate::text::numbers;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// One box.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameBox {
    pub name: String,
    pub count: u64,
    pub place: Place,
    /// Upper edge; the level is told by it.
    pub y: f64,
}

/// Horizontal extent of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// In samples, exact: inferno's `fg:x` and `fg:w`.
    Exact { x: u64, width: u64 },
    /// In pixels or per cent, rounded by the program that drew it.
    Drawn { x: f64, width: f64 },
}

#[derive(Debug, Default)]
pub struct Found {
    pub boxes: Vec<FlameBox>,
    /// Titles that end in no count.
    pub untitled: u64,
    pub differential: bool,
    unit: Option<String>,
    /// The first text that stands in the drawing, which is its heading.
    pub heading: String,
    pub error: Option<String>,
    pub lost_bytes: u64,
}

impl Found {
    /// What is counted, if not samples.
    pub fn other_unit(&self) -> Option<&str> {
        self.unit.as_deref().filter(|u| !matches!(*u, "samples" | "sample" | ""))
    }
}

/// A box that is being read: its title comes first, then its rectangle, then its label.
#[derive(Default)]
struct Open {
    title: String,
    /// The title is what the mouse shows over the group; a title element that follows is the same text.
    of_mouse: bool,
    rect: Option<Rect>,
    label_x: Option<f64>,
}

struct Rect {
    x: f64,
    y: f64,
    width: f64,
    exact: Option<(u64, u64)>,
}

/// Reads all boxes up to the end or the first break of the XML.
pub fn read(text: &str) -> Found {
    let mut found = Found::default();
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let (mut open, mut in_title, mut in_text) = (Open::default(), false, false);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.local_name().as_ref() == "rect" => {
                // Drawings of 2011 to 2013 have no titles: a rectangle says itself what it is.
                if let Some(title) = mouse_title(&tag) {
                    found.take(std::mem::take(&mut open));
                    open.title = title;
                }
                if open.rect.is_none() {
                    open.rect = rect(&tag);
                }
            }
            Ok(Event::Start(tag)) if tag.local_name().as_ref() == "g" => {
                if let Some(title) = mouse_title(&tag) {
                    found.take(std::mem::take(&mut open));
                    open = Open { title, of_mouse: true, ..Open::default() };
                }
            }
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.local_name().as_ref() == "text" => {
                in_text = found.heading.is_empty();
                open.label_x = open.label_x.or_else(|| attribute(&tag, "x").and_then(|x| pixels(&x)));
            }
            Ok(Event::Start(tag)) if tag.local_name().as_ref() == "title" => {
                if open.of_mouse && open.rect.is_none() {
                    open = Open::default();
                }
                found.take(std::mem::take(&mut open));
                in_title = true;
            }
            Ok(Event::End(tag)) if tag.local_name().as_ref() == "title" => in_title = false,
            Ok(Event::End(tag)) if tag.local_name().as_ref() == "text" => in_text = false,
            Ok(Event::Text(part)) if in_text => found.heading.push_str(part.xml10_content().trim()),
            Ok(Event::Text(part)) if in_title => open.title.push_str(&part.xml10_content()),
            Ok(Event::CData(part)) if in_title => open.title.push_str(&part.xml10_content()),
            Ok(Event::GeneralRef(entity)) if in_title => {
                push_entity(&mut open.title, &entity.xml10_content());
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                found.error = Some(error.to_string());
                found.lost_bytes = text.len() as u64 - reader.error_position().min(text.len() as u64);
                break;
            }
        }
    }
    let whole = found.error.is_none() && text.trim_end().ends_with("</svg>");
    if !whole && found.error.is_none() {
        found.error = Some("it does not end in </svg>".to_owned());
    }
    found.take(open);
    found
}

impl Found {
    fn take(&mut self, open: Open) {
        if open.title.is_empty() {
            return; // shapes that are no box: background, buttons
        }
        // inferno lets its user replace titles; the samples stand beside.
        let beside = || {
            let (_, count) = open.rect.as_ref()?.exact?;
            Some(Title { name: &open.title, count, unit: "samples", differential: false })
        };
        let (Some(title), Some(rect)) = (Title::parse(&open.title).or_else(beside), open.rect) else {
            self.untitled += 1;
            return;
        };
        self.differential |= title.differential;
        if self.unit.is_none() {
            self.unit = Some(title.unit.to_owned());
        }
        let place = match rect.exact {
            Some((x, width)) => Place::Exact { x, width },
            None => Place::Drawn { x: precise_x(rect.x, open.label_x), width: rect.width },
        };
        self.boxes.push(FlameBox { name: title.name.to_owned(), count: title.count, place, y: rect.y });
    }
}

/// `s('name (12 samples, 3.45%)')`, which old drawings call when the mouse is over a box.
fn mouse_title(tag: &BytesStart) -> Option<String> {
    let call = attribute(tag, "onmouseover")?;
    let inside = call.trim().strip_prefix("s('")?.rsplit_once("')")?.0;
    let mut title = String::new();
    let mut rest = inside.replace("\\'", "'");
    while let Some((before, after)) = rest.split_once('&') {
        title.push_str(before);
        match after.split_once(';').filter(|(entity, _)| entity.len() <= 8) {
            Some((entity, after)) => {
                push_entity(&mut title, entity);
                rest = after.to_owned();
            }
            None => {
                title.push('&');
                rest = after.to_owned();
            }
        }
    }
    title.push_str(&rest);
    Some(title)
}

/// flamegraph.pl rounds a rectangle to 0.1 and its label, three pixels to the right, to 0.01.
fn precise_x(x: f64, label_x: Option<f64>) -> f64 {
    match label_x {
        Some(label) if (label - 3.0 - x).abs() < 0.06 => label - 3.0,
        _ => x,
    }
}

fn rect(tag: &BytesStart) -> Option<Rect> {
    let number = |name| attribute(tag, name).and_then(|v| pixels(&v));
    let whole = |name| attribute(tag, name).and_then(|v| v.parse().ok());
    Some(Rect {
        x: number("x")?,
        y: number("y")?,
        width: number("width")?,
        exact: whole("fg:x").zip(whole("fg:w")),
    })
}

fn attribute(tag: &BytesStart, name: &str) -> Option<String> {
    tag.attributes()
        .with_checks(false)
        .flatten()
        .find(|a| a.key.as_ref() == name)
        .map(|a| a.value.into_owned())
}

/// `12.5`, `12.5%`, `12.5px`; all lengths of one drawing have one unit.
fn pixels(text: &str) -> Option<f64> {
    let text = text.trim();
    let text = text.strip_suffix('%').or_else(|| text.strip_suffix("px")).unwrap_or(text);
    text.parse::<f64>().ok().filter(|v| v.is_finite())
}

fn push_entity(title: &mut String, entity: &str) {
    let code = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let char = match entity {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match entity.strip_prefix("#x").or_else(|| entity.strip_prefix("#X")) {
            Some(hex) => code(hex, 16),
            None => entity.strip_prefix('#').and_then(|digits| code(digits, 10)),
        },
    };
    match char {
        Some(c) => title.push(c),
        None => {
            // An entity that XML does not have stands for itself.
            title.push('&');
            title.push_str(entity);
            title.push(';');
        }
    }
}

/// `name (1,234 samples, 5.67%)`, of a differential `…; +0.12%)`.
struct Title<'a> {
    name: &'a str,
    count: u64,
    unit: &'a str,
    differential: bool,
}

impl<'a> Title<'a> {
    fn parse(title: &'a str) -> Option<Title<'a>> {
        let inside = title.trim_end().strip_suffix(')')?;
        let open = inside.rfind(" (")?;
        let (name, inside) = (&inside[..open], &inside[open + 2..]);
        let (amount, differential) = match inside.rsplit_once(", ") {
            Some((amount, share)) => {
                let (share, delta) = match share.split_once("; ") {
                    Some((share, delta)) => (share, Some(delta)),
                    None => (share, None),
                };
                share.strip_suffix('%')?;
                (amount, delta.is_some())
            }
            None => (inside, false),
        };
        // The first differentials: `(-1 sample weight, 28 samples, 9.15%)`.
        let (amount, differential) = match amount.rsplit_once(", ") {
            Some((weight, amount)) if weight.ends_with(" sample weight") => (amount, true),
            _ => (amount, differential),
        };
        let digits_end = amount.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(amount.len());
        let count = numbers::count(&amount[..digits_end])?;
        Some(Title { name, count, unit: amount[digits_end..].trim(), differential })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_both_programs() {
        for (title, name, count, unit) in [
            ("zfs`dmu_read (1,234 samples, 5.67%)", "zfs`dmu_read", 1234, "samples"),
            ("std::f(int (*)(int)) (2 samples, 0.10%; -0.33%)", "std::f(int (*)(int))", 2, "samples"),
            ("all (4,751,716 samples, 100%)", "all", 4_751_716, "samples"),
            ("f (7 bytes allocated, 1%)", "f", 7, "bytes allocated"),
            ("f (7 samples)", "f", 7, "samples"),
            ("mac`rx (-8 sample weight, 1,028 samples, 9.15%)", "mac`rx", 1028, "samples"),
            ("- (1,094 ms, 0.19%)", "-", 1094, "ms"),
            (" (7 samples, 1%)", "", 7, "samples"),
        ] {
            let t = Title::parse(title).expect(title);
            assert_eq!((t.name, t.count, t.unit), (name, count, unit));
        }
        for title in ["Reset Zoom", "f (x)", "f (1 samples, 5)", "(", "f ()"] {
            assert!(Title::parse(title).is_none(), "{title}");
        }
    }

    #[test]
    fn drawings_without_titles_say_it_under_the_mouse() {
        let svg = r#"<svg><text x="600" y="24">Off-CPU Time</text>
            <rect x="0" y="0" width="9" height="9" fill="url(#background)"/>
            <rect x="10.0" y="17" width="2" onmouseover="s('ip`f(\'a\', b&lt;c) (3 ms, 1%)')" onmouseout="c()"/>
            <text x="13" y="20">..</text>
            <g class="func_g" onmouseover="s('g (4 ms, 1%)')"><rect x="12.0" y="17" width="3"/></g>
            <g onmouseover="s('h (5 ms, 1%)')"><title>h (5 ms, 1%)</title><rect x="15.0" y="17" width="4"/></g>
            </svg>"#;
        let found = read(svg);
        let boxes: Vec<_> = found.boxes.iter().map(|b| (b.name.as_str(), b.count)).collect();
        assert_eq!(boxes, [("ip`f('a', b<c)", 3), ("g", 4), ("h", 5)]);
        assert_eq!(
            (found.untitled, found.other_unit(), found.heading.as_str()),
            (0, Some("ms"), "Off-CPU Time")
        );
    }

    #[test]
    fn a_title_of_somebodys_own_has_its_samples_beside() {
        let svg = r#"<svg><g><title>my own words</title>
            <rect x="0%" y="1" width="100%" height="15" fg:x="0" fg:w="7"/></g></svg>"#;
        let found = read(svg);
        assert_eq!(
            (found.untitled, found.boxes[0].count, found.boxes[0].name.as_str()),
            (0, 7, "my own words")
        );
    }

    #[test]
    fn entities_and_cdata_are_undone() {
        let svg = r#"<svg><g><title>a&lt;b&gt;&amp;&#39;&nope;<![CDATA[<x>]]> (3 samples, 1%)</title>
            <rect x="1.5" y="17" width="2"/></g></svg>"#;
        let found = read(svg);
        assert_eq!(found.boxes[0].name, "a<b>&'&nope;<x>");
        assert_eq!(found.error, None);
    }
}
