//! What the store keeps of one run while it goes on.
//!
//! Of a run that its user named, the row is there before its code runs. Others get theirs with the first
//! output that is stored, or at their end: a short run costs one transaction.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::events::EventLog;
use super::output;
use super::run::Run;
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::store::{NewRun, Owner, RunEnding, RunEvent, Scope, WriteTx, lock};

/// Runs that one end of a run removes at most.
const EXPIRE_STEP: usize = 8;

/// See the module.
pub struct Record {
    scope: Scope,
    new: NewRun,
    /// Whether what `exec` promised must survive a power cut.
    is_durable: bool,
    _owner: Arc<Owner>,
    row: Mutex<Option<i64>>,
    /// Wakes the end of the run when events that were on their way are there.
    stored: Condvar,
}

/// How many finished runs are kept, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// Most runs.
    pub kept: u64,
    /// Milliseconds.
    pub ms: f64,
}

impl Record {
    /// Of a run that is not in the store yet.
    pub fn new(scope: Scope, backend: &str, run: &Run, label: Option<String>, owner: Arc<Owner>) -> Record {
        Record {
            scope,
            new: NewRun {
                backend: backend.to_owned(),
                name: run.name.clone(),
                label,
                owner: owner.id,
                started: run.asked_at,
            },
            is_durable: run.has_own_name,
            _owner: owner,
            row: Mutex::new(None),
            stored: Condvar::new(),
        }
    }

    /// The place that it is stored in.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Makes the row. May wait.
    pub fn begin(&self) -> Result<()> {
        let new = self.new.clone();
        let row = self.write(0, move |tx| tx.add_run(&new))?;
        *lock(&self.row) = Some(row);
        Ok(())
    }

    /// Stores what was printed and is not stored; what is printed meanwhile comes the next time.
    pub fn store_events(self: &Arc<Self>, run: &Arc<Run>) {
        if run.log.is_storing() {
            return;
        }
        let events = run.log.begin_storing();
        let Some(last) = events.last().map(|event| event.seq) else { return };
        let bytes = events.iter().map(|event| event.bytes.len()).sum();
        let work = self.storing(events);
        let (record, run) = (Arc::clone(self), Arc::clone(run));
        self.scope.write_later(now_ms(), false, bytes, work, move |row: Result<i64>| {
            record.end_storing(&run.log, row.ok(), last);
        });
    }

    fn storing(&self, events: Vec<RunEvent>) -> impl FnOnce(&WriteTx<'_>) -> Result<i64> + Send + 'static {
        let (row, new) = (*lock(&self.row), self.new.clone());
        move |tx| {
            let row = row.map_or_else(|| tx.add_run(&new), Ok)?;
            for event in &events {
                tx.add_run_event(row, event.seq, event.stream, &event.bytes)?;
            }
            Ok(row)
        }
    }

    fn end_storing(&self, log: &EventLog, row: Option<i64>, last: u64) {
        let mut slot = lock(&self.row);
        *slot = slot.or(row);
        // Failed, they are tried again at the end, which also says so.
        log.end_storing(row.map(|_| last));
        drop(slot);
        self.stored.notify_all();
    }

    fn wait_until_stored(&self, log: &EventLog) {
        let mut row = lock(&self.row);
        while log.is_storing() {
            row = self.stored.wait(row).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Stores all that was printed so far; the number of the row. May wait.
    pub fn store_all(&self, log: &EventLog) -> Result<i64> {
        self.wait_until_stored(log);
        let events = log.begin_storing();
        let last = events.last().map(|event| event.seq);
        let bytes = events.iter().map(|event| event.bytes.len()).sum();
        let row = self.write(bytes, self.storing(events));
        if let Some(last) = last {
            self.end_storing(log, row.as_ref().ok().copied(), last);
        }
        row
    }

    /// Stores the rest and how the run ended, in one transaction. May wait. The number of the row.
    pub fn finish(&self, log: &EventLog, ending: RunEnding, retention: Retention) -> Result<i64> {
        self.wait_until_stored(log);
        let events = log.begin_storing();
        let last = events.last().map(|event| event.seq);
        let bytes = events.iter().map(|event| event.bytes.len()).sum();
        let storing = self.storing(events);
        let (backend, owner) = (self.new.backend.clone(), self.new.owner);
        let row = self.write(bytes, move |tx| {
            let row = storing(tx)?;
            if !tx.end_run(row, owner, &ending)? {
                return Err(FsError::with_detail(
                    Code::Stale,
                    "another process has taken this run for abandoned and ended it",
                ));
            }
            tx.expire_runs(&backend, retention.kept, ending.finished - retention.ms, EXPIRE_STEP)?;
            Ok(row)
        });
        if let Some(last) = last {
            self.end_storing(log, row.as_ref().ok().copied(), last);
        }
        row
    }

    fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let now = now_ms();
        match self.scope.write_here(now, work) {
            Ok(result) => result,
            Err(work) => output::wait(|done| self.scope.write_later(now, self.is_durable, bytes, work, done)),
        }
    }
}
