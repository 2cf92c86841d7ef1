//! Where the whole of a stream is kept that is longer than results show: in a file in the workspace, written
//! once, when the run is over.

use std::sync::mpsc::channel;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::config::OutputOptions;
use crate::error::{FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{Scope, guarded};
pub use crate::tail::{Cut, Tail};
use crate::vfs::{self, Condition, NewFile, Upload, UploadTarget};

/// Names of the streams, by their numbers less one.
pub const STREAMS: [&str; 2] = ["stdout", "stderr"];
/// Bytes that are read from the store at one time.
const PAGE_BYTES: usize = 1024 * 1024;

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
    let name = format!("{}.{}.{stream}.log", encoded(backend), encoded(run));
    if name.len() <= NAME_BYTES_MAX {
        return options.folder.join(&name);
    }
    // Of names that are too long for a file, the beginning says what it is and the hash which.
    let hash: String = Sha256::digest(&name).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    options.folder.join(&format!("{}.{hash}.{stream}.log", &name[..NAME_KEPT_BYTES]))
}

/// Longest name of a file.
const NAME_BYTES_MAX: usize = 255;
/// What is kept of a longer one. All of it is ASCII.
const NAME_KEPT_BYTES: usize = 160;

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

    #[test]
    fn names_of_files_are_encoded() {
        let options = OutputOptions::default();
        let path = path_of(&options, "a.b", "x/y ü", "stdout");
        assert_eq!(path, "/.carrel/output/a%2Eb.x%2Fy%20%C3%BC.stdout.log");
        let long = |id: &str| path_of(&options, "a", id, "stderr");
        let [one, two] = [long(&"é".repeat(128)), long(&("é".repeat(127) + "e"))];
        assert_ne!(one, two);
        for path in [one, two] {
            let name = path.strip_prefix("/.carrel/output/").expect("in the folder");
            assert!(name.len() <= NAME_BYTES_MAX && name.ends_with(".stderr.log"), "{name}");
        }
    }
}
