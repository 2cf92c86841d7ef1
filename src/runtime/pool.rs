//! Isolate processes that are ready before somebody needs them.
//!
//! All backends of this process that want the same program with the same memory share one pool. It
//! starts a process for each that is waited for, and keeps `warm` more ready once it was used. What is
//! ready and unused for a minute is ended; nothing here keeps Node alive.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::child::{self, Child};
use crate::error::{Code, FsError, Result};
use crate::store::{executor, lock};

/// How long a process stays ready without being used.
const IDLE_MAX: Duration = Duration::from_secs(60);

type Key = (PathBuf, usize);
type Waiter = Box<dyn FnOnce(Result<Child>) + Send>;
type Ready = Box<dyn FnOnce(Result<()>) + Send>;

static POOLS: Mutex<Option<HashMap<Key, Weak<Pool>>>> = Mutex::new(None);

/// See the module.
pub struct Pool {
    program: PathBuf,
    memory_bytes_max: usize,
    state: Mutex<State>,
    /// Wakes who waits for the last process that is being started.
    settled: Condvar,
}

#[derive(Default)]
struct State {
    /// Backends that use it.
    users: usize,
    warm: usize,
    ready: VecDeque<Child>,
    starting: usize,
    waiting: VecDeque<Waiter>,
    /// Who wants to know when as many as are to be ready are.
    warming: Vec<Ready>,
    last_use: Option<Instant>,
    is_watched: bool,
}

impl Pool {
    /// The pool for a program and an amount of memory; it keeps at least `warm` ready.
    pub fn shared(program: PathBuf, memory_bytes_max: usize, warm: usize) -> Arc<Pool> {
        let mut pools = lock(&POOLS);
        let pools = pools.get_or_insert_default();
        pools.retain(|_, pool| pool.strong_count() > 0);
        let key = (program, memory_bytes_max);
        if let Some(pool) = pools.get(&key).and_then(Weak::upgrade) {
            let mut state = lock(&pool.state);
            state.warm = state.warm.max(warm);
            state.users += 1;
            drop(state);
            return pool;
        }
        let pool = Arc::new(Pool {
            program: key.0.clone(),
            memory_bytes_max,
            state: Mutex::new(State { users: 1, warm, ..State::default() }),
            settled: Condvar::new(),
        });
        pools.insert(key, Arc::downgrade(&pool));
        pool
    }

    /// Calls back with a process that is ready: now, or when one is.
    pub fn take(self: &Arc<Self>, waiter: impl FnOnce(Result<Child>) + Send + 'static) {
        let mut state = lock(&self.state);
        state.last_use = Some(Instant::now());
        let mut found = None;
        while let Some(mut child) = state.ready.pop_front() {
            if child.is_alive() {
                found = Some(child);
                break;
            }
        }
        match found {
            Some(child) => {
                self.fill(state);
                waiter(Ok(child));
            }
            None => {
                state.waiting.push_back(Box::new(waiter));
                self.fill(state);
            }
        }
    }

    /// Takes back a process that was not used.
    pub fn give_back(self: &Arc<Self>, child: Child) {
        self.arrived(Ok(child), 0);
    }

    /// Starts what should be ready, and calls back when it is.
    pub fn prewarm(self: &Arc<Self>, done: impl FnOnce(Result<()>) + Send + 'static) {
        let mut state = lock(&self.state);
        state.last_use = Some(Instant::now());
        if state.ready.len() >= state.warm {
            drop(state);
            return done(Ok(()));
        }
        state.warming.push(Box::new(done));
        self.fill(state);
    }

    /// Ends one backend's use; after the last, calls back when no process is left.
    pub fn release(self: Arc<Self>, done: impl FnOnce() + Send + 'static) {
        let mut pools = lock(&POOLS);
        let mut state = lock(&self.state);
        state.users -= 1;
        if state.users > 0 {
            drop(state);
            drop(pools);
            return done();
        }
        // Whoever comes now gets a new one.
        if let Some(pools) = &mut *pools {
            pools.retain(|_, pool| pool.as_ptr() != Arc::as_ptr(&self));
        }
        let ready = std::mem::take(&mut state.ready);
        state.warm = 0;
        let is_idle = ready.is_empty() && state.starting == 0;
        drop(state);
        drop(pools);
        if is_idle {
            return done();
        }
        executor::spawn_blocking(move || {
            drop(ready);
            let mut state = lock(&self.state);
            while state.starting > 0 {
                state = self.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let late = std::mem::take(&mut state.ready);
            drop(state);
            drop(late);
            done();
        });
    }

    /// How many are ready.
    pub fn ready(&self) -> usize {
        lock(&self.state).ready.len()
    }

    fn fill(self: &Arc<Self>, mut state: std::sync::MutexGuard<'_, State>) {
        let wanted = state.waiting.len() + state.warm;
        let missing = wanted.saturating_sub(state.ready.len() + state.starting);
        state.starting += missing;
        drop(state);
        for _ in 0..missing {
            let pool = Arc::downgrade(self);
            child::start(&self.program, self.memory_bytes_max, move |child| get_ready(pool, child));
        }
    }

    /// A process is ready, or could not be made so.
    fn arrived(self: &Arc<Self>, child: Result<Child>, started: usize) {
        let mut state = lock(&self.state);
        state.starting -= started;
        if state.starting == 0 {
            self.settled.notify_all();
        }
        let waiter = state.waiting.pop_front();
        let failure = child.as_ref().err().cloned();
        let child = match (waiter, child) {
            (Some(waiter), child) => Some((waiter, child)),
            (None, Ok(child)) => {
                state.ready.push_back(child);
                None
            }
            (None, Err(_)) => None,
        };
        let is_filled = state.ready.len() >= state.warm || failure.is_some();
        let warming = if is_filled { std::mem::take(&mut state.warming) } else { Vec::new() };
        self.watch(&mut state);
        drop(state);
        if let Some((waiter, child)) = child {
            waiter(child);
        }
        for done in warming {
            done(failure.clone().map_or(Ok(()), Err));
        }
    }

    /// Looks after a while whether what is ready is used.
    fn watch(self: &Arc<Self>, state: &mut State) {
        if state.is_watched || state.ready.is_empty() {
            return;
        }
        state.is_watched = true;
        let idle = state.last_use.map_or(Duration::ZERO, |last_use| last_use.elapsed());
        let pool = Arc::downgrade(self);
        executor::spawn_blocking_after(IDLE_MAX.saturating_sub(idle), move || {
            let Some(pool) = pool.upgrade() else { return };
            let mut state = lock(&pool.state);
            state.is_watched = false;
            let is_idle = state.last_use.is_none_or(|last_use| last_use.elapsed() >= IDLE_MAX);
            let unused = if is_idle { std::mem::take(&mut state.ready) } else { VecDeque::new() };
            pool.watch(&mut state);
            drop(state);
            drop(unused);
        });
    }
}

impl Drop for Pool {
    /// Whoever drops it must not wait for processes to end.
    fn drop(&mut self) {
        let state = std::mem::take(&mut *lock(&self.state));
        if !state.ready.is_empty() {
            executor::spawn_blocking(move || drop(state.ready));
        }
    }
}

/// Waits until a started process is ready, on a thread of its own: the one that starts processes must
/// not wait.
fn get_ready(pool: Weak<Pool>, child: Result<Child>) {
    let start = Start { pool, child: Some(child) };
    // If there is no thread for it, the closure is dropped, and with it the start.
    let _ = std::thread::Builder::new().name("carrel-ready".to_owned()).spawn(move || start.finish());
}

/// A process on its way into the pool. Dropped before it is there, it counts as failed.
struct Start {
    pool: Weak<Pool>,
    child: Option<Result<Child>>,
}

impl Start {
    fn finish(mut self) {
        let child = match self.child.take() {
            Some(Ok(mut child)) => child.wait_ready().map(|()| child),
            Some(Err(error)) => Err(error),
            None => return,
        };
        if let Some(pool) = self.pool.upgrade() {
            pool.arrived(child, 1);
        }
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        if self.child.take().is_some()
            && let Some(pool) = self.pool.upgrade()
        {
            let sentence = "the machine has no thread left to wait for an isolate process; try again later";
            pool.arrived(Err(FsError::with_detail(Code::NoExec, sentence)), 1);
        }
    }
}
