//! The one writer of a workspace in this process, and its group commit.
//!
//! Jobs queue up. Whoever holds the *turn* takes what waits, runs each job in a savepoint of one
//! SQLite transaction and commits once: a disk flush is shared by all that arrived during the one
//! before. A transaction of the user's holds the turn for as long as it is open. Where no flush
//! is asked for and nobody waits, a small job takes the turn on the calling thread.
//!
//! ```text
//! later()  ──▶ queue ──▶ drain (turn) ──▶ BEGIN IMMEDIATE ─▶ jobs ─▶ COMMIT ──▶ finish each
//!                           ▲     │ busy: another process writes
//!                           └─────┘ tried again after a pause, on no thread
//! ```

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::activity::Call;
use super::change::Totals;
use super::connection::{Conn, Durability};
use super::pool::lock;
use super::tx::{Effects, ReadTx, Terms, WriteTx, guarded, undone};
use super::{Shared, executor};
use crate::error::{Code, FsError, Result};
use crate::limits::{BATCH_BYTES_MAX, BATCH_JOBS_MAX, WAL_CHECKPOINT_PAGES, WAL_PAGES_MAX};

/// See the module.
pub struct Writer {
    queue: Mutex<Queue>,
    turn: Arc<Semaphore>,
    /// Whether the next commit may have to wait for the disk: the WAL is too long, or starts anew,
    /// which SQLite does with a flush.
    may_flush: AtomicBool,
    is_checkpointing: AtomicBool,
    /// Length of the WAL, in pages, when it was last copied back.
    copied_pages: AtomicU32,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Box<dyn QueuedJob>>,
    is_draining: bool,
}

impl Default for Writer {
    fn default() -> Self {
        Writer {
            queue: Mutex::default(),
            turn: Arc::new(Semaphore::new(1)),
            may_flush: AtomicBool::new(true),
            is_checkpointing: AtomicBool::new(false),
            copied_pages: AtomicU32::new(0),
        }
    }
}

/// A mutation for the queue.
pub struct Job<Work, Done> {
    /// What it is made under.
    pub terms: Terms,
    /// Whether its commit must be as durable as the workspace promises. Parts of an upload need
    /// not be: the commit that makes the file visible flushes them too.
    pub is_durable: bool,
    /// Bytes that it writes, roughly.
    pub bytes: usize,
    /// The change.
    pub work: Work,
    /// Takes the result once it is committed.
    pub done: Done,
}

/// The right to write. One at a time.
pub(super) type Turn = OwnedSemaphorePermit;

trait QueuedJob: Send {
    fn run(&mut self, conn: &Conn, totals: &Cell<Totals>) -> Effects;
    fn error(&self) -> Option<FsError>;
    fn finish(self: Box<Self>, commit: Result<()>);
    fn is_durable(&self) -> bool;
    fn bytes(&self) -> usize;
}

struct Queued<T, Work, Done> {
    terms: Terms,
    is_durable: bool,
    bytes: usize,
    work: Option<Work>,
    done: Done,
    outcome: Option<Result<T>>,
}

impl<T, Work, Done> QueuedJob for Queued<T, Work, Done>
where
    T: Send,
    Work: FnOnce(&WriteTx<'_>) -> Result<T> + Send,
    Done: FnOnce(Result<T>) + Send,
{
    fn run(&mut self, conn: &Conn, totals: &Cell<Totals>) -> Effects {
        let Some(work) = self.work.take() else { return Effects::default() };
        let result = WriteTx::run_nested(conn, totals, std::mem::take(&mut self.terms), work);
        let (outcome, effects) = match result {
            Ok((value, effects)) => (Ok(value), effects),
            Err(error) => (Err(error), Effects::default()),
        };
        self.outcome = Some(outcome);
        effects
    }

    fn error(&self) -> Option<FsError> {
        self.outcome.as_ref().and_then(|outcome| outcome.as_ref().err().cloned())
    }

    fn finish(self: Box<Self>, commit: Result<()>) {
        let outcome = match (commit, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Err(error), _) => Err(error),
            (Ok(()), None) => Err(FsError::with_detail(Code::Io, "internal error: the job did not run")),
        };
        (self.done)(outcome);
    }

    fn is_durable(&self) -> bool {
        self.is_durable
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Writer {
    /// Runs `work` on this thread if that means no waiting and no flush; otherwise gives it back.
    pub(super) fn here<T, Work>(
        &self,
        shared: &Arc<Shared>,
        terms: Terms,
        work: Work,
    ) -> Result<Result<T>, Work>
    where
        Work: FnOnce(&WriteTx<'_>) -> Result<T>,
    {
        let durability = shared.config.durability;
        if durability == Durability::Full && !shared.is_memory() {
            return Err(work);
        }
        let queue = lock(&self.queue);
        let may_flush = self.may_flush.load(Ordering::Acquire) && !shared.is_memory();
        if queue.is_draining || may_flush {
            return Err(work);
        }
        let Ok(turn) = Arc::clone(&self.turn).try_acquire_owned() else { return Err(work) };
        drop(queue);
        let Some(lease) = shared.pool.try_take() else { return Err(work) };
        match lease.sync_as(durability).and_then(|()| lease.run("BEGIN IMMEDIATE")) {
            Ok(()) => {}
            Err(_) => return Err(work),
        }
        let result = guarded(|| {
            let totals = Cell::new(ReadTx::over(&lease).totals()?);
            let done = WriteTx::run(&lease, &totals, terms, work)?;
            lease.run("COMMIT")?;
            Ok(done)
        });
        drop(lease);
        drop(turn);
        Ok(result.map(|(value, effects)| {
            self.committed(shared, effects, Conn::wal_pages());
            value
        }))
    }

    /// Queues a job.
    pub(super) fn later<T, Work, Done>(&self, shared: &Arc<Shared>, job: Job<Work, Done>)
    where
        T: Send + 'static,
        Work: FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
        Done: FnOnce(Result<T>) + Send + 'static,
    {
        let mut queue = lock(&self.queue);
        queue.jobs.push_back(Box::new(Queued {
            terms: job.terms,
            is_durable: job.is_durable,
            bytes: job.bytes,
            work: Some(job.work),
            done: job.done,
            outcome: None,
        }));
        let must_start = !std::mem::replace(&mut queue.is_draining, true);
        drop(queue);
        if must_start {
            let shared = Arc::clone(shared);
            executor::spawn_blocking(move || drain(shared));
        }
    }

    /// The right to write, when it comes.
    pub(super) async fn turn(&self) -> Turn {
        Arc::clone(&self.turn).acquire_owned().await.expect("the semaphore is never closed")
    }

    fn end_checkpoint(&self, pages_left: u32) {
        if pages_left == 0 {
            // The next commit starts the WAL anew, which SQLite does with a flush.
            self.may_flush.store(true, Ordering::Release);
        }
        self.is_checkpointing.store(false, Ordering::Release);
    }

    /// What follows a commit: wake watchers, call the collector, keep the WAL short.
    pub(super) fn committed(&self, shared: &Arc<Shared>, effects: Effects, wal_pages: u32) {
        if effects.changes > 0 {
            shared.notice.wake();
            shared.maintenance.after_changes(shared, effects.changes);
        }
        if effects.has_garbage {
            shared.maintenance.request(shared);
        }
        if shared.is_memory() {
            return;
        }
        self.may_flush.store(wal_pages > WAL_PAGES_MAX, Ordering::Release);
        // Shorter than it was: it has started anew.
        let copied = self.copied_pages.load(Ordering::Relaxed).min(wal_pages);
        self.copied_pages.store(copied, Ordering::Relaxed);
        if wal_pages - copied >= WAL_CHECKPOINT_PAGES && !self.is_checkpointing.swap(true, Ordering::AcqRel) {
            self.copied_pages.store(wal_pages, Ordering::Relaxed);
            let (shared, call) = (Arc::clone(shared), shared.activity.enter());
            executor::spawn_blocking(move || checkpoint(shared, call));
        }
    }
}

/// Copies the WAL back while writers go on, then the little that they added while they wait: only
/// when all of it is copied does the WAL start anew instead of growing.
///
/// `call` makes `close()` wait: the last connection to close has to be the one it closes.
fn checkpoint(shared: Arc<Shared>, call: Call) {
    if copy_back(&shared) == Some(0) {
        shared.writer.end_checkpoint(0);
        return;
    }
    executor::spawn(async move {
        let turn = shared.writer.turn().await;
        executor::spawn_blocking(move || {
            let rest = copy_back(&shared);
            shared.writer.end_checkpoint(rest.unwrap_or(1));
            drop(turn);
            drop(call);
        });
    });
}

/// The pages that are left to copy. Failing is no loss: a later commit asks again.
fn copy_back(shared: &Arc<Shared>) -> Option<u32> {
    let lease = shared.pool.take().ok()?;
    lease.sync_as(shared.config.durability).ok()?;
    lease.checkpoint("PASSIVE").ok()
}

fn drain(shared: Arc<Shared>) {
    match Arc::clone(&shared.writer.turn).try_acquire_owned() {
        Ok(turn) => drain_with(shared, turn, 0),
        Err(_) => executor::spawn(async move {
            let turn = shared.writer.turn().await;
            executor::spawn_blocking(move || drain_with(shared, turn, 0));
        }),
    }
}

/// Commits batches until the queue is empty, somebody else wants the turn, or the database is
/// busy.
fn drain_with(shared: Arc<Shared>, turn: Turn, attempts: u32) {
    let Some(batch) = next_batch(&shared.writer.queue) else { return };
    match commit(&shared, batch) {
        Ok(()) => {
            // Given up between batches, so that a transaction that waits gets its turn.
            drop(turn);
            drain(shared);
        }
        Err(batch) => {
            let mut queue = lock(&shared.writer.queue);
            for job in batch.into_iter().rev() {
                queue.jobs.push_front(job);
            }
            drop(queue);
            executor::spawn_blocking_after(executor::backoff(attempts), move || {
                drain_with(shared, turn, attempts.saturating_add(1));
            });
        }
    }
}

fn next_batch(queue: &Mutex<Queue>) -> Option<Vec<Box<dyn QueuedJob>>> {
    let mut queue = lock(queue);
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < BATCH_JOBS_MAX && bytes < BATCH_BYTES_MAX {
        let Some(job) = queue.jobs.pop_front() else { break };
        bytes += job.bytes();
        batch.push(job);
    }
    if batch.is_empty() {
        queue.is_draining = false;
        return None;
    }
    Some(batch)
}

/// Runs and commits a batch, and tells each job. Gives it back if the database is busy.
fn commit(shared: &Arc<Shared>, mut batch: Vec<Box<dyn QueuedJob>>) -> Result<(), Vec<Box<dyn QueuedJob>>> {
    let is_durable = batch.iter().any(|job| job.is_durable());
    let lease = match shared.pool.take() {
        Ok(lease) => lease,
        Err(error) if error.code() == Code::Busy => return Err(batch),
        Err(error) => {
            finish(batch, Err(error));
            return Ok(());
        }
    };
    let durability = match shared.config.durability {
        Durability::Full if !is_durable => Durability::Normal,
        other => other,
    };
    let began = lease
        .sync_as(durability)
        .and_then(|()| lease.run("BEGIN IMMEDIATE"))
        .map_err(FsError::from)
        .and_then(|()| ReadTx::over(&lease).totals());
    let totals = match began {
        Ok(totals) => Cell::new(totals),
        Err(error) if error.code() == Code::Busy => return Err(batch),
        Err(error) => {
            drop(lease);
            finish(batch, Err(error));
            return Ok(());
        }
    };
    let mut effects = Effects::default();
    let mut committed = Ok(());
    for job in &mut batch {
        effects = effects.and(job.run(&lease, &totals));
        if !lease.is_in_transaction() {
            // The disk failed under this job, and the ones before it are undone too.
            committed = Err(job.error().unwrap_or_else(undone));
            break;
        }
    }
    let committed = committed.and_then(|()| lease.run("COMMIT").map_err(FsError::from));
    let wal_pages = Conn::wal_pages();
    if committed.is_err() {
        lease.discard();
    } else {
        if wal_pages > WAL_PAGES_MAX {
            // The background copy could not keep up. Readers go on; writers wait here.
            let _ = lease.checkpoint("RESTART");
        }
        drop(lease);
        shared.writer.committed(shared, effects, if wal_pages > WAL_PAGES_MAX { 0 } else { wal_pages });
    }
    finish(batch, committed);
    Ok(())
}

fn finish(batch: Vec<Box<dyn QueuedJob>>, commit: Result<()>) {
    for job in batch {
        job.finish(commit.clone());
    }
}
