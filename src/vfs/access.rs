//! `exists` and `access`.

use super::resolve::{LastLink, existing};
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{Kind, ReadTx};

/// What `access` is asked to check, beyond that the path exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Access {
    /// May it be changed? No in a read-only workspace.
    pub write: bool,
    /// May it be run? A file needs an `x` bit, as for root on Linux.
    pub execute: bool,
}

/// Whether the path leads to something. A broken link does not.
pub fn exists(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<bool> {
    match existing(tx, path, LastLink::Follow) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.code(), Code::NoEnt | Code::NotDir) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Fails if the path may not be used so.
pub fn access(tx: &ReadTx<'_>, path: &WorkspacePath, wanted: Access, is_readonly: bool) -> Result<()> {
    let inode = existing(tx, path, LastLink::Follow)?;
    if wanted.write && is_readonly {
        return Err(FsError::new(Code::Rofs).at(path.as_str()));
    }
    if wanted.execute && inode.kind == Kind::File && inode.mode & 0o111 == 0 {
        return Err(FsError::new(Code::Acces).at(path.as_str()));
    }
    Ok(())
}
