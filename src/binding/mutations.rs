//! `workspace.fs`: what changes files.

use napi::Env;
use napi::bindgen_prelude::{Uint8Array, Unknown};
use napi::{JsValue, ValueType};
use napi_derive::napi;

use super::answer::{About, Answer, attempt};
use super::args::{self, Options};
use super::files::{Effort, NativeFiles};
use super::streams::NativeUpload;
use crate::error::{FsError, Result};
use crate::limits::{CHUNK_BYTES, SMALL_CONTENT_BYTES};
use crate::store::Piece;
use crate::vfs::{self, Condition, CopyTree, NewFile, Upload, UploadTarget};

/// Most bytes that `writeFile` and `appendFile` take in one piece; more goes through an upload.
#[napi]
#[allow(dead_code, reason = "read by lib/, through the addon")]
pub const PIECE_BYTES_MAX: u32 = CHUNK_BYTES as u32;

/// Content in one piece: a string, or bytes, copied.
fn content(value: &Unknown<'_>) -> Result<Vec<u8>> {
    match value.get_type() {
        Ok(ValueType::String) => args::lossy_string("content", value).map(String::into_bytes),
        _ if value.is_typedarray().unwrap_or(false) => {
            use napi::bindgen_prelude::FromNapiValue;
            // Read and copied in this call, on this thread: the view cannot change under it.
            Uint8Array::from_unknown(*value)
                .map(|bytes| bytes.to_vec())
                .map_err(|_| FsError::arg_type("content must be a string or a Uint8Array"))
        }
        _ => Err(FsError::arg_type("content must be a string or bytes")),
    }
}

fn effort(bytes: usize) -> Effort {
    if bytes as u64 <= SMALL_CONTENT_BYTES { Effort::Small } else { Effort::Large(bytes) }
}

fn write_options(options: &Unknown<'_>) -> Result<NewFile> {
    let options = Options::read("options", options, &["mode", "exclusive", "signal"])?;
    let condition = if options.flag("exclusive")? { Condition::Absent } else { Condition::Any };
    Ok(NewFile { mode: options.get("mode", args::mode)?, condition })
}

fn append_options(options: &Unknown<'_>) -> Result<NewFile> {
    let options = Options::read("options", options, &["mode", "signal"])?;
    Ok(NewFile { mode: options.get("mode", args::mode)?, condition: Condition::Any })
}

fn copy_options(options: &Unknown<'_>, skipped: Vec<String>) -> Result<CopyTree> {
    let known = ["recursive", "force", "errorOnExist", "dereference", "preserveTimestamps", "filter"];
    let options = Options::read("options", options, &known)?;
    Ok(CopyTree {
        is_recursive: options.flag("recursive")?,
        is_forced: options.get("force", args::boolean)?.unwrap_or(true),
        error_on_exist: options.flag("errorOnExist")?,
        dereference: options.flag("dereference")?,
        preserve_timestamps: options.flag("preserveTimestamps")?,
        skipped: skipped.into_iter().collect(),
    })
}

fn recursive_options(options: &Unknown<'_>, other: &str) -> Result<(bool, bool)> {
    let options = Options::read("options", options, &["recursive", other])?;
    Ok((options.flag("recursive")?, options.flag(other)?))
}

#[napi]
impl NativeFiles {
    /// Writes a file from content in one piece.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn write_file<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        content_value: Unknown<'_>,
        options: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, path) = About::path("open", "path", &path)?;
        let (file, bytes, now) =
            about.attempt(|| Ok((write_options(&options)?, content(&content_value)?, args::now(now)?)))?;
        let size = effort(bytes.len());
        self.write(env, about, now, size, move |tx| {
            vfs::write(tx, &path, file, vfs::NewContent::Piece(&Piece::new(bytes)))
        })
    }

    /// Adds content in one piece to the end of a file.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn append_file<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        content_value: Unknown<'_>,
        options: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, path) = About::path("open", "path", &path)?;
        let (file, bytes, now) =
            about.attempt(|| Ok((append_options(&options)?, content(&content_value)?, args::now(now)?)))?;
        // The last chunk is written anew: what counts is how long it is.
        let tail = self.scope.read_here(&|tx| vfs::slice_of(tx, &path, vfs::Range::default()));
        let tail_bytes = match tail {
            Some(Ok(slice)) => (slice.size % CHUNK_BYTES as u64) as usize,
            _ => 0,
        };
        self.write(env, about, now, effort(tail_bytes + bytes.len()), move |tx| {
            vfs::append(tx, &path, file.mode, &vfs::Tail::Bytes(&bytes))
        })
    }

    /// Begins a write or append of content that comes in pieces. The target is checked first.
    #[napi(catch_unwind, ts_return_type = "NativeUpload | Promise<NativeUpload>")]
    pub fn upload<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        options: Unknown<'_>,
        is_append: bool,
        is_at_hand: bool,
    ) -> napi::Result<Answer<'env, NativeUpload>> {
        let (about, path) = About::path("open", "path", &path)?;
        let target = about.attempt(|| {
            self.scope.check_open()?;
            self.scope.store().check_writable()?;
            let file = if is_append { append_options(&options)? } else { write_options(&options)? };
            Ok(UploadTarget { path, file, is_append })
        })?;
        let scope = self.scope.clone();
        self.read_small(env, about, move |tx| {
            target.check(tx)?;
            let upload = Upload::new(scope.clone(), target.clone());
            let counts = is_at_hand || scope.is_transaction();
            Ok(NativeUpload::new(upload, scope.store().clone(), counts))
        })
    }

    /// `mkdir`: the first directory made, if the call was recursive.
    #[napi(catch_unwind, ts_return_type = "string | null | Promise<string | null>")]
    pub fn mkdir<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        options: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, Option<String>>> {
        let (about, path) = About::path("mkdir", "path", &path)?;
        let (is_recursive, mode, now) = about.attempt(|| {
            let options = Options::read("options", &options, &["recursive", "mode"])?;
            Ok((options.flag("recursive")?, options.get("mode", args::mode)?, args::now(now)?))
        })?;
        self.write(env, about, now, Effort::Small, move |tx| {
            let made = vfs::mkdir(tx, &path, is_recursive, mode)?;
            Ok(made.filter(|_| is_recursive))
        })
    }

    /// `rm`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn rm<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        options: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, path) = About::path("rm", "path", &path)?;
        let (is_recursive, is_forced, now) = about.attempt(|| {
            let (is_recursive, is_forced) = recursive_options(&options, "force")?;
            Ok((is_recursive, is_forced, args::now(now)?))
        })?;
        let size = if is_recursive { Effort::Large(0) } else { Effort::Small };
        self.write(env, about, now, size, move |tx| vfs::rm(tx, &path, is_recursive, is_forced).map(|_| ()))
    }

    /// `rename`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn rename<'env>(
        &self,
        env: &'env Env,
        from: Unknown<'_>,
        to: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, from, to) = About::paths("rename", ("oldPath", &from), ("newPath", &to))?;
        let now = about.attempt(|| args::now(now))?;
        self.write(env, about, now, Effort::Small, move |tx| vfs::rename(tx, &from, &to))
    }

    /// `symlink`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn symlink<'env>(
        &self,
        env: &'env Env,
        target: Unknown<'_>,
        path: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (_, path) = About::path("symlink", "path", &path)?;
        let target = attempt("symlink", || args::string("target", &target))?;
        let about = About::of("symlink", &target, path.as_str());
        let now = about.attempt(|| args::now(now))?;
        self.write(env, about, now, Effort::Small, move |tx| vfs::symlink(tx, &target, &path))
    }

    /// `link`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn link<'env>(
        &self,
        env: &'env Env,
        existing: Unknown<'_>,
        path: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, existing, path) = About::paths("link", ("existingPath", &existing), ("newPath", &path))?;
        let now = about.attempt(|| args::now(now))?;
        self.write(env, about, now, Effort::Small, move |tx| vfs::link(tx, &existing, &path))
    }

    /// `chmod`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn chmod<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        mode: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, path) = About::path("chmod", "path", &path)?;
        let (mode, now) = about.attempt(|| Ok((args::mode("mode", &mode)?, args::now(now)?)))?;
        self.write(env, about, now, Effort::Small, move |tx| vfs::chmod(tx, &path, mode))
    }

    /// `utimes`, with both times in milliseconds since the epoch.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn utimes<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        atime: Unknown<'_>,
        mtime: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, path) = About::path("utime", "path", &path)?;
        let (atime, mtime, now) = about.attempt(|| {
            Ok((args::finite("atime", &atime)?, args::finite("mtime", &mtime)?, args::now(now)?))
        })?;
        self.write(env, about, now, Effort::Small, move |tx| vfs::utimes(tx, &path, atime, mtime))
    }

    /// `truncate`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn truncate<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        length: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, path) = About::path("open", "path", &path)?;
        let (length, now) = about.attempt(|| {
            let length = if args::is_absent(&length) { 0 } else { args::count("length", &length)? };
            Ok((length, args::now(now)?))
        })?;
        let size = if length <= SMALL_CONTENT_BYTES { Effort::Small } else { Effort::Large(CHUNK_BYTES) };
        self.write(env, about, now, size, move |tx| vfs::truncate(tx, &path, length))
    }

    /// `copyFile`.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn copy_file<'env>(
        &self,
        env: &'env Env,
        from: Unknown<'_>,
        to: Unknown<'_>,
        options: Unknown<'_>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, from, to) = About::paths("copyfile", ("source", &from), ("destination", &to))?;
        let (condition, now) = about.attempt(|| {
            let options = Options::read("options", &options, &["exclusive"])?;
            let condition = if options.flag("exclusive")? { Condition::Absent } else { Condition::Any };
            Ok((condition, args::now(now)?))
        })?;
        self.write(env, about, now, Effort::Small, move |tx| vfs::copy_file(tx, &from, &to, condition))
    }

    /// The paths that `cp` with these options would copy, a directory before its contents.
    #[napi(catch_unwind, ts_return_type = "Promise<string[]>")]
    pub fn cp_sources<'env>(
        &self,
        env: &'env Env,
        from: Unknown<'_>,
        to: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Answer<'env, Vec<String>>> {
        let (about, from, _) = About::paths("cp", ("source", &from), ("destination", &to))?;
        let options = about.attempt(|| copy_options(&options, Vec::new()))?;
        self.read_large(env, about, move |scope| {
            scope.read_now(|tx| vfs::sources(tx, &from, options.is_recursive, options.dereference))
        })
    }

    /// `cp`. `skipped` are the source paths that the caller's filter refused.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn cp<'env>(
        &self,
        env: &'env Env,
        from: Unknown<'_>,
        to: Unknown<'_>,
        options: Unknown<'_>,
        skipped: Vec<String>,
        now: Option<f64>,
    ) -> napi::Result<Answer<'env, ()>> {
        let (about, from, to) = About::paths("cp", ("source", &from), ("destination", &to))?;
        let (options, now) = about.attempt(|| Ok((copy_options(&options, skipped)?, args::now(now)?)))?;
        self.write(env, about, now, Effort::Large(0), move |tx| vfs::copy_tree(tx, &from, &to, &options))
    }
}
