//! Rows of `run_event`: what runs printed, in order.

use super::tx::{ReadTx, WriteTx};
use crate::error::Result;

/// Printed bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEvent {
    /// Its place among the events of the run, from 1.
    pub seq: u64,
    /// 1: standard output, 2: standard error.
    pub stream: u8,
    /// What was printed.
    pub bytes: Vec<u8>,
}

impl ReadTx<'_> {
    /// Events after one, until they are `bytes_max` or more, at least one if there is one.
    pub fn run_events(&self, run: i64, after: u64, bytes_max: usize) -> Result<Vec<RunEvent>> {
        let mut statement = self
            .statement("SELECT seq, stream, data FROM run_event WHERE run = ?1 AND seq > ?2 ORDER BY seq")?;
        let mut rows = statement.query((run, i64::try_from(after).unwrap_or(i64::MAX)))?;
        let mut events = Vec::new();
        let mut bytes_read = 0;
        while bytes_read < bytes_max {
            let Some(row) = rows.next()? else { break };
            let bytes: Vec<u8> = row.get(2)?;
            // An event costs more than its bytes.
            bytes_read += bytes.len() + 64;
            events.push(RunEvent { seq: row.get::<_, i64>(0)?.unsigned_abs(), stream: row.get(1)?, bytes });
        }
        Ok(events)
    }

    /// The place of a run's last event; 0 if it printed nothing.
    pub fn last_run_event(&self, run: i64) -> Result<u64> {
        let last = self.row("SELECT max(seq) FROM run_event WHERE run = ?1", [run], |row| {
            row.get::<_, Option<i64>>(0)
        })?;
        Ok(last.flatten().unwrap_or(0).unsigned_abs())
    }
}

impl WriteTx<'_> {
    /// Records an event.
    pub fn add_run_event(&self, run: i64, seq: u64, stream: u8, bytes: &[u8]) -> Result<()> {
        self.execute(
            "INSERT INTO run_event (run, seq, stream, data) VALUES (?1, ?2, ?3, ?4)",
            (run, seq as i64, stream, bytes),
        )?;
        Ok(())
    }
}
