//! What a result shows of a stream, and where the whole is kept.
//!
//! A stream that is longer than the limits is shown from its end, cut where a line begins. The whole is
//! then written to a file in the workspace, once, when the run is over.

use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::config::{OutputLimits, OutputOptions};
use crate::error::{FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{Scope, guarded};
use crate::vfs::{self, Condition, NewFile, Upload, UploadTarget};

/// Names of the streams, by their numbers less one.
pub const STREAMS: [&str; 2] = ["stdout", "stderr"];
/// Bytes that are read from the store at one time.
const PAGE_BYTES: usize = 1024 * 1024;

/// Counts a stream and keeps its end.
#[derive(Debug, Clone)]
pub struct Tail {
    /// How much is kept; none: all of it.
    limits: Option<OutputLimits>,
    kept: Vec<u8>,
    bytes: u64,
    newlines: u64,
    ends_line: bool,
}

/// What is shown of a stream that is longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// The number of the first line that is shown, from 1.
    pub first_line: u64,
    /// Whether its beginning is missing.
    pub is_partial: bool,
}

impl Tail {
    /// Of nothing so far.
    pub fn new(limits: Option<OutputLimits>) -> Tail {
        Tail { limits, kept: Vec::new(), bytes: 0, newlines: 0, ends_line: true }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.ends_line = *last == b'\n';
        self.bytes += bytes.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.kept.extend_from_slice(bytes);
        if let Some(limits) = self.limits {
            // One byte more than is shown tells whether a line begins there.
            let most = limits.bytes_max.saturating_add(1);
            if self.kept.len() > most.saturating_mul(2) {
                self.kept.drain(..self.kept.len() - most);
            }
        }
    }

    fn lines(&self) -> u64 {
        self.newlines + u64::from(!self.ends_line)
    }

    /// Whether less than all is shown.
    pub fn is_cut(&self) -> bool {
        self.limits
            .is_some_and(|limits| self.bytes > limits.bytes_max as u64 || self.lines() > limits.lines_max)
    }

    /// What is shown, and how it was cut.
    pub fn finish(self) -> (Vec<u8>, Option<Cut>) {
        let (true, Some(limits)) = (self.is_cut(), self.limits) else { return (self.kept, None) };
        let lines = self.lines();
        let mut start = self.kept.len().saturating_sub(limits.bytes_max);
        // A character is not cut; what has no beginning within four bytes is none.
        let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
        start += self.kept[start..].iter().take(3).take_while(|byte| is_inside(byte)).count();
        let begins_line = |at: usize| {
            at == 0 && self.kept.len() as u64 == self.bytes || at > 0 && self.kept[at - 1] == b'\n'
        };
        let mut is_partial = !begins_line(start);
        if is_partial && let Some(end) = memchr::memchr(b'\n', &self.kept[start..]) {
            let next = start + end + 1;
            if next < self.kept.len() {
                start = next;
                is_partial = false;
            }
        }
        let mut shown = count_lines(&self.kept[start..]);
        for end in memchr::memchr_iter(b'\n', &self.kept[start..]).collect::<Vec<_>>() {
            if shown <= limits.lines_max {
                break;
            }
            shown -= 1;
            if shown <= limits.lines_max {
                start += end + 1;
                is_partial = false;
                break;
            }
        }
        let cut = Cut { bytes: self.bytes, lines, first_line: lines - shown + 1, is_partial };
        (self.kept[start..].to_vec(), Some(cut))
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    let newlines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    newlines + u64::from(bytes.last().is_some_and(|last| *last != b'\n'))
}

/// What a result says of a cut stream. `saved` is where the whole is, or why it is nowhere.
pub fn describe(cut: Cut, saved: &Result<String, String>) -> Value {
    let mut described = match saved {
        Ok(path) => json!({ "status": "saved", "path": path }),
        Err(reason) => json!({ "status": "not-saved", "reason": reason }),
    };
    described["totalBytes"] = cut.bytes.into();
    described["totalLines"] = cut.lines.into();
    described["firstLine"] = cut.first_line.into();
    described["partialLine"] = cut.is_partial.into();
    described
}

/// Where the whole of a stream is kept.
pub fn path_of(options: &OutputOptions, backend: &str, run: &str, stream: &str) -> String {
    options.folder.join(&format!("{}.{}.{stream}.log", encoded(backend), encoded(run)))
}

/// `encodeURIComponent`, and `.` encoded too.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'_' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Writes one stream of a stored run to its file, piece by piece, and removes old files. May wait.
pub fn save(
    scope: &Scope,
    options: &OutputOptions,
    row: i64,
    stream: u8,
    path: &str,
    now: f64,
) -> Result<()> {
    let target = UploadTarget {
        path: WorkspacePath::parse(path)?,
        file: NewFile { condition: Condition::Any, mode: None },
        is_append: false,
    };
    let folder = options.folder.clone();
    if !scope.read_now(|tx| vfs::exists(tx, &folder))? {
        wait(|done| scope.write_later(now, false, 0, move |tx| vfs::mkdir(tx, &folder, true, None), done))?;
    }
    scope.read_now(|tx| target.check(tx))?;
    let upload = Upload::new(scope.clone(), target);
    let mut after = 0;
    loop {
        let events = scope.read_now(|tx| tx.run_events(row, after, PAGE_BYTES))?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        for event in events.iter().filter(|event| event.stream == stream) {
            if upload.push(&event.bytes)? {
                wait(|done| upload.when_ready(done))?;
            }
        }
    }
    wait(|done| upload.commit(now, done))?;
    // The file is there; that old ones stay is no reason to say that it is not.
    let _ = guarded(|| prune(scope, options, now));
    Ok(())
}

/// Removes all but the newest files of the folder, and nothing that is not one of ours.
fn prune(scope: &Scope, options: &OutputOptions, now: f64) -> Result<()> {
    let folder = &options.folder;
    let listing = scope.read_now(|tx| vfs::readdir(tx, folder, false, 0, u64::MAX))?;
    let is_ours = |name: &str| name.ends_with(".stdout.log") || name.ends_with(".stderr.log");
    let mut files: Vec<_> = listing.entries.into_iter().filter(|entry| is_ours(&entry.name)).collect();
    files.sort_by(|a, b| b.mtime.total_cmp(&a.mtime).then_with(|| b.inode.cmp(&a.inode)));
    let old: Vec<WorkspacePath> = files
        .iter()
        .skip(options.kept)
        .map(|file| WorkspacePath::parse(&folder.join(&file.name)))
        .collect::<Result<_>>()?;
    for path in old {
        wait(|done| scope.write_later(now, false, 0, move |tx| vfs::rm(tx, &path, false, true), done))?;
    }
    Ok(())
}

/// Waits for what calls back.
pub fn wait<T: Send + 'static>(start: impl FnOnce(Box<dyn FnOnce(Result<T>) + Send>)) -> Result<T> {
    let (send, receive) = channel();
    start(Box::new(move |result| {
        // Whoever waits cannot be gone.
        let _ = send.send(result);
    }));
    receive.recv().unwrap_or_else(|_| {
        Err(FsError::with_detail(crate::error::Code::Io, "internal error: nobody answered"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limits: (u64, usize), text: &str, want: &str, cut: Option<(u64, u64, bool)>) {
        for piece in [1, 3, text.len().max(1)] {
            let mut tail = Tail::new(Some(OutputLimits { lines_max: limits.0, bytes_max: limits.1 }));
            text.as_bytes().chunks(piece).for_each(|bytes| tail.push(bytes));
            let (shown, got) = tail.finish();
            assert_eq!(String::from_utf8_lossy(&shown), want, "{text:?} in pieces of {piece}");
            let got = got.map(|cut| (cut.lines, cut.first_line, cut.is_partial));
            assert_eq!(got, cut, "{text:?} in pieces of {piece}");
        }
    }

    #[test]
    fn the_end_of_a_stream_is_shown_from_a_line_on() {
        check((2, 100), "", "", None);
        check((2, 100), "a\nb\n", "a\nb\n", None);
        check((2, 100), "a\nb", "a\nb", None);
        check((2, 100), "a\nb\nc", "b\nc", Some((3, 2, false)));
        check((2, 100), "a\nb\nc\n", "b\nc\n", Some((3, 2, false)));
        check((1, 100), "\n\n\n", "\n", Some((3, 3, false)));
        check((9, 4), "a\nbb\ncc\n", "cc\n", Some((3, 3, false)));
        check((9, 3), "a\nbb\ncc\n", "cc\n", Some((3, 3, false)));
        check((9, 6), "a\nbb\ncc\n", "bb\ncc\n", Some((3, 2, false)));
    }

    #[test]
    fn of_one_long_line_the_end_is_shown() {
        check((9, 3), "abcdef", "def", Some((1, 1, true)));
        check((9, 3), "abcdef\n", "ef\n", Some((1, 1, true)));
        check((9, 3), "x\nabcdef\n", "ef\n", Some((2, 2, true)));
        check((9, 3), "aéé", "é", Some((1, 1, true)));
        check((9, 4), "aéé", "éé", Some((1, 1, true)));
    }

    #[test]
    fn without_limits_all_is_shown() {
        let mut tail = Tail::new(None);
        tail.push(&[b'\n'; 100_000]);
        assert!(!tail.is_cut());
        assert_eq!(tail.finish().0.len(), 100_000);
    }

    #[test]
    fn names_of_files_are_encoded() {
        let options = OutputOptions::default();
        let path = path_of(&options, "a.b", "x/y ü", "stdout");
        assert_eq!(path, "/.carrel/output/a%2Eb.x%2Fy%20%C3%BC.stdout.log");
    }
}
