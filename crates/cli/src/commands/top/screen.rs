//! `zwhy top` in a terminal: its keys, its screen, and what they ask of the recorder or of a capture.

use super::{Args, Seen};
use crate::output;
use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zwhy_live::{Asked, Feed, Key, LatencyWatch, Next, Replay, VERDICT_SPAN, View, draw, freeze};
use zwhy_report::shell_word;

/// How long a new interval may wait to be shown; keys are seen at once.
const POLL: Duration = Duration::from_millis(200);

/// Where intervals come from.
trait Source {
    /// Takes in what there is by now; `true` where that was something. `paused`: the view stands still.
    fn take(&mut self, seen: &mut Seen, paused: bool) -> bool;
    /// Asks how long requests of vdevs take while somebody looks at it; `true` where something is new.
    fn ask_latency(&mut self, _: &mut Seen, _wanted: bool) -> bool {
        false
    }
    fn step(&mut self, _: &mut Seen) {}
    fn to_end(&mut self, _: &mut Seen) {}
}

/// The host, until the user ends it.
pub fn watch(args: &Args, seen: Seen, feed: &Feed, stop: &AtomicBool) -> Result<()> {
    let latency = LatencyWatch::new(args.interval);
    run(args, seen, Host { feed, over: false, latency }, View::default(), stop)
}

/// A capture in its own time.
pub fn replay(args: &Args, seen: Seen, replay: Replay, stop: &AtomicBool) -> Result<()> {
    let mut view = View::default();
    view.replay = true;
    run(args, seen, Play { due: Instant::now(), replay }, view, stop)
}

struct Host<'a> {
    feed: &'a Feed,
    over: bool,
    latency: LatencyWatch,
}

impl Source for Host<'_> {
    fn take(&mut self, seen: &mut Seen, _paused: bool) -> bool {
        let mut any = false;
        while !self.over {
            match self.feed.next(Duration::ZERO) {
                Next::Interval(fed) => {
                    let now = seen.take(*fed);
                    seen.decide_if_due(now);
                    any = true;
                }
                Next::Waiting => break,
                Next::Over => self.over = true,
            }
        }
        any
    }

    fn ask_latency(&mut self, seen: &mut Seen, wanted: bool) -> bool {
        self.latency.keep(wanted, &mut seen.model.latency)
    }
}

struct Play {
    replay: Replay,
    due: Instant,
}

impl Play {
    /// The next interval, if there is one.
    fn next(&mut self, seen: &mut Seen) -> Option<Duration> {
        let slice = self.replay.next()?;
        let now = slice.to;
        seen.model.push(slice);
        self.due = Instant::now() + self.replay.every();
        Some(now)
    }
}

impl Source for Play {
    fn take(&mut self, seen: &mut Seen, paused: bool) -> bool {
        if paused || Instant::now() < self.due {
            return false;
        }
        let next = self.next(seen);
        next.is_some_and(|now| {
            seen.decide_if_due_in_replay(now);
            true
        })
    }

    fn step(&mut self, seen: &mut Seen) {
        if let Some(now) = self.next(seen) {
            seen.decide_if_due_in_replay(now);
        }
    }

    /// With a verdict for every span that one is about, and one of the end.
    fn to_end(&mut self, seen: &mut Seen) {
        let mut decided = seen.model.kept().map_or(Duration::ZERO, |(_, until)| until);
        let mut newest = decided;
        while let Some(now) = self.next(seen) {
            newest = now;
            if now >= decided + VERDICT_SPAN {
                seen.decide(now);
                decided = now;
            }
        }
        if newest > decided {
            seen.decide(newest);
        }
    }
}

fn run(
    args: &Args,
    mut seen: Seen,
    mut source: impl Source,
    mut view: View,
    stop: &AtomicBool,
) -> Result<()> {
    view.colour = output::style().has_colour();
    if args.latency {
        view.show_latency();
    }
    let mut terminal = ratatui::try_init().context("cannot use the terminal for a live view")?;
    let mut written = Vec::new();
    let ran = turn(&mut terminal, &mut seen, &mut source, &mut view, &mut written, stop);
    ratatui::restore();
    written.iter().for_each(|line| output::note(line));
    ran
}

/// Draws, takes keys and intervals, until the user quits. What was written to disk is added to `written`.
fn turn(
    terminal: &mut DefaultTerminal,
    seen: &mut Seen,
    source: &mut impl Source,
    view: &mut View,
    written: &mut Vec<String>,
    stop: &AtomicBool,
) -> Result<()> {
    let mut changed = true;
    while !stop.load(Ordering::Relaxed) {
        changed |= source.take(seen, view.is_paused());
        changed |= source.ask_latency(seen, view.wants_latency());
        if std::mem::take(&mut changed) {
            terminal.draw(|frame| draw(frame, &seen.model, view)).context("cannot draw on the terminal")?;
        }
        // All keys that were pressed meanwhile, then one picture.
        let mut wait = POLL;
        while event::poll(wait).context("cannot read keys")? {
            wait = Duration::ZERO;
            changed = true;
            let Some(key) = key_of(&event::read().context("cannot read keys")?) else { continue };
            match view.press(key, &seen.model) {
                Asked::Nothing => {}
                Asked::Quit => return Ok(()),
                Asked::Freeze(until) => write(seen, until, view, written),
                Asked::Step => source.step(seen),
                Asked::ToEnd => source.to_end(seen),
            }
        }
    }
    Ok(())
}

/// Writes the last minute before `until` into the current folder, and says so.
fn write(seen: &Seen, until: Duration, view: &mut View, written: &mut Vec<String>) {
    view.note = Some(match freeze(&seen.model, until, Path::new(".")) {
        Ok(Some(frozen)) => {
            let name = frozen.path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            written.push(format!("wrote {:.0} s: zwhy explain {}", frozen.seconds, shell_word(&name)));
            format!("wrote {name} ({:.0} s)", frozen.seconds)
        }
        Ok(None) => "only the last minute can be written".to_owned(),
        Err(error) => format!("not written: {error}"),
    });
}

fn key_of(event: &Event) -> Option<Key> {
    let Event::Key(KeyEvent { code, modifiers, kind, .. }) = event else { return None };
    if *kind == KeyEventKind::Release {
        return None;
    }
    let control = modifiers.contains(KeyModifiers::CONTROL);
    match code {
        KeyCode::Char('c') if control => Some(Key::Interrupt),
        KeyCode::Char(_) if control || modifiers.contains(KeyModifiers::ALT) => None,
        KeyCode::Char(c) => Some(Key::Char(*c)),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Escape),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Tab => Some(Key::Tab),
        KeyCode::BackTab => Some(Key::BackTab),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::Left => Some(Key::Left),
        KeyCode::Right => Some(Key::Right),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        KeyCode::Home => Some(Key::Home),
        KeyCode::End => Some(Key::End),
        _ => None,
    }
}
