//! One SQLite connection, set up the way every one of ours is.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Code, FsError};
use crate::limits::WAL_FILE_BYTES;

/// Where the database of a workspace is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In this process's memory, gone at `close()`.
    Memory,
    /// In a file.
    File {
        /// The database file; SQLite keeps `-wal` and `-shm` beside it.
        path: PathBuf,
        /// Whether nothing may be changed.
        readonly: bool,
    },
}

/// What a resolved promise of a mutation means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut.
    Full,
    /// It survives the end of the process.
    Normal,
    /// Nothing is promised; a power cut may damage the file. For tests.
    Off,
}

thread_local! {
    /// Pages in the WAL after the last commit made by this thread.
    static WAL_PAGES: Cell<u32> = const { Cell::new(0) };
}

/// A connection. Used by one thread at a time.
pub struct Conn {
    sqlite: Connection,
    synced: Cell<Option<Durability>>,
    /// Of a copy for readers: the transaction that it is for.
    pub(super) copy_of: Option<u64>,
}

impl Conn {
    /// Opens `location`. Creates the file if it may; never changes one that exists.
    pub fn open(location: &Location) -> rusqlite::Result<Self> {
        let no_mutex = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sqlite = match location {
            Location::Memory => Connection::open_in_memory()?,
            Location::File { path, readonly: false } => Connection::open_with_flags(
                path,
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | no_mutex,
            )?,
            Location::File { path, readonly: true } => open_readonly(path, no_mutex)?,
        };
        Self::prepare(sqlite, None)
    }

    fn prepare(mut sqlite: Connection, copy_of: Option<u64>) -> rusqlite::Result<Self> {
        // Waiting is done by us, off the threads that must not wait.
        sqlite.busy_timeout(std::time::Duration::ZERO)?;
        sqlite.set_prepared_statement_cache_capacity(128);
        // Plans do not depend on the values bound to parameters. Otherwise a join is compiled
        // anew each time a parameter is bound.
        sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        sqlite.execute_batch(&format!(
            "PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048;
             PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
             PRAGMA journal_size_limit = {WAL_FILE_BYTES};"
        ))?;
        // Replaces SQLite's own checkpoint after a commit, which would flush the disk on
        // whatever thread commits.
        sqlite.wal_hook(Some(|_: &mut rusqlite::hooks::Wal, pages: i32| {
            WAL_PAGES.set(u32::try_from(pages).unwrap_or(0));
            Ok(())
        }))?;
        Ok(Conn { sqlite, synced: Cell::new(None), copy_of })
    }

    /// The connection itself, for the row modules.
    pub(super) fn sqlite(&self) -> &Connection {
        &self.sqlite
    }

    /// Sets how far the next commits are flushed.
    pub fn sync_as(&self, durability: Durability) -> rusqlite::Result<()> {
        if self.synced.get() == Some(durability) {
            return Ok(());
        }
        self.sqlite.execute_batch(match durability {
            Durability::Full => "PRAGMA synchronous = FULL",
            Durability::Normal => "PRAGMA synchronous = NORMAL",
            Durability::Off => "PRAGMA synchronous = OFF",
        })?;
        self.synced.set(Some(durability));
        Ok(())
    }

    /// Runs a statement without rows from the cache.
    pub(super) fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.sqlite.prepare_cached(sql)?.execute([]).map(|_| ())
    }

    /// Whether a transaction is open. SQLite ends one by itself when the disk fails or is full.
    pub(super) fn is_in_transaction(&self) -> bool {
        !self.sqlite.is_autocommit()
    }

    /// Ends whatever transaction is open.
    pub(super) fn rollback(&self) {
        if self.is_in_transaction() {
            // Fails only when the connection itself is broken; then SQLite has rolled back.
            let _ = self.run("ROLLBACK");
        }
    }

    /// Pages in the WAL after this thread's last commit.
    pub fn wal_pages() -> u32 {
        WAL_PAGES.get()
    }

    /// Has the end of this connection leave a WAL that waits to be copied back as it is.
    pub fn leave_wal(&self) -> rusqlite::Result<()> {
        let has_wal = self.sqlite.path().is_some_and(|path| {
            Path::new(&format!("{path}-wal")).metadata().is_ok_and(|metadata| metadata.len() > 0)
        });
        // With this set, SQLite would also leave the empty one that it has made itself.
        self.sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_wal).map(|_| ())
    }

    /// Copies what it can of the WAL back into the database file. Returns the WAL pages that
    /// remain.
    pub fn checkpoint(&self, mode: &str) -> rusqlite::Result<u32> {
        self.sqlite.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
            let (log, done): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(u32::try_from(log - done).unwrap_or(0))
        })
    }

    /// A copy of a database in memory, for readers while a transaction changes the original.
    pub fn copy_of_memory(&mut self, epoch: u64) -> rusqlite::Result<Conn> {
        let image = self.sqlite.serialize("main")?;
        let mut copy = Connection::open_in_memory()?;
        copy.deserialize_read_exact("main", &image[..], image.len(), false)?;
        Self::prepare(copy, Some(epoch))
    }
}

/// Opens a file that must not change. A WAL database needs its `-shm` file; on a medium where
/// none can be made, and with no WAL to read, the file alone is the whole truth.
fn open_readonly(path: &Path, no_mutex: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | no_mutex;
    let plain = Connection::open_with_flags(path, flags)?;
    let readable = plain.query_row("PRAGMA schema_version", [], |_| Ok(()));
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    match readable {
        Err(rusqlite::Error::SqliteFailure(failure, _))
            if matches!(failure.code, rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
                && !Path::new(&wal).metadata().is_ok_and(|wal| wal.len() > 0) =>
        {
            let uri = format!("file:{}?immutable=1", percent_encoded(path));
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        _ => Ok(plain),
    }
}

fn percent_encoded(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().iter().fold(String::new(), |mut text, byte| {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                text.push(char::from(*byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
        text
    })
}

/// A failure of SQLite as ours: what it means for the file, and what to do.
impl From<rusqlite::Error> for FsError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::*;
        let Some(failure) = error.sqlite_error() else {
            return FsError::with_detail(
                Code::Io,
                format!(
                    "the database holds a row that carrel did not write ({error}); run workspace.check()"
                ),
            );
        };
        match failure.code {
            DatabaseBusy | DatabaseLocked => FsError::new(Code::Busy),
            NotADatabase => no_database(),
            DatabaseCorrupt => damaged("SQLite reports a malformed database"),
            DiskFull => FsError::with_detail(Code::NoSpc, "the disk is full; nothing was changed"),
            ReadOnly => FsError::with_detail(
                Code::Rofs,
                "the database file is read-only; open it with { readonly: true } or make it writable",
            ),
            PermissionDenied => FsError::with_detail(Code::Acces, "no permission for the database file"),
            CannotOpen => FsError::with_detail(
                Code::Io,
                "the database file cannot be opened; check that it and its directory exist and may be written",
            ),
            OutOfMemory => FsError::with_detail(Code::Io, "out of memory"),
            _ => FsError::with_detail(Code::Io, format!("SQLite failed: {error}")),
        }
    }
}

/// What is said of a file with anything else in it.
pub fn no_database() -> FsError {
    FsError::with_detail(
        Code::Io,
        "the file is not a carrel database, or its header is damaged; nothing was changed",
    )
}

/// What every sign of damage says.
pub fn damaged(sign: &str) -> FsError {
    FsError::with_detail(
        Code::Io,
        format!("the database is damaged ({sign}); run workspace.check() and restore it from a backup"),
    )
}
