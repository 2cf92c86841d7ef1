//! What comes of a call of a tool.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::error::FsError;

/// What a tool did, or why it did not.
pub type Result<T = Success, E = Failure> = std::result::Result<T, E>;

/// What a tool did.
#[derive(Debug, Default)]
pub struct Success {
    /// For programs and user interfaces.
    pub output: Value,
    /// For a model.
    pub text: Text,
    /// An image or document for models that accept it.
    pub media: Option<Media>,
    /// What it was about.
    pub touched: Touched,
}

impl Success {
    /// With this output.
    pub fn new(output: Value) -> Self {
        Success { output, ..Success::default() }
    }

    /// About a path.
    #[must_use]
    pub fn about(mut self, path: impl Into<String>) -> Self {
        self.touched.paths.push(path.into());
        self
    }
}

/// What a model is given that is given text. What is in the output already is not said twice: a page
/// of a file is large.
#[derive(Debug, Default)]
pub enum Text {
    /// The output as JSON.
    #[default]
    Json,
    /// A field of the output.
    Field(&'static str),
    /// These fields of the output, as far as they are there, as JSON.
    Fields(&'static [&'static str]),
    /// This.
    Sentences(String),
}

/// The bytes of an image or document.
#[derive(Debug)]
pub struct Media {
    /// `"image"` or `"file"`.
    pub kind: &'static str,
    /// Such as `image/png`.
    pub media_type: &'static str,
    /// Name of the file.
    pub name: String,
    /// The whole file.
    pub bytes: Vec<u8>,
}

/// What a call was about, for the audit.
#[derive(Debug, Clone, Default)]
pub struct Touched {
    /// Real paths.
    pub paths: Vec<String>,
    /// Size of the file before.
    pub bytes_before: Option<u64>,
    /// Size of the file after.
    pub bytes_after: Option<u64>,
}

/// Why a tool did nothing.
#[derive(Debug, Clone)]
pub struct Failure {
    /// A code of POSIX where there is one.
    pub code: Cow<'static, str>,
    /// For a model: what is wrong, and what to do next.
    pub error: String,
    /// More that helps, by the name that it has in the output.
    pub help: Map<String, Value>,
}

impl Failure {
    /// With this code and sentence.
    pub fn new(code: impl Into<Cow<'static, str>>, error: impl Into<String>) -> Self {
        Failure { code: code.into(), error: error.into(), help: Map::new() }
    }

    /// And this, which helps.
    #[must_use]
    pub fn with(mut self, name: &str, help: impl Into<Value>) -> Self {
        self.help.insert(name.to_owned(), help.into());
        self
    }

    /// For programs.
    pub fn output(&self) -> Value {
        let mut output = json!({ "error": self.error, "code": self.code });
        if let Value::Object(output) = &mut output {
            output.extend(self.help.clone());
        }
        output
    }

    /// For a model: the sentence, and what helps in words.
    pub fn text(&self) -> String {
        let mut text = self.error.clone();
        let mut add = |line: String| {
            text.push('\n');
            text.push_str(&line);
        };
        if let Some(candidates) = self.help.get("candidates").and_then(Value::as_array) {
            let paths: Vec<&str> = candidates.iter().filter_map(Value::as_str).collect();
            add(format!("Did you mean: {}?", paths.join(", ")));
        }
        if let Some(nearest) = self.help.get("nearest") {
            let text = nearest.get("text").and_then(Value::as_str).unwrap_or_default();
            add(format!("The nearest text in the file:\n{text}"));
        }
        text
    }
}

/// Why a change was not made, before it is put into words: those may need another look at the files,
/// which is not to be had while a change is under way.
#[derive(Debug)]
pub enum Problem {
    /// The file system refused.
    Fs(FsError),
    /// The tool did.
    Refused(Failure),
}

impl From<FsError> for Problem {
    fn from(error: FsError) -> Self {
        Problem::Fs(error)
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Problem::Refused(failure)
    }
}

impl From<FsError> for Failure {
    fn from(error: FsError) -> Self {
        Failure::new(error.code().name(), error.sentence())
    }
}
