//! Open files of a run.
//!
//! A descriptor refers to an inode: what is written through any name or descriptor is seen by all. What
//! was opened for reading stays readable when its last name goes: small contents are kept in memory, of
//! larger ones the chunks are pinned (`vfs::Download`). A file that is gone and still written to lives on
//! in memory, up to a limit.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::failure::Failure;
use crate::error::Result;
use crate::limits::CHUNK_BYTES;
use crate::store::{Inode, InodeId, Kind, ReadTx, damaged, lock};
use crate::vfs::Download;

/// Descriptors that a run may have open: the usual limit of a process on Linux.
pub const DESCRIPTORS_MAX: usize = 1024;

/// Bytes of open and of deleted files that a run may have kept in the host's memory.
pub const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Chunks that a run has in the host's memory because it reads through them piece by piece.
const CACHED_CHUNKS_MAX: usize = 8;

/// The first number: those below are the standard streams.
const FIRST_DESCRIPTOR: u32 = 3;

/// One open file or directory.
pub struct Descriptor {
    /// What was opened, as it was then.
    pub opened: Inode,
    /// Whether it may be read.
    pub can_read: bool,
    /// Whether it may be written.
    pub can_write: bool,
    /// Whether all that is written goes to the end.
    pub is_append: bool,
    /// Where a read or write without a place begins.
    pub position: Mutex<u64>,
    /// Whether something was written that may not be on the disk yet.
    pub is_unflushed: AtomicBool,
    /// Its real path: what watchers are told of changes.
    real: Mutex<String>,
    kept: Mutex<Option<Kept>>,
}

impl Descriptor {
    /// A newly opened one.
    pub fn new(opened: Inode, real: String, kept: Option<Kept>) -> Self {
        Descriptor {
            opened,
            can_read: false,
            can_write: false,
            is_append: false,
            position: Mutex::new(0),
            is_unflushed: AtomicBool::new(false),
            real: Mutex::new(real),
            kept: Mutex::new(kept),
        }
    }

    /// Its inode.
    pub fn inode(&self) -> InodeId {
        self.opened.id
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.opened.kind == Kind::Directory
    }

    /// Its real path, if nobody outside has moved it.
    pub fn real(&self) -> String {
        lock(&self.real).clone()
    }

    /// What is kept of the contents, if it still is what the file holds.
    pub fn kept_of(&self, inode: &Inode) -> Option<Kept> {
        lock(&self.kept).clone().filter(|kept| kept.inode.version == inode.version)
    }
}

/// Contents that stay readable.
#[derive(Clone)]
pub struct Kept {
    /// The file as it was.
    pub inode: Inode,
    /// What it held.
    pub content: KeptContent,
}

/// Where they are.
#[derive(Clone)]
pub enum KeptContent {
    /// In memory.
    Bytes(Arc<Reserved>),
    /// Pinned in the database.
    Pinned(Arc<Download>),
}

impl KeptContent {
    /// Up to `length` bytes from `offset`. For a thread that may wait.
    pub fn read_at(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        match self {
            KeptContent::Bytes(reserved) => Ok(part(&reserved.bytes, offset, length)),
            KeptContent::Pinned(download) => download.read_at(offset, length),
        }
    }
}

/// Bytes that count towards [`KEPT_BYTES_MAX`].
pub struct Reserved {
    /// The bytes.
    pub bytes: Vec<u8>,
    budget: Arc<AtomicUsize>,
}

impl Reserved {
    fn new(bytes: Vec<u8>, budget: &Arc<AtomicUsize>) -> Result<Self, Failure> {
        let mut reserved = Reserved { bytes: Vec::new(), budget: Arc::clone(budget) };
        reserved.take(bytes.len())?;
        reserved.bytes = bytes;
        Ok(reserved)
    }

    fn take(&self, more: usize) -> Result<(), Failure> {
        let before = self.budget.fetch_add(more, Ordering::AcqRel);
        if before + more > KEPT_BYTES_MAX {
            self.budget.fetch_sub(more, Ordering::AcqRel);
            return Err(Failure::limit(format!(
                "a run keeps at most {KEPT_BYTES_MAX} bytes of open and deleted files; close some"
            )));
        }
        Ok(())
    }

    /// Makes it so long; new bytes are zeros.
    fn resize(&mut self, length: usize) -> Result<(), Failure> {
        match length.checked_sub(self.bytes.len()) {
            Some(more) => self.take(more)?,
            None => {
                self.budget.fetch_sub(self.bytes.len() - length, Ordering::AcqRel);
            }
        }
        self.bytes.resize(length, 0);
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.budget.fetch_sub(self.bytes.len(), Ordering::AcqRel);
    }
}

/// A file that has no name any more and is still open.
pub struct Gone {
    /// What `fstat` says of it.
    pub inode: Inode,
    content: GoneContent,
    budget: Arc<AtomicUsize>,
}

enum GoneContent {
    Kept(KeptContent),
    Own(Reserved),
}

impl Gone {
    /// Up to `length` bytes from `offset`.
    pub fn read_at(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        match &self.content {
            GoneContent::Kept(kept) => kept.read_at(offset, length),
            GoneContent::Own(own) => Ok(part(&own.bytes, offset, length)),
        }
    }

    /// Writes at `offset`, or at the end; returns the place after it.
    pub fn write_at(&mut self, offset: Option<u64>, bytes: &[u8], now: f64) -> Result<u64, Failure> {
        let offset = offset.unwrap_or(self.inode.size);
        if bytes.is_empty() {
            return Ok(offset);
        }
        let end = offset.saturating_add(bytes.len() as u64);
        let size = usize::try_from(end.max(self.inode.size)).unwrap_or(usize::MAX);
        let whole = self.resized(size, now)?;
        whole[offset as usize..end as usize].copy_from_slice(bytes);
        Ok(end)
    }

    /// Cuts or fills it up.
    pub fn truncate(&mut self, length: u64, now: f64) -> Result<(), Failure> {
        self.resized(usize::try_from(length).unwrap_or(usize::MAX), now).map(|_| ())
    }

    fn resized(&mut self, size: usize, now: f64) -> Result<&mut [u8], Failure> {
        let too_long = || {
            Failure::limit(format!("a deleted file holds at most {KEPT_BYTES_MAX} bytes while it is open"))
        };
        if size > KEPT_BYTES_MAX || self.inode.size > KEPT_BYTES_MAX as u64 {
            return Err(too_long());
        }
        if let GoneContent::Kept(kept) = &self.content {
            let bytes = kept.read_at(0, self.inode.size)?;
            self.content = GoneContent::Own(Reserved::new(bytes, &self.budget)?);
        }
        (self.inode.size, self.inode.mtime, self.inode.ctime) = (size as u64, now, now);
        match &mut self.content {
            GoneContent::Own(own) => {
                own.resize(size)?;
                Ok(&mut own.bytes)
            }
            GoneContent::Kept(_) => Err(too_long()),
        }
    }
}

/// All of a run.
#[derive(Default)]
pub struct Table {
    open: BTreeMap<u32, Arc<Descriptor>>,
    gone: HashMap<InodeId, Arc<Mutex<Gone>>>,
    kept_bytes: Arc<AtomicUsize>,
}

impl Table {
    /// The descriptor of a number.
    pub fn get(&self, number: u32) -> Result<Arc<Descriptor>, Failure> {
        self.open.get(&number).cloned().ok_or_else(Failure::descriptor)
    }

    /// Bytes to keep, if there is room.
    pub fn reserve(&self, bytes: Vec<u8>) -> Result<KeptContent, Failure> {
        Reserved::new(bytes, &self.kept_bytes).map(|reserved| KeptContent::Bytes(Arc::new(reserved)))
    }

    /// Gives a descriptor the lowest free number.
    pub fn add(&mut self, descriptor: Descriptor) -> Result<u32, Failure> {
        if self.open.len() >= DESCRIPTORS_MAX {
            return Err(Failure {
                code: "EMFILE",
                errno: -24,
                sentence: Some(format!("too many open files; a run may have {DESCRIPTORS_MAX} open")),
            });
        }
        let taken =
            (FIRST_DESCRIPTOR..).zip(self.open.keys()).take_while(|(free, used)| free == *used).count();
        let number = FIRST_DESCRIPTOR + taken as u32;
        self.open.insert(number, Arc::new(descriptor));
        Ok(number)
    }

    /// Frees a number.
    pub fn close(&mut self, number: u32) -> Result<Arc<Descriptor>, Failure> {
        let closed = self.open.remove(&number).ok_or_else(Failure::descriptor)?;
        let is_open = self.open.values().any(|other| other.inode() == closed.inode());
        if !is_open {
            self.gone.remove(&closed.inode());
        }
        Ok(closed)
    }

    /// The inodes whose contents changed since they were last kept, or never were: what a removal has to
    /// keep first. `only` one, or whichever.
    pub fn stale(&self, only: Option<InodeId>) -> Vec<(InodeId, Option<i64>)> {
        let mut stale: Vec<(InodeId, Option<i64>)> = Vec::new();
        for descriptor in self.open.values() {
            let id = descriptor.inode();
            if descriptor.is_directory() || only.is_some_and(|only| only != id) {
                continue;
            }
            let version = lock(&descriptor.kept).as_ref().map(|kept| kept.inode.version);
            match stale.iter_mut().find(|(known, _)| *known == id) {
                Some((_, newest)) => *newest = version.max(*newest),
                None => stale.push((id, version)),
            }
        }
        stale
    }

    /// Keeps contents for all descriptors of a file.
    pub fn keep(&self, kept: &Kept) {
        for descriptor in self.open.values().filter(|descriptor| descriptor.inode() == kept.inode.id) {
            *lock(&descriptor.kept) = Some(kept.clone());
        }
    }

    /// Follows what the run itself has moved.
    pub fn renamed(&self, from: &str, to: &str) {
        for descriptor in self.open.values() {
            let mut real = lock(&descriptor.real);
            let moved = real.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            if let Some(rest) = moved {
                *real = format!("{to}{rest}");
            }
        }
    }

    /// What became of a file whose inode is gone.
    pub fn gone(&mut self, descriptor: &Descriptor) -> Result<Arc<Mutex<Gone>>, Failure> {
        let id = descriptor.inode();
        if let Some(gone) = self.gone.get(&id) {
            return Ok(Arc::clone(gone));
        }
        let same = self.open.values().filter(|other| other.inode() == id);
        let newest = same.filter_map(|other| lock(&other.kept).clone()).max_by_key(|kept| kept.inode.version);
        let budget = Arc::clone(&self.kept_bytes);
        let (mut inode, content) = match newest {
            Some(kept) => (kept.inode, GoneContent::Kept(kept.content)),
            None => {
                let empty = Reserved::new(Vec::new(), &budget)?;
                (Inode { size: 0, ..descriptor.opened.clone() }, GoneContent::Own(empty))
            }
        };
        inode.nlink = 0;
        let gone = Gone { inode, content, budget };
        let gone = Arc::new(Mutex::new(gone));
        self.gone.insert(id, Arc::clone(&gone));
        Ok(gone)
    }
}

/// The chunks read last, so that reading through a file in small pieces fetches each chunk once.
#[derive(Default)]
pub struct ChunkCache(Mutex<Vec<CachedChunk>>);

struct CachedChunk {
    inode: InodeId,
    version: i64,
    index: u64,
    bytes: Arc<Vec<u8>>,
}

impl ChunkCache {
    /// Up to `length` bytes from `offset` of a file.
    pub fn read(&self, tx: &ReadTx<'_>, inode: &Inode, offset: u64, length: u64) -> Result<Vec<u8>> {
        let end = inode.size.min(offset.saturating_add(length));
        let mut out = Vec::with_capacity(usize::try_from(end.saturating_sub(offset)).unwrap_or(0));
        let mut at = offset;
        while at < end {
            let index = at / CHUNK_BYTES as u64;
            let start = index * CHUNK_BYTES as u64;
            let until = end.min(start + CHUNK_BYTES as u64);
            let chunk = self.chunk(tx, inode, index)?;
            let part = chunk.get((at - start) as usize..(until - start) as usize);
            out.extend_from_slice(
                part.ok_or_else(|| damaged("a part of a file is shorter than it should be"))?,
            );
            at = until;
        }
        Ok(out)
    }

    fn chunk(&self, tx: &ReadTx<'_>, inode: &Inode, index: u64) -> Result<Arc<Vec<u8>>> {
        let mut cached = lock(&self.0);
        let known = cached
            .iter()
            .position(|one| one.inode == inode.id && one.version == inode.version && one.index == index);
        if let Some(known) = known {
            let chunk = cached.remove(known);
            let bytes = Arc::clone(&chunk.bytes);
            cached.push(chunk);
            return Ok(bytes);
        }
        drop(cached);
        let bytes = Arc::new(tx.chunk_bytes(inode.content, index)?);
        let mut cached = lock(&self.0);
        cached.retain(|one| one.inode != inode.id || one.version == inode.version);
        if cached.len() >= CACHED_CHUNKS_MAX {
            cached.remove(0);
        }
        cached.push(CachedChunk {
            inode: inode.id,
            version: inode.version,
            index,
            bytes: Arc::clone(&bytes),
        });
        Ok(bytes)
    }
}

fn part(bytes: &[u8], offset: u64, length: u64) -> Vec<u8> {
    let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    bytes[within(offset)..within(offset.saturating_add(length))].to_vec()
}
