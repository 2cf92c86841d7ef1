//! `rm`.

use super::permit::{permit_change_below, permit_change_of};
use super::resolve::{LastLink, Place, Resolved, resolve};
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{ChangeKind, InodeId, Kind, ROOT_INODE, WriteTx};

/// Removes a name and, with the last name of something, the thing.
///
/// A link is removed, never followed. A directory must be empty unless `is_recursive`. With
/// `is_forced` a path that leads nowhere is fine. Returns whether something was there.
pub fn rm(tx: &WriteTx<'_>, path: &WorkspacePath, is_recursive: bool, is_forced: bool) -> Result<bool> {
    if path.is_root() {
        return Err(FsError::with_detail(Code::Perm, "the root cannot be removed").at("/"));
    }
    let found = match resolve(tx, path, LastLink::Keep) {
        Ok(Resolved::Found { place, name, id, kind }) => Some((place, name, id, kind)),
        Ok(Resolved::Absent { .. }) => None,
        Err(error) if is_forced && matches!(error.code(), Code::NoEnt | Code::NotDir) => None,
        Err(error) => return Err(error),
    };
    let Some((place, name, id, kind)) = found else {
        return if is_forced { Ok(false) } else { Err(FsError::new(Code::NoEnt).at(path.as_str())) };
    };
    permit_change_of(tx, &place, &name).map_err(|error| error.at(path.as_str()))?;
    if kind == Kind::Directory && !is_recursive && tx.has_entries(id)? {
        return Err(FsError::with_detail(
            Code::NotEmpty,
            "directory not empty; pass { recursive: true } to remove it with its contents",
        )
        .at(path.as_str()));
    }
    permit_change_below(tx, &place.path_of(&name), id, kind).map_err(|error| error.at(path.as_str()))?;
    remove(tx, &place, &name, id, kind)?;
    tx.changed(ChangeKind::Delete, place.path_of(&name));
    Ok(true)
}

/// Removes a name with all that is below it.
pub fn remove(tx: &WriteTx<'_>, place: &Place<'_>, name: &str, id: InodeId, kind: Kind) -> Result<()> {
    tx.remove_name(place.directory(), name)?;
    if kind == Kind::Directory {
        remove_tree(tx, id)?;
        tx.touch_directory(place.directory(), -1)
    } else {
        tx.drop_name(id)?;
        tx.touch_directory(place.directory(), 0)
    }
}

/// Removes a directory that has no name any more. Not recursive in Rust: a tree may be deeper
/// than a thread's stack.
fn remove_tree(tx: &WriteTx<'_>, top: InodeId) -> Result<()> {
    debug_assert_ne!(top, ROOT_INODE);
    let mut directories = vec![top];
    while let Some(directory) = directories.pop() {
        for (_, id, kind) in tx.names(directory)? {
            if kind == Kind::Directory {
                directories.push(id);
            } else {
                tx.drop_name(id)?;
            }
        }
        tx.remove_names(directory)?;
        let inode = tx.inode(directory)?;
        tx.remove_inode(&inode)?;
    }
    Ok(())
}
