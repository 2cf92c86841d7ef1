//! What stays open between calls: downloads, uploads, watches.

use std::cell::RefCell;
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use super::answer::{Answer, Bytes, attempt, later};
use super::args;
use crate::error::Result;
use crate::store::{Call, Store, executor, guarded};
use crate::vfs::{Download, Upload, Watch};

/// The bytes of a file, as they were when it was opened.
#[napi]
pub struct NativeDownload {
    download: Arc<Download>,
}

impl NativeDownload {
    pub(super) fn new(download: Download) -> Self {
        NativeDownload { download: Arc::new(download) }
    }
}

#[napi]
impl NativeDownload {
    /// All bytes, if they are at hand; then the download is over.
    #[napi(catch_unwind, ts_return_type = "Uint8Array | null")]
    pub fn take(&self) -> Option<Bytes> {
        self.download.take_bytes().map(Bytes)
    }

    /// The next piece, or null at the end.
    #[napi(catch_unwind, ts_return_type = "Promise<Uint8Array | null>")]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, Option<Bytes>>> {
        let download = Arc::clone(&self.download);
        later(env, |settle| {
            executor::spawn_blocking(move || {
                let next = guarded(|| download.next());
                settle(next.map(|bytes| bytes.map(Bytes)).map_err(|error| error.during("read")));
            });
        })
    }

    /// Lets go of what the download holds.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        let download = Arc::clone(&self.download);
        // Elsewhere, since a piece may be being read.
        executor::spawn_blocking(move || download.close());
    }
}

/// Content on its way into a file.
#[napi]
pub struct NativeUpload {
    upload: Upload,
    store: Store,
    /// Of content that is at hand: makes `close()` wait for the end of the upload.
    call: RefCell<Option<Call>>,
}

impl NativeUpload {
    pub(super) fn new(upload: Upload, store: Store, is_at_hand: bool) -> Self {
        let call = RefCell::new(is_at_hand.then(|| store.enter()));
        NativeUpload { upload, store, call }
    }

    fn check_open(&self) -> Result<()> {
        if self.call.borrow().is_some() { Ok(()) } else { self.store.check_open() }
    }
}

#[napi]
impl NativeUpload {
    /// Takes more bytes, copied. A promise asks the caller to wait before it brings more.
    #[napi(catch_unwind, ts_return_type = "void | Promise<void>")]
    pub fn push<'env>(&self, env: &'env Env, bytes: Uint8Array) -> napi::Result<Answer<'env, ()>> {
        let must_wait = attempt("write", || {
            self.check_open()?;
            self.upload.push(&bytes)
        })?;
        if !must_wait {
            return Ok(Answer::Now(()));
        }
        later(env, |settle| {
            self.upload.when_ready(move |result| settle(result.map_err(|error| error.during("write"))));
        })
    }

    /// Makes the bytes the file's.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn commit<'env>(&self, env: &'env Env, now: Option<f64>) -> napi::Result<Answer<'env, ()>> {
        let now = attempt("open", || {
            self.check_open()?;
            args::now(now)
        })?;
        let call = self.call.take().unwrap_or_else(|| self.store.enter());
        later(env, |settle| {
            self.upload.commit(now, move |result| {
                settle(result.map_err(|error| error.during("open")));
                drop(call);
            });
        })
    }

    /// Forgets the bytes.
    #[napi(catch_unwind)]
    pub fn abort(&self) {
        self.call.take();
        self.upload.abort();
    }
}

/// Events of a path.
#[napi]
pub struct NativeWatch {
    watch: Watch,
}

impl NativeWatch {
    pub(super) fn new(watch: Watch) -> Self {
        NativeWatch { watch }
    }
}

/// Something that happened.
#[napi(object, object_from_js = false)]
#[allow(missing_docs)]
pub struct NativeEvent {
    pub r#type: String,
    pub path: String,
    pub from: Option<String>,
    pub cursor: String,
}

#[napi]
impl NativeWatch {
    /// The next events, at least one; none when the watch has ended.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeEvent[]>")]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, Vec<NativeEvent>>> {
        later(env, |settle| {
            self.watch.next(move |events| {
                let events = events.map(|events| {
                    events
                        .into_iter()
                        .map(|event| NativeEvent {
                            r#type: event.kind.name().to_owned(),
                            path: event.path,
                            from: event.from,
                            cursor: event.cursor.to_string(),
                        })
                        .collect()
                });
                settle(events.map_err(|error| error.during("watch")));
            });
        })
    }

    /// Ends the watch.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.watch.cancel();
    }
}
