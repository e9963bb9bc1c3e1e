//! Which stages are handed to a provider, and what that provider is.
//!
//! Switches are named as in Z.I.A. (`zia_compress`, `zia_decompress`), results as in DPUSM.

use super::accelerator::{self, Accelerator};
use super::near;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use strum::VariantNames;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Offload {
    pub provider: Provider,
    /// The shared object of a provider of the user's own.
    pub plugin: Option<PathBuf>,
    /// The device that `model` plays, where it is one of those whose figures are known.
    pub device: Option<String>,
    /// Compression is handed over: gzip, LZ4 and zstd.
    pub compress: bool,
    pub decompress: bool,
    /// Checksums: fletcher4 and SHA-256.
    pub checksum: bool,
    /// The parity of RAID-Z.
    pub raidz_gen: EachRaidz,
    /// Reconstruction of columns of RAID-Z.
    pub raidz_rec: EachRaidz,
    /// Writes to vdevs that are files.
    pub file_write: bool,
    /// Of the modelled device: from the last byte of the answer until the caller has it, microseconds.
    pub us: f64,
    /// GB a second over the link, each way; 0 for no limit.
    pub link_gb_per_s: f64,
    /// GB a second of plain data through one engine; 0 for no limit.
    pub gb_per_s: f64,
    pub engines: u32,
    /// What the provider says to every call instead of working, to see what OpenZFS then does.
    pub answers: Answer,
    /// OpenZFS computes parity, lost columns and checksums too, and differences are counted.
    pub check: bool,
    /// What is not brought back from the provider is spoilt.
    pub strict: bool,
    /// The process of the provider `remote` is killed at its call of this number; 0: never.
    pub dies_after: u32,
}

/// A switch for each of raidz1, raidz2 and raidz3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredEach")]
pub struct EachRaidz([bool; 3]);

/// Results of before had one switch for all.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredEach {
    All(bool),
    Each([bool; 3]),
}

impl From<StoredEach> for EachRaidz {
    fn from(stored: StoredEach) -> EachRaidz {
        match stored {
            StoredEach::All(on) => EachRaidz([on; 3]),
            StoredEach::Each(each) => EachRaidz(each),
        }
    }
}

impl EachRaidz {
    /// `parity`: columns of a row that hold parity, 0 for other layouts.
    pub fn of(&self, parity: usize) -> bool {
        parity.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|on| *on)
    }

    /// Of one of them, or of all.
    fn set(&mut self, parity: Option<usize>, on: bool) {
        match parity.and_then(|parity| self.0.get_mut(parity - 1)) {
            Some(one) => *one = on,
            None => self.0 = [on; 3],
        }
    }
}

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
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
    /// Another process that shares memory with OpenZFS.
    Remote,
    /// A shared object with the interface of `plugins/zwhy_offload.h`.
    Plugin,
}

/// How much of a name must be right for a guess at what was meant.
const NEAR: f64 = 0.5;

/// Before the name of a device.
const DEVICE: &str = "model:";

/// Without `Plugin`, which is named by its path.
const PROVIDERS: &[&str] = Provider::VARIANTS.split_last().unwrap().1;

/// DPUSM's results, in the order of its numbers (include/dpusm/common.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
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

impl Default for Offload {
    fn default() -> Offload {
        Offload {
            provider: Provider::None,
            plugin: None,
            device: None,
            compress: true,
            decompress: true,
            checksum: false,
            raidz_gen: EachRaidz([true; 3]),
            raidz_rec: EachRaidz([true; 3]),
            file_write: false,
            us: 0.0,
            link_gb_per_s: 0.0,
            gb_per_s: 0.0,
            engines: 1,
            answers: Answer::Ok,
            check: false,
            strict: false,
            dies_after: 0,
        }
    }
}

impl Offload {
    /// OpenZFS does all stages, and nothing else was set.
    pub fn is_none(&self) -> bool {
        *self == Offload::default()
    }

    /// A provider by its name, a known device as `model:qat-8950`, or a shared object by its path.
    ///
    /// The figures of a known device are set with it, so that what is set by name must come after.
    ///
    /// # Errors
    /// A name that no provider and no device has.
    pub fn set_provider(&mut self, text: &str) -> Result<(), String> {
        (self.plugin, self.device) = (None, None);
        if let Some(name) = text.strip_prefix(DEVICE) {
            return self.set_device(name);
        }
        if text.ends_with(".so") {
            self.provider = Provider::Plugin;
            self.plugin = Some(std::path::absolute(text).map_err(|e| format!("provider is {text:?}: {e}"))?);
            return Ok(());
        }
        self.provider = match serde_json::from_value(text.into()) {
            Ok(provider) if PROVIDERS.contains(&text) => provider,
            _ => {
                let near = near::near(text, PROVIDERS.iter().copied(), NEAR);
                let mean = near.map_or_else(String::new, |best| format!(" (did you mean {best}?)"));
                return Err(format!(
                    "provider is {text:?}; it must be {}, model:NAME with a device that zwhy lab show offload-model lists, \
                     or the path of a shared object that ends in .so{mean}",
                    PROVIDERS.join(", ")
                ));
            }
        };
        Ok(())
    }

    /// A switch by the name that it has in Z.I.A.: `zia_raidz2_gen`; `zia_raidz_gen` is that of all three.
    ///
    /// # Errors
    /// A name that no switch has.
    pub fn switch(&mut self, name: &str, on: bool) -> Result<(), String> {
        let raidz = name.strip_prefix("zia_raidz").and_then(|rest| rest.split_once('_'));
        match (name, raidz) {
            ("zia_compress", _) => self.compress = on,
            ("zia_decompress", _) => self.decompress = on,
            ("zia_checksum", _) => self.checksum = on,
            ("zia_file_write", _) => self.file_write = on,
            (_, Some((parity @ ("" | "1" | "2" | "3"), part @ ("gen" | "rec")))) => {
                let each = if part == "gen" { &mut self.raidz_gen } else { &mut self.raidz_rec };
                each.set(parity.parse().ok(), on);
            }
            _ => return Err(format!("there is no switch {name}")),
        }
        Ok(())
    }

    fn set_device(&mut self, name: &str) -> Result<(), String> {
        let Some(known) = accelerator::find(name) else {
            let all = || accelerator::accelerators().iter().map(|a| a.name.as_str());
            let near = near::near(name, all(), NEAR);
            let mean = near.map_or_else(String::new, |best| format!("; did you mean {DEVICE}{best}?"));
            return Err(format!(
                "there is no device {DEVICE}{name}{mean} (known: {})",
                all().collect::<Vec<_>>().join(", ")
            ));
        };
        let of = |figure: &Option<accelerator::Figure>| figure.as_ref().map_or(0.0, |figure| figure.value);
        self.provider = Provider::Model;
        self.device = Some(known.name.clone());
        self.us = of(&known.us);
        self.link_gb_per_s = of(&known.link_gb_per_s);
        self.gb_per_s = of(&known.gb_per_s);
        Ok(())
    }

    /// The known device that is played.
    pub fn accelerator(&self) -> Option<&'static Accelerator> {
        accelerator::find(self.device.as_deref()?)
    }

    /// What the modelled device does at no cost, because nobody set it: `rate`.
    pub fn unlimited(&self) -> Vec<&'static str> {
        let figures = [("link", self.link_gb_per_s), ("rate", self.gb_per_s), ("latency", self.us)];
        figures.into_iter().filter(|(_, value)| *value == 0.0).map(|(name, _)| name).collect()
    }

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
        let compresses = self.compress || self.decompress;
        let all = ["gzip", "lz4", "on", "zstd"];
        let known = if self.provider == Provider::Isal { &all[..1] } else { &all[..] };
        // With a level behind it: gzip-6, zstd-fast-10.
        let knows = known.contains(&compression.split('-').next().unwrap_or_default());
        if compresses && compression != "off" && !knows {
            let which = if self.provider == Provider::Isal { "only gzip" } else { "only gzip, lz4 and zstd" };
            return Err(format!(
                "provider with compression={compression}: {which} can be handed over to it; zia_compress=0 and \
                 zia_decompress=0 leave compression to OpenZFS"
            ));
        }
        let checksum = property("checksum");
        if self.checksum && !["on", "fletcher4", "sha256"].contains(&checksum.as_str()) {
            return Err(format!(
                "zia_checksum with checksum={checksum}: only fletcher4 and sha256 can be handed over"
            ));
        }
        if self.dies_after > 0 && self.provider != Provider::Remote {
            return Err(
                "provider_dies_after is for provider=remote: the others have no process to kill".into()
            );
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
            Answer::VARIANTS.iter().map(|name| serde_json::from_value((*name).into()).unwrap()).collect();
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
        let model = Offload { provider: Provider::Model, ..isal.clone() };
        assert!(model.check(with("dedup", "off")).unwrap_err().contains("provider_us"));
        let mortal = Offload { dies_after: 3, ..isal.clone() };
        assert!(mortal.check(with("dedup", "off")).unwrap_err().contains("provider=remote"));
        let sums = Offload { checksum: true, ..isal.clone() };
        assert!(sums.check(with("checksum", "sha256")).is_ok());
        assert!(sums.check(with("checksum", "blake3")).unwrap_err().contains("fletcher4 and sha256"));
        let remote = Offload { provider: Provider::Remote, ..isal.clone() };
        for known in ["gzip", "lz4", "on", "zstd", "zstd-19", "zstd-fast-10"] {
            assert!(remote.check(with("compression", known)).is_ok(), "{known}");
        }
        assert!(remote.check(with("compression", "lzjb")).unwrap_err().contains("gzip, lz4 and zstd"));
        let parity = Offload { compress: false, decompress: false, ..isal };
        assert!(parity.check(with("compression", "lz4")).is_ok());
    }

    #[test]
    fn switches_are_those_of_z_i_a() {
        let mut offload = Offload::default();
        for name in super::super::names::SETTINGS.provider.iter().filter(|name| name.starts_with("zia_")) {
            offload.switch(name, false).unwrap();
        }
        assert_eq!((offload.compress, offload.decompress, offload.checksum), (false, false, false));
        assert!(!offload.file_write && (0..=3).all(|p| !offload.raidz_gen.of(p) && !offload.raidz_rec.of(p)));
        offload.switch("zia_raidz2_gen", true).unwrap();
        assert_eq!([1, 2, 3].map(|parity| offload.raidz_gen.of(parity)), [false, true, false]);
        offload.switch("zia_raidz_rec", true).unwrap();
        assert_eq!([0, 1, 2, 3].map(|parity| offload.raidz_rec.of(parity)), [false, true, true, true]);
        assert!(offload.switch("zia_raidz4_gen", true).is_err());
        // Results of before had one switch for all of RAID-Z.
        let before: Offload = serde_json::from_str(r#"{"raidz_gen": false, "raidz_rec": true}"#).unwrap();
        assert!(!before.raidz_gen.of(2) && before.raidz_rec.of(2));
        let text = serde_json::to_string(&offload).unwrap();
        assert_eq!(serde_json::from_str::<Offload>(&text).unwrap(), offload);
    }

    #[test]
    fn a_provider_is_a_name_or_a_shared_object() {
        let mut offload = Offload::default();
        offload.set_provider("./x.so").unwrap();
        assert_eq!(offload.provider, Provider::Plugin);
        assert!(offload.plugin.as_ref().is_some_and(|path| path.is_absolute()));
        offload.set_provider("remote").unwrap();
        assert_eq!((offload.provider, &offload.plugin), (Provider::Remote, &None));
        // Only with its path.
        assert!(offload.set_provider("plugin").unwrap_err().contains("ends in .so"));
        offload.set_provider("model:csd-dpzip").unwrap();
        assert_eq!((offload.provider, offload.us, offload.gb_per_s), (Provider::Model, 2.0, 16.0));
        assert_eq!(offload.unlimited(), ["link"]);
        assert!(offload.check(|name| if name == "compression" { "gzip-6" } else { "" }.to_owned()).is_ok());
        offload.set_provider("none").unwrap();
        assert_eq!(offload.device, None);
        assert!(offload.set_provider("isla").unwrap_err().contains("(did you mean isal?)"));
        let error = offload.set_provider("model:gpu-pcie3").unwrap_err();
        assert!(error.contains("did you mean model:gpu-pcie") && error.contains("csd-3000"), "{error}");
    }
}
