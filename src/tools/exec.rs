//! `exec`: what a model is told of it, and what it is shown of a run.
//!
//! A run is started and followed from outside, where the backends are; an [`Execution`] is told what happens
//! and says what it means. Its results are whole each time: the end of both streams, so that whoever misses
//! one loses nothing.
//!
//! A run that fails is a result, with its exit code; a failure of the tool is one that never began.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::definitions::Fields;
use super::options::ExecOptions;
use super::outcome::{Failure, Success, Text};
use super::{Arguments, Call, Done, Tool, Toolset, parse};
use crate::clock::now_ms;
use crate::error::Code;
use crate::path::WorkspacePath;
use crate::store::lock;
use crate::tail::{Cut, OutputLimits, Tail};
use crate::vfs::exists;

/// The streams, by the numbers that an [`Execution`] knows them by.
const STREAMS: [&str; 2] = ["stdout", "stderr"];
/// What of a result a model is shown; it knows the rest from its own call.
const SHOWN: &[&str] = &["exitCode", "reason", "stdout", "stderr", "result", "note"];
/// How much of a result that is too large a model is shown.
const RESULT_START_CHARS: usize = 2_000;

/// The fields of the tool.
pub fn schema(options: &ExecOptions) -> Fields {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let mut properties = vec![("command", text("the source of the module to run"))];
    let has_several = options.backends.len() > 1;
    if has_several {
        let ids: Vec<&str> = options.backends.iter().map(|backend| backend.id.as_str()).collect();
        properties.push((
            "backend",
            json!({ "type": "string", "enum": ids, "description": "where to run it; see the description of the tool" }),
        ));
    }
    properties.push(("cwd", text("directory where relative paths and imports start")));
    if options.backends.iter().any(|backend| backend.is_callable) {
        properties.push((
            "input",
            json!({
                "type": "object", "additionalProperties": true,
                "description": "data for the module's default-exported function, its one argument",
            }),
        ));
    }
    properties.push((
        "env",
        json!({
            "type": "object", "additionalProperties": { "type": "string" },
            "description": "environment variables, as `process.env` of the run",
        }),
    ));
    properties.push((
        "language",
        json!({
            "type": "string", "enum": ["javascript", "typescript"],
            "description": "what `command` is written in; default \"javascript\"",
        }),
    ));
    properties.push((
        "timeoutMs",
        json!({ "type": "integer", "minimum": 1, "description": "longest time that the run may take, in milliseconds" }),
    ));
    (if has_several { &["command", "backend"] } else { &["command"] }, properties)
}

/// What a model is told. `texts` are what the backends say of themselves, by their ids.
pub fn description(options: &ExecOptions, texts: &Map<String, Value>) -> String {
    let about = |index: usize| {
        let backend = &options.backends[index];
        let own = texts.get(&backend.id).and_then(Value::as_str);
        let parts = [backend.guidance.as_deref(), own];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.trim().is_empty()).collect();
        parts.join("\n\n")
    };
    let mut paragraphs = Vec::new();
    let is_callable = options.backends.iter().any(|backend| backend.is_callable);
    match options.backends.len() {
        0 | 1 => {
            paragraphs.push("Run code that you write: `command` is its source.".to_owned());
            if !options.backends.is_empty() {
                paragraphs.push(about(0));
            }
        }
        _ => {
            paragraphs.push(
                "Run code that you write: `command` is its source, `backend` where it runs. Of several that can do \
                 it, take the first."
                    .to_owned(),
            );
            for (index, backend) in options.backends.iter().enumerate() {
                let callable = if backend.is_callable { " (takes `input`)" } else { "" };
                paragraphs.push(format!("## Backend \"{}\"{callable}\n\n{}", backend.id, about(index)));
            }
            paragraphs.push("## Of all backends".to_owned());
        }
    }
    if is_callable {
        paragraphs.push(
            "`input` is passed to the default-exported function; what that returns comes back as `result`, so \
             return what you want to know instead of printing it."
                .to_owned(),
        );
    }
    paragraphs.push(
        "To look at or change single files, use the tools for files; code is for computing, and for work on many \
         files at once."
            .to_owned(),
    );
    let OutputLimits { lines_max, bytes_max } = options.output;
    paragraphs.push(format!(
        "`exitCode` 0 is success; `reason` says what else ended the run. Of stdout and stderr the last {lines_max} \
         lines or {} each are shown; if there was more, a note at the end names a file with all of it, for `read` \
         and `grep`.",
        size_text(bytes_max as u64)
    ));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n\n")
}

/// A size as the notes have it: `500B`, `64.0KB`, `1.0MB`.
fn size_text(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes}B"),
        1024..1_048_576 => format!("{:.1}KB", bytes as f64 / 1024.0),
        _ => format!("{:.1}MB", bytes as f64 / 1_048_576.0),
    }
}

/// A call of `exec` under way.
pub struct Execution {
    call: Arc<Call>,
    /// The run, once it has begun.
    run: Option<String>,
    tails: [Tail; 2],
}

impl Toolset {
    /// Begins a call with arguments as JSON; none if they are wrong, which [`Toolset::call`] says.
    pub fn begin(self: &Arc<Self>, came: Option<&str>, now: f64) -> Option<Execution> {
        let tool = self.tools().find(|tool| *tool == Tool::Exec)?;
        let arguments = parse(came).and_then(|came| Arguments::check(tool, &came, &self.options)).ok()?;
        let call = Arc::new(Call {
            toolset: Arc::clone(self),
            tool,
            arguments,
            refused: None,
            begun_at: now_ms(),
            begun: Instant::now(),
            now,
            done: Mutex::new(None),
        });
        let tail = || Tail::new(Some(self.options.exec.output));
        Some(Execution { call, run: None, tails: [tail(), tail()] })
    }

    /// What a model is told of `exec`; `texts` as [`description`] has it.
    pub fn describe_exec(&self, texts: &Map<String, Value>) -> String {
        description(&self.options.exec, texts)
    }
}

impl Execution {
    fn backend(&self) -> &str {
        let backends = &self.call.options().exec.backends;
        let only = || backends.first().map(|backend| backend.id.as_str()).unwrap_or_default();
        self.call.arguments.optional_text("backend").unwrap_or_else(only)
    }

    /// What is to be run: `{ source, options }`, the latter as `workspace.runtime.exec` takes them.
    pub fn request(&self) -> Value {
        let arguments = &self.call.arguments;
        let OutputLimits { lines_max, bytes_max } = self.call.options().exec.output;
        let mut options = json!({
            "backend": self.backend(),
            "output": { "maxLines": lines_max, "maxBytes": bytes_max },
        });
        for name in ["cwd", "env", "input", "language", "timeoutMs"] {
            if let Some(value) = arguments.value(name) {
                options[name] = value.clone();
            }
        }
        json!({ "source": arguments.text("command"), "options": options })
    }

    /// The run has begun, under this id.
    pub fn begun(&mut self, run: String) {
        self.run = Some(run);
    }

    /// The run has printed: to stdout (0) or stderr (1).
    pub fn print(&mut self, stream: usize, bytes: &[u8]) {
        if let Some(tail) = self.tails.get_mut(stream) {
            tail.push(bytes);
        }
    }

    /// What there is to see while the run goes on.
    pub fn snapshot(&self) -> Value {
        let mut output = self.output();
        for (name, tail) in STREAMS.into_iter().zip(&self.tails) {
            let (mut shown, _) = tail.clone().finish();
            // The rest of a character may still come.
            shown.truncate(shown.len() - unfinished(&shown));
            output[name] = String::from_utf8_lossy(&shown).into();
        }
        output
    }

    fn output(&self) -> Value {
        let mut output = Map::new();
        if let Some(run) = &self.run {
            output.insert("id".to_owned(), run.as_str().into());
        }
        self.put_call(&mut output);
        output.insert("exitCode".to_owned(), Value::Null);
        Value::Object(output)
    }

    /// What was asked for.
    fn put_call(&self, output: &mut Map<String, Value>) {
        let arguments = &self.call.arguments;
        output.insert("command".to_owned(), arguments.text("command").into());
        output.insert("cwd".to_owned(), arguments.optional_text("cwd").into());
        output.insert("backend".to_owned(), self.backend().into());
    }

    /// Ends the call with what the run ended with: `{ code, reason?, truncated? }`, or nothing if its end is not
    /// known; and with what it gave, as JSON.
    pub fn finish(self, exit: &Value, result: Option<&str>, done: Done) {
        let mut output = self.output();
        output["exitCode"] = exit.get("code").cloned().unwrap_or_default();
        if let Some(reason) = exit.get("reason") {
            output["reason"] = reason.clone();
        }
        for (name, tail) in STREAMS.into_iter().zip(&self.tails) {
            let (shown, cut) = tail.clone().finish();
            let mut text = String::from_utf8_lossy(&shown).into_owned();
            if let Some(cut) = cut {
                let saved = exit.get("truncated").and_then(|truncated| truncated.get(name));
                text.push_str("\n\n");
                text.push_str(&self.note(cut, shown.len(), saved));
            }
            output[name] = text.into();
        }
        if let Some(result) = result {
            self.put_result(&mut output, result);
        }
        if let Some(truncated) = exit.get("truncated") {
            output["truncated"] = truncated.clone();
        }
        let success = Success { output, text: Text::Fields(SHOWN), ..Success::default() };
        self.end(Ok(success), done);
    }

    /// A result that would crowd everything else out of a model's view is shown in part, and one that is nested
    /// deeper than others can read is not.
    fn put_result(&self, output: &mut Value, result: &str) {
        let most = self.call.options().exec.output.bytes_max;
        let note = if result.len() > most {
            let start: String = result.chars().take(RESULT_START_CHARS.min(most)).collect();
            format!(
                "The result is {} as JSON, and only {} fit here: return less, or write it to a file. It begins: {start}",
                size_text(result.len() as u64),
                size_text(most as u64),
            )
        } else {
            match serde_json::from_str::<Value>(result) {
                Ok(result) => {
                    output["result"] = result;
                    return;
                }
                Err(_) => "The result is nested too deep to be shown: return something flatter.".to_owned(),
            }
        };
        output["note"] = note.into();
    }

    /// What stands below a stream of which only the end is shown.
    fn note(&self, cut: Cut, shown_bytes: usize, saved: Option<&Value>) -> String {
        let limits = self.call.options().exec.output;
        let text = |name| saved.and_then(|saved| saved.get(name)).and_then(Value::as_str);
        let whole = match (text("path"), text("reason")) {
            (Some(path), _) if self.is_open(path) => format!(" Full output: {path}"),
            (Some(path), _) => format!(" Full output: {path}, which these tools cannot read"),
            (None, Some(reason)) => format!(" Full output was not saved: {reason}"),
            (None, None) => " Full output was not saved: the workspace keeps no output".to_owned(),
        };
        let Cut { lines, first_line, is_partial, .. } = cut;
        if is_partial && first_line == lines {
            return format!("[Showing last {} of line {lines}.{whole}]", size_text(shown_bytes as u64));
        }
        let is_full = lines - first_line + 1 >= limits.lines_max;
        let why =
            if is_full { String::new() } else { format!(" ({} limit)", size_text(limits.bytes_max as u64)) };
        format!("[Showing lines {first_line}-{lines} of {lines}{why}.{whole}]")
    }

    fn is_open(&self, path: &str) -> bool {
        let path = WorkspacePath::parse(path);
        path.is_ok_and(|path| self.call.scope().read_now(|tx| exists(tx, &path)).unwrap_or(false))
    }

    /// Ends the call of a run that did not begin, with the error that says why.
    pub fn fail(self, name: &str, code: Option<&str>, message: &str, done: Done) {
        let code = match (code, name) {
            (Some(code), _) => code.to_owned(),
            (None, "SyntaxError") => "ESYNTAX".to_owned(),
            (None, _) => Code::Inval.name().to_owned(),
        };
        let prefix = format!("{code}: ");
        let sentence = match message.strip_prefix(&prefix) {
            Some(sentence) => sentence.to_owned(),
            None if name == "SyntaxError" => format!("{name}: {message}"),
            None => message.to_owned(),
        };
        let advice = match code.as_str() {
            "EEXEC_BUSY" => "; try again later",
            "ENOEXEC" => "; tell the user, since trying again will not help",
            _ => "",
        };
        let mut failure = Failure::new(code, format!("Nothing was run: {sentence}{advice}"));
        self.put_call(&mut failure.help);
        self.end(Err(failure), done);
    }

    fn end(self, result: super::outcome::Result, done: Done) {
        *lock(&self.call.done) = Some(done);
        self.call.finish(result);
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::store::{Config, Durability, Location, Scope, Store};
    use crate::tools::{Backend, Options, Outcome};

    fn backend(id: &str, is_callable: bool) -> Backend {
        Backend { id: id.to_owned(), is_callable, guidance: None }
    }

    fn toolset(options: ExecOptions) -> Arc<Toolset> {
        let config = Config {
            location: Location::Memory,
            durability: Durability::Normal,
            quota_bytes: None,
            rules: None,
            is_audited: false,
        };
        let scope = Scope::workspace(Store::open(config).unwrap());
        Arc::new(Toolset::new(&scope, Options { exec: options, ..Options::default() }, Vec::new()))
    }

    /// Of a run that prints to stdout, with limits in lines and bytes, and ends.
    fn outcome(limits: (u64, usize), printed: &[u8], exit: Value) -> Outcome {
        let output = OutputLimits { lines_max: limits.0, bytes_max: limits.1 };
        let tools = toolset(ExecOptions { backends: vec![backend("js", true)], output });
        let mut execution = tools.begin(Some(r#"{"command":"1"}"#), 0.0).expect("the arguments are right");
        execution.begun("run".to_owned());
        execution.print(0, printed);
        let (send, receive) = channel();
        let result = exit.get("result").map(Value::to_string);
        execution.finish(&exit, result.as_deref(), Box::new(move |outcome| send.send(outcome).unwrap()));
        receive.recv().unwrap().unwrap()
    }

    #[track_caller]
    fn check_note(limits: (u64, usize), printed: &str, saved: Value, want: &str) {
        let exit = json!({ "code": 0, "truncated": { "stdout": saved } });
        let got = outcome(limits, printed.as_bytes(), exit).output;
        assert_eq!(got["stdout"].as_str(), Some(want), "{printed:?}");
    }

    #[test]
    fn the_note_below_cut_output() {
        let failed = json!({ "status": "not-saved", "reason": "the disk is full" });
        let unsaved = " Full output was not saved: the workspace keeps no output";
        check_note((9, 99), "a\nb\n", Value::Null, "a\nb\n");
        check_note(
            (2, 99),
            "a\nb\nc\nd\n",
            failed,
            "c\nd\n\n\n[Showing lines 3-4 of 4. Full output was not saved: the disk is full]",
        );
        check_note(
            (9, 4),
            "aa\nbb\ncc",
            Value::Null,
            &format!("cc\n\n[Showing lines 3-3 of 3 (4B limit).{unsaved}]"),
        );
        check_note(
            (9, 4),
            "aa\nbcdefg",
            Value::Null,
            &format!("defg\n\n[Showing last 4B of line 2.{unsaved}]"),
        );
        let elsewhere = json!({ "status": "saved", "path": "/gone.log" });
        check_note(
            (1, 99),
            "a\nb",
            elsewhere,
            "b\n\n[Showing lines 2-2 of 2. Full output: /gone.log, which these tools cannot read]",
        );
        let home = json!({ "status": "saved", "path": "/workspace" });
        check_note((1, 99), "a\nb", home, "b\n\n[Showing lines 2-2 of 2. Full output: /workspace]");
    }

    #[test]
    fn sizes() {
        let sizes =
            [(8, "8B"), (1023, "1023B"), (65_536, "64.0KB"), (1_048_576, "1.0MB"), (1_600_000, "1.5MB")];
        for (bytes, text) in sizes {
            assert_eq!(size_text(bytes), text);
        }
    }

    #[test]
    fn snapshots_are_whole_and_cut_no_character() {
        let tools = toolset(ExecOptions { backends: vec![backend("js", true)], ..ExecOptions::default() });
        let mut execution = tools.begin(Some(r#"{"command":"1","cwd":"a"}"#), 0.0).expect("right");
        let head = json!({ "command": "1", "cwd": "a", "backend": "js", "exitCode": null });
        let with = |more: Value| {
            let mut all = head.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        assert_eq!(execution.snapshot(), with(json!({ "stdout": "", "stderr": "" })));
        execution.begun("run".to_owned());
        let bytes = "aé€😀".as_bytes();
        let mut shown = Vec::new();
        for byte in bytes {
            execution.print(0, &[*byte]);
            shown.push(execution.snapshot()["stdout"].as_str().unwrap().to_owned());
        }
        let a = ["a", "a", "aé", "aé", "aé", "aé€", "aé€", "aé€", "aé€", "aé€😀"];
        assert_eq!(shown, a);
        execution.print(1, b"\xffx\x80");
        execution.print(7, b"nowhere");
        let want = with(json!({ "id": "run", "stdout": "aé€😀", "stderr": "\u{fffd}x\u{fffd}" }));
        assert_eq!(execution.snapshot(), want);
    }

    #[test]
    fn how_a_run_ended() {
        let exit = json!({ "code": 124, "reason": "timeout" });
        let Outcome { output, is_error, .. } = outcome((9, 99), b"x\xc3", exit);
        assert!(!is_error);
        assert_eq!((&output["exitCode"], &output["reason"]), (&json!(124), &json!("timeout")));
        assert_eq!(output["stdout"], "x\u{fffd}");
        assert_eq!(output.get("result"), None);
        let nothing = outcome((9, 99), b"", json!({ "code": 0, "result": null })).output;
        assert_eq!(nothing.get("result"), Some(&Value::Null));
        assert_eq!(outcome((9, 99), b"", Value::Null).output["exitCode"], Value::Null);
    }

    #[test]
    fn a_result_that_is_too_large_is_shown_in_part() {
        let exit = json!({ "code": 0, "result": "x".repeat(100) });
        assert_eq!(outcome((9, 102), b"", exit.clone()).output["result"], exit["result"]);
        let cut = outcome((9, 101), b"", exit).output;
        assert_eq!(cut.get("result"), None);
        let note = cut["note"].as_str().expect("a note");
        let mut deep = json!(1);
        for _ in 0..200 {
            deep = json!([deep]);
        }
        let deep = outcome((9, 9_999), b"", json!({ "code": 0, "result": deep })).output;
        assert!(deep.get("result").is_none() && deep["note"].as_str().unwrap().contains("too deep"));
        assert!(note.contains("102B as JSON, and only 101B fit") && note.ends_with('x'), "{note}");
    }

    #[test]
    fn a_run_that_did_not_begin() {
        let rows = [
            ("SyntaxError", None, "no (1:2)", "ESYNTAX", "Nothing was run: SyntaxError: no (1:2)"),
            ("Error", Some("ENOENT"), "ENOENT: gone", "ENOENT", "Nothing was run: gone"),
            ("Error", None, "odd", "EINVAL", "Nothing was run: odd"),
            ("Error", Some("EEXEC_BUSY"), "full", "EEXEC_BUSY", "Nothing was run: full; try again later"),
        ];
        let tools = toolset(ExecOptions { backends: vec![backend("js", true)], ..ExecOptions::default() });
        for (name, code, message, want_code, want) in rows {
            let execution = tools.begin(Some(r#"{"command":"1"}"#), 0.0).expect("right");
            let (send, receive) = channel();
            execution.fail(name, code, message, Box::new(move |outcome| send.send(outcome).unwrap()));
            let Outcome { output, is_error, .. } = receive.recv().unwrap().unwrap();
            assert!(is_error);
            let want =
                json!({ "error": want, "code": want_code, "command": "1", "cwd": null, "backend": "js" });
            assert_eq!(output, want);
        }
    }

    #[test]
    fn a_call_begins_only_where_there_is_a_backend_and_with_right_arguments() {
        let none = toolset(ExecOptions::default());
        assert!(none.begin(Some(r#"{"command":"1"}"#), 0.0).is_none());
        assert!(none.tools().all(|tool| tool != Tool::Exec));
        let one = toolset(ExecOptions { backends: vec![backend("js", true)], ..ExecOptions::default() });
        assert!(one.begin(Some("{}"), 0.0).is_none());
        assert!(one.begin(None, 0.0).is_none());
        assert_eq!(one.tools().last(), Some(Tool::Exec));
    }

    #[test]
    fn what_a_model_is_told() {
        let limits = OutputLimits { lines_max: 7, bytes_max: 65_536 };
        let texts = json!({ "js": "Says itself.", "sh": "A shell." });
        let texts = texts.as_object().expect("an object");
        let mut options = ExecOptions { backends: vec![backend("js", true)], output: limits };
        options.backends[0].guidance = Some("Use with care.".to_owned());
        let one = description(&options, texts);
        assert!(one.contains("Use with care.\n\nSays itself.\n\n`input`"), "{one}");
        assert!(one.contains("last 7 lines or 64.0KB each") && !one.contains("## "), "{one}");
        options.backends.push(backend("sh", false));
        let two = description(&options, texts);
        assert!(two.contains("## Backend \"js\" (takes `input`)\n\nUse with care."), "{two}");
        assert!(two.contains("## Backend \"sh\"\n\nA shell.\n\n## Of all"), "{two}");
        assert_eq!(schema(&options).0, ["command", "backend"]);
        options.backends.remove(0);
        assert!(!description(&options, texts).contains("`input`"));
        assert!(schema(&options).1.iter().all(|(name, _)| *name != "input" && *name != "backend"));
    }
}
