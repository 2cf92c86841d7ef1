//! `copyFile` and `cp`. Contents are shared: a copy costs the same whatever the size.

use std::collections::HashSet;

use super::mkdir::{make_one, mkdir};
use super::permit::permit_change;
use super::resolve::{LastLink, Place, Resolved, existing, resolve};
use super::rm::remove;
use super::write::{Condition, NewContent, NewFile, write};
use crate::error::{Code, FsError, Result};
use crate::limits::PATH_BYTES_MAX;
use crate::path::{WorkspacePath, join};
use crate::store::{ChangeKind, Inode, InodeId, Kind, ReadTx, WriteTx};

/// Copies contents and permission bits of a file to a new or existing one.
pub fn copy_file(
    tx: &WriteTx<'_>,
    from: &WorkspacePath,
    to: &WorkspacePath,
    condition: Condition,
) -> Result<()> {
    let source = existing(tx, from, LastLink::Follow).map_err(|error| error.to(to.as_str()))?;
    let refused = |code| FsError::new(code).at(from.as_str()).to(to.as_str());
    let last = if condition == Condition::Any { LastLink::Follow } else { LastLink::Keep };
    let target = match resolve(tx, to, last).map_err(|error| refused(error.code()))? {
        Resolved::Found { id, .. } => Some(id),
        Resolved::Absent { .. } => None,
    };
    // As on Linux, a directory is found out only after the target could be opened.
    if source.kind == Kind::Directory {
        let is_taken = condition == Condition::Absent && target.is_some();
        return Err(refused(if is_taken { Code::Exist } else { Code::IsDir }));
    }
    if condition == Condition::Any && target == Some(source.id) {
        return Ok(());
    }
    tx.retain(source.content)?;
    let contents = NewContent::Stored { content: source.content, size: source.size };
    write(tx, to, NewFile { mode: Some(source.mode), condition }, contents)
        .map_err(|error| refused(error.code()))
}

/// How `cp` treats what it meets. The names are those of Node's options.
#[derive(Debug, Clone, Default)]
pub struct CopyTree {
    /// Directories with their contents; without it a directory is `EISDIR`.
    pub is_recursive: bool,
    /// Replace files that exist.
    pub is_forced: bool,
    /// Where they are not replaced: `EEXIST` instead of leaving them.
    pub error_on_exist: bool,
    /// Copy what links lead to instead of the links.
    pub dereference: bool,
    /// Copy access and modification times too.
    pub preserve_timestamps: bool,
    /// Source paths that are left out, with all below them.
    pub skipped: HashSet<String>,
}

/// The paths that [`copy_tree`] would copy, a directory before its contents: what a filter is
/// asked about.
pub fn sources(
    tx: &ReadTx<'_>,
    from: &WorkspacePath,
    is_recursive: bool,
    dereference: bool,
) -> Result<Vec<String>> {
    let last = if dereference { LastLink::Follow } else { LastLink::Keep };
    let first = existing(tx, from, last)?;
    let mut paths = Vec::new();
    let mut ahead = vec![(from.as_str().to_owned(), first.id, first.kind)];
    while let Some((path, id, kind)) = ahead.pop() {
        if path.len() > PATH_BYTES_MAX {
            return Err(FsError::new(Code::NameTooLong));
        }
        if kind == Kind::Directory && is_recursive {
            for (name, mut id, mut kind) in tx.names(id)?.into_iter().rev() {
                let path = join(&path, &name);
                if is_out_of_sight(tx, &path)? {
                    continue;
                }
                if kind == Kind::Link && dereference {
                    match existing(tx, &WorkspacePath::parse(&path)?, LastLink::Follow) {
                        Ok(target) => (id, kind) = (target.id, target.kind),
                        // For the filter to refuse; otherwise the copy will fail on it.
                        Err(error) if matches!(error.code(), Code::NoEnt | Code::NotDir) => {}
                        Err(error) => return Err(error),
                    }
                }
                ahead.push((path, id, kind));
            }
        }
        paths.push(path);
    }
    Ok(paths)
}

/// Whether the rules of the call let it not see what is there. Such a thing is left out, as it is of a
/// listing.
fn is_out_of_sight(tx: &ReadTx<'_>, path: &str) -> Result<bool> {
    if tx.rules().is_none() {
        return Ok(false);
    }
    match existing(tx, &WorkspacePath::parse(path)?, LastLink::Keep) {
        Err(error) if error.code() == Code::Acces => Ok(true),
        _ => Ok(false),
    }
}

struct Task {
    source: Inode,
    source_path: String,
    parent: InodeId,
    name: String,
    real: String,
}

/// Copies a file, link or tree. Makes the directories above `to`.
pub fn copy_tree(
    tx: &WriteTx<'_>,
    from: &WorkspacePath,
    to: &WorkspacePath,
    options: &CopyTree,
) -> Result<()> {
    let refused =
        |code, detail: &str| Err(FsError::with_detail(code, detail).at(from.as_str()).to(to.as_str()));
    let last = if options.dereference { LastLink::Follow } else { LastLink::Keep };
    let source = existing(tx, from, last).map_err(|error| error.to(to.as_str()))?;
    if options.skipped.contains(from.as_str()) {
        return Ok(());
    }
    if source.kind == Kind::Directory && !options.is_recursive {
        return refused(Code::IsDir, "a directory is copied only with { recursive: true }");
    }
    if to.is_root() {
        return refused(Code::Inval, "the root cannot be the copy of something");
    }
    if let Some((parent, _)) = to.as_str().rsplit_once('/')
        && !parent.is_empty()
    {
        make_above(tx, &WorkspacePath::parse(parent)?)
            .map_err(|error| FsError::new(error.code()).at(from.as_str()).to(to.as_str()))?;
    }
    let (place, name) = match resolve(tx, to, LastLink::Keep)? {
        Resolved::Found { id, .. } if id == source.id => {
            return refused(Code::Inval, "source and destination are the same");
        }
        Resolved::Found { place, name, .. } | Resolved::Absent { place, name, .. } => (place, name),
    };
    if source.kind == Kind::Directory && place.is_within(source.id) {
        return refused(Code::Inval, "a directory cannot be copied into itself");
    }
    let first = Task {
        source,
        source_path: from.as_str().to_owned(),
        parent: place.directory(),
        real: place.path_of(&name),
        name: name.into_owned(),
    };
    let mut tasks = vec![first];
    // What is copied into a directory changes its time, so those of directories are set last.
    let mut directories = Vec::new();
    while let Some(task) = tasks.pop() {
        let copied =
            copy_one(tx, &task, options).map_err(|error| error.at(&task.source_path).to(&task.real))?;
        if let Some((id, subtree)) = copied {
            tasks.extend(subtree);
            directories.push((id, task.source.atime, task.source.mtime));
        }
    }
    if options.preserve_timestamps {
        for (id, atime, mtime) in directories {
            tx.set_times(id, atime, mtime)?;
        }
    }
    Ok(())
}

/// Makes the directories above a copy.
fn make_above(tx: &WriteTx<'_>, directory: &WorkspacePath) -> Result<()> {
    match mkdir(tx, directory, true, None) {
        // It is on the way to the copy, not where the copy goes: a file, or a link to nothing.
        Err(error) if error.code() == Code::Exist => {
            existing(tx, directory, LastLink::Follow).and(Err(FsError::new(Code::NotDir)))
        }
        made => made.map(|_| ()),
    }
}

/// Copies one thing. Of a directory returns the copy and what is to be copied into it.
fn copy_one(tx: &WriteTx<'_>, task: &Task, options: &CopyTree) -> Result<Option<(InodeId, Vec<Task>)>> {
    if task.real.len() > PATH_BYTES_MAX {
        return Err(FsError::new(Code::NameTooLong));
    }
    let displaced = tx.lookup(task.parent, &task.name)?;
    if !matches!(displaced, Some((_, Kind::Directory))) {
        permit_change(tx, &task.real)?;
    }
    if task.source.kind == Kind::Directory {
        let id = match displaced {
            Some((id, Kind::Directory)) => id,
            Some(_) => return Err(FsError::with_detail(Code::NotDir, "a directory cannot replace a file")),
            None => make_one(tx, task.parent, &task.name, task.source.mode, task.real.clone())?,
        };
        return Ok(Some((id, contents_of(tx, task, id, options)?)));
    }
    match displaced {
        Some((_, Kind::Directory)) => {
            return Err(FsError::with_detail(Code::IsDir, "a file cannot replace a directory"));
        }
        Some((id, _)) if id == task.source.id => return Ok(None),
        Some((id, kind)) if options.is_forced => {
            remove(tx, &Place::bare(task.parent), &task.name, id, kind)?;
        }
        Some(_) if options.error_on_exist => return Err(FsError::new(Code::Exist)),
        Some(_) => return Ok(None),
        None => {}
    }
    let id = if task.source.kind == Kind::Link {
        tx.create_link(&tx.link_target(task.source.id)?)?
    } else {
        tx.retain(task.source.content)?;
        tx.create_inode(Kind::File, task.source.mode, task.source.size, task.source.content)?
    };
    tx.add_name(task.parent, &task.name, id, task.source.kind)?;
    tx.touch_directory(task.parent, 0)?;
    if options.preserve_timestamps {
        tx.set_times(id, task.source.atime, task.source.mtime)?;
    }
    let kind = if displaced.is_some() { ChangeKind::Change } else { ChangeKind::Create };
    tx.changed(kind, task.real.clone());
    Ok(None)
}

fn contents_of(tx: &WriteTx<'_>, task: &Task, parent: InodeId, options: &CopyTree) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    // Reversed, since the last task is done first.
    for (name, id, kind) in tx.names(task.source.id)?.into_iter().rev() {
        let source_path = join(&task.source_path, &name);
        if options.skipped.contains(&source_path) {
            continue;
        }
        if is_out_of_sight(tx, &source_path)? {
            continue;
        }
        let source = if kind == Kind::Link && options.dereference {
            existing(tx, &WorkspacePath::parse(&source_path)?, LastLink::Follow)?
        } else {
            tx.inode(id)?
        };
        tasks.push(Task { source, source_path, parent, real: join(&task.real, &name), name });
    }
    Ok(tasks)
}
