//! Name-value lists of OpenZFS as an owned Rust type. The fnvlist functions abort instead of failing.

use super::abi::{Functions, NvlistRaw};
use std::ffi::{CString, c_uint};

pub struct Nvlist {
    call: Functions,
    raw: *mut NvlistRaw,
}

impl Nvlist {
    pub fn new(call: Functions) -> Nvlist {
        // SAFETY: allocates; aborts rather than returning null.
        Nvlist { call, raw: unsafe { (call.fnvlist_alloc)() } }
    }

    /// Takes over a list that OpenZFS made.
    ///
    /// # Safety
    /// `raw` is a valid list that nobody else frees.
    pub unsafe fn from_raw(call: Functions, raw: *mut NvlistRaw) -> Nvlist {
        Nvlist { call, raw }
    }

    pub fn string(self, name: &str, value: &str) -> Nvlist {
        let (name, value) = (c_string(name), c_string(value));
        // SAFETY: the list is valid; name and value are copied.
        unsafe { (self.call.fnvlist_add_string)(self.raw, name.as_ptr(), value.as_ptr()) };
        self
    }

    pub fn boolean(self, name: &str) -> Nvlist {
        let name = c_string(name);
        // SAFETY: the list is valid; the name is copied.
        unsafe { (self.call.fnvlist_add_boolean)(self.raw, name.as_ptr()) };
        self
    }

    pub fn u64(self, name: &str, value: u64) -> Nvlist {
        let name = c_string(name);
        // SAFETY: the list is valid; the name is copied.
        unsafe { (self.call.fnvlist_add_uint64)(self.raw, name.as_ptr(), value) };
        self
    }

    pub fn bytes(self, name: &str, value: &mut [u8]) -> Nvlist {
        let name = c_string(name);
        // SAFETY: the list is valid; name and bytes are copied.
        unsafe {
            (self.call.fnvlist_add_uint8_array)(
                self.raw,
                name.as_ptr(),
                value.as_mut_ptr(),
                value.len() as c_uint,
            )
        };
        self
    }

    pub fn lists(self, name: &str, values: &[Nvlist]) -> Nvlist {
        let name = c_string(name);
        let mut raw: Vec<*mut NvlistRaw> = values.iter().map(|v| v.raw).collect();
        // SAFETY: all lists are valid; they are copied.
        unsafe {
            (self.call.fnvlist_add_nvlist_array)(
                self.raw,
                name.as_ptr(),
                raw.as_mut_ptr(),
                raw.len() as c_uint,
            )
        };
        self
    }

    pub fn as_ptr(&self) -> *mut NvlistRaw {
        self.raw
    }
}

impl Drop for Nvlist {
    fn drop(&mut self) {
        // SAFETY: the list is valid and owned.
        unsafe { (self.call.fnvlist_free)(self.raw) };
    }
}

/// Text for C; what follows a NUL byte is cut, as C would.
pub fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}
