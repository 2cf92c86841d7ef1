//! `stat`, `lstat` and `statfs`.

use super::resolve::{LastLink, existing};
use crate::error::Result;
use crate::path::WorkspacePath;
use crate::store::{Inode, ReadTx, Store};

/// What `stat` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Stat {
    /// Last segment of the path that was asked about; empty for the root.
    pub name: String,
    /// The rest.
    pub inode: Inode,
}

/// About what the path leads to, links followed.
pub fn stat(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<Stat> {
    Ok(Stat { name: path.name().to_owned(), inode: existing(tx, path, LastLink::Follow)? })
}

/// About the path itself: a link is a link.
pub fn lstat(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<Stat> {
    Ok(Stat { name: path.name().to_owned(), inode: existing(tx, path, LastLink::Keep)? })
}

/// What `statfs` says. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Files and links.
    pub files: u64,
    /// Directories, the root included.
    pub directories: u64,
    /// Contents, as the files see them.
    pub bytes: u64,
    /// Contents as stored: equal chunks once.
    pub stored_bytes: u64,
    /// The database file.
    pub database_bytes: u64,
    /// Its write-ahead log.
    pub wal_bytes: u64,
    /// What `bytes` may grow to.
    pub quota_bytes: Option<u64>,
}

/// Use of the whole workspace; `path` must exist.
pub fn usage(tx: &ReadTx<'_>, path: &WorkspacePath, store: &Store) -> Result<Usage> {
    existing(tx, path, LastLink::Follow)?;
    let totals = tx.totals()?;
    let (database_bytes, wal_bytes) = store.disk_usage(tx)?;
    Ok(Usage {
        files: totals.files.unsigned_abs(),
        directories: totals.directories.unsigned_abs(),
        bytes: totals.bytes.unsigned_abs(),
        stored_bytes: tx.stored_bytes()?,
        database_bytes,
        wal_bytes,
        quota_bytes: store.config().quota_bytes,
    })
}
