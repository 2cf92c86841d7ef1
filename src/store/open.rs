//! Opening a database: refuse what is not ours before anything is changed, then bring the schema
//! up to date.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::connection::{Conn, Durability, Location, damaged, no_database};
use super::{Config, executor, schema};
use crate::clock::now_ms;
use crate::error::{Code, FsError, Result};

/// Size of a page of the database: SQLite's default.
const PAGE_BYTES: u64 = 4096;

/// How long several processes that open one file at once wait for each other.
const OPEN_WAIT: Duration = Duration::from_secs(30);

/// A connection to a database that is ours and of the current schema.
pub fn open(config: &Config) -> Result<Conn> {
    match &config.location {
        Location::Memory => {
            let conn = Conn::open(&config.location)?;
            create(&conn)?;
            Ok(conn)
        }
        Location::File { path, readonly } => open_file(config, path, *readonly)
            .map_err(|error| error.at(path.to_string_lossy()).during("open")),
    }
}

fn open_file(config: &Config, path: &Path, readonly: bool) -> Result<Conn> {
    let exists = inspect(path, readonly)?;
    if !exists && readonly {
        return Err(FsError::with_detail(Code::NoEnt, "there is no database to open read-only"));
    }
    let give_up = Instant::now() + OPEN_WAIT;
    let mut attempts = 0;
    loop {
        match attempt(config, readonly) {
            Err(error) if error.code() == Code::Busy && Instant::now() < give_up => {
                std::thread::sleep(executor::backoff(attempts));
                attempts += 1;
            }
            Err(error) if error.code() == Code::Busy => {
                return Err(FsError::with_detail(
                    Code::Io,
                    "another program holds the database locked; close it and open again",
                ));
            }
            result => return result,
        }
    }
}

/// What the operating system says about the file, in its own terms: SQLite would only say that
/// it cannot be opened.
fn inspect(path: &Path, readonly: bool) -> Result<bool> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            return Err(FsError::with_detail(Code::IsDir, "storage must name a file; this is a directory"));
        }
        // SQLite takes a file of one byte for an empty one.
        Ok(metadata) if metadata.len() == 1 => return Err(no_database()),
        // To open a pipe would wait for somebody who writes to it.
        Ok(metadata) if !metadata.is_file() => {
            return Err(FsError::invalid("storage must name a regular file"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if !readonly && let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)
                    .and_then(|()| check_directory(parent))
                    .map_err(|error| host_error(&error))?;
            }
            return Ok(false);
        }
        Err(error) => return Err(host_error(&error)),
    }
    check_access(path, readonly).map_err(|error| host_error(&error))?;
    Ok(true)
}

/// Asks whether the file may be used so, without opening it: to close any descriptor of a
/// database drops the POSIX locks that SQLite has on it for others in this process.
#[cfg(unix)]
fn check_access(path: &Path, readonly: bool) -> io::Result<()> {
    if readonly {
        return may(path, libc::R_OK);
    }
    may(path, libc::R_OK | libc::W_OK)?;
    path.parent().map_or(Ok(()), check_directory)
}

/// Asks whether files can be made in a directory, as SQLite does beside a database.
#[cfg(unix)]
fn check_directory(path: &Path) -> io::Result<()> {
    may(path, libc::W_OK | libc::X_OK)
}

#[cfg(unix)]
fn may(path: &Path, mode: libc::c_int) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `path` is a C string that outlives the call.
    let status = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), mode, libc::AT_EACCESS) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(unix))]
fn check_access(path: &Path, readonly: bool) -> io::Result<()> {
    if !readonly && path.metadata()?.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn host_error(error: &io::Error) -> FsError {
    let (code, what) = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            (Code::Acces, "no permission for the database file or its directory")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            (Code::Rofs, "the medium is read-only; open the workspace with { readonly: true }")
        }
        io::ErrorKind::NotADirectory => (Code::NotDir, "a parent of the database file is not a directory"),
        io::ErrorKind::AlreadyExists => (Code::NotDir, "a parent of the database file is not a directory"),
        io::ErrorKind::InvalidFilename => (Code::NameTooLong, "the name of the database file is too long"),
        io::ErrorKind::StorageFull => (Code::NoSpc, "the disk is full"),
        _ => return FsError::with_detail(Code::Io, format!("the database file cannot be opened ({error})")),
    };
    FsError::with_detail(code, what)
}

fn attempt(config: &Config, readonly: bool) -> Result<Conn> {
    let conn = Conn::open(&config.location)?;
    let found = identify_at_once(&conn)?;
    if matches!(found, Found::Newer(_) | Found::Foreign) {
        conn.leave_wal()?;
    }
    match found {
        Found::Current => {
            // A copy that SQLite made by VACUUM INTO is not in WAL mode any more.
            if !readonly && journal_mode(&conn)? != "wal" {
                use_wal(&conn)?;
            }
            check_length(&config.location)?;
            Ok(conn)
        }
        Found::Newer(version) => Err(FsError::with_detail(
            Code::Io,
            format!(
                "the database has schema version {version}, this carrel knows up to {}; use a newer carrel",
                schema::VERSION
            ),
        )),
        Found::Foreign => Err(FsError::with_detail(
            Code::Io,
            "the file is a SQLite database of another program; name another file",
        )),
        // Later versions only add tables, so an older file can be read as it is.
        Found::Older if readonly => {
            check_length(&config.location)?;
            Ok(conn)
        }
        Found::Empty if readonly => Err(FsError::with_detail(
            Code::Rofs,
            "the database must be set up first; open it once without { readonly: true }",
        )),
        Found::Empty | Found::Older => {
            use_wal(&conn)?;
            conn.sync_as(match config.durability {
                Durability::Off => Durability::Off,
                _ => Durability::Full,
            })?;
            create(&conn)?;
            Ok(conn)
        }
    }
}

/// A file that ends within a page was cut short, unless somebody is writing it at this moment.
/// SQLite itself would find out only when it gets there.
fn check_length(location: &Location) -> Result<()> {
    let Location::File { path, .. } = location else { return Ok(()) };
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    let is_in_use = Path::new(&wal).metadata().is_ok_and(|wal| wal.len() > 0);
    if !is_in_use && path.metadata().is_ok_and(|file| file.len() % PAGE_BYTES != 0) {
        return Err(damaged("the file is cut short"));
    }
    Ok(())
}

fn journal_mode(conn: &Conn) -> Result<String> {
    Ok(conn.sqlite().query_row("PRAGMA journal_mode", [], |row| row.get(0))?)
}

/// WAL is a property of the file, set once, and needs the file to itself for a moment.
fn use_wal(conn: &Conn) -> Result<()> {
    Ok(conn.sqlite().query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?)
}

enum Found {
    Empty,
    Older,
    Current,
    Newer(i32),
    Foreign,
}

/// Looks at one state of the file: another process may be making the schema right now.
fn identify_at_once(conn: &Conn) -> Result<Found> {
    conn.run("BEGIN")?;
    let found = identify(conn);
    conn.rollback();
    found
}

fn identify(conn: &Conn) -> Result<Found> {
    let number = |sql: &str| conn.sqlite().query_row(sql, [], |row| row.get::<_, i32>(0));
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    if application == schema::APPLICATION_ID {
        return Ok(match version {
            version if version > schema::VERSION => Found::Newer(version),
            schema::VERSION => Found::Current,
            _ => Found::Older,
        });
    }
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(if application == 0 && version == 0 && tables == 0 { Found::Empty } else { Found::Foreign })
}

/// Creates or upgrades the schema, once however many processes try.
fn create(conn: &Conn) -> Result<()> {
    conn.run("BEGIN IMMEDIATE")?;
    let result = match identify(conn) {
        Ok(Found::Empty) => schema::migrate(conn.sqlite(), 0, now_ms()).map_err(FsError::from),
        Ok(Found::Older) => conn
            .sqlite()
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .and_then(|version| schema::migrate(conn.sqlite(), version, now_ms()))
            .map_err(FsError::from),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    match result.and_then(|()| Ok(conn.run("COMMIT")?)) {
        Ok(()) => Ok(()),
        Err(error) => {
            conn.rollback();
            Err(error)
        }
    }
}
