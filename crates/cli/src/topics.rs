//! What people search for, as short texts: `zwhy help TOPIC`.
//!
//! The texts are files of the folder `help/`: the title, an empty line, and at most 80 columns. `{importers}`,
//! `{exporters}` and `{experiments}` stand for the lists that the program itself uses.

use zwhy_lab::Experiment;
use zwhy_report::wrap;

/// A text of `zwhy help`.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    pub name: &'static str,
    source: &'static str,
}

const TOPICS: [Topic; 9] = [
    Topic { name: "answers", source: include_str!("../help/answers.txt") },
    Topic { name: "captures", source: include_str!("../help/captures.txt") },
    Topic { name: "containers", source: include_str!("../help/containers.txt") },
    Topic { name: "environment", source: include_str!("../help/environment.txt") },
    Topic { name: "formats", source: include_str!("../help/formats.txt") },
    Topic { name: "lab", source: include_str!("../help/lab.txt") },
    Topic { name: "overhead", source: include_str!("../help/overhead.txt") },
    Topic { name: "privileges", source: include_str!("../help/privileges.txt") },
    Topic { name: "sharing", source: include_str!("../help/sharing.txt") },
];

/// All of them, by name.
pub fn topics() -> &'static [Topic] {
    &TOPICS
}

impl Topic {
    pub fn title(&self) -> &'static str {
        self.source.lines().next().unwrap_or_default()
    }

    /// The whole text, its title first.
    pub fn text(&self) -> String {
        let importers = || zwhy_formats::importers().iter().map(|i| i.name).collect::<Vec<_>>();
        let exporters = || {
            let others = zwhy_formats::exporters().iter().map(|e| e.name);
            others.chain([crate::commands::export::SVG]).collect::<Vec<_>>()
        };
        let experiments = || Experiment::builtin_names().collect::<Vec<_>>();
        self.source
            .replace("{importers}", &listed(importers))
            .replace("{exporters}", &listed(exporters))
            .replace("{experiments}", &listed(experiments))
    }
}

/// Names as lines of a text that is indented by two.
fn listed(names: impl Fn() -> Vec<&'static str>) -> String {
    wrap(&names().join(", "), 76).join("\n  ")
}

/// The text of the topic that is called so.
pub fn text(name: &str) -> Option<String> {
    TOPICS.iter().find(|topic| topic.name == name).map(Topic::text)
}

/// The names, below the list of commands.
pub fn named() -> String {
    let mut text = "Topics, zwhy help TOPIC:".to_owned();
    for topic in &TOPICS {
        text.push_str(&format!("\n  {:<14}{}", topic.name, topic.title()));
    }
    text
}
