//! Engine `user`: OpenZFS of this host in a child process, through libzpool.
//!
//! The parent never opens libzpool: it reads the ELF file to know what it is ([`library`]), starts
//! the child with the interposers preloaded ([`shim`]), and talks to it over pipes ([`protocol`]).
//! The child opens the library ([`abi`]), cures its distortions ([`cures`]) and runs the steps.

// Calling a C library that is found at run time; every call is behind a typed wrapper here.
#![allow(unsafe_code)]

pub mod abi;
pub mod child;
pub mod clocks;
pub mod cures;
pub mod dataset;
pub mod dmu;
pub mod features;
pub mod io;
pub mod kstats;
pub mod library;
pub mod nvlist;
pub mod package;
pub mod parent;
pub mod pool;
pub mod protocol;
pub mod search;
pub mod shim;
pub mod snapshots;
pub mod tune;
