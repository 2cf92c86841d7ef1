//! Rows of `audit`: calls of tools, without contents.

use rusqlite::params;

use super::tx::{ReadTx, WriteTx};
use crate::error::Result;

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Milliseconds since the epoch.
    pub at: f64,
    /// The tool's name.
    pub tool: String,
    /// Who called, if the set of tools says so.
    pub tag: Option<String>,
    /// SHA-256 of the arguments, in hex.
    pub arguments: String,
    /// Real paths that it was about. A JSON array in the table: names may hold any separator.
    pub paths: Vec<String>,
    /// Size of the file before.
    pub bytes_before: Option<u64>,
    /// Size of the file after.
    pub bytes_after: Option<u64>,
    /// Code of the failure; none if it succeeded.
    pub code: Option<String>,
    /// Milliseconds.
    pub duration: f64,
}

/// Which calls to look for. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// The tool's name.
    pub tool: Option<String>,
    /// Who called.
    pub tag: Option<String>,
    /// Whether it failed.
    pub has_failed: Option<bool>,
    /// A path that it was about, or a directory above one.
    pub path: Option<String>,
    /// Not before this time.
    pub since: Option<f64>,
    /// Before this time.
    pub until: Option<f64>,
    /// Only later rows than this.
    pub after: i64,
    /// Most rows.
    pub limit: u64,
}

impl AuditFilter {
    fn concerns(&self, paths: &[String]) -> bool {
        let Some(wanted) = &self.path else { return true };
        let is_below = |path: &String| {
            wanted == "/"
                || path
                    .strip_prefix(wanted.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        paths.iter().any(is_below)
    }
}

impl ReadTx<'_> {
    /// Calls in their order, with their numbers.
    pub fn audit_entries(&self, filter: &AuditFilter) -> Result<Vec<(i64, AuditEntry)>> {
        // A read-only workspace may be of the version before there was a table.
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'audit'";
        if self.row(sql, [], |_| Ok(()))?.is_none() {
            return Ok(Vec::new());
        }
        let mut statement = self.statement(
            "SELECT id, at, tool, tag, arguments, paths, bytes_before, bytes_after, code, duration FROM audit
             WHERE id > ?1 AND (?2 IS NULL OR tool = ?2) AND (?3 IS NULL OR tag = ?3)
               AND (?4 IS NULL OR (code IS NOT NULL) = ?4)
               AND (?5 IS NULL OR at >= ?5) AND (?6 IS NULL OR at < ?6)
             ORDER BY id",
        )?;
        let mut rows = statement.query(params![
            filter.after,
            filter.tool,
            filter.tag,
            filter.has_failed,
            filter.since,
            filter.until
        ])?;
        let mut found = Vec::new();
        while (found.len() as u64) < filter.limit {
            let Some(row) = rows.next()? else { break };
            let paths: Vec<String> =
                serde_json::from_str(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)
                    .unwrap_or_default();
            if !filter.concerns(&paths) {
                continue;
            }
            let bytes = |index| row.get::<_, Option<i64>>(index).map(|bytes| bytes.map(i64::unsigned_abs));
            let entry = AuditEntry {
                at: row.get(1)?,
                tool: row.get(2)?,
                tag: row.get(3)?,
                arguments: row.get(4)?,
                paths,
                bytes_before: bytes(6)?,
                bytes_after: bytes(7)?,
                code: row.get(8)?,
                duration: row.get(9)?,
            };
            found.push((row.get(0)?, entry));
        }
        Ok(found)
    }
}

impl WriteTx<'_> {
    /// Records a call.
    pub fn record_call(&self, entry: &AuditEntry) -> Result<()> {
        self.execute(
            "INSERT INTO audit (at, tool, tag, arguments, paths, bytes_before, bytes_after, code, duration)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                entry.at,
                entry.tool,
                entry.tag,
                entry.arguments,
                serde_json::Value::from(entry.paths.clone()).to_string(),
                entry.bytes_before.map(|bytes| bytes as i64),
                entry.bytes_after.map(|bytes| bytes as i64),
                entry.code,
                entry.duration,
            ],
        )?;
        Ok(())
    }
}
