//! The log of changes: what watchers read, and in its last row the totals of the workspace.

use rusqlite::Row;

use super::tx::{ReadTx, WriteTx};
use crate::error::{Code, FsError, Result};

/// Counters kept in the last row of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Number of the last change: the revision of the workspace.
    pub seq: i64,
    /// Number of the next inode. Never used twice, so that an inode names one thing for ever.
    pub next_inode: i64,
    /// Files, each counted once however many names it has. Symbolic links count too.
    pub files: i64,
    /// Directories, the root included.
    pub directories: i64,
    /// Bytes of file contents, before sharing.
    pub bytes: i64,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The path came into being.
    Create,
    /// Contents or metadata of what is there changed.
    Change,
    /// The path, and all below it, is gone.
    Delete,
    /// What was at another path, with all below it, is here now.
    Rename,
}

impl ChangeKind {
    fn code(self) -> i64 {
        match self {
            ChangeKind::Create => 1,
            ChangeKind::Change => 2,
            ChangeKind::Delete => 3,
            ChangeKind::Rename => 4,
        }
    }

    fn from_code(code: i64) -> Option<Self> {
        [ChangeKind::Create, ChangeKind::Change, ChangeKind::Delete, ChangeKind::Rename]
            .into_iter()
            .find(|kind| kind.code() == code)
    }

    /// The `type` of an event.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Create => "create",
            ChangeKind::Change => "change",
            ChangeKind::Delete => "delete",
            ChangeKind::Rename => "rename",
        }
    }
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The real path, links in it followed.
    pub path: String,
    /// Of a rename: where it was.
    pub source: Option<String>,
}

const TOTALS: &str =
    "SELECT seq, next_inode, files, directories, bytes FROM change ORDER BY seq DESC LIMIT 1";

fn totals(row: &Row<'_>) -> rusqlite::Result<Totals> {
    Ok(Totals {
        seq: row.get(0)?,
        next_inode: row.get(1)?,
        files: row.get(2)?,
        directories: row.get(3)?,
        bytes: row.get(4)?,
    })
}

impl ReadTx<'_> {
    /// The totals as of this view.
    pub fn totals(&self) -> Result<Totals> {
        self.row(TOTALS, [], totals)?
            .ok_or_else(|| super::connection::damaged("the change log has no last row"))
    }

    /// Up to `limit` changes after `seq`, oldest first, each with its number.
    ///
    /// `ESTALE` when the log no longer reaches back that far.
    pub fn changes_after(&self, seq: i64, limit: usize) -> Result<Vec<(i64, Change)>> {
        let oldest = self.row("SELECT min(seq) FROM change", [], |row| row.get::<_, i64>(0))?;
        if oldest.is_none_or(|oldest| oldest > seq.saturating_add(1)) {
            return Err(FsError::with_detail(
                Code::Stale,
                "the cursor is older than the change log; list the directory again and watch from now",
            ));
        }
        let rows = self.rows(
            "SELECT seq, type, path, source FROM change WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            (seq, limit as i64),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )?;
        Ok(rows
            .into_iter()
            .filter_map(|(seq, code, path, source)| {
                Some((seq, Change { kind: ChangeKind::from_code(code)?, path, source }))
            })
            .collect())
    }
}

impl WriteTx<'_> {
    /// Notes a change for the log.
    pub fn changed(&self, kind: ChangeKind, path: impl Into<String>) {
        self.changes.borrow_mut().push(Change { kind, path: path.into(), source: None });
    }

    /// Notes a rename for the log.
    pub fn renamed(&self, from: impl Into<String>, to: impl Into<String>) {
        let source = Some(from.into());
        self.changes.borrow_mut().push(Change { kind: ChangeKind::Rename, path: to.into(), source });
    }

    /// The number that the next change gets; `version` of the inodes it touches.
    pub fn next_seq(&self) -> i64 {
        self.totals.get().seq + 1
    }

    /// Adjusts a counter.
    pub fn count(&self, adjust: impl FnOnce(&mut Totals)) {
        let mut totals = self.totals.get();
        adjust(&mut totals);
        self.totals.set(totals);
    }

    /// `ENOSPC` if the workspace may not hold this many bytes.
    pub fn check_quota(&self, bytes: u64) -> Result<()> {
        match self.quota_bytes {
            Some(quota) if bytes > quota => Err(FsError::with_detail(
                Code::NoSpc,
                format!(
                    "the workspace would hold {bytes} bytes, over its quotaBytes of {quota}; delete files or raise the quota"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Appends the noted changes, the totals with the last. Returns how many there were.
    pub(super) fn write_changes(&self) -> Result<usize> {
        let changes = self.changes.take();
        let count = changes.len();
        if count == 0 {
            return Ok(0);
        }
        if self.quota_bytes.is_some() && self.totals.get().bytes > ReadTx::totals(self)?.bytes {
            self.check_quota(self.totals.get().bytes.unsigned_abs())?;
        }
        for change in changes {
            self.count(|totals| totals.seq += 1);
            let totals = self.totals.get();
            self.execute(
                "INSERT INTO change (seq, type, path, source, at, next_inode, files, directories, bytes)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (
                    totals.seq,
                    change.kind.code(),
                    change.path,
                    change.source,
                    self.now,
                    totals.next_inode,
                    totals.files,
                    totals.directories,
                    totals.bytes,
                ),
            )?;
        }
        Ok(count)
    }

    /// Removes the oldest entries beyond the newest `keep`, up to `limit` of them. Returns whether
    /// there may be more.
    pub(super) fn trim_changes(&self, keep: i64, limit: i64) -> Result<bool> {
        let removed = self.execute(
            "DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?1
                                  AND seq < (SELECT min(seq) FROM change) + ?2",
            (keep, limit),
        )?;
        Ok(removed as i64 == limit)
    }
}
