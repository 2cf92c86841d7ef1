//! Rows of `dirent`: the names in directories.

use super::inode::{InodeId, Kind};
use super::tx::{ReadTx, WriteTx};
use crate::error::Result;

/// A name in a directory, with what a listing shows of its inode.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What it names.
    pub inode: InodeId,
    /// What that is.
    pub kind: Kind,
    /// Its size, as in `stat`.
    pub size: u64,
    /// Its last change, in milliseconds since the epoch.
    pub mtime: f64,
}

impl ReadTx<'_> {
    /// What `name` in a directory leads to.
    pub fn lookup(&self, parent: InodeId, name: &str) -> Result<Option<(InodeId, Kind)>> {
        self.row("SELECT inode, type FROM dirent WHERE parent = ?1 AND name = ?2", (parent, name), |row| {
            Ok((row.get(0)?, Kind::from_code(row.get(1)?)?))
        })
    }

    /// Entries of a directory, by name in byte order.
    pub fn list(&self, parent: InodeId, offset: u64, limit: u64) -> Result<Vec<Entry>> {
        self.rows(
            "SELECT d.name, d.inode, d.type, i.size, i.mtime
             FROM dirent d JOIN inode i ON i.id = d.inode
             WHERE d.parent = ?1 ORDER BY d.name LIMIT ?2 OFFSET ?3",
            (parent, clamp(limit), clamp(offset)),
            |row| {
                Ok(Entry {
                    name: row.get(0)?,
                    inode: row.get(1)?,
                    kind: Kind::from_code(row.get(2)?)?,
                    size: row.get::<_, i64>(3)?.unsigned_abs(),
                    mtime: row.get(4)?,
                })
            },
        )
    }

    /// All names of a directory in byte order, without looking at what they name.
    pub fn names(&self, parent: InodeId) -> Result<Vec<(String, InodeId, Kind)>> {
        self.rows("SELECT name, inode, type FROM dirent WHERE parent = ?1 ORDER BY name", [parent], |row| {
            Ok((row.get(0)?, row.get(1)?, Kind::from_code(row.get(2)?)?))
        })
    }

    /// Whether a directory has any entry.
    pub fn has_entries(&self, parent: InodeId) -> Result<bool> {
        Ok(self.row("SELECT 1 FROM dirent WHERE parent = ?1 LIMIT 1", [parent], |_| Ok(()))?.is_some())
    }
}

fn clamp(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl WriteTx<'_> {
    /// Adds a name that is not there.
    pub fn add_name(&self, parent: InodeId, name: &str, inode: InodeId, kind: Kind) -> Result<()> {
        self.execute(
            "INSERT INTO dirent (parent, name, inode, type) VALUES (?1, ?2, ?3, ?4)",
            (parent, name, inode, kind.code()),
        )?;
        Ok(())
    }

    /// Removes a name.
    pub fn remove_name(&self, parent: InodeId, name: &str) -> Result<()> {
        self.execute("DELETE FROM dirent WHERE parent = ?1 AND name = ?2", (parent, name))?;
        Ok(())
    }

    /// Removes all names of a directory.
    pub fn remove_names(&self, parent: InodeId) -> Result<()> {
        self.execute("DELETE FROM dirent WHERE parent = ?1", [parent])?;
        Ok(())
    }
}
