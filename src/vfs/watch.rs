//! `watch`: the change log, filtered by path.
//!
//! The log is in the database, so events come from every process, and none is lost between two
//! looks or, with a cursor, between two lives of a program. One call makes one event, at the
//! topmost path: when a directory is removed or moved, what was in it has gone with it.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use super::permit::may_see;
use super::resolve::realpath;
use crate::error::{FsError, Result};
use crate::path::WorkspacePath;
use crate::store::{Change, ChangeKind, ReadTx, Scope, Store, executor};

/// Changes looked at in one go.
const PAGE: usize = 256;

/// Something that happened at or below the watched path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: ChangeKind,
    /// The real path.
    pub path: String,
    /// Of a rename: the path before.
    pub from: Option<String>,
    /// Position in the log: where a later watch goes on.
    pub cursor: i64,
}

/// A watch under way. Dropped or cancelled, it ends.
pub struct Watch(Arc<State>);

struct State {
    store: Store,
    base: String,
    is_recursive: bool,
    cursor: std::sync::Mutex<i64>,
    news: watch::Receiver<u64>,
    cancelled: Notify,
    is_cancelled: std::sync::atomic::AtomicBool,
}

impl Watch {
    /// Watches from now, or from a cursor. The path must exist.
    pub fn open(
        store: &Store,
        path: &WorkspacePath,
        is_recursive: bool,
        since: Option<i64>,
    ) -> Result<Watch> {
        let scope = Scope::workspace(store.clone());
        // Listening first: what happens from here on wakes the watch.
        let news = store.listen()?;
        let opened = scope.read_now(|tx| {
            let now = tx.totals()?.seq;
            if since.is_some_and(|since| since > now) {
                return Err(FsError::invalid("'since' is not a cursor of this workspace"));
            }
            Ok((realpath(tx, path)?, since.unwrap_or(now)))
        });
        let (base, cursor) = opened.inspect_err(|_| store.unlisten())?;
        Ok(Watch(Arc::new(State {
            store: store.clone(),
            base,
            is_recursive,
            cursor: std::sync::Mutex::new(cursor),
            news,
            cancelled: Notify::new(),
            is_cancelled: std::sync::atomic::AtomicBool::new(false),
        })))
    }

    /// Calls back with the next events, at least one; with none when the watch has ended.
    pub fn next(&self, done: impl FnOnce(Result<Vec<Event>>) + Send + 'static) {
        let state = Arc::clone(&self.0);
        executor::spawn(async move {
            let mut news = state.news.clone();
            loop {
                news.mark_unchanged();
                let ended = state.is_cancelled.load(std::sync::atomic::Ordering::Acquire);
                if ended || state.store.check_open().is_err() {
                    return done(if ended {
                        Ok(Vec::new())
                    } else {
                        state.store.check_open().map(|()| Vec::new())
                    });
                }
                match look(&state).await {
                    Ok((events, _)) if !events.is_empty() => return done(Ok(events)),
                    Err(error) => return done(Err(error)),
                    Ok((_, true)) => continue,
                    Ok(_) => {}
                }
                tokio::select! {
                    _ = news.changed() => {}
                    () = state.cancelled.notified() => {}
                }
            }
        });
    }

    /// Ends the watch; a call of `next` under way gets no events.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, std::sync::atomic::Ordering::Release);
        self.0.cancelled.notify_waiters();
        self.0.cancelled.notify_one();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.store.unlisten();
    }
}

/// Reads on in the log. Says whether there is more.
async fn look(state: &Arc<State>) -> Result<(Vec<Event>, bool)> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let cursor = *crate::store::lock(&state.cursor);
    Scope::workspace(state.store.clone()).read_later(
        move |tx: &ReadTx<'_>| {
            let changes = tx.changes_after(cursor, PAGE)?;
            Ok(changes.into_iter().map(|(seq, change)| (seq, visible(tx, change))).collect::<Vec<_>>())
        },
        move |changes| drop(send.send(changes)),
    );
    let changes = receive.await.unwrap_or_else(|_| Ok(Vec::new()))?;
    let is_full = changes.len() == PAGE;
    if let Some((last, _)) = changes.last() {
        *crate::store::lock(&state.cursor) = *last;
    }
    let events = changes.into_iter().filter_map(|(seq, change)| event(state, seq, change?)).collect();
    Ok((events, is_full))
}

/// A change as the rules let it be seen: one that leads out of sight is a deletion.
fn visible(tx: &ReadTx<'_>, change: Change) -> Option<Change> {
    if tx.rules().is_none() {
        return Some(change);
    }
    let Change { kind, path, source } = change;
    let source_seen = source.filter(|path| may_see(tx, path));
    match (may_see(tx, &path), source_seen) {
        (true, None) if kind == ChangeKind::Rename => {
            Some(Change { kind: ChangeKind::Create, path, source: None })
        }
        (true, source) => Some(Change { kind, path, source }),
        (false, Some(gone)) => Some(Change { kind: ChangeKind::Delete, path: gone, source: None }),
        (false, None) => None,
    }
}

/// The event that a change means for this watch.
fn event(state: &State, cursor: i64, change: Change) -> Option<Event> {
    let Change { kind, path, source } = change;
    let concerns = |path: &str| covers(&state.base, path, state.is_recursive);
    if concerns(&path) || source.as_deref().is_some_and(concerns) {
        return Some(Event { kind, path, from: source, cursor });
    }
    // Something above the watched path went away or moved, and the path with it.
    let gone = source.as_deref().unwrap_or(&path);
    let rest = state.base.strip_prefix(gone).filter(|rest| rest.starts_with('/'))?;
    match kind {
        ChangeKind::Delete => Some(Event { kind, path: state.base.clone(), from: None, cursor }),
        ChangeKind::Rename => {
            Some(Event { kind, path: format!("{path}{rest}"), from: Some(state.base.clone()), cursor })
        }
        ChangeKind::Create | ChangeKind::Change => None,
    }
}

/// Whether a watch of `base` shows what happens at `path`.
fn covers(base: &str, path: &str, is_recursive: bool) -> bool {
    let below = if base == "/" {
        path.strip_prefix('/')
    } else {
        path.strip_prefix(base)
            .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('/') })
    };
    below.is_some_and(|below| is_recursive || !below.contains('/'))
}
