//! What the thread of a run does from its first moment to its last.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use carrel_wire::{HostModule, SourceModule, Start};
use serde_json::{Map, Value, json};

use super::child::Child;
use super::config::{FileAccess, Request};
use super::driver::{Driver, Outcome};
use super::ending::Verdict;
use super::files::Files;
use super::output::{self, STREAMS, Tail};
use super::record::Record;
use super::run::{Ended, Phase, Refusal, Run};
use super::waker::Sleeper;
use super::{Shared, exit_json, random, taken};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};
use crate::rules::Access;
use crate::store::{RunEnding, RunStatus, Scope, guarded, lock};
use crate::vfs;

/// The name of the entry module in its working directory; it need not be there.
const ENTRY: &str = "__workspace_entry__.js";
/// How long the end of a run waits for what it had begun outside of its isolate.
const CALLS_PATIENCE: Duration = Duration::from_secs(5);
/// How long a process that closed its pipe may take to end.
const DEATH_PATIENCE: Duration = Duration::from_millis(500);
/// How often a run that waits for a process looks whether it was stopped.
const STOP_LOOK: Duration = Duration::from_millis(25);

/// Starts the thread. Without a place the run was stopped before it got one.
pub fn start(shared: &Arc<Shared>, run: &Arc<Run>, has_place: bool) {
    let life = Life { shared: Arc::clone(shared), run: Arc::clone(run), has_place, refusal: None };
    // Without a thread, the closure is dropped, and with it the run ends.
    let _ = std::thread::Builder::new().name("carrel-run".to_owned()).spawn(move || life.live());
}

/// A run on its thread. However that ends, nobody is left waiting.
struct Life {
    shared: Arc<Shared>,
    run: Arc<Run>,
    has_place: bool,
    /// Why there is no run.
    refusal: Option<Refusal>,
}

impl Life {
    fn live(mut self) {
        let lived = guarded(|| Ok(live(&self.shared, &self.run)));
        self.refusal = lived.unwrap_or_else(|panic| Err(panic.into())).err();
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let run = &self.run;
        if !run.log.is_ended() {
            run.log.end(json!({ "status": "failed", "code": 1, "reason": "not-started" }).to_string());
        }
        run.enter(Phase::Over);
        run.set_pid(None);
        run.outbox.close();
        run.tell("end", None);
        self.shared.leave(run, self.has_place);
        // Whoever hears of this finds no run of that name any more.
        run.answer_exec(Err(self.refusal.take().unwrap_or_else(|| {
            let sentence = "the process has no thread left for a run; try again later";
            FsError::with_detail(Code::Io, sentence).into()
        })));
    }
}

fn live(shared: &Arc<Shared>, run: &Arc<Run>) -> Result<(), Refusal> {
    let Some(request) = run.take_request() else { return Ok(()) };
    let sleeper = run.sleeper()?;
    run.enter(Phase::Starting);
    let scope = Scope::workspace(shared.store.clone());
    prepare(shared, run, &request, &scope)?;
    let record = Record::new(scope, &shared.config.id, run, request.label.clone(), shared.owner()?);
    let record = Arc::new(record);
    let mut printer = Printer::new(&request);
    let Some(mut child) = take_child(shared, run)? else {
        let verdict = Verdict::of(Outcome::Stopped, None, run.stopped(), 0.0, false, &shared.config);
        finish(shared, run, &request, &record, &mut printer, (verdict, 0));
        return Ok(());
    };
    run.set_pid(Some(child.pid()));
    let seed = random::<32>()?;
    let mut ending = serve(shared, run, request.clone(), &record, &sleeper, &mut child, seed, &mut printer)?;
    // A process that died while it waited for a run has done nothing: another one takes its place, once.
    if ending.0.reason == Some("not-started")
        && run.stopped().is_none()
        && let Some(other) = take_child(shared, run)?
    {
        child.end();
        child = other;
        run.set_pid(Some(child.pid()));
        ending = serve(shared, run, request.clone(), &record, &sleeper, &mut child, seed, &mut printer)?;
    }
    finish(shared, run, &request, &record, &mut printer, ending);
    // Nobody waits for the process to go but the place that the run had.
    child.end();
    Ok(())
}

/// Checks what can be checked without a process.
fn prepare(shared: &Shared, run: &Run, request: &Request, scope: &Scope) -> Result<()> {
    let config = &shared.config;
    if run.has_own_name
        && let Some(row) = scope.read_now(|tx| tx.run_named(&config.id, &run.name))?
    {
        return Err(taken(&run.name, row.ending.is_some()));
    }
    let narrowed = scope.narrowed(config.layer());
    let has_root = scope.read_now(|tx| vfs::exists(tx, &config.root))?;
    if !has_root && config.access == FileAccess::ReadWrite {
        let root = config.root.clone();
        output::wait(|done| {
            let work = move |tx: &crate::store::WriteTx<'_>| vfs::mkdir(tx, &root, true, None).map(|_| ());
            scope.write_later(now_ms(), true, 0, work, done);
        })?;
    }
    // Fails where it leads out of the root; that it is there is not asked for.
    narrowed.read_now(|tx| vfs::exists(tx, &request.cwd)).map(|_| ())
}

/// A process that is ready; none if the run is stopped before there is one.
fn take_child(shared: &Shared, run: &Run) -> Result<Option<Child>> {
    let pool = shared.pool()?;
    if run.stopped().is_some() {
        return Ok(None);
    }
    let (send, receive) = channel();
    let back = Arc::clone(&pool);
    pool.take(move |child| {
        if let Err(unused) = send.send(child)
            && let Ok(child) = unused.0
        {
            back.give_back(child);
        }
    });
    loop {
        match receive.recv_timeout(STOP_LOOK) {
            Ok(child) => return child.map(Some),
            Err(RecvTimeoutError::Timeout) if run.stopped().is_some() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(FsError::with_detail(Code::NoExec, "internal error: no isolate process came"));
            }
        }
    }
}

/// What ends up in the streams: all of it in the log, the ends for the result.
pub struct Printer {
    tails: [Tail; 2],
}

impl Printer {
    fn new(request: &Request) -> Printer {
        let limits = request.output.as_ref().map(|options| options.limits);
        Printer { tails: [Tail::new(limits), Tail::new(limits)] }
    }

    /// Takes bytes for a stream.
    pub fn print(&mut self, run: &Run, stream: u8, bytes: &[u8]) {
        self.tails[usize::from(stream != 1)].push(bytes);
        run.log.push(stream, bytes);
    }
}

/// Runs the code in a process: how it ended, and how much output was dropped.
#[expect(clippy::too_many_arguments, reason = "all of a run comes together here, once")]
fn serve(
    shared: &Shared,
    run: &Arc<Run>,
    mut request: Request,
    record: &Arc<Record>,
    sleeper: &Sleeper,
    child: &mut Child,
    seed: [u8; 32],
    printer: &mut Printer,
) -> Result<(Verdict, u64), Refusal> {
    let config = &shared.config;
    let limits = &config.limits;
    child.limit_cpu(limits.cpu_ms_max);
    let access = match config.access {
        FileAccess::Read => Access::Read,
        FileAccess::ReadWrite => Access::ReadWrite,
    };
    let scope = record.scope();
    let scope = if config.rules.is_empty() { scope.clone() } else { scope.narrowed(config.layer()) };
    let files = Files::new(
        scope,
        config.root.clone(),
        request.cwd.clone(),
        access,
        limits.call_bytes_max,
        Arc::new(now_ms),
    )
    .with_entries_max(limits.entries_max);
    let start = start_frame(shared, &mut request, seed);
    let mut driver = Driver::new(run, config, &request, files, record, sleeper, printer);
    let outcome = driver.serve(child, start);
    let was_running = run.phase() == Phase::Running;
    run.enter(Phase::Ending);
    run.outbox.close();
    let exit = match &outcome {
        Outcome::Died => child.end_within(DEATH_PATIENCE),
        Outcome::Done(_) | Outcome::NotLoaded(_) => None,
        Outcome::Stopped | Outcome::TimedOut | Outcome::Lied(_) => {
            child.kill();
            None
        }
    };
    run.set_pid(None);
    run.cancel_calls();
    driver.wait_for_calls(CALLS_PATIENCE);
    let dropped = driver.budget.dropped();
    if let Outcome::NotLoaded(refusal) = outcome {
        return Err(refusal);
    }
    let verdict = Verdict::of(outcome, exit, run.stopped(), request.wall_ms_max, was_running, config);
    Ok((verdict, dropped))
}

fn start_frame(shared: &Shared, request: &mut Request, seed: [u8; 32]) -> Start {
    let config = &shared.config;
    let limits = &config.limits;
    let modules = config.modules.iter();
    Start {
        seed,
        epoch_ms: now_ms(),
        is_clock_frozen: false,
        entry_path: request.cwd.join(ENTRY),
        entry_source: std::mem::take(&mut request.source),
        cwd: request.cwd.to_string(),
        input: std::mem::take(&mut request.input),
        env: std::mem::take(&mut request.env),
        stdin: std::mem::take(&mut request.stdin),
        host_modules: modules
            .clone()
            .filter(|module| module.source.is_none())
            .map(|module| HostModule { specifier: module.specifier.clone(), exports: module.exports.clone() })
            .collect(),
        source_modules: modules
            .filter_map(|module| {
                let source = module.source.clone()?;
                Some(SourceModule { specifier: module.specifier.clone(), source })
            })
            .collect(),
        cpu_ms_max: limits.cpu_ms_max.min(f64::from(u32::MAX)).ceil() as u32,
        memory_bytes_max: limits.memory_bytes_max as u64,
        result_bytes_max: limits.result_bytes_max as u64,
        call_bytes_max: limits.call_bytes_max as u64,
        concurrent_calls_max: limits.concurrent_calls_max,
        has_network: config.has_network,
    }
}

/// Records the end and tells of it.
fn finish(
    shared: &Shared,
    run: &Arc<Run>,
    request: &Request,
    record: &Arc<Record>,
    printer: &mut Printer,
    (verdict, dropped): (Verdict, u64),
) {
    run.enter(Phase::Ending);
    if let Some(text) = &verdict.stderr {
        printer.print(run, 2, text.as_bytes());
    }
    let mut ending = Map::new();
    ending.insert("code".to_owned(), verdict.exit_code.into());
    if let Some(reason) = verdict.reason {
        ending.insert("reason".to_owned(), reason.into());
    }
    if dropped > 0 {
        ending.insert("droppedBytes".to_owned(), dropped.into());
    }
    let truncated = save_long(shared, run, request, record, printer);
    if !truncated.is_empty() {
        ending.insert("truncated".to_owned(), truncated.into());
    }
    let stored = RunEnding {
        status: verdict.status,
        finished: now_ms(),
        ending: Value::Object(ending).to_string(),
        value: verdict.value,
    };
    let mut ended = Ended {
        ending: stored.ending.clone(),
        status: stored.status,
        value: stored.value.clone(),
        row: None,
    };
    match guarded(|| record.finish(&run.log, stored, shared.retention())) {
        Ok(row) => ended.row = Some(row),
        Err(error) => {
            let sentence = format!("Run has failed: its end could not be stored ({error}).\n");
            printer.print(run, 2, sentence.as_bytes());
            ended.status = RunStatus::Failed;
            ended.value = None;
            let reason = if error.code() == Code::Stale { "interrupted" } else { "crashed" };
            ended.ending = json!({ "code": 1, "reason": reason }).to_string();
        }
    }
    let json = exit_json(&ended);
    *lock(&run.ended) = Some(ended);
    // A run that was over before its code was loaded is a run all the same.
    run.answer_exec(Ok(()));
    run.log.end(json);
}

/// Writes streams that are longer than results show to files. What the exit event says of them.
fn save_long(
    shared: &Shared,
    run: &Run,
    request: &Request,
    record: &Record,
    printer: &Printer,
) -> Map<String, Value> {
    let mut truncated = Map::new();
    let Some(options) = &request.output else { return truncated };
    for (index, tail) in printer.tails.iter().enumerate() {
        if !tail.is_cut() {
            continue;
        }
        let (_, Some(cut)) = tail.clone().finish() else { continue };
        let path = output::path_of(options, &shared.config.id, &run.name, STREAMS[index]);
        let saved = guarded(|| {
            let row = record.store_all(&run.log)?;
            output::save(record.scope(), options, row, index as u8 + 1, &path, now_ms())
        });
        let saved = saved.map(|()| path).map_err(|error| error.to_string());
        truncated.insert(STREAMS[index].to_owned(), output::describe(cut, &saved));
    }
    truncated
}
