//! Transactions: one consistent view, and one all-or-nothing change.
//!
//! The row modules (`inode`, `dirent`, `content`, `change`, `pin`) add their rows' reads to
//! [`ReadTx`] and their writes to [`WriteTx`].

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rusqlite::{CachedStatement, Params, Row};

use super::change::{Change, Totals};
use super::connection::Conn;
use crate::error::{Code, FsError, Result};
use crate::rules::Rules;

/// A consistent view of the workspace.
pub struct ReadTx<'c> {
    conn: &'c Conn,
    /// What the call may do; none allows everything.
    rules: Option<Arc<Rules>>,
    real_roots: OnceCell<Vec<String>>,
}

impl<'c> ReadTx<'c> {
    /// A view through a connection whose transaction is open, or is one statement.
    pub(super) fn over(conn: &'c Conn) -> Self {
        Self::under(conn, None)
    }

    /// The same for a call that these rules hold for.
    pub(super) fn under(conn: &'c Conn, rules: Option<Arc<Rules>>) -> Self {
        ReadTx { conn, rules, real_roots: OnceCell::new() }
    }

    /// Runs `work` on one consistent view.
    pub(super) fn run<T>(
        conn: &'c Conn,
        rules: Option<Arc<Rules>>,
        work: impl FnOnce(&ReadTx<'_>) -> Result<T>,
    ) -> Result<T> {
        conn.run("BEGIN")?;
        let result = work(&ReadTx::under(conn, rules));
        // There is nothing to commit, so what was read stands even if this fails, as it does after
        // SQLite has come across damage.
        if conn.run("COMMIT").is_err() {
            conn.rollback();
        }
        result
    }

    /// The rules that hold for the call.
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_deref()
    }

    /// Where the roots of the rules really are, worked out once.
    pub fn real_roots(&self, find: impl FnOnce(&Rules) -> Result<Vec<String>>) -> Result<&[String]> {
        if let Some(roots) = self.real_roots.get() {
            return Ok(roots);
        }
        let roots = self.rules().map(find).transpose()?.unwrap_or_default();
        Ok(self.real_roots.get_or_init(|| roots))
    }

    pub(super) fn statement(&self, sql: &str) -> Result<CachedStatement<'c>> {
        Ok(self.conn.sqlite().prepare_cached(sql)?)
    }

    /// The one row of a query, or none.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        Ok(rows.next()?.map(read).transpose()?)
    }

    /// All rows of a query.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map(params, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// A change of the workspace, one of possibly several in one SQLite transaction.
pub struct WriteTx<'c> {
    read: ReadTx<'c>,
    /// Milliseconds since the epoch: what this change stamps on what it touches.
    pub now: f64,
    pub(super) totals: Cell<Totals>,
    pub(super) changes: RefCell<Vec<Change>>,
    pub(super) quota_bytes: Option<u64>,
    /// Whether something may be left for the collector.
    pub(super) has_garbage: Cell<bool>,
}

impl<'c> WriteTx<'c> {
    /// Runs `work` inside the open transaction of `conn`, which the caller rolls back, to where
    /// it was before, if this fails.
    ///
    /// `totals` are those before, and on success those after.
    pub(super) fn run<T>(
        conn: &'c Conn,
        totals: &Cell<Totals>,
        terms: Terms,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T>,
    ) -> Result<(T, Effects)> {
        let tx = WriteTx {
            read: ReadTx::under(conn, terms.rules),
            now: terms.now,
            totals: totals.clone(),
            changes: RefCell::default(),
            quota_bytes: terms.quota_bytes,
            has_garbage: Cell::new(false),
        };
        let value = work(&tx)?;
        let changes = tx.write_changes()?;
        totals.set(tx.totals.get());
        Ok((value, Effects { changes, has_garbage: tx.has_garbage.get() }))
    }

    /// The same with a savepoint: with an error, nothing of `work` remains and the transaction
    /// goes on, unless it is the disk that failed. Then SQLite has undone all of it, and what was
    /// done now would be a transaction of its own.
    pub(super) fn run_nested<T>(
        conn: &'c Conn,
        totals: &Cell<Totals>,
        terms: Terms,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T>,
    ) -> Result<(T, Effects)> {
        if !conn.is_in_transaction() {
            return Err(undone());
        }
        conn.run("SAVEPOINT change")?;
        let result = guarded(|| WriteTx::run(conn, totals, terms, work));
        if result.is_err() {
            if !conn.is_in_transaction() {
                return result;
            }
            conn.run("ROLLBACK TO change")?;
        }
        conn.run("RELEASE change")?;
        result
    }

    /// Runs a statement; returns how many rows it changed.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        Ok(self.statement(sql)?.execute(params)?)
    }

    /// Runs an insert; returns the row's id.
    pub(super) fn insert(&self, sql: &str, params: impl Params) -> Result<i64> {
        Ok(self.statement(sql)?.insert(params)?)
    }
}

impl<'c> Deref for WriteTx<'c> {
    type Target = ReadTx<'c>;

    fn deref(&self) -> &ReadTx<'c> {
        &self.read
    }
}

/// What a change is made under.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Milliseconds since the epoch.
    pub now: f64,
    /// Bytes of contents that the workspace may hold.
    pub quota_bytes: Option<u64>,
    /// What the call may do.
    pub rules: Option<Arc<Rules>>,
}

/// What a change left to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Effects {
    /// How many entries watchers have to look at.
    pub changes: usize,
    /// The collector has something to look at.
    pub has_garbage: bool,
}

impl Effects {
    /// Both.
    #[must_use]
    pub fn and(self, other: Effects) -> Effects {
        Effects { changes: self.changes + other.changes, has_garbage: self.has_garbage || other.has_garbage }
    }
}

/// What a call is told in a transaction that SQLite has ended.
pub(super) fn undone() -> FsError {
    FsError::with_detail(Code::Io, "the disk failed, and the whole transaction was undone; try it again")
}

/// Turns a panic into an error, so that one call fails instead of the process.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Err(FsError::with_detail(Code::Io, format!("internal error: {what}; nothing was changed")))
    })
}
