//! `access`, the `stat` family, modes, owners and times.
//!
//! Everything belongs to user and group 0, which is who code in a run is: permission bits are kept and
//! shown, and stop nobody.

use std::sync::Arc;

use carrel_wire::Value;

use super::failure::{About, Failure};
use super::{Done, Files};
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{ChangeKind, Inode, InodeId, Kind, ReadTx, WriteTx, lock};
use crate::vfs::{self, LastLink, Resolved};

const R_OK: u32 = 4;
const W_OK: u32 = 2;
const X_OK: u32 = 1;

/// What `statfs` calls the file system: `carl`, as the database files do.
const FILE_SYSTEM_TYPE: f64 = 0x6361_726c as f64;
const BLOCK_BYTES: u64 = 4096;
/// Room of a workspace without a quota.
const UNLIMITED_BYTES: u64 = 1 << 40;
const INODES_MAX: u64 = 1 << 32;

/// Inode numbers of the directories above the root of a run, which it is told nothing else of. No real
/// inode is that high.
const ABOVE_ROOT_INODE: u64 = 1 << 52;

/// Says "leave it" in `chown`.
const UNCHANGED: u32 = u32::MAX;

/// The numbers that Node makes `Stats` of: device, mode, links, user, group, special device, block size,
/// inode, size, blocks, and four times in seconds and nanoseconds.
pub(super) fn stat_numbers(inode: &Inode) -> Value {
    let kind_bits = match inode.kind {
        Kind::File => 0o100_000,
        Kind::Directory => 0o040_000,
        Kind::Link => 0o120_000,
    };
    let head = [
        1.0,
        f64::from(kind_bits | inode.mode),
        inode.nlink as f64,
        0.0,
        0.0,
        0.0,
        BLOCK_BYTES as f64,
        inode.id as f64,
        inode.size as f64,
        inode.size.div_ceil(512) as f64,
    ];
    let times = [inode.atime, inode.mtime, inode.ctime, inode.birthtime].into_iter().flat_map(|ms| {
        let seconds = (ms / 1_000.0).floor();
        [seconds, ((ms - seconds * 1_000.0) * 1_000_000.0).round().clamp(0.0, 999_999_999.0)]
    });
    Value::List(head.into_iter().chain(times).map(Value::Number).collect())
}

impl Files {
    pub(super) fn access(self: &Arc<Self>, (path, mode): (String, u32), done: Done) {
        let about = About::path("access", &path);
        if mode & !(R_OK | W_OK | X_OK) != 0 {
            return done(Err(about.error(Failure::arguments())));
        }
        self.look(&about, done, |tx| {
            let at = self.locate(tx, &path, LastLink::Follow)?;
            if self.is_above_root(&at) && mode & W_OK == 0 {
                return Ok(Value::Null);
            }
            let wanted = vfs::Access { write: mode & W_OK != 0, execute: mode & X_OK != 0 };
            vfs::access(tx, &at, wanted, self.check_writable().is_err())?;
            if wanted.write {
                vfs::permit_change(tx, &vfs::realpath(tx, &at)?)?;
            }
            Ok(Value::Null)
        });
    }

    pub(super) fn stat(self: &Arc<Self>, (path,): (String,), done: Done) {
        self.stat_as("stat", &path, LastLink::Follow, done);
    }

    pub(super) fn lstat(self: &Arc<Self>, (path,): (String,), done: Done) {
        self.stat_as("lstat", &path, LastLink::Keep, done);
    }

    fn stat_as(self: &Arc<Self>, syscall: &'static str, path: &str, last: LastLink, done: Done) {
        self.look(&About::path(syscall, path), done, |tx| {
            let at = self.locate(tx, path, last)?;
            if let Some(depth) = self.depth_above_root(&at) {
                return Ok(stat_numbers(&above_root(depth)));
            }
            let stat = if last == LastLink::Follow { vfs::stat(tx, &at) } else { vfs::lstat(tx, &at) };
            Ok(stat_numbers(&stat?.inode))
        });
    }

    fn is_above_root(&self, at: &WorkspacePath) -> bool {
        self.depth_above_root(at).is_some()
    }

    /// How deep a directory is that the root of the run lies in. That such are there is no secret, and
    /// what walks a path from `/` down has to get through them.
    fn depth_above_root(&self, at: &WorkspacePath) -> Option<u64> {
        let rest = self.root.as_str().strip_prefix(at.as_str())?;
        let is_above = if at.is_root() { !self.root.is_root() } else { rest.starts_with('/') };
        is_above.then(|| at.segments().count() as u64)
    }

    /// Type, block size twice, and what there is and is free of blocks and of inodes.
    pub(super) fn statfs(self: &Arc<Self>, (path,): (String,), done: Done) {
        self.look(&About::path("statfs", &path), done, |tx| {
            vfs::stat(tx, &self.locate(tx, &path, LastLink::Follow)?)?;
            let totals = tx.totals()?;
            let room = self.scope.store().config().quota_bytes.unwrap_or(UNLIMITED_BYTES);
            let blocks = room.div_ceil(BLOCK_BYTES);
            let free = blocks.saturating_sub(totals.bytes.unsigned_abs().div_ceil(BLOCK_BYTES)) as f64;
            let used = (totals.files + totals.directories).unsigned_abs();
            let files_free = INODES_MAX.saturating_sub(used) as f64;
            let numbers = [
                FILE_SYSTEM_TYPE,
                BLOCK_BYTES as f64,
                BLOCK_BYTES as f64,
                blocks as f64,
                free,
                free,
                INODES_MAX as f64,
                files_free,
            ];
            Ok(Value::List(numbers.into_iter().map(Value::Number).collect()))
        });
    }

    pub(super) fn fstat(self: &Arc<Self>, (fd,): (u32,), done: Done) {
        let about = About::call("fstat");
        let outcome = self.descriptor(fd).and_then(|descriptor| {
            let inode = match self.scope.read_now(|tx| tx.find_inode(descriptor.inode()))? {
                Some(inode) => inode,
                None => lock(&*self.gone(&descriptor)?).inode.clone(),
            };
            Ok(stat_numbers(&inode))
        });
        self.answer(&about, done, outcome);
    }

    pub(super) fn chmod(self: &Arc<Self>, (path, mode): (String, u32), done: Done) {
        let about = About::path("chmod", &path);
        let files = Arc::clone(self);
        self.change(about, 0, done, move |tx| {
            vfs::chmod(tx, &files.locate(tx, &path, LastLink::Follow)?, mode).map(|()| Value::Null)
        });
    }

    pub(super) fn utimes(self: &Arc<Self>, (path, atime, mtime): (String, f64, f64), done: Done) {
        self.set_times(About::path("utime", &path), path, atime, mtime, LastLink::Follow, done);
    }

    pub(super) fn lutimes(self: &Arc<Self>, (path, atime, mtime): (String, f64, f64), done: Done) {
        self.set_times(About::path("lutime", &path), path, atime, mtime, LastLink::Keep, done);
    }

    fn set_times(
        self: &Arc<Self>,
        about: About,
        path: String,
        atime: f64,
        mtime: f64,
        last: LastLink,
        done: Done,
    ) {
        let files = Arc::clone(self);
        self.change(about, 0, done, move |tx| {
            let at = files.locate(tx, &path, last)?;
            let Resolved::Found { place, name, id, .. } = vfs::resolve(tx, &at, last)? else {
                return Err(FsError::new(Code::NoEnt));
            };
            let real = vfs::real_path(&place, &name);
            vfs::permit_change(tx, &real)?;
            tx.set_times(id, atime * 1_000.0, mtime * 1_000.0)?;
            tx.changed(ChangeKind::Change, real);
            Ok(Value::Null)
        });
    }

    pub(super) fn chown(self: &Arc<Self>, (path, user, group): (String, u32, u32), done: Done) {
        self.own(About::path("chown", &path), &path, user, group, LastLink::Follow, done);
    }

    pub(super) fn lchown(self: &Arc<Self>, (path, user, group): (String, u32, u32), done: Done) {
        self.own(About::path("lchown", &path), &path, user, group, LastLink::Keep, done);
    }

    fn own(self: &Arc<Self>, about: About, path: &str, user: u32, group: u32, last: LastLink, done: Done) {
        self.look(&about, done, |tx| {
            let at = self.locate(tx, path, last)?;
            if last == LastLink::Follow {
                vfs::stat(tx, &at)?
            } else {
                vfs::lstat(tx, &at)?
            };
            self.check_writable()?;
            check_owner(user, group)
        });
    }

    pub(super) fn fchown(self: &Arc<Self>, (fd, user, group): (u32, u32, u32), done: Done) {
        let owned = self.descriptor(fd).and_then(|_| Ok(check_owner(user, group)?));
        self.answer(&About::call("fchown"), done, owned);
    }

    pub(super) fn fchmod(self: &Arc<Self>, (fd, mode): (u32, u32), done: Done) {
        let mode = mode & vfs::MODE_MASK;
        self.change_open(
            About::call("fchmod"),
            fd,
            done,
            move |tx, id| tx.set_mode(id, mode),
            move |inode| inode.mode = mode,
        );
    }

    pub(super) fn futimes(self: &Arc<Self>, (fd, atime, mtime): (u32, f64, f64), done: Done) {
        let (atime, mtime) = (atime * 1_000.0, mtime * 1_000.0);
        self.change_open(
            About::call("futime"),
            fd,
            done,
            move |tx, id| tx.set_times(id, atime, mtime),
            move |inode| (inode.atime, inode.mtime) = (atime, mtime),
        );
    }

    /// Changes what an open descriptor refers to; if that is gone, what is left of it.
    fn change_open(
        self: &Arc<Self>,
        about: About,
        fd: u32,
        done: Done,
        change: impl FnOnce(&WriteTx<'_>, InodeId) -> Result<()> + Send + 'static,
        change_gone: impl FnOnce(&mut Inode) + Send + 'static,
    ) {
        let descriptor = match self.descriptor(fd) {
            Ok(descriptor) => descriptor,
            Err(failure) => return done(Err(about.error(failure))),
        };
        let (id, real) = (descriptor.inode(), descriptor.real());
        let work = move |tx: &WriteTx<'_>| {
            if !is_there(tx, id)? {
                return Ok(false);
            }
            change(tx, id)?;
            tx.changed(ChangeKind::Change, real);
            Ok(true)
        };
        let files = Arc::clone(self);
        self.commit(0, work, move |changed| {
            let outcome = changed.map_err(Failure::from).and_then(|was_there| {
                if !was_there {
                    change_gone(&mut lock(&*files.gone(&descriptor)?).inode);
                }
                Ok(Value::Null)
            });
            files.answer(&about, done, outcome);
        });
    }
}

fn is_there(tx: &ReadTx<'_>, id: InodeId) -> Result<bool> {
    Ok(tx.find_inode(id)?.is_some())
}

fn check_owner(user: u32, group: u32) -> Result<Value> {
    if [user, group].iter().all(|id| matches!(*id, 0 | UNCHANGED)) {
        Ok(Value::Null)
    } else {
        Err(FsError::with_detail(
            Code::Perm,
            "files in a workspace belong to user and group 0 and cannot be given away",
        ))
    }
}

fn above_root(depth: u64) -> Inode {
    Inode {
        id: (ABOVE_ROOT_INODE + depth) as i64,
        kind: Kind::Directory,
        mode: vfs::DIRECTORY_MODE,
        nlink: 2,
        size: 0,
        content: crate::store::Content::Empty,
        mtime: 0.0,
        ctime: 0.0,
        atime: 0.0,
        birthtime: 0.0,
        version: 0,
    }
}
