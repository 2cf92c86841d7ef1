//! Sets of tools, and the record of their calls.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::answer::{About, Answer, Bytes, attempt_unnamed, later};
use super::args::{self, Options};
use super::workspace::NativeWorkspace;
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{AuditFilter, Scope};
use crate::tools::text::Truncation;
use crate::tools::{self, Backend, Execution, Tool, Toolset};

/// Most records of one query, and how many if it does not say.
const AUDIT_LIMIT_MAX: u64 = 10_000;
/// See [`AUDIT_LIMIT_MAX`].
const AUDIT_LIMIT: u64 = 1_000;

/// A set of tools.
#[napi]
pub struct NativeTools {
    toolset: Arc<Toolset>,
}

/// What came of a call.
#[napi(object, object_from_js = false)]
#[allow(missing_docs)]
pub struct NativeOutcome {
    pub json: String,
    #[napi(ts_type = "Uint8Array")]
    pub media: Option<Bytes>,
}

/// A count of at least one.
fn most(name: &str, value: &Unknown<'_>) -> Result<u64> {
    match args::count(name, value)? {
        0 => Err(FsError::invalid(format!("{name} must be at least 1; received 0"))),
        count => Ok(count),
    }
}

fn size(name: &str, value: &Unknown<'_>) -> Result<usize> {
    most(name, value).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

fn truncation(name: &str, value: &Unknown<'_>) -> Result<Truncation> {
    let options = Options::read(name, value, &["bytes", "chars"])?;
    match (options.get("bytes", size)?, options.get("chars", size)?) {
        (Some(bytes), None) => Ok(Truncation::Bytes(bytes)),
        (None, Some(chars)) => Ok(Truncation::Chars(chars)),
        _ => Err(FsError::invalid(format!("{name} must have either bytes or chars"))),
    }
}

/// The backends of a workspace that a set of tools offers: those that `exec` names, else all. Rules would
/// not hold for code, so that with them it has to be said that there is to be code.
fn exec_backends(given: &Options<'_>, has_rules: bool, present: &str) -> Result<Vec<Backend>> {
    let present: Vec<Backend> = serde_json::from_str::<Vec<serde_json::Value>>(present)
        .unwrap_or_default()
        .into_iter()
        .map(|backend| Backend {
            id: backend["id"].as_str().unwrap_or_default().to_owned(),
            is_callable: backend["callable"].as_bool().unwrap_or(false),
            guidance: None,
        })
        .collect();
    let ids: Vec<&str> = present.iter().map(|backend| backend.id.as_str()).collect();
    let named = given.get("exec", |name, value| {
        let options = Options::read(name, value, &ids).map_err(|error| match error.code() {
            Code::Inval if ids.is_empty() => {
                FsError::invalid("exec must be empty: this workspace has no backend to run code with")
            }
            Code::Inval => FsError::invalid(format!("exec names backends: {}", error.sentence())),
            _ => error,
        })?;
        let mut named = Vec::new();
        for backend in &present {
            let guidance = options.get(&backend.id, |id, value| {
                let options = Options::read(&format!("exec.{id}"), value, &["description"])?;
                options.get("description", args::string)
            })?;
            if let Some(guidance) = guidance {
                named.push(Backend { guidance, ..backend.clone() });
            }
        }
        Ok(named)
    })?;
    Ok(named.unwrap_or_else(|| if has_rules { Vec::new() } else { present.clone() }))
}

fn toolset(scope: &Scope, value: &Unknown<'_>, backends: &str) -> Result<Toolset> {
    let known = [
        "readonly",
        "root",
        "rules",
        "requireReadBeforeOverwrite",
        "read",
        "write",
        "edit",
        "exec",
        "execOutput",
        "auditTag",
    ];
    let given = Options::read("options", value, &known)?;
    let mut options = tools::Options {
        is_readonly: given.flag("readonly")?,
        root: given.get("root", args::path)?,
        needs_read: given.flag("requireReadBeforeOverwrite")?,
        tag: given.get("auditTag", args::string)?,
        ..tools::Options::default()
    };
    given.get("execOutput", |name, value| {
        let given = Options::read(name, value, &["maxLines", "maxBytes"])?;
        let output = &mut options.exec.output;
        output.lines_max = given.get("maxLines", most)?.unwrap_or(output.lines_max);
        output.bytes_max = given.get("maxBytes", size)?.unwrap_or(output.bytes_max);
        Ok(())
    })?;
    given.get("read", |name, value| {
        let known = ["maxLines", "maxBytes", "includeLineNumbers", "lineTruncation", "maxModelBytes"];
        let given = Options::read(name, value, &known)?;
        let read = &mut options.read;
        read.max_lines = given.get("maxLines", most)?.unwrap_or(read.max_lines);
        read.max_bytes = given.get("maxBytes", size)?.unwrap_or(read.max_bytes);
        read.include_line_numbers =
            given.get("includeLineNumbers", args::boolean)?.unwrap_or(read.include_line_numbers);
        read.line_truncation = given.get("lineTruncation", truncation)?;
        read.max_model_bytes = given.get("maxModelBytes", most)?.unwrap_or(read.max_model_bytes);
        Ok(())
    })?;
    given.get("write", |name, value| {
        let given = Options::read(name, value, &["maxBytes"])?;
        options.write_max_bytes = given.get("maxBytes", most)?.unwrap_or(options.write_max_bytes);
        Ok(())
    })?;
    given.get("edit", |name, value| {
        let given = Options::read(name, value, &["maxBytes", "maxDiffLines", "maxDiffBytes"])?;
        let edit = &mut options.edit;
        edit.max_bytes = given.get("maxBytes", most)?.unwrap_or(edit.max_bytes);
        edit.max_diff_lines = given.get("maxDiffLines", size)?.unwrap_or(edit.max_diff_lines);
        edit.max_diff_bytes = given.get("maxDiffBytes", size)?.unwrap_or(edit.max_diff_bytes);
        Ok(())
    })?;
    let rules = given
        .get("rules", |name, value| args::rules(name, value, options.root.as_ref()))?
        .unwrap_or_default();
    options.exec.backends = exec_backends(&given, !rules.is_empty(), backends)?;
    Ok(Toolset::new(scope, options, rules))
}

#[napi]
impl NativeTools {
    /// What a model is told of the tools: a JSON array.
    #[napi(catch_unwind)]
    pub fn definitions(&self) -> String {
        self.toolset.definitions().to_string()
    }

    /// Whether a tool changes nothing.
    #[napi(catch_unwind)]
    pub fn is_read_only(&self, name: String) -> bool {
        Tool::from_name(&name).is_some_and(Tool::is_read_only)
    }

    /// Checks arguments as JSON, or none if they cannot be: JSON of `{ value }` or `{ issues }`.
    #[napi(catch_unwind)]
    pub fn validate(&self, name: String, json: Option<String>) -> napi::Result<String> {
        attempt_unnamed(|| {
            let tool = Tool::from_name(&name)
                .ok_or_else(|| FsError::invalid(format!("there is no tool \"{name}\"")))?;
            Ok(self.toolset.validate(tool, json.as_deref()).to_string())
        })
    }

    /// Where a path really leads, and the version of a file: JSON of `{ path, version? }`.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn locate<'env>(&self, env: &'env Env, path: String) -> napi::Result<Answer<'env, String>> {
        later(env, |settle| {
            self.toolset
                .locate_later(path, move |located| settle(located.map(|located| located.to_string())));
        })
    }

    /// Calls a tool with arguments as JSON, or none if they cannot be.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeOutcome>")]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        name: String,
        json: Option<String>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, NativeOutcome>> {
        let now = attempt_unnamed(|| args::now(now))?;
        later(env, |settle| {
            let done = move |result: Result<tools::Outcome>| settle(result.map(outcome));
            self.toolset.call(&name, json.as_deref(), now, Box::new(done));
        })
    }
}

/// A call of `exec`, told what its run does.
#[napi]
pub struct NativeExecution {
    /// None when the call is over.
    execution: Option<Execution>,
}

#[napi]
impl NativeTools {
    /// What a model is told of `exec`, with what the backends say of themselves: a JSON object by their ids.
    #[napi(catch_unwind)]
    pub fn describe_exec(&self, texts_json: String) -> String {
        let texts = serde_json::from_str(&texts_json).unwrap_or_default();
        self.toolset.describe_exec(&texts)
    }

    /// Begins a call of `exec`; null if its arguments are wrong, or there is no such tool, which `call` tells.
    #[napi(catch_unwind)]
    pub fn begin_exec(
        &self,
        json: Option<String>,
        now: Option<f64>,
    ) -> napi::Result<Option<NativeExecution>> {
        attempt_unnamed(|| {
            let execution = self.toolset.begin(json.as_deref(), args::now(now)?);
            Ok(execution.map(|execution| NativeExecution { execution: Some(execution) }))
        })
    }
}

#[napi]
impl NativeExecution {
    /// What is to be run: JSON of `{ source, options }`.
    #[napi(catch_unwind)]
    pub fn request(&self) -> napi::Result<String> {
        attempt_unnamed(|| Ok(self.get()?.request().to_string()))
    }

    /// The run has begun.
    #[napi(catch_unwind)]
    pub fn begun(&mut self, run: String) -> napi::Result<()> {
        attempt_unnamed(|| {
            self.get_mut()?.begun(run);
            Ok(())
        })
    }

    /// The run has printed to stdout (0) or stderr (1).
    #[napi(catch_unwind)]
    pub fn print(&mut self, stream: u32, bytes: &[u8]) -> napi::Result<()> {
        attempt_unnamed(|| {
            self.get_mut()?.print(stream as usize, bytes);
            Ok(())
        })
    }

    /// What there is to see now, as JSON.
    #[napi(catch_unwind)]
    pub fn snapshot(&self) -> napi::Result<String> {
        attempt_unnamed(|| Ok(self.get()?.snapshot().to_string()))
    }

    /// Ends the call with JSON of `{ code, reason?, truncated? }`, and what the run gave as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeOutcome>")]
    pub fn finish<'env>(
        &mut self,
        env: &'env Env,
        exit_json: String,
        result_json: Option<String>,
    ) -> napi::Result<Answer<'env, NativeOutcome>> {
        let execution = attempt_unnamed(|| self.take())?;
        later(env, |settle| {
            let exit = serde_json::from_str(&exit_json).unwrap_or_default();
            execution.finish(
                &exit,
                result_json.as_deref(),
                Box::new(move |result| settle(result.map(outcome))),
            );
        })
    }

    /// Ends the call of a run that did not begin, because of an error.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeOutcome>")]
    pub fn fail<'env>(
        &mut self,
        env: &'env Env,
        name: String,
        code: Option<String>,
        message: String,
    ) -> napi::Result<Answer<'env, NativeOutcome>> {
        let execution = attempt_unnamed(|| self.take())?;
        later(env, |settle| {
            let done = Box::new(move |result: Result<tools::Outcome>| settle(result.map(outcome)));
            execution.fail(&name, code.as_deref(), &message, done);
        })
    }

    fn get(&self) -> Result<&Execution> {
        self.execution.as_ref().ok_or_else(over)
    }

    fn get_mut(&mut self) -> Result<&mut Execution> {
        self.execution.as_mut().ok_or_else(over)
    }

    fn take(&mut self) -> Result<Execution> {
        self.execution.take().ok_or_else(over)
    }
}

fn over() -> FsError {
    FsError::invalid("this call is over")
}

fn outcome(outcome: tools::Outcome) -> NativeOutcome {
    let mut json = serde_json::json!({ "output": outcome.output, "isError": outcome.is_error });
    match outcome.text {
        tools::Text::Json => {}
        tools::Text::Field(name) => json["textField"] = name.into(),
        tools::Text::Fields(names) => json["textFields"] = names.into(),
        tools::Text::Sentences(text) => json["text"] = text.into(),
    }
    let media = outcome.media.map(|media| {
        json["media"] =
            serde_json::json!({ "kind": media.kind, "mediaType": media.media_type, "name": media.name });
        Bytes(media.bytes)
    });
    NativeOutcome { json: json.to_string(), media }
}

#[napi]
impl NativeWorkspace {
    /// A set of tools over the workspace, which has these backends: a JSON array of `{ id, callable }`.
    #[napi(catch_unwind)]
    pub fn tools(&self, options: Unknown<'_>, backends_json: String) -> napi::Result<NativeTools> {
        attempt_unnamed(|| {
            let scope = Scope::workspace(self.store.clone());
            Ok(NativeTools { toolset: Arc::new(toolset(&scope, &options, &backends_json)?) })
        })
    }

    /// Calls of tools: a JSON array.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn audit<'env>(&self, env: &'env Env, query: Unknown<'_>) -> napi::Result<Answer<'env, String>> {
        let about = About::call("audit");
        let filter = about.attempt(|| audit_filter(&query))?;
        self.files().search(env, about, move |scope| {
            let entries = scope.read_now(|tx| tx.audit_entries(&filter))?;
            let entries: Vec<serde_json::Value> = entries.iter().map(audit_entry).collect();
            Ok(serde_json::Value::from(entries).to_string())
        })
    }
}

fn audit_filter(query: &Unknown<'_>) -> Result<AuditFilter> {
    let known = ["tool", "tag", "status", "path", "since", "until", "after", "limit"];
    let query = Options::read("query", query, &known)?;
    let has_failed = query.get("status", |name, value| match args::string(name, value)?.as_str() {
        "ok" => Ok(false),
        "error" => Ok(true),
        other => Err(FsError::invalid(format!("status must be \"ok\" or \"error\"; received \"{other}\""))),
    })?;
    let limit = query.get("limit", args::count)?.unwrap_or(AUDIT_LIMIT);
    if limit > AUDIT_LIMIT_MAX {
        return Err(FsError::invalid(format!("limit must be at most {AUDIT_LIMIT_MAX}; received {limit}")));
    }
    Ok(AuditFilter {
        tool: query.get("tool", args::string)?,
        tag: query.get("tag", args::string)?,
        has_failed,
        path: query.get("path", args::path)?.map(|path: WorkspacePath| path.to_string()),
        since: query.get("since", args::finite)?,
        until: query.get("until", args::finite)?,
        after: query.get("after", args::count)?.map_or(0, |after| i64::try_from(after).unwrap_or(i64::MAX)),
        limit,
    })
}

fn audit_entry((id, entry): &(i64, crate::store::AuditEntry)) -> serde_json::Value {
    let mut object = serde_json::json!({ "id": id, "at": entry.at, "tool": entry.tool });
    let mut put = |name: &str, value: Option<serde_json::Value>| {
        if let Some(value) = value {
            object[name] = value;
        }
    };
    put("tag", entry.tag.clone().map(Into::into));
    put("argumentsHash", Some(entry.arguments.clone().into()));
    put("paths", Some(entry.paths.clone().into()));
    put("bytesBefore", entry.bytes_before.map(Into::into));
    put("bytesAfter", entry.bytes_after.map(Into::into));
    put("status", Some(if entry.code.is_some() { "error" } else { "ok" }.into()));
    put("code", entry.code.clone().map(Into::into));
    put("duration", Some(entry.duration.into()));
    object
}
