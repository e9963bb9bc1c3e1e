//! The words of a trigger:
//!
//! ```text
//! THREAD cpu > N%                  CPU of all threads of a name or role, of one CPU
//! host KIND > N%                   KIND: busy usr sys iowait irq softirq steal idle, of all CPUs
//! kstat SOURCE.NAME > N            a value, N with K, M, G or T (1024 each)
//! rate(SOURCE.NAME) > N/s          growth a second
//! … for 5s                         only when it holds this long
//! ```
//!
//! The comparison is one of `>`, `>=`, `<`, `<=`. Invariant: an error names the column (from 1, in
//! characters) where it was found and what could stand there.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A condition that saves a recording when it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    pub(crate) text: String,
    pub(crate) measure: Measure,
    pub(crate) compare: Compare,
    /// A share of a CPU (0.5 for 50 %), a value, or a value a second.
    pub(crate) limit: f64,
    pub(crate) hold: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measure {
    ThreadCpu(String),
    /// A column of /proc/stat such as `sys_ns`, or `busy`.
    HostCpu(String),
    Value {
        source: String,
        name: String,
    },
    Rate {
        source: String,
        name: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Compare {
    /// Whether a larger value comes closer.
    pub(crate) fn wants_more(self) -> bool {
        matches!(self, Compare::Above | Compare::AtLeast)
    }

    pub(crate) fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Compare::Above => value > limit,
            Compare::AtLeast => value >= limit,
            Compare::Below => value < limit,
            Compare::AtMost => value <= limit,
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why the words are no trigger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: expected {expected}, found {found}")]
pub struct TriggerError {
    /// From 1, in characters.
    pub column: usize,
    pub expected: &'static str,
    pub found: String,
}

const HOST_KINDS: [&str; 8] = ["busy", "usr", "sys", "iowait", "irq", "softirq", "steal", "idle"];

impl FromStr for Trigger {
    type Err = TriggerError;

    fn from_str(text: &str) -> Result<Trigger, TriggerError> {
        let mut words = Words { chars: text.chars().collect(), at: 0 };
        let first = words.word("the name of a thread, `host`, `kstat` or `rate(`")?;
        let measure = match first.as_str() {
            "host" => {
                let at = words.skip_space();
                let kind = words.word("busy, usr, sys, iowait, irq, softirq, steal or idle")?;
                if !HOST_KINDS.contains(&kind.as_str()) {
                    return Err(words.error(at, "busy, usr, sys, iowait, irq, softirq, steal or idle"));
                }
                Measure::HostCpu(if kind == "busy" { kind } else { format!("{kind}_ns") })
            }
            "kstat" => {
                let (source, name) = words.kstat()?;
                Measure::Value { source, name }
            }
            "rate" => {
                words.symbol('(', "`(` and a kstat such as arcstats.hits")?;
                let (source, name) = words.kstat()?;
                words.symbol(')', "`)`")?;
                Measure::Rate { source, name }
            }
            _ => {
                let at = words.skip_space();
                if words.word("`cpu` after the name of a thread")? != "cpu" {
                    return Err(words.error(at, "`cpu` after the name of a thread"));
                }
                Measure::ThreadCpu(first)
            }
        };
        let compare = words.compare()?;
        let limit = words.limit(&measure)?;
        let hold = words.hold()?;
        Ok(Trigger { text: text.trim().to_owned(), measure, compare, limit, hold })
    }
}

struct Words {
    chars: Vec<char>,
    at: usize,
}

impl Words {
    fn skip_space(&mut self) -> usize {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.at
    }

    /// What stands at `at`, up to the next blank.
    fn error(&self, at: usize, expected: &'static str) -> TriggerError {
        let rest: String = self.chars[at.min(self.chars.len())..]
            .iter()
            .take_while(|c| !c.is_whitespace())
            .take(40)
            .collect();
        let found = if rest.is_empty() { "the end".to_owned() } else { format!("`{rest}`") };
        TriggerError { column: at + 1, expected, found }
    }

    fn run(&mut self, part: impl Fn(char) -> bool) -> String {
        let from = self.at;
        while self.chars.get(self.at).is_some_and(|c| part(*c)) {
            self.at += 1;
        }
        self.chars[from..self.at].iter().collect()
    }

    fn word(&mut self, expected: &'static str) -> Result<String, TriggerError> {
        let at = self.skip_space();
        let word = self.run(|c| !c.is_whitespace() && !"<>=()%".contains(c));
        if word.is_empty() { Err(self.error(at, expected)) } else { Ok(word) }
    }

    fn symbol(&mut self, symbol: char, expected: &'static str) -> Result<(), TriggerError> {
        let at = self.skip_space();
        if self.chars.get(at) != Some(&symbol) {
            return Err(self.error(at, expected));
        }
        self.at += 1;
        Ok(())
    }

    /// `arcstats.size`, `tank/iostats.arc_read_bytes`: the name is what follows the last dot.
    fn kstat(&mut self) -> Result<(String, String), TriggerError> {
        const EXPECTED: &str = "a kstat and a value of it, such as arcstats.size";
        let at = self.skip_space();
        let word = self.word(EXPECTED)?;
        match word.rsplit_once('.') {
            Some((source, name)) if !source.is_empty() && !name.is_empty() => {
                Ok((source.to_owned(), name.to_owned()))
            }
            _ => Err(self.error(at, EXPECTED)),
        }
    }

    fn compare(&mut self) -> Result<Compare, TriggerError> {
        let at = self.skip_space();
        match self.run(|c| "<>=".contains(c)).as_str() {
            ">" => Ok(Compare::Above),
            ">=" => Ok(Compare::AtLeast),
            "<" => Ok(Compare::Below),
            "<=" => Ok(Compare::AtMost),
            _ => Err(self.error(at, "one of > >= < <=")),
        }
    }

    fn number(&mut self, expected: &'static str) -> Result<f64, TriggerError> {
        let at = self.skip_space();
        let digits = self.run(|c| c.is_ascii_digit() || c == '.');
        digits.parse().map_err(|_| self.error(at, expected))
    }

    fn limit(&mut self, measure: &Measure) -> Result<f64, TriggerError> {
        let limit = self.number("a number")?;
        if matches!(measure, Measure::ThreadCpu(_) | Measure::HostCpu(_)) {
            self.symbol('%', "% after the number")?;
            return Ok(limit / 100.0);
        }
        let factor = match self.chars.get(self.at) {
            Some('k' | 'K') => 1u64 << 10,
            Some('m' | 'M') => 1 << 20,
            Some('g' | 'G') => 1 << 30,
            Some('t' | 'T') => 1 << 40,
            _ => 0,
        };
        self.at += usize::from(factor > 0);
        if matches!(measure, Measure::Rate { .. }) {
            self.symbol('/', "/s after the number")?;
            self.symbol('s', "/s after the number")?;
        }
        Ok(limit * factor.max(1) as f64)
    }

    fn hold(&mut self) -> Result<Duration, TriggerError> {
        let at = self.skip_space();
        if at == self.chars.len() {
            return Ok(Duration::ZERO);
        }
        if self.run(|c| !c.is_whitespace()) != "for" {
            return Err(self.error(at, "`for` and a time, or the end"));
        }
        let at = self.skip_space();
        let number = self.number("a time such as 5s")?;
        let seconds = match self.run(|c| c.is_alphabetic()).as_str() {
            "s" => number,
            "m" => number * 60.0,
            _ => return Err(self.error(at, "a time such as 5s or 2m")),
        };
        let end = self.skip_space();
        if end != self.chars.len() {
            return Err(self.error(end, "the end"));
        }
        Duration::try_from_secs_f64(seconds).map_err(|_| self.error(at, "a time such as 5s or 2m"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Trigger {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn every_form_is_read() {
        let t = parse("arc_evict cpu > 50%");
        assert_eq!(
            (t.measure, t.compare, t.limit),
            (Measure::ThreadCpu("arc_evict".into()), Compare::Above, 0.5)
        );
        let t = parse("  host sys>=12.5 % for 2m ");
        assert_eq!((t.measure, t.compare), (Measure::HostCpu("sys_ns".into()), Compare::AtLeast));
        assert_eq!((t.limit, t.hold), (0.125, Duration::from_secs(120)));
        let t = parse("kstat arcstats.size < 4G");
        let size = Measure::Value { source: "arcstats".into(), name: "size".into() };
        assert_eq!((t.measure, t.compare, t.limit), (size, Compare::Below, 4294967296.0));
        let t = parse("rate(tank/iostats.arc_read_bytes) <= 10M/s for 5s");
        let rate = Measure::Rate { source: "tank/iostats".into(), name: "arc_read_bytes".into() };
        assert_eq!((t.measure, t.limit, t.hold), (rate, 10485760.0, Duration::from_secs(5)));
        assert_eq!(t.text, "rate(tank/iostats.arc_read_bytes) <= 10M/s for 5s");
    }

    #[test]
    fn every_error_names_its_column() {
        for (text, column, word) in [
            ("", 1, "the end"),
            ("arc_evict", 10, "`cpu`"),
            ("arc_evict mem > 5%", 11, "`mem`"),
            ("arc_evict cpu 5%", 15, "one of >"),
            ("arc_evict cpu > x", 17, "a number"),
            ("arc_evict cpu > 50", 19, "%"),
            ("host foo > 5%", 6, "softirq"),
            ("kstat arcstats > 5", 7, "arcstats.size"),
            ("rate arcstats.hits > 5/s", 6, "`(`"),
            ("rate(arcstats.hits > 5/s", 20, "`)`"),
            ("rate(arcstats.hits) > 5", 24, "/s"),
            ("host sys > 5% now", 15, "`for`"),
            ("host sys > 5% for 5h", 19, "5s or 2m"),
            ("host sys > 5% for 5s x", 22, "the end"),
            ("ä cpu == 5%", 7, "one of >"),
            ("host sys > 1.2.3%", 12, "a number"),
        ] {
            let error = text.parse::<Trigger>().expect_err(text);
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }
}
