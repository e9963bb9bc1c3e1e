//! `zwhy agent status`: whether the agent runs, what it keeps, and what it found.

use crate::output;
use anyhow::Result;
use std::path::Path;
use zwhy_agent::{LogEvent, LoggedFinding, Look, Reason, Status};
use zwhy_live::{bytes_text, moment};
use zwhy_report::{grouped, plain};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print it as one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, spool: &Path) -> Result<()> {
    let look = Look::at(spool)?;
    if args.json {
        let text = serde_json::to_string_pretty(&look)? + "\n";
        return output::print_data(text.as_bytes());
    }
    output::print(&text(&look))
}

fn text(look: &Look) -> String {
    let mut out = String::new();
    let mut line = |label: &str, text: String| out.push_str(&format!("{label:<9}{}\n", plain(&text)));
    match (&look.running, &look.agent) {
        (Some(pid), Some(agent)) => {
            line("AGENT", format!("runs since {}, process {pid}", moment(agent.started_unix_s)));
        }
        (Some(pid), None) => line("AGENT", format!("runs, process {pid}")),
        (None, Some(agent)) => {
            line("AGENT", format!("does not run; it ended about {}", moment(agent.at_unix_s)))
        }
        (None, None) => line("AGENT", "does not run".to_owned()),
    }
    if let Some(agent) = &look.agent {
        of_agent(agent, &mut line);
    }
    line("SPOOL", kept(look));
    for reason in Reason::ALL {
        let Some(dropped) = look.dropped.get(&reason).filter(|d| d.rows.total() + d.files > 0) else {
            continue;
        };
        let why = match reason {
            Reason::Age => "older than what is kept",
            Reason::Bytes => "more than --max-bytes",
            Reason::NotWritten => "could not be written",
        };
        let (samples, readings) = (grouped(dropped.rows.samples), grouped(dropped.rows.series));
        line("DROPPED", format!("{why}: {samples} samples, {readings} readings, {} files", dropped.files));
    }
    if look.passed > 0 {
        let why = look.agent.as_ref().and_then(|agent| agent.unreadable.as_ref());
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        let files = if look.passed == 1 { "1 file".to_owned() } else { format!("{} files", look.passed) };
        line("UNSENT", format!("{files} could not be read and stay in the spool{why}"));
    }
    look.log.iter().for_each(|logged| line("FOUND", found(logged)));
    out
}

fn of_agent(agent: &Status, line: &mut impl FnMut(&str, String)) {
    let rss = agent.rss_bytes.map_or(String::new(), |rss| format!(", {} of memory", bytes_text(rss as f64)));
    line("COST", format!("{:.2} % of one CPU{rss}", agent.cpu_share * 100.0));
    if let Some(listens) = &agent.listens {
        line("METRICS", listens.clone());
    }
    if let Some(why) = &agent.why {
        line("WHY", why.clone());
    }
    if let Some(act) = &agent.act {
        line("DO", act.clone());
    }
    if agent.samples_lost > 0 {
        line("LOST", format!("{} samples found no room in the kernel", grouped(agent.samples_lost)));
    }
    if let Some(problem) = &agent.problem {
        line("PROBLEM", problem.clone());
    }
    agent.missing.iter().for_each(|sentence| line("MISSING", sentence.clone()));
}

fn kept(look: &Look) -> String {
    let (Some(from), Some(to)) = (look.from_unix_s, look.to_unix_s) else {
        return format!("{} is empty", look.spool.display());
    };
    let gaps = match look.gaps {
        0 => String::new(),
        1 => ", with a gap".to_owned(),
        n => format!(", with {} gaps since it was made", grouped(n)),
    };
    let (hours, size) = (look.seconds / 3600.0, bytes_text(look.bytes as f64));
    format!("{hours:.1} h in {} files, {size}: {} to {}{gaps}", look.files, moment(from), moment(to))
}

fn found(logged: &LoggedFinding) -> String {
    let LoggedFinding { event, episode, end_unix_s } = logged;
    let share = episode.share.map_or(String::new(), |share| format!(", {:.0} % of CPU", share * 100.0));
    let until = match (event, end_unix_s) {
        (LogEvent::Begin, _) | (_, None) => String::new(),
        (LogEvent::End, Some(end)) => format!(" to {}", moment(*end)),
        (LogEvent::Unknown, Some(end)) => format!(" to {} at least", moment(*end)),
    };
    let scope = match episode.scope.first() {
        Some(first) if episode.scope.len() > 1 => format!("; {first} and {} more", episode.scope.len() - 1),
        Some(first) => format!("; {first}"),
        None => String::new(),
    };
    let from = moment(episode.begin_unix_s);
    format!("{from}{until}: {} ({:.2}{share}){scope}", episode.title, episode.confidence)
}
