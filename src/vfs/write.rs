//! Changes of contents: whole, at the end, and by cutting.

use super::permit::{permit_change, permit_change_of};
use super::resolve::{LastLink, Resolved, resolve};
use super::{FILE_MODE, MODE_MASK};
use crate::error::{Code, FsError, Result};
use crate::limits::{CHUNK_BYTES, FILE_BYTES_MAX};
use crate::path::WorkspacePath;
use crate::store::{ChangeKind, Content, Inode, Kind, ManifestId, Piece, ReadTx, WriteTx};

/// What may be at the path already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// A file, which is replaced and keeps its inode, or nothing.
    Any,
    /// Nothing: `EEXIST` otherwise, also for a link.
    Absent,
}

/// How a file is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewFile {
    /// Permission bits. Of an existing file they stay as they are if not given.
    pub mode: Option<u32>,
    /// What may be there.
    pub condition: Condition,
}

/// Where a write goes.
pub enum Target<'p> {
    /// To a file that is there.
    Existing {
        /// The file.
        inode: Inode,
        /// Its real path.
        real: String,
    },
    /// To a new name.
    New(Resolved<'p>),
}

/// Finds where a write goes, or says why it cannot.
pub fn target<'p>(tx: &ReadTx<'_>, path: &'p WorkspacePath, condition: Condition) -> Result<Target<'p>> {
    let refused = |code| Err(FsError::new(code).at(path.as_str()));
    let last = match condition {
        Condition::Any => LastLink::Follow,
        Condition::Absent => LastLink::Keep,
    };
    match resolve(tx, path, last)? {
        Resolved::Found { .. } if condition == Condition::Absent => refused(Code::Exist),
        Resolved::Found { kind: Kind::Directory, .. } => refused(Code::IsDir),
        Resolved::Absent { wants_directory: true, .. } => refused(Code::IsDir),
        Resolved::Found { place, name, id, .. } => {
            let real = place.path_of(&name);
            permit_change(tx, &real).map_err(|error| error.at(path.as_str()))?;
            Ok(Target::Existing { inode: tx.inode(id)?, real })
        }
        Resolved::Absent { place, name, wants_directory } => {
            permit_change_of(tx, &place, &name).map_err(|error| error.at(path.as_str()))?;
            Ok(Target::New(Resolved::Absent { place, name, wants_directory }))
        }
    }
}

/// What a file gets.
#[derive(Clone, Copy)]
pub enum NewContent<'a> {
    /// At most one chunk, not stored yet.
    Piece(&'a Piece),
    /// Stored contents. The reference to them becomes the file's.
    Stored {
        /// The contents.
        content: Content,
        /// Their length.
        size: u64,
    },
}

impl NewContent<'_> {
    fn store(self, tx: &WriteTx<'_>) -> Result<(Content, u64)> {
        match self {
            NewContent::Piece(piece) => Ok((tx.store_small(piece)?, piece.len() as u64)),
            NewContent::Stored { content, size } => Ok((content, size)),
        }
    }
}

/// Gives a file these contents.
pub fn write(
    tx: &WriteTx<'_>,
    path: &WorkspacePath,
    options: NewFile,
    contents: NewContent<'_>,
) -> Result<()> {
    match target(tx, path, options.condition)? {
        Target::Existing { inode, real } => {
            replace(tx, &inode, contents)?;
            if let Some(mode) = options.mode {
                tx.set_mode(inode.id, mode & MODE_MASK)?;
            }
            tx.changed(ChangeKind::Change, real);
            Ok(())
        }
        Target::New(absent) => {
            let (content, size) = contents.store(tx)?;
            create(tx, &absent, options.mode.unwrap_or(FILE_MODE) & MODE_MASK, size, content)
        }
    }
}

/// Gives an existing file these contents.
pub(super) fn replace(tx: &WriteTx<'_>, inode: &Inode, contents: NewContent<'_>) -> Result<()> {
    if let NewContent::Piece(piece) = contents
        && tx.replace_small(inode.content, piece)?
    {
        return tx.keep_content(inode, piece.len() as u64);
    }
    let (content, size) = contents.store(tx)?;
    tx.set_content(inode, size, content)
}

fn create(tx: &WriteTx<'_>, absent: &Resolved<'_>, mode: u32, size: u64, content: Content) -> Result<()> {
    let (Resolved::Absent { place, name, .. } | Resolved::Found { place, name, .. }) = absent;
    let id = tx.create_inode(Kind::File, mode, size, content)?;
    tx.add_name(place.directory(), name, id, Kind::File)?;
    tx.touch_directory(place.directory(), 0)?;
    tx.changed(ChangeKind::Create, place.path_of(name));
    Ok(())
}

/// What is added to the end of a file.
pub enum Tail<'a> {
    /// Bytes at hand.
    Bytes(&'a [u8]),
    /// Stored contents, whose reference the caller keeps.
    Stored {
        /// The contents.
        content: Content,
        /// Their length.
        size: u64,
    },
}

impl Tail<'_> {
    fn len(&self) -> u64 {
        match self {
            Tail::Bytes(bytes) => bytes.len() as u64,
            Tail::Stored { size, .. } => *size,
        }
    }
}

/// Adds to the end of a file, which is made if it is not there. `mode` is for a new one.
pub fn append(tx: &WriteTx<'_>, path: &WorkspacePath, mode: Option<u32>, tail: &Tail<'_>) -> Result<()> {
    let found = target(tx, path, Condition::Any)?;
    if tail.len() == 0 && matches!(found, Target::Existing { .. }) {
        // As on POSIX: a write of nothing changes nothing, not even a time.
        return Ok(());
    }
    let (old, old_size) = match &found {
        Target::Existing { inode, .. } => (inode.content, inode.size),
        Target::New(_) => (Content::Empty, 0),
    };
    let size = old_size + tail.len();
    check_size(size).map_err(|error| error.at(path.as_str()))?;
    let mut end = End::of(tx, old, old_size, size)?;
    match *tail {
        Tail::Bytes(bytes) => end.push(bytes)?,
        Tail::Stored { content, size } => {
            for index in 0..size.div_ceil(CHUNK_BYTES as u64) {
                end.push(&tx.chunk_bytes(content, index)?)?;
            }
        }
    }
    match found {
        Target::Existing { inode, real } => {
            end.finish(&inode, size)?;
            tx.changed(ChangeKind::Change, real);
            Ok(())
        }
        Target::New(absent) => {
            let content = end.store(size)?;
            create(tx, &absent, mode.unwrap_or(FILE_MODE) & MODE_MASK, size, content)
        }
    }
}

/// Cuts a file to `length` bytes, or fills it up with zeros.
pub fn truncate(tx: &WriteTx<'_>, path: &WorkspacePath, length: u64) -> Result<()> {
    check_size(length).map_err(|error| error.at(path.as_str()))?;
    let refused = |code| Err(FsError::new(code).at(path.as_str()));
    let (inode, real) = match resolve(tx, path, LastLink::Follow)? {
        Resolved::Found { kind: Kind::Directory, .. } => return refused(Code::IsDir),
        Resolved::Found { place, name, id, .. } => (tx.inode(id)?, place.path_of(&name)),
        Resolved::Absent { .. } => return refused(Code::NoEnt),
    };
    permit_change(tx, &real)?;
    truncate_inode(tx, &inode, length)?;
    tx.changed(ChangeKind::Change, real);
    Ok(())
}

/// Cuts a file, whatever its name is, to `length` bytes, or fills it up with zeros.
pub fn truncate_inode(tx: &WriteTx<'_>, inode: &Inode, length: u64) -> Result<()> {
    check_size(length)?;
    let kept = length.min(inode.size);
    let mut end = End::of_prefix(tx, inode.content, inode.size, kept, length)?;
    end.push_zeros(length - kept)?;
    end.finish(inode, length)
}

/// `EFBIG` for more than a file can hold.
pub fn check_size(bytes: u64) -> Result<()> {
    if bytes > FILE_BYTES_MAX {
        return Err(FsError::with_detail(
            Code::Fbig,
            format!("a file holds at most {FILE_BYTES_MAX} bytes, this one would have {bytes}"),
        ));
    }
    Ok(())
}

/// New contents that begin as old ones do and grow at the end, one chunk in memory.
///
/// The whole chunks of the old contents are shared, not copied. A manifest that only the file
/// itself points to is extended in place: whoever still reads it, reads no further than it was.
pub(super) struct End<'t, 'c> {
    tx: &'t WriteTx<'c>,
    manifest: Option<ManifestId>,
    /// Number of the chunk that `buffer` becomes.
    index: u64,
    buffer: Vec<u8>,
}

impl<'t, 'c> End<'t, 'c> {
    pub(super) fn of(tx: &'t WriteTx<'c>, content: Content, size: u64, new_size: u64) -> Result<Self> {
        if let Content::Manifest(manifest) = content
            && tx.is_only_reference(manifest)?
        {
            let index = size / CHUNK_BYTES as u64;
            let buffer = tx.take_chunk(manifest, index)?;
            return Ok(End { tx, manifest: Some(manifest), index, buffer });
        }
        End::of_prefix(tx, content, size, size, new_size)
    }

    /// Of contents that are `size` bytes long the first `kept`.
    pub(super) fn of_prefix(
        tx: &'t WriteTx<'c>,
        content: Content,
        size: u64,
        kept: u64,
        new_size: u64,
    ) -> Result<Self> {
        let whole_chunks = kept / CHUNK_BYTES as u64;
        let cut = whole_chunks * CHUNK_BYTES as u64;
        let buffer = tx.content_range(content, size, cut, kept - cut)?;
        let manifest = if new_size > CHUNK_BYTES as u64 {
            let manifest = tx.new_manifest()?;
            tx.share_chunks(content, whole_chunks, manifest)?;
            Some(manifest)
        } else if whole_chunks == 1 {
            // Exactly one chunk: it stays a blob.
            return Ok(End {
                tx,
                manifest: None,
                index: 0,
                buffer: tx.content_range(content, size, 0, kept)?,
            });
        } else {
            None
        };
        Ok(End { tx, manifest, index: whole_chunks, buffer })
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.buffer.len() == CHUNK_BYTES {
                self.flush()?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    pub(super) fn push_zeros(&mut self, mut count: u64) -> Result<()> {
        let zeros = vec![0; CHUNK_BYTES.min(usize::try_from(count).unwrap_or(CHUNK_BYTES))];
        let first = count.min((CHUNK_BYTES - self.buffer.len()) as u64);
        self.push(&zeros[..first as usize])?;
        count -= first;
        let whole = (count > CHUNK_BYTES as u64).then(|| Piece::new(zeros.clone()));
        while count > CHUNK_BYTES as u64 {
            self.flush()?;
            if let (Some(manifest), Some(piece)) = (self.manifest, &whole) {
                self.tx.put_chunk(manifest, self.index, piece)?;
                self.index += 1;
            }
            count -= CHUNK_BYTES as u64;
        }
        self.push(&zeros[..count as usize])
    }

    /// Stores the buffer as a chunk of the manifest.
    fn flush(&mut self) -> Result<()> {
        if let Some(manifest) = self.manifest
            && !self.buffer.is_empty()
        {
            let piece = Piece::new(std::mem::take(&mut self.buffer));
            self.tx.put_chunk(manifest, self.index, &piece)?;
            self.index += 1;
        }
        Ok(())
    }

    /// Makes the contents those of the file that they began as.
    pub(super) fn finish(mut self, inode: &Inode, size: u64) -> Result<()> {
        let Some(manifest) = self.manifest else {
            return replace(self.tx, inode, NewContent::Piece(&Piece::new(self.buffer)));
        };
        self.flush()?;
        let content = self.tx.seal_manifest(manifest, size)?;
        if content == inode.content {
            return self.tx.keep_content(inode, size);
        }
        self.tx.set_content(inode, size, content)
    }

    /// Stores the contents for a file that is not there yet.
    fn store(mut self, size: u64) -> Result<Content> {
        match self.manifest {
            Some(manifest) => {
                self.flush()?;
                self.tx.seal_manifest(manifest, size)
            }
            None => self.tx.store_small(&Piece::new(self.buffer)),
        }
    }
}
