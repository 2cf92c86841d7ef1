//! A disk that takes no more for a moment, in the middle of uploads. It is played by the limit on
//! the size of files, which holds for the whole process: hence one test, and a file of its own.

#![cfg(unix)]

use std::path::Path;
use std::sync::mpsc;

use carrel::error::{Code, Result};
use carrel::path::WorkspacePath;
use carrel::store::{Config, Durability, Location, Scope, Store, Transaction};
use carrel::vfs::{Condition, NewFile, Range, Upload, UploadTarget, read_file, slice_of};

const CHUNK_BYTES: usize = carrel::limits::CHUNK_BYTES;

/// Lets no file grow beyond `bytes` while `work` runs.
fn with_limit<T>(bytes: u64, work: impl FnOnce() -> T) -> T {
    let set = |soft: libc::rlim_t| {
        // SAFETY: a plain structure of numbers, and a call that reads it.
        let status = unsafe {
            // Node ignores this signal; by default it would end the process.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit);
            limit.rlim_cur = soft;
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit)
        };
        assert_eq!(status, 0, "the limit can be set");
    };
    set(bytes as libc::rlim_t);
    let result = work();
    set(libc::RLIM_INFINITY);
    result
}

/// Waits for a callback.
fn wait<T: Send + 'static>(start: impl FnOnce(Box<dyn FnOnce(T) + Send>)) -> T {
    let (send, receive) = mpsc::channel();
    start(Box::new(move |value| drop(send.send(value))));
    receive.recv().expect("the callback is called")
}

fn bytes_of(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8 ^ seed).collect()
}

struct Disk {
    _folder: tempfile::TempDir,
    store: Store,
    wal: std::path::PathBuf,
}

impl Disk {
    fn new() -> Disk {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("full.db");
        let wal = folder.path().join("full.db-wal");
        let location = Location::File { path, readonly: false };
        let config = Config {
            location,
            durability: Durability::Normal,
            quota_bytes: None,
            rules: None,
            is_audited: false,
        };
        Disk { store: Store::open(config).expect("it opens"), _folder: folder, wal }
    }

    fn scope(&self) -> Scope {
        Scope::workspace(self.store.clone())
    }

    /// Runs `work` while the WAL cannot grow by a chunk.
    fn full<T>(&self, work: impl FnOnce() -> T) -> T {
        with_limit(length(&self.wal) + CHUNK_BYTES as u64 / 2, work)
    }

    fn upload(&self, path: &str) -> Upload {
        let path = WorkspacePath::parse(path).expect("a path");
        let file = NewFile { mode: None, condition: Condition::Any };
        Upload::new(self.scope(), UploadTarget { path, file, is_append: false })
    }

    fn content(&self, path: &str) -> Vec<u8> {
        let path = WorkspacePath::parse(path).expect("a path");
        self.scope()
            .read_now(|tx| read_file(tx, slice_of(tx, &path, Range::default())?))
            .expect("the file can be read")
    }

    #[track_caller]
    fn assert_sound(&self) {
        let report = self.scope().read_now(|tx| tx.check()).expect("it can be checked");
        assert_eq!(report.problems, []);
    }
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

fn commit(upload: &Upload) -> Result<()> {
    wait(|done| upload.commit(carrel::clock::now_ms(), done))
}

/// How the chunks under way end: with the first failure, or after a while without one.
fn outcome(upload: &Upload) -> Result<()> {
    for _ in 0..400 {
        wait(|done| upload.when_ready(done))?;
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(())
}

/// The numbers of what was rolled back are given again: an upload that failed must not take those of
/// another for its own.
#[test]
fn an_upload_whose_first_chunk_fails_does_not_touch_the_next_one() {
    let disk = Disk::new();
    for chunks in [1, 3] {
        let failing = disk.upload("/workspace/failing");
        disk.full(|| {
            // One byte more than whole chunks: a chunk goes when another byte comes.
            let _ = failing.push(&bytes_of(1, chunks * CHUNK_BYTES + 1));
            assert_eq!(outcome(&failing).map_err(|error| error.code()), Err(Code::Io));
        });

        let content = bytes_of(2, 2 * CHUNK_BYTES + 100);
        let next = disk.upload("/workspace/next");
        next.push(&content[..CHUNK_BYTES + 1]).expect("the disk takes bytes again");
        while disk.scope().read_now(|tx| tx.stored_bytes()).expect("it can be read") < CHUNK_BYTES as u64 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // Now the one that failed lets go, late, as it does when its source is slow.
        drop(failing);
        next.push(&content[CHUNK_BYTES + 1..]).expect("the disk takes bytes");
        commit(&next).expect("the upload is whole");
        assert!(disk.content("/workspace/next") == content);
        disk.assert_sound();

        wait(|done| carrel::store::compact(&disk.store, done)).expect("it compacts");
        let stored = disk.scope().read_now(|tx| tx.stored_bytes()).expect("it can be read");
        assert_eq!(stored, content.len() as u64, "what failed has left nothing");
        disk.assert_sound();

        let gone = disk.upload("/workspace/next");
        gone.push(b"short").expect("the disk takes bytes");
        commit(&gone).expect("the upload is whole");
        wait(|done| carrel::store::compact(&disk.store, done)).expect("it compacts");
    }

    // The same inside a transaction of the user's, which then is undone.
    let transaction = wait(|done| Transaction::begin(&disk.store, done)).expect("it begins");
    let scope = Scope::within(transaction.clone());
    let path = WorkspacePath::parse("/workspace/inside").expect("a path");
    let file = NewFile { mode: None, condition: Condition::Any };
    let upload = Upload::new(scope, UploadTarget { path, file, is_append: false });
    upload.push(&bytes_of(3, CHUNK_BYTES + 1)).expect("it is only kept in memory");
    disk.full(|| {
        let _ = upload.push(&bytes_of(4, 8 * CHUNK_BYTES));
        assert_eq!(commit(&upload).map_err(|error| error.code()), Err(Code::Io));
    });
    assert_eq!(transaction.end(true).map_err(|error| error.code()), Err(Code::Io));
    drop(upload);
    assert!(disk.content("/workspace/next") == b"short");
    disk.assert_sound();
}
