//! The text format of Prometheus, version 0.0.4.
//!
//! Invariants: each metric is one group with its help and type; a name of the host is a label's value and escaped there;
//! every value is a finite number.

use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only grows; its name ends with `_total`.
    Counter,
    Gauge,
}

/// A page being written.
#[derive(Default)]
pub(crate) struct Text {
    out: String,
}

/// One metric of the page, with its help and type written before its first value.
pub(crate) struct Metric<'a> {
    out: &'a mut String,
    name: &'static str,
    kind: Kind,
    help: &'static str,
    headed: bool,
}

impl Text {
    /// Begins a metric; without values nothing of it is written.
    pub(crate) fn metric(&mut self, name: &'static str, kind: Kind, help: &'static str) -> Metric<'_> {
        Metric { out: &mut self.out, name, kind, help, headed: false }
    }

    pub(crate) fn gauge(&mut self, name: &'static str, help: &'static str, value: Option<f64>) {
        self.metric(name, Kind::Gauge, help).put(&[], value);
    }

    pub(crate) fn counter(&mut self, name: &'static str, help: &'static str, value: Option<f64>) {
        self.metric(name, Kind::Counter, help).put(&[], value);
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}

impl Metric<'_> {
    /// A value with its labels; what is not known is left out.
    pub(crate) fn put(&mut self, labels: &[(&str, &str)], value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let (out, name) = (&mut *self.out, self.name);
        if !std::mem::replace(&mut self.headed, true) {
            let kind = if self.kind == Kind::Counter { "counter" } else { "gauge" };
            // Writing to a text does not fail.
            let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", self.help);
        }
        out.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            out.push(if at == 0 { '{' } else { ',' });
            let _ = write!(out, "{label}=\"{}\"", escaped(text));
        }
        if !labels.is_empty() {
            out.push('}');
        }
        let _ = writeln!(out, " {value}");
    }
}

/// A label's value as the format has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_values() {
        let mut text = Text::default();
        let mut metric = text.metric("zwhy_x_total", Kind::Counter, "Things.");
        metric.put(&[("pool", "a\"} 1\nb\\")], Some(1.5));
        metric.put(&[("pool", "b"), ("op", "read")], Some(2.0));
        metric.put(&[("pool", "c")], None);
        text.gauge("zwhy_y", "Unknown.", None);
        text.gauge("zwhy_z", "No number.", Some(f64::NAN));
        assert_eq!(
            text.finish(),
            "# HELP zwhy_x_total Things.\n# TYPE zwhy_x_total counter\n\
             zwhy_x_total{pool=\"a\\\"} 1\\nb\\\\\"} 1.5\nzwhy_x_total{pool=\"b\",op=\"read\"} 2\n"
        );
    }
}
