//! `workspace.fs`: what only looks.

use std::ptr;

use napi::bindgen_prelude::{Float64Array, ToNapiValue, Unknown};
use napi::{Env, ValueType, sys};
use napi_derive::napi;

use super::answer::{About, Answer, Bytes, Text, attempt};
use super::args::{self, Options};
use super::files::NativeFiles;
use super::streams::{NativeDownload, NativeWatch};
use crate::error::{FsError, Result};
use crate::limits::{SMALL_CONTENT_BYTES, SMALL_LISTING_ENTRIES};
use crate::path::WorkspacePath;
use crate::search::{self, Case, FindOptions, GrepOptions, Syntax};
use crate::store::{Kind, ReadTx};
use crate::vfs::{self, Access, Download, Range, Watch};

/// What `stat` says, as an array: the name, then the numbers in the order of `lib/filesystem.ts`.
/// Setting a dozen properties of an object through N-API costs as much as all the rest of a
/// `stat`.
pub struct StatRow(vfs::Stat);

impl ToNapiValue for StatRow {
    unsafe fn to_napi_value(env: sys::napi_env, StatRow(stat): Self) -> napi::Result<sys::napi_value> {
        let inode = &stat.inode;
        let numbers = [
            inode.kind.code() as f64,
            inode.id as f64,
            f64::from(inode.mode),
            inode.nlink as f64,
            inode.size as f64,
            inode.mtime,
            inode.ctime,
            inode.atime,
            inode.birthtime,
        ];
        // SAFETY: `env` is the one that the caller vouches for; the out pointers are ours, and
        // every index is below the length.
        unsafe {
            let mut array = ptr::null_mut();
            napi::check_status!(sys::napi_create_array_with_length(env, numbers.len() + 1, &mut array))?;
            let name = String::to_napi_value(env, stat.name)?;
            napi::check_status!(sys::napi_set_element(env, array, 0, name))?;
            for (index, number) in (1..).zip(numbers) {
                let mut value = ptr::null_mut();
                napi::check_status!(sys::napi_create_double(env, number, &mut value))?;
                napi::check_status!(sys::napi_set_element(env, array, index, value))?;
            }
            Ok(array)
        }
    }
}

/// A listing, by column: one object an entry would be made on the JavaScript thread, through
/// N-API, at ten times the cost. Names are joined by `/`, which none contains, parents by NUL.
#[napi(object, object_from_js = false)]
#[allow(missing_docs)]
pub struct NativeListing {
    pub parents: String,
    pub names: String,
    /// For each entry its type (1 file, 2 directory, 3 link), size and mtime.
    pub numbers: Float64Array,
}

impl From<vfs::Listing> for NativeListing {
    fn from(listing: vfs::Listing) -> Self {
        let names: Vec<&str> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
        let numbers: Vec<f64> = listing
            .entries
            .iter()
            .flat_map(|entry| [entry.kind.code() as f64, entry.size as f64, entry.mtime])
            .collect();
        NativeListing {
            names: names.join("/"),
            parents: listing.parents.join("\0"),
            numbers: Float64Array::new(numbers),
        }
    }
}

/// Use of the workspace, in bytes and pieces.
#[napi(object, object_from_js = false)]
#[allow(missing_docs)]
pub struct NativeUsage {
    pub files: f64,
    pub directories: f64,
    pub bytes: f64,
    pub stored_bytes: f64,
    pub database_bytes: f64,
    pub wal_bytes: f64,
    pub quota_bytes: Option<f64>,
}

fn encoding(name: &str, value: &Unknown<'_>) -> Result<()> {
    let encoding = args::string(name, value)?;
    if encoding.eq_ignore_ascii_case("utf8") || encoding.eq_ignore_ascii_case("utf-8") {
        return Ok(());
    }
    Err(FsError::invalid(format!(
        "encoding '{encoding}' is not supported; use \"utf8\", or none for a stream of bytes"
    )))
}

/// Options of `readFile`, or an encoding in their place. Says whether text is wanted.
fn read_options(options: &Unknown<'_>) -> Result<(bool, Range)> {
    if matches!(options.get_type(), Ok(ValueType::String)) {
        encoding("encoding", options)?;
        return Ok((true, Range::default()));
    }
    let options = Options::read("options", options, &["encoding", "byteOffset", "byteLength"])?;
    Ok((options.get("encoding", encoding)?.is_some(), byte_range(&options)?))
}

fn byte_range(options: &Options<'_>) -> Result<Range> {
    Ok(Range {
        offset: options.get("byteOffset", args::count)?.unwrap_or(0),
        length: options.get("byteLength", args::count)?,
    })
}

fn page(options: &Options<'_>) -> Result<(u64, u64)> {
    Ok((
        options.get("offset", args::count)?.unwrap_or(0),
        options.get("limit", args::count)?.unwrap_or(u64::MAX),
    ))
}

#[napi]
impl NativeFiles {
    /// Whether these options of `readFile` ask for text. Checks them.
    #[napi(catch_unwind)]
    pub fn wants_text(&self, options: Unknown<'_>) -> napi::Result<bool> {
        attempt("open", || read_options(&options).map(|(wants_text, _)| wants_text))
    }

    /// A path in its canonical form.
    #[napi(catch_unwind)]
    pub fn canonical(&self, path: Unknown<'_>) -> napi::Result<String> {
        attempt("open", || Ok(args::path("path", &path)?.to_string()))
    }

    /// `readFile` as text.
    #[napi(catch_unwind, ts_return_type = "string | Promise<string>")]
    pub fn read_text<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Answer<'env, Text>> {
        let (about, path) = About::path("open", "path", &path)?;
        let (_, range) = about.attempt(|| read_options(&options))?;
        let small = path.clone();
        self.read(
            env,
            about,
            move |tx| {
                let slice = vfs::slice_of(tx, &small, range)?;
                if slice.size > SMALL_CONTENT_BYTES {
                    return Ok(None);
                }
                vfs::read_file(tx, slice).and_then(Text::decode).map(Some)
            },
            move |tx| {
                let slice = vfs::slice_of(tx, &path, range)?;
                vfs::read_file(tx, slice).and_then(Text::decode)
            },
        )
    }

    /// `readFile` as bytes: all of them, if they are few, or a download to take pieces from.
    #[napi(catch_unwind, ts_return_type = "NativeDownload | Promise<NativeDownload>")]
    pub fn download<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Answer<'env, NativeDownload>> {
        let (about, path) = About::path("open", "path", &path)?;
        let (_, range) = about.attempt(|| read_options(&options))?;
        let scope = &self.scope;
        let here = about.attempt(|| {
            scope.check_open()?;
            let small =
                scope.read_here(&|tx| Download::open_small(tx, scope, &path, range, SMALL_CONTENT_BYTES));
            small.transpose().map(Option::flatten)
        })?;
        if let Some(download) = here {
            return Ok(Answer::Now(NativeDownload::new(download)));
        }
        self.read_large(env, about, move |scope| Download::open(scope, &path, range).map(NativeDownload::new))
    }

    /// `readdir`.
    #[napi(catch_unwind, ts_return_type = "NativeListing | Promise<NativeListing>")]
    pub fn readdir<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Answer<'env, NativeListing>> {
        let (about, path) = About::path("scandir", "path", &path)?;
        let (is_recursive, offset, limit) = about.attempt(|| {
            let options = Options::read("options", &options, &["recursive", "limit", "offset"])?;
            let (offset, limit) = page(&options)?;
            Ok((options.flag("recursive")?, offset, limit))
        })?;
        let small = path.clone();
        self.read(
            env,
            about,
            move |tx| {
                let enough = SMALL_LISTING_ENTRIES as u64 + 1;
                if is_recursive || offset > enough {
                    return Ok(None);
                }
                let listing = vfs::readdir(tx, &small, false, offset, limit.min(enough))?;
                let is_all = (listing.entries.len() as u64) < enough || limit <= enough;
                Ok(is_all.then(|| listing.into()))
            },
            move |tx| vfs::readdir(tx, &path, is_recursive, offset, limit).map(NativeListing::from),
        )
    }

    /// `stat`, or `lstat`.
    #[napi(catch_unwind, ts_return_type = "NativeStat | Promise<NativeStat>")]
    pub fn stat<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        follows_links: bool,
    ) -> napi::Result<Answer<'env, StatRow>> {
        let syscall = if follows_links { "stat" } else { "lstat" };
        let (about, path) = About::path(syscall, "path", &path)?;
        self.read_small(env, about, move |tx| {
            let stat = if follows_links { vfs::stat(tx, &path) } else { vfs::lstat(tx, &path) };
            stat.map(StatRow)
        })
    }

    /// `exists`.
    #[napi(catch_unwind, ts_return_type = "boolean | Promise<boolean>")]
    pub fn exists<'env>(&self, env: &'env Env, path: Unknown<'_>) -> napi::Result<Answer<'env, bool>> {
        let (about, path) = About::path("access", "path", &path)?;
        self.read_small(env, about, move |tx| vfs::exists(tx, &path))
    }

    /// `access`, with the bits of `fs.constants`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn access<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        mode: Unknown<'_>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, path) = About::path("access", "path", &path)?;
        let mode = about.attempt(|| {
            let bits = if args::is_absent(&mode) { 0 } else { args::count("mode", &mode)? };
            if bits > 7 {
                return Err(FsError::invalid(format!(
                    "mode must combine F_OK (0), R_OK (4), W_OK (2) and X_OK (1); received {bits}"
                )));
            }
            Ok(Access { write: bits & 2 != 0, execute: bits & 1 != 0 })
        })?;
        let is_readonly = self.scope.store().is_readonly();
        self.read_small(env, about, move |tx| vfs::access(tx, &path, mode, is_readonly))
    }

    /// `readlink`.
    #[napi(catch_unwind, ts_return_type = "string | Promise<string>")]
    pub fn readlink<'env>(&self, env: &'env Env, path: Unknown<'_>) -> napi::Result<Answer<'env, String>> {
        let (about, path) = About::path("readlink", "path", &path)?;
        self.read_small(env, about, move |tx| vfs::readlink(tx, &path))
    }

    /// `realpath`.
    #[napi(catch_unwind, ts_return_type = "string | Promise<string>")]
    pub fn realpath<'env>(&self, env: &'env Env, path: Unknown<'_>) -> napi::Result<Answer<'env, String>> {
        let (about, path) = About::path("realpath", "path", &path)?;
        self.read_small(env, about, move |tx| vfs::realpath(tx, &path))
    }

    /// `statfs`.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeUsage>")]
    pub fn statfs<'env>(&self, env: &'env Env, path: Unknown<'_>) -> napi::Result<Answer<'env, NativeUsage>> {
        let (about, path) = if args::is_absent(&path) {
            (About::call("statfs"), WorkspacePath::root())
        } else {
            About::path("statfs", "path", &path)?
        };
        self.read_large(env, about, move |scope| {
            let usage = scope.read_now(|tx| vfs::usage(tx, &path, scope.store()))?;
            Ok(NativeUsage {
                files: usage.files as f64,
                directories: usage.directories as f64,
                bytes: usage.bytes as f64,
                stored_bytes: usage.stored_bytes as f64,
                database_bytes: usage.database_bytes as f64,
                wal_bytes: usage.wal_bytes as f64,
                quota_bytes: usage.quota_bytes.map(|bytes| bytes as f64),
            })
        })
    }

    /// `find`. The types, one character each (`f`, `d`, `l`), and after a NUL the paths, joined
    /// by NUL.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn find<'env>(
        &self,
        env: &'env Env,
        directory: Unknown<'_>,
        pattern: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Answer<'env, String>> {
        let (about, directory) = About::path("find", "directory", &directory)?;
        let options = about.attempt(|| {
            let pattern =
                if args::is_absent(&pattern) { None } else { Some(args::string("pattern", &pattern)?) };
            let options = Options::read("options", &options, &["exclude", "limit", "offset"])?;
            let (offset, limit) = page(&options)?;
            let exclude = options.get("exclude", args::globs)?.unwrap_or_default();
            FindOptions::new(pattern.as_deref(), &exclude, offset, limit)
        })?;
        self.search(env, about, move |scope| {
            let found = search::find(scope, &directory, &options)?;
            let mut text: String = found
                .iter()
                .map(|found| match found.kind {
                    Kind::File => 'f',
                    Kind::Directory => 'd',
                    Kind::Link => 'l',
                })
                .collect();
            for found in &found {
                text.push('\0');
                text.push_str(&found.path);
            }
            Ok(text)
        })
    }

    /// `ls`: the paths, joined by NUL; none is an empty string.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn ls<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> napi::Result<Answer<'env, String>> {
        let (about, prefix) = About::path("ls", "prefix", &prefix)?;
        self.search(env, about, move |scope| Ok(search::ls(scope, &prefix)?.join("\0")))
    }

    /// `grep`: JSON, as bytes, of `{ matches, truncated, filesSearched, skipped }`.
    #[napi(catch_unwind, ts_return_type = "Promise<Uint8Array>")]
    pub fn grep<'env>(
        &self,
        env: &'env Env,
        pattern: Unknown<'_>,
        path: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Answer<'env, Bytes>> {
        let (about, path) = About::path("grep", "path", &path)?;
        let options = about.attempt(|| {
            let pattern = args::string("pattern", &pattern)?;
            let known = ["regex", "ignoreCase", "context", "include", "exclude", "limit", "offset"];
            let options = Options::read("options", &options, &known)?;
            let (offset, limit) = page(&options)?;
            let include = options.get("include", args::string)?;
            let exclude = options.get("exclude", args::globs)?.unwrap_or_default();
            let context = options.get("context", args::count)?.unwrap_or(0);
            let (regex, ignore_case) = (options.flag("regex")?, options.flag("ignoreCase")?);
            let syntax = if regex { Syntax::Regex } else { Syntax::Literal };
            let case = if ignore_case { Case::Ignored } else { Case::Sensitive };
            let pattern = search::Pattern::new(&pattern, syntax, case)?;
            GrepOptions::new(pattern, include.as_deref(), &exclude, context, offset, limit)
        })?;
        self.search(env, about, move |scope| {
            search::grep(scope, &path, &options).map(|found| Bytes(found.to_json()))
        })
    }

    /// `watch`.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeWatch>")]
    pub fn watch<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Answer<'env, NativeWatch>> {
        let (about, path) = About::path("watch", "path", &path)?;
        let (is_recursive, since) = about.attempt(|| {
            if self.scope.is_transaction() {
                return Err(FsError::invalid("a transaction has nothing to watch; use workspace.fs.watch"));
            }
            self.scope.check_open()?;
            let options = Options::read("options", &options, &["recursive", "signal", "since"])?;
            let since = match options.get("since", args::string)? {
                Some(since) => {
                    Some(since.parse::<i64>().ok().filter(|since| *since >= 0).ok_or_else(|| {
                        FsError::invalid("'since' must be the cursor of an event; it is not one of ours")
                    })?)
                }
                // Now is when this is called, not when the watch is set up.
                None => {
                    let now = |tx: &ReadTx<'_>| Ok(tx.totals()?.seq);
                    // With every connection in use this opens one, on this thread: what happens
                    // from here on must not be missed.
                    let here = self.scope.read_here(&now);
                    Some(here.unwrap_or_else(|| self.scope.read_now(now))?)
                }
            };
            Ok((options.flag("recursive")?, since))
        })?;
        self.read_large(env, about, move |scope| {
            Watch::open(scope.store(), &path, is_recursive, since).map(NativeWatch::new)
        })
    }
}
