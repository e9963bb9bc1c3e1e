//! Engine `user`: OpenZFS of this host in a child process, through libzpool.
//!
//! The parent never opens libzpool: it reads the ELF file to know what it is ([`library`]), and has
//! the child started with the interposers preloaded ([`shim`]). The child opens the library ([`abi`]),
//! cures its distortions ([`cures`]) and plays the steps ([`session`]).

// Calling a C library that is found at run time; every call is behind a typed wrapper here.
#![allow(unsafe_code)]

pub mod abi;
pub mod cures;
pub mod dataset;
pub mod disks;
pub mod dmu;
pub mod engine;
pub mod features;
pub mod kept;
pub mod kstats;
pub mod library;
pub mod limits;
pub mod nvlist;
pub mod offload;
pub mod package;
pub mod pool;
pub mod search;
pub mod session;
pub mod shim;
pub mod snapshots;
pub mod streams;
pub mod tune;
pub mod zil;
