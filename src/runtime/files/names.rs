//! Calls that look at names or change them: directories, links, moves, removals.

use std::sync::Arc;

use carrel_wire::Value;

use super::descriptor::Kept;
use super::failure::{About, Failure};
use super::locate::{asks_for_directory, bare};
use super::{Done, Files, UMASK};
use crate::error::{Code, FsError, Result};
use crate::limits::CHUNK_BYTES;
use crate::path::WorkspacePath;
use crate::store::{Content, Inode, InodeId, Kind, Owner, PinId, ReadTx, WriteTx, lock};
use crate::vfs::{self, Download, LastLink, Resolved};

/// As `UV_DIRENT_*` of libuv.
fn entry_type(kind: Kind) -> f64 {
    match kind {
        Kind::File => 1.0,
        Kind::Directory => 2.0,
        Kind::Link => 3.0,
    }
}

impl Files {
    pub(super) fn exists(self: &Arc<Self>, (path,): (String,), done: Done) {
        let found = self.scope.read_now(|tx| vfs::exists(tx, &self.locate(tx, &path, LastLink::Follow)?));
        done(Ok(Value::Bool(found.unwrap_or(false))));
    }

    /// 0: a file, 1: a directory, negative: nothing.
    pub(super) fn module_stat(self: &Arc<Self>, (path,): (String,), done: Done) {
        let found = self.scope.read_now(|tx| vfs::stat(tx, &self.locate(tx, &path, LastLink::Follow)?));
        done(Ok(Value::Number(match found {
            Ok(stat) if stat.inode.kind == Kind::Directory => 1.0,
            Ok(_) => 0.0,
            Err(error) => f64::from(error.code().errno().min(-1)),
        })));
    }

    pub(super) fn readdir(self: &Arc<Self>, (path,): (String,), done: Done) {
        self.look(&About::path("scandir", &path), done, |tx| {
            let at = self.locate(tx, &path, LastLink::Follow)?;
            let most = self.entries_max;
            let listing = vfs::readdir(tx, &at, false, 0, most.saturating_add(1))?;
            if listing.entries.len() as u64 > most {
                return Err(FsError::with_detail(
                    Code::Limit,
                    format!("the directory has more than {most} entries, which maxDirectoryEntries allows"),
                ));
            }
            let types = listing.entries.iter().map(|entry| Value::Number(entry_type(entry.kind))).collect();
            let names = listing.entries.into_iter().map(|entry| Value::Text(entry.name)).collect();
            Ok(Value::List(vec![Value::List(names), Value::List(types)]))
        });
    }

    pub(super) fn readlink(self: &Arc<Self>, (path,): (String,), done: Done) {
        self.look(&About::path("readlink", &path), done, |tx| {
            vfs::readlink(tx, &self.locate(tx, &path, LastLink::Keep)?).map(Value::Text)
        });
    }

    pub(super) fn realpath(self: &Arc<Self>, (path,): (String,), done: Done) {
        self.look(&About::path("realpath", &path), done, |tx| {
            vfs::realpath(tx, &self.locate(tx, &path, LastLink::Follow)?).map(Value::Text)
        });
    }

    /// With `is_recursive` answers with the first directory made, if any was.
    pub(super) fn mkdir(self: &Arc<Self>, (path, mode, is_recursive): (String, u32, bool), done: Done) {
        let about = About::path("mkdir", &path);
        let files = Arc::clone(self);
        self.change(about, 0, done, move |tx| {
            let at = files.locate(tx, bare(&path), LastLink::Follow)?;
            let made = vfs::mkdir(tx, &at, is_recursive, Some(mode & !UMASK))?;
            Ok(if is_recursive {
                Value::optional_text(made.map(|made| files.as_written(&path, made)))
            } else {
                Value::Null
            })
        });
    }

    /// The part of a path, as it was written, that means the directory `made` above or at its end.
    fn as_written(&self, path: &str, made: String) -> String {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for part in ends.map(|end| &path[..end]).filter(|part| !part.is_empty()) {
            let whole = if part.starts_with('/') { part.to_owned() } else { self.cwd.join(part) };
            if WorkspacePath::parse(&whole).is_ok_and(|whole| whole.as_str() == made) {
                return part.to_owned();
            }
        }
        made
    }

    pub(super) fn symlink(self: &Arc<Self>, (target, path): (String, String), done: Done) {
        let about = About::paths("symlink", &target, &path);
        let files = Arc::clone(self);
        self.change(about, 0, done, move |tx| {
            vfs::symlink(tx, &target, &files.locate_new(tx, &path)?).map(|()| Value::Null)
        });
    }

    pub(super) fn link(self: &Arc<Self>, (existing, path): (String, String), done: Done) {
        let about = About::paths("link", &existing, &path);
        let files = Arc::clone(self);
        self.change(about, 0, done, move |tx| {
            let source = files.locate(tx, &existing, LastLink::Keep)?;
            vfs::link(tx, &source, &files.locate_new(tx, &path)?).map(|()| Value::Null)
        });
    }

    pub(super) fn rmdir(self: &Arc<Self>, (path,): (String,), done: Done) {
        let files = Arc::clone(self);
        self.remove(About::path("rmdir", &path), done, move |tx| {
            // A link with a `/` after it is still no directory to remove.
            let at = files.locate(tx, bare(&path), LastLink::Keep)?;
            if path.ends_with("/.") || path == "." {
                return Err(FsError::new(Code::Inval));
            }
            let (_, kind) = files.removable(tx, &at)?;
            if kind != Kind::Directory {
                return Err(FsError::new(Code::NotDir));
            }
            Ok((at, None))
        });
    }

    pub(super) fn unlink(self: &Arc<Self>, (path,): (String,), done: Done) {
        let files = Arc::clone(self);
        self.remove(About::path("unlink", &path), done, move |tx| {
            let at = files.locate(tx, bare(&path), LastLink::Keep)?;
            let (id, kind) = files.removable(tx, &at)?;
            match kind {
                Kind::Directory => Err(FsError::new(Code::IsDir)),
                _ if asks_for_directory(&path) => Err(FsError::new(Code::NotDir)),
                _ => Ok((at, Some(id))),
            }
        });
    }

    /// Removes a name, once `find` has said which and, if it is only one file's, whose.
    fn remove(
        self: &Arc<Self>,
        about: About,
        done: Done,
        find: impl FnOnce(&ReadTx<'_>) -> Result<(WorkspacePath, Option<InodeId>)> + Send + 'static,
    ) {
        let files = Arc::clone(self);
        let work = move |tx: &WriteTx<'_>| {
            let (at, only) = find(tx)?;
            let saved = if only.is_some() { files.save(tx, only)? } else { Vec::new() };
            vfs::rm(tx, &at, false, false)?;
            Ok(saved)
        };
        let files = Arc::clone(self);
        self.commit(0, work, move |removed| {
            files.answer(&about, done, removed.map(|saved| files.keep(saved)).map_err(Failure::from));
        });
    }

    /// Removes whatever is there, with all below it if `is_recursive`. Nothing there is fine.
    pub(super) fn rm(self: &Arc<Self>, (path, is_recursive): (String, bool), done: Done) {
        let about = About::path("rm", &path);
        let files = Arc::clone(self);
        let work = move |tx: &WriteTx<'_>| {
            let at = match files.locate(tx, &path, LastLink::Keep) {
                Err(error) if error.code() == Code::NoEnt => return Ok(Vec::new()),
                located => located?,
            };
            match files.removable(tx, &at) {
                Err(error) if matches!(error.code(), Code::NoEnt | Code::NotDir) => return Ok(Vec::new()),
                Ok((_, Kind::Directory)) if !is_recursive => return Err(FsError::new(Code::IsDir)),
                found => found?,
            };
            let saved = files.save(tx, None)?;
            vfs::rm(tx, &at, is_recursive, true)?;
            Ok(saved)
        };
        let files = Arc::clone(self);
        self.commit(0, work, move |removed| {
            files.answer(&about, done, removed.map(|saved| files.keep(saved)).map_err(Failure::from));
        });
    }

    pub(super) fn rename(self: &Arc<Self>, (from, to): (String, String), done: Done) {
        let about = About::paths("rename", &from, &to);
        let files = Arc::clone(self);
        let work = move |tx: &WriteTx<'_>| {
            let source = files.locate(tx, bare(&from), LastLink::Keep)?;
            let target = files.locate(tx, bare(&to), LastLink::Keep)?;
            // Both directories are looked up before what is in them.
            vfs::resolve(tx, &source, LastLink::Keep)?;
            let displaced = vfs::resolve(tx, &target, LastLink::Keep)?;
            let (_, kind) = files.removable(tx, &source)?;
            if kind != Kind::Directory && (asks_for_directory(&from) || asks_for_directory(&to)) {
                return Err(FsError::new(Code::NotDir));
            }
            let (saved, new_real) = match displaced {
                Resolved::Found { place, name, id, .. } => {
                    (files.save(tx, Some(id))?, vfs::real_path(&place, &name))
                }
                Resolved::Absent { place, name, .. } => (Vec::new(), place.path_of(&name)),
            };
            let old_real = real_of(tx, &source)?;
            vfs::rename(tx, &source, &target)?;
            Ok((saved, old_real, new_real))
        };
        let files = Arc::clone(self);
        self.commit(0, work, move |renamed| {
            let outcome = renamed.map(|(saved, old, new)| {
                lock(&files.table).renamed(&old, &new);
                files.keep(saved)
            });
            files.answer(&about, done, outcome.map_err(Failure::from));
        });
    }

    /// The path of a name to be made, which is no directory.
    pub(super) fn locate_new(&self, tx: &ReadTx<'_>, path: &str) -> Result<WorkspacePath> {
        let at = self.locate(tx, path, LastLink::Keep)?;
        if asks_for_directory(path)
            && matches!(vfs::resolve(tx, &at, LastLink::Keep)?, Resolved::Absent { .. })
        {
            return Err(FsError::new(Code::NoEnt));
        }
        Ok(at)
    }

    /// What a path names, unless the run could not go on without it.
    fn removable(&self, tx: &ReadTx<'_>, at: &WorkspacePath) -> Result<(InodeId, Kind)> {
        let Resolved::Found { place, name, id, kind } = vfs::resolve(tx, at, LastLink::Keep)? else {
            return Err(FsError::new(Code::NoEnt));
        };
        if kind == Kind::Directory {
            let root = vfs::directory(tx, &self.root)?;
            let above = vfs::real_path(&place, &name);
            let is_above = root.id == id || above == "/" || root.real.starts_with(&format!("{above}/"));
            if is_above {
                return Err(FsError::with_detail(
                    Code::Perm,
                    "the root of the run cannot be removed or renamed",
                ));
            }
        }
        Ok((id, kind))
    }

    /// Before names are removed: holds on to what open descriptors refer to, if it changed since it was
    /// last kept. `only` one file, or whichever.
    fn save(&self, tx: &WriteTx<'_>, only: Option<InodeId>) -> Result<Vec<Saved>> {
        let stale = lock(&self.table).stale(only);
        let mut saved = Vec::new();
        for (id, version) in stale {
            let Some(inode) = tx.find_inode(id)? else { continue };
            if version == Some(inode.version) {
                continue;
            }
            let content = match inode.content {
                Content::Manifest(manifest) => {
                    let owner = self.scope.store().owner()?;
                    let Some(pin) = tx.pin(manifest, owner.id)? else { continue };
                    SavedContent::Pinned(pin, owner)
                }
                content => {
                    SavedContent::Bytes(tx.content_range(content, inode.size, 0, CHUNK_BYTES as u64)?)
                }
            };
            saved.push(Saved { inode, content });
        }
        Ok(saved)
    }

    /// After names were removed: what was saved is the descriptors'.
    fn keep(&self, saved: Vec<Saved>) -> Value {
        for Saved { inode, content } in saved {
            let table = lock(&self.table);
            let content = match (content, inode.content) {
                (SavedContent::Pinned(pin, owner), Content::Manifest(manifest)) => {
                    let download = Download::of_pinned(&self.scope, inode.size, manifest, pin, owner);
                    Some(super::descriptor::KeptContent::Pinned(Arc::new(download)))
                }
                (SavedContent::Bytes(bytes), _) => table.reserve(bytes).ok(),
                (SavedContent::Pinned(..), _) => None,
            };
            if let Some(content) = content {
                table.keep(&Kept { inode, content });
            }
        }
        Value::Null
    }
}

/// Contents held on to in a change that removes names.
struct Saved {
    inode: Inode,
    content: SavedContent,
}

enum SavedContent {
    Bytes(Vec<u8>),
    Pinned(PinId, Arc<Owner>),
}

/// The real path of what a path names, a link at its end being itself.
pub(super) fn real_of(tx: &ReadTx<'_>, at: &WorkspacePath) -> Result<String> {
    match vfs::resolve(tx, at, LastLink::Keep)? {
        Resolved::Found { place, name, .. } => Ok(vfs::real_path(&place, &name)),
        Resolved::Absent { place, name, .. } => Ok(place.path_of(&name)),
    }
}
