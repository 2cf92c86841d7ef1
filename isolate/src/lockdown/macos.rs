//! macOS: a sandbox profile that denies everything.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use super::give_up;

unsafe extern "C" {
    fn sandbox_init(profile: *const c_char, flags: u64, error: *mut *mut c_char) -> c_int;
}

/// Reading, writing and memory need no permission once descriptors are open.
const PROFILE: &CStr = c"(version 1)(deny default)(allow process-info* (target self))(allow sysctl-read)";

pub fn lock_in() {
    let mut error = ptr::null_mut();
    // SAFETY: a text that ends in NUL, no flags, and a place for the message, which the process does
    // not live long enough to give back.
    if unsafe { sandbox_init(PROFILE.as_ptr(), 0, &raw mut error) } != 0 {
        give_up("sandbox_init");
    }
}
