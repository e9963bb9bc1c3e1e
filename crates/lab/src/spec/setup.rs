//! What one cell of an experiment runs with: the pool, the properties of its dataset, the parameters of
//! the module, and the way of the I/O. Every setting can be a factor.

use super::names::{self, Kind};
use super::offload::{self, Offload};
use crate::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::VariantNames;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Size of one write or read call, as `bs=` of dd.
    pub io_size: Bytes,
    /// Threads that write or read, each its own object.
    pub threads: u32,
    pub data: Content,
    pub io: Way,
    /// The memory OpenZFS is told the host has; it sizes the ARC and the dirty data limit by it.
    pub memory: Bytes,
    /// `zfs_arc_max`.
    pub arc_max: Bytes,
    pub layout: Layout,
    /// Files that play the disks of the pool.
    pub disks: u32,
    /// Disks for the intent log alone, without the model of the others.
    #[serde(default)]
    pub log_disks: u32,
    /// Disks of the special class (metadata, and blocks up to `special_small_blocks`), as above.
    #[serde(default)]
    pub special_disks: u32,
    /// Cache devices (L2ARC), as above.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cache_disks: u32,
    /// Whether the application waits until its writes are safe.
    #[serde(default)]
    pub fsync: Fsync,
    /// What each of these files is slowed down to.
    pub device: Option<Device>,
    /// Which stages a provider does.
    #[serde(default, skip_serializing_if = "Offload::is_none")]
    pub offload: Offload,
    /// Of the dataset, as `zfs set` takes them.
    pub properties: BTreeMap<String, String>,
    /// Of the module, as `/sys/module/zfs/parameters` takes them.
    pub parameters: BTreeMap<String, i128>,
    /// Parameters that choose an implementation.
    pub implementations: BTreeMap<String, String>,
    /// What only steps use, as `n` of `count = "$n"`.
    pub words: BTreeMap<String, String>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Default for Setup {
    fn default() -> Self {
        // recordsize is the default of OpenZFS; compression and encryption are off, so that what is
        // measured is what a factor sets.
        let properties = [
            ("checksum", "fletcher4"),
            ("compression", "off"),
            ("encryption", "off"),
            ("recordsize", "128K"),
        ];
        Setup {
            io_size: Bytes(1 << 20),
            threads: 1,
            data: Content::Random,
            io: Way::Buffered,
            memory: Bytes(4 << 30),
            arc_max: Bytes(512 << 20),
            layout: Layout::Stripe,
            disks: 1,
            log_disks: 0,
            special_disks: 0,
            cache_disks: 0,
            fsync: Fsync::Never,
            device: None,
            offload: Offload::default(),
            properties: properties.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            parameters: BTreeMap::new(),
            implementations: BTreeMap::new(),
            words: BTreeMap::new(),
        }
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Content {
    /// Does not compress.
    Random,
    /// Every other 512 bytes are zeros, so that it compresses to about half.
    Half,
    /// Each MiB is the same but for the mark in every 4 KiB: compresses to a few percent.
    Text,
    /// Words, few of them common: compresses to about two fifths, and slowly, as text does that people write.
    Prose,
    /// A sample of the user's own files.
    Sample,
}

/// The way of the application's I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Way {
    /// Through the ARC.
    #[default]
    Buffered,
    /// Direct I/O, as `O_DIRECT` asks for since OpenZFS 2.3.
    Direct,
}

/// When the application waits until what it wrote is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Fsync {
    /// At the end of the step only.
    #[default]
    Never,
    /// After each write, as databases do for their logs.
    EachWrite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Layout {
    Stripe,
    Mirror,
    Raidz1,
    Raidz2,
    Raidz3,
    /// With distributed spares none, and at most [`DRAID_DATA`] data disks in a group, as `zpool create draid1` has it.
    Draid1,
    Draid2,
    Draid3,
}

/// Data disks of a group of dRAID when `zpool create` is not told otherwise (`draid_config_by_type`, cmd/zpool/zpool_vdev.c).
const DRAID_DATA: u32 = 8;

impl Layout {
    /// Disks that hold no data of their own, of a group of `disks`.
    pub fn redundant(self, disks: u32) -> u32 {
        match self {
            Layout::Stripe => 0,
            Layout::Mirror => disks.saturating_sub(1),
            Layout::Raidz1 | Layout::Draid1 => 1,
            Layout::Raidz2 | Layout::Draid2 => 2,
            Layout::Raidz3 | Layout::Draid3 => 3,
        }
    }

    /// Data disks in each group of dRAID, and how many groups it takes until they fill whole rows of all `disks`; `None`
    /// for other layouts.
    pub fn draid(self, disks: u32) -> Option<(u32, u32)> {
        if !matches!(self, Layout::Draid1 | Layout::Draid2 | Layout::Draid3) {
            return None;
        }
        let parity = self.redundant(disks);
        let data = disks.saturating_sub(parity).clamp(1, DRAID_DATA);
        let groups = (1..=disks).find(|groups| (groups * (data + parity)).is_multiple_of(disks));
        Some((data, groups.unwrap_or(1)))
    }

    fn least_disks(self) -> u32 {
        match self {
            Layout::Stripe => 1,
            Layout::Mirror => 2,
            raidz => raidz.redundant(0) + 1,
        }
    }
}

/// A model of a disk, put under each file: an I/O takes its turn on the link, then its latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Bandwidth of each disk; 0: as fast as the file.
    pub mb_per_s: f64,
    /// Latency of each I/O after its turn on the link.
    pub ms: f64,
    /// I/O that the disk works on at the same time.
    pub queue: u32,
}

impl Setup {
    /// Settings by name, later ones over earlier ones.
    ///
    /// # Errors
    /// Which setting OpenZFS or the runner could not work with, and what it could.
    pub fn of<'a>(settings: impl IntoIterator<Item = (&'a str, &'a toml::Value)>) -> Result<Setup, String> {
        let mut setup = Setup::default();
        let mut texts = Vec::new();
        for (name, value) in settings {
            let text = text_of(value).ok_or_else(|| format!("{name}: a {} is no value", value.type_str()))?;
            texts.push((name, text));
        }
        // A provider may bring settings with it, which give way to what is set by name.
        texts.sort_by_key(|(name, _)| *name != "provider");
        for (name, text) in texts {
            setup.set(name, &text)?;
        }
        setup.check()?;
        Ok(setup)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        match names::kind(name) {
            Some(Kind::Runner) => self.set_runner(name, text)?,
            Some(Kind::Property) => {
                super::values::check(name, text)?;
                self.properties.insert(name.into(), text.into());
            }
            Some(Kind::Implementation) => drop(self.implementations.insert(name.into(), text.into())),
            Some(Kind::Parameter) => {
                let number = text.parse().or_else(|_| text.parse().map(|bytes: Bytes| i128::from(bytes.0)));
                let number =
                    number.map_err(|_: String| format!("{name} is {text:?}; it must be a number"))?;
                if name == "zfs_arc_max" {
                    self.arc_max = Bytes(u64::try_from(number).unwrap_or(0));
                } else {
                    self.parameters.insert(name.into(), number);
                }
            }
            None => drop(self.words.insert(name.into(), text.into())),
        }
        Ok(())
    }

    fn set_runner(&mut self, name: &str, text: &str) -> Result<(), String> {
        let number =
            || text.parse::<u32>().map_err(|_| format!("{name} is {text:?}; it must be a whole number"));
        let real = || {
            let value = text.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
            value.ok_or_else(|| format!("{name} is {text:?}; it must be a number of 0 or more"))
        };
        let bytes = || text.parse::<Bytes>().map_err(|e| format!("{name}: {e}"));
        let device = self.device.unwrap_or(Device { mb_per_s: 0.0, ms: 0.0, queue: 1 });
        match name {
            "io_size" => self.io_size = bytes()?,
            "memory" => self.memory = bytes()?,
            "arc_max" => self.arc_max = bytes()?,
            "threads" => self.threads = number()?,
            "disks" => self.disks = number()?,
            "log_disks" => self.log_disks = number()?,
            "special_disks" => self.special_disks = number()?,
            "cache_disks" => self.cache_disks = number()?,
            "fsync" => self.fsync = word(name, text)?,
            "data" => self.data = word(name, text)?,
            "io" => self.io = word(name, text)?,
            "layout" => self.layout = word(name, text)?,
            "device_mb_per_s" => self.device = Some(Device { mb_per_s: real()?, ..device }),
            "provider" => self.offload.set_provider(text)?,
            "provider_answers" => self.offload.answers = word(name, text)?,
            "provider_engines" => self.offload.engines = number()?,
            "provider_gb_per_s" => self.offload.gb_per_s = real()?,
            "provider_link_gb_per_s" => self.offload.link_gb_per_s = real()?,
            "provider_us" => self.offload.us = real()?,
            switch if switch.starts_with("zia_") => self.offload.switch(switch, number()? != 0)?,
            "provider_check" => self.offload.check = number()? != 0,
            "provider_strict" => self.offload.strict = number()? != 0,
            "provider_dies_after" => self.offload.dies_after = number()?,
            "device_ms" => self.device = Some(Device { ms: real()?, ..device }),
            _ => self.device = Some(Device { queue: number()?, ..device }),
        }
        Ok(())
    }

    pub fn property(&self, name: &str) -> &str {
        self.properties.get(name).map_or("", String::as_str)
    }

    /// Block size of the objects.
    pub fn recordsize(&self) -> Bytes {
        self.property("recordsize").parse().unwrap_or(Bytes(128 << 10))
    }

    /// All files or devices that make the pool.
    pub fn all_disks(&self) -> u32 {
        self.disks + self.special_disks + self.log_disks + self.cache_disks
    }

    /// Each write is committed: the application asks for it, or the dataset does. `sync=disabled` takes that back
    /// inside OpenZFS.
    pub fn commits(&self) -> bool {
        self.fsync == Fsync::EachWrite || self.property("sync") == "always"
    }

    pub fn is_encrypted(&self) -> bool {
        self.property("encryption") != "off"
    }

    fn check(&self) -> Result<(), String> {
        let power = |size: Bytes| size.0.is_power_of_two();
        let recordsize: Bytes =
            self.property("recordsize").parse().map_err(|e| format!("recordsize: {e}"))?;
        if !power(recordsize) || recordsize.0 < 4096 || recordsize.0 > 16 << 20 {
            return Err(format!("recordsize is {recordsize}; it must be a power of two from 4K to 16M"));
        }
        if !power(self.io_size) || self.io_size.0 < 4096 || self.io_size.0 > 64 << 20 {
            return Err(format!("io_size is {}; it must be a power of two from 4K to 64M", self.io_size));
        }
        if self.threads == 0 || self.threads > 64 {
            return Err(format!("threads is {}; it must be 1 to 64", self.threads));
        }
        if self.arc_max.0 < 64 << 20 || self.memory.0 < self.arc_max.0 {
            return Err(format!(
                "arc_max is {} and memory {}; arc_max must be at least 64M and not more than memory",
                self.arc_max, self.memory
            ));
        }
        let least = self.layout.least_disks();
        if self.disks < least || self.disks > 32 {
            return Err(format!("disks is {}; this layout needs {least} to 32", self.disks));
        }
        if self.log_disks.max(self.special_disks).max(self.cache_disks) > 8 {
            return Err("log_disks, special_disks and cache_disks are at most 8 each".into());
        }
        if self.layout.draid(self.disks).is_some() && self.offload.provider != offload::Provider::None {
            return Err("provider: no stage of dRAID is handed over; raidz1 to raidz3 are".into());
        }
        self.offload.check(|name| self.property(name).to_owned())?;
        match self.device {
            Some(device) if device.queue == 0 => Err("device_queue is 0; it must be at least 1".into()),
            _ => Ok(()),
        }
    }
}

/// One of a few words, by their names in serde.
fn word<T: serde::de::DeserializeOwned + VariantNames>(name: &str, text: &str) -> Result<T, String> {
    serde_json::from_value(text.into())
        .map_err(|_| format!("{name} is {text:?}; it must be {}", T::VARIANTS.join(" or ")))
}

/// A value as people write it; `None` for lists, tables, dates and floats without end.
pub fn text_of(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(yes) => Some(u8::from(*yes).to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(text: &str) -> Result<Setup, String> {
        let table: toml::Table = text.parse().unwrap();
        Setup::of(table.iter().map(|(name, value)| (name.as_str(), value)))
    }

    #[test]
    fn each_kind_of_setting_finds_its_place() {
        let text = "compression = \"lz4\"\ndbuf_cache_max_bytes = \"2M\"\nzfs_fletcher_4_impl = \"scalar\"\n\
                    layout = \"raidz1\"\ndisks = 4\nn = 100\nzfs_arc_max = \"128M\"\nio = \"direct\"";
        let setup = setup(text).unwrap();
        assert_eq!(setup.property("compression"), "lz4");
        assert_eq!(setup.parameters["dbuf_cache_max_bytes"], 2 << 20);
        assert_eq!(setup.implementations["zfs_fletcher_4_impl"], "scalar");
        assert_eq!((setup.layout, setup.disks, setup.io), (Layout::Raidz1, 4, Way::Direct));
        assert_eq!(setup.words["n"], "100");
        assert_eq!(setup.arc_max, Bytes(128 << 20));
    }

    #[test]
    fn groups_of_draid_fill_rows_of_all_disks() {
        assert_eq!(Layout::Draid1.draid(4), Some((3, 1)));
        // 11 groups of 10 disks are 10 rows of 11.
        assert_eq!(Layout::Draid2.draid(11), Some((8, 11)));
        assert_eq!(Layout::Draid3.draid(32), Some((8, 32)));
        assert_eq!(Layout::Raidz2.draid(11), None);
    }

    #[test]
    fn what_cannot_work_is_said_with_what_could() {
        let wrong = [
            ("recordsize = \"3K\"", "power of two"),
            ("threads = 0", "1 to 64"),
            ("layout = \"raidz2\"\ndisks = 2", "needs 3 to 32"),
            ("layout = \"draid2\"\ndisks = 2", "needs 3 to 32"),
            ("cache_disks = 9", "at most 8"),
            ("data = \"zeros\"", "random or half"),
            ("dbuf_cache_shift = \"wide\"", "must be a number"),
            ("io_size = [1]", "no value"),
            ("device_ms = -1", "0 or more"),
        ];
        for (text, says) in wrong {
            let error = setup(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
