//! Every cap and default of the core: unit, value, reason.

/// Size of every chunk but a file's last. Part of the storage format: another value needs a
/// migration.
pub const CHUNK_BYTES: usize = 512 * 1024;

/// Blobs up to this size live in the row that describes them and are not looked up by their hash:
/// a page of that index at every write would cost more than the space is worth. Larger ones have
/// a row of their own, since SQLite rewrites a whole row when one column, such as the reference
/// count, changes.
pub const INLINE_BLOB_BYTES: usize = 2 * 1024;

/// Blobs up to this size are deleted in the transaction that drops their last reference. Walking
/// the pages of larger ones would hold up a caller, so the collector does it later.
pub const PROMPT_DELETE_BYTES: u64 = 32 * 1024;

/// Longest name of one path segment, in bytes of UTF-8. `NAME_MAX` of Linux.
pub const NAME_BYTES_MAX: usize = 255;

/// Longest path and longest link target, in bytes of UTF-8. `PATH_MAX` of Linux.
pub const PATH_BYTES_MAX: usize = 4096;

/// Links that one path may lead through; the next is `ELOOP`. `MAXSYMLINKS` of Linux.
pub const LINK_HOPS_MAX: usize = 40;

/// Largest file. Two million chunk rows; beyond it one call would work for minutes.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024 * 1024;

/// Largest file whose contents are read or written on the calling thread. Copying more than
/// this costs more than a thread switch.
pub const SMALL_CONTENT_BYTES: u64 = 64 * 1024;

/// Most directory entries listed on the calling thread.
pub const SMALL_LISTING_ENTRIES: usize = 256;

/// Chunks of one upload that may wait for the writer. With the one being filled this is what a
/// write stream costs in memory.
pub const UPLOAD_CHUNKS_IN_FLIGHT: usize = 4;

/// Jobs of one group commit. Bounds the time that the first one waits for the last.
pub const BATCH_JOBS_MAX: usize = 512;

/// Content of one group commit, in bytes. Bounds how far one commit makes the WAL grow.
pub const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Pages written to the WAL after which it is copied back in the background (8 MiB). Each time
/// costs two flushes of the disk.
pub const WAL_CHECKPOINT_PAGES: u32 = 2_000;

/// WAL length, in pages, at which the writer stops to copy it back itself (64 MiB).
pub const WAL_PAGES_MAX: u32 = 16_000;

/// Length to which SQLite cuts the WAL file when it starts anew, in bytes. More than the WAL
/// usually has: to give space back and take it again costs more than to keep it.
pub const WAL_FILE_BYTES: u32 = 16 * 1024 * 1024;

/// Idle connections of the whole process. Each holds two file descriptors; beyond it the least
/// recently used are closed, so that a thousand open workspaces fit into a default `ulimit`.
pub const IDLE_CONNECTIONS_MAX: usize = 64;

/// Threads that may wait for the disk at one time, of the whole process.
pub const BLOCKING_THREADS: usize = 8;

/// Changes that the log keeps for watchers that come back with a cursor.
pub const CHANGE_LOG_ROWS: i64 = 20_000;

/// Searches and checks that run at one time, of the whole process: fewer than the threads, so that
/// however many are asked for, reads and writes still get one.
pub const SEARCHES_MAX: usize = 4;

/// Rows or blobs that the collector removes in one transaction. Bounds how long it holds the
/// write lock.
pub const COLLECT_STEP: usize = 64;
