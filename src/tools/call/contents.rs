//! New contents of a file, cut and hashed.

use crate::error::Result;
use crate::limits::CHUNK_BYTES;
use crate::store::{Piece, WriteTx};
use crate::vfs::NewContent;

/// See the module.
pub struct Contents {
    pieces: Vec<Piece>,
    size: usize,
}

impl Contents {
    /// Of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let pieces = bytes.chunks(CHUNK_BYTES).map(|chunk| Piece::new(chunk.to_vec())).collect();
        Contents { pieces, size: bytes.len() }
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Gives them to `write`, which makes them a file's.
    pub fn with(&self, tx: &WriteTx<'_>, write: impl FnOnce(NewContent<'_>) -> Result<()>) -> Result<()> {
        match self.pieces.as_slice() {
            [] => write(NewContent::Piece(&Piece::new(Vec::new()))),
            [piece] => write(NewContent::Piece(piece)),
            pieces => {
                let manifest = tx.new_manifest()?;
                for (index, piece) in (0..).zip(pieces) {
                    tx.put_chunk(manifest, index, piece)?;
                }
                let size = self.size as u64;
                write(NewContent::Stored { content: tx.seal_manifest(manifest, size)?, size })
            }
        }
    }
}
