//! What is done behind the users' backs: letting go of what died, collecting what nothing points
//! to, and keeping the change log short. In small steps through the ordinary queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use std::cell::Cell;

use super::tx::Terms;
use super::writer::Job;
use super::{Conn, Location, ReadTx, Shared, Store, WriteTx, executor, guarded};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::limits::CHANGE_LOG_ROWS;

/// How long garbage may wait, so that a burst of work is collected after once.
const DELAY: Duration = Duration::from_millis(200);
/// Pause between steps, which leaves the writer to others.
const PAUSE: Duration = Duration::from_millis(2);
/// Changes of this process after which the log is looked at.
const TRIM_EVERY: usize = 4096;
/// Entries of the log that are removed in one step.
const TRIM_STEP: i64 = 8192;
/// Most steps that `close()` waits for. Each removes up to 32 MiB.
const STEPS_AT_CLOSE: usize = 16;

/// When to run.
#[derive(Default)]
pub struct Schedule {
    /// Whether a run is due or under way.
    is_requested: AtomicBool,
    /// Counts requests. What was asked for while a step ran may be in the same commit, after it.
    requests: AtomicUsize,
    changes: AtomicUsize,
}

impl Schedule {
    /// Has the collector run soon.
    pub fn request(&self, shared: &Arc<Shared>) {
        self.requests.fetch_add(1, Ordering::AcqRel);
        if self.is_requested.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::downgrade(shared);
        executor::spawn_blocking_after(DELAY, move || {
            if let Some(shared) = shared.upgrade() {
                step(shared, true);
            }
        });
    }

    /// The first change looks for what dead processes left; later ones now and then for a long
    /// log.
    pub fn after_changes(&self, shared: &Arc<Shared>, count: usize) {
        let before = self.changes.fetch_add(count, Ordering::Relaxed);
        if before == 0 || before / TRIM_EVERY != (before + count) / TRIM_EVERY {
            self.request(shared);
        }
    }
}

fn step(shared: Arc<Shared>, is_first: bool) {
    if shared.is_closed.load(Ordering::Acquire) {
        return;
    }
    let terms = Terms { now: now_ms(), ..Terms::default() };
    let (begun, again) = (Arc::clone(&shared), Arc::clone(&shared));
    let seen = Arc::new(AtomicUsize::new(0));
    let seen_at_begin = Arc::clone(&seen);
    let call = shared.activity.enter();
    shared.writer.later(
        &shared,
        Job {
            terms,
            is_durable: false,
            bytes: 0,
            work: move |tx: &WriteTx<'_>| {
                seen_at_begin.store(begun.maintenance.requests.load(Ordering::Acquire), Ordering::Release);
                collect(tx, &begun.config.location, is_first)
            },
            done: move |more| {
                drop(call);
                if matches!(more, Ok(true)) {
                    executor::spawn_blocking_after(PAUSE, move || step(again, false));
                    return;
                }
                let schedule = &again.maintenance;
                schedule.is_requested.store(false, Ordering::Release);
                if schedule.requests.load(Ordering::Acquire) != seen.load(Ordering::Acquire) {
                    schedule.request(&again);
                }
            },
        },
    );
}

/// One step. Returns whether there may be more to do.
fn collect(tx: &WriteTx<'_>, location: &Location, is_first: bool) -> Result<bool> {
    if is_first {
        tx.reap_pins(location)?;
    }
    if is_first {
        tx.trim_ledger()?;
    }
    let is_log_long = tx.trim_changes(CHANGE_LOG_ROWS, TRIM_STEP)?;
    Ok(tx.collect_step()? || is_log_long)
}

/// The same at once, for the holder of the writer's turn.
fn collect_now(shared: &Shared, conn: &Conn, is_first: bool) -> Result<bool> {
    conn.run("BEGIN IMMEDIATE")?;
    let totals = Cell::new(ReadTx::over(conn).totals()?);
    let terms = Terms { now: now_ms(), ..Terms::default() };
    let (more, _) = WriteTx::run(conn, &totals, terms, |tx| collect(tx, &shared.config.location, is_first))?;
    conn.run("COMMIT")?;
    Ok(more)
}

/// Makes up at `close()` for the run that is due and does not come any more. Otherwise programs
/// that live for a moment only would let the file grow for ever.
pub(super) fn finish(shared: &Shared) {
    if shared.is_memory() || !shared.maintenance.is_requested.load(Ordering::Acquire) {
        return;
    }
    let Ok(lease) = shared.pool.take() else { return };
    for step in 0..STEPS_AT_CLOSE {
        // If another process writes, it collects too.
        if !matches!(guarded(|| collect_now(shared, &lease, step == 0)), Ok(true)) {
            return;
        }
    }
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
                let _ = send.send(guarded(|| compact_now(&work)));
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
    let mut is_first = true;
    while collect_now(shared, &lease, is_first)? {
        is_first = false;
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
