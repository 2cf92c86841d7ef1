//! `readdir`.

use super::permit::may_see;
use super::resolve::directory;
use super::walk::{Step, Walk};
use crate::error::Result;
use crate::path::{WorkspacePath, join};
use crate::store::{Entry, ReadTx};

/// A page of a listing. `parents` is as long as `entries` when the listing is recursive, and
/// otherwise one: the directory itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// Paths of the directories that hold the entries.
    pub parents: Vec<String>,
    /// The entries.
    pub entries: Vec<Entry>,
}

/// Entries of a directory, by name in byte order; with `is_recursive` each directory's right
/// after its own. Links are listed and not followed, except to the directory itself.
pub fn readdir(
    tx: &ReadTx<'_>,
    path: &WorkspacePath,
    is_recursive: bool,
    offset: u64,
    limit: u64,
) -> Result<Listing> {
    let start = directory(tx, path)?;
    if !is_recursive {
        let parents = vec![path.as_str().to_owned()];
        if tx.rules().is_none() {
            return Ok(Listing { parents, entries: tx.list(start.id, offset, limit)? });
        }
        let mut entries = tx.list(start.id, 0, u64::MAX)?;
        entries.retain(|entry| may_see(tx, &join(&start.real, &entry.name)));
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX).min(entries.len());
        entries.drain(..skipped);
        entries.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        return Ok(Listing { parents, entries });
    }
    let mut listing = Listing::default();
    let mut walk = Walk::new(start);
    let mut seen = 0;
    while (listing.entries.len() as u64) < limit {
        let Some(Step { relative, id, kind }) = walk.next(tx)? else { break };
        seen += 1;
        if seen <= offset {
            continue;
        }
        let inode = tx.inode(id)?;
        let (parent, name) = relative.rsplit_once('/').unwrap_or(("", &relative));
        let parent = if parent.is_empty() { path.as_str().to_owned() } else { join(path.as_str(), parent) };
        listing.parents.push(parent);
        let name = name.to_owned();
        listing.entries.push(Entry { name, inode: id, kind, size: inode.size, mtime: inode.mtime });
    }
    Ok(listing)
}
