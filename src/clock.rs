//! The time, unless the host brings a clock of its own.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch, whole, as `Date.now()` gives them.
pub fn now_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64)
}
