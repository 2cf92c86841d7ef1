//! Contents that are handed out piece by piece, as they were when the download was opened.
//!
//! Up to one chunk is read at once. Of more the manifest is pinned: it stays, with all it points
//! to, whatever happens to the file. Until the pin is written, which may have to wait for a
//! writer, a read transaction keeps the same state in view; it ends with the pin, so that the WAL
//! can be shortened however long the download takes.

use std::sync::{Arc, Mutex};

use super::read::{Range, Slice, read_file, slice_of};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::limits::CHUNK_BYTES;
use crate::path::WorkspacePath;
use crate::store::{Content, Lease, Location, ManifestId, Owner, PinId, ReadTx, Scope, executor, lock};

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
        if scope.is_transaction() || scope.store().config().location == Location::Memory {
            return Self::open_shared(scope, path, range);
        }
        let mut attempts = 0;
        let (lease, slice) = loop {
            let lease = scope.store().hold()?;
            match slice_of(&lease.view(), path, range) {
                Err(error) if error.code() == Code::Busy => {
                    drop(lease);
                    std::thread::sleep(executor::backoff(attempts));
                    attempts += 1;
                }
                Err(error) => return Err(error),
                Ok(slice) => break (lease, slice),
            }
        };
        if slice.len() <= CHUNK_BYTES as u64 {
            let bytes = read_file(&lease.view(), slice)?;
            return Ok(Self::new(scope, slice, Hold::Bytes(bytes)));
        }
        let download = Self::new(scope, slice, Hold::Snapshot(lease));
        if !scope.store().is_readonly() {
            download.pin_soon()?;
        }
        Ok(download)
    }

    /// Opens where a connection cannot be kept: in a transaction, or of a database in memory.
    fn open_shared(scope: &Scope, path: &WorkspacePath, range: Range) -> Result<Download> {
        let slice = scope.read_now(|tx| slice_of(tx, path, range))?;
        if slice.len() <= CHUNK_BYTES as u64 {
            let (slice, bytes) = scope.read_now(|tx| {
                let slice = slice_of(tx, path, range)?;
                Ok((slice, read_file(tx, slice)?))
            })?;
            return Ok(Self::new(scope, slice, Hold::Bytes(bytes)));
        }
        let owner = scope.store().owner()?;
        let pinned = scope.write_here(now_ms(), |tx| {
            let slice = slice_of(tx, path, range)?;
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
            let slice = slice_of(tx, path, range)?;
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
    fn pin_soon(&self) -> Result<()> {
        let Content::Manifest(manifest) = self.slice.content else { return Ok(()) };
        let owner = self.scope.store().owner()?;
        let owner_id = owner.id;
        let hold = Arc::clone(&self.hold);
        let scope = self.scope.clone();
        self.scope.write_later(
            now_ms(),
            false,
            0,
            move |tx| tx.pin(manifest, owner_id),
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
            return Err(crate::store::damaged("a part of a file is shorter than it should be"));
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

impl Drop for Download {
    fn drop(&mut self) {
        self.close();
    }
}

fn unpin(scope: &Scope, manifest: ManifestId, pin: PinId) {
    // If it fails, the next collection finds a pin whose owner is gone.
    scope.still_open().write_later(now_ms(), false, 0, move |tx| tx.unpin(pin, manifest), |_| {});
}
