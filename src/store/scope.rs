//! Where a call takes place: in the workspace as it is, or in an open transaction. Either runs
//! work on the calling thread if that means no waiting, or later on a thread that may wait.

use std::sync::Arc;

use super::pool::Lease;
use super::tx::{ReadTx, Terms, WriteTx, guarded};
use super::writer::Job;
use super::{Store, Transaction, executor};
use crate::error::{Code, Result};

/// See the module.
#[derive(Clone)]
pub enum Scope {
    /// Each change on its own.
    Workspace(Store),
    /// Changes that become visible together.
    Transaction(Arc<Transaction>),
}

impl Scope {
    /// The workspace.
    pub fn store(&self) -> &Store {
        match self {
            Scope::Workspace(store) => store,
            Scope::Transaction(transaction) => transaction.store(),
        }
    }

    /// `ECLOSED` after `close()`; an open transaction is a call under way and goes on.
    pub fn check_open(&self) -> Result<()> {
        match self {
            Scope::Workspace(store) => store.check_open(),
            Scope::Transaction(_) => Ok(()),
        }
    }

    /// Whether this is a transaction.
    pub fn is_transaction(&self) -> bool {
        matches!(self, Scope::Transaction(_))
    }

    /// Runs a read on this thread, unless that would mean waiting.
    pub fn read_here<T>(&self, work: &impl Fn(&ReadTx<'_>) -> Result<T>) -> Option<Result<T>> {
        match self {
            Scope::Workspace(store) => {
                let lease = store.shared.pool.try_take()?;
                match read_once(lease, work) {
                    Err(error) if error.code() == Code::Busy => None,
                    result => Some(result),
                }
            }
            Scope::Transaction(transaction) => {
                let _call = transaction.calls.try_acquire().ok()?;
                Some(transaction.read(work))
            }
        }
    }

    /// Runs a read on a thread that may wait.
    pub fn read_later<T: Send + 'static>(
        &self,
        work: impl Fn(&ReadTx<'_>) -> Result<T> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let call = self.store().shared.activity.enter();
        let done = move |result| {
            done(result);
            drop(call);
        };
        match self.clone() {
            Scope::Workspace(store) => {
                executor::spawn_blocking(move || read_patiently(store, work, 0, done));
            }
            Scope::Transaction(transaction) => executor::spawn(async move {
                let turn = Arc::clone(&transaction.calls).acquire_owned().await;
                executor::spawn_blocking(move || {
                    let result = transaction.read(work);
                    drop(turn);
                    done(result);
                });
            }),
        }
    }

    /// Runs a read on this thread, which may wait.
    pub fn read_now<T>(&self, work: impl Fn(&ReadTx<'_>) -> Result<T>) -> Result<T> {
        match self {
            Scope::Workspace(store) => {
                let mut attempts = 0;
                loop {
                    match store.shared.pool.take().and_then(|lease| read_once(lease, &work)) {
                        Err(error) if error.code() == Code::Busy => {}
                        result => return result,
                    }
                    std::thread::sleep(executor::backoff(attempts));
                    attempts += 1;
                }
            }
            Scope::Transaction(transaction) => transaction.read(work),
        }
    }

    /// Runs a small change on this thread, if that means no waiting; otherwise gives it back.
    pub fn write_here<T, Work>(&self, now: f64, work: Work) -> Result<Result<T>, Work>
    where
        Work: FnOnce(&WriteTx<'_>) -> Result<T>,
    {
        match self {
            Scope::Workspace(store) => store.shared.writer.here(&store.shared, self.terms(now), work),
            Scope::Transaction(transaction) => match transaction.calls.try_acquire() {
                Ok(_call) => Ok(transaction.write(self.terms(now), work)),
                Err(_) => Err(work),
            },
        }
    }

    /// Makes a change as soon as may be. `bytes` is about how much it writes.
    pub fn write_later<T: Send + 'static>(
        &self,
        now: f64,
        is_durable: bool,
        bytes: usize,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let call = self.store().shared.activity.enter();
        let done = move |result| {
            done(result);
            drop(call);
        };
        let terms = self.terms(now);
        match self.clone() {
            Scope::Workspace(store) => {
                store.shared.writer.later(&store.shared, Job { terms, is_durable, bytes, work, done });
            }
            Scope::Transaction(transaction) => executor::spawn(async move {
                let turn = Arc::clone(&transaction.calls).acquire_owned().await;
                executor::spawn_blocking(move || {
                    let result = transaction.write(terms, work);
                    drop(turn);
                    done(result);
                });
            }),
        }
    }

    fn terms(&self, now: f64) -> Terms {
        Terms { now, quota_bytes: self.store().config().quota_bytes }
    }
}

fn read_once<T>(lease: Lease, work: &impl Fn(&ReadTx<'_>) -> Result<T>) -> Result<T> {
    guarded(|| ReadTx::run(&lease, work))
}

/// Reads, and tries again later, on no thread, for as long as the database is busy.
fn read_patiently<T: Send + 'static>(
    store: Store,
    work: impl Fn(&ReadTx<'_>) -> Result<T> + Send + 'static,
    attempts: u32,
    done: impl FnOnce(Result<T>) + Send + 'static,
) {
    match store.shared.pool.take().and_then(|lease| read_once(lease, &work)) {
        Err(error) if error.code() == Code::Busy => {
            executor::spawn_blocking_after(executor::backoff(attempts), move || {
                read_patiently(store, work, attempts.saturating_add(1), done);
            });
        }
        result => done(result),
    }
}
