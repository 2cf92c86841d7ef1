//! Wakes those who wait for a change, made here or by another process.
//!
//! Every commit, of whatever process, writes to the WAL file. The operating system reports that;
//! nobody polls.

use std::path::Path;
use std::sync::Mutex;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

use super::connection::Location;
use super::pool::lock;
use crate::error::{Code, FsError, Result};

/// See the module.
pub struct Notice {
    count: watch::Sender<u64>,
    file: Mutex<FileWatch>,
}

#[derive(Default)]
struct FileWatch {
    watcher: Option<RecommendedWatcher>,
    listeners: usize,
}

impl Default for Notice {
    fn default() -> Self {
        Notice { count: watch::Sender::new(0), file: Mutex::default() }
    }
}

impl Notice {
    /// Something may have changed.
    pub fn wake(&self) {
        self.count.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Starts to listen to other processes too. Pair it with [`Notice::unlisten`].
    pub fn listen(&self, location: &Location) -> Result<watch::Receiver<u64>> {
        let mut file = lock(&self.file);
        if let (Location::File { path, .. }, None) = (location, &file.watcher) {
            file.watcher = Some(self.watch_file(path)?);
        }
        file.listeners += 1;
        Ok(self.count.subscribe())
    }

    /// Ends one [`Notice::listen`]; with the last, the watch of the file ends too.
    pub fn unlisten(&self) {
        let mut file = lock(&self.file);
        file.listeners = file.listeners.saturating_sub(1);
        if file.listeners == 0 {
            file.watcher = None;
        }
    }

    fn watch_file(&self, path: &Path) -> Result<RecommendedWatcher> {
        let failed = |error: notify::Error| {
            FsError::with_detail(Code::Io, format!("the database file cannot be watched ({error})"))
        };
        let name = path.file_name().unwrap_or_default().to_owned();
        let count = self.count.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let is_ours = |path: &std::path::PathBuf| {
                path.file_name().is_some_and(|file| {
                    file.as_encoded_bytes().starts_with(name.as_encoded_bytes())
                })
            };
            // An error means that events were lost: look, to be safe.
            if event.map_or(true, |event| !event.kind.is_access() && event.paths.iter().any(is_ours)) {
                count.send_modify(|count| *count = count.wrapping_add(1));
            }
        })
        .map_err(failed)?;
        // The directory, since the WAL file itself comes and goes.
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        watcher.watch(directory.unwrap_or(Path::new(".")), RecursiveMode::NonRecursive).map_err(failed)?;
        Ok(watcher)
    }
}
