//! SQLite: rows in, rows out. The only folder with SQL, and it knows no POSIX rules.
//!
//! Always true:
//! - A mutation is in one transaction, and it has happened when its promise resolves, as far as
//!   the workspace's [`Durability`] says.
//! - Reads see one committed state and never wait for a writer.
//! - A busy database is waited for on no thread: the work is put off and tried again.
//! - There is one writer at a time in this process; what queues up meanwhile is committed
//!   together ([`writer`]). Among processes SQLite's own lock decides.
//!
//! Not here: what a path means, and which changes are allowed (`vfs`).

mod activity;
mod audit;
mod change;
mod check;
mod connection;
mod content;
mod dirent;
pub mod executor;
mod inode;
mod ledger;
mod maintenance;
mod notice;
mod open;
mod owner;
mod pin;
mod pool;
mod run_events;
mod runs;
mod schema;
mod scope;
mod transaction;
mod tx;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use activity::Call;
pub use audit::{AuditEntry, AuditFilter};
pub use change::{Change, ChangeKind, Totals};
pub use check::{Problem, Report};
pub use connection::{Conn, Durability, Location, damaged};
pub use content::{Content, ManifestId, Piece};
pub use dirent::Entry;
pub use inode::{Inode, InodeId, Kind};
pub use maintenance::compact;
pub use owner::Owner;
pub use pin::PinId;
pub use pool::{Lease, lock};
pub use run_events::RunEvent;
pub use runs::{NewRun, RunEnding, RunRow, RunStatus};
pub use schema::ROOT_INODE;
pub use scope::Scope;
pub use transaction::Transaction;
pub use tx::{ReadTx, Terms, WriteTx, guarded};

use crate::error::{Code, FsError, Result};
use crate::rules::Rules;
use pool::Pool;
use writer::Writer;

/// How a workspace is opened.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it is.
    pub location: Location,
    /// What a resolved mutation means.
    pub durability: Durability,
    /// Bytes of contents that it may hold.
    pub quota_bytes: Option<u64>,
    /// What may be done with which paths; none allows everything.
    pub rules: Option<Arc<Rules>>,
    /// Whether calls of tools are recorded.
    pub is_audited: bool,
}

/// An open workspace's database. Clones share it.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    config: Config,
    pool: Arc<Pool>,
    writer: Writer,
    notice: notice::Notice,
    owner: owner_slot::OwnerSlot,
    maintenance: maintenance::Schedule,
    activity: Arc<activity::Activity>,
    is_closed: AtomicBool,
}

impl Shared {
    fn is_memory(&self) -> bool {
        self.config.location == Location::Memory
    }
}

mod owner_slot {
    use std::sync::{Arc, Mutex, Weak};

    use super::{Location, Owner, lock};
    use crate::error::Result;

    /// The owner of the pins that are held now; none, and no open file, while there are none.
    #[derive(Default)]
    pub struct OwnerSlot(Mutex<Weak<Owner>>);

    impl OwnerSlot {
        pub fn get(&self, location: &Location) -> Result<Arc<Owner>> {
            let mut slot = lock(&self.0);
            if let Some(owner) = slot.upgrade() {
                return Ok(owner);
            }
            let owner = Arc::new(Owner::new(location)?);
            *slot = Arc::downgrade(&owner);
            Ok(owner)
        }
    }
}

impl Store {
    /// Opens a database, and makes it if there is none. Waits for other processes that do the
    /// same, for nothing else.
    pub fn open(mut config: Config) -> Result<Store> {
        let conn = open::open(&config)?;
        if let Location::File { path, .. } = &mut config.location
            && path.is_symlink()
            && let Ok(real) = path.canonicalize()
        {
            // SQLite keeps its files beside the one that the link leads to.
            *path = real;
        }
        let pool = Pool::new(config.location.clone(), conn);
        let shared = Shared {
            config,
            pool,
            writer: Writer::default(),
            notice: notice::Notice::default(),
            owner: owner_slot::OwnerSlot::default(),
            maintenance: maintenance::Schedule::default(),
            activity: Arc::default(),
            is_closed: AtomicBool::new(false),
        };
        Ok(Store { shared: Arc::new(shared) })
    }

    /// How it was opened.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Whether the database may be changed.
    pub fn is_readonly(&self) -> bool {
        matches!(self.shared.config.location, Location::File { readonly: true, .. })
    }

    /// `ECLOSED` after `close()`.
    pub fn check_open(&self) -> Result<()> {
        if self.shared.is_closed.load(Ordering::Acquire) { Err(FsError::new(Code::Closed)) } else { Ok(()) }
    }

    /// `EROFS` where nothing may be changed.
    pub fn check_writable(&self) -> Result<()> {
        if self.is_readonly() {
            return Err(FsError::with_detail(Code::Rofs, "the workspace was opened read-only"));
        }
        Ok(())
    }

    /// A connection with an open read transaction, for what must see one state for longer. For a
    /// thread that may wait.
    pub fn hold(&self) -> Result<Lease> {
        let mut attempts = 0;
        loop {
            match self.shared.pool.take() {
                Ok(lease) => {
                    lease.run("BEGIN")?;
                    return Ok(lease);
                }
                // A connection cannot be opened while the last other one is closing.
                Err(error) if error.code() == Code::Busy => {
                    std::thread::sleep(executor::backoff(attempts));
                    attempts += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Wakes whoever holds the receiver when something may have changed, in any process. Pair it
    /// with [`Store::unlisten`].
    pub fn listen(&self) -> Result<tokio::sync::watch::Receiver<u64>> {
        self.shared.notice.listen(&self.shared.config.location)
    }

    /// Ends one [`Store::listen`].
    pub fn unlisten(&self) {
        self.shared.notice.unlisten(&self.shared.config.location);
    }

    /// The holder of the pins of this process.
    pub fn owner(&self) -> Result<Arc<Owner>> {
        self.shared.owner.get(&self.shared.config.location)
    }

    /// Marks a call as under way, for `close()` to wait for.
    pub fn enter(&self) -> Call {
        self.shared.activity.enter()
    }

    /// Ends the use of the database. Calls under way are finished first; then `done` is called.
    pub fn close(&self, done: impl FnOnce() + Send + 'static) {
        if self.shared.is_closed.swap(true, Ordering::AcqRel) {
            return done();
        }
        self.shared.notice.wake();
        let shared = Arc::clone(&self.shared);
        self.shared.activity.when_idle(move || {
            executor::spawn_blocking(move || {
                maintenance::finish(&shared);
                // Closing the last connection copies the WAL back and flushes the disk.
                shared.pool.close();
                done();
            });
        });
    }

    /// The database's size: the file and its WAL, in bytes.
    pub fn disk_usage(&self, tx: &ReadTx<'_>) -> Result<(u64, u64)> {
        match &self.shared.config.location {
            Location::File { path, .. } => {
                let mut wal = path.as_os_str().to_owned();
                wal.push("-wal");
                let length = |path: &std::path::Path| path.metadata().map_or(0, |metadata| metadata.len());
                Ok((length(path), length(std::path::Path::new(&wal))))
            }
            Location::Memory => Ok((tx.database_bytes()?, 0)),
        }
    }
}
