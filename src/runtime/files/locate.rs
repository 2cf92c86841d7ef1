//! From a path as code in a run writes it to one of the workspace, the way Linux reads it.
//!
//! Unlike `path::WorkspacePath` on its own, `..` is the real parent of where the path has led so far, and
//! a `/` at the end asks for a directory. Every step stays within the rules of the call.

use crate::error::{Code, FsError, Result};
use crate::path::{WorkspacePath, join};
use crate::store::{Kind, ReadTx};
use crate::vfs::{self, LastLink, Resolved};

/// The path that `raw` means from `cwd`. With [`LastLink::Keep`] a link at its end stays one, unless a `/`
/// follows it.
pub fn locate(tx: &ReadTx<'_>, cwd: &WorkspacePath, raw: &str, last: LastLink) -> Result<WorkspacePath> {
    if raw.is_empty() {
        return Err(FsError::new(Code::NoEnt));
    }
    let path = if raw.split('/').any(|segment| segment == "..") {
        climb(tx, cwd, raw)?
    } else if raw.starts_with('/') {
        WorkspacePath::parse(raw)?
    } else {
        WorkspacePath::parse(&cwd.join(raw))?
    };
    if !asks_for_directory(raw) {
        return Ok(path);
    }
    match vfs::resolve(tx, &path, LastLink::Follow)? {
        Resolved::Found { place, name, kind: Kind::Directory, .. } if last == LastLink::Keep => {
            WorkspacePath::parse(&vfs::real_path(&place, &name))
        }
        Resolved::Found { kind: Kind::Directory, .. } | Resolved::Absent { .. } => Ok(path),
        Resolved::Found { .. } => Err(FsError::new(Code::NotDir)),
    }
}

/// Whether a path can only mean a directory.
pub fn asks_for_directory(raw: &str) -> bool {
    raw.len() > 1 && (raw.ends_with('/') || raw.ends_with("/."))
}

/// The path without the `/` at its end: what a call that takes the last name itself looks at.
pub fn bare(raw: &str) -> &str {
    let bare = raw.trim_end_matches('/');
    if bare.is_empty() && !raw.is_empty() { "/" } else { bare }
}

fn climb(tx: &ReadTx<'_>, cwd: &WorkspacePath, raw: &str) -> Result<WorkspacePath> {
    let mut at = if raw.starts_with('/') { WorkspacePath::root() } else { cwd.clone() };
    for segment in raw.split('/') {
        at = match segment {
            "" | "." => continue,
            ".." => {
                let real = vfs::directory(tx, &at)?.real;
                let parent = real.rsplit_once('/').map_or("", |(parent, _)| parent);
                WorkspacePath::parse(if parent.is_empty() { "/" } else { parent })?
            }
            name => WorkspacePath::parse(&join(at.as_str(), name))?,
        };
    }
    Ok(at)
}
