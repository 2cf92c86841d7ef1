//! A transaction of the user's: several calls, all or nothing.
//!
//! It holds the writer's turn and SQLite's write lock from its first moment to its end, so that
//! what it reads stays true. Readers outside go on with the state before it; for a database in
//! memory, which has but one connection, they get a copy of that state.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use super::activity::Call;
use super::change::Totals;
use super::connection::Conn;
use super::pool::{Lease, lock};
use super::tx::{Effects, ReadTx, Terms, WriteTx, guarded, undone};
use super::writer::Turn;
use super::{Location, Shared, Store, executor};
use crate::error::{Code, FsError, Result};
use crate::rules::Rules;

/// See the module.
pub struct Transaction {
    store: Store,
    open: Mutex<Option<Open>>,
    /// One call at a time, in the order in which they came.
    pub(super) calls: Arc<Semaphore>,
    is_rolled_back: AtomicBool,
}

struct Open {
    conn: Held,
    totals: Cell<Totals>,
    effects: Cell<Effects>,
    _turn: Turn,
    /// `close()` waits for the end.
    _call: Call,
}

enum Held {
    Lease(Lease),
    Memory(Conn),
}

impl std::ops::Deref for Held {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        match self {
            Held::Lease(lease) => lease,
            Held::Memory(conn) => conn,
        }
    }
}

impl Transaction {
    /// Begins one when the turn comes and no other process writes.
    pub fn begin(store: &Store, done: impl FnOnce(Result<Arc<Transaction>>) + Send + 'static) {
        let (store, call) = (store.clone(), store.enter());
        executor::spawn(async move {
            let turn = store.shared.writer.turn().await;
            executor::spawn_blocking(move || begin(store, turn, call, 0, done));
        });
    }

    /// The workspace.
    pub fn store(&self) -> &Store {
        &self.store
    }

    fn with<T>(&self, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        match &*lock(&self.open) {
            Some(open) if !open.conn.is_in_transaction() => Err(undone()),
            Some(open) => work(open),
            None => Err(FsError::with_detail(
                Code::Closed,
                "this transaction is over; use the fs that belongs to an open one",
            )),
        }
    }

    /// Reads the state that the transaction has made so far.
    pub(super) fn read<T>(
        &self,
        rules: Option<Arc<Rules>>,
        work: impl FnOnce(&ReadTx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with(|open| guarded(|| work(&ReadTx::under(&open.conn, rules))))
    }

    /// Makes one change of the transaction.
    pub(super) fn write<T>(&self, terms: Terms, work: impl FnOnce(&WriteTx<'_>) -> Result<T>) -> Result<T> {
        self.with(|open| {
            let (value, effects) = WriteTx::run_nested(&open.conn, &open.totals, terms, work)?;
            open.effects.set(open.effects.get().and(effects));
            Ok(value)
        })
    }

    /// Whether it still is open.
    pub fn is_open(&self) -> bool {
        lock(&self.open).is_some()
    }

    /// Whether it came to nothing.
    pub fn is_rolled_back(&self) -> bool {
        self.is_rolled_back.load(Ordering::Acquire)
    }

    /// Ends it. What was changed becomes visible, or nothing does.
    pub fn end(&self, is_commit: bool) -> Result<()> {
        let Some(open) = lock(&self.open).take() else {
            return Err(FsError::with_detail(Code::Closed, "this transaction is over"));
        };
        let shared = &self.store.shared;
        let result = match is_commit {
            true if !open.conn.is_in_transaction() => Err(undone()),
            true => open.conn.run("COMMIT").map_err(FsError::from),
            false => Ok(()),
        };
        self.is_rolled_back.store(!is_commit || result.is_err(), Ordering::Release);
        open.conn.rollback();
        let wal_pages = Conn::wal_pages();
        if let Held::Memory(conn) = open.conn {
            shared.pool.end_copy(conn);
        } else {
            drop(open.conn);
        }
        if is_commit && result.is_ok() {
            shared.writer.committed(shared, open.effects.get(), wal_pages);
        }
        result
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let _ = self.end(false);
    }
}

fn begin(
    store: Store,
    turn: Turn,
    call: Call,
    attempts: u32,
    done: impl FnOnce(Result<Arc<Transaction>>) + Send + 'static,
) {
    match try_begin(&store) {
        Err(error) if error.code() == Code::Busy => {
            executor::spawn_blocking_after(executor::backoff(attempts), move || {
                begin(store, turn, call, attempts.saturating_add(1), done);
            });
        }
        Err(error) => done(Err(error)),
        Ok((conn, totals)) => done(Ok(Arc::new(Transaction {
            store: store.clone(),
            open: Mutex::new(Some(Open {
                conn,
                totals: Cell::new(totals),
                effects: Cell::new(Effects::default()),
                _turn: turn,
                _call: call,
            })),
            calls: Arc::new(Semaphore::new(1)),
            is_rolled_back: AtomicBool::new(false),
        }))),
    }
}

fn try_begin(store: &Store) -> Result<(Held, Totals)> {
    let shared: &Arc<Shared> = &store.shared;
    let lease = shared.pool.take()?;
    let conn = if shared.config.location == Location::Memory {
        Held::Memory(shared.pool.begin_copy(lease)?)
    } else {
        lease.sync_as(shared.config.durability)?;
        Held::Lease(lease)
    };
    conn.run("BEGIN IMMEDIATE")?;
    let totals = ReadTx::over(&conn).totals()?;
    Ok((conn, totals))
}
