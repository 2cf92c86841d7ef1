//! The storage format: tables, and the migrations that led to them.
//!
//! A new database runs every migration in order, so there is one way to a schema. `user_version`
//! counts them; `application_id` tells our files from other SQLite databases.
//!
//! ```text
//! dirent (parent, name) ──▶ inode ──▶ blob                     file of one chunk
//!                             └─────▶ manifest ──▶ chunk ──▶ blob   larger file
//! pin ─────────────────────────────────▶ manifest              open stream, upload under way
//! ledger ──────────────▶ inode                                 file that was read through tools
//! ```
//!
//! Blobs and manifests that more than one row points to never change. Both carry the number of
//! those rows and are removed when it is zero. Equal blobs are stored once, but for small ones, of
//! which sharing would cost more than it saves. `change` is the log for watchers, and its last row holds
//! the totals: a mutation that must write a row there anyway keeps them for nothing. `audit` is the log of
//! tool calls. `run` and `run_event` are what code was run and what it printed.

use rusqlite::Connection;

/// `carl` in ASCII: ours.
pub const APPLICATION_ID: i32 = 0x6361_726c;

/// Inode of `/`.
pub const ROOT_INODE: i64 = 1;

/// The schema version that this code reads and writes.
pub const VERSION: i32 = MIGRATIONS.len() as i32;

const MIGRATIONS: &[&str] = &[V1, V2, V3];

const V1: &str = "
CREATE TABLE inode (
  id        INTEGER PRIMARY KEY,
  type      INTEGER NOT NULL,   -- 1 file, 2 directory, 3 symbolic link
  mode      INTEGER NOT NULL,   -- permission bits, 0o7777
  nlink     INTEGER NOT NULL,
  size      INTEGER NOT NULL,   -- bytes of the contents or of the target; 0 for a directory
  blob      INTEGER,            -- contents of one chunk
  manifest  INTEGER,            -- contents of more than one chunk
  target    TEXT,               -- of a symbolic link
  mtime     REAL NOT NULL,      -- milliseconds since the epoch, like the three below
  ctime     REAL NOT NULL,
  atime     REAL NOT NULL,
  birthtime REAL NOT NULL,
  version   INTEGER NOT NULL    -- change.seq of the last change
);
CREATE TABLE dirent (
  parent INTEGER NOT NULL,
  name   TEXT NOT NULL,
  inode  INTEGER NOT NULL,
  type   INTEGER NOT NULL,      -- as in inode, so that a walk does not have to look there
  PRIMARY KEY (parent, name)
) WITHOUT ROWID;
CREATE TABLE blob (
  id   INTEGER PRIMARY KEY,
  hash BLOB,                    -- SHA-256; NULL for a small blob, which is not shared by equality
  crc  INTEGER NOT NULL,        -- CRC-32, verified at every read
  size INTEGER NOT NULL,
  refs INTEGER NOT NULL,        -- inode.blob + chunk.blob
  data BLOB                     -- NULL: in blob_data
);
CREATE UNIQUE INDEX blob_hash ON blob (hash) WHERE hash IS NOT NULL;
CREATE INDEX blob_unreferenced ON blob (id) WHERE refs = 0;
CREATE TABLE blob_data (
  id   INTEGER PRIMARY KEY,     -- blob.id
  data BLOB NOT NULL
);
CREATE TABLE manifest (
  id   INTEGER PRIMARY KEY AUTOINCREMENT,
  size INTEGER NOT NULL,
  refs INTEGER NOT NULL         -- inode.manifest + pin.manifest
);
CREATE INDEX manifest_unreferenced ON manifest (id) WHERE refs = 0;
CREATE TABLE chunk (
  manifest INTEGER NOT NULL,
  idx      INTEGER NOT NULL,    -- from 0; every chunk but the last has 524,288 bytes
  blob     INTEGER NOT NULL,
  PRIMARY KEY (manifest, idx)
) WITHOUT ROWID;
CREATE TABLE pin (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  manifest INTEGER NOT NULL,
  owner    INTEGER NOT NULL,    -- see store::owner
  at       REAL NOT NULL
);
CREATE TABLE change (
  seq         INTEGER PRIMARY KEY,
  type        INTEGER NOT NULL, -- 0 none, 1 create, 2 change, 3 delete, 4 rename
  path        TEXT NOT NULL,
  source      TEXT,             -- of a rename: the old path
  at          REAL NOT NULL,
  next_inode  INTEGER NOT NULL,
  files       INTEGER NOT NULL,
  directories INTEGER NOT NULL,
  bytes       INTEGER NOT NULL
);
";

const V2: &str = "
CREATE TABLE ledger (
  inode   INTEGER NOT NULL,     -- may be gone; the collector looks
  reader  TEXT NOT NULL,        -- auditTag of the tools that read it, or empty
  version TEXT NOT NULL,        -- of the contents, as tools give it
  at      REAL NOT NULL,
  PRIMARY KEY (inode, reader)
) WITHOUT ROWID;
CREATE TABLE audit (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  at           REAL NOT NULL,   -- milliseconds since the epoch
  tool         TEXT NOT NULL,
  tag          TEXT,
  arguments    TEXT NOT NULL,   -- SHA-256 in hex of the JSON with sorted keys
  paths        TEXT NOT NULL,   -- JSON array of real paths
  bytes_before INTEGER,
  bytes_after  INTEGER,
  code         TEXT,            -- NULL: it succeeded
  duration     REAL NOT NULL    -- milliseconds
);
";

const V3: &str = "
CREATE TABLE run (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  backend  TEXT NOT NULL,
  name     TEXT NOT NULL,       -- the id that users know
  label    TEXT,
  status   INTEGER NOT NULL,    -- 0 running, 1 completed, 2 failed, 3 cancelled
  owner    INTEGER NOT NULL,    -- see store::owner
  started  REAL NOT NULL,       -- milliseconds since the epoch
  finished REAL,
  ending   TEXT,                -- JSON: exit code, reason, output that was cut
  value    TEXT,                -- JSON of the result; NULL unless completed
  UNIQUE (backend, name)
);
CREATE INDEX run_running ON run (id) WHERE status = 0;
CREATE INDEX run_finished ON run (backend, finished) WHERE status <> 0;
CREATE TABLE run_event (
  run    INTEGER NOT NULL,      -- run.id
  seq    INTEGER NOT NULL,      -- from 1 without gaps; the end of the run has the next
  stream INTEGER NOT NULL,      -- 1 standard output, 2 standard error
  data   BLOB NOT NULL,
  PRIMARY KEY (run, seq)
) WITHOUT ROWID;
";

/// Brings an empty or older database to [`VERSION`]. Runs inside the caller's transaction.
pub fn migrate(conn: &Connection, from: i32, now: f64) -> rusqlite::Result<()> {
    for (step, sql) in MIGRATIONS.iter().enumerate().skip(usize::try_from(from).unwrap_or(0)) {
        conn.execute_batch(sql)?;
        if step == 0 {
            first_rows(conn, now)?;
        }
    }
    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    conn.pragma_update(None, "user_version", VERSION)
}

/// `/` and `/workspace`, which a model expects to find.
fn first_rows(conn: &Connection, now: f64) -> rusqlite::Result<()> {
    let directory = "INSERT INTO inode (id, type, mode, nlink, size, mtime, ctime, atime, birthtime, version)
                     VALUES (?1, 2, 493, ?2, 0, ?3, ?3, ?3, ?3, 1)";
    conn.execute(directory, (ROOT_INODE, 3, now))?;
    conn.execute(directory, (ROOT_INODE + 1, 2, now))?;
    conn.execute(
        "INSERT INTO dirent (parent, name, inode, type) VALUES (?1, 'workspace', ?2, 2)",
        (ROOT_INODE, ROOT_INODE + 1),
    )?;
    conn.execute(
        "INSERT INTO change (seq, type, path, at, next_inode, files, directories, bytes)
         VALUES (1, 1, '/workspace', ?1, ?2, 0, 2, 0)",
        (now, ROOT_INODE + 2),
    )?;
    Ok(())
}
