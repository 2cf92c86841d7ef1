//! Runs: code of a model in isolate processes, one process per run, and what is known of each.
//!
//! ```text
//!   exec ──▶ Run ──▶ place? ──▶ thread: driver ◄─ frames ─► child ◄── pool
//!                     │ queue       │   │  └──▶ files, upcalls
//!                     ▼             │   └─────▶ events ──▶ readers
//!                  (bounded)        └─────────▶ record ──▶ store
//! ```
//!
//! Always true:
//! - What an isolate says is never believed further than an isolate may go: every limit holds here, too.
//! - The end of a run is stored before anybody is told of it, and nothing of the run happens after it.
//! - Nothing here waits for an isolate, or keeps Node alive.
//!
//! Not here: what files do (`files`), what JavaScript values cross as (`lib/`), V8 (`isolate/`).

mod budget;
mod child;
mod config;
mod driver;
mod ending;
mod events;
pub mod files;
mod json;
mod limits;
mod outbox;
mod output;
mod pool;
mod record;
mod run;
mod spawner;
mod thread;
mod waker;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

pub use config::{Config, Request};
pub use driver::from_json;
pub use events::Item;
pub use run::{Asked, Refusal, Started, Upcalls};

use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::store::{Owner, RunEnding, RunRow, RunStatus, Scope, Store, executor, guarded, lock};
use config::OutputLimits;
use events::{BATCH_BYTES, Next};
use output::{STREAMS, Tail};
use pool::Pool;
use record::Retention;
use run::{Ended, Phase, Run, Stop};

/// What a frame has around the part of it that a limit is about.
const FRAME_SLACK_BYTES: usize = 64 * 1024;
/// Finished runs whose events stay in memory: those that somebody is about to ask for.
const RECENT_RUNS: usize = 16;
/// How often a run of another process is looked at by those who wait for it.
const FOREIGN_LOOK: std::time::Duration = std::time::Duration::from_millis(200);

type Done<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// The runs of one backend in one workspace.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    config: Config,
    upcalls: Arc<dyn Upcalls>,
    /// None where there is no program, and once the backend is closed.
    pool: Mutex<Option<Arc<Pool>>>,
    runs: Mutex<Runs>,
    recovery: Mutex<Recovery>,
    owner: Mutex<Option<Arc<Owner>>>,
}

#[derive(Default)]
struct Runs {
    /// Those that are not over, and those that are about to be forgotten.
    all: HashMap<String, Arc<Run>>,
    /// Those that have a place.
    placed: usize,
    /// Threads that are not done.
    threads: usize,
    queue: VecDeque<Arc<Run>>,
    recent: VecDeque<Arc<Run>>,
    is_closed: bool,
    /// Who waits for the last thread.
    closing: Vec<Box<dyn FnOnce() + Send>>,
}

/// Whether the runs that dead processes left have been looked for.
enum Recovery {
    Done,
    Due(Vec<Box<dyn FnOnce() + Send>>),
}

impl Runtime {
    /// Connects a backend.
    pub fn new(store: Store, config: Config, upcalls: Arc<dyn Upcalls>) -> Runtime {
        let limits = &config.limits;
        let pool =
            config.program.clone().map(|program| Pool::shared(program, limits.memory_bytes_max, limits.warm));
        let must_recover = !store.is_readonly();
        let recovery = if must_recover { Recovery::Due(Vec::new()) } else { Recovery::Done };
        let runtime = Runtime {
            shared: Arc::new(Shared {
                store,
                config,
                upcalls,
                pool: Mutex::new(pool),
                runs: Mutex::default(),
                recovery: Mutex::new(recovery),
                owner: Mutex::new(None),
            }),
        };
        if must_recover {
            runtime.recover(|_| ());
        }
        runtime
    }

    /// Its options.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    fn check_open(&self) -> Result<()> {
        if lock(&self.shared.runs).is_closed { Err(FsError::new(Code::Closed)) } else { Ok(()) }
    }

    /// Runs code.
    pub fn exec(&self, json: &str, source: String, stdin: Vec<u8>, started: Started) {
        let shared = &self.shared;
        let request = self
            .check_open()
            .and_then(|()| shared.store.check_open())
            .and_then(|()| shared.store.check_writable())
            .and_then(|()| Request::parse(json, source, stdin, &shared.config))
            .and_then(|request| shared.pool().map(|_| request));
        let request = match request {
            Ok(request) => request,
            Err(error) => return started(Err(error.into())),
        };
        let name = request.id.clone().map_or_else(fresh_id, Ok);
        let name = match name {
            Ok(name) => name,
            Err(error) => return started(Err(error.into())),
        };
        let run = Run::new(name, request, &shared.config, Arc::clone(&shared.upcalls), started);
        let run = Arc::new(run);
        if let Err(error) = shared.admit(&run) {
            run.answer_exec(Err(error.into()));
        }
    }

    /// Takes an answer of JavaScript: bytes, or JSON.
    pub fn answer(&self, run: &str, call: u32, is_ok: bool, bytes: Option<Vec<u8>>, json: Option<&str>) {
        use carrel_wire::Value as Wire;
        let Some(run) = self.shared.find(run) else { return };
        let Some(asked) = run.asked(call) else { return };
        let value = match (bytes, json) {
            (Some(bytes), _) => Wire::Bytes(bytes),
            (None, Some(json)) => serde_json::from_str(json).map_or(Wire::Null, from_json),
            (None, None) => Wire::Null,
        };
        let outcome = match (is_ok, asked) {
            (false, _) => Err(value),
            (true, Asked::Strip { path, suffix }) => {
                Ok(Wire::List(vec![Wire::Text(path), Wire::text("module"), value, Wire::Text(suffix)]))
            }
            (true, Asked::Host | Asked::Fetch) => Ok(value),
        };
        run.answer(call, outcome);
    }

    /// Hands out what comes after an event: now, or when it is there.
    pub fn next(&self, name: &str, after: u64, done: impl FnOnce(Result<Vec<Item>>) + Send + 'static) {
        let done: Done<Vec<Item>> = Box::new(done);
        let done = match self.shared.find(name) {
            None => done,
            Some(run) => match run.log.next(after, self.shared.config.limits.subscribers_max, done) {
                Next::Done => return,
                Next::InStore(done) => done,
            },
        };
        let (runtime, name) = (self.clone(), name.to_owned());
        self.when_recovered(move || runtime.next_stored(name, after, done));
    }

    fn next_stored(&self, name: String, after: u64, done: Done<Vec<Item>>) {
        let backend = self.shared.config.id.clone();
        let wanted = name.clone();
        let runtime = self.clone();
        self.scope().read_later(
            move |tx| {
                let Some(row) = tx.run_named(&backend, &wanted)? else { return Err(no_run(&wanted)) };
                let events = tx.run_events(row.id, after, BATCH_BYTES)?;
                let last = tx.last_run_event(row.id)?;
                Ok((row, events, last))
            },
            move |found| {
                let (row, events, last) = match found {
                    Ok(found) => found,
                    Err(error) => return done(Err(error)),
                };
                let reached = events.last().map_or(after, |event| event.seq);
                let mut items: Vec<Item> = events.into_iter().map(Item::Output).collect();
                let run = runtime.shared.find(&name);
                if let Some(run) = &run {
                    run.log.handed_out(reached);
                }
                match &row.ending {
                    Some(ending) if reached == last => {
                        items.push(Item::Exit { seq: last + 1, json: exit_json(&ended(&row, ending)) });
                    }
                    Some(_) => {}
                    None if items.is_empty() => {
                        // What comes next is still in memory, or with another process.
                        let again = move || match run {
                            Some(_) => runtime.next(&name, after, done),
                            None => runtime.next_stored(name, after, done),
                        };
                        return executor::spawn_blocking_after(FOREIGN_LOOK, again);
                    }
                    None => {}
                }
                done(Ok(items));
            },
        );
    }

    /// The number of the last event so far.
    pub fn last_seq(&self, name: &str, done: impl FnOnce(Result<u64>) + Send + 'static) {
        if let Some(run) = self.shared.find(name) {
            return done(Ok(run.log.last()));
        }
        let (backend, name, scope) = (self.shared.config.id.clone(), name.to_owned(), self.scope());
        self.when_recovered(move || {
            let work = move |tx: &crate::store::ReadTx<'_>| {
                let row = tx.run_named(&backend, &name)?.ok_or_else(|| no_run(&name))?;
                Ok(tx.last_run_event(row.id)? + u64::from(row.ending.is_some()))
            };
            scope.read_later(work, done);
        });
    }

    /// Whether there is such a run.
    pub fn has(&self, name: &str, done: impl FnOnce(Result<bool>) + Send + 'static) {
        if self.shared.find(name).is_some() {
            return done(Ok(true));
        }
        let (backend, name, scope) = (self.shared.config.id.clone(), name.to_owned(), self.scope());
        self.when_recovered(move || {
            scope.read_later(move |tx| Ok(tx.run_named(&backend, &name)?.is_some()), done);
        });
    }

    /// The result of a run as JSON, once it is over. `limits` are JSON, too.
    pub fn result(
        &self,
        name: &str,
        limits: Option<&str>,
        done: impl FnOnce(Result<String>) + Send + 'static,
    ) {
        let limits = match config::output_of_result(limits, &self.shared.config) {
            Ok(limits) => limits,
            Err(error) => return done(Err(error)),
        };
        let (shared, name) = (Arc::clone(&self.shared), name.to_owned());
        if let Some(run) = self.shared.find(&name) {
            let watched = Arc::clone(&run);
            watched.log.when_ended(move || {
                let ended = lock(&run.ended).clone();
                match (ended, run.log.all()) {
                    (Some(ended), Some(events)) if !is_long(&events) => {
                        let mut tails = tails(limits);
                        for event in &events {
                            tails[usize::from(event.stream != 1)].push(&event.bytes);
                        }
                        done(guarded(|| shared.result(&name, &ended, tails)));
                    }
                    _ => executor::spawn_blocking(move || {
                        done(guarded(|| shared.stored_result(&name, limits)));
                    }),
                }
            });
            return;
        }
        let runtime = self.clone();
        self.when_recovered(move || runtime.await_stored_result(name, limits, Box::new(done)));
    }

    /// The result of a run that is in the store only. One of another process is looked at now and then.
    fn await_stored_result(&self, name: String, limits: Option<OutputLimits>, done: Done<String>) {
        let runtime = self.clone();
        executor::spawn_blocking(move || {
            let shared = &runtime.shared;
            let scope = runtime.scope();
            let row = guarded(|| scope.read_now(|tx| tx.run_named(&shared.config.id, &name)));
            match row {
                Ok(Some(row)) if row.ending.is_none() => {
                    let again = runtime.clone();
                    executor::spawn_blocking_after(FOREIGN_LOOK, move || {
                        again.await_stored_result(name, limits, done);
                    });
                }
                Ok(Some(_)) => done(guarded(|| shared.stored_result(&name, limits))),
                Ok(None) => done(Err(no_run(&name))),
                Err(error) => done(Err(error)),
            }
        });
    }

    /// Ends a run; calls back when it has ended.
    pub fn kill(&self, name: &str, done: impl FnOnce(Result<()>) + Send + 'static) {
        if let Some(run) = self.shared.find(name) {
            self.shared.stop(&run, Stop::Killed);
            run.log.when_ended(move || done(Ok(())));
            return;
        }
        let (backend, name, scope) = (self.shared.config.id.clone(), name.to_owned(), self.scope());
        self.when_recovered(move || {
            let work = move |tx: &crate::store::ReadTx<'_>| match tx.run_named(&backend, &name)? {
                None => Err(no_run(&name)),
                Some(row) if row.ending.is_none() => Err(foreign(&name)),
                Some(_) => Ok(()),
            };
            scope.read_later(work, done);
        });
    }

    /// Forgets a run that is over.
    pub fn dispose(&self, name: &str, done: impl FnOnce(Result<()>) + Send + 'static) {
        if let Some(run) = self.shared.find(name) {
            if !run.log.is_ended() {
                let sentence =
                    format!("the run {name:?} is still going on; kill it first, or wait for its end");
                return done(Err(FsError::with_detail(Code::ExecBusy, sentence)));
            }
            self.shared.forget(name);
        }
        let (backend, name, scope) = (self.shared.config.id.clone(), name.to_owned(), self.scope());
        self.when_recovered(move || {
            let work = move |tx: &crate::store::WriteTx<'_>| match tx.run_named(&backend, &name)? {
                None => Err(no_run(&name)),
                Some(row) if row.ending.is_none() => Err(foreign(&name)),
                Some(row) => tx.remove_run(row.id),
            };
            scope.write_later(now_ms(), true, 0, work, done);
        });
    }

    /// Settles the runs that dead processes left.
    pub fn recover(&self, done: impl FnOnce(Result<()>) + Send + 'static) {
        let shared = Arc::clone(&self.shared);
        executor::spawn_blocking(move || {
            let settled = guarded(|| shared.settle_abandoned());
            shared.end_recovery();
            done(settled);
        });
    }

    fn when_recovered(&self, then: impl FnOnce() + Send + 'static) {
        let mut recovery = lock(&self.shared.recovery);
        if let Recovery::Due(waiting) = &mut *recovery {
            waiting.push(Box::new(then));
            return;
        }
        drop(recovery);
        then();
    }

    /// What runs now, as JSON.
    pub fn stats(&self, done: impl FnOnce(Result<String>) + Send + 'static) {
        let shared = Arc::clone(&self.shared);
        executor::spawn_blocking(move || done(guarded(|| Ok(shared.stats().to_string()))));
    }

    /// Starts the processes that should be ready.
    pub fn prewarm(&self, done: impl FnOnce(Result<()>) + Send + 'static) {
        match self.check_open().and_then(|()| self.shared.pool()) {
            Ok(pool) => pool.prewarm(done),
            Err(error) => done(Err(error)),
        }
    }

    /// Ends all runs, and the use of the backend; calls back when no process is left.
    pub fn close(&self, done: impl FnOnce() + Send + 'static) {
        let mut runs = lock(&self.shared.runs);
        runs.is_closed = true;
        let open: Vec<Arc<Run>> = runs.all.values().cloned().collect();
        if runs.threads > 0 || !runs.queue.is_empty() {
            runs.closing.push(Box::new(done));
            drop(runs);
            open.iter().for_each(|run| self.shared.stop(run, Stop::Closed));
            return;
        }
        drop(runs);
        self.shared.let_go(Box::new(done));
    }

    fn scope(&self) -> Scope {
        Scope::workspace(self.shared.store.clone())
    }
}

impl Drop for Shared {
    /// Of a backend that was never closed.
    fn drop(&mut self) {
        self.let_go(Box::new(|| ()));
    }
}

impl Shared {
    /// A run that is going on, or was a moment ago.
    fn find(&self, name: &str) -> Option<Arc<Run>> {
        let runs = lock(&self.runs);
        let recent = || runs.recent.iter().find(|run| run.name == name);
        runs.all.get(name).or_else(recent).cloned()
    }

    /// Gives a run a thread, or a place in the queue.
    fn admit(self: &Arc<Self>, run: &Arc<Run>) -> Result<()> {
        let mut runs = lock(&self.runs);
        if runs.is_closed {
            return Err(FsError::new(Code::Closed));
        }
        let recent = runs.recent.iter().find(|other| other.name == run.name);
        if let Some(other) = runs.all.get(&run.name).or(recent) {
            return Err(taken(&run.name, other.log.is_ended()));
        }
        let limits = &self.config.limits;
        if runs.placed >= limits.runs_max && runs.queue.len() >= limits.queued_max {
            return Err(FsError::with_detail(
                Code::ExecBusy,
                format!(
                    "{} runs are going on and {} wait, as many as maxConcurrentExecutions and maxQueuedExecutions allow; try again later",
                    limits.runs_max, limits.queued_max
                ),
            ));
        }
        runs.all.insert(run.name.clone(), Arc::clone(run));
        if runs.placed >= limits.runs_max {
            runs.queue.push_back(Arc::clone(run));
            return Ok(());
        }
        runs.placed += 1;
        runs.threads += 1;
        drop(runs);
        thread::start(self, run, true);
        Ok(())
    }

    fn stop(self: &Arc<Self>, run: &Arc<Run>, by: Stop) {
        run.stop(by);
        let mut runs = lock(&self.runs);
        let place = runs.queue.iter().position(|queued| Arc::ptr_eq(queued, run));
        if let Some(place) = place {
            runs.queue.remove(place);
            runs.threads += 1;
            drop(runs);
            // Its thread does nothing but to record that it was stopped.
            thread::start(self, run, false);
        }
    }

    /// The thread of a run is done.
    fn leave(self: &Arc<Self>, run: &Arc<Run>, had_place: bool) {
        let mut runs = lock(&self.runs);
        runs.threads -= 1;
        if runs.all.remove(&run.name).is_some() && lock(&run.ended).is_some() && run.log.is_whole() {
            runs.recent.push_back(Arc::clone(run));
            let kept = usize::try_from(self.config.limits.retained_max)
                .map_or(RECENT_RUNS, |kept| kept.min(RECENT_RUNS));
            while runs.recent.len() > kept {
                runs.recent.pop_front();
            }
        }
        let mut next = None;
        if had_place {
            next = runs.queue.pop_front();
            match &next {
                Some(_) => runs.threads += 1,
                None => runs.placed -= 1,
            }
        }
        let is_last = runs.threads == 0 && runs.queue.is_empty();
        let closing = if is_last { std::mem::take(&mut runs.closing) } else { Vec::new() };
        let is_closed = runs.is_closed;
        drop(runs);
        if let Some(next) = next {
            thread::start(self, &next, true);
        }
        if is_last && is_closed {
            self.let_go(Box::new(move || closing.into_iter().for_each(|done| done())));
        }
    }

    /// Gives back what is held for runs to come.
    fn let_go(&self, done: Box<dyn FnOnce() + Send>) {
        *lock(&self.owner) = None;
        let pool = lock(&self.pool).take();
        match pool {
            Some(pool) => pool.release(done),
            None => done(),
        }
    }

    fn pool(&self) -> Result<Arc<Pool>> {
        lock(&self.pool).clone().ok_or_else(no_program)
    }

    fn forget(&self, name: &str) {
        let mut runs = lock(&self.runs);
        runs.recent.retain(|run| run.name != name);
        if runs.all.get(name).is_some_and(|run| run.log.is_ended()) {
            runs.all.remove(name);
        }
    }

    /// Who the runs of this backend belong to, while there are some.
    fn owner(&self) -> Result<Arc<Owner>> {
        let mut slot = lock(&self.owner);
        if let Some(owner) = &*slot {
            return Ok(Arc::clone(owner));
        }
        Ok(Arc::clone(slot.insert(self.store.owner()?)))
    }

    fn retention(&self) -> Retention {
        Retention { kept: self.config.limits.retained_max, ms: self.config.limits.retention_ms }
    }

    fn settle_abandoned(&self) -> Result<()> {
        let scope = Scope::workspace(self.store.clone());
        self.store.check_open()?;
        let now = now_ms();
        let location = self.store.config().location.clone();
        let abandoned = scope.read_now(|tx| tx.abandoned_runs(&location, now))?;
        for run in abandoned {
            output::wait(|done| scope.write_later(now, true, 0, move |tx| settle(tx, &run, now), done))?;
        }
        let (backend, retention) = (self.config.id.clone(), self.retention());
        let is_any = scope.read_now(|tx| tx.has_ended_runs(&backend))?;
        if is_any {
            let work = move |tx: &crate::store::WriteTx<'_>| {
                tx.expire_runs(&backend, retention.kept, now - retention.ms, usize::MAX).map(|_| ())
            };
            output::wait(|done| scope.write_later(now, false, 0, work, done))?;
        }
        Ok(())
    }

    fn end_recovery(&self) {
        let recovery = std::mem::replace(&mut *lock(&self.recovery), Recovery::Done);
        if let Recovery::Due(waiting) = recovery {
            waiting.into_iter().for_each(|then| then());
        }
    }

    fn stats(&self) -> Value {
        let runs = lock(&self.runs);
        let warm = lock(&self.pool).as_ref().map_or(0, |pool| pool.ready());
        let queued = runs.queue.len();
        let is_going_on = |run: &&Arc<Run>| run.phase() != Phase::Queued && !run.log.is_ended();
        let mut open: Vec<Arc<Run>> = runs.all.values().filter(is_going_on).cloned().collect();
        open.sort_by(|a, b| a.asked_at.total_cmp(&b.asked_at));
        let live = open.len();
        open.extend(runs.queue.iter().cloned());
        drop(runs);
        let mut listed: Vec<Value> = Vec::new();
        for run in &open {
            let is_queued = run.phase() == Phase::Queued;
            let mut entry = json!({
                "id": run.name,
                "backend": self.config.id,
                "state": if is_queued { "queued" } else { "running" },
                "startedAt": run.asked_at,
            });
            if let Some(pid) = run.pid() {
                let usage = child::usage(pid);
                entry["pid"] = pid.into();
                if let Some(bytes) = usage.memory_bytes {
                    entry["memoryBytes"] = bytes.into();
                }
                if let Some(ms) = usage.cpu_ms {
                    entry["cpuMs"] = ms.into();
                }
            }
            listed.push(entry);
        }
        json!({ "live": live, "queued": queued, "warm": warm, "waiting": 0, "runs": listed })
    }

    /// The result of a run that is over, from the store.
    fn stored_result(&self, name: &str, limits: Option<OutputLimits>) -> Result<String> {
        let scope = Scope::workspace(self.store.clone());
        let row = scope.read_now(|tx| tx.run_named(&self.config.id, name))?.ok_or_else(|| no_run(name))?;
        let Some(ending) = &row.ending else { return Err(foreign(name)) };
        let mut tails = tails(limits);
        let mut after = 0;
        loop {
            let events = scope.read_now(|tx| tx.run_events(row.id, after, BATCH_BYTES))?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            for event in &events {
                tails[usize::from(event.stream != 1)].push(&event.bytes);
            }
        }
        self.result(name, &ended(&row, ending), tails)
    }

    fn result(&self, name: &str, ended: &Ended, tails: [Tail; 2]) -> Result<String> {
        let mut result = Map::new();
        let ending = parsed(&ended.ending);
        result.insert("status".to_owned(), ended.status.name().into());
        result.insert("exitCode".to_owned(), ending.get("code").cloned().unwrap_or(1.into()));
        for field in ["reason", "droppedBytes"] {
            if let Some(value) = ending.get(field) {
                result.insert(field.to_owned(), value.clone());
            }
        }
        if let Some(value) = &ended.value {
            result.insert("value".to_owned(), value.clone().into());
        }
        let mut truncated = Map::new();
        for (index, tail) in tails.into_iter().enumerate() {
            let stream = STREAMS[index];
            let (bytes, cut) = tail.finish();
            result.insert(stream.to_owned(), String::from_utf8_lossy(&bytes).into_owned().into());
            if let Some(cut) = cut {
                let known = ending.get("truncated").and_then(|truncated| truncated.get(stream));
                let saved = self.saved(name, stream, index as u8 + 1, ended.row, known);
                truncated.insert(stream.to_owned(), output::describe(cut, &saved));
            }
        }
        if !truncated.is_empty() {
            result.insert("truncated".to_owned(), truncated.into());
        }
        Ok(Value::Object(result).to_string())
    }

    /// Where the whole of a stream is; it is written now if it was not, because more was to be shown.
    fn saved(
        &self,
        name: &str,
        stream: &str,
        number: u8,
        row: Option<i64>,
        known: Option<&Value>,
    ) -> Result<String, String> {
        if let Some(path) = known.and_then(|known| known["path"].as_str()) {
            return Ok(path.to_owned());
        }
        if let Some(reason) = known.and_then(|known| known["reason"].as_str()) {
            return Err(reason.to_owned());
        }
        let Some(options) = &self.config.output else { return Err("nothing is to be saved".to_owned()) };
        let Some(row) = row else { return Err("the run is not in the store".to_owned()) };
        let path = output::path_of(options, &self.config.id, name, stream);
        let scope = Scope::workspace(self.store.clone());
        let saved = guarded(|| output::save(&scope, options, row, number, &path, now_ms()));
        saved.map(|()| path).map_err(|error| error.to_string())
    }
}

fn tails(limits: Option<OutputLimits>) -> [Tail; 2] {
    [Tail::new(limits), Tail::new(limits)]
}

/// Whether these are too many bytes for a thread that must not wait.
fn is_long(events: &[crate::store::RunEvent]) -> bool {
    events.iter().map(|event| event.bytes.len()).sum::<usize>() > 1024 * 1024
}

fn parsed(ending: &str) -> Map<String, Value> {
    match serde_json::from_str(ending) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

fn ended(row: &RunRow, ending: &RunEnding) -> Ended {
    Ended {
        ending: ending.ending.clone(),
        status: ending.status,
        value: ending.value.clone(),
        row: Some(row.id),
    }
}

/// The exit event of a run.
fn exit_json(ended: &Ended) -> String {
    let mut exit = Map::new();
    exit.insert("status".to_owned(), ended.status.name().into());
    exit.extend(parsed(&ended.ending));
    if let Some(value) = &ended.value {
        exit.insert("value".to_owned(), value.clone().into());
    }
    Value::Object(exit).to_string()
}

/// Records that a run ended with the process that it belonged to.
fn settle(tx: &crate::store::WriteTx<'_>, run: &RunRow, now: f64) -> Result<()> {
    let ending = RunEnding {
        status: RunStatus::Failed,
        finished: now,
        ending: json!({ "code": 1, "reason": "interrupted" }).to_string(),
        value: None,
    };
    if tx.end_run(run.id, run.owner, &ending)? {
        let last = tx.last_run_event(run.id)?;
        let sentence = "Run was interrupted: the process that it belonged to has ended.\n";
        tx.add_run_event(run.id, last + 1, 2, sentence.as_bytes())?;
    }
    Ok(())
}

fn taken(name: &str, is_over: bool) -> FsError {
    if is_over {
        let sentence = format!("there is a run with the id {name:?} already; dispose it or take another id");
        FsError::with_detail(Code::ExecExists, sentence)
    } else {
        FsError::with_detail(Code::ExecBusy, format!("a run with the id {name:?} is going on"))
    }
}

fn no_run(name: &str) -> FsError {
    FsError::with_detail(Code::NoEnt, format!("there is no run with the id {name:?}"))
}

fn foreign(name: &str) -> FsError {
    FsError::with_detail(
        Code::ExecBusy,
        format!("the run {name:?} is going on in another process; only that one can end it"),
    )
}

fn no_program() -> FsError {
    FsError::with_detail(
        Code::NoExec,
        "the program carrel-isolate, which runs code, is not there; install carrel again with its optional dependencies, build it with npm run build, or name it in the environment variable CARREL_ISOLATE",
    )
}

/// A random UUID, version 4.
fn fresh_id() -> Result<String> {
    let mut bytes = random::<16>()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(text)
}

/// Bytes that nobody can guess.
fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        FsError::with_detail(Code::Io, format!("the system has no random bytes: {error}"))
    })?;
    Ok(bytes)
}
