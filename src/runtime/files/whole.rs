//! Whole files in one call: each is one consistent state, and a write happens all or not at all.

use std::sync::Arc;

use carrel_wire::Value;

use super::failure::{About, Failure};
use super::locate::asks_for_directory;
use super::open::{O_APPEND, O_CREAT, O_EXCL, O_TRUNC, make, new_file};
use super::{Done, Files, PROMPT_BYTES};
use crate::error::{Code, FsError, Result};
use crate::limits::CHUNK_BYTES;
use crate::path::WorkspacePath;
use crate::store::{ChangeKind, Content, Kind, Piece, ReadTx, WriteTx};
use crate::vfs::{self, Condition, LastLink, NewContent, NewFile, Range, Resolved, Slice};

const COPYFILE_EXCL: u32 = 1;

/// What a look at a file has led to.
enum Read {
    Bytes(Vec<u8>),
    /// It is to be read where that holds up nobody.
    Large,
    /// It does not fit into an answer.
    TooLarge,
}

impl Files {
    /// The bytes of a file; nothing if they do not fit into one answer: then they are read through a
    /// descriptor.
    pub(super) fn read_file(self: &Arc<Self>, (path,): (String,), done: Done) {
        match self.scope.read_now(|tx| self.read_whole(tx, &path, PROMPT_BYTES)) {
            Ok(Read::Large) => self.hand_on(move |files| {
                let read = files.scope.read_now(|tx| files.read_whole(tx, &path, u64::MAX));
                files.answer_read(&path, read, done);
            }),
            read => self.answer_read(&path, read, done),
        }
    }

    fn answer_read(&self, path: &str, read: Result<Read>, done: Done) {
        let about = match &read {
            // Linux opens a directory and fails to read it.
            Err(error) if error.code() == Code::IsDir => About::call("read"),
            _ => About::path("open", path),
        };
        let outcome = read.map(|read| match read {
            Read::Bytes(bytes) => Value::Bytes(bytes),
            Read::Large | Read::TooLarge => Value::Null,
        });
        self.answer(&about, done, outcome.map_err(Failure::from));
    }

    fn read_whole(&self, tx: &ReadTx<'_>, path: &str, bytes_max: u64) -> Result<Read> {
        let at = self.locate(tx, path, LastLink::Follow)?;
        let slice: Slice = vfs::slice_of(tx, &at, Range::default())?;
        if slice.len() > self.piece_max() as u64 {
            Ok(Read::TooLarge)
        } else if slice.len() > bytes_max {
            Ok(Read::Large)
        } else {
            vfs::read_file(tx, slice).map(Read::Bytes)
        }
    }

    /// Opens, writes and closes.
    pub(super) fn write_file(
        self: &Arc<Self>,
        (path, bytes, flags, mode): (String, Vec<u8>, u32, u32),
        done: Done,
    ) {
        let about = About::path("open", &path);
        if bytes.len() > self.call_bytes_max {
            return done(Err(about.error(self.too_large(bytes.len()))));
        }
        if bytes.len() as u64 <= PROMPT_BYTES {
            return self.write_pieces(about, path, vec![Piece::new(bytes)], flags, mode, done);
        }
        self.hand_on(move |files| {
            let pieces = bytes.chunks(CHUNK_BYTES).map(|chunk| Piece::new(chunk.to_vec())).collect();
            files.write_pieces(about, path, pieces, flags, mode, done);
        });
    }

    fn write_pieces(
        self: &Arc<Self>,
        about: About,
        path: String,
        pieces: Vec<Piece>,
        flags: u32,
        mode: u32,
        done: Done,
    ) {
        let bytes = pieces.iter().map(Piece::len).sum();
        let files = Arc::clone(self);
        self.change(about, bytes, done, move |tx| {
            files.write_whole(tx, &path, &pieces, flags, mode).map(|()| Value::Null)
        });
    }

    fn write_whole(
        &self,
        tx: &WriteTx<'_>,
        path: &str,
        pieces: &[Piece],
        flags: u32,
        mode: u32,
    ) -> Result<()> {
        let is_exclusive = flags & O_CREAT != 0 && flags & O_EXCL != 0;
        let last = if is_exclusive { LastLink::Keep } else { LastLink::Follow };
        let at = self.locate(tx, path, last)?;
        match vfs::resolve(tx, &at, last)? {
            Resolved::Found { .. } if is_exclusive => Err(FsError::new(Code::Exist)),
            Resolved::Found { kind: Kind::Directory, .. } => Err(FsError::new(Code::IsDir)),
            Resolved::Found { .. } if flags & O_TRUNC != 0 => {
                replace(tx, &at, NewFile { mode: None, condition: Condition::Any }, pieces)
            }
            Resolved::Found { place, name, id, .. } => {
                let real = vfs::real_path(&place, &name);
                vfs::permit_change(tx, &real)?;
                let mut place = if flags & O_APPEND != 0 { None } else { Some(0) };
                for piece in pieces {
                    let end = vfs::write_at(tx, &tx.inode(id)?, place, piece.bytes())?;
                    place = place.map(|_| end);
                }
                if pieces.iter().any(|piece| !piece.is_empty()) {
                    tx.changed(ChangeKind::Change, real);
                }
                Ok(())
            }
            Resolved::Absent { .. } if flags & O_CREAT == 0 => Err(FsError::new(Code::NoEnt)),
            Resolved::Absent { wants_directory, .. } if wants_directory || asks_for_directory(path) => {
                Err(FsError::new(Code::IsDir))
            }
            Resolved::Absent { .. } => match pieces {
                [piece] => make(tx, &at, mode, is_exclusive, piece),
                _ => replace(tx, &at, new_file(mode, is_exclusive), pieces),
            },
        }
    }

    pub(super) fn copy_file(self: &Arc<Self>, (from, to, mode): (String, String, u32), done: Done) {
        let about = About::paths("copyfile", &from, &to);
        let files = Arc::clone(self);
        self.change(about, 0, done, move |tx| {
            let condition = if mode & COPYFILE_EXCL != 0 { Condition::Absent } else { Condition::Any };
            let source = files.locate(tx, &from, LastLink::Follow)?;
            let last = if mode & COPYFILE_EXCL != 0 { LastLink::Keep } else { LastLink::Follow };
            let target = files.locate(tx, &to, last)?;
            if asks_for_directory(&to) {
                vfs::stat(tx, &target)?;
            }
            vfs::copy_file(tx, &source, &target, condition).map(|()| Value::Null)
        });
    }
}

/// Gives a file these contents, which are all its chunks.
fn replace(tx: &WriteTx<'_>, at: &WorkspacePath, file: NewFile, pieces: &[Piece]) -> Result<()> {
    let content = match pieces {
        [] => NewContent::Stored { content: Content::Empty, size: 0 },
        [piece] => NewContent::Piece(piece),
        pieces => {
            let manifest = tx.new_manifest()?;
            for (index, piece) in (0..).zip(pieces) {
                tx.put_chunk(manifest, index, piece)?;
            }
            let size = pieces.iter().map(|piece| piece.len() as u64).sum();
            NewContent::Stored { content: tx.seal_manifest(manifest, size)?, size }
        }
    };
    vfs::write(tx, at, file, content)
}
