//! Wakes those who wait for a change, made here or by another process.
//!
//! Every commit, of whatever process, writes to the WAL file. The operating system reports that;
//! nobody polls. One watcher, with one thread, serves all workspaces of the process.
//!
//! What is reported is the write, and SQLite makes the commit visible only after it; with full
//! durability a flush of the disk lies between. So after a write listeners are woken several times.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

use super::connection::Location;
use super::executor;
use super::pool::lock;
use crate::error::{Code, FsError, Result};

/// From a write to the time when listeners are woken again; each pause after is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// The last pause. All of them are longer than a disk takes for a flush.
const LAST_PAUSE: Duration = Duration::from_secs(4);

/// See the module.
pub struct Notice {
    count: Count,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    number: usize,
    /// Counts writes to the file, while there are listeners.
    writes: Option<Count>,
}

impl Default for Notice {
    fn default() -> Self {
        Notice { count: watch::Sender::new(0), listeners: Mutex::default() }
    }
}

impl Notice {
    /// Something may have changed.
    pub fn wake(&self) {
        bump(&self.count);
    }

    /// Starts to listen, to other processes too. Pair it with [`Notice::unlisten`].
    pub fn listen(&self, location: &Location) -> Result<watch::Receiver<u64>> {
        let mut listeners = lock(&self.listeners);
        if let (Location::File { path, .. }, 0) = (location, listeners.number) {
            let (writes, seen) = watch::channel(0);
            add(path, &writes)?;
            listeners.writes = Some(writes);
            executor::spawn(repeat(seen, self.count.clone()));
        }
        listeners.number += 1;
        Ok(self.count.subscribe())
    }

    /// Ends one [`Notice::listen`]; with the last, the file is not watched any more.
    pub fn unlisten(&self, location: &Location) {
        let mut listeners = lock(&self.listeners);
        listeners.number = listeners.number.saturating_sub(1);
        if let (Location::File { path, .. }, 0) = (location, listeners.number)
            && let Some(writes) = listeners.writes.take()
        {
            remove(path, &writes);
        }
    }
}

fn bump(count: &Count) {
    count.send_modify(|count| *count = count.wrapping_add(1));
}

/// Wakes listeners at each write and for a while after the last. Ends with the watch of the file.
async fn repeat(mut writes: watch::Receiver<u64>, count: Count) {
    while writes.changed().await.is_ok() {
        bump(&count);
        let mut pause = FIRST_PAUSE;
        while pause <= LAST_PAUSE {
            pause = match tokio::time::timeout(pause, writes.changed()).await {
                Ok(Ok(())) => FIRST_PAUSE,
                Ok(Err(_)) => return,
                Err(_) => pause * 2,
            };
            bump(&count);
        }
    }
}

/// The database files that are watched, by directory: the WAL files in it come and go.
///
/// Two locks, since the watcher's thread takes the one while whoever holds the other may wait for
/// that thread.
static FILES: LazyLock<Mutex<Files>> = LazyLock::new(Mutex::default);
static WATCHER: Mutex<Option<RecommendedWatcher>> = Mutex::new(None);

type Count = watch::Sender<u64>;
type Files = HashMap<PathBuf, Vec<(OsString, Count)>>;

fn add(path: &Path, count: &Count) -> Result<()> {
    let (directory, name) = split(path);
    let mut slot = lock(&WATCHER);
    let watched = (|| {
        let watcher = match &mut *slot {
            Some(watcher) => watcher,
            None => slot.insert(notify::recommended_watcher(on_event)?),
        };
        // Of a directory that is watched already this is a second time, which is fine.
        watcher.watch(&directory, RecursiveMode::NonRecursive)
    })();
    watched.map_err(|error| {
        FsError::with_detail(Code::Io, format!("the database file cannot be watched ({error})"))
    })?;
    lock(&FILES).entry(directory).or_default().push((name, count.clone()));
    Ok(())
}

fn remove(path: &Path, count: &Count) {
    let (directory, _) = split(path);
    let mut slot = lock(&WATCHER);
    let mut files = lock(&FILES);
    let Some(counts) = files.get_mut(&directory) else { return };
    counts.retain(|(_, other)| !other.same_channel(count));
    if !counts.is_empty() {
        return;
    }
    files.remove(&directory);
    drop(files);
    if let Some(watcher) = &mut *slot {
        // It fails if the directory is gone, and then there is nothing to end.
        let _ = watcher.unwatch(&directory);
    }
}

/// The real directory, under which events are reported, and the name in it.
fn split(path: &Path) -> (PathBuf, OsString) {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    (directory, path.file_name().unwrap_or_default().to_owned())
}

fn on_event(event: notify::Result<notify::Event>) {
    let files = lock(&FILES);
    match event {
        Ok(event) if event.kind.is_access() => {}
        Ok(event) => {
            for path in &event.paths {
                let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { continue };
                for (file, count) in files.get(directory).into_iter().flatten() {
                    // The database itself, or one of its companions.
                    if name.as_encoded_bytes().starts_with(file.as_encoded_bytes()) {
                        bump(count);
                    }
                }
            }
        }
        // Events were lost: everybody looks, to be safe.
        Err(_) => files.values().flatten().for_each(|(_, count)| bump(count)),
    }
}
