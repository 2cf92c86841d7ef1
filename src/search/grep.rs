//! `grep`.

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::find::Tree;
use super::pattern::Pattern;
use super::scan::{Found, LineMatch, Outcome, ScanOptions, scan_reader, scan_slice};
use crate::error::{Code, FsError, Result};
use crate::glob::PathFilter;
use crate::limits::CHUNK_BYTES;
use crate::path::{WorkspacePath, join};
use crate::store::{Content, InodeId, Kind, ReadTx, Scope, lock};
use crate::vfs::{LastLink, Resolved, Start, Step, real_path, resolve};

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
    /// Lines with `pattern` in files that match one of `include`, if there is any, and none of `exclude`.
    /// Skips `offset` lines and returns at most `limit`.
    pub fn new<'g>(
        pattern: Pattern,
        include: impl IntoIterator<Item = &'g str>,
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
    /// The lines as users see them.
    pub fn matches_as_json(&self) -> Vec<Value> {
        self.matches
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
            .collect()
    }

    /// As `lib/` reads it.
    pub fn to_json(&self) -> Vec<u8> {
        let matches = self.matches_as_json();
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

/// Files with matching lines.
#[derive(Debug, Default)]
pub struct GrepFiles {
    /// Their paths, and how many lines of each match; 1 if that was not asked for.
    pub files: Vec<(String, u64)>,
    /// Whether there are more.
    pub is_truncated: bool,
    /// Files whose lines were looked at.
    pub files_searched: u64,
    /// Files that were not.
    pub skipped: Skipped,
}

/// Searches a file, or the files below a directory in the order of `find`. Links are not
/// followed, but for `path` itself.
pub fn grep(scope: &Scope, path: &WorkspacePath, options: &GrepOptions) -> Result<GrepResult> {
    let mut lines = Lines { seen: 0, options, result: GrepResult::default() };
    search_all(scope, path, options, &mut lines)?;
    Ok(lines.result)
}

/// The same, but finds files: `offset` and `limit` are about them. With `is_counted`, all matching
/// lines of each are counted; otherwise a file is left at the first.
pub fn grep_files(
    scope: &Scope,
    path: &WorkspacePath,
    options: &GrepOptions,
    is_counted: bool,
) -> Result<GrepFiles> {
    let mut files = Files { seen: 0, is_counted, options, result: GrepFiles::default() };
    search_all(scope, path, options, &mut files)?;
    Ok(files.result)
}

fn search_all(
    scope: &Scope,
    path: &WorkspacePath,
    options: &GrepOptions,
    collected: &mut impl Collect,
) -> Result<()> {
    let start = scope.read_now(|tx| match resolve(tx, path, LastLink::Follow)? {
        Resolved::Found { place, name, id, kind } => Ok((Start { id, real: real_path(&place, &name) }, kind)),
        Resolved::Absent { .. } => Err(FsError::new(Code::NoEnt).at(path.as_str())),
    })?;
    if options.limit == 0 {
        return Ok(());
    }
    if start.1 != Kind::Directory {
        let file = Step { relative: String::new(), id: start.0.id, kind: start.1 };
        for outcome in search_files(scope, &[file], options, collected).into_iter().flatten() {
            collected.add(path.as_str(), outcome)?;
        }
        return Ok(());
    }
    let mut tree = Tree::new(start.0);
    loop {
        let steps = tree.steps(scope, &options.filter)?;
        if steps.is_empty() {
            return Ok(());
        }
        let files: Vec<Step> = steps
            .into_iter()
            .filter(|step| step.kind == Kind::File && options.filter.wants(&step.relative))
            .collect();
        let outcomes = search_files(scope, &files, options, collected);
        for (step, outcome) in files.into_iter().zip(outcomes) {
            let Some(outcome) = outcome else { break };
            if collected.add(&join(path.as_str(), &step.relative), outcome)?.is_full() {
                return Ok(());
            }
        }
    }
}

/// Takes the outcomes of files, in their order.
trait Collect {
    /// How each file is scanned.
    fn scan(&self) -> ScanOptions;
    /// Hits that are still of interest: one more than asked for tells that there are more.
    fn wanted(&self) -> usize;
    /// How much of that a file has.
    fn hits(found: &Found) -> usize;
    /// Takes the outcome of the next file.
    fn add(&mut self, path: &str, outcome: Result<Outcome>) -> Result<Room>;
}

/// What was found in a file. None if it was not searched, which is noted.
fn searched(outcome: Result<Outcome>, skipped: &mut Skipped) -> Result<Option<Found>> {
    match outcome {
        Ok(Outcome::Searched(found)) => return Ok(Some(found)),
        Ok(Outcome::Binary) => skipped.binary += 1,
        Ok(Outcome::TooLong) => skipped.too_long += 1,
        Err(error) if error.code() == Code::Closed => return Err(error),
        // Gone meanwhile, or damaged: the others are still worth searching.
        Err(_) => skipped.unreadable += 1,
    }
    Ok(None)
}

fn wanted(options: &GrepOptions, seen: u64) -> usize {
    let last = options.offset.saturating_add(options.limit).saturating_add(1);
    usize::try_from(last - seen.min(last)).unwrap_or(usize::MAX)
}

struct Files<'o> {
    seen: u64,
    is_counted: bool,
    options: &'o GrepOptions,
    result: GrepFiles,
}

impl Collect for Files<'_> {
    fn scan(&self) -> ScanOptions {
        ScanOptions { context: 0, limit: if self.is_counted { usize::MAX } else { 1 }, counts: true }
    }

    fn wanted(&self) -> usize {
        wanted(self.options, self.seen)
    }

    fn hits(found: &Found) -> usize {
        usize::from(found.count > 0)
    }

    fn add(&mut self, path: &str, outcome: Result<Outcome>) -> Result<Room> {
        let Some(found) = searched(outcome, &mut self.result.skipped)? else { return Ok(Room::Left) };
        self.result.files_searched += 1;
        if found.count == 0 {
            return Ok(Room::Left);
        }
        self.seen += 1;
        if self.seen <= self.options.offset {
            return Ok(Room::Left);
        }
        if self.result.files.len() as u64 == self.options.limit {
            self.result.is_truncated = true;
            return Ok(Room::Full);
        }
        self.result.files.push((path.to_owned(), found.count));
        Ok(Room::Left)
    }
}

struct Lines<'o> {
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

impl Collect for Lines<'_> {
    fn scan(&self) -> ScanOptions {
        ScanOptions { context: self.options.context, limit: self.wanted(), counts: false }
    }

    fn wanted(&self) -> usize {
        wanted(self.options, self.seen)
    }

    fn hits(found: &Found) -> usize {
        found.matches.len()
    }

    fn add(&mut self, path: &str, outcome: Result<Outcome>) -> Result<Room> {
        let Some(mut found) = searched(outcome, &mut self.result.skipped)? else { return Ok(Room::Left) };
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
fn search_files<C: Collect>(
    scope: &Scope,
    files: &[Step],
    options: &GrepOptions,
    collected: &C,
) -> Vec<Option<Result<Outcome>>> {
    let outcomes: Vec<Mutex<Option<Result<Outcome>>>> = files.iter().map(|_| Mutex::default()).collect();
    let (wanted, scan) = (collected.wanted(), collected.scan());
    let (next, matches) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        // A clone of its own: the engine's scratch memory is not fought over then.
        let searcher = FileSearch { scope, pattern: options.pattern.clone(), scan };
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
                    matches.fetch_add(C::hits(found), Ordering::Relaxed);
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
    scan: ScanOptions,
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

    fn view(&self, tx: &ReadTx<'_>, id: InodeId) -> Result<Viewed> {
        let inode = tx.inode(id)?;
        let scan = |bytes: &[u8]| scan_slice(&self.pattern, &self.scan, bytes);
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
        scan_reader(&self.pattern, &self.scan, &mut chunks).map_err(|error| {
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
