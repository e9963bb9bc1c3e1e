//! Parameters of the module, and implementations chosen by name, in this process.

use super::abi::Zpool;
use super::cures;
use super::nvlist::c_string;
use crate::engine::protocol::Parameter;
use crate::failure::Failure;
use crate::spec::names::{Chooser, SETTINGS};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};

/// Writes the variables behind parameters. Before `kernel_init`: nothing reads them yet.
pub fn parameters(zpool: &Zpool, parameters: &[Parameter]) -> Result<(), Failure> {
    for Parameter { name, size, value } in parameters {
        let doing = || format!("set {name} to {value}");
        let address = zpool.address(name).ok_or_else(|| Failure::other(doing(), "it is not exported"))?;
        let fits = match size {
            4 => i32::try_from(*value).map(|v| v.cast_unsigned()).or_else(|_| u32::try_from(*value)).is_ok(),
            _ => i64::try_from(*value).is_ok() || u64::try_from(*value).is_ok(),
        };
        if !fits {
            return Err(Failure::other(doing(), format!("it has {size} bytes")));
        }
        // SAFETY: a variable of that size by the library's own table; two's complement either way.
        unsafe {
            match size {
                4 => address.cast::<u32>().write(*value as u32),
                _ => address.cast::<u64>().write(*value as u64),
            }
        }
    }
    Ok(())
}

/// Chooses implementations. After `kernel_init`, which detects those that this CPU can run.
pub fn implementations(zpool: &Zpool, chosen: &BTreeMap<String, String>) -> Result<(), Failure> {
    for (parameter, name) in chosen {
        let doing = format!("set {parameter} to {name}");
        let error = match SETTINGS.implementations.get(parameter) {
            Some(Chooser::Function(function)) => by_function(zpool, function, name),
            Some(Chooser::Checksum(checksum)) => cures::set_checksum(zpool, checksum, name),
            None => None,
        };
        match error {
            Some(0) => {}
            Some(_) => return Err(Failure::other(doing, "OpenZFS or this CPU has no such implementation")),
            None => return Err(Failure::other(doing, "this release cannot choose it from outside")),
        }
    }
    Ok(())
}

/// `None` where the release has no such function.
fn by_function(zpool: &Zpool, function: &str, name: &str) -> Option<c_int> {
    type Set = unsafe extern "C" fn(*const c_char) -> c_int;
    let address = zpool.address(function)?;
    let name = c_string(name);
    // SAFETY: `int NAME_impl_set(const char *)` in all releases that export it.
    unsafe { Some(std::mem::transmute::<*mut c_void, Set>(address)(name.as_ptr())) }
}
