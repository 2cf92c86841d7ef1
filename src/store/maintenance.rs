//! What is done behind the users' backs: letting go of what died, collecting what nothing points
//! to, and keeping the change log short. In small steps through the ordinary queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use std::cell::Cell;

use super::tx::Terms;
use super::writer::Job;
use super::{Conn, ReadTx, Shared, Store, WriteTx, executor};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::limits::CHANGE_LOG_ROWS;

/// How long garbage may wait, so that a burst of work is collected after once.
const DELAY: Duration = Duration::from_millis(200);
/// Pause between steps, which leaves the writer to others.
const PAUSE: Duration = Duration::from_millis(2);
/// Changes of this process after which the log is looked at.
const TRIM_EVERY: u32 = 4096;

/// When to run.
#[derive(Default)]
pub struct Schedule {
    is_requested: AtomicBool,
    has_reaped: AtomicBool,
    changes: AtomicU32,
}

impl Schedule {
    /// Has the collector run soon.
    pub fn request(&self, shared: &Arc<Shared>) {
        if self.is_requested.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::downgrade(shared);
        executor::spawn_blocking_after(DELAY, move || {
            if let Some(shared) = shared.upgrade() {
                step(shared);
            }
        });
    }

    /// The first change looks for what dead processes left; later ones now and then for a long
    /// log.
    pub fn after_change(&self, shared: &Arc<Shared>) {
        let changes = self.changes.fetch_add(1, Ordering::Relaxed);
        if changes.is_multiple_of(TRIM_EVERY) {
            self.request(shared);
        }
    }
}

fn step(shared: Arc<Shared>) {
    if shared.is_closed.load(Ordering::Acquire) {
        return;
    }
    let terms = Terms { now: now_ms(), quota_bytes: None };
    let location = shared.config.location.clone();
    let must_reap = !shared.maintenance.has_reaped.swap(true, Ordering::AcqRel);
    let again = Arc::clone(&shared);
    shared.writer.later(
        &shared,
        Job {
            terms,
            is_durable: false,
            bytes: 0,
            work: move |tx: &WriteTx<'_>| {
                if must_reap {
                    tx.reap_pins(&location)?;
                }
                tx.trim_changes(CHANGE_LOG_ROWS)?;
                tx.collect_step()
            },
            done: move |more| {
                if matches!(more, Ok(true)) {
                    executor::spawn_blocking_after(PAUSE, move || step(again));
                } else {
                    again.maintenance.is_requested.store(false, Ordering::Release);
                }
            },
        },
    );
}

/// Collects all there is to collect and gives the freed space back to the disk. Other writers
/// wait meanwhile. `done` gets the number of bytes freed.
pub fn compact(store: &Store, done: impl FnOnce(Result<u64>) + Send + 'static) {
    let call = store.enter();
    let shared = Arc::clone(&store.shared);
    executor::spawn(async move {
        let turn = shared.writer.turn().await;
        let mut attempts = 0;
        let result = loop {
            let (send, receive) = tokio::sync::oneshot::channel();
            let work = Arc::clone(&shared);
            executor::spawn_blocking(move || {
                // Nobody waits for the answer only if the runtime is gone.
                let _ = send.send(super::guarded(|| compact_now(&work)));
            });
            match receive.await {
                Ok(Err(error)) if error.code() == Code::Busy => {
                    tokio::time::sleep(executor::backoff(attempts)).await;
                    attempts += 1;
                }
                Ok(result) => break result,
                Err(_) => break Err(FsError::with_detail(Code::Io, "internal error: compact did not run")),
            }
        };
        drop(turn);
        drop(call);
        done(result);
    });
}

fn compact_now(shared: &Arc<Shared>) -> Result<u64> {
    let store = Store { shared: Arc::clone(shared) };
    let lease = shared.pool.take()?;
    let size = |conn: &Conn| -> Result<u64> {
        let (database, wal) = store.disk_usage(&ReadTx::over(conn))?;
        Ok(database + wal)
    };
    let before = size(&lease)?;
    lease.sync_as(shared.config.durability)?;
    loop {
        lease.run("BEGIN IMMEDIATE")?;
        let totals = Cell::new(ReadTx::over(&lease).totals()?);
        let terms = Terms { now: now_ms(), quota_bytes: None };
        let (more, _) = WriteTx::run(&lease, &totals, terms, |tx| {
            tx.reap_pins(&shared.config.location)?;
            tx.collect_step()
        })?;
        lease.run("COMMIT")?;
        if !more {
            break;
        }
        if Conn::wal_pages() > crate::limits::WAL_PAGES_MAX {
            lease.checkpoint("RESTART")?;
        }
    }
    lease.run("VACUUM")?;
    if !shared.is_memory() {
        // A reader may hold back the end of it; then the next checkpoint shortens the WAL.
        let _ = lease.checkpoint("TRUNCATE");
    }
    Ok(before.saturating_sub(size(&lease)?))
}
