//! Which stages are handed to a provider, and what that provider is.
//!
//! Switches are named as in Z.I.A. (`zia_compress`, `zia_decompress`), results as in DPUSM.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offload {
    pub provider: Provider,
    /// Compression is handed over; so far that is gzip.
    pub compress: bool,
    pub decompress: bool,
    /// The parity of RAID-Z is handed over, to providers that have it (software and isal).
    pub raidz_gen: bool,
    /// Of the modelled device: from the last byte of the answer until the caller has it, microseconds.
    pub us: f64,
    /// GB a second over the link, each way; 0 for no limit.
    pub link_gb_per_s: f64,
    /// GB a second of plain data through one engine; 0 for no limit.
    pub gb_per_s: f64,
    pub engines: u32,
    /// What the provider says to every call instead of working, to see what OpenZFS then does.
    pub answers: Answer,
    /// OpenZFS computes parity too, and differences are counted.
    pub check: bool,
}

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// OpenZFS alone.
    None,
    /// The code of OpenZFS, called through the provider: what handing over costs by itself.
    Software,
    /// igzip of ISA-L on this CPU.
    Isal,
    /// Results that software made of the same data before, at no cost: the most that any device could bring.
    Ideal,
    /// The same, after the time that a device and its link would take; the caller sleeps meanwhile.
    Model,
}

pub const PROVIDERS: [&str; 5] = ["none", "software", "isal", "ideal", "model"];

/// DPUSM's results, in the order of its numbers (include/dpusm/common.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Answer {
    Ok,
    Error,
    ProviderNotExists,
    ProviderUnregistered,
    ProviderInvalidated,
    ProviderMismatch,
    NotImplemented,
    NotSupported,
    BadResult,
}

pub const ANSWERS: [&str; 9] = [
    "OK",
    "ERROR",
    "PROVIDER_NOT_EXISTS",
    "PROVIDER_UNREGISTERED",
    "PROVIDER_INVALIDATED",
    "PROVIDER_MISMATCH",
    "NOT_IMPLEMENTED",
    "NOT_SUPPORTED",
    "BAD_RESULT",
];

/// Settings of the provider.
pub const SETTINGS: [&str; 10] = [
    "provider",
    "provider_answers",
    "provider_check",
    "provider_engines",
    "provider_gb_per_s",
    "provider_link_gb_per_s",
    "provider_us",
    "zia_compress",
    "zia_decompress",
    "zia_raidz_gen",
];

impl Default for Offload {
    fn default() -> Offload {
        Offload {
            provider: Provider::None,
            compress: true,
            decompress: true,
            raidz_gen: true,
            us: 0.0,
            link_gb_per_s: 0.0,
            gb_per_s: 0.0,
            engines: 1,
            answers: Answer::Ok,
            check: false,
        }
    }
}

impl Offload {
    /// # Errors
    /// What a provider cannot work with.
    pub fn check(&self, property: impl Fn(&str) -> String) -> Result<(), String> {
        if self.provider == Provider::None {
            return Ok(());
        }
        // Z.I.A. switches both off without a word while a provider is set.
        for (name, harmless) in [("encryption", "off"), ("dedup", "off")] {
            let value = property(name);
            if !value.is_empty() && value != harmless {
                return Err(format!(
                    "provider with {name}={value}: Z.I.A. does not work with it, as the data would have to come back first"
                ));
            }
        }
        let compression = property("compression");
        if compression != "off" && !compression.starts_with("gzip") {
            return Err(format!(
                "provider with compression={compression}: only gzip can be handed over, at the calls of zlib"
            ));
        }
        if self.engines == 0 || self.engines > 64 {
            return Err(format!("provider_engines is {}; it must be 1 to 64", self.engines));
        }
        let device = self.us + self.link_gb_per_s + self.gb_per_s;
        if self.provider == Provider::Model && device == 0.0 {
            return Err(
                "provider model needs provider_us, provider_link_gb_per_s or provider_gb_per_s".into()
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_numbers_of_dpusm() {
        let numbers: Vec<Answer> =
            ANSWERS.iter().map(|name| serde_json::from_value((*name).into()).unwrap()).collect();
        assert_eq!(numbers.iter().map(|a| *a as u32).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
    }

    #[test]
    fn what_z_i_a_switches_off_is_refused_with_the_reason() {
        let isal = Offload { provider: Provider::Isal, ..Offload::default() };
        let with = |name: &'static str, value: &'static str| {
            move |asked: &str| match asked {
                _ if asked == name => value.to_owned(),
                "compression" => "gzip-6".to_owned(),
                _ => String::new(),
            }
        };
        assert!(isal.check(with("encryption", "off")).is_ok());
        for (name, value, says) in [
            ("encryption", "aes-256-gcm", "Z.I.A."),
            ("dedup", "on", "Z.I.A."),
            ("compression", "zstd", "only gzip"),
        ] {
            assert!(isal.check(with(name, value)).unwrap_err().contains(says), "{name}");
            assert!(Offload::default().check(with(name, value)).is_ok());
        }
        let model = Offload { provider: Provider::Model, ..isal };
        assert!(model.check(with("dedup", "off")).unwrap_err().contains("provider_us"));
    }
}
