//! The threads of the process: a bounded number that may wait for the disk, and one that waits
//! for the clock and for turns. Shared by all workspaces, and none of them keeps Node alive.

use std::cell::Cell;
use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use tokio::sync::Semaphore;

use crate::limits::{BLOCKING_THREADS, SEARCHES_MAX};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_keep_alive(Duration::from_secs(5))
        .thread_name("carrel")
        .on_thread_start(|| MAY_WAIT.set(true))
        .enable_time()
        .build()
        .expect("the process can start two threads")
});

thread_local! {
    static MAY_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Whether this is a thread that may wait, and not one of JavaScript's.
pub fn may_wait() -> bool {
    MAY_WAIT.get()
}

/// Runs `work` on a thread that may wait.
pub fn spawn_blocking(work: impl FnOnce() + Send + 'static) {
    RUNTIME.spawn_blocking(work);
}

/// Runs long work on a thread that may wait, when it is its turn.
pub fn spawn_search(work: impl FnOnce() + Send + 'static) {
    static SEARCHES: Semaphore = Semaphore::const_new(SEARCHES_MAX);
    RUNTIME.spawn(async move {
        let turn = SEARCHES.acquire().await;
        RUNTIME.spawn_blocking(move || {
            work();
            drop(turn);
        });
    });
}

/// Runs a future that only waits.
pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    RUNTIME.spawn(future);
}

/// Runs `work` on a thread that may wait, after `delay`.
pub fn spawn_blocking_after(delay: Duration, work: impl FnOnce() + Send + 'static) {
    RUNTIME.spawn(async move {
        tokio::time::sleep(delay).await;
        RUNTIME.spawn_blocking(work);
    });
}

/// How long to wait before the database, busy `attempts` times in a row, is tried again. Short
/// at first, since most locks are held for under a millisecond.
pub fn backoff(attempts: u32) -> Duration {
    Duration::from_micros(250 << attempts.min(5))
}
