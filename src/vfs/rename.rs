//! `rename`.

use super::permit::{permit_change_below, permit_change_of};
use super::resolve::{LastLink, Resolved, resolve};
use super::rm::remove;
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{Kind, WriteTx};

/// Moves a name, and replaces what has the new name if it is of the same sort.
///
/// Works on links themselves. What moves keeps its inode, mode and modification time.
pub fn rename(tx: &WriteTx<'_>, from: &WorkspacePath, to: &WorkspacePath) -> Result<()> {
    let refused = |code| Err(FsError::new(code).at(from.as_str()).to(to.as_str()));
    if from.is_root() || to.is_root() {
        return Err(FsError::invalid("the root cannot be renamed or replaced")
            .at(from.as_str())
            .to(to.as_str()));
    }
    let found = resolve(tx, from, LastLink::Keep).map_err(|error| error.to(to.as_str()))?;
    // Both directories are looked up before what is in them.
    let resolved = resolve(tx, to, LastLink::Keep)
        .map_err(|error| FsError::new(error.code()).at(from.as_str()).to(to.as_str()))?;
    let Resolved::Found { place: source, name: old, id, kind } = found else {
        return refused(Code::NoEnt);
    };
    let (target, new, displaced) = match resolved {
        Resolved::Found { place, name, id, kind } => (place, name, Some((id, kind))),
        Resolved::Absent { place, name, .. } => (place, name, None),
    };
    if kind == Kind::Directory && target.is_within(id) {
        return refused(Code::Inval);
    }
    if displaced.is_some_and(|(other, _)| source.is_within(other)) {
        return refused(Code::NotEmpty);
    }
    // All that moves has to be free to change, where it was and where it will be.
    for (place, name) in [(&source, &old), (&target, &new)] {
        permit_change_of(tx, place, name)?;
        permit_change_below(tx, &place.path_of(name), id, kind)?;
    }
    match displaced {
        // The same file already, by this name or by another of its names: nothing to do (POSIX).
        Some((same, _)) if same == id => return Ok(()),
        Some((other, Kind::Directory)) => {
            if kind != Kind::Directory {
                return refused(Code::IsDir);
            }
            if tx.has_entries(other)? {
                return refused(Code::NotEmpty);
            }
            remove(tx, &target, &new, other, Kind::Directory)?;
        }
        Some(_) if kind == Kind::Directory => return refused(Code::NotDir),
        Some((other, other_kind)) => remove(tx, &target, &new, other, other_kind)?,
        None => {}
    }
    let moved_directories = i64::from(kind == Kind::Directory);
    tx.remove_name(source.directory(), &old)?;
    tx.touch_directory(source.directory(), -moved_directories)?;
    tx.add_name(target.directory(), &new, id, kind)?;
    tx.touch_directory(target.directory(), moved_directories)?;
    tx.touch_moved(id)?;
    tx.renamed(source.path_of(&old), target.path_of(&new));
    Ok(())
}
