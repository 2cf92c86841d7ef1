//! `open`, and what is done with an open descriptor's contents.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use carrel_wire::Value;

use super::descriptor::{Descriptor, Kept, KeptContent};
use super::failure::{About, Failure};
use super::locate::asks_for_directory;
use super::{Done, Files, PROMPT_BYTES, UMASK};
use crate::error::{Code, FsError, Result};
use crate::limits::CHUNK_BYTES;
use crate::path::WorkspacePath;
use crate::store::{ChangeKind, Content, Durability, Inode, Kind, Piece, ReadTx, WriteTx, lock};
use crate::vfs::{self, Condition, Download, LastLink, NewContent, NewFile, Resolved};

/// Flags of `open` as Linux numbers them. Others mean nothing here.
pub(super) const O_WRONLY: u32 = 0o1;
pub(super) const O_RDWR: u32 = 0o2;
pub(super) const O_CREAT: u32 = 0o100;
pub(super) const O_EXCL: u32 = 0o200;
pub(super) const O_TRUNC: u32 = 0o1000;
pub(super) const O_APPEND: u32 = 0o2000;
const O_DIRECTORY: u32 = 0o200_000;
const O_NOFOLLOW: u32 = 0o400_000;
const O_TMPFILE: u32 = 0o20_000_000;
const ACCESS_MODE: u32 = 0o3;

/// Zeros that one write or `ftruncate` may put between the old end of a file and the new one. Each costs
/// rows for its chunks, and others wait meanwhile.
const GAP_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// What a path was opened to.
struct Opened {
    inode: Inode,
    real: String,
    /// The contents, if they are small and to be read.
    bytes: Option<Vec<u8>>,
}

/// What a look at the path has led to.
enum Look {
    Opened(Opened),
    /// It has to be made or cut.
    NeedsChange,
}

impl Files {
    pub(super) fn open(self: &Arc<Self>, (path, flags, mode): (String, u32, u32), done: Done) {
        let about = About::path("open", &path);
        if flags & O_TMPFILE != 0 {
            return done(Err(about.error(Failure::posix("ENOTSUP", -95))));
        }
        match self.scope.read_now(|tx| self.look_at(tx, &path, flags)) {
            Err(error) => done(Err(about.error(error.into()))),
            Ok(Look::Opened(opened)) => {
                let opened = self.add(opened, flags);
                self.answer(&about, done, opened);
            }
            Ok(Look::NeedsChange) => {
                let files = Arc::clone(self);
                let work = move |tx: &WriteTx<'_>| files.create(tx, &path, flags, mode);
                let files = Arc::clone(self);
                self.commit(0, work, move |opened| {
                    let added = opened.map_err(Failure::from).and_then(|opened| files.add(opened, flags));
                    files.answer(&about, done, added);
                });
            }
        }
    }

    /// Where `open` leads, without changing anything.
    fn look_at(&self, tx: &ReadTx<'_>, path: &str, flags: u32) -> Result<Look> {
        let is_exclusive = flags & O_CREAT != 0 && flags & O_EXCL != 0;
        let last = if is_exclusive || flags & O_NOFOLLOW != 0 { LastLink::Keep } else { LastLink::Follow };
        let at = self.locate(tx, path, last)?;
        let (place, name, id, kind) = match vfs::resolve(tx, &at, last)? {
            Resolved::Found { place, name, id, kind } => (place, name, id, kind),
            Resolved::Absent { .. } if flags & O_CREAT == 0 => return Err(FsError::new(Code::NoEnt)),
            Resolved::Absent { wants_directory, .. } if wants_directory || asks_for_directory(path) => {
                return Err(FsError::new(Code::IsDir));
            }
            Resolved::Absent { .. } => return Ok(Look::NeedsChange),
        };
        let changes = flags & (ACCESS_MODE | O_TRUNC) != 0;
        match kind {
            _ if is_exclusive => return Err(FsError::new(Code::Exist)),
            Kind::Link => return Err(FsError::new(Code::Loop)),
            Kind::Directory if changes || flags & O_CREAT != 0 => return Err(FsError::new(Code::IsDir)),
            Kind::File if flags & O_DIRECTORY != 0 => return Err(FsError::new(Code::NotDir)),
            Kind::File | Kind::Directory => {}
        }
        let real = vfs::real_path(&place, &name);
        if changes {
            self.check_writable()?;
            vfs::permit_change(tx, &real)?;
        }
        let inode = tx.inode(id)?;
        if flags & O_TRUNC != 0 && inode.size > 0 {
            return Ok(Look::NeedsChange);
        }
        let is_read = kind == Kind::File && flags & ACCESS_MODE != O_WRONLY;
        let bytes = if is_read && inode.size <= CHUNK_BYTES as u64 {
            Some(tx.content_range(inode.content, inode.size, 0, inode.size)?)
        } else {
            None
        };
        Ok(Look::Opened(Opened { inode, real, bytes }))
    }

    /// Makes or cuts the file that is to be opened.
    fn create(&self, tx: &WriteTx<'_>, path: &str, flags: u32, mode: u32) -> Result<Opened> {
        match self.look_at(tx, path, flags)? {
            Look::Opened(opened) => return Ok(opened),
            Look::NeedsChange => {}
        }
        let is_exclusive = flags & O_CREAT != 0 && flags & O_EXCL != 0;
        let last = if is_exclusive { LastLink::Keep } else { LastLink::Follow };
        let at = self.locate(tx, path, last)?;
        match vfs::resolve(tx, &at, last)? {
            Resolved::Found { .. } => vfs::truncate(tx, &at, 0)?,
            Resolved::Absent { .. } => make(tx, &at, mode, is_exclusive, &Piece::new(Vec::new()))?,
        }
        let inode = vfs::stat(tx, &at)?.inode;
        Ok(Opened { inode, real: vfs::realpath(tx, &at)?, bytes: Some(Vec::new()) })
    }

    /// Gives what was opened a descriptor.
    fn add(&self, opened: Opened, flags: u32) -> Result<Value, Failure> {
        let Opened { inode, real, bytes } = opened;
        let can_read = flags & ACCESS_MODE != O_WRONLY;
        let kept = match bytes {
            Some(bytes) if can_read => Some(lock(&self.table).reserve(bytes)?),
            None if can_read && inode.kind == Kind::File => {
                Some(KeptContent::Pinned(Arc::new(Download::open_inode(&self.scope, inode.id)?)))
            }
            _ => None,
        };
        let kept = kept.map(|content| Kept { inode: inode.clone(), content });
        let mut descriptor = Descriptor::new(inode, real, kept);
        descriptor.can_read = can_read;
        descriptor.can_write = matches!(flags & ACCESS_MODE, O_WRONLY | O_RDWR);
        descriptor.is_append = flags & O_APPEND != 0;
        lock(&self.table).add(descriptor).map(|number| Value::Number(f64::from(number)))
    }

    pub(super) fn close(self: &Arc<Self>, (fd,): (u32,), done: Done) {
        let about = About::call("close");
        let closed = lock(&self.table).close(fd);
        match closed {
            Ok(descriptor) => self.flush(about, &descriptor, done),
            Err(failure) => done(Err(about.error(failure))),
        }
    }

    pub(super) fn fsync(self: &Arc<Self>, (fd,): (u32,), done: Done) {
        self.sync_as("fsync", fd, done);
    }

    pub(super) fn fdatasync(self: &Arc<Self>, (fd,): (u32,), done: Done) {
        self.sync_as("fdatasync", fd, done);
    }

    fn sync_as(self: &Arc<Self>, syscall: &'static str, fd: u32, done: Done) {
        let about = About::call(syscall);
        match self.descriptor(fd) {
            Ok(descriptor) => self.flush(about, &descriptor, done),
            Err(failure) => done(Err(about.error(failure))),
        }
    }

    /// Answers once all that was written through a descriptor is as durable as the workspace promises.
    fn flush(self: &Arc<Self>, about: About, descriptor: &Descriptor, done: Done) {
        let is_flushed = !descriptor.is_unflushed.swap(false, Ordering::AcqRel);
        if is_flushed || self.scope.store().config().durability != Durability::Full {
            return done(Ok(Value::Null));
        }
        self.change(about, 0, done, |tx| tx.rewrite_root().map(|()| Value::Null));
    }

    /// Up to `length` bytes, from where the descriptor stands unless `position` says otherwise.
    pub(super) fn read(self: &Arc<Self>, (fd, length, position): (u32, u64, Option<u64>), done: Done) {
        let about = About::call("read");
        let length = length.min(self.piece_max() as u64);
        let descriptor = match self.readable(fd) {
            Ok(descriptor) => descriptor,
            Err(failure) => return done(Err(about.error(failure))),
        };
        let work = move |files: &Arc<Self>| {
            // Held over the read: of two reads the second begins where the first has ended.
            let mut standing = position.is_none().then(|| lock(&descriptor.position));
            let at = position.or(standing.as_deref().copied()).unwrap_or(0);
            let read = files.read_at(&descriptor, at, length);
            if let (Some(standing), Ok(bytes)) = (&mut standing, &read) {
                **standing = at + bytes.len() as u64;
            }
            drop(standing);
            files.answer(&about, done, read.map(Value::Bytes));
        };
        if length > CHUNK_BYTES as u64 + PROMPT_BYTES { self.hand_on(work) } else { work(self) }
    }

    fn readable(&self, fd: u32) -> Result<Arc<Descriptor>, Failure> {
        let descriptor = self.descriptor(fd)?;
        match () {
            () if !descriptor.can_read => Err(Failure::descriptor()),
            () if descriptor.is_directory() => Err(Failure::posix("EISDIR", -21)),
            () => Ok(descriptor),
        }
    }

    fn read_at(&self, descriptor: &Descriptor, at: u64, length: u64) -> Result<Vec<u8>, Failure> {
        let found = self.scope.read_now(|tx| {
            let Some(inode) = tx.find_inode(descriptor.inode())? else { return Ok(None) };
            if at >= inode.size || length == 0 {
                return Ok(Some(Vec::new()));
            }
            match descriptor.kept_of(&inode) {
                Some(Kept { content: content @ KeptContent::Bytes(_), .. }) => {
                    content.read_at(at, length).map(Some)
                }
                _ => self.cache.read(tx, &inode, at, length).map(Some),
            }
        })?;
        match found {
            Some(bytes) => Ok(bytes),
            None => {
                let gone = self.gone(descriptor)?;
                let bytes = lock(&gone).read_at(at, length)?;
                Ok(bytes)
            }
        }
    }

    pub(super) fn write(self: &Arc<Self>, (fd, bytes, position): (u32, Vec<u8>, Option<u64>), done: Done) {
        let about = About::call("write");
        let descriptor = match self.writable(fd) {
            Ok(descriptor) => descriptor,
            Err(failure) => return done(Err(about.error(failure))),
        };
        let length = bytes.len();
        // Of writes that go to the end, neither an empty one nor one with a position moves the descriptor.
        let moves_to_end = descriptor.is_append && position.is_none() && length > 0;
        let at = if descriptor.is_append {
            None
        } else {
            Some(position.unwrap_or_else(|| {
                // Moved at once: of two writes under way the second goes behind the first.
                let mut standing = lock(&descriptor.position);
                let at = *standing;
                *standing += length as u64;
                at
            }))
        };
        let bytes = Arc::new(bytes);
        let (contents, target) = (Arc::clone(&bytes), Arc::clone(&descriptor));
        let work = move |tx: &WriteTx<'_>| {
            let Some(inode) = tx.find_inode(target.inode())? else { return Ok(None) };
            check_gap(&inode, at.unwrap_or(0))?;
            let end = vfs::write_at(tx, &inode, at, &contents)?;
            if !contents.is_empty() {
                tx.changed(ChangeKind::Change, target.real());
            }
            Ok(Some(end))
        };
        descriptor.is_unflushed.store(true, Ordering::Release);
        let files = Arc::clone(self);
        self.commit_as(false, length, work, move |written| {
            let end = written.map_err(Failure::from).and_then(|end| match end {
                Some(end) => Ok(end),
                None => {
                    let gone = files.gone(&descriptor)?;
                    let end = lock(&gone).write_at(at, &bytes, files.now())?;
                    Ok(end)
                }
            });
            if let (Ok(end), true) = (&end, moves_to_end) {
                *lock(&descriptor.position) = *end;
            }
            files.answer(&about, done, end.map(|_| Value::Number(length as f64)));
        });
    }

    fn writable(&self, fd: u32) -> Result<Arc<Descriptor>, Failure> {
        let descriptor = self.descriptor(fd)?;
        if descriptor.can_write { Ok(descriptor) } else { Err(Failure::descriptor()) }
    }

    pub(super) fn ftruncate(self: &Arc<Self>, (fd, length): (u32, u64), done: Done) {
        let about = About::call("ftruncate");
        let descriptor = match self.writable(fd) {
            Ok(descriptor) => descriptor,
            // Unlike `write`, it calls such a descriptor unsuitable.
            Err(failure) => {
                let is_open = self.descriptor(fd).is_ok();
                return done(Err(about.error(if is_open { Failure::arguments() } else { failure })));
            }
        };
        let target = Arc::clone(&descriptor);
        let work = move |tx: &WriteTx<'_>| {
            let Some(inode) = tx.find_inode(target.inode())? else { return Ok(false) };
            check_gap(&inode, length)?;
            vfs::truncate_inode(tx, &inode, length)?;
            tx.changed(ChangeKind::Change, target.real());
            Ok(true)
        };
        descriptor.is_unflushed.store(true, Ordering::Release);
        let files = Arc::clone(self);
        self.commit_as(false, 0, work, move |cut| {
            let outcome = cut.map_err(Failure::from).and_then(|was_there| {
                if !was_there {
                    let gone = files.gone(&descriptor)?;
                    lock(&gone).truncate(length, files.now())?;
                }
                Ok(Value::Null)
            });
            files.answer(&about, done, outcome);
        });
    }
}

/// Makes a file of at most one chunk.
pub(super) fn make(
    tx: &WriteTx<'_>,
    at: &WorkspacePath,
    mode: u32,
    is_exclusive: bool,
    contents: &Piece,
) -> Result<()> {
    vfs::write(tx, at, new_file(mode, is_exclusive), NewContent::Piece(contents))
}

/// How a file that is not there is made.
pub(super) fn new_file(mode: u32, is_exclusive: bool) -> NewFile {
    let condition = if is_exclusive { Condition::Absent } else { Condition::Any };
    NewFile { mode: Some(mode & !UMASK), condition }
}

fn check_gap(inode: &Inode, start: u64) -> Result<()> {
    if start.saturating_sub(inode.size) > GAP_BYTES_MAX {
        return Err(FsError::with_detail(
            Code::Fbig,
            format!("one call fills up at most {GAP_BYTES_MAX} bytes with zeros"),
        ));
    }
    debug_assert!(inode.kind == Kind::File || inode.content == Content::Empty);
    Ok(())
}
