//! Where a call takes place: in the workspace as it is, or in an open transaction; and under which
//! rules. Either runs work on the calling thread if that means no waiting, or later on a thread that
//! may wait.

use std::sync::Arc;

use super::pool::Lease;
use super::tx::{ReadTx, Terms, WriteTx, guarded};
use super::writer::Job;
use super::{Store, Transaction, executor};
use crate::error::{Code, Result};
use crate::rules::{Layer, Rules};

/// See the module.
#[derive(Clone)]
pub struct Scope {
    place: Place,
    rules: Option<Arc<Rules>>,
}

#[derive(Clone)]
enum Place {
    /// Each change on its own.
    Workspace(Store),
    /// Changes that become visible together.
    Transaction(Arc<Transaction>),
}

impl Scope {
    /// The workspace as it is, under its rules.
    pub fn workspace(store: Store) -> Self {
        Scope { rules: store.config().rules.clone(), place: Place::Workspace(store) }
    }

    /// An open transaction, under the workspace's rules.
    pub fn within(transaction: Arc<Transaction>) -> Self {
        let rules = transaction.store().config().rules.clone();
        Scope { rules, place: Place::Transaction(transaction) }
    }

    /// The same place for a call that may do less.
    #[must_use]
    pub fn narrowed(&self, layer: Layer) -> Self {
        Scope { place: self.place.clone(), rules: Rules::within(self.rules.as_ref(), layer) }
    }

    /// The workspace.
    pub fn store(&self) -> &Store {
        match &self.place {
            Place::Workspace(store) => store,
            Place::Transaction(transaction) => transaction.store(),
        }
    }

    /// The transaction, if it is one.
    pub fn transaction(&self) -> Option<&Transaction> {
        match &self.place {
            Place::Workspace(_) => None,
            Place::Transaction(transaction) => Some(transaction),
        }
    }

    /// The same; the workspace once the transaction is over.
    #[must_use]
    pub fn still_open(&self) -> Self {
        match self.transaction() {
            Some(transaction) if !transaction.is_open() => Self::workspace(transaction.store().clone()),
            _ => self.clone(),
        }
    }

    fn rules(&self) -> Option<Arc<Rules>> {
        self.rules.clone()
    }

    /// `ECLOSED` after `close()`; an open transaction is a call under way and goes on.
    pub fn check_open(&self) -> Result<()> {
        match &self.place {
            Place::Workspace(store) => store.check_open(),
            Place::Transaction(_) => Ok(()),
        }
    }

    /// Whether this is a transaction.
    pub fn is_transaction(&self) -> bool {
        matches!(self.place, Place::Transaction(_))
    }

    /// Runs a read on this thread, unless that would mean waiting.
    pub fn read_here<T>(&self, work: &impl Fn(&ReadTx<'_>) -> Result<T>) -> Option<Result<T>> {
        match &self.place {
            Place::Workspace(store) => {
                let lease = store.shared.pool.try_take()?;
                match read_once(lease, self.rules(), work) {
                    Err(error) if error.code() == Code::Busy => None,
                    result => Some(result),
                }
            }
            Place::Transaction(transaction) => {
                let _call = transaction.calls.try_acquire().ok()?;
                Some(transaction.read(self.rules(), work))
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
        let rules = self.rules();
        match self.place.clone() {
            Place::Workspace(store) => {
                executor::spawn_blocking(move || read_patiently(store, rules, work, 0, done));
            }
            Place::Transaction(transaction) => executor::spawn(async move {
                let turn = Arc::clone(&transaction.calls).acquire_owned().await;
                executor::spawn_blocking(move || {
                    let result = transaction.read(rules, work);
                    drop(turn);
                    done(result);
                });
            }),
        }
    }

    /// Runs a read on this thread, which may wait.
    pub fn read_now<T>(&self, work: impl Fn(&ReadTx<'_>) -> Result<T>) -> Result<T> {
        match &self.place {
            Place::Workspace(store) => {
                let mut attempts = 0;
                loop {
                    match store.shared.pool.take().and_then(|lease| read_once(lease, self.rules(), &work)) {
                        Err(error) if error.code() == Code::Busy => {}
                        result => return result,
                    }
                    std::thread::sleep(executor::backoff(attempts));
                    attempts += 1;
                }
            }
            Place::Transaction(transaction) => transaction.read(self.rules(), work),
        }
    }

    /// Runs a small change on this thread, if that means no waiting; otherwise gives it back.
    pub fn write_here<T, Work>(&self, now: f64, work: Work) -> Result<Result<T>, Work>
    where
        Work: FnOnce(&WriteTx<'_>) -> Result<T>,
    {
        match &self.place {
            Place::Workspace(store) => store.shared.writer.here(&store.shared, self.terms(now), work),
            Place::Transaction(transaction) => match transaction.calls.try_acquire() {
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
        match self.place.clone() {
            Place::Workspace(store) => {
                store.shared.writer.later(&store.shared, Job { terms, is_durable, bytes, work, done });
            }
            Place::Transaction(transaction) => executor::spawn(async move {
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
        Terms { now, quota_bytes: self.store().config().quota_bytes, rules: self.rules() }
    }
}

fn read_once<T>(
    lease: Lease,
    rules: Option<Arc<Rules>>,
    work: &impl Fn(&ReadTx<'_>) -> Result<T>,
) -> Result<T> {
    guarded(|| ReadTx::run(&lease, rules, work))
}

/// Reads, and tries again later, on no thread, for as long as the database is busy.
fn read_patiently<T: Send + 'static>(
    store: Store,
    rules: Option<Arc<Rules>>,
    work: impl Fn(&ReadTx<'_>) -> Result<T> + Send + 'static,
    attempts: u32,
    done: impl FnOnce(Result<T>) + Send + 'static,
) {
    match store.shared.pool.take().and_then(|lease| read_once(lease, rules.clone(), &work)) {
        Err(error) if error.code() == Code::Busy => {
            executor::spawn_blocking_after(executor::backoff(attempts), move || {
                read_patiently(store, rules, work, attempts.saturating_add(1), done);
            });
        }
        result => done(result),
    }
}
