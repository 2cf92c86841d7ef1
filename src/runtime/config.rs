//! What a backend is set up with and what a run is asked for: JSON of `lib/`, checked.
//!
//! Every option that is not known is refused by name, every number outside its range with its name and
//! value. A number that JSON cannot write (`NaN`, `Infinity`) comes as that text.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::limits::Limits;
use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::rules::{Access, Layer, Rule};
pub use crate::tail::OutputLimits;

/// Fields that `lib/` fills in from the options of users: `modules` and `egress` are theirs.
const FILLED_IN: &[&str] = &["isolatePath", "sources", "network"];
/// The largest integer that JavaScript counts exactly.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;
/// Longest id of a run, in bytes.
const ID_BYTES_MAX: usize = 256;
/// Where code sees files when nothing else is said.
const ROOT: &str = "/workspace";
/// Where long output is kept when nothing else is said.
const OUTPUT_FOLDER: &str = "/.carrel/output";

/// What becomes of a run whose process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInterrupt {
    /// It has failed.
    Fail,
    /// It is run again from its beginning.
    Restart,
    /// It goes on where it was.
    Replay,
}

/// What code may do with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// Look.
    Read,
    /// Look and change.
    ReadWrite,
}

impl FileAccess {
    /// The word that users write.
    pub fn name(self) -> &'static str {
        match self {
            FileAccess::Read => "read",
            FileAccess::ReadWrite => "read-write",
        }
    }
}

/// What happens to long output.
#[derive(Debug, Clone)]
pub struct OutputOptions {
    /// How much a result shows.
    pub limits: OutputLimits,
    /// Where the whole is kept.
    pub folder: WorkspacePath,
    /// How many files are kept there.
    pub kept: usize,
}

/// A module of the backend as code sees it.
#[derive(Debug, Clone)]
pub struct Module {
    /// What is imported.
    pub specifier: String,
    /// Names of functions, of a module that the host serves.
    pub exports: Vec<String>,
    /// JavaScript, of a module that is source.
    pub source: Option<String>,
}

/// A backend.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its id.
    pub id: String,
    /// The directory that code sees.
    pub root: WorkspacePath,
    /// What it may do there.
    pub access: FileAccess,
    /// Rules of the backend, within those of the workspace.
    pub rules: Vec<Rule>,
    /// What becomes of interrupted runs.
    pub on_interrupt: OnInterrupt,
    /// The program.
    pub program: Option<PathBuf>,
    /// Modules, host and source.
    pub modules: Vec<Module>,
    /// Whether `fetch` is served.
    pub has_network: bool,
    /// What is done with long output; none: all is shown and nothing saved.
    pub output: Option<OutputOptions>,
    /// The numbers.
    pub limits: Limits,
}

impl Config {
    /// Reads the options of a backend.
    pub fn parse(json: &str) -> Result<Config> {
        let mut fields = Fields::parse("options", json)?;
        let id = fields.text("id")?.unwrap_or_else(|| "javascript".to_owned());
        if id.is_empty() || id.len() > ID_BYTES_MAX {
            return Err(FsError::invalid("id must have 1 to 256 bytes"));
        }
        let root = fields.text("root")?.map_or_else(|| WorkspacePath::parse(ROOT), |text| root(&text))?;
        let access = match fields.text("access")?.as_deref() {
            None | Some("read-write") => FileAccess::ReadWrite,
            Some("read") => FileAccess::Read,
            Some(other) => {
                return Err(FsError::invalid(format!(
                    "access must be \"read\" or \"read-write\"; received {other:?}"
                )));
            }
        };
        let on_interrupt = fields.on_interrupt()?.unwrap_or(OnInterrupt::Fail);
        let program = fields.text("isolatePath")?.map(PathBuf::from);
        let has_network = fields.boolean("network")?.unwrap_or(false);
        let rules = fields.list("rules")?.unwrap_or_default();
        let rules = rules.into_iter().map(|value| rule(value, &root)).collect::<Result<_>>()?;
        let output = match fields.take("output") {
            None => Some(OutputOptions::default()),
            Some(Value::Bool(false)) => None,
            Some(value) => Some(OutputOptions::parse(value)?),
        };
        let mut modules = Vec::new();
        for value in fields.list("modules")?.unwrap_or_default() {
            let mut fields = Fields::of("modules", value)?;
            let specifier = fields.needed_text("specifier")?;
            let exports = fields.list("exports")?.unwrap_or_default();
            let exports = exports.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect();
            modules.push(Module { specifier, exports, source: None });
            fields.end()?;
        }
        for value in fields.list("sources")?.unwrap_or_default() {
            let mut fields = Fields::of("sources", value)?;
            let specifier = fields.needed_text("specifier")?;
            modules.push(Module {
                specifier,
                exports: Vec::new(),
                source: Some(fields.needed_text("source")?),
            });
            fields.end()?;
        }
        let limits = Limits::parse(&mut fields)?;
        fields.end()?;
        Ok(Config { id, root, access, rules, on_interrupt, program, modules, has_network, output, limits })
    }

    /// The rules of its runs.
    pub fn layer(&self) -> Layer {
        Layer { root: (!self.root.is_root()).then(|| self.root.clone()), rules: self.rules.clone() }
    }
}

impl Default for OutputOptions {
    fn default() -> Self {
        OutputOptions {
            limits: OutputLimits::default(),
            folder: WorkspacePath::parse(OUTPUT_FOLDER).expect("the default is a path"),
            kept: 50,
        }
    }
}

impl OutputOptions {
    fn parse(value: Value) -> Result<OutputOptions> {
        let mut fields = Fields::of("output", value)?;
        let mut options = OutputOptions::default();
        options.limits = fields.output_limits(options.limits)?;
        if let Some(folder) = fields.text("dir")? {
            if folder.len() > 1 && folder.ends_with('/') || folder == "/" {
                return Err(FsError::invalid(
                    "output.dir must be an absolute path longer than \"/\", without a \"/\" at its end",
                ));
            }
            options.folder = WorkspacePath::parse(&folder)?;
        }
        if let Some(kept) = fields.count("keep")? {
            options.kept = usize::try_from(kept).unwrap_or(usize::MAX);
        }
        fields.end()?;
        Ok(options)
    }
}

fn root(text: &str) -> Result<WorkspacePath> {
    if text.split('/').any(|segment| segment == "..") {
        return Err(FsError::invalid(format!("root must not have \"..\" in it; received {text:?}")));
    }
    WorkspacePath::parse(text)
}

fn rule(value: Value, root: &WorkspacePath) -> Result<Rule> {
    let mut fields = Fields::of("rules", value)?;
    let path = fields.needed_text("path")?;
    let access = fields.needed_text("access")?;
    let access = Access::from_name(&access).ok_or_else(|| {
        FsError::invalid(format!(
            "rules.access must be \"none\", \"read\" or \"read-write\"; received {access:?}"
        ))
    })?;
    fields.end()?;
    Rule::new(&path, access, Some(root))
}

/// What a run is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its id, if the user chose one.
    pub id: Option<String>,
    /// Its working directory.
    pub cwd: WorkspacePath,
    /// The argument of its default function, as JSON.
    pub input: String,
    /// Its environment.
    pub env: Vec<(String, String)>,
    /// How long it may take.
    pub wall_ms_max: f64,
    /// What becomes of it when its process dies.
    pub on_interrupt: OnInterrupt,
    /// What is done with its output; none: all is shown and nothing saved.
    pub output: Option<OutputOptions>,
    /// What its user calls it.
    pub label: Option<String>,
    /// JavaScript.
    pub source: String,
    /// Standard input.
    pub stdin: Vec<u8>,
}

impl Request {
    /// Reads what a run is asked for.
    pub fn parse(json: &str, source: String, stdin: Vec<u8>, config: &Config) -> Result<Request> {
        let mut fields = Fields::parse("options", json)?;
        let limits = &config.limits;
        let id = fields.text("id")?;
        if let Some(id) = &id {
            check_id(id)?;
        }
        let wall_ms_max = match fields.positive("timeoutMs")? {
            None => limits.wall_ms,
            Some(ms) if ms > limits.wall_ms_max => {
                return Err(FsError::invalid(format!(
                    "timeoutMs must be at most {}, the backend's maxTimeoutMs; received {}",
                    number_text(limits.wall_ms_max),
                    number_text(ms)
                )));
            }
            Some(ms) => ms,
        };
        let input = fields.text("inputJson")?.unwrap_or_else(|| "null".to_owned());
        check_size("input", input.len(), limits.input_bytes_max, "maxInputBytes")?;
        check_size("stdin", stdin.len(), limits.stdin_bytes_max, "maxStdinBytes")?;
        let env = environment(fields.take("env"))?;
        let env_bytes = env.iter().map(|(name, value)| name.len() + value.len()).sum();
        check_size("env", env_bytes, limits.env_bytes_max, "maxEnvBytes")?;
        let on_interrupt = fields.on_interrupt()?.unwrap_or(config.on_interrupt);
        check_size("source", source.len(), limits.source_bytes_max, "maxSourceBytes")?;
        let output = output_of_run(fields.take("output"), config)?;
        let cwd = match fields.text("cwd")? {
            Some(text) if text.starts_with('/') => WorkspacePath::parse(&text)?,
            Some(text) => WorkspacePath::parse(&config.root.join(&text))?,
            None => config.root.clone(),
        };
        if !is_within(&config.root, &cwd) {
            let sentence = format!("cwd leads out of {}; stay inside it", config.root);
            return Err(FsError::with_detail(Code::Acces, sentence).at(cwd.as_str()));
        }
        let label = fields.text("label")?;
        match fields.text("language")?.as_deref() {
            None | Some("javascript") => {}
            Some(other) => {
                return Err(FsError::invalid(format!(
                    "language must be \"javascript\" or \"typescript\"; received {other:?}"
                )));
            }
        }
        fields.end()?;
        Ok(Request { id, cwd, input, env, wall_ms_max, on_interrupt, output, label, source, stdin })
    }
}

fn is_within(root: &WorkspacePath, path: &WorkspacePath) -> bool {
    let rest = path.as_str().strip_prefix(root.as_str());
    root.is_root() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn check_id(id: &str) -> Result<()> {
    if id.is_empty() || id.len() > ID_BYTES_MAX {
        return Err(FsError::invalid(format!(
            "id must have 1 to {ID_BYTES_MAX} bytes of UTF-8; received {}",
            id.len()
        )));
    }
    Ok(())
}

fn check_size(name: &str, bytes: usize, bytes_max: usize, limit: &str) -> Result<()> {
    if bytes > bytes_max {
        return Err(FsError::with_detail(
            Code::Limit,
            format!("{name} has {bytes} bytes; {limit} allows {bytes_max}"),
        ));
    }
    Ok(())
}

/// The limits that a result is asked for; none: all of the output.
pub fn output_of_result(json: Option<&str>, config: &Config) -> Result<Option<OutputLimits>> {
    let value = json.map(|json| parse_json("output", json)).transpose()?;
    Ok(output_of_run(value.filter(|value| !value.is_null()), config)?.map(|options| options.limits))
}

fn output_of_run(value: Option<Value>, config: &Config) -> Result<Option<OutputOptions>> {
    let Some(value) = value else { return Ok(config.output.clone()) };
    if value == Value::Bool(false) {
        return Ok(None);
    }
    let mut fields = Fields::of("output", value)?;
    let base = config.output.clone();
    let limits = fields.output_limits(base.as_ref().map(|options| options.limits).unwrap_or_default())?;
    fields.end()?;
    Ok(base.map(|options| OutputOptions { limits, ..options }))
}

fn environment(value: Option<Value>) -> Result<Vec<(String, String)>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let Value::Object(object) = value else {
        return Err(FsError::arg_type("env must be an object of strings"));
    };
    let mut env = Vec::new();
    for (name, value) in object {
        match value {
            Value::String(value) => env.push((name, value)),
            _ => return Err(FsError::arg_type(format!("env.{name} must be a string"))),
        }
    }
    Ok(env)
}

fn parse_json(name: &str, json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|error| FsError::invalid(format!("{name} cannot be read: {error}")))
}

/// A JSON object that is read field by field; what is left at the end is not known.
pub struct Fields {
    name: &'static str,
    object: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    fn parse(name: &'static str, json: &str) -> Result<Fields> {
        Self::of(name, parse_json(name, json)?)
    }

    fn of(name: &'static str, value: Value) -> Result<Fields> {
        match value {
            Value::Object(object) => Ok(Fields { name, object, known: Vec::new() }),
            _ => Err(FsError::arg_type(format!("{name} must be an object"))),
        }
    }

    fn take(&mut self, field: &'static str) -> Option<Value> {
        self.known.push(field);
        self.object.shift_remove(field).filter(|value| !value.is_null())
    }

    fn path_of(&self, field: &str) -> String {
        if self.name == "options" { field.to_owned() } else { format!("{}.{field}", self.name) }
    }

    fn text(&mut self, field: &'static str) -> Result<Option<String>> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(FsError::arg_type(format!("{} must be a string", self.path_of(field)))),
        }
    }

    fn needed_text(&mut self, field: &'static str) -> Result<String> {
        self.text(field)?
            .ok_or_else(|| FsError::arg_type(format!("{} must be a string", self.path_of(field))))
    }

    fn boolean(&mut self, field: &'static str) -> Result<Option<bool>> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(FsError::arg_type(format!("{} must be a boolean", self.path_of(field)))),
        }
    }

    fn list(&mut self, field: &'static str) -> Result<Option<Vec<Value>>> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(FsError::arg_type(format!("{} must be an array", self.path_of(field)))),
        }
    }

    fn on_interrupt(&mut self) -> Result<Option<OnInterrupt>> {
        match self.text("onInterrupt")?.as_deref() {
            None => Ok(None),
            Some("fail") => Ok(Some(OnInterrupt::Fail)),
            Some("restart") => Ok(Some(OnInterrupt::Restart)),
            Some("replay") => Ok(Some(OnInterrupt::Replay)),
            Some(other) => Err(FsError::invalid(format!(
                "onInterrupt must be \"fail\", \"restart\" or \"replay\"; received {other:?}"
            ))),
        }
    }

    fn output_limits(&mut self, base: OutputLimits) -> Result<OutputLimits> {
        let lines_max = self.count("maxLines")?.unwrap_or(base.lines_max);
        let bytes_max = self.count("maxBytes")?.map_or(base.bytes_max, saturating);
        Ok(OutputLimits { lines_max, bytes_max })
    }

    fn number(&mut self, field: &'static str) -> Result<Option<Result<f64, String>>> {
        let path = self.path_of(field);
        Ok(match self.take(field) {
            None => None,
            Some(Value::Number(number)) => Some(Ok(number.as_f64().unwrap_or(f64::NAN))),
            Some(Value::String(text)) if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") => {
                Some(Err(text))
            }
            Some(_) => return Err(FsError::arg_type(format!("{path} must be a number"))),
        })
    }

    fn bounded(
        &mut self,
        field: &'static str,
        wanted: &str,
        is_right: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>> {
        let shown = match self.number(field)? {
            None => return Ok(None),
            Some(Ok(number)) if is_right(number) => return Ok(Some(number)),
            Some(Ok(number)) => number_text(number),
            Some(Err(text)) => text,
        };
        Err(FsError::invalid(format!("{} must be {wanted}; received {shown}", self.path_of(field))))
    }

    /// A finite number above zero.
    pub fn positive(&mut self, field: &'static str) -> Result<Option<f64>> {
        self.bounded(field, "a finite number above 0", |number| number > 0.0)
    }

    /// An integer from 1 on.
    pub fn count(&mut self, field: &'static str) -> Result<Option<u64>> {
        let number = self.bounded(field, "a positive integer", |number| {
            number.fract() == 0.0 && (1.0..=SAFE_INTEGER_MAX).contains(&number)
        })?;
        Ok(number.map(|number| number as u64))
    }

    /// An integer from 0 on.
    pub fn amount(&mut self, field: &'static str) -> Result<Option<u64>> {
        let number = self.bounded(field, "a non-negative integer", |number| {
            number.fract() == 0.0 && (0.0..=SAFE_INTEGER_MAX).contains(&number)
        })?;
        Ok(number.map(|number| number as u64))
    }

    /// A size in bytes from `least` on; fractions are cut off.
    pub fn size(&mut self, field: &'static str, least: usize) -> Result<Option<usize>> {
        let wanted =
            if least > 1 { format!("at least {least}") } else { "a finite number above 0".to_owned() };
        let number = self.bounded(field, &wanted, |number| number > 0.0 && number.ceil() >= least as f64)?;
        Ok(number.map(|number| saturating(number.ceil() as u64)))
    }

    /// Fails if there is a field that nobody asked for.
    fn end(self) -> Result<()> {
        let Some(field) = self.object.keys().next() else { return Ok(()) };
        let known: Vec<&str> =
            self.known.iter().copied().filter(|field| !FILLED_IN.contains(field)).collect();
        // Of those that `lib/` serves alone.
        let more = if self.known.contains(&"network") { ", egress, globalOutbound" } else { "" };
        Err(FsError::invalid(format!(
            "there is no option '{}'; the options are {}{more}",
            self.path_of(field),
            known.join(", ")
        )))
    }
}

fn saturating(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn number_text(number: f64) -> String {
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(json: &str, code: Code, part: &str) {
        let error = Config::parse(json).expect_err("it is refused");
        assert_eq!(error.code(), code, "{json}: {error}");
        assert!(error.to_string().contains(part), "{json}: {error}");
    }

    #[test]
    fn wrong_options_of_a_backend_are_refused_by_name() {
        refused(
            r#"{"maxTimeoutMs":0}"#,
            Code::Inval,
            "maxTimeoutMs must be a finite number above 0; received 0",
        );
        refused(r#"{"maxTimeoutMs":"NaN"}"#, Code::Inval, "received NaN");
        refused(r#"{"maxTimeoutMs":"5"}"#, Code::ArgType, "maxTimeoutMs must be a number");
        refused(r#"{"maxTimeoutMs":10,"defaultTimeoutMs":11}"#, Code::Inval, "defaultTimeoutMs");
        refused(
            r#"{"maxCapabilityCalls":1.5}"#,
            Code::Inval,
            "maxCapabilityCalls must be a positive integer",
        );
        refused(r#"{"maxCapabilityBytes":255}"#, Code::Inval, "maxCapabilityBytes must be at least 256");
        refused(r#"{"nonsense":1}"#, Code::Inval, "there is no option 'nonsense'");
        refused(r#"{"root":"/a/../b"}"#, Code::Inval, "root");
        refused(r#"{"root":"a"}"#, Code::Inval, "absolute");
        refused(r#"{"access":"write"}"#, Code::Inval, "access must be");
        refused(r#"{"onInterrupt":"retry"}"#, Code::Inval, "onInterrupt must be");
        refused(r#"{"output":{"dir":"/"}}"#, Code::Inval, "output.dir");
        refused(r#"{"output":{"keep":0}}"#, Code::Inval, "output.keep must be a positive integer");
        refused(r#"{"output":{"size":0}}"#, Code::Inval, "there is no option 'output.size'");
    }

    #[test]
    fn a_run_is_asked_for_within_the_limits_of_its_backend() {
        let config = Config::parse(r#"{"maxTimeoutMs":1000,"maxEnvBytes":4}"#).unwrap();
        let parse = |json: &str| Request::parse(json, String::new(), Vec::new(), &config);
        let request = parse("{}").unwrap();
        assert_eq!(
            (request.wall_ms_max, request.cwd.as_str(), request.input.as_str()),
            (1000.0, ROOT, "null")
        );
        assert_eq!(parse(r#"{"cwd":"a/./b"}"#).unwrap().cwd.as_str(), "/workspace/a/b");
        for (json, code) in [
            (r#"{"timeoutMs":1001}"#, Code::Inval),
            (r#"{"timeoutMs":"Infinity"}"#, Code::Inval),
            (r#"{"env":{"abc":"de"}}"#, Code::Limit),
            (r#"{"env":["a"]}"#, Code::ArgType),
            (r#"{"env":{"a":1}}"#, Code::ArgType),
            (r#"{"cwd":"/"}"#, Code::Acces),
            (r#"{"cwd":"../x"}"#, Code::Acces),
            (r#"{"cwd":"/workspaces"}"#, Code::Acces),
            (r#"{"id":""}"#, Code::Inval),
            (r#"{"language":"python"}"#, Code::Inval),
            (r#"{"tmeout":1}"#, Code::Inval),
        ] {
            assert_eq!(parse(json).map(|_| ()).map_err(|error| error.code()), Err(code), "{json}");
        }
        let long = format!(r#"{{"id":"{}"}}"#, "é".repeat(129));
        assert_eq!(parse(&long).map(|_| ()).map_err(|error| error.code()), Err(Code::Inval));
    }

    #[test]
    fn a_run_says_less_than_the_workspace_about_output() {
        let config = Config::parse(r#"{"output":{"maxLines":10}}"#).unwrap();
        let limits = |json| output_of_result(Some(json), &config).unwrap();
        assert_eq!(limits(r#"{"maxBytes":5}"#), Some(OutputLimits { lines_max: 10, bytes_max: 5 }));
        assert_eq!(limits("false"), None);
        let off = Config::parse(r#"{"output":false}"#).unwrap();
        assert_eq!(output_of_result(Some(r#"{"maxBytes":5}"#), &off).unwrap(), None);
    }
}
