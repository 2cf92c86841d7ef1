//! Rows of `run`: which code was run, by whom, and how it ended.
//!
//! A run that is going on belongs to its owner: only that one may end it, and once its owner is gone
//! whoever comes by may.

use rusqlite::{Row, params};

use super::connection::Location;
use super::owner;
use super::tx::{ReadTx, WriteTx};
use crate::error::{Code, FsError, Result};

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// It is going on.
    Running,
    /// It came to its end.
    Completed,
    /// An error, a limit or a crash ended it.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

impl RunStatus {
    /// The word that users see.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Cancelled => "cancelled",
        }
    }

    fn number(self) -> i64 {
        match self {
            RunStatus::Running => 0,
            RunStatus::Completed => 1,
            RunStatus::Failed => 2,
            RunStatus::Cancelled => 3,
        }
    }

    fn of(number: i64) -> RunStatus {
        match number {
            0 => RunStatus::Running,
            1 => RunStatus::Completed,
            3 => RunStatus::Cancelled,
            _ => RunStatus::Failed,
        }
    }
}

/// A run that begins.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The backend's id.
    pub backend: String,
    /// The run's id.
    pub name: String,
    /// What its user calls it.
    pub label: Option<String>,
    /// Who ends it.
    pub owner: i64,
    /// Milliseconds since the epoch.
    pub started: f64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnding {
    /// Not `Running`.
    pub status: RunStatus,
    /// Milliseconds since the epoch.
    pub finished: f64,
    /// JSON.
    pub ending: String,
    /// The result as JSON, of a completed one.
    pub value: Option<String>,
}

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// Its number.
    pub id: i64,
    /// The backend's id.
    pub backend: String,
    /// The run's id.
    pub name: String,
    /// Who ends it.
    pub owner: i64,
    /// Milliseconds since the epoch.
    pub started: f64,
    /// How it ended; none while it is going on.
    pub ending: Option<RunEnding>,
}

const COLUMNS: &str = "id, backend, name, owner, started, status, finished, ending, value";

fn read(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let status = RunStatus::of(row.get(5)?);
    let ending = match status {
        RunStatus::Running => None,
        status => Some(RunEnding {
            status,
            finished: row.get(6)?,
            ending: row.get::<_, Option<String>>(7)?.unwrap_or_else(|| "{}".to_owned()),
            value: row.get(8)?,
        }),
    };
    Ok(RunRow {
        id: row.get(0)?,
        backend: row.get(1)?,
        name: row.get(2)?,
        owner: row.get(3)?,
        started: row.get(4)?,
        ending,
    })
}

impl ReadTx<'_> {
    /// Whether there is a table of runs: a read-only workspace may be of a version before.
    pub(super) fn has_runs(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'run'";
        Ok(self.row(sql, [], |_| Ok(()))?.is_some())
    }

    /// A run by its id.
    pub fn run_named(&self, backend: &str, name: &str) -> Result<Option<RunRow>> {
        if !self.has_runs()? {
            return Ok(None);
        }
        let sql = format!("SELECT {COLUMNS} FROM run WHERE backend = ?1 AND name = ?2");
        self.row(&sql, (backend, name), read)
    }

    /// Whether there are runs of a backend that are over.
    pub fn has_ended_runs(&self, backend: &str) -> Result<bool> {
        if !self.has_runs()? {
            return Ok(false);
        }
        let sql = "SELECT 1 FROM run WHERE backend = ?1 AND status <> 0 LIMIT 1";
        Ok(self.row(sql, [backend], |_| Ok(()))?.is_some())
    }

    /// Runs that are going on, as far as the table knows, and whose owner is gone for good.
    pub fn abandoned_runs(&self, location: &Location, now: f64) -> Result<Vec<RunRow>> {
        if !self.has_runs()? {
            return Ok(Vec::new());
        }
        let mut runs =
            self.rows(&format!("SELECT {COLUMNS} FROM run WHERE status = 0 ORDER BY id"), [], read)?;
        runs.retain(|run| owner::is_gone(location, run.owner, run.started, now));
        Ok(runs)
    }
}

impl WriteTx<'_> {
    /// Records a run that begins; its number. `EEXEC_EXISTS` if the id is taken.
    pub fn add_run(&self, run: &NewRun) -> Result<i64> {
        if self.run_named(&run.backend, &run.name)?.is_some() {
            return Err(FsError::with_detail(
                Code::ExecExists,
                format!("there is a run with the id {:?} already; dispose it or take another id", run.name),
            ));
        }
        self.insert(
            "INSERT INTO run (backend, name, label, status, owner, started) VALUES (?1, ?2, ?3, 0, ?4, ?5)",
            params![run.backend, run.name, run.label, run.owner, run.started],
        )
    }

    /// Records how a run ended. False if it is not this owner's, or had ended.
    pub fn end_run(&self, id: i64, owner: i64, ending: &RunEnding) -> Result<bool> {
        let count = self.execute(
            "UPDATE run SET status = ?3, finished = ?4, ending = ?5, value = ?6
             WHERE id = ?1 AND owner = ?2 AND status = 0",
            params![id, owner, ending.status.number(), ending.finished, ending.ending, ending.value],
        )?;
        Ok(count == 1)
    }

    /// Forgets a run and what it printed.
    pub fn remove_run(&self, id: i64) -> Result<()> {
        self.execute("DELETE FROM run_event WHERE run = ?1", [id])?;
        self.execute("DELETE FROM run WHERE id = ?1", [id])?;
        Ok(())
    }

    /// Forgets runs of a backend that ended before a time, or before the last `kept`. At most `limit`.
    pub fn expire_runs(&self, backend: &str, kept: u64, before: f64, limit: usize) -> Result<usize> {
        let expired: Vec<i64> = self.rows(
            "SELECT id FROM run WHERE backend = ?1 AND status <> 0 AND finished < ?2
             UNION SELECT id FROM (SELECT id FROM run WHERE backend = ?1 AND status <> 0
                                   ORDER BY finished DESC, id DESC LIMIT -1 OFFSET ?3)
             LIMIT ?4",
            params![
                backend,
                before,
                i64::try_from(kept).unwrap_or(i64::MAX),
                i64::try_from(limit).unwrap_or(i64::MAX)
            ],
            |row| row.get(0),
        )?;
        for id in &expired {
            self.remove_run(*id)?;
        }
        Ok(expired.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Config, Durability, Scope, Store};

    fn scope() -> Scope {
        let config = Config {
            location: Location::Memory,
            durability: Durability::Off,
            quota_bytes: None,
            rules: None,
            is_audited: false,
        };
        Scope::workspace(Store::open(config).unwrap())
    }

    fn write<T>(scope: &Scope, work: impl FnOnce(&WriteTx<'_>) -> Result<T>) -> Result<T> {
        scope.write_here(0.0, work).unwrap_or_else(|_| panic!("nobody else writes"))
    }

    fn begin(scope: &Scope, backend: &str, name: &str) -> Result<i64> {
        let new = NewRun {
            backend: backend.to_owned(),
            name: name.to_owned(),
            label: None,
            owner: 7,
            started: 1.0,
        };
        write(scope, |tx| tx.add_run(&new))
    }

    fn ending(finished: f64) -> RunEnding {
        RunEnding {
            status: RunStatus::Completed,
            finished,
            ending: r#"{"code":0}"#.to_owned(),
            value: Some("[1]".to_owned()),
        }
    }

    #[test]
    fn an_id_is_taken_in_its_backend_until_the_run_is_removed() {
        let scope = scope();
        let row = begin(&scope, "a", "x").unwrap();
        assert_eq!(begin(&scope, "a", "x").unwrap_err().code(), Code::ExecExists);
        begin(&scope, "b", "x").unwrap();
        write(&scope, |tx| tx.add_run_event(row, 1, 1, b"printed")).unwrap();
        write(&scope, |tx| tx.remove_run(row)).unwrap();
        assert_eq!(scope.read_now(|tx| tx.run_named("a", "x")).unwrap(), None);
        assert_eq!(scope.read_now(|tx| tx.run_events(row, 0, 100)).unwrap(), []);
        begin(&scope, "a", "x").unwrap();
    }

    #[test]
    fn a_run_ends_once_and_by_its_owner() {
        let scope = scope();
        let row = begin(&scope, "a", "x").unwrap();
        let end = |owner, finished| write(&scope, |tx| tx.end_run(row, owner, &ending(finished))).unwrap();
        assert_eq!([end(8, 1.0), end(7, 2.0), end(7, 3.0)], [false, true, false]);
        let found = scope.read_now(|tx| tx.run_named("a", "x")).unwrap().unwrap();
        assert_eq!(found.ending, Some(ending(2.0)));
    }

    #[test]
    fn the_newest_runs_are_kept_and_those_that_go_on() {
        let scope = scope();
        for number in 0..6 {
            let row = begin(&scope, "a", &number.to_string()).unwrap();
            write(&scope, |tx| tx.add_run_event(row, 1, 2, b"x")).unwrap();
            if number != 1 {
                write(&scope, |tx| tx.end_run(row, 7, &ending(f64::from(number)))).unwrap();
            }
        }
        begin(&scope, "b", "other").unwrap();
        let expire =
            |kept, before, limit| write(&scope, |tx| tx.expire_runs("a", kept, before, limit)).unwrap();
        let left = || -> Vec<String> {
            let names = (0..6).map(|number| number.to_string());
            names.filter(|name| scope.read_now(|tx| tx.run_named("a", name)).unwrap().is_some()).collect()
        };
        assert_eq!(expire(5, 0.0, 10), 0);
        assert_eq!((expire(3, 0.0, 1), left().len()), (1, 5));
        assert_eq!((expire(3, 0.0, 10), left()), (1, vec!["1".into(), "3".into(), "4".into(), "5".into()]));
        assert_eq!((expire(9, 4.5, 10), left()), (2, vec!["1".into(), "5".into()]));
        assert!(scope.read_now(|tx| tx.run_named("b", "other")).unwrap().is_some());
    }

    #[test]
    fn events_come_in_pages() {
        let scope = scope();
        let row = begin(&scope, "a", "x").unwrap();
        assert_eq!(scope.read_now(|tx| tx.last_run_event(row)).unwrap(), 0);
        for seq in 1..=5 {
            write(&scope, |tx| tx.add_run_event(row, seq, 1, &[seq as u8; 100])).unwrap();
        }
        let page = |after, bytes| -> Vec<u64> {
            let events = scope.read_now(|tx| tx.run_events(row, after, bytes)).unwrap();
            events.iter().map(|event| event.seq).collect()
        };
        assert_eq!(
            (page(0, 1), page(1, 200), page(3, 10_000), page(5, 1)),
            (vec![1], vec![2, 3], vec![4, 5], vec![])
        );
        assert_eq!(scope.read_now(|tx| tx.last_run_event(row)).unwrap(), 5);
    }
}
