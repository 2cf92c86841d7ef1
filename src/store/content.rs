//! Contents of files: blobs, and manifests that list the blobs of a larger file.
//!
//! A file of at most one chunk points to its blob; a larger one to a manifest, whose chunks point
//! to blobs. Both are immutable and counted. Equal chunks are stored once, and a copy of a file
//! of any size is one reference more.

use sha2::{Digest, Sha256};

use super::connection::damaged;
use super::tx::{ReadTx, WriteTx};
use crate::error::{FsError, Result};
use crate::limits::{CHUNK_BYTES, COLLECT_STEP, INLINE_BLOB_BYTES, PROMPT_DELETE_BYTES};

/// Number of a blob.
pub type BlobId = i64;
/// Number of a manifest.
pub type ManifestId = i64;

fn wrong_size() -> FsError {
    damaged("a file and its contents differ in size")
}

/// What the contents of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// No bytes. Also what a directory or link has.
    Empty,
    /// At most one chunk.
    Blob(BlobId),
    /// More than one chunk.
    Manifest(ManifestId),
}

impl Content {
    pub(super) fn from_columns(blob: Option<i64>, manifest: Option<i64>) -> Self {
        match (blob, manifest) {
            (Some(blob), _) => Content::Blob(blob),
            (None, Some(manifest)) => Content::Manifest(manifest),
            (None, None) => Content::Empty,
        }
    }

    pub(super) fn columns(self) -> (Option<i64>, Option<i64>) {
        match self {
            Content::Empty => (None, None),
            Content::Blob(blob) => (Some(blob), None),
            Content::Manifest(manifest) => (None, Some(manifest)),
        }
    }
}

/// The bytes of one chunk and what identifies them, worked out before a transaction begins.
#[derive(Debug, Clone)]
pub struct Piece {
    bytes: Vec<u8>,
    /// None for a small one, which is not looked up by it.
    hash: Option<[u8; 32]>,
    crc: u32,
}

impl Piece {
    /// Hashes `bytes`: the expensive part of storing them.
    pub fn new(bytes: Vec<u8>) -> Self {
        debug_assert!(bytes.len() <= CHUNK_BYTES);
        let hash = (bytes.len() > INLINE_BLOB_BYTES).then(|| Sha256::digest(&bytes).into());
        Piece { hash, crc: crc32fast::hash(&bytes), bytes }
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl ReadTx<'_> {
    /// The bytes of a blob, verified.
    pub fn blob(&self, id: BlobId) -> Result<Vec<u8>> {
        self.with_blob(id, <[u8]>::to_vec)
    }

    /// Looks at the bytes of a blob, verified, where SQLite has them.
    pub fn with_blob<T>(&self, id: BlobId, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let looked = self.row(
            "SELECT b.crc, coalesce(b.data, d.data)
             FROM blob b LEFT JOIN blob_data d ON d.id = b.id WHERE b.id = ?1",
            [id],
            |row| {
                let bytes = row.get_ref(1)?.as_blob_or_null()?.unwrap_or_default();
                let is_sound = row.get::<_, u32>(0)? == crc32fast::hash(bytes);
                Ok(is_sound.then(|| look(bytes)))
            },
        )?;
        match looked {
            Some(Some(result)) => Ok(result),
            Some(None) => Err(damaged("the bytes of a file do not match their checksum")),
            None => Err(damaged("the bytes of a file are missing")),
        }
    }

    /// The blob of one chunk.
    pub fn chunk(&self, manifest: ManifestId, index: u64) -> Result<BlobId> {
        self.row(
            "SELECT blob FROM chunk WHERE manifest = ?1 AND idx = ?2",
            (manifest, index as i64),
            |row| row.get(0),
        )?
        .ok_or_else(|| damaged("a part of a file is missing"))
    }

    /// The hashes of the first `count` chunks, which are whole ones; none if the manifest is gone.
    pub fn chunk_hashes(&self, manifest: ManifestId, count: u64) -> Result<Vec<Option<[u8; 32]>>> {
        self.rows(
            "SELECT b.hash FROM chunk c JOIN blob b ON b.id = c.blob
             WHERE c.manifest = ?1 AND c.idx < ?2 ORDER BY c.idx",
            (manifest, count as i64),
            |row| row.get(0),
        )
    }

    /// The bytes of chunk `index` of some contents.
    pub fn chunk_bytes(&self, content: Content, index: u64) -> Result<Vec<u8>> {
        match content {
            Content::Blob(blob) if index == 0 => self.blob(blob),
            Content::Empty | Content::Blob(_) => Ok(Vec::new()),
            Content::Manifest(manifest) => self.blob(self.chunk(manifest, index)?),
        }
    }

    /// A short name for contents: equal bytes have equal names. Reads hashes, not bytes, but for
    /// small contents.
    pub fn content_version(&self, content: Content) -> Result<String> {
        let hash: [u8; 32] = match content {
            Content::Empty => Sha256::digest([]).into(),
            Content::Blob(blob) => self.blob_hash(blob)?,
            Content::Manifest(manifest) => {
                let mut statement =
                    self.statement("SELECT blob FROM chunk WHERE manifest = ?1 ORDER BY idx")?;
                let mut rows = statement.query([manifest])?;
                let mut hash = Sha256::new();
                while let Some(row) = rows.next()? {
                    hash.update(self.blob_hash(row.get(0)?)?);
                }
                hash.finalize().into()
            }
        };
        Ok(hash[..8].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn blob_hash(&self, id: BlobId) -> Result<[u8; 32]> {
        let known =
            self.row("SELECT hash FROM blob WHERE id = ?1", [id], |row| row.get::<_, Option<[u8; 32]>>(0))?;
        match known.flatten() {
            Some(hash) => Ok(hash),
            None => self.with_blob(id, |bytes| Sha256::digest(bytes).into()),
        }
    }

    /// Fails if the contents of a file are not as long as it says.
    pub fn check_size(&self, content: Content, size: u64) -> Result<()> {
        let Content::Manifest(manifest) = content else {
            return if size > CHUNK_BYTES as u64 { Err(wrong_size()) } else { Ok(()) };
        };
        let stored =
            self.row("SELECT size FROM manifest WHERE id = ?1", [manifest], |row| row.get::<_, i64>(0))?;
        if stored == Some(size as i64) { Ok(()) } else { Err(wrong_size()) }
    }

    /// Up to `length` bytes from `offset` of contents that are `size` bytes long.
    pub fn content_range(&self, content: Content, size: u64, offset: u64, length: u64) -> Result<Vec<u8>> {
        let end = size.min(offset.saturating_add(length));
        if let (Content::Blob(blob), 0) = (content, offset) {
            let mut bytes = self.blob(blob)?;
            if bytes.len() as u64 != size {
                return Err(wrong_size());
            }
            bytes.truncate(end as usize);
            return Ok(bytes);
        }
        let mut out = Vec::with_capacity(usize::try_from(end.saturating_sub(offset)).unwrap_or(0));
        let mut at = offset;
        while at < end {
            let (index, skip) = (at / CHUNK_BYTES as u64, (at % CHUNK_BYTES as u64) as usize);
            let chunk = self.chunk_bytes(content, index)?;
            if chunk.len() as u64 != (size - index * CHUNK_BYTES as u64).min(CHUNK_BYTES as u64) {
                return Err(wrong_size());
            }
            let take = chunk.len().min(skip + (end - at) as usize);
            out.extend_from_slice(&chunk[skip..take]);
            at += (take - skip) as u64;
        }
        Ok(out)
    }
}

impl ReadTx<'_> {
    /// Bytes that blobs take, each counted once.
    pub fn stored_bytes(&self) -> Result<u64> {
        let bytes = self.row("SELECT coalesce(sum(size), 0) FROM blob", [], |row| row.get::<_, i64>(0))?;
        Ok(bytes.unwrap_or(0).unsigned_abs())
    }

    /// Bytes of the whole database, the WAL apart.
    pub fn database_bytes(&self) -> Result<u64> {
        let bytes = self.row(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
            [],
            |row| row.get::<_, i64>(0),
        )?;
        Ok(bytes.unwrap_or(0).unsigned_abs())
    }
}

impl WriteTx<'_> {
    /// A reference to a blob with these bytes, stored if no blob has them yet.
    pub fn store(&self, piece: &Piece) -> Result<BlobId> {
        let Some(hash) = &piece.hash else {
            return self.insert(
                "INSERT INTO blob (crc, size, refs, data) VALUES (?1, ?2, 1, ?3)",
                (piece.crc, piece.len() as i64, piece.bytes()),
            );
        };
        let known =
            self.row("SELECT id FROM blob WHERE hash = ?1", [&hash[..]], |row| row.get::<_, BlobId>(0))?;
        if let Some(id) = known {
            self.execute("UPDATE blob SET refs = refs + 1 WHERE id = ?1", [id])?;
            return Ok(id);
        }
        let id = self.insert(
            "INSERT INTO blob (hash, crc, size, refs) VALUES (?1, ?2, ?3, 1)",
            (&hash[..], piece.crc, piece.len() as i64),
        )?;
        self.insert("INSERT INTO blob_data (id, data) VALUES (?1, ?2)", (id, piece.bytes()))?;
        Ok(id)
    }

    /// Puts small bytes in the place of others, if nothing else points there. Returns whether it
    /// did; the reference stays as it is.
    pub fn replace_small(&self, content: Content, piece: &Piece) -> Result<bool> {
        let Content::Blob(blob) = content else { return Ok(false) };
        if piece.is_empty() || piece.hash.is_some() {
            return Ok(false);
        }
        let changed = self.execute(
            "UPDATE blob SET crc = ?2, size = ?3, data = ?4 WHERE id = ?1 AND refs = 1 AND hash IS NULL",
            (blob, piece.crc, piece.len() as i64, piece.bytes()),
        )?;
        Ok(changed == 1)
    }

    /// Contents of at most one chunk.
    pub fn store_small(&self, piece: &Piece) -> Result<Content> {
        if piece.is_empty() { Ok(Content::Empty) } else { self.store(piece).map(Content::Blob) }
    }

    /// An empty manifest with one reference, the caller's.
    pub fn new_manifest(&self) -> Result<ManifestId> {
        self.insert("INSERT INTO manifest (size, refs) VALUES (0, 1)", [])
    }

    /// Stores a chunk of a manifest that nobody reads yet.
    pub fn put_chunk(&self, manifest: ManifestId, index: u64, piece: &Piece) -> Result<()> {
        let blob = self.store(piece)?;
        self.put_chunk_blob(manifest, index, blob)
    }

    fn put_chunk_blob(&self, manifest: ManifestId, index: u64, blob: BlobId) -> Result<()> {
        self.execute(
            "INSERT INTO chunk (manifest, idx, blob) VALUES (?1, ?2, ?3)",
            (manifest, index as i64, blob),
        )?;
        Ok(())
    }

    /// Whether a manifest is pointed to once, which the caller knows to be by its file.
    pub fn is_only_reference(&self, manifest: ManifestId) -> Result<bool> {
        let refs =
            self.row("SELECT refs FROM manifest WHERE id = ?1", [manifest], |row| row.get::<_, i64>(0))?;
        Ok(refs == Some(1))
    }

    /// Removes a chunk from a manifest and returns its bytes; none if there is no such chunk.
    pub fn take_chunk(&self, manifest: ManifestId, index: u64) -> Result<Vec<u8>> {
        let blob = self.row(
            "DELETE FROM chunk WHERE manifest = ?1 AND idx = ?2 RETURNING blob",
            (manifest, index as i64),
            |row| row.get::<_, BlobId>(0),
        )?;
        let Some(blob) = blob else { return Ok(Vec::new()) };
        let bytes = self.blob(blob)?;
        self.release_blob(blob)?;
        Ok(bytes)
    }

    /// Ends the making of a manifest.
    pub fn seal_manifest(&self, manifest: ManifestId, size: u64) -> Result<Content> {
        self.execute("UPDATE manifest SET size = ?2 WHERE id = ?1", (manifest, size as i64))?;
        Ok(Content::Manifest(manifest))
    }

    /// Adds to a new manifest the first `count` chunks of other contents, by reference.
    pub fn share_chunks(&self, from: Content, count: u64, manifest: ManifestId) -> Result<()> {
        match from {
            Content::Empty => Ok(()),
            Content::Blob(blob) if count > 0 => {
                self.retain(from)?;
                self.put_chunk_blob(manifest, 0, blob)
            }
            Content::Blob(_) => Ok(()),
            Content::Manifest(source) => {
                self.execute(
                    "INSERT INTO chunk (manifest, idx, blob)
                     SELECT ?1, idx, blob FROM chunk WHERE manifest = ?2 AND idx < ?3",
                    (manifest, source, count as i64),
                )?;
                self.execute(
                    "UPDATE blob SET refs = refs + n FROM
                       (SELECT blob AS id, count(*) AS n FROM chunk WHERE manifest = ?1 AND idx < ?2 GROUP BY blob) AS shared
                     WHERE blob.id = shared.id",
                    (source, count as i64),
                )?;
                Ok(())
            }
        }
    }

    /// One reference more.
    pub fn retain(&self, content: Content) -> Result<()> {
        let changed = match content {
            Content::Empty => return Ok(()),
            Content::Blob(blob) => self.execute("UPDATE blob SET refs = refs + 1 WHERE id = ?1", [blob])?,
            Content::Manifest(manifest) => {
                self.execute("UPDATE manifest SET refs = refs + 1 WHERE id = ?1", [manifest])?
            }
        };
        if changed == 0 { Err(damaged("the contents of a file are missing")) } else { Ok(()) }
    }

    /// One reference less. With the last, small contents go at once and others are left to the
    /// collector.
    pub fn release(&self, content: Content) -> Result<()> {
        match content {
            Content::Empty => Ok(()),
            Content::Blob(blob) => self.release_blob(blob),
            Content::Manifest(manifest) => {
                self.execute("UPDATE manifest SET refs = refs - 1 WHERE id = ?1", [manifest])?;
                self.has_garbage.set(true);
                Ok(())
            }
        }
    }

    fn release_blob(&self, id: BlobId) -> Result<()> {
        let left = self.row("SELECT refs, size FROM blob WHERE id = ?1", [id], |row| {
            Ok((row.get::<_, i64>(0)? - 1, row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        match left {
            Some((0, size)) if size <= PROMPT_DELETE_BYTES => self.delete_blob(id, size),
            Some((refs, _)) => {
                self.execute("UPDATE blob SET refs = ?2 WHERE id = ?1", (id, refs))?;
                if refs == 0 {
                    self.has_garbage.set(true);
                }
                Ok(())
            }
            None => Err(damaged("the bytes of a file are missing")),
        }
    }

    fn delete_blob(&self, id: BlobId, size: u64) -> Result<()> {
        self.execute("DELETE FROM blob WHERE id = ?1", [id])?;
        if size > INLINE_BLOB_BYTES as u64 {
            self.execute("DELETE FROM blob_data WHERE id = ?1", [id])?;
        }
        Ok(())
    }

    /// Removes some of what nothing points to. Returns whether there may be more.
    pub(super) fn collect_step(&self) -> Result<bool> {
        let mut left = COLLECT_STEP;
        let manifests = self
            .rows("SELECT id FROM manifest WHERE refs = 0 LIMIT 8", [], |row| row.get::<_, ManifestId>(0))?;
        for manifest in manifests {
            let chunks = self.rows(
                "SELECT idx, blob FROM chunk WHERE manifest = ?1 ORDER BY idx LIMIT ?2",
                (manifest, left as i64),
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, BlobId>(1)?)),
            )?;
            for (_, blob) in &chunks {
                self.release_blob(*blob)?;
            }
            if let Some((last, _)) = chunks.last() {
                self.execute("DELETE FROM chunk WHERE manifest = ?1 AND idx <= ?2", (manifest, last))?;
            }
            if chunks.len() == left {
                return Ok(true);
            }
            left -= chunks.len();
            self.execute("DELETE FROM manifest WHERE id = ?1", [manifest])?;
        }
        let blobs = self.rows("SELECT id, size FROM blob WHERE refs = 0 LIMIT ?1", [left as i64], |row| {
            Ok((row.get::<_, BlobId>(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        for (blob, size) in &blobs {
            self.delete_blob(*blob, *size)?;
        }
        let more = self.row(
            "SELECT EXISTS (SELECT 1 FROM manifest WHERE refs = 0) OR EXISTS (SELECT 1 FROM blob WHERE refs = 0)",
            [],
            |row| row.get::<_, bool>(0),
        )?;
        Ok(more.unwrap_or(false))
    }
}
