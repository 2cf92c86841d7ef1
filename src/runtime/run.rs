//! One run, as everybody but its own thread sees it.
//!
//! ```text
//!   queued ──▶ starting ──▶ loading ──▶ running ──▶ ending ──▶ over
//!     │           │            │           │
//!     └───────────┴────────────┴───────────┴── stop: killed, or the backend closes
//! ```
//!
//! - `exec` is answered once: when the modules are loaded, when the run is over before that, or with the
//!   reason why there is no run.
//! - The end is recorded before anybody is told of it.
//!
//! Not here: what its thread does (`driver`), and how it ends (`ending`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use carrel_wire::{CallKind, ToIsolate, Value};

use super::FRAME_SLACK_BYTES;
use super::config::{Config, Request};
use super::events::EventLog;
use super::outbox::Outbox;
use super::waker::{Sleeper, Waker};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::store::lock;

/// Why `exec` gave no run.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// Something of ours.
    Failed(FsError),
    /// The code cannot be loaded.
    NotLoaded {
        /// `SyntaxError` and the like.
        name: String,
        /// What is wrong, and where.
        message: String,
        /// Code of the error, if it has one.
        code: Option<String>,
        /// The path that it is about, if any.
        path: Option<String>,
    },
}

impl From<FsError> for Refusal {
    fn from(error: FsError) -> Self {
        Refusal::Failed(error)
    }
}

/// Is told the id of the run, or why there is none.
pub type Started = Box<dyn FnOnce(Result<String, Refusal>) + Send>;

/// What the host's JavaScript is asked.
pub trait Upcalls: Send + Sync {
    /// Hands a request over; false if there is nobody any more.
    fn call(&self, json: String, bytes: Option<Vec<u8>>) -> bool;
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// It waits for a place.
    Queued,
    /// It has a thread and waits for a process.
    Starting,
    /// Its modules are read.
    Loading,
    /// Its code runs.
    Running,
    /// Its code is done.
    Ending,
    /// Its end is known.
    Over,
}

/// Who stopped a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Its user.
    Killed,
    /// The backend, which closes.
    Closed,
}

/// What JavaScript is to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A function of a host module.
    Host,
    /// A step of a request.
    Fetch,
    /// JavaScript for the TypeScript of a file.
    Strip {
        /// Its path.
        path: String,
        /// Query and fragment that it was imported with.
        suffix: String,
    },
}

/// A call that JavaScript has not answered yet.
struct OpenCall {
    asked: Asked,
    deadline: Instant,
    /// Whether the isolate is still told.
    is_awaited: bool,
    /// Whether the signal was aborted.
    is_aborted: bool,
}

/// See the module.
pub struct Run {
    /// Its id.
    pub name: String,
    /// Whether the user chose it.
    pub has_own_name: bool,
    /// When it was asked for, in milliseconds since the epoch.
    pub asked_at: f64,
    /// What was asked for; taken by its thread.
    request: Mutex<Option<Request>>,
    /// Its events.
    pub log: EventLog,
    /// The way to its isolate.
    pub outbox: Outbox,
    waker: Waker,
    started: Mutex<Option<Started>>,
    phase: AtomicU8,
    stop: Mutex<Option<Stop>>,
    pid: AtomicU32,
    calls: Mutex<HashMap<u32, OpenCall>>,
    /// Bytes of all answers.
    pub answered_bytes: AtomicU64,
    answered_bytes_max: u64,
    answer_bytes_max: usize,
    upcalls: Arc<dyn Upcalls>,
    /// How it ended: what results say of it.
    pub ended: Mutex<Option<Ended>>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// JSON, as the store has it.
    pub ending: String,
    /// `completed` and so on.
    pub status: crate::store::RunStatus,
    /// The result as JSON.
    pub value: Option<String>,
    /// The row in the store, if there is one.
    pub row: Option<i64>,
}

impl Run {
    /// A run that waits for its turn.
    pub fn new(
        name: String,
        request: Request,
        config: &Config,
        upcalls: Arc<dyn Upcalls>,
        started: Started,
    ) -> Run {
        let waker = Waker::default();
        Run {
            name,
            has_own_name: request.id.is_some(),
            asked_at: now_ms(),
            request: Mutex::new(Some(request)),
            log: EventLog::default(),
            outbox: Outbox::new(waker.clone()),
            waker,
            started: Mutex::new(Some(started)),
            phase: AtomicU8::new(Phase::Queued as u8),
            stop: Mutex::new(None),
            pid: AtomicU32::new(0),
            calls: Mutex::default(),
            answered_bytes: AtomicU64::new(0),
            answered_bytes_max: config.limits.response_bytes_max,
            answer_bytes_max: config.limits.call_bytes_max,
            upcalls,
            ended: Mutex::new(None),
        }
    }

    /// What was asked for, once.
    pub fn take_request(&self) -> Option<Request> {
        lock(&self.request).take()
    }

    /// What wakes its thread, for that thread.
    pub fn sleeper(&self) -> Result<Sleeper> {
        self.waker.sleeper().map_err(|error| {
            FsError::with_detail(Code::Io, format!("the process has no descriptor left for a run: {error}"))
        })
    }

    /// Wakes its thread.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Where it is.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Queued,
            1 => Phase::Starting,
            2 => Phase::Loading,
            3 => Phase::Running,
            4 => Phase::Ending,
            _ => Phase::Over,
        }
    }

    /// Goes on.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// Answers `exec`, if that was not done yet.
    pub fn answer_exec(&self, outcome: Result<(), Refusal>) {
        let started = lock(&self.started).take();
        if let Some(started) = started {
            started(outcome.map(|()| self.name.clone()));
        }
    }

    /// Asks for its end.
    pub fn stop(&self, by: Stop) {
        lock(&self.stop).get_or_insert(by);
        self.wake();
    }

    /// Who asked for its end.
    pub fn stopped(&self) -> Option<Stop> {
        *lock(&self.stop)
    }

    /// Its process.
    pub fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::Acquire)).filter(|pid| *pid != 0)
    }

    /// Notes its process, or that it has none.
    pub fn set_pid(&self, pid: Option<u32>) {
        self.pid.store(pid.unwrap_or(0), Ordering::Release);
    }

    /// Asks JavaScript. The answer goes to the isolate when it is there.
    pub fn ask(&self, call: u32, asked: Asked, patience: Duration, json: String, bytes: Option<Vec<u8>>) {
        let deadline = Instant::now() + patience;
        let open = OpenCall { asked, deadline, is_awaited: true, is_aborted: false };
        lock(&self.calls).insert(call, open);
        if !self.upcalls.call(json, bytes) {
            let sentence = "the thread of the host that would answer has ended";
            self.answer(call, Err(failure(CallKind::Host, Code::Closed, sentence)));
        }
    }

    /// Takes the answer to a call of JavaScript. One that nobody waits for is dropped.
    pub fn answer(&self, call: u32, outcome: Result<Value, Value>) {
        let Some(open) = lock(&self.calls).remove(&call) else { return };
        if open.is_awaited {
            self.reply(CallKind::Host, call, outcome);
        }
        if self.phase() == Phase::Ending {
            self.wake();
        }
    }

    /// What kind of call is open under a number.
    pub fn asked(&self, call: u32) -> Option<Asked> {
        lock(&self.calls).get(&call).map(|open| open.asked.clone())
    }

    /// Calls that JavaScript has not answered.
    pub fn open_calls(&self) -> usize {
        lock(&self.calls).len()
    }

    /// Of those, the ones that the isolate waits for.
    pub fn awaited_calls(&self) -> usize {
        lock(&self.calls).values().filter(|open| open.is_awaited).count()
    }

    /// Tells JavaScript that nobody waits for a call any more.
    pub fn cancel_call(&self, call: u32) {
        let is_open = match lock(&self.calls).get_mut(&call) {
            Some(open) => {
                open.is_awaited = false;
                !std::mem::replace(&mut open.is_aborted, true)
            }
            None => false,
        };
        if is_open {
            self.tell("cancel", Some(call));
        }
    }

    /// The same for all calls. Nothing outside depends on whether types have been stripped.
    pub fn cancel_calls(&self) {
        lock(&self.calls).retain(|_, open| !matches!(open.asked, Asked::Strip { .. }));
        let open: Vec<u32> = lock(&self.calls).keys().copied().collect();
        open.into_iter().for_each(|call| self.cancel_call(call));
    }

    /// Forgets all calls.
    pub fn forget_calls(&self) {
        lock(&self.calls).clear();
    }

    /// Ends the wait for calls past their deadline. Returns when the next one passes its own.
    pub fn expire_calls(&self, now: Instant, patience_ms: f64) -> Option<Instant> {
        let mut expired = Vec::new();
        let mut next = None;
        for (call, open) in lock(&self.calls).iter_mut().filter(|(_, open)| open.is_awaited) {
            if open.deadline <= now {
                open.is_awaited = false;
                open.is_aborted = true;
                expired.push(*call);
            } else {
                next = Some(next.map_or(open.deadline, |next: Instant| next.min(open.deadline)));
            }
        }
        for call in expired {
            let sentence =
                format!("the call took longer than {patience_ms} ms, which is what maxHostCallMs allows");
            self.reply(CallKind::Host, call, Err(failure(CallKind::Host, Code::TimedOut, &sentence)));
            self.tell("cancel", Some(call));
        }
        next
    }

    /// Tells JavaScript something that has no answer.
    pub fn tell(&self, kind: &str, call: Option<u32>) {
        let mut json = serde_json::json!({ "kind": kind, "run": self.name });
        if let Some(call) = call {
            json["call"] = call.into();
        }
        // Nobody there means nobody who could do something about it.
        let _ = self.upcalls.call(json.to_string(), None);
    }

    /// Sends an answer to the isolate, within the limits.
    pub fn reply(&self, kind: CallKind, call: u32, outcome: Result<Value, Value>) {
        let size = outcome.as_ref().map_or_else(Value::size_bytes, Value::size_bytes);
        let limited = |sentence: String| Err(failure(kind, Code::Limit, &sentence));
        let before = self.answered_bytes.fetch_add(size as u64, Ordering::AcqRel);
        let outcome = if size > self.answer_bytes_max.saturating_add(FRAME_SLACK_BYTES) {
            let most = self.answer_bytes_max;
            limited(format!("the answer has {size} bytes; maxCapabilityBytes allows {most}"))
        } else if outcome.is_ok() && before.saturating_add(size as u64) > self.answered_bytes_max {
            let most = self.answered_bytes_max;
            limited(format!(
                "all answers of this run together have more than {most} bytes, which maxCapabilityResponseBytes allows"
            ))
        } else {
            outcome
        };
        self.outbox.send(&ToIsolate::Answer { id: call, epoch_ms: now_ms(), outcome });
    }
}

/// An error of ours as the isolate reads those of this kind of call.
pub fn failure(kind: CallKind, code: Code, sentence: &str) -> Value {
    match kind {
        CallKind::File => Value::List(vec![
            Value::text(code.name()),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::text(sentence),
            Value::Number(f64::from(code.errno())),
        ]),
        CallKind::Host | CallKind::Fetch | CallKind::Import => Value::List(vec![
            Value::text("Error"),
            Value::text(code.name()),
            Value::text(format!("{}: {sentence}", code.name())),
        ]),
    }
}
