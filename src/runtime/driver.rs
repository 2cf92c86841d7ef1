//! The thread of one run: reads what its isolate says, serves it, and watches the clock.
//!
//! It waits for one thing only, `poll`, and that for: bytes from the isolate, room in the pipe to it,
//! being woken, and the next deadline. Whatever the isolate sends may be a lie; a frame that an isolate of
//! ours could not have sent at this point ends the run.
//!
//! After it has served something it asks for more a few microseconds long before it sleeps: to be
//! put to sleep and woken costs more than most calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use carrel_wire::{
    Call, CallKind, Done, Ending, FrameBuffer, Malformed, PRINTED_BYTES_MAX, Start, ToHost, ToIsolate, Value,
};
use serde_json::json;

use super::FRAME_SLACK_BYTES;
use super::budget::StdioBudget;
use super::child::{Child, Stdin};
use super::config::{Config, Request};
use super::files::{Files, Format};
use super::record::Record;
use super::run::{Asked, Phase, Refusal, Run, failure};
use super::thread::Printer;
use super::waker::Sleeper;
use crate::clock::now_ms;
use crate::error::Code;

/// How long to ask for more before sleeping.
const SPIN: Duration = Duration::from_micros(25);
/// After so many vain attempts in a row, so many are left out before the next.
const SPINS_IN_VAIN: u32 = 2;
/// See [`SPINS_IN_VAIN`].
const SPINS_SKIPPED: u32 = 16;
/// Bytes read at one time.
const READ_BYTES: usize = 256 * 1024;
/// Output that is stored while the run goes on: after this many bytes, or this time.
const STORE_BYTES: usize = 64 * 1024;
/// See [`STORE_BYTES`].
const STORE_AFTER: Duration = Duration::from_millis(100);
/// Calls in flight beyond the limit that an isolate of ours may still make: those that block it, and
/// those that it does not wait for any more.
const CALLS_SLACK: usize = 16;

/// What ended the code.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It said so itself.
    Done(Done),
    /// It could not be loaded.
    NotLoaded(Refusal),
    /// Somebody stopped it.
    Stopped,
    /// It took too long.
    TimedOut,
    /// Its process ended without a word.
    Died,
    /// It said what no isolate says.
    Lied(String),
}

/// See the module.
pub struct Driver<'r> {
    pub run: &'r Arc<Run>,
    pub config: &'r Config,
    pub files: Arc<Files>,
    pub record: &'r Arc<Record>,
    pub sleeper: &'r Sleeper,
    pub budget: StdioBudget,
    printer: &'r mut Printer,
    deadline: Instant,
    frames: FrameBuffer,
    next_call: u32,
    cancels: u32,
    /// Calls that files answer, which may be on other threads.
    open_files: Arc<AtomicUsize>,
    requested_bytes: u64,
    wake_at: Option<Instant>,
    store_at: Option<Instant>,
    spin: Spin,
}

/// Whether to ask for more before sleeping. That pays only while the isolate runs at the same time; where
/// the two share a processor it holds the isolate up, so after vain attempts it is seldom tried.
struct Spin {
    is_possible: bool,
    is_spinning: bool,
    vain: u32,
    skipped: u32,
}

impl Spin {
    fn new() -> Spin {
        // With one processor, the isolate cannot say anything while this asks.
        let is_possible = std::thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        Spin { is_possible, is_spinning: false, vain: 0, skipped: 0 }
    }

    /// Whether to ask once more, after so long a time without an answer.
    fn goes_on(&mut self, quiet: Duration) -> bool {
        if !self.is_spinning {
            if quiet >= SPIN {
                return false;
            }
            let must_skip = self.vain >= SPINS_IN_VAIN && self.skipped < SPINS_SKIPPED;
            self.skipped = if must_skip { self.skipped + 1 } else { 0 };
            self.is_spinning = self.is_possible && !must_skip;
            return self.is_spinning;
        }
        self.is_spinning = quiet < SPIN;
        if !self.is_spinning {
            self.vain += 1;
        }
        self.is_spinning
    }

    fn was_answered(&mut self) {
        if std::mem::take(&mut self.is_spinning) {
            self.vain = 0;
        }
    }
}

/// What a frame leads to.
enum Step {
    GoOn,
    End(Outcome),
}

impl<'r> Driver<'r> {
    /// The driver of a run whose process is there.
    pub fn new(
        run: &'r Arc<Run>,
        config: &'r Config,
        request: &Request,
        files: Files,
        record: &'r Arc<Record>,
        sleeper: &'r Sleeper,
        printer: &'r mut Printer,
    ) -> Driver<'r> {
        let limits = &config.limits;
        let part_bytes_max = limits.call_bytes_max.max(limits.result_bytes_max).max(PRINTED_BYTES_MAX);
        let frame_bytes_max = part_bytes_max + FRAME_SLACK_BYTES;
        Driver {
            run,
            config,
            files: Arc::new(files),
            record,
            sleeper,
            budget: StdioBudget::new(limits.stdio_bytes_max),
            printer,
            deadline: Instant::now() + Duration::from_secs_f64(request.wall_ms_max / 1000.0),
            frames: FrameBuffer::new(frame_bytes_max),
            next_call: 1,
            cancels: 0,
            open_files: Arc::default(),
            requested_bytes: 0,
            wake_at: None,
            store_at: None,
            spin: Spin::new(),
        }
    }

    /// Elsewhere no process could be started.
    #[cfg(not(unix))]
    pub fn serve(&mut self, _child: &mut Child, _start: Start) -> Outcome {
        Outcome::Died
    }

    /// Serves the run until its code is done, however that comes about.
    #[cfg(unix)]
    pub fn serve(&mut self, child: &mut Child, start: Start) -> Outcome {
        use rustix::io::Errno;
        let stdin = child.stdin.take().map(Arc::new);
        if let Some(pipe) = &stdin {
            self.run.outbox.open(Arc::clone(pipe));
        }
        self.run.enter(Phase::Loading);
        self.run.outbox.send(&ToIsolate::Start(Box::new(start)));
        let mut buffer = vec![0; READ_BYTES];
        let mut quiet_since = Instant::now();
        loop {
            match rustix::io::read(&child.stdout, &mut buffer) {
                Ok(0) => return Outcome::Died,
                Ok(count) => {
                    self.spin.was_answered();
                    self.frames.push(&buffer[..count]);
                    loop {
                        match self.frames.next_frame::<ToHost>() {
                            Ok(None) => break,
                            Ok(Some(frame)) => {
                                if let Step::End(outcome) = self.take(frame) {
                                    return outcome;
                                }
                            }
                            Err(malformed) => return lie(malformed),
                        }
                    }
                    quiet_since = Instant::now();
                    if let Some(outcome) = self.look_at_clock(quiet_since) {
                        return outcome;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let now = Instant::now();
                    if self.spin.goes_on(now.duration_since(quiet_since)) {
                        std::hint::spin_loop();
                        continue;
                    }
                    if let Some(outcome) = self.look_at_clock(now) {
                        return outcome;
                    }
                    self.sleep(child, stdin.as_deref());
                }
                Err(_) => return Outcome::Died,
            }
        }
    }

    /// Does what is due, and says if the run is.
    fn look_at_clock(&mut self, now: Instant) -> Option<Outcome> {
        if self.run.stopped().is_some() {
            return Some(Outcome::Stopped);
        }
        if now >= self.deadline {
            return Some(Outcome::TimedOut);
        }
        // An isolate that does not read gets no second tick.
        if self.wake_at.is_some_and(|at| at <= now) && self.run.outbox.is_empty() {
            self.wake_at = None;
            self.run.outbox.send(&ToIsolate::Tick { epoch_ms: now_ms() });
        }
        if self.store_at.is_some_and(|at| at <= now) {
            self.store_at = None;
            self.record.store_events(self.run);
        }
        None
    }

    #[cfg(unix)]
    fn sleep(&mut self, child: &Child, stdin: Option<&Stdin>) {
        use rustix::event::{PollFd, PollFlags, poll};
        let now = Instant::now();
        let expiry = self.run.expire_calls(now, self.config.limits.call_ms_max);
        let has_output = !self.run.outbox.is_empty();
        let wake_at = self.wake_at.filter(|_| !has_output);
        let until = [wake_at, self.store_at, expiry].into_iter().flatten().fold(self.deadline, Instant::min);
        let mut fds =
            vec![PollFd::new(&child.stdout, PollFlags::IN), PollFd::new(self.sleeper.pipe(), PollFlags::IN)];
        if let Some(stdin) = stdin.filter(|_| has_output) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        // Interrupted or not: what is there is looked for next.
        let _ = poll(&mut fds, Some(&timespec(until.saturating_duration_since(now))));
        let was_woken = !fds[1].revents().is_empty();
        if was_woken {
            self.sleeper.wake_up();
        }
        if has_output {
            self.run.outbox.flush();
        }
    }

    /// Takes one frame.
    fn take(&mut self, frame: ToHost) -> Step {
        let phase = self.run.phase();
        match (phase, frame) {
            (Phase::Loading, ToHost::Loaded) => self.loaded(),
            (Phase::Loading, ToHost::NotLoaded { name, message, code, path }) => {
                Step::End(Outcome::NotLoaded(Refusal::NotLoaded { name, message, code, path }))
            }
            (Phase::Loading, ToHost::Call(call)) if call.kind != CallKind::Import => {
                lied("it calls before its code runs")
            }
            (Phase::Loading | Phase::Running, ToHost::Call(call)) => self.call(call),
            (Phase::Loading | Phase::Running, ToHost::Cancel { id }) => self.cancel(id),
            (Phase::Running, ToHost::Output { stream, bytes }) => {
                self.print(stream, &bytes);
                Step::GoOn
            }
            (Phase::Loading | Phase::Running, ToHost::Wake { after_ms }) => {
                self.wake_at = after_ms.map(|ms| {
                    let from = self.run.outbox.last_sent().unwrap_or_else(Instant::now);
                    // Beyond the longest run nothing has to be exact, or fit into a clock.
                    from + Duration::from_secs_f64(ms.min(self.config.limits.wall_ms_max) / 1000.0)
                });
                Step::GoOn
            }
            (
                Phase::Loading,
                ToHost::Done(Done { ending: Ending::Completed | Ending::Exited | Ending::TooLong, .. }),
            ) => lied("its code is done before it runs"),
            (Phase::Loading | Phase::Running, ToHost::Done(done)) => Step::End(Outcome::Done(done)),
            (_, ToHost::Ready { .. }) => lied("it is ready twice"),
            (_, ToHost::Loaded | ToHost::NotLoaded { .. }) => lied("it has loaded its code twice"),
            (_, ToHost::Output { .. }) => lied("it prints before its code runs"),
            _ => lied("it says something out of order"),
        }
    }

    fn loaded(&mut self) -> Step {
        // Of a run that its user named, the record is there before anybody can ask for it.
        if self.run.has_own_name
            && let Err(error) = self.record.begin()
        {
            return Step::End(Outcome::NotLoaded(Refusal::Failed(error)));
        }
        self.run.enter(Phase::Running);
        self.run.answer_exec(Ok(()));
        self.run.outbox.send(&ToIsolate::Go { epoch_ms: now_ms() });
        Step::GoOn
    }

    /// Takes printed bytes, as far as the limit goes.
    fn print(&mut self, stream: u8, bytes: &[u8]) {
        let Some(kept) = self.budget.take(bytes) else { return };
        self.printer.print(self.run, stream, &kept);
        if self.run.log.unstored_bytes_at_least(STORE_BYTES) {
            self.store_at = None;
            self.record.store_events(self.run);
        } else {
            self.store_at.get_or_insert_with(|| Instant::now() + STORE_AFTER);
        }
    }

    fn cancel(&mut self, id: u32) -> Step {
        self.cancels += 1;
        if id == 0 || id >= self.next_call || self.cancels >= self.next_call {
            return lied("it cancels a call that it did not make");
        }
        self.run.cancel_call(id);
        Step::GoOn
    }

    fn call(&mut self, call: Call) -> Step {
        if call.id != self.next_call {
            return lied("its calls are not numbered in order");
        }
        self.next_call += 1;
        let limits = &self.config.limits;
        let most = limits.concurrent_calls_max as usize * 2 + CALLS_SLACK;
        let served = self.open_files.load(Ordering::Acquire) + self.run.outbox.unread_answers();
        if served + self.run.open_calls() > most && served + self.run.awaited_calls() > most {
            return lied("it makes more calls at one time than it may");
        }
        let size = call.args.iter().map(Value::size_bytes).sum::<usize>();
        self.requested_bytes += size as u64;
        let refused = if u64::from(call.id) > limits.calls_max {
            Some(format!(
                "the run makes more than {} calls, which maxCapabilityCalls allows",
                limits.calls_max
            ))
        } else if size > limits.call_bytes_max.saturating_add(FRAME_SLACK_BYTES) {
            Some(format!("the call has {size} bytes; maxCapabilityBytes allows {}", limits.call_bytes_max))
        } else if self.requested_bytes > limits.request_bytes_max {
            Some(format!(
                "all calls of this run together have more than {} bytes, which maxCapabilityRequestBytes allows",
                limits.request_bytes_max
            ))
        } else if self.run.open_calls() > most {
            Some("too many calls that the run no longer waits for are not done yet".to_owned())
        } else {
            None
        };
        if let Some(sentence) = refused {
            self.run.reply(call.kind, call.id, Err(failure(call.kind, Code::Limit, &sentence)));
            return Step::GoOn;
        }
        match call.kind {
            CallKind::File => {
                let guard = OpenFile::enter(&self.open_files, self.run);
                self.files.call(&call.name, call.args, move |outcome| guard.answer(call.id, outcome));
                Step::GoOn
            }
            CallKind::Import => self.import(call),
            CallKind::Host => self.host_call(call),
            CallKind::Fetch => self.fetch(call),
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.config.limits.call_ms_max / 1000.0)
    }

    fn import(&mut self, call: Call) -> Step {
        let mut args = call.args.iter();
        let (Some(specifier), Some(referrer)) =
            (args.next().and_then(Value::as_text), args.next().and_then(Value::as_text))
        else {
            return lied("it imports nothing");
        };
        let attribute = args.next().and_then(Value::as_text);
        let import = match self.files.resolve_import(specifier, referrer, attribute) {
            Ok(import) => import,
            Err(error) => {
                let error = Value::List(vec![
                    Value::text("Error"),
                    Value::text(error.code),
                    Value::text(error.message),
                    Value::optional_text(error.path),
                ]);
                self.run.reply(call.kind, call.id, Err(error));
                return Step::GoOn;
            }
        };
        if import.format == Format::TypeScript {
            let json = json!({ "kind": "strip", "run": self.run.name, "call": call.id, "path": import.path });
            let asked = Asked::Strip { path: import.path, suffix: import.suffix };
            self.run.ask(call.id, asked, self.patience(), json.to_string(), Some(import.source.into_bytes()));
            return Step::GoOn;
        }
        let answer = vec![
            Value::Text(import.path),
            Value::text(import.format.name()),
            Value::Text(import.source),
            Value::Text(import.suffix),
        ];
        self.run.reply(call.kind, call.id, Ok(Value::List(answer)));
        Step::GoOn
    }

    fn host_call(&mut self, call: Call) -> Step {
        let mut args = call.args.into_iter();
        let (Some(Value::Text(function)), Some(Value::Bytes(bytes)), None) =
            (args.next(), args.next(), args.next())
        else {
            return lied("it calls a function of the host without a name or arguments");
        };
        let is_known = self.config.modules.iter().any(|module| {
            module.source.is_none() && module.specifier == call.name && module.exports.contains(&function)
        });
        if !is_known {
            return lied("it calls a function of the host that it was not given");
        }
        let json = json!({
            "kind": "host",
            "run": self.run.name,
            "call": call.id,
            "module": call.name,
            "function": function,
            "deadline": now_ms() + self.config.limits.call_ms_max,
        });
        self.run.ask(call.id, Asked::Host, self.patience(), json.to_string(), Some(bytes));
        Step::GoOn
    }

    fn fetch(&mut self, call: Call) -> Step {
        if !self.config.has_network {
            return lied("it uses a network that it was not given");
        }
        if !matches!(call.name.as_str(), "request" | "write" | "read" | "cancel") {
            return lied("it asks the network for something that there is not");
        }
        let mut body = None;
        let args: Vec<_> = call.args.into_iter().map(|value| to_json(value, &mut body)).collect();
        let json = json!({
            "kind": "fetch",
            "run": self.run.name,
            "call": call.id,
            "step": call.name,
            "args": args,
            "deadline": now_ms() + self.config.limits.call_ms_max,
        });
        self.run.ask(call.id, Asked::Fetch, self.patience(), json.to_string(), body);
        Step::GoOn
    }

    /// Elsewhere there is nothing to wait for.
    #[cfg(not(unix))]
    pub fn wait_for_calls(&mut self, _patience: Duration) {
        self.run.forget_calls();
    }

    /// Waits until what the run had begun outside of its isolate is over, but not for ever.
    #[cfg(unix)]
    pub fn wait_for_calls(&mut self, patience: Duration) {
        use rustix::event::{PollFd, PollFlags, poll};
        let give_up = Instant::now() + patience;
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let is_done = self.run.open_calls() == 0 && self.open_files.load(Ordering::Acquire) == 0;
            if is_done || left.is_zero() {
                return self.run.forget_calls();
            }
            let _ = poll(&mut [PollFd::new(self.sleeper.pipe(), PollFlags::IN)], Some(&timespec(left)));
            self.sleeper.wake_up();
        }
    }
}

/// A file call under way, until dropped.
struct OpenFile {
    count: Arc<AtomicUsize>,
    run: Arc<Run>,
}

impl OpenFile {
    fn enter(count: &Arc<AtomicUsize>, run: &Arc<Run>) -> OpenFile {
        count.fetch_add(1, Ordering::AcqRel);
        OpenFile { count: Arc::clone(count), run: Arc::clone(run) }
    }

    fn answer(self, call: u32, outcome: Result<Value, Value>) {
        self.run.reply(CallKind::File, call, outcome);
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
        if self.run.phase() == Phase::Ending {
            self.run.wake();
        }
    }
}

fn lied(what: &str) -> Step {
    Step::End(Outcome::Lied(what.to_owned()))
}

fn lie(malformed: Malformed) -> Outcome {
    Outcome::Lied(malformed.to_string())
}

#[cfg(unix)]
fn timespec(duration: Duration) -> rustix::event::Timespec {
    rustix::event::Timespec {
        tv_sec: duration.as_secs().cast_signed(),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// An argument of a step as JSON. Bytes go beside it; there is at most one of them.
fn to_json(value: Value, bytes: &mut Option<Vec<u8>>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => value.into(),
        Value::Number(number) => number.into(),
        Value::Text(text) => text.into(),
        Value::Bytes(value) => {
            *bytes = Some(value);
            serde_json::Value::Null
        }
        Value::List(items) => items.into_iter().map(|item| to_json(item, bytes)).collect(),
    }
}

/// An answer of JavaScript in JSON as a value.
pub fn from_json(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Array(items) => Value::List(items.into_iter().map(from_json).collect()),
        serde_json::Value::Object(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits once: whether it was spun, and answered within that time if it is so fast.
    fn wait(spin: &mut Spin, is_fast: bool) -> bool {
        let is_spun = spin.goes_on(Duration::ZERO);
        if !(is_spun && is_fast) {
            spin.goes_on(SPIN);
        }
        spin.was_answered();
        is_spun
    }

    #[test]
    fn spinning_is_seldom_tried_where_it_is_vain() {
        let mut spin = Spin { is_possible: true, ..Spin::new() };
        assert!((0..100).all(|_| wait(&mut spin, true)));
        let tried = (0..171).filter(|_| wait(&mut spin, false)).count();
        assert_eq!(tried, 2 + (171 - 2) / (SPINS_SKIPPED as usize + 1));
        // Once it pays again, it is done again.
        while !wait(&mut spin, true) {}
        assert!((0..100).all(|_| wait(&mut spin, true)));
    }

    #[test]
    fn without_another_processor_nothing_is_spun() {
        let mut spin = Spin { is_possible: false, ..Spin::new() };
        assert!(!(0..100).any(|_| wait(&mut spin, true)));
    }

    #[test]
    fn values_of_json_and_of_frames() {
        let mut bytes = None;
        let value =
            Value::List(vec![Value::Null, Value::Number(1.5), Value::Bytes(vec![7]), Value::text("x")]);
        let json = to_json(value, &mut bytes);
        assert_eq!((json.clone(), bytes), (json!([null, 1.5, null, "x"]), Some(vec![7])));
        let back = Value::List(vec![Value::Null, Value::Number(1.5), Value::Null, Value::text("x")]);
        assert_eq!(from_json(json), back);
        assert_eq!(from_json(json!({ "a": 1 })), Value::Null);
    }
}
