//! The file calls of one run: what `node:fs` inside the isolate asks for, served with the behaviour of
//! Linux.
//!
//! ```text
//! call(name, arguments) ──▶ reads: on the calling thread, or handed on if they are large
//!                     └───▶ changes: here if nobody writes, else with the next group commit
//! ```
//!
//! Always true:
//! - Every path leads below the root of the run once its links are followed, and the rules of the
//!   workspace and of the backend hold; all of that is asked of `vfs` through the scope.
//! - A change is one transaction. When its answer is there, it is committed, and as durable as the
//!   workspace promises; but what is written through a descriptor only once that is closed or `fsync`ed, as
//!   anywhere.
//! - What a call or an answer may weigh is bounded.
//!
//! Names and numbers are those of Node 24's `internalBinding("fs")`, as far as it has them; the JavaScript
//! around it is Node's. Not here: frames, and which thread a run has (`runtime`).

mod args;
mod attributes;
mod descriptor;
mod failure;
mod import;
mod locate;
mod names;
mod open;
#[cfg(test)]
mod tests;
mod whole;

use std::sync::{Arc, Mutex};

use carrel_wire::Value;

pub use import::{Format, Import, ImportError};

use crate::error::{Code, FsError, Result};
use crate::limits::CHUNK_BYTES;
use crate::path::WorkspacePath;
use crate::rules::{Access, Layer};
use crate::store::{ReadTx, Scope, WriteTx, executor, lock};
use crate::vfs::LastLink;
use args::Args;
use descriptor::{ChunkCache, Descriptor, Gone, Table};
use failure::{About, Failure};

/// Contents up to this size are read on the thread that asks.
const PROMPT_BYTES: u64 = 128 * 1024;

/// What an answer has around its bytes, at most.
const ANSWER_OVERHEAD_BYTES: usize = 64;

/// Bits that a run's new files and directories do not get.
const UMASK: u32 = 0o022;

/// Milliseconds since the epoch.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// See the module. Dropped, it closes what is open.
pub struct Files {
    scope: Scope,
    root: WorkspacePath,
    cwd: WorkspacePath,
    access: Access,
    call_bytes_max: usize,
    entries_max: u64,
    now: Clock,
    table: Mutex<Table>,
    cache: ChunkCache,
}

/// Takes the answer of a call.
type Done = Box<dyn FnOnce(Result<Value, Value>) + Send>;

impl Files {
    /// Those of a run that may not leave `root`, starts relative paths at `cwd`, and may do with files
    /// what both `scope` and `access` allow. A call or an answer has at most `call_bytes_max` bytes.
    pub fn new(
        scope: Scope,
        root: WorkspacePath,
        cwd: WorkspacePath,
        access: Access,
        call_bytes_max: usize,
        now: Clock,
    ) -> Self {
        let scope = if root.is_root() {
            scope
        } else {
            scope.narrowed(Layer { root: Some(root.clone()), rules: Vec::new() })
        };
        Files {
            scope,
            root,
            cwd,
            access,
            call_bytes_max: call_bytes_max.max(2 * ANSWER_OVERHEAD_BYTES),
            entries_max: u64::MAX,
            now,
            table: Mutex::default(),
            cache: ChunkCache::default(),
        }
    }

    /// The same with a limit on the entries of one listing.
    #[must_use]
    pub fn with_entries_max(self, entries_max: u64) -> Self {
        Files { entries_max, ..self }
    }

    /// Serves a call. `done` is called here, or on another thread once a lock or the disk was waited for.
    pub fn call(
        self: &Arc<Self>,
        name: &str,
        args: Vec<Value>,
        done: impl FnOnce(Result<Value, Value>) + Send + 'static,
    ) {
        let mut args = Args::new(args);
        let done: Done = Box::new(done);
        if let Err(error) = self.scope.check_open() {
            return done(Err(About::default().error(error.into())));
        }
        if let Err((failure, done)) = self.dispatch(name, &mut args, done) {
            done(Err(About::default().error(failure)));
        }
    }

    /// Gives `done` back with what is wrong with the arguments.
    fn dispatch(self: &Arc<Self>, name: &str, args: &mut Args, done: Done) -> Result<(), (Failure, Done)> {
        /// Reads the arguments, then serves the call.
        macro_rules! serve {
            ($method:ident $(, $argument:ident)*) => {{
                match (|| -> Result<_, Failure> { Ok(($(args.$argument()?,)*)) })() {
                    Ok(values) => self.$method(values, done),
                    Err(failure) => return Err((failure, done)),
                }
            }};
        }
        match name {
            "access" => serve!(access, path, word),
            "exists" => serve!(exists, path),
            "stat" => serve!(stat, path),
            "lstat" => serve!(lstat, path),
            "statfs" => serve!(statfs, path),
            "internalModuleStat" => serve!(module_stat, path),
            "readdir" => serve!(readdir, path),
            "readlink" => serve!(readlink, path),
            "realpath" => serve!(realpath, path),
            "mkdir" => serve!(mkdir, path, word, flag),
            "rename" => serve!(rename, path, path),
            "rmdir" => serve!(rmdir, path),
            "unlink" => serve!(unlink, path),
            "rm" => serve!(rm, path, flag),
            "symlink" => serve!(symlink, path, path),
            "link" => serve!(link, path, path),
            "copyFile" => serve!(copy_file, path, path, word),
            "chmod" => serve!(chmod, path, word),
            "chown" => serve!(chown, path, word, word),
            "lchown" => serve!(lchown, path, word, word),
            "utimes" => serve!(utimes, path, number, number),
            "lutimes" => serve!(lutimes, path, number, number),
            "open" => serve!(open, path, word, word),
            "close" => serve!(close, word),
            "read" => serve!(read, word, count, position),
            "write" => serve!(write, word, bytes, position),
            "fstat" => serve!(fstat, word),
            "ftruncate" => serve!(ftruncate, word, count),
            "fsync" => serve!(fsync, word),
            "fdatasync" => serve!(fdatasync, word),
            "fchmod" => serve!(fchmod, word, word),
            "fchown" => serve!(fchown, word, word, word),
            "futimes" => serve!(futimes, word, number, number),
            "readFile" => serve!(read_file, path),
            "writeFile" => serve!(write_file, path, bytes, word, word),
            _ => return Err((Failure::posix("ENOSYS", -38), done)),
        }
        Ok(())
    }

    /// Bytes that one answer can carry.
    fn piece_max(&self) -> usize {
        self.call_bytes_max - ANSWER_OVERHEAD_BYTES
    }

    /// The open descriptor of a number.
    fn descriptor(&self, number: u32) -> Result<Arc<Descriptor>, Failure> {
        lock(&self.table).get(number)
    }

    /// What is left of an open file that has no name any more.
    fn gone(&self, descriptor: &Descriptor) -> Result<Arc<Mutex<Gone>>, Failure> {
        lock(&self.table).gone(descriptor)
    }

    fn now(&self) -> f64 {
        (self.now)()
    }

    /// Where a path leads from the run's working directory.
    fn locate(&self, tx: &ReadTx<'_>, raw: &str, last: LastLink) -> Result<WorkspacePath> {
        locate::locate(tx, &self.cwd, raw, last)
    }

    /// `EROFS` where the run may change nothing.
    fn check_writable(&self) -> Result<()> {
        if self.access < Access::ReadWrite {
            return Err(FsError::new(Code::Rofs));
        }
        self.scope.store().check_writable().map_err(|_| FsError::new(Code::Rofs))
    }

    /// Answers with what `work` reads, on this thread.
    fn look(&self, about: &About, done: Done, work: impl Fn(&ReadTx<'_>) -> Result<Value>) {
        self.answer(about, done, self.scope.read_now(work).map_err(Failure::from));
    }

    /// Runs `work`, which is long, on a thread that may wait.
    fn hand_on(self: &Arc<Self>, work: impl FnOnce(&Arc<Self>) + Send + 'static) {
        let (files, call) = (Arc::clone(self), self.scope.store().enter());
        executor::spawn_blocking(move || {
            work(&files);
            drop(call);
        });
    }

    /// Answers with what came of a change of about `bytes`.
    fn change(
        self: &Arc<Self>,
        about: About,
        bytes: usize,
        done: Done,
        work: impl FnOnce(&WriteTx<'_>) -> Result<Value> + Send + 'static,
    ) {
        let files = Arc::clone(self);
        self.commit(bytes, work, move |changed| files.answer(&about, done, changed.map_err(Failure::from)));
    }

    /// Makes a change of about `bytes`, here if nobody else writes, and goes on with `then`.
    fn commit<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
        then: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        self.commit_as(true, bytes, work, then);
    }

    /// The same; unless `is_durable`, the disk is not waited for.
    fn commit_as<T: Send + 'static>(
        &self,
        is_durable: bool,
        bytes: usize,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
        then: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        if let Err(error) = self.check_writable() {
            return then(Err(error));
        }
        let now = self.now();
        let work = if bytes <= CHUNK_BYTES {
            match self.scope.write_here(now, work) {
                Ok(result) => return then(result),
                Err(work) => work,
            }
        } else {
            work
        };
        self.scope.write_later(now, is_durable, bytes, work, then);
    }

    fn answer(&self, about: &About, done: Done, outcome: Result<Value, Failure>) {
        let outcome = outcome.and_then(|value| {
            let bytes = value.size_bytes();
            if bytes <= self.call_bytes_max { Ok(value) } else { Err(self.too_large(bytes)) }
        });
        done(outcome.map_err(|failure| about.error(failure)));
    }

    fn too_large(&self, bytes: usize) -> Failure {
        Failure::limit(format!(
            "the answer has {bytes} bytes, over the run's maxCapabilityBytes of {}",
            self.call_bytes_max
        ))
    }
}
