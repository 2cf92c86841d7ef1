//! Rows of `ledger`: which version of which file was read through tools, and by whom.

use super::inode::InodeId;
use super::tx::{ReadTx, WriteTx};
use crate::error::Result;

impl ReadTx<'_> {
    /// The version of a file that `reader` knows.
    pub fn known_version(&self, reader: &str, inode: InodeId) -> Result<Option<String>> {
        self.row("SELECT version FROM ledger WHERE inode = ?1 AND reader = ?2", (inode, reader), |row| {
            row.get(0)
        })
    }
}

impl WriteTx<'_> {
    /// Notes that `reader` knows a version of a file.
    pub fn note_version(&self, reader: &str, inode: InodeId, version: &str) -> Result<()> {
        self.execute(
            "INSERT INTO ledger (inode, reader, version, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (inode, reader) DO UPDATE SET version = excluded.version, at = excluded.at",
            (inode, reader, version, self.now),
        )?;
        Ok(())
    }

    /// Forgets some files that are gone. Their numbers are never used again.
    pub(super) fn trim_ledger(&self) -> Result<()> {
        self.execute(
            "DELETE FROM ledger WHERE inode IN
               (SELECT l.inode FROM ledger l LEFT JOIN inode i ON i.id = l.inode WHERE i.id IS NULL LIMIT 64)",
            [],
        )?;
        Ok(())
    }
}
