//! The questions that a sign may ask of the evidence, as causes write them: `share('zio_*')`.
//!
//! Arguments are literals, so every question of every cause is known before any evidence is read:
//! each distinct one is answered once, and lint can check all of them.

use super::catalogue::{Argument, CATALOGUE, Function, LISTS, Signature};
use super::version::Requirement;
use crate::pattern::Pattern;

/// One question with its arguments, ready to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub function: Function,
    pub arguments: Vec<String>,
    /// The arguments as patterns, by position.
    pub patterns: Vec<Pattern>,
    pub requirement: Option<Requirement>,
    /// Part of busy CPU, 0 to 1, from which `seen` and `calls` count.
    pub least: Option<f64>,
}

/// `2 %`, `0.5%`: more than nothing and at most all.
fn least_share(text: &str) -> Option<f64> {
    let share = text.trim().strip_suffix('%')?.trim_end().parse::<f64>().ok()? / 100.0;
    (share > 0.0 && share <= 1.0).then_some(share)
}

impl Query {
    /// # Errors
    /// A sentence that says what is wrong with the call.
    pub fn new(name: &str, arguments: Vec<String>) -> Result<Query, String> {
        let Some(signature) = CATALOGUE.iter().find(|s| s.name == name) else {
            return Err(format!("no function is called `{name}`"));
        };
        let (want, most) = (signature.arguments.len(), signature.arguments.len() + signature.optional.len());
        if !(want..=most).contains(&arguments.len()) {
            let or = if most > want { format!(" or {most}") } else { String::new() };
            return Err(format!("`{name}` takes {want}{or} arguments, not {}", arguments.len()));
        }
        let (mut requirement, mut least) = (None, None);
        for (argument, kind) in arguments.iter().zip(signature.kinds()) {
            if argument.trim().is_empty() {
                return Err(format!("`{name}` has an empty argument"));
            }
            if *kind == Argument::Version {
                requirement = Requirement::parse(argument);
                if requirement.is_none() {
                    return Err(format!("`{argument}` is not a version requirement such as <0.8.4"));
                }
            }
            if *kind == Argument::Least {
                least = Some(
                    least_share(argument)
                        .ok_or_else(|| format!("`{argument}` is not a part of busy CPU such as 2 %"))?,
                );
            }
            if *kind == Argument::List && !LISTS.iter().any(|(list, _)| list == argument) {
                let lists: Vec<&str> = LISTS.iter().map(|(list, _)| *list).collect();
                return Err(format!("`{argument}` is no list; there are {}", lists.join(", ")));
            }
        }
        let patterns = arguments.iter().map(|a| Pattern::new(a)).collect();
        Ok(Query { function: signature.function, arguments, patterns, requirement, least })
    }

    pub fn signature(&self) -> &'static Signature {
        // Every variant is in the catalogue, as one macro makes both.
        CATALOGUE.iter().find(|s| s.function == self.function).unwrap_or(&CATALOGUE[0])
    }

    /// The question as it was written.
    pub fn text(&self) -> String {
        let quoted: Vec<String> = self.arguments.iter().map(|a| format!("'{a}'")).collect();
        format!("{}({})", self.signature().name, quoted.join(", "))
    }

    pub(crate) fn argument(&self, at: usize) -> &str {
        self.arguments.get(at).map_or("", String::as_str)
    }
}
