//! What a read of a file, or of a range of it, covers.

use super::resolve::{LastLink, existing};
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{Content, Inode, Kind, ReadTx};

/// A part of a file as a caller asks for it. Beyond the end there is nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub offset: u64,
    /// How many; all that follow if not said.
    pub length: Option<u64>,
}

/// Existing bytes of certain contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The contents.
    pub content: Content,
    /// Length of the contents.
    pub size: u64,
    /// First byte wanted.
    pub start: u64,
    /// Byte after the last one wanted.
    pub end: u64,
}

impl Slice {
    /// How many bytes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The part of a file that exists. `EISDIR` for a directory.
pub fn slice_of(tx: &ReadTx<'_>, path: &WorkspacePath, range: Range) -> Result<Slice> {
    let inode = existing(tx, path, LastLink::Follow)?;
    slice_of_inode(tx, &inode, range).map_err(|error| error.at(path.as_str()))
}

/// The part of a file, whatever its name is, that exists.
pub fn slice_of_inode(tx: &ReadTx<'_>, inode: &Inode, range: Range) -> Result<Slice> {
    if inode.kind == Kind::Directory {
        return Err(FsError::new(Code::IsDir));
    }
    tx.check_size(inode.content, inode.size)?;
    let start = range.offset.min(inode.size);
    let end = range.length.map_or(inode.size, |length| inode.size.min(start.saturating_add(length)));
    Ok(Slice { content: inode.content, size: inode.size, start, end })
}

/// The bytes of a slice, all at once.
pub fn read_file(tx: &ReadTx<'_>, slice: Slice) -> Result<Vec<u8>> {
    tx.content_range(slice.content, slice.size, slice.start, slice.len())
}
