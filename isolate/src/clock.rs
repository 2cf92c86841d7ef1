//! The time inside the run: the system's, or, in a run that can be replayed, that of the last frame.

use std::cell::Cell;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

thread_local! {
    static CLOCK: Cell<Clock> = const { Cell::new(Clock::Unset) };
}

#[derive(Clone, Copy)]
enum Clock {
    Unset,
    /// The system's; with the moment at which the run began.
    Running {
        start: Instant,
    },
    /// Stands between frames.
    Frozen {
        start_ms: f64,
        now_ms: f64,
    },
}

/// Begins the run's time.
pub fn start(epoch_ms: f64, is_frozen: bool) {
    CLOCK.set(if is_frozen {
        Clock::Frozen { start_ms: epoch_ms, now_ms: epoch_ms }
    } else {
        Clock::Running { start: Instant::now() }
    });
}

/// A frame says what time it is.
pub fn set(epoch_ms: f64) {
    if let Clock::Frozen { start_ms, now_ms } = CLOCK.get() {
        CLOCK.set(Clock::Frozen { start_ms, now_ms: now_ms.max(epoch_ms) });
    }
}

/// Milliseconds since the epoch.
pub fn epoch_ms() -> f64 {
    match CLOCK.get() {
        Clock::Frozen { now_ms, .. } => now_ms,
        _ => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1e3),
    }
}

/// Milliseconds since the run began.
pub fn monotonic_ms() -> f64 {
    match CLOCK.get() {
        Clock::Unset => 0.0,
        Clock::Running { start } => start.elapsed().as_secs_f64() * 1e3,
        Clock::Frozen { start_ms, now_ms } => now_ms - start_ms,
    }
}
