//! Contents that arrive piece by piece.
//!
//! Bytes are cut into chunks, hashed and stored while they arrive, under a manifest that only a
//! pin holds. The file itself changes once, at the end, in a short transaction; until then it is
//! as it was, and after a crash the pin and what it holds are let go. A transaction around all of
//! it would hold the write lock for as long as the caller likes to stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::write::{NewContent, NewFile, Tail, append, check_size, target, write};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::limits::{CHUNK_BYTES, UPLOAD_CHUNKS_IN_FLIGHT};
use crate::path::WorkspacePath;
use crate::store::{ManifestId, Owner, Piece, PinId, ReadTx, Scope, WriteTx, executor, lock};

/// What the bytes become.
#[derive(Debug, Clone)]
pub struct UploadTarget {
    /// The file.
    pub path: WorkspacePath,
    /// How it is written.
    pub file: NewFile,
    /// Whether they are added to what is there.
    pub is_append: bool,
}

/// An upload under way. Dropped before [`Upload::commit`], it never happened.
pub struct Upload(Arc<State>);

struct State {
    scope: Scope,
    target: UploadTarget,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    buffer: Vec<u8>,
    received: u64,
    next_index: u64,
    in_flight: usize,
    stage: Option<Stage>,
    error: Option<FsError>,
    waiting: Vec<Waiting>,
    is_ended: bool,
}

#[derive(Clone)]
struct Stage {
    manifest: ManifestId,
    pin: PinId,
    _owner: Arc<Owner>,
}

struct Waiting {
    in_flight_max: usize,
    then: Box<dyn FnOnce() + Send>,
}

impl UploadTarget {
    /// Fails if the file cannot be written, before anything of it is asked for.
    pub fn check(&self, tx: &ReadTx<'_>) -> Result<()> {
        target(tx, &self.path, self.file.condition).map(|_| ())
    }
}

impl Upload {
    /// Begins one. The caller has checked the target.
    pub fn new(scope: Scope, target: UploadTarget) -> Self {
        Upload(Arc::new(State { scope, target, progress: Mutex::default() }))
    }

    /// Takes more bytes. Returns whether the caller should wait, with [`Upload::when_ready`],
    /// before it brings more.
    pub fn push(&self, mut bytes: &[u8]) -> Result<bool> {
        let mut progress = lock(&self.0.progress);
        progress.check()?;
        progress.received += bytes.len() as u64;
        check_size(progress.received).map_err(|error| error.at(self.0.target.path.as_str()))?;
        while !bytes.is_empty() {
            if progress.buffer.len() == CHUNK_BYTES {
                self.0.send_chunk(&mut progress);
            }
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - progress.buffer.len()));
            if progress.buffer.capacity() == 0 && later.len() + now.len() >= CHUNK_BYTES / 8 {
                progress.buffer.reserve_exact(CHUNK_BYTES);
            }
            progress.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(progress.in_flight > UPLOAD_CHUNKS_IN_FLIGHT)
    }

    /// Calls back when there is room for more bytes, or the upload has failed.
    pub fn when_ready(&self, done: impl FnOnce(Result<()>) + Send + 'static) {
        let state = Arc::clone(&self.0);
        self.0.wait(UPLOAD_CHUNKS_IN_FLIGHT, move || {
            let checked = lock(&state.progress).check();
            done(checked);
        });
    }

    /// Makes the bytes the file's, and calls back when that is durable.
    pub fn commit(&self, now: f64, done: impl FnOnce(Result<()>) + Send + 'static) {
        let state = Arc::clone(&self.0);
        self.0.wait(0, move || state.commit(now, done));
    }

    /// Lets go of all that arrived.
    pub fn abort(&self) {
        let state = Arc::clone(&self.0);
        self.0.wait(0, move || state.discard());
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.abort();
    }
}

impl Progress {
    fn check(&self) -> Result<()> {
        match &self.error {
            Some(error) => Err(error.clone()),
            None if self.is_ended => Err(FsError::with_detail(Code::Badf, "this upload is over")),
            None => Ok(()),
        }
    }
}

impl State {
    /// Hands the full buffer to the writer, hashed on the way.
    fn send_chunk(self: &Arc<Self>, progress: &mut Progress) {
        let bytes = std::mem::take(&mut progress.buffer);
        let (index, received) = (progress.next_index, progress.received);
        progress.next_index += 1;
        progress.in_flight += 1;
        let state = Arc::clone(self);
        executor::spawn_blocking(move || {
            let piece = Piece::new(bytes);
            let (work, done) = (Arc::clone(&state), Arc::clone(&state));
            let has_begun = Arc::new(AtomicBool::new(false));
            let began = Arc::clone(&has_begun);
            state.scope.write_later(
                now_ms(),
                false,
                piece.len(),
                move |tx| {
                    tx.check_quota(received)?;
                    let stage = work.stage(tx, &began)?;
                    let put = tx.put_chunk(stage.manifest, index, &piece);
                    if put.is_err() && began.swap(false, Ordering::AcqRel) {
                        work.forget_stage();
                    }
                    put
                },
                move |result| {
                    // What was begun in a commit that failed is not there, and its numbers will be
                    // somebody else's.
                    if result.is_err() && has_begun.load(Ordering::Acquire) {
                        done.forget_stage();
                    }
                    done.chunk_done(result.err());
                },
            );
        });
    }

    /// The manifest under construction, made with the first chunk; then `began` is set.
    fn stage(&self, tx: &WriteTx<'_>, began: &AtomicBool) -> Result<Stage> {
        if let Some(stage) = &lock(&self.progress).stage {
            return Ok(stage.clone());
        }
        let owner = self.scope.store().owner()?;
        let manifest = tx.new_manifest()?;
        let pin = tx.add_pin(manifest, owner.id)?;
        let stage = Stage { manifest, pin, _owner: owner };
        began.store(true, Ordering::Release);
        lock(&self.progress).stage = Some(stage.clone());
        Ok(stage)
    }

    fn forget_stage(&self) {
        lock(&self.progress).stage = None;
    }

    fn chunk_done(&self, error: Option<FsError>) {
        let mut progress = lock(&self.progress);
        progress.in_flight -= 1;
        if progress.error.is_none() {
            progress.error = error;
        }
        let in_flight = progress.in_flight;
        let (ready, waiting) =
            std::mem::take(&mut progress.waiting).into_iter().partition(|one| one.in_flight_max >= in_flight);
        progress.waiting = waiting;
        drop(progress);
        for Waiting { then, .. } in ready as Vec<Waiting> {
            then();
        }
    }

    fn wait(&self, in_flight_max: usize, then: impl FnOnce() + Send + 'static) {
        let mut progress = lock(&self.progress);
        if progress.in_flight > in_flight_max {
            progress.waiting.push(Waiting { in_flight_max, then: Box::new(then) });
            return;
        }
        drop(progress);
        then();
    }

    fn commit(self: &Arc<Self>, now: f64, done: impl FnOnce(Result<()>) + Send + 'static) {
        let mut progress = lock(&self.progress);
        if let Err(error) = progress.check() {
            drop(progress);
            self.discard();
            return done(Err(error));
        }
        progress.is_ended = true;
        let rest = std::mem::take(&mut progress.buffer);
        // Taken: from here on the commit decides what becomes of the chunks.
        let (size, index, stage) = (progress.received, progress.next_index, progress.stage.take());
        drop(progress);
        let state = Arc::clone(self);
        executor::spawn_blocking(move || {
            let piece = Piece::new(rest);
            let (work, after) = (Arc::clone(&state), Arc::clone(&state));
            let failed_stage = stage.clone();
            state.scope.write_later(
                now,
                true,
                piece.len(),
                move |tx| work.finish(tx, stage.as_ref(), index, &piece, size),
                move |result| {
                    if result.is_err() {
                        lock(&after.progress).stage = failed_stage;
                        after.discard();
                    }
                    done(result);
                },
            );
        });
    }

    fn finish(
        &self,
        tx: &WriteTx<'_>,
        stage: Option<&Stage>,
        index: u64,
        rest: &Piece,
        size: u64,
    ) -> Result<()> {
        let UploadTarget { path, file, is_append } = &self.target;
        let Some(stage) = stage else {
            if *is_append {
                return append(tx, path, file.mode, &Tail::Bytes(rest.bytes()));
            }
            return write(tx, path, *file, NewContent::Piece(rest));
        };
        if !rest.is_empty() {
            tx.put_chunk(stage.manifest, index, rest)?;
        }
        let content = tx.seal_manifest(stage.manifest, size)?;
        tx.take_pin(stage.pin)?;
        if *is_append {
            append(tx, path, file.mode, &Tail::Stored { content, size })?;
            tx.release(content)
        } else {
            write(tx, path, *file, NewContent::Stored { content, size })
        }
    }

    /// Lets go of the chunks. The rows of a failed commit were rolled back with it.
    fn discard(&self) {
        let mut progress = lock(&self.progress);
        progress.is_ended = true;
        progress.buffer = Vec::new();
        let stage = progress.stage.take();
        drop(progress);
        let Some(stage) = stage else { return };
        self.scope.write_later(
            now_ms(),
            false,
            0,
            move |tx| tx.unpin(stage.pin, stage.manifest),
            // If it fails, the next collection finds a pin whose owner is gone.
            |_| {},
        );
    }
}
