//! `symlink`, `readlink` and `link`.

use super::permit::permit_change_of;
use super::resolve::{LastLink, Resolved, resolve};
use crate::error::{Code, FsError, Result};
use crate::limits::PATH_BYTES_MAX;
use crate::path::WorkspacePath;
use crate::store::{ChangeKind, Kind, ReadTx, WriteTx};

/// Makes a symbolic link with this target, kept as it is and looked at only when followed.
pub fn symlink(tx: &WriteTx<'_>, target: &str, path: &WorkspacePath) -> Result<()> {
    let refused = |error: FsError| Err(error.at(target).to(path.as_str()));
    if target.is_empty() {
        return refused(FsError::new(Code::NoEnt));
    }
    if target.contains('\0') {
        return refused(FsError::invalid("the target of a link cannot contain a NUL byte"));
    }
    if target.len() > PATH_BYTES_MAX {
        return refused(FsError::new(Code::NameTooLong));
    }
    match resolve(tx, path, LastLink::Keep).map_err(|error| error.to(path.as_str()))? {
        Resolved::Found { .. } => refused(FsError::new(Code::Exist)),
        Resolved::Absent { place, name, .. } => {
            permit_change_of(tx, &place, &name)?;
            let id = tx.create_link(target)?;
            tx.add_name(place.directory(), &name, id, Kind::Link)?;
            tx.touch_directory(place.directory(), 0)?;
            tx.changed(ChangeKind::Create, place.path_of(&name));
            Ok(())
        }
    }
}

/// The target of a symbolic link; `EINVAL` for anything else.
pub fn readlink(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<String> {
    match resolve(tx, path, LastLink::Keep)? {
        Resolved::Found { id, kind: Kind::Link, .. } => tx.link_target(id),
        Resolved::Found { .. } => Err(FsError::invalid("not a symbolic link").at(path.as_str())),
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    }
}

/// Gives a file or link one more name. A directory has only one: `EPERM`.
pub fn link(tx: &WriteTx<'_>, existing: &WorkspacePath, path: &WorkspacePath) -> Result<()> {
    let refused = |code| Err(FsError::new(code).at(existing.as_str()).to(path.as_str()));
    let Resolved::Found { place, name, id, kind } = resolve(tx, existing, LastLink::Keep)? else {
        return refused(Code::NoEnt);
    };
    // By its new name it could be changed.
    permit_change_of(tx, &place, &name)?;
    let target = resolve(tx, path, LastLink::Keep)?;
    match target {
        Resolved::Found { .. } => refused(Code::Exist),
        Resolved::Absent { .. } if kind == Kind::Directory => refused(Code::Perm),
        Resolved::Absent { place, name, .. } => {
            permit_change_of(tx, &place, &name)?;
            tx.adjust_names(id, 1)?;
            tx.add_name(place.directory(), &name, id, kind)?;
            tx.touch_directory(place.directory(), 0)?;
            tx.changed(ChangeKind::Create, place.path_of(&name));
            Ok(())
        }
    }
}
