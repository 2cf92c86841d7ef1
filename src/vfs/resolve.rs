//! The only walk from a path to an inode.
//!
//! Links on the way are always followed; the last one if the caller says so. A link's target is
//! walked segment by segment with the meaning of POSIX: relative to the directory that holds the
//! link, `..` is the real parent, and above the root there is only the root.

use std::borrow::Cow;

use super::permit::permit_read;
use crate::error::{Code, FsError, Result};
use crate::limits::{LINK_HOPS_MAX, NAME_BYTES_MAX};
use crate::path::WorkspacePath;
use crate::store::{Inode, InodeId, Kind, ROOT_INODE, ReadTx};

/// What to do when the last name is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLink {
    /// Go where it leads.
    Follow,
    /// It is what was asked for.
    Keep,
}

/// A real directory, with the real directories above it.
#[derive(Debug, Clone, Default)]
pub struct Place<'p> {
    /// From the root to the directory itself.
    ids: Vec<InodeId>,
    /// Names of `ids` but for the root.
    names: Vec<Cow<'p, str>>,
}

impl<'p> Place<'p> {
    fn root() -> Self {
        let mut ids = Vec::with_capacity(8);
        ids.push(ROOT_INODE);
        Place { ids, names: Vec::with_capacity(8) }
    }

    /// A directory of which only the number is known.
    pub fn bare(directory: InodeId) -> Self {
        Place { ids: vec![directory], names: Vec::new() }
    }

    /// The directory.
    pub fn directory(&self) -> InodeId {
        self.ids.last().copied().unwrap_or(ROOT_INODE)
    }

    /// Whether `directory` is this one or above it.
    pub fn is_within(&self, directory: InodeId) -> bool {
        self.ids.contains(&directory)
    }

    /// The real path of `name` in it.
    pub fn path_of(&self, name: &str) -> String {
        let mut path = String::new();
        for segment in self.names.iter().map(AsRef::as_ref).chain([name]) {
            path.push('/');
            path.push_str(segment);
        }
        path
    }

    /// Its own real path.
    pub fn path(&self) -> String {
        if self.names.is_empty() { "/".to_owned() } else { format!("/{}", self.names.join("/")) }
    }

    fn enter(&mut self, name: Cow<'p, str>, id: InodeId) {
        self.ids.push(id);
        self.names.push(name);
    }

    fn leave(&mut self) {
        if self.ids.len() > 1 {
            self.ids.pop();
            self.names.pop();
        }
    }
}

/// Where a path leads.
#[derive(Debug, Clone)]
pub enum Resolved<'p> {
    /// To something. `name` is its real name in `place`; for the root, empty.
    Found {
        /// The directory that names it. For the root: the root.
        place: Place<'p>,
        /// Its name there.
        name: Cow<'p, str>,
        /// Its number.
        id: InodeId,
        /// What it is.
        kind: Kind,
    },
    /// To a name that is not there, in a directory that is.
    Absent {
        /// The directory.
        place: Place<'p>,
        /// The name.
        name: Cow<'p, str>,
        /// Whether the path, by a `/` at the end of a link's target, asks for a directory.
        wants_directory: bool,
    },
}

/// Walks `path` down from the root. A missing last name is an answer; a missing or wrong
/// directory on the way is `ENOENT` or `ENOTDIR`, too many links are `ELOOP`. Where the rules of the
/// call let it not look is `EACCES`, whether something is there or not.
pub fn resolve<'p>(tx: &ReadTx<'_>, path: &'p WorkspacePath, last: LastLink) -> Result<Resolved<'p>> {
    if tx.rules().is_none() {
        return resolve_unruled(tx, path, last);
    }
    let mut reached = Place::root();
    let resolved = walk(tx, path, last, &mut reached);
    let real = match &resolved {
        Ok(Resolved::Found { place, name, .. } | Resolved::Absent { place, name, .. }) => {
            real_path(place, name)
        }
        Err(_) => reached.path(),
    };
    permit_read(tx, &real).and(resolved).map_err(|error| error.at(path.as_str()))
}

/// The same where no rule holds: for directories on the way to what the rules are asked about.
pub fn resolve_unruled<'p>(tx: &ReadTx<'_>, path: &'p WorkspacePath, last: LastLink) -> Result<Resolved<'p>> {
    walk(tx, path, last, &mut Place::root()).map_err(|error| error.at(path.as_str()))
}

/// The real path of a directory that rules are about.
pub fn real_directory(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<String> {
    match resolve_unruled(tx, path, LastLink::Follow)? {
        Resolved::Found { place, name, kind: Kind::Directory, .. } => Ok(real_path(&place, &name)),
        Resolved::Found { .. } => Err(FsError::new(Code::NotDir).at(path.as_str())),
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    }
}

/// `reached` is the directory that the walk stands in, also if it fails there.
fn walk<'p>(
    tx: &ReadTx<'_>,
    path: &'p WorkspacePath,
    last: LastLink,
    reached: &mut Place<'p>,
) -> Result<Resolved<'p>> {
    let place = reached;
    // The segments still to walk, the next one last.
    let mut ahead: Vec<Cow<'p, str>> = path.segments().rev().map(Cow::Borrowed).collect();
    let mut wants_directory = false;
    let mut hops = 0;
    while let Some(name) = ahead.pop() {
        match &*name {
            "." => continue,
            ".." => {
                place.leave();
                continue;
            }
            // Of a link's target; those of the path were measured when it was read.
            name if name.len() > NAME_BYTES_MAX => return Err(FsError::new(Code::NameTooLong)),
            _ => {}
        }
        let is_last = ahead.is_empty();
        let Some((id, kind)) = tx.lookup(place.directory(), &name)? else {
            if is_last {
                return Ok(Resolved::Absent { place: std::mem::take(place), name, wants_directory });
            }
            return Err(FsError::new(Code::NoEnt));
        };
        match kind {
            Kind::Link if !is_last || last == LastLink::Follow => {
                hops += 1;
                if hops > LINK_HOPS_MAX {
                    return Err(FsError::new(Code::Loop));
                }
                let target = tx.link_target(id)?;
                if target.starts_with('/') {
                    *place = Place::root();
                }
                wants_directory |=
                    is_last && (target.ends_with('/') || target.ends_with("/.") || target == ".");
                ahead.extend(
                    target
                        .split('/')
                        .rev()
                        .filter(|name| !name.is_empty())
                        .map(|name| Cow::Owned(name.to_owned())),
                );
            }
            Kind::Directory if !is_last => place.enter(name, id),
            Kind::File if !is_last || wants_directory => {
                return Err(FsError::new(Code::NotDir));
            }
            _ => return Ok(Resolved::Found { place: std::mem::take(place), name, id, kind }),
        }
    }
    // The path is the root, or a link's target that ends where the walk stands.
    let id = place.directory();
    let name = place.names.last().cloned().unwrap_or_default();
    place.leave();
    Ok(Resolved::Found { place: std::mem::take(place), name, id, kind: Kind::Directory })
}

/// The inode that a path leads to; `ENOENT` if none.
pub fn existing(tx: &ReadTx<'_>, path: &WorkspacePath, last: LastLink) -> Result<Inode> {
    if let Some(inode) = without_links(tx, path)?
        && (last == LastLink::Keep || inode.kind != Kind::Link)
    {
        permit_read(tx, path.as_str()).map_err(|error| error.at(path.as_str()))?;
        return Ok(inode);
    }
    match resolve(tx, path, last)? {
        Resolved::Found { id, .. } => tx.inode(id),
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    }
}

/// The inode at a path that leads through directories only, as nearly all do: one query fewer
/// than the walk. None says nothing.
fn without_links(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<Option<Inode>> {
    let mut directory = ROOT_INODE;
    let mut segments = path.segments().peekable();
    while let Some(name) = segments.next() {
        if segments.peek().is_none() {
            return tx.lookup_inode(directory, name);
        }
        match tx.lookup(directory, name)? {
            Some((id, Kind::Directory)) => directory = id,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// A directory to list or to walk.
#[derive(Debug, Clone)]
pub struct Start {
    /// The directory.
    pub id: InodeId,
    /// Its real path.
    pub real: String,
}

/// The directory that a path leads to; `ENOTDIR` for anything else.
pub fn directory(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<Start> {
    match resolve(tx, path, LastLink::Follow)? {
        Resolved::Found { place, name, id, kind: Kind::Directory } => {
            Ok(Start { id, real: real_path(&place, &name) })
        }
        Resolved::Found { .. } => Err(FsError::new(Code::NotDir).at(path.as_str())),
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    }
}

/// The real path of what was found. The root has no name.
pub fn real_path(place: &Place<'_>, name: &str) -> String {
    if name.is_empty() { "/".to_owned() } else { place.path_of(name) }
}

/// The path without any link in it. Errors as for `stat`.
pub fn realpath(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<String> {
    match resolve(tx, path, LastLink::Follow)? {
        Resolved::Found { place, name, .. } => Ok(real_path(&place, &name)),
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    }
}
