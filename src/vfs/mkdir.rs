//! `mkdir`.

use super::permit::{permit_change, permit_change_of, permit_look};
use super::resolve::{LastLink, Resolved, resolve, resolve_unruled};
use super::{DIRECTORY_MODE, MODE_MASK};
use crate::error::{Code, FsError, Result};
use crate::path::{WorkspacePath, join};
use crate::store::{ChangeKind, InodeId, Kind, WriteTx};

/// Makes a directory; with `is_recursive` also those above it, and one that exists is fine.
///
/// Returns the first directory made, by the path that led there. `mode` is for the last; those above get 0755.
pub fn mkdir(
    tx: &WriteTx<'_>,
    path: &WorkspacePath,
    is_recursive: bool,
    mode: Option<u32>,
) -> Result<Option<String>> {
    let mode = mode.unwrap_or(DIRECTORY_MODE) & MODE_MASK;
    if is_recursive {
        return make_all(tx, path, mode);
    }
    match resolve(tx, path, LastLink::Keep)? {
        Resolved::Found { .. } => Err(FsError::new(Code::Exist).at(path.as_str())),
        Resolved::Absent { place, name, .. } => {
            let made = place.path_of(&name);
            permit_change(tx, &made)?;
            make_one(tx, place.directory(), &name, mode, made.clone())?;
            Ok(Some(made))
        }
    }
}

/// Makes one directory in a directory that has no such name.
pub fn make_one(
    tx: &WriteTx<'_>,
    parent: InodeId,
    name: &str,
    mode: u32,
    real_path: String,
) -> Result<InodeId> {
    let id = tx.create_inode(Kind::Directory, mode, 0, crate::store::Content::Empty)?;
    tx.add_name(parent, name, id, Kind::Directory)?;
    tx.touch_directory(parent, 1)?;
    tx.changed(ChangeKind::Create, real_path);
    Ok(id)
}

fn make_all(tx: &WriteTx<'_>, path: &WorkspacePath, mode: u32) -> Result<Option<String>> {
    if tx.rules().is_some() {
        permit_look(tx, path)?;
    }
    // What is on the way may lie above all that the rules let the call see.
    let mut at = WorkspacePath::root();
    let mut segments = path.segments().peekable();
    while let Some(segment) = segments.next() {
        let below = WorkspacePath::parse(&at.join(segment))?;
        let is_last = segments.peek().is_none();
        match resolve_unruled(tx, &below, LastLink::Follow).map_err(|error| error.at(path.as_str()))? {
            Resolved::Found { kind: Kind::Directory, .. } => {}
            Resolved::Found { .. } => {
                let code = if is_last { Code::Exist } else { Code::NotDir };
                return Err(FsError::new(code).at(path.as_str()));
            }
            Resolved::Absent { .. } => match resolve_unruled(tx, &below, LastLink::Keep)? {
                // A link that leads nowhere: what it names is not ours to make.
                Resolved::Found { .. } => {
                    let code = if is_last { Code::Exist } else { Code::NoEnt };
                    return Err(FsError::new(code).at(path.as_str()));
                }
                Resolved::Absent { place, name, .. } => {
                    permit_change_of(tx, &place, &name)?;
                    let mut real = place.path_of(&name);
                    let mode_of = |is_last: bool| if is_last { mode } else { DIRECTORY_MODE };
                    let mut parent = make_one(tx, place.directory(), &name, mode_of(is_last), real.clone())?;
                    // Below a new directory nothing has to be looked up.
                    while let Some(segment) = segments.next() {
                        real = join(&real, segment);
                        permit_change(tx, &real)?;
                        let is_last = segments.peek().is_none();
                        parent = make_one(tx, parent, segment, mode_of(is_last), real.clone())?;
                    }
                    return Ok(Some(below.as_str().to_owned()));
                }
            },
        }
        at = below;
    }
    Ok(None)
}
