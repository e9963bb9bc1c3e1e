//! What a request asks for, from its query: names that are known, each at most once but `host`, and nothing else.

use crate::scope::{Scope, moment_ms, span_ms};
use std::collections::BTreeMap;
use zwhy_profile::Event;

/// Hosts in one request.
const MOST_HOSTS: usize = 1000;

/// About the year 33658: no sum of times overflows.
const MOST_MS: i64 = 1_000_000_000_000_000;

/// The query of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params {
    pub hosts: Vec<String>,
    rest: BTreeMap<String, String>,
}

impl Params {
    /// Takes a query apart; `known` are the names that may be in it besides `host`.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn of(query: Option<&str>, known: &[&str]) -> Result<Params, String> {
        let mut params = Params::default();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if name == "host" {
                params.hosts.push(value.into_owned());
                continue;
            }
            if !known.contains(&name.as_ref()) {
                return Err(format!("there is no parameter {name:?}; known are host, {}", known.join(", ")));
            }
            if params.rest.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err("a parameter other than host is given twice".to_owned());
            }
        }
        if params.hosts.len() > MOST_HOSTS {
            return Err(format!("more than {MOST_HOSTS} hosts; leave them out for all"));
        }
        Ok(params)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.rest.get(name).map(String::as_str)
    }

    fn moment(&self, name: &str, now_ms: i64) -> Result<Option<i64>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let told = moment_ms(text, now_ms)
            .or_else(|| text.parse().ok())
            .filter(|ms| (-MOST_MS..MOST_MS).contains(ms));
        told.map(Some)
            .ok_or_else(|| format!("{name} is no time; write 2026-11-22T19:12, -2h, or milliseconds"))
    }

    /// Hosts and range; names of the range begin with `prefix`.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn scope(&self, prefix: &str, now_ms: i64) -> Result<Scope, String> {
        let all = Scope::default();
        let from_ms = self.moment(&format!("{prefix}from"), now_ms)?.unwrap_or(all.from_ms);
        let to_ms = self.moment(&format!("{prefix}to"), now_ms)?.unwrap_or(all.to_ms);
        let hosts = match (prefix, self.text(&format!("{prefix}host"))) {
            ("", _) | (_, None) => self.hosts.clone(),
            (_, Some(host)) => vec![host.to_owned()],
        };
        Ok(Scope { hosts, from_ms, to_ms })
    }

    /// Milliseconds of a step.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn step(&self) -> Result<i64, String> {
        let text = self.text("step").unwrap_or("1m");
        span_ms(text)
            .filter(|ms| *ms >= 1000)
            .ok_or_else(|| "step is no time of a second or more; write 10s or 5m".to_owned())
    }

    /// Which samples.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn event(&self) -> Result<Event, String> {
        let name = self.text("event").unwrap_or("cpu");
        Event::from_name(name).ok_or_else(|| "event is none of cpu, wait and count".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_taken_apart_and_what_is_not_known_is_refused() {
        let known = ["from", "to", "step", "event", "other_from", "other_to", "other_host"];
        let params = Params::of(Some("host=a%2Fb&host=c+d&from=-1h&to=5000&step=5m"), &known).unwrap();
        let scope = params.scope("", 10_000_000).unwrap();
        assert_eq!(scope.hosts, ["a/b", "c d"]);
        assert_eq!((scope.from_ms, scope.to_ms, params.step()), (6_400_000, 5000, Ok(300_000)));
        assert_eq!(params.event(), Ok(Event::Cpu));
        let other = Params::of(Some("host=a&other_host=b&other_from=7"), &known).unwrap();
        assert_eq!(other.scope("other_", 0).unwrap().hosts, ["b"]);
        assert_eq!(other.scope("other_", 0).unwrap().from_ms, 7);
        assert_eq!(other.scope("", 0).unwrap().hosts, ["a"]);
        for wrong in ["path=/etc/passwd", "from=1&from=2"] {
            assert!(Params::of(Some(wrong), &known).is_err(), "{wrong}");
        }
        for wrong in [
            "step=1",
            "step=0s",
            "event=x",
            "from=yesterday",
            "from=-9223372036854775808",
            "to=9999999999999999",
        ] {
            let params = Params::of(Some(wrong), &known).unwrap();
            let told = (params.step().is_ok(), params.event().is_ok(), params.scope("", 0).is_ok());
            assert_ne!(told, (true, true, true), "{wrong}");
        }
        assert!(Params::of(Some(&"host=a&".repeat(1001)), &known).is_err());
    }
}
