//! Contents that are handed out piece by piece, as they were when the download was opened.
//!
//! Up to one chunk is read at once. Of more the manifest is pinned: it stays, with all it points
//! to, whatever happens to the file. Until the pin is written, which may have to wait for a
//! writer, a read transaction keeps the same state in view; it ends with the pin, so that the WAL
//! can be shortened however long the download takes.

use std::sync::{Arc, Mutex};

use super::read::{Range, Slice, read_file, slice_of, slice_of_inode};
use super::resolve::{LastLink, existing};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::limits::CHUNK_BYTES;
use crate::path::WorkspacePath;
use crate::store::{
    Content, Inode, InodeId, Lease, Location, ManifestId, Owner, PinId, ReadTx, Scope, WriteTx, executor,
    lock,
};

/// See the module. Dropped, it lets go of what it holds.
pub struct Download {
    scope: Scope,
    slice: Slice,
    position: Mutex<u64>,
    hold: Arc<Mutex<Hold>>,
}

enum Hold {
    /// All bytes, read already.
    Bytes(Vec<u8>),
    /// A read transaction that sees the manifest.
    Snapshot(Lease),
    /// A pin on the manifest.
    Pinned { manifest: ManifestId, pin: PinId, _owner: Arc<Owner> },
    /// Nothing any more.
    Ended,
}

impl Download {
    /// Opens small contents, if that can be done in this view without effort.
    pub fn open_small(
        tx: &ReadTx<'_>,
        scope: &Scope,
        path: &WorkspacePath,
        range: Range,
        bytes_max: u64,
    ) -> Result<Option<Download>> {
        let slice = slice_of(tx, path, range)?;
        if slice.size > bytes_max {
            return Ok(None);
        }
        let bytes = read_file(tx, slice)?;
        Ok(Some(Self::new(scope, slice, Hold::Bytes(bytes))))
    }

    /// Opens any contents. For a thread that may wait.
    pub fn open(scope: &Scope, path: &WorkspacePath, range: Range) -> Result<Download> {
        let find = |tx: &ReadTx<'_>| existing(tx, path, LastLink::Follow);
        Self::open_found(scope, range, find).map_err(|error| error.at(path.as_str()))
    }

    /// Opens all contents of the file with this number, which may be gone: `ENOENT`. For a thread that
    /// may wait.
    pub fn open_inode(scope: &Scope, id: InodeId) -> Result<Download> {
        Self::open_found(scope, Range::default(), |tx| {
            tx.find_inode(id)?.ok_or_else(|| FsError::new(Code::NoEnt))
        })
    }

    /// Takes over contents with a pin that a change has just made on them.
    pub fn of_pinned(
        scope: &Scope,
        size: u64,
        manifest: ManifestId,
        pin: PinId,
        owner: Arc<Owner>,
    ) -> Download {
        let slice = Slice { content: Content::Manifest(manifest), size, start: 0, end: size };
        Self::new(scope, slice, Hold::Pinned { manifest, pin, _owner: owner })
    }

    fn open_found(
        scope: &Scope,
        range: Range,
        find: impl Fn(&ReadTx<'_>) -> Result<Inode>,
    ) -> Result<Download> {
        let look = |tx: &ReadTx<'_>| {
            let inode = find(tx)?;
            let slice = slice_of_inode(tx, &inode, range)?;
            Ok((slice, Origin { inode: inode.id, version: inode.version }))
        };
        if scope.is_transaction() || scope.store().config().location == Location::Memory {
            return Self::open_shared(scope, |tx| look(tx).map(|(slice, _)| slice));
        }
        let mut attempts = 0;
        let (lease, (slice, origin)) = loop {
            let lease = scope.store().hold()?;
            let found = look(&lease.view());
            match found {
                Err(error) if error.code() == Code::Busy => {
                    drop(lease);
                    std::thread::sleep(executor::backoff(attempts));
                    attempts += 1;
                }
                Err(error) => return Err(error),
                Ok(found) => break (lease, found),
            }
        };
        if slice.len() <= CHUNK_BYTES as u64 {
            let bytes = read_file(&lease.view(), slice)?;
            return Ok(Self::new(scope, slice, Hold::Bytes(bytes)));
        }
        let download = Self::new(scope, slice, Hold::Snapshot(lease));
        if !scope.store().is_readonly() {
            download.pin_soon(origin)?;
        }
        Ok(download)
    }

    /// Opens where a connection cannot be kept: in a transaction, or of a database in memory.
    fn open_shared(scope: &Scope, look: impl Fn(&ReadTx<'_>) -> Result<Slice>) -> Result<Download> {
        let slice = scope.read_now(&look)?;
        if slice.len() <= CHUNK_BYTES as u64 {
            let (slice, bytes) = scope.read_now(|tx| {
                let slice = look(tx)?;
                Ok((slice, read_file(tx, slice)?))
            })?;
            return Ok(Self::new(scope, slice, Hold::Bytes(bytes)));
        }
        let owner = scope.store().owner()?;
        let pinned = scope.write_here(now_ms(), |tx| {
            let slice = look(tx)?;
            let Content::Manifest(manifest) = slice.content else { return Ok(None) };
            Ok(tx.pin(manifest, owner.id)?.map(|pin| (slice, manifest, pin)))
        });
        if let Ok(pinned) = pinned
            && let Some((slice, manifest, pin)) = pinned?
        {
            return Ok(Self::new(scope, slice, Hold::Pinned { manifest, pin, _owner: owner }));
        }
        // Somebody else's transaction is open, or the file became small: no pin can be made now.
        // What is in memory already may be in memory twice.
        let (slice, bytes) = scope.read_now(|tx| {
            let slice = look(tx)?;
            Ok((slice, read_file(tx, slice)?))
        })?;
        Ok(Self::new(scope, slice, Hold::Bytes(bytes)))
    }

    fn new(scope: &Scope, slice: Slice, hold: Hold) -> Self {
        Download {
            scope: scope.clone(),
            slice,
            position: Mutex::new(slice.start),
            hold: Arc::new(Mutex::new(hold)),
        }
    }

    /// Replaces the snapshot by a pin as soon as the writer gets to it.
    fn pin_soon(&self, origin: Origin) -> Result<()> {
        let Content::Manifest(manifest) = self.slice.content else { return Ok(()) };
        let owner = self.scope.store().owner()?;
        let owner_id = owner.id;
        let (hold, held) = (Arc::clone(&self.hold), Arc::clone(&self.hold));
        let (scope, size) = (self.scope.clone(), self.slice.size);
        self.scope.write_later(
            now_ms(),
            false,
            0,
            move |tx| pin_unchanged(tx, &held, manifest, size, origin, owner_id),
            move |pinned| {
                // Without a pin the snapshot has to last: the file went in the meantime.
                let Ok(Some(pin)) = pinned else { return };
                let mut hold = lock(&hold);
                if matches!(*hold, Hold::Ended) {
                    drop(hold);
                    unpin(&scope, manifest, pin);
                } else {
                    *hold = Hold::Pinned { manifest, pin, _owner: owner };
                }
            },
        );
        Ok(())
    }

    /// All bytes, if they are at hand and no more than a piece; then nothing is left.
    pub fn take_bytes(&self) -> Option<Vec<u8>> {
        let mut position = lock(&self.position);
        let mut hold = lock(&self.hold);
        match &mut *hold {
            Hold::Bytes(bytes) if bytes.len() <= CHUNK_BYTES => {
                let bytes = std::mem::take(bytes);
                *hold = Hold::Ended;
                *position = self.slice.end;
                Some(bytes)
            }
            _ => None,
        }
    }

    /// Up to `length` bytes from `offset` on, whatever was handed out before. For a thread that may wait.
    pub fn read_at(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let start = offset.clamp(self.slice.start, self.slice.end);
        let end = start.saturating_add(length).min(self.slice.end);
        let mut out = Vec::with_capacity(usize::try_from(end - start).unwrap_or(0));
        let mut at = start;
        while at < end {
            let index = at / CHUNK_BYTES as u64;
            let chunk_start = index * CHUNK_BYTES as u64;
            let until = end.min(chunk_start + CHUNK_BYTES as u64);
            match self.at_hand(at, until) {
                Some(bytes) => out.extend_from_slice(&bytes),
                None => {
                    let chunk = self.chunk(index)?;
                    let part = chunk.get((at - chunk_start) as usize..(until - chunk_start) as usize);
                    out.extend_from_slice(part.ok_or_else(short)?);
                }
            }
            at = until;
        }
        Ok(out)
    }

    /// Length of the contents.
    pub fn size(&self) -> u64 {
        self.slice.size
    }

    /// The next piece: the rest of the chunk in which the last one ended. None at the end. For a
    /// thread that may wait.
    pub fn next(&self) -> Result<Option<Vec<u8>>> {
        let mut position = lock(&self.position);
        if *position >= self.slice.end {
            self.close();
            return Ok(None);
        }
        let index = *position / CHUNK_BYTES as u64;
        let chunk_start = index * CHUNK_BYTES as u64;
        let bytes = match self.at_hand(*position, chunk_start + CHUNK_BYTES as u64) {
            Some(bytes) => bytes,
            None => {
                let mut bytes = self.chunk(index)?;
                bytes.truncate(usize::try_from(self.slice.end - chunk_start).unwrap_or(usize::MAX));
                if *position > chunk_start {
                    bytes.drain(..(*position - chunk_start) as usize);
                }
                bytes
            }
        };
        if bytes.is_empty() {
            return Err(short());
        }
        *position += bytes.len() as u64;
        if *position >= self.slice.end {
            self.close();
        }
        Ok(Some(bytes))
    }

    /// Bytes of the file from `start` to `end` or its last, if they were read already.
    fn at_hand(&self, start: u64, end: u64) -> Option<Vec<u8>> {
        let Hold::Bytes(bytes) = &*lock(&self.hold) else { return None };
        let within = |at: u64| (at.min(self.slice.end) - self.slice.start) as usize;
        Some(bytes[within(start)..within(end)].to_vec())
    }

    fn chunk(&self, index: u64) -> Result<Vec<u8>> {
        let hold = lock(&self.hold);
        match &*hold {
            Hold::Snapshot(lease) => lease.view().chunk_bytes(self.slice.content, index),
            Hold::Pinned { .. } => {
                drop(hold);
                let read = |tx: &ReadTx<'_>| tx.chunk_bytes(self.slice.content, index);
                self.scope.still_open().read_now(read).map_err(|error| match self.scope.transaction() {
                    Some(transaction) if error.code() == Code::Io && transaction.is_rolled_back() => {
                        FsError::with_detail(
                            Code::Closed,
                            "the transaction in which this stream was opened was rolled back, and its file with it",
                        )
                    }
                    _ => error,
                })
            }
            Hold::Bytes(_) | Hold::Ended => Err(FsError::with_detail(Code::Badf, "this stream is over")),
        }
    }

    /// Lets go of what is held.
    pub fn close(&self) {
        let hold = std::mem::replace(&mut *lock(&self.hold), Hold::Ended);
        if let Hold::Pinned { manifest, pin, .. } = hold {
            unpin(&self.scope, manifest, pin);
        }
    }
}

/// The file that a snapshot was made of, as it was.
#[derive(Clone, Copy)]
struct Origin {
    inode: InodeId,
    version: i64,
}

/// Most chunks that are compared to find out whether a snapshot can become a pin.
const COMPARED_CHUNKS_MAX: u64 = 4096;

/// Pins a manifest if it still holds what the snapshot sees: as long as only its file points to it, a
/// write into the middle of the file changes it in its place. A longer end does not matter.
fn pin_unchanged(
    tx: &WriteTx<'_>,
    hold: &Mutex<Hold>,
    manifest: ManifestId,
    size: u64,
    origin: Origin,
    owner: i64,
) -> Result<Option<PinId>> {
    let is_current = tx.find_inode(origin.inode)?.is_some_and(|inode| inode.version == origin.version);
    if !is_current {
        let hold = lock(hold);
        let Hold::Snapshot(lease) = &*hold else { return Ok(None) };
        let (last, rest) = (size / CHUNK_BYTES as u64, (size % CHUNK_BYTES as u64) as usize);
        if last > COMPARED_CHUNKS_MAX {
            return Ok(None);
        }
        let seen = lease.view().chunk_hashes(manifest, last)?;
        if tx.chunk_hashes(manifest, last)? != seen {
            return Ok(None);
        }
        let content = Content::Manifest(manifest);
        if rest > 0
            && tx.chunk_bytes(content, last)?.get(..rest)
                != lease.view().chunk_bytes(content, last)?.get(..rest)
        {
            return Ok(None);
        }
    }
    tx.pin(manifest, owner)
}

fn short() -> FsError {
    crate::store::damaged("a part of a file is shorter than it should be")
}

impl Drop for Download {
    fn drop(&mut self) {
        self.close();
    }
}

fn unpin(scope: &Scope, manifest: ManifestId, pin: PinId) {
    // If it fails, the next collection finds a pin whose owner is gone.
    scope.still_open().write_later(now_ms(), false, 0, move |tx| tx.unpin(pin, manifest), |_| {});
}
