//! Which file of the workspace an `import` means, and its source.
//!
//! Node's resolution for ES modules, as far as it needs no packages: relative to the importer, absolute,
//! or a `file:` URL. A link is followed, so that one file is one module. Messages are Node's.
//!
//! Not here: names of packages, built-ins and configured modules, and what the source means.

use super::Files;
use super::failure::Failure;
use super::locate::locate;
use crate::error::Code;
use crate::path::WorkspacePath;
use crate::store::{Kind, ReadTx};
use crate::vfs::{self, LastLink, Range, Resolved};

/// How the source of a module is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JavaScript.
    Module,
    /// TypeScript, whose types are to be stripped.
    TypeScript,
    /// One JSON value.
    Json,
}

impl Format {
    /// As it crosses to the isolate.
    pub fn name(self) -> &'static str {
        match self {
            Format::Module => "module",
            Format::TypeScript => "typescript",
            Format::Json => "json",
        }
    }
}

/// A module that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Its real path.
    pub path: String,
    /// What the specifier had after the path, from `?` or `#` on: each is a module of its own.
    pub suffix: String,
    /// How to read it.
    pub format: Format,
    /// Its text.
    pub source: String,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// As `error.code`.
    pub code: &'static str,
    /// The whole message.
    pub message: String,
    /// The path that it is about.
    pub path: Option<String>,
}

impl ImportError {
    fn new(code: &'static str, message: String, path: Option<&str>) -> Self {
        ImportError { code, message, path: path.map(str::to_owned) }
    }
}

impl From<crate::error::FsError> for ImportError {
    fn from(error: crate::error::FsError) -> Self {
        let path = error.path().map(str::to_owned);
        ImportError { code: error.code().name(), message: error.to_string(), path }
    }
}

impl Files {
    /// The module that `specifier` means in the module `referrer`: its path, with its suffix, or a `file:`
    /// URL. `attribute` is the import's `type`, if it has one.
    pub fn resolve_import(
        &self,
        specifier: &str,
        referrer: &str,
        attribute: Option<&str>,
    ) -> Result<Import, ImportError> {
        if let Some(other) = attribute
            && other != "json"
        {
            return Err(ImportError::new(
                "ERR_IMPORT_ATTRIBUTE_UNSUPPORTED",
                format!("Import attribute \"type\" with value \"{other}\" is not supported"),
                None,
            ));
        }
        let referrer = match referrer.strip_prefix("file://") {
            Some(url) => decoded(split_suffix(url).0, specifier, referrer)?,
            None => without_suffix(referrer).to_owned(),
        };
        let (raw, suffix) = located(specifier, &referrer)?;
        let found = self.scope.read_now(|tx| Ok(self.find_module(tx, &raw, &referrer, attribute.is_some())));
        let (path, format, source) = found.map_err(ImportError::from)??;
        Ok(Import { path, suffix, format, source })
    }

    fn find_module(
        &self,
        tx: &ReadTx<'_>,
        raw: &str,
        referrer: &str,
        wants_json: bool,
    ) -> Result<(String, Format, String), ImportError> {
        let missing = || {
            let message = format!("Cannot find module '{raw}' imported from {referrer}");
            ImportError::new("ERR_MODULE_NOT_FOUND", message, Some(raw))
        };
        let root = WorkspacePath::root();
        let resolved = locate(tx, &root, raw, LastLink::Follow)
            .and_then(|at| vfs::realpath(tx, &at))
            .and_then(|real| WorkspacePath::parse(&real))
            .and_then(|at| Ok((vfs::resolve(tx, &at, LastLink::Follow).map(|found| kind_of(&found))?, at)));
        let (kind, at) = match resolved {
            Ok((Some(kind), at)) => (kind, at),
            Ok((None, _)) => return Err(missing()),
            Err(error) if matches!(error.code(), Code::NoEnt | Code::NotDir) => return Err(missing()),
            Err(error) => return Err(error.at(raw).during("open").into()),
        };
        let real = at.as_str();
        if kind == Kind::Directory || raw.ends_with('/') {
            return Err(ImportError::new(
                "ERR_UNSUPPORTED_DIR_IMPORT",
                format!(
                    "Directory import '{raw}' is not supported resolving ES modules imported from {referrer}"
                ),
                Some(raw),
            ));
        }
        let format = format_of(real)?;
        if wants_json && format != Format::Json {
            return Err(ImportError::new(
                "ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE",
                format!("Module \"file://{real}\" is not of type \"json\""),
                Some(real),
            ));
        }
        let slice = vfs::slice_of(tx, &at, Range::default())?;
        if slice.len() > self.piece_max() as u64 {
            let Failure { code, sentence, .. } = self.too_large(slice.len() as usize);
            let message = format!("{code}: {}, open '{real}'", sentence.unwrap_or_default());
            return Err(ImportError::new(code, message, Some(real)));
        }
        let bytes = vfs::read_file(tx, slice)?;
        let text =
            String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).into_owned();
        Ok((real.to_owned(), format, text))
    }
}

fn kind_of(found: &Resolved<'_>) -> Option<Kind> {
    match found {
        Resolved::Found { kind, .. } => Some(*kind),
        Resolved::Absent { .. } => None,
    }
}

/// By the end of its name. One without is JavaScript.
fn format_of(path: &str) -> Result<Format, ImportError> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rfind('.').filter(|at| *at > 0).map_or("", |at| &name[at..]);
    match extension {
        "" | ".js" | ".mjs" => Ok(Format::Module),
        ".ts" | ".mts" => Ok(Format::TypeScript),
        ".json" => Ok(Format::Json),
        ".cjs" | ".cts" => Err(ImportError::new(
            "ERR_UNKNOWN_FILE_EXTENSION",
            format!("CommonJS is not available: write {path} as an ES module (.mjs or .js)"),
            Some(path),
        )),
        other => Err(ImportError::new(
            "ERR_UNKNOWN_FILE_EXTENSION",
            format!("Unknown file extension \"{other}\" for {path}"),
            Some(path),
        )),
    }
}

/// The path that a specifier means, and what follows it.
fn located(specifier: &str, referrer: &str) -> Result<(String, String), ImportError> {
    let (path, suffix) = split_suffix(specifier);
    let folder = referrer.rsplit_once('/').map_or("", |(folder, _)| folder);
    let absolute = if let Some(url) = path.strip_prefix("file:") {
        let path = url.strip_prefix("//localhost").or_else(|| url.strip_prefix("//")).unwrap_or(url);
        if !path.starts_with('/') {
            return Err(ImportError::new(
                "ERR_INVALID_FILE_URL_HOST",
                format!("File URL host must be \"localhost\" or empty on linux: {specifier}"),
                None,
            ));
        }
        path.to_owned()
    } else if path.starts_with('/') {
        path.to_owned()
    } else if matches!(path, "." | "..") || path.starts_with("./") || path.starts_with("../") {
        format!("{folder}/{path}")
    } else {
        return Err(ImportError::new(
            "ERR_MODULE_NOT_FOUND",
            format!("Cannot find package '{specifier}' imported from {referrer}"),
            None,
        ));
    };
    // A specifier is a URL: `..` leads out of what it follows, whatever that is, and stops at the root.
    let mut text = String::new();
    let decoded = decoded(&absolute, specifier, referrer)?;
    let ends_in_directory = decoded.ends_with('/') || decoded.ends_with("/.") || decoded.ends_with("/..");
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => text.truncate(text.rfind('/').unwrap_or(0)),
            name => {
                text.push('/');
                text.push_str(name);
            }
        }
    }
    if text.is_empty() || ends_in_directory {
        text.push('/');
    }
    Ok((text, suffix.to_owned()))
}

fn split_suffix(specifier: &str) -> (&str, &str) {
    specifier.split_at(specifier.find(['?', '#']).unwrap_or(specifier.len()))
}

/// A module's path without its suffix. Names of directories can have a `?` or `#` in them, too.
fn without_suffix(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    &path[..name + split_suffix(&path[name..]).0.len()]
}

/// The path of a URL's path.
fn decoded(path: &str, specifier: &str, referrer: &str) -> Result<String, ImportError> {
    if !path.contains('%') {
        return Ok(path.to_owned());
    }
    let invalid = |reason: &str| {
        let message = format!("Invalid module \"{specifier}\" {reason} imported from {referrer}");
        ImportError::new("ERR_INVALID_MODULE_SPECIFIER", message, None)
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let code = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        match code {
            Some(b'/' | b'\\') => {
                return Err(invalid("must not include encoded \"/\" or \"\\\" characters"));
            }
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).map_err(|_| invalid("is not UTF-8 once decoded"))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}
