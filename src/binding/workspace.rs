//! The class behind `Workspace`, and transactions.

use std::path::PathBuf;
use std::sync::Arc;

use napi::Env;
use napi::ValueType;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::answer::{About, Answer, attempt, later};
use super::args::{self, Options};
use super::files::NativeFiles;
use crate::error::{FsError, Result};
use crate::rules::{Layer, Rules};
use crate::store::{self, Config, Durability, Location, Scope, Store, Transaction};

/// An open workspace.
#[napi]
pub struct NativeWorkspace {
    pub(super) store: Store,
}

/// An open transaction. Dropped without an end, it is rolled back.
#[napi]
pub struct NativeTransaction {
    transaction: Arc<Transaction>,
}

/// What `check` found.
#[napi(object, object_from_js = false)]
#[allow(missing_docs)]
pub struct NativeReport {
    pub ok: bool,
    pub problems: Vec<NativeProblem>,
    pub files: f64,
    pub bytes: f64,
}

/// One broken rule.
#[napi(object, object_from_js = false)]
#[allow(missing_docs)]
pub struct NativeProblem {
    pub rule: String,
    pub detail: String,
    pub path: Option<String>,
}

fn durability(name: &str, value: &Unknown<'_>) -> Result<Durability> {
    match args::string(name, value)?.as_str() {
        "full" => Ok(Durability::Full),
        "normal" => Ok(Durability::Normal),
        "off" => Ok(Durability::Off),
        other => Err(FsError::invalid(format!(
            "{name} must be \"full\", \"normal\" or \"off\"; received \"{other}\""
        ))),
    }
}

/// Where and how: `storage` is a path, `":memory:"` or an object.
fn storage(name: &str, value: &Unknown<'_>) -> Result<(Location, Durability)> {
    let (path, durability, readonly) = match value.get_type() {
        Ok(ValueType::String) => (args::string(name, value)?, None, false),
        Ok(ValueType::Object) => {
            let options = Options::read(name, value, &["path", "durability", "readonly"])?;
            let path = options
                .get("path", args::string)?
                .ok_or_else(|| FsError::arg_type(format!("{name}.path must be a string; it is not given")))?;
            (path, options.get("durability", durability)?, options.flag("readonly")?)
        }
        _ => {
            return Err(FsError::arg_type(format!(
                "{name} must be a path, \":memory:\" or an object with a path"
            )));
        }
    };
    if path.is_empty() || path.contains('\0') {
        return Err(FsError::invalid(format!("{name} must name a file; it is empty or has a NUL byte")));
    }
    if path == ":memory:" {
        if readonly {
            return Err(FsError::invalid("a workspace in memory cannot be read-only: it would be empty"));
        }
        return Ok((Location::Memory, durability_or_full(durability)));
    }
    // Absolute, so that a later `process.chdir()` does not move it.
    let path = std::path::absolute(PathBuf::from(path))
        .map_err(|error| FsError::invalid(format!("{name} is no usable path: {error}")))?;
    Ok((Location::File { path, readonly }, durability_or_full(durability)))
}

fn durability_or_full(given: Option<Durability>) -> Durability {
    given.unwrap_or(Durability::Full)
}

#[napi]
impl NativeWorkspace {
    /// Opens a workspace, and makes it if there is none.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: Unknown<'_>) -> napi::Result<Self> {
        attempt("open", || {
            let options =
                Options::read("options", &options, &["storage", "now", "quotaBytes", "rules", "audit"])?;
            let (location, durability) = options.get("storage", storage)?.ok_or_else(|| {
                FsError::arg_type(
                    "options.storage must be a path, \":memory:\" or an object with a path; it is not given",
                )
            })?;
            let quota_bytes = options.get("quotaBytes", args::count)?;
            let rules =
                options.get("rules", |name, value| args::rules(name, value, None))?.unwrap_or_default();
            let rules = Rules::within(None, Layer { root: None, rules });
            let is_audited = options.flag("audit")?;
            let config = Config { location, durability, quota_bytes, rules, is_audited };
            Ok(NativeWorkspace { store: Store::open(config)? })
        })
    }

    /// Its files.
    #[napi(catch_unwind)]
    pub fn files(&self) -> NativeFiles {
        NativeFiles { scope: Scope::workspace(self.store.clone()) }
    }

    /// Begins a transaction when its turn comes.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeTransaction>")]
    pub fn begin<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, NativeTransaction>> {
        attempt("transaction", || {
            self.store.check_open()?;
            self.store.check_writable()
        })?;
        let call = self.store.enter();
        later(env, |settle| {
            Transaction::begin(&self.store, move |transaction| {
                settle(transaction.map(|transaction| NativeTransaction { transaction }));
                drop(call);
            });
        })
    }

    /// Checks the database and every rule of its format.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeReport>")]
    pub fn check<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, NativeReport>> {
        self.files().search(env, About::call("check"), |scope| {
            let report = scope.read_now(|tx| tx.check())?;
            Ok(NativeReport {
                ok: report.problems.is_empty(),
                problems: report
                    .problems
                    .into_iter()
                    .map(|problem| NativeProblem {
                        rule: problem.rule.to_owned(),
                        detail: problem.detail,
                        path: problem.path,
                    })
                    .collect(),
                files: report.files as f64,
                bytes: report.bytes as f64,
            })
        })
    }

    /// Gives unused space back; the bytes freed.
    #[napi(catch_unwind, ts_return_type = "Promise<number>")]
    pub fn compact<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, f64>> {
        attempt("compact", || {
            self.store.check_open()?;
            self.store.check_writable()
        })?;
        later(env, |settle| {
            store::compact(&self.store, move |freed| {
                settle(freed.map(|bytes| bytes as f64).map_err(|error| error.during("compact")));
            });
        })
    }

    /// Ends the use of the workspace, after the calls under way.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, ()>> {
        later(env, |settle| self.store.close(move || settle(Ok(()))))
    }
}

#[napi]
impl NativeTransaction {
    /// The files as the transaction sees and changes them.
    #[napi(catch_unwind)]
    pub fn files(&self) -> NativeFiles {
        NativeFiles { scope: Scope::within(Arc::clone(&self.transaction)) }
    }

    /// Ends it: all or nothing becomes visible.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn end<'env>(&self, env: &'env Env, is_commit: bool) -> napi::Result<Answer<'env, ()>> {
        let transaction = Arc::clone(&self.transaction);
        let call = transaction.store().enter();
        later(env, |settle| {
            store::executor::spawn_blocking(move || {
                settle(transaction.end(is_commit).map_err(|error| error.during("transaction")));
                drop(call);
            });
        })
    }
}
