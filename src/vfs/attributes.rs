//! `chmod` and `utimes`.

use super::MODE_MASK;
use super::permit::permit_change;
use super::resolve::{LastLink, Resolved, resolve};
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{ChangeKind, InodeId, WriteTx};

/// Sets the permission bits of what the path leads to.
pub fn chmod(tx: &WriteTx<'_>, path: &WorkspacePath, mode: u32) -> Result<()> {
    let (id, real) = followed(tx, path)?;
    tx.set_mode(id, mode & MODE_MASK)?;
    tx.changed(ChangeKind::Change, real);
    Ok(())
}

/// Sets access and modification time, in milliseconds, of what the path leads to.
pub fn utimes(tx: &WriteTx<'_>, path: &WorkspacePath, atime: f64, mtime: f64) -> Result<()> {
    let (id, real) = followed(tx, path)?;
    tx.set_times(id, atime, mtime)?;
    tx.changed(ChangeKind::Change, real);
    Ok(())
}

fn followed(tx: &WriteTx<'_>, path: &WorkspacePath) -> Result<(InodeId, String)> {
    match resolve(tx, path, LastLink::Follow)? {
        Resolved::Found { place, name, id, .. } => {
            let real = place.path_of(&name);
            permit_change(tx, &real)?;
            Ok((id, real))
        }
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    }
}
