//! `grep`.

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::find::Tree;
use super::glob::PathFilter;
use super::pattern::Pattern;
use super::scan::{LineMatch, Outcome, ScanOptions, scan_reader, scan_slice};
use crate::error::{Code, FsError, Result};
use crate::limits::CHUNK_BYTES;
use crate::path::{WorkspacePath, join};
use crate::store::{Content, InodeId, Kind, ReadTx, Scope, lock};
use crate::vfs::{LastLink, Resolved, Step, resolve};

/// Most lines of context that may be asked for on each side of a match.
const CONTEXT_MAX: u64 = 1_000;

/// Threads that search at one time. Beyond a few, the disk or memory is the limit.
const THREADS_MAX: usize = 4;

/// Files searched in one view of the workspace: few, so that a view is short.
const FILES_PER_VIEW: usize = 16;

/// Files from which on a second thread is worth its start.
const FILES_PER_THREAD: usize = 32;

/// What to look for.
pub struct GrepOptions {
    pattern: Pattern,
    filter: PathFilter,
    context: usize,
    offset: u64,
    limit: u64,
}

impl GrepOptions {
    /// Lines with `pattern` in files that match `include`, if there is one, and none of `exclude`.
    /// Skips `offset` lines and returns at most `limit`.
    pub fn new(
        pattern: Pattern,
        include: Option<&str>,
        exclude: &[String],
        context: u64,
        offset: u64,
        limit: u64,
    ) -> Result<Self> {
        if context > CONTEXT_MAX {
            return Err(FsError::invalid(format!(
                "context must be at most {CONTEXT_MAX}; received {context}"
            )));
        }
        let filter = PathFilter::new(include, exclude)?;
        Ok(GrepOptions { pattern, filter, context: context as usize, offset, limit })
    }
}

/// Files that were not searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// They are no text.
    pub binary: u64,
    /// They could not be read.
    pub unreadable: u64,
    /// A line is too long to be held.
    pub too_long: u64,
}

/// What was found.
#[derive(Debug, Default)]
pub struct GrepResult {
    /// The lines, each with the path of its file.
    pub matches: Vec<(String, LineMatch)>,
    /// Whether there are more.
    pub is_truncated: bool,
    /// Files whose lines were looked at.
    pub files_searched: u64,
    /// Files that were not.
    pub skipped: Skipped,
}

impl GrepResult {
    /// As `lib/` reads it.
    pub fn to_json(&self) -> Vec<u8> {
        use serde_json::{Value, json};
        let matches: Vec<Value> = self
            .matches
            .iter()
            .map(|(path, found)| {
                let mut object = json!({ "path": path, "line": found.line, "text": found.text });
                if found.cut {
                    object["cut"] = Value::Bool(true);
                }
                if !found.context.is_empty() {
                    object["context"] = found
                        .context
                        .iter()
                        .map(|line| json!({ "line": line.line, "text": line.text, "isMatch": line.is_match }))
                        .collect();
                }
                object
            })
            .collect();
        let Skipped { binary, unreadable, too_long } = self.skipped;
        let result = json!({
            "matches": matches,
            "truncated": self.is_truncated,
            "filesSearched": self.files_searched,
            "skipped": { "binary": binary, "unreadable": unreadable, "tooLong": too_long },
        });
        result.to_string().into_bytes()
    }
}

/// Searches a file, or the files below a directory in the order of `find`. Links are not
/// followed, but for `path` itself.
pub fn grep(scope: &Scope, path: &WorkspacePath, options: &GrepOptions) -> Result<GrepResult> {
    let mut collected = Collected { seen: 0, options, result: GrepResult::default() };
    let start = scope.read_now(|tx| match resolve(tx, path, LastLink::Follow)? {
        Resolved::Found { id, kind, .. } => Ok((id, kind)),
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    })?;
    if options.limit == 0 {
        return Ok(collected.result);
    }
    if start.1 != Kind::Directory {
        let file = Step { relative: String::new(), id: start.0, kind: start.1 };
        for outcome in search_files(scope, &[file], options, collected.wanted()).into_iter().flatten() {
            collected.add(path.as_str(), outcome)?;
        }
        return Ok(collected.result);
    }
    let mut tree = Tree::new(start.0);
    loop {
        let steps = tree.steps(scope, &options.filter)?;
        if steps.is_empty() {
            return Ok(collected.result);
        }
        let files: Vec<Step> = steps
            .into_iter()
            .filter(|step| step.kind == Kind::File && options.filter.wants(&step.relative))
            .collect();
        let outcomes = search_files(scope, &files, options, collected.wanted());
        for (step, outcome) in files.into_iter().zip(outcomes) {
            let Some(outcome) = outcome else { break };
            if collected.add(&join(path.as_str(), &step.relative), outcome)?.is_full() {
                return Ok(collected.result);
            }
        }
    }
}

struct Collected<'o> {
    seen: u64,
    options: &'o GrepOptions,
    result: GrepResult,
}

#[derive(PartialEq, Eq)]
enum Room {
    Left,
    Full,
}

impl Room {
    fn is_full(&self) -> bool {
        *self == Room::Full
    }
}

impl Collected<'_> {
    /// Matches that are still of interest: one more than asked for tells that there are more.
    fn wanted(&self) -> usize {
        let last = self.options.offset.saturating_add(self.options.limit).saturating_add(1);
        usize::try_from(last - self.seen.min(last)).unwrap_or(usize::MAX)
    }

    /// Takes the outcome of the next file.
    fn add(&mut self, path: &str, outcome: Result<Outcome>) -> Result<Room> {
        let mut found = match outcome {
            Ok(Outcome::Searched(found)) => found,
            Ok(Outcome::Binary) => {
                self.result.skipped.binary += 1;
                return Ok(Room::Left);
            }
            Ok(Outcome::TooLong) => {
                self.result.skipped.too_long += 1;
                return Ok(Room::Left);
            }
            Err(error) if error.code() == Code::Closed => return Err(error),
            // Gone meanwhile, or damaged: the others are still worth searching.
            Err(_) => {
                self.result.skipped.unreadable += 1;
                return Ok(Room::Left);
            }
        };
        self.result.files_searched += 1;
        let skip = self.options.offset.saturating_sub(self.seen);
        let room = self.options.limit - self.result.matches.len() as u64;
        let page_end = usize::try_from(skip.saturating_add(room)).unwrap_or(usize::MAX);
        found.truncate(page_end, self.options.context);
        self.seen += found.matches.len() as u64;
        let shown = found.matches.into_iter().skip(usize::try_from(skip).unwrap_or(usize::MAX));
        self.result.matches.extend(shown.map(|found| (path.to_owned(), found)));
        if found.more {
            self.result.is_truncated = true;
            return Ok(Room::Full);
        }
        Ok(Room::Left)
    }
}

/// Searches files on several threads. Outcomes are in the order of the files; once there are
/// `wanted` matches, files further on may have none.
fn search_files(
    scope: &Scope,
    files: &[Step],
    options: &GrepOptions,
    wanted: usize,
) -> Vec<Option<Result<Outcome>>> {
    let outcomes: Vec<Mutex<Option<Result<Outcome>>>> = files.iter().map(|_| Mutex::default()).collect();
    let (next, matches) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        // A clone of its own: the engine's scratch memory is not fought over then.
        let searcher =
            FileSearch { scope, pattern: options.pattern.clone(), context: options.context, limit: wanted };
        loop {
            // Files are taken in order, so those before an untaken one have all been searched.
            if matches.load(Ordering::Relaxed) >= wanted {
                return;
            }
            let start = next.fetch_add(FILES_PER_VIEW, Ordering::Relaxed);
            let Some(batch) = files.get(start..files.len().min(start + FILES_PER_VIEW)) else { return };
            if batch.is_empty() {
                return;
            }
            for (outcome, slot) in searcher.search(batch).into_iter().zip(&outcomes[start..]) {
                if let Ok(Outcome::Searched(found)) = &outcome {
                    matches.fetch_add(found.matches.len(), Ordering::Relaxed);
                }
                *lock(slot) = Some(outcome);
            }
        }
    };
    // In a transaction there is one connection.
    let most = if scope.is_transaction() { 1 } else { THREADS_MAX };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let helpers = (files.len() / FILES_PER_THREAD).min(cores).min(most).saturating_sub(1);
    std::thread::scope(|threads| {
        for _ in 0..helpers {
            threads.spawn(work);
        }
        work();
    });
    outcomes
        .into_iter()
        .map(|outcome| outcome.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
        .collect()
}

/// Searches files, each as it is now.
struct FileSearch<'s> {
    scope: &'s Scope,
    pattern: Pattern,
    context: usize,
    limit: usize,
}

/// What became of a file within a view.
enum Viewed {
    Searched(Outcome),
    /// Too large to be held: to be read piece by piece, without keeping the view.
    Large(Content, u64),
}

impl FileSearch<'_> {
    /// Searches some files in one view.
    fn search(&self, files: &[Step]) -> Vec<Result<Outcome>> {
        let viewed =
            self.scope.read_now(|tx| Ok(files.iter().map(|file| self.view(tx, file.id)).collect::<Vec<_>>()));
        match viewed {
            Err(error) => files.iter().map(|_| Err(error.clone())).collect(),
            Ok(viewed) => viewed
                .into_iter()
                .map(|viewed| match viewed? {
                    Viewed::Searched(outcome) => Ok(outcome),
                    Viewed::Large(content, size) => self.search_large(content, size),
                })
                .collect(),
        }
    }

    fn options(&self) -> ScanOptions {
        ScanOptions { context: self.context, limit: self.limit }
    }

    fn view(&self, tx: &ReadTx<'_>, id: InodeId) -> Result<Viewed> {
        let inode = tx.inode(id)?;
        let scan = |bytes: &[u8]| scan_slice(&self.pattern, &self.options(), bytes);
        Ok(match inode.content {
            Content::Manifest(_) => Viewed::Large(inode.content, inode.size),
            Content::Blob(blob) => Viewed::Searched(tx.with_blob(blob, scan)?),
            Content::Empty => Viewed::Searched(scan(&[])),
        })
    }

    fn search_large(&self, content: Content, size: u64) -> Result<Outcome> {
        let mut chunks = Chunks {
            scope: self.scope,
            content,
            size,
            position: 0,
            buffer: Vec::new(),
            used: 0,
            failure: None,
        };
        scan_reader(&self.pattern, &self.options(), &mut chunks).map_err(|error| {
            let unexpected =
                || FsError::with_detail(Code::Io, format!("a file cannot be searched ({error})"));
            chunks.failure.take().unwrap_or_else(unexpected)
        })
    }
}

/// The bytes of a large file, a chunk in memory. If it changes meanwhile and its old contents are
/// collected, reading fails and the file counts as unreadable.
struct Chunks<'s> {
    scope: &'s Scope,
    content: Content,
    size: u64,
    position: u64,
    buffer: Vec<u8>,
    used: usize,
    failure: Option<FsError>,
}

impl Read for Chunks<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.used == self.buffer.len() {
            if self.position >= self.size {
                return Ok(0);
            }
            let index = self.position / CHUNK_BYTES as u64;
            let chunk = self.scope.read_now(|tx| tx.chunk_bytes(self.content, index));
            self.buffer = chunk.map_err(|error| {
                let text = error.to_string();
                self.failure = Some(error);
                io::Error::other(text)
            })?;
            self.used = 0;
            self.position += self.buffer.len() as u64;
            if self.buffer.is_empty() {
                return Ok(0);
            }
        }
        let take = out.len().min(self.buffer.len() - self.used);
        out[..take].copy_from_slice(&self.buffer[self.used..self.used + take]);
        self.used += take;
        Ok(take)
    }
}
