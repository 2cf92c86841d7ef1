//! The connections of one workspace, and the bound on those of the whole process.
//!
//! A database in a file has as many connections as are in use at one time, and keeps idle ones
//! for the next call. A database in memory is its one connection: others wait for it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use super::connection::{Conn, Location};
use super::executor;
use super::tx::ReadTx;
use crate::error::{Code, FsError, Result};
use crate::limits::IDLE_CONNECTIONS_MAX;

/// All pools of the process, for closing what has been idle longest.
static POOLS: LazyLock<Mutex<Vec<Weak<Pool>>>> = LazyLock::new(Mutex::default);
/// Idle connections to files in all pools.
static IDLE: AtomicUsize = AtomicUsize::new(0);
/// Orders uses of pools.
static USES: AtomicU64 = AtomicU64::new(0);

/// See the module.
pub struct Pool {
    location: Location,
    idle: Mutex<Vec<Conn>>,
    returned: Condvar,
    last_use: AtomicU64,
    is_closed: AtomicBool,
    /// Counts transactions of a database in memory; a copy is good for one.
    epoch: AtomicU64,
}

/// A connection taken from its pool, given back on drop.
pub struct Lease {
    pool: Arc<Pool>,
    conn: Option<Conn>,
}

impl Pool {
    /// A pool that starts with the connection that opened the workspace.
    pub fn new(location: Location, first: Conn) -> Arc<Self> {
        let pool = Arc::new(Pool {
            location,
            idle: Mutex::new(Vec::new()),
            returned: Condvar::new(),
            last_use: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
        });
        let mut pools = lock(&POOLS);
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(&pool));
        drop(pools);
        pool.give_back(first);
        pool
    }

    fn is_memory(&self) -> bool {
        self.location == Location::Memory
    }

    /// A connection if one is at hand.
    pub fn try_take(self: &Arc<Self>) -> Option<Lease> {
        let conn = self.pop(&mut lock(&self.idle))?;
        Some(Lease { pool: Arc::clone(self), conn: Some(conn) })
    }

    /// A connection, opened or waited for. Not for the JavaScript thread.
    pub fn take(self: &Arc<Self>) -> Result<Lease> {
        let mut idle = lock(&self.idle);
        loop {
            if self.is_closed.load(Ordering::Acquire) {
                return Err(FsError::new(Code::Closed));
            }
            if let Some(conn) = self.pop(&mut idle) {
                return Ok(Lease { pool: Arc::clone(self), conn: Some(conn) });
            }
            if !self.is_memory() {
                drop(idle);
                let conn = Conn::open(&self.location)?;
                return Ok(Lease { pool: Arc::clone(self), conn: Some(conn) });
            }
            idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn pop(&self, idle: &mut Vec<Conn>) -> Option<Conn> {
        let conn = idle.pop()?;
        if !self.is_memory() {
            IDLE.fetch_sub(1, Ordering::Relaxed);
        }
        Some(conn)
    }

    fn give_back(&self, conn: Conn) {
        self.last_use.store(USES.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut idle = lock(&self.idle);
        let is_stale = conn.copy_of.is_some_and(|epoch| epoch != self.epoch.load(Ordering::Acquire));
        if is_stale || self.is_closed.load(Ordering::Acquire) {
            drop(idle);
            drop(conn);
            return;
        }
        idle.push(conn);
        drop(idle);
        if self.is_memory() {
            self.returned.notify_one();
        } else if IDLE.fetch_add(1, Ordering::Relaxed) >= IDLE_CONNECTIONS_MAX {
            if executor::may_wait() {
                close_longest_idle();
            } else {
                executor::spawn_blocking(close_longest_idle);
            }
        }
    }

    /// Takes the one connection of a database in memory out of the pool, for a transaction, and
    /// leaves a copy of its state to readers.
    pub fn begin_copy(&self, lease: Lease) -> Result<Conn> {
        let mut original = lease.into_conn();
        let copied = original.copy_of_memory(self.epoch.load(Ordering::Acquire));
        // A failed copy leaves the pool as it was.
        let (result, idle) = match copied {
            Ok(copy) => (Ok(original), copy),
            Err(error) => (Err(FsError::from(error)), original),
        };
        self.give_back(idle);
        result
    }

    /// Puts the original back; copies, also those in use now, are dropped.
    pub fn end_copy(&self, original: Conn) {
        let mut idle = lock(&self.idle);
        self.epoch.fetch_add(1, Ordering::AcqRel);
        idle.clear();
        drop(idle);
        self.give_back(original);
    }

    /// Closes the idle connections; leased ones close when they come back.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        drop(self.take_idle());
        self.returned.notify_all();
    }

    fn take_idle(&self) -> Vec<Conn> {
        let conns = std::mem::take(&mut *lock(&self.idle));
        if !self.is_memory() {
            IDLE.fetch_sub(conns.len(), Ordering::Relaxed);
        }
        conns
    }
}

impl Drop for Pool {
    /// Of a workspace that was never closed. Whoever drops it must not wait for the disk.
    fn drop(&mut self) {
        let conns = self.take_idle();
        if !conns.is_empty() {
            executor::spawn_blocking(move || drop(conns));
        }
    }
}

impl Lease {
    /// What the connection sees: inside a transaction, one state.
    pub fn view(&self) -> ReadTx<'_> {
        ReadTx::over(self)
    }

    /// Drops the connection instead of giving it back: its state is not known.
    pub fn discard(mut self) {
        self.conn = None;
    }

    /// Takes the connection out of the pool's care.
    fn into_conn(mut self) -> Conn {
        self.conn.take().expect("a lease holds its connection until it ends")
    }
}

impl std::ops::Deref for Lease {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        self.conn.as_ref().expect("a lease holds its connection until it ends")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            conn.rollback();
            self.pool.give_back(conn);
        }
    }
}

/// Closes idle connections, least recently used pools first, until few enough are open.
fn close_longest_idle() {
    let mut pools: Vec<Arc<Pool>> = lock(&POOLS).iter().filter_map(Weak::upgrade).collect();
    pools.retain(|pool| !pool.is_memory());
    pools.sort_by_key(|pool| pool.last_use.load(Ordering::Relaxed));
    for pool in pools {
        if IDLE.load(Ordering::Relaxed) <= IDLE_CONNECTIONS_MAX * 3 / 4 {
            return;
        }
        drop(pool.take_idle());
    }
}

/// A lock whose data stays valid whoever panicked while holding it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
