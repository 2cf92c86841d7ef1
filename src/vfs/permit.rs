//! Asks the rules of a call, if it has any, what it may do with a real path.

use super::resolve::{LastLink, Place, real_directory, resolve};
use super::walk::descendants;
use crate::error::{Code, Result};
use crate::path::WorkspacePath;
use crate::rules::Access;
use crate::store::{InodeId, Kind, ReadTx};

/// Fails unless the call may use a real path like this.
fn permit(tx: &ReadTx<'_>, real: &str, wanted: Access) -> Result<()> {
    let Some(rules) = tx.rules() else { return Ok(()) };
    let roots = tx.real_roots(|rules| rules.roots().map(|root| real_directory(tx, root)).collect())?;
    rules.check(real, roots, wanted)
}

/// Fails unless the call may read a real path.
pub fn permit_read(tx: &ReadTx<'_>, real: &str) -> Result<()> {
    permit(tx, real, Access::Read)
}

/// Fails unless the call may change a real path.
pub fn permit_change(tx: &ReadTx<'_>, real: &str) -> Result<()> {
    permit(tx, real, Access::ReadWrite)
}

/// Fails unless the call may change a name in a directory.
pub fn permit_change_of(tx: &ReadTx<'_>, place: &Place<'_>, name: &str) -> Result<()> {
    if tx.rules().is_none() { Ok(()) } else { permit_change(tx, &place.path_of(name)) }
}

/// Fails unless the call may change everything below a directory, were its path this one.
pub fn permit_change_below(tx: &ReadTx<'_>, real: &str, id: InodeId, kind: Kind) -> Result<()> {
    if kind != Kind::Directory || !tx.rules().is_some_and(|rules| rules.may_differ_below()) {
        return Ok(());
    }
    descendants(tx, real, id, |path| permit_change(tx, path).map_err(|error| error.at(path)))
}

/// Fails if the call may not know what is at a path, or that nothing is.
pub fn permit_look(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<()> {
    match resolve(tx, path, LastLink::Follow) {
        Err(error) if error.code() == Code::Acces => Err(error),
        _ => Ok(()),
    }
}

/// Whether the call may know of a real path.
pub fn may_see(tx: &ReadTx<'_>, real: &str) -> bool {
    tx.rules().is_none() || permit_read(tx, real).is_ok()
}
