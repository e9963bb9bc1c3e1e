//! How a cause can be proved on this host: the command, how long it takes, and what it touches.

#[cfg(unix)]
use zwhy_lab::{Engine, Experiment, Size, estimate};

/// `zwhy lab run encryption`
pub fn command(experiment: &str) -> String {
    format!("zwhy lab run {experiment}")
}

/// How long the full size takes by the experiment's own estimate, and what it touches: `about N minutes on files of
/// its own; no pool of this host is touched`. `None` of an experiment that does not ship with zwhy.
#[cfg(unix)]
pub fn terms(experiment: &str) -> Option<String> {
    let known = Experiment::builtin(experiment).ok()?;
    let seconds = estimate(&known, known.size(Size::Full)).ok()?.seconds;
    let time = match seconds {
        s if s < 90.0 => "about a minute".to_owned(),
        s => format!("about {:.0} minutes", s / 60.0),
    };
    Some(match known.engine {
        Engine::User => format!("{time} on files of its own; no pool of this host is touched"),
        Engine::Pool => format!("{time} on a pool of its own; other pools are not touched"),
    })
}

/// Where the lab does not run, its times are not known.
#[cfg(not(unix))]
pub fn terms(_: &str) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_that_names_an_experiment_says_how_long_it_takes() {
        let named =
            zwhy_diagnose::Knowledge::embedded().causes.into_iter().filter_map(|cause| cause.experiment);
        let named: Vec<String> = named.collect();
        assert!(named.len() > 8, "{named:?}");
        for name in named {
            let terms = terms(&name).unwrap_or_else(|| panic!("no experiment {name}"));
            assert!(terms.contains("minute") && terms.contains("touched"), "{name}: {terms}");
        }
        assert_eq!(terms("of-somebody-else"), None);
    }
}
