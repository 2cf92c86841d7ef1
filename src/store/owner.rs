//! Who holds a pin: a number, and the proof that its holder is alive.
//!
//! On Linux the proof is a lock on one byte of an empty file, `-pins`, beside the database. The
//! kernel drops it with the process, however that ends, and no process id is compared, so
//! containers that share a file do not mistake each other for dead. Elsewhere a holder counts as
//! gone after a day.
//!
//! It is a file of its own, since a process that closes any descriptor of the database loses all
//! POSIX locks that SQLite has on it. It is never removed: two processes that lock different
//! files of that name would not see each other.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

use super::connection::Location;
use crate::error::Result;

/// A live holder. Its number dies with it.
pub struct Owner {
    /// What pins name.
    pub id: i64,
    _lock: Option<File>,
}

/// How long a holder that cannot be asked counts as alive, in milliseconds.
#[cfg(not(target_os = "linux"))]
const ASSUMED_LIFE_MS: f64 = 24.0 * 3600.0 * 1000.0;

static LAST: AtomicI64 = AtomicI64::new(0);

impl Owner {
    /// A new holder for pins in the database at `location`.
    pub fn new(location: &Location) -> Result<Owner> {
        loop {
            let id = fresh_id();
            match location {
                Location::File { path, .. } => match lock::claim(&lock_file(path), id)? {
                    Some(file) => return Ok(Owner { id, _lock: Some(file) }),
                    None => continue,
                },
                Location::Memory => return Ok(Owner { id, _lock: None }),
            }
        }
    }
}

/// Whether the holder of a pin made at `at` is gone for good.
pub fn is_gone(location: &Location, id: i64, at: f64, now: f64) -> bool {
    match location {
        Location::Memory => false,
        #[cfg(target_os = "linux")]
        Location::File { path, .. } => {
            let _ = (at, now);
            lock::is_free(&lock_file(path), id)
        }
        #[cfg(not(target_os = "linux"))]
        Location::File { .. } => {
            let _ = id;
            now - at > ASSUMED_LIFE_MS
        }
    }
}

fn lock_file(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-pins");
    PathBuf::from(name)
}

/// A number that no other holder has: 40 bits of time, process and count, mixed.
fn fresh_id() -> i64 {
    use std::hash::{BuildHasher, RandomState};
    let count = LAST.fetch_add(1, Ordering::Relaxed);
    let mixed = RandomState::new().hash_one((count, std::process::id()));
    (mixed & 0xff_ffff_ffff) as i64
}

#[cfg(target_os = "linux")]
mod lock {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use crate::error::{Code, FsError, Result};

    fn byte(id: i64, kind: i32) -> libc::flock {
        // SAFETY: `flock` is plain numbers, for which all zeroes is a value.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        range.l_type = kind as i16;
        range.l_whence = libc::SEEK_SET as i16;
        range.l_start = id;
        range.l_len = 1;
        range
    }

    /// Takes the byte of `id`; none if somebody has it.
    pub fn claim(path: &Path, id: i64) -> Result<Option<File>> {
        let options = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let file = options.map_err(|error| {
            FsError::with_detail(Code::Io, format!("the file {} cannot be locked ({error})", path.display()))
        })?;
        let range = byte(id, libc::F_WRLCK);
        // SAFETY: the descriptor is open for the call, and `range` outlives it.
        let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &range) };
        Ok((status == 0).then_some(file))
    }

    /// Whether nobody has the byte of `id`. In doubt somebody has.
    pub fn is_free(path: &Path, id: i64) -> bool {
        let file = match File::options().read(true).write(true).open(path) {
            Ok(file) => file,
            // Whoever held a pin had made the file.
            Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
        };
        let mut range = byte(id, libc::F_WRLCK);
        // SAFETY: the descriptor is open for the call, and `range` is ours to be written to.
        let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut range) };
        status == 0 && i32::from(range.l_type) == libc::F_UNLCK
    }
}

#[cfg(not(target_os = "linux"))]
mod lock {
    use std::fs::File;
    use std::path::Path;

    use crate::error::{Code, FsError, Result};

    pub fn claim(path: &Path, _id: i64) -> Result<Option<File>> {
        File::options().write(true).create(true).truncate(false).open(path).map(Some).map_err(|error| {
            FsError::with_detail(Code::Io, format!("the file {} cannot be made ({error})", path.display()))
        })
    }
}
