//! What one variant of an experiment runs with: properties of the dataset and the way of the I/O.
//!
//! Every setting can be an axis of an experiment. The numbers are those of the enumerations in
//! OpenZFS (`include/sys/zio.h`, `include/sys/dsl_crypt.h`) that are the same from 2.1 to 2.4.

use crate::Bytes;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub encryption: Encryption,
    pub compression: Compression,
    pub checksum: Checksum,
    /// Block size of the objects; 128K is the default of OpenZFS.
    pub recordsize: Bytes,
    /// Size of one write or read call, as `bs=` of dd.
    pub io_size: Bytes,
    /// Threads that write or read, each its own object.
    pub threads: u32,
    pub data: Content,
    /// `zfs_arc_max`.
    pub arc_max: Bytes,
    /// The memory OpenZFS is told the host has; it sizes the ARC and the dirty data limit by it.
    pub memory: Bytes,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            encryption: Encryption::Off,
            compression: Compression::Off,
            checksum: Checksum::Fletcher4,
            recordsize: Bytes(128 << 10),
            io_size: Bytes(1 << 20),
            threads: 1,
            data: Content::Random,
            arc_max: Bytes(512 << 20),
            memory: Bytes(4 << 30),
        }
    }
}

impl Settings {
    /// Says which setting OpenZFS or the runner could not work with.
    pub fn check(&self) -> Result<(), String> {
        let power = |size: Bytes| size.0.is_power_of_two();
        if !power(self.recordsize) || self.recordsize.0 < 4096 || self.recordsize.0 > 16 << 20 {
            return Err(format!(
                "recordsize is {}; it must be a power of two from 4K to 16M",
                self.recordsize
            ));
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
        Ok(())
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Does not compress.
    Random,
    /// Every other 512 bytes are zeros, so that it compresses to about half.
    Half,
}

/// A property value: its name in `zfs set`, and its number in OpenZFS.
macro_rules! property {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $name:literal, $number:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $type { $(#[serde(rename = $name)] $variant,)* }

        impl $type {
            pub(crate) fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }

            pub(crate) fn number(self) -> u64 {
                match self { $($type::$variant => $number,)* }
            }
        }
    };
}

property! {
    /// `encryption` (`enum zio_encrypt`; off is no number there: the dataset has no key).
    Encryption {
        Off = "off", 2;
        Aes256Ccm = "aes-256-ccm", 5;
        Aes256Gcm = "aes-256-gcm", 8;
    }
}

property! {
    /// `compression` (`enum zio_compress`).
    Compression {
        Off = "off", 2;
        Gzip1 = "gzip-1", 5;
        Gzip6 = "gzip-6", 10;
        Gzip9 = "gzip-9", 13;
        Lz4 = "lz4", 15;
        Zstd = "zstd", 16;
    }
}

property! {
    /// `checksum` (`enum zio_checksum`). blake3 needs OpenZFS 2.2.
    Checksum {
        Fletcher4 = "fletcher4", 7;
        Sha256 = "sha256", 8;
        Blake3 = "blake3", 14;
    }
}
