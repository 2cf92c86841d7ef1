//! The tools as a model sees them: a name and JSON in, JSON out.
//!
//! Always true:
//! - Arguments that are wrong, and all that can go wrong with files, are results with a sentence that
//!   says what to do next. Only a closed workspace is an error of the caller.
//! - A change is made on the version of the file that was looked at, or not at all.
//! - What a tool may reach is decided below it, by the rules of its [`Scope`].
//!
//! Not here: the shapes that agent libraries want, and the running of what `exec` runs (`lib/tools`).

mod arguments;
mod call;
mod candidates;
mod definitions;
pub mod edit;
mod exec;
mod options;
mod outcome;
pub mod text;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use arguments::{Arguments, Issue};
pub use definitions::Tool;
pub use exec::Execution;
pub use options::{Backend, EditOptions, ExecOptions, Options, ReadOptions};
pub use outcome::{Failure, Media, Success, Text};

use crate::clock::now_ms;
use crate::error::{Code, FsError};
use crate::path::{WorkspacePath, join};
use crate::rules::{Layer, Rule};
use crate::store::{AuditEntry, Kind, Scope, WriteTx, executor, lock};
use crate::vfs::{LastLink, Resolved, real_path, resolve};
use outcome::{Problem, Touched};

/// Where tools work that have no root of their own: relative paths start here.
const HOME: &str = "/workspace";

/// A set of tools over one workspace.
pub struct Toolset {
    scope: Scope,
    options: Options,
}

/// What came of a call.
#[derive(Debug)]
pub struct Outcome {
    /// For programs: what the tool gives, or `{ error, code, … }`.
    pub output: Value,
    /// Whether it is the latter.
    pub is_error: bool,
    /// For a model that is given text.
    pub text: Text,
    /// For a model that is given more.
    pub media: Option<Media>,
}

/// Takes the outcome of a call, or the one error that is not an outcome: the workspace is closed.
type Done = Box<dyn FnOnce(crate::error::Result<Outcome>) + Send>;

impl Toolset {
    /// Tools in a place, under rules of their own besides those of the place.
    pub fn new(scope: &Scope, options: Options, rules: Vec<Rule>) -> Toolset {
        Toolset { scope: scope.narrowed(Layer { root: options.root.clone(), rules }), options }
    }

    /// The tools that there are.
    pub fn tools(&self) -> impl Iterator<Item = Tool> {
        let is_readonly = self.options.is_readonly;
        let has_backend = !self.options.exec.backends.is_empty();
        Tool::ALL
            .into_iter()
            .filter(move |tool| !is_readonly || tool.is_read_only())
            .filter(move |tool| *tool != Tool::Exec || has_backend)
    }

    /// What a model is told of them, as JSON.
    pub fn definitions(&self) -> Value {
        definitions::definitions(self.tools(), &self.options)
    }

    /// Checks arguments: `{ value }`, or `{ issues: [{ message, path }] }`, as a Standard Schema has it.
    pub fn validate(&self, tool: Tool, came: Option<&str>) -> Value {
        match parse(came).and_then(|came| Arguments::check(tool, &came, &self.options)) {
            Ok(arguments) => json!({ "value": arguments.to_json() }),
            Err(issues) => {
                let issues: Vec<Value> = issues
                    .iter()
                    .map(|issue| json!({ "message": issue.message, "path": path_of_field(&issue.field) }))
                    .collect();
                json!({ "issues": issues })
            }
        }
    }

    /// Calls back with `{ path, version? }`: where a path argument really leads and, if that is a file, its
    /// version. For those who ask a person before they call. Of what is not there, it is the directory that
    /// is, and the rest as it was written.
    pub fn locate_later(
        self: &Arc<Self>,
        text: String,
        done: impl FnOnce(crate::error::Result<Value>) + Send + 'static,
    ) {
        if let Err(error) = self.scope.check_open() {
            return done(Err(error));
        }
        let (toolset, guard) = (Arc::clone(self), self.scope.store().enter());
        executor::spawn_blocking(move || {
            let located = crate::store::guarded(|| toolset.locate_now(&text));
            done(located.map(|(path, version)| match version {
                Some(version) => json!({ "path": path, "version": version }),
                None => json!({ "path": path }),
            }));
            drop(guard);
        });
    }

    fn locate_now(&self, text: &str) -> crate::error::Result<(String, Option<String>)> {
        let path = self.locate(text).map_err(|failure| FsError::invalid(failure.error))?;
        self.scope.read_now(|tx| {
            let mut above = path.clone();
            let mut rest: Vec<String> = Vec::new();
            loop {
                match resolve(tx, &above, LastLink::Follow) {
                    Ok(Resolved::Found { place, name, id, kind }) => {
                        let mut real = real_path(&place, &name);
                        for name in rest.iter().rev() {
                            real = join(&real, name);
                        }
                        let is_file = rest.is_empty() && kind == Kind::File;
                        let version =
                            is_file.then(|| tx.content_version(tx.inode(id)?.content)).transpose()?;
                        return Ok((real, version));
                    }
                    Err(error) if !matches!(error.code(), Code::NoEnt | Code::NotDir) => return Err(error),
                    _ if above.is_root() => return Ok((path.to_string(), None)),
                    // Of a link that leads nowhere, the place that it names.
                    Ok(Resolved::Absent { place, name, .. }) if rest.is_empty() => {
                        return Ok((place.path_of(&name), None));
                    }
                    _ => {
                        rest.push(above.name().to_owned());
                        let end = above.as_str().rfind('/').unwrap_or(0).max(1);
                        above = WorkspacePath::parse(&above.as_str()[..end])?;
                    }
                }
            }
        })
    }

    /// Calls a tool with arguments as JSON; none if they cannot be JSON. `now` is what a change is stamped
    /// with.
    pub fn call(self: &Arc<Self>, name: &str, came: Option<&str>, now: f64, done: Done) {
        if let Err(error) = self.scope.check_open() {
            return done(Err(error));
        }
        let tool = match self.tools().find(|tool| tool.name() == name) {
            Some(tool) => tool,
            None => return done(Ok(Outcome::of(Err(self.unknown(name))))),
        };
        let parsed = parse(came);
        let checked = match &parsed {
            Ok(came) => Arguments::check(tool, came, &self.options),
            Err(issues) => Err(issues.clone()),
        };
        let (arguments, refused, issues) = match checked {
            Ok(arguments) => (arguments, None, Vec::new()),
            Err(issues) => {
                let refused = parsed.unwrap_or_else(|_| Value::from(came));
                (Arguments::default(), Some(refused), issues)
            }
        };
        let call = Arc::new(Call {
            toolset: Arc::clone(self),
            tool,
            arguments,
            refused,
            begun_at: now_ms(),
            begun: Instant::now(),
            now,
            done: Mutex::new(Some(done)),
        });
        if issues.is_empty() {
            return call::start(&call);
        }
        let sentences: Vec<&str> = issues.iter().map(|issue| issue.message.as_str()).collect();
        call.finish(Err(Failure::new("EINVAL", sentences.join("; "))));
    }

    fn unknown(&self, name: &str) -> Failure {
        let names: Vec<&str> = self.tools().map(Tool::name).collect();
        Failure::new("EINVAL", format!("there is no tool \"{name}\"; the tools are {}", names.join(", ")))
    }

    /// Where tools work if they are not told where.
    fn home(&self) -> WorkspacePath {
        let home = || WorkspacePath::parse(HOME).unwrap_or_else(|_| WorkspacePath::root());
        self.options.root.clone().unwrap_or_else(home)
    }

    /// The path that an argument names. A relative one starts where tools work.
    fn locate(&self, text: &str) -> outcome::Result<WorkspacePath> {
        let home = self.home();
        let whole = match text {
            "" | "." => return Ok(home),
            absolute if absolute.starts_with('/') => absolute.to_owned(),
            relative => home.join(relative),
        };
        WorkspacePath::parse(&whole).map_err(|error| {
            let shown = call::short(text);
            Failure::new(
                error.code().name(),
                format!("the path {shown:?} cannot be used: {}", error.sentence()),
            )
        })
    }

    /// Who has read a file.
    fn reader(&self) -> &str {
        self.options.tag.as_deref().unwrap_or_default()
    }
}

/// Arguments as JSON says them.
fn parse(json: Option<&str>) -> Result<Value, Vec<Issue>> {
    let refused = |message: String| vec![Issue { field: String::new(), message }];
    let Some(json) = json else {
        return Err(refused(
            "the arguments have to be JSON; they hold something that JSON cannot say".to_owned(),
        ));
    };
    serde_json::from_str(json).map_err(|error| {
        let error = error.to_string();
        refused(if error.contains("surrogate") || error.contains("hex escape") {
            "a text in the arguments holds half a character (a lone surrogate); write it whole, or leave it out"
                .to_owned()
        } else if error.contains("recursion limit") {
            "the arguments are nested too deep".to_owned()
        } else {
            format!("the arguments have to be JSON: {error}")
        })
    })
}

/// `edits[1].oldText` as the list that a Standard Schema has for it.
fn path_of_field(field: &str) -> Vec<Value> {
    field
        .split(['.', '[', ']'])
        .filter(|part| !part.is_empty())
        .map(|part| part.parse::<u64>().map_or_else(|_| Value::from(part), Value::from))
        .collect()
}

/// SHA-256 in hex of JSON with sorted keys.
fn hash_of(mut value: Value) -> String {
    value.sort_all_objects();
    Sha256::digest(value.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Outcome {
    fn of(result: outcome::Result) -> Outcome {
        match result {
            Ok(Success { output, text, media, .. }) => Outcome { output, is_error: false, text, media },
            Err(failure) => {
                let text = Text::Sentences(failure.text());
                Outcome { output: failure.output(), is_error: true, text, media: None }
            }
        }
    }
}

/// A call under way.
struct Call {
    toolset: Arc<Toolset>,
    tool: Tool,
    arguments: Arguments,
    /// What came instead of arguments that are right.
    refused: Option<Value>,
    begun_at: f64,
    begun: Instant,
    now: f64,
    /// Taken by the first answer, which is the only one.
    done: Mutex<Option<Done>>,
}

impl Call {
    fn scope(&self) -> &Scope {
        &self.toolset.scope
    }

    fn options(&self) -> &Options {
        &self.toolset.options
    }

    fn is_audited(&self) -> bool {
        let store = self.scope().store();
        store.config().is_audited && store.check_writable().is_ok()
    }

    /// What the audit keeps of the call, as far as it is known now.
    fn entry(&self, touched: &Touched, code: Option<&str>) -> AuditEntry {
        AuditEntry {
            at: self.begun_at,
            tool: self.tool.name().to_owned(),
            tag: self.options().tag.clone(),
            arguments: hash_of(self.refused.clone().unwrap_or_else(|| self.arguments.to_json())),
            paths: touched.paths.clone(),
            bytes_before: touched.bytes_before,
            bytes_after: touched.bytes_after,
            code: code.map(str::to_owned),
            duration: self.begun.elapsed().as_secs_f64() * 1_000.0,
        }
    }

    fn settle(&self, result: crate::error::Result<Outcome>) {
        if let Some(done) = lock(&self.done).take() {
            done(result);
        }
    }

    /// Ends a call that changed nothing: records it, then tells the caller.
    fn finish(self: &Arc<Self>, result: outcome::Result) {
        if result.as_ref().is_err_and(|failure| failure.code == Code::Closed.name()) {
            return self.settle(Err(FsError::new(Code::Closed)));
        }
        if !self.is_audited() {
            return self.settle(Ok(Outcome::of(result)));
        }
        let entry = match &result {
            Ok(success) => self.entry(&success.touched, None),
            Err(failure) => self.entry(&self.named(), Some(&failure.code)),
        };
        let (call, outcome) = (Arc::clone(self), Outcome::of(result));
        // The record is no part of what the call promises: it is not waited for by the disk.
        let record = move |tx: &WriteTx<'_>| tx.record_call(&entry);
        self.scope().write_later(self.now, false, 0, record, move |_| call.settle(Ok(outcome)));
    }

    /// The path that the arguments name, where nothing better is known.
    fn named(&self) -> Touched {
        let path = self.arguments.optional_text("path").and_then(|text| self.toolset.locate(text).ok());
        Touched { paths: path.into_iter().map(|path| path.to_string()).collect(), ..Touched::default() }
    }

    /// Runs `work`, which only reads, on a thread that may wait.
    fn read(self: &Arc<Self>, work: impl FnOnce(&Call) -> outcome::Result + Send + 'static) {
        let is_search = matches!(self.tool, Tool::Find | Tool::Grep);
        let (call, guard) = (Arc::clone(self), self.scope().store().enter());
        let run = move || {
            call.finish(guarded(|| work(&call)));
            drop(guard);
        };
        if is_search { executor::spawn_search(run) } else { executor::spawn_blocking(run) }
    }

    /// Makes a change of about `bytes` at a path, which the model wrote as `shown`, and ends the call.
    fn change(
        self: &Arc<Self>,
        bytes: usize,
        shown: String,
        path: WorkspacePath,
        work: impl FnOnce(&Call, &WriteTx<'_>) -> outcome::Result<Success, Problem> + Send + 'static,
    ) {
        let call = Arc::clone(self);
        self.try_change(bytes, work, move |changed| match changed {
            Ok(success) => call.answer(success),
            Err(Problem::Refused(failure)) => call.finish(Err(failure)),
            Err(Problem::Fs(error)) => call.explain_later(error, shown, path),
        });
    }

    /// Makes a change, with the call's record as a part of it, and goes on with `then`.
    fn try_change(
        self: &Arc<Self>,
        bytes: usize,
        work: impl FnOnce(&Call, &WriteTx<'_>) -> outcome::Result<Success, Problem> + Send + 'static,
        then: impl FnOnce(outcome::Result<Success, Problem>) + Send + 'static,
    ) {
        let store = self.scope().store();
        if let Err(error) = store.check_open().and_then(|()| store.check_writable()) {
            return then(Err(error.into()));
        }
        let seen = Arc::new(Mutex::new(None));
        let (call, noted) = (Arc::clone(self), Arc::clone(&seen));
        let work = move |tx: &WriteTx<'_>| match work(&call, tx) {
            Ok(success) => {
                if call.is_audited() {
                    tx.record_call(&call.entry(&success.touched, None))?;
                }
                Ok(success)
            }
            Err(problem) => {
                *lock(&noted) = Some(problem);
                // Undoes what the change has done so far.
                Err(FsError::new(Code::Inval))
            }
        };
        self.scope().write_later(self.now, true, bytes, work, move |changed| {
            then(changed.map_err(|error| lock(&seen).take().unwrap_or(Problem::Fs(error))));
        });
    }

    /// Ends a call whose change, with its record, is committed.
    fn answer(&self, success: Success) {
        self.settle(Ok(Outcome::of(Ok(success))));
    }

    /// Ends a call that the file system refused. To explain it may take another look at the files, which
    /// the thread that writes must not wait for.
    fn explain_later(self: &Arc<Self>, error: FsError, shown: String, path: WorkspacePath) {
        let (call, guard) = (Arc::clone(self), self.scope().store().enter());
        executor::spawn_blocking(move || {
            let explained = guarded(|| Ok(call.explain(&error, &shown, &path)));
            call.finish(Err(explained.unwrap_or_else(|failure| failure)));
            drop(guard);
        });
    }
}

/// Turns a panic into a failure.
fn guarded<T>(work: impl FnOnce() -> outcome::Result<T>) -> outcome::Result<T> {
    crate::store::guarded(|| Ok(work()))?
}
