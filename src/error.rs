//! The one error type of the core, and the only place that words errors.
//!
//! An error says which rule was broken (`code`, a POSIX name where POSIX has one), on what
//! (`path`, `dest`), in which call (`syscall`), and in a sentence what to do about it.

use std::fmt;

/// What every fallible function of the core returns.
pub type Result<T, E = FsError> = std::result::Result<T, E>;

/// The closed list of codes that reach JavaScript as `error.code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Code {
    Acces,
    Badf,
    Busy,
    Closed,
    ExecBusy,
    ExecExists,
    Exist,
    Fbig,
    Inval,
    Io,
    IsDir,
    Limit,
    Loop,
    NameTooLong,
    NoEnt,
    NoExec,
    NoSpc,
    NotDir,
    NotEmpty,
    Perm,
    Rofs,
    Stale,
    TimedOut,
    ArgType,
}

impl Code {
    /// The text that becomes `error.code`.
    pub fn name(self) -> &'static str {
        match self {
            Code::Acces => "EACCES",
            Code::Badf => "EBADF",
            Code::Busy => "EBUSY",
            Code::Closed => "ECLOSED",
            Code::ExecBusy => "EEXEC_BUSY",
            Code::ExecExists => "EEXEC_EXISTS",
            Code::Exist => "EEXIST",
            Code::Fbig => "EFBIG",
            Code::Inval => "EINVAL",
            Code::Io => "EIO",
            Code::IsDir => "EISDIR",
            Code::Limit => "ELIMIT",
            Code::Loop => "ELOOP",
            Code::NameTooLong => "ENAMETOOLONG",
            Code::NoEnt => "ENOENT",
            Code::NoExec => "ENOEXEC",
            Code::NoSpc => "ENOSPC",
            Code::NotDir => "ENOTDIR",
            Code::NotEmpty => "ENOTEMPTY",
            Code::Perm => "EPERM",
            Code::Rofs => "EROFS",
            Code::Stale => "ESTALE",
            Code::TimedOut => "ETIMEDOUT",
            Code::ArgType => "ERR_INVALID_ARG_TYPE",
        }
    }

    /// The negative `errno` of Linux, as Node puts on its own errors; 0 where POSIX has none.
    pub fn errno(self) -> i32 {
        match self {
            Code::Perm => -1,
            Code::NoEnt => -2,
            Code::Io => -5,
            Code::NoExec => -8,
            Code::Badf => -9,
            Code::Acces => -13,
            Code::Busy => -16,
            Code::Exist => -17,
            Code::NotDir => -20,
            Code::IsDir => -21,
            Code::Inval => -22,
            Code::Fbig => -27,
            Code::NoSpc => -28,
            Code::Rofs => -30,
            Code::NameTooLong => -36,
            Code::NotEmpty => -39,
            Code::Loop => -40,
            Code::TimedOut => -110,
            Code::Stale => -116,
            Code::Closed | Code::ExecBusy | Code::ExecExists | Code::Limit | Code::ArgType => 0,
        }
    }

    /// The short description that opens a message, in the words of `strerror`.
    fn describe(self) -> &'static str {
        match self {
            Code::Acces => "permission denied",
            Code::Badf => "bad file descriptor",
            // Waited for by `store`; it never reaches a caller.
            Code::Busy => "the database is busy",
            Code::Closed => "the workspace is closed",
            Code::ExecBusy => "the run is still going on",
            Code::ExecExists => "there is a run with this id",
            Code::Exist => "file already exists",
            Code::Fbig => "file too large",
            Code::Inval => "invalid argument",
            Code::Io => "i/o error",
            Code::IsDir => "illegal operation on a directory",
            Code::Limit => "a limit was passed",
            Code::Loop => "too many symbolic links encountered",
            Code::NameTooLong => "name too long",
            Code::NoEnt => "no such file or directory",
            Code::NoExec => "the isolate program is missing",
            Code::NoSpc => "no space left",
            Code::NotDir => "not a directory",
            Code::NotEmpty => "directory not empty",
            Code::Perm => "operation not permitted",
            Code::Rofs => "read-only file system",
            Code::Stale => "out of date",
            Code::TimedOut => "timed out",
            Code::ArgType => "wrong argument type",
        }
    }
}

/// A failed call. Boxed fields keep `Result` small on the happy path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsError(Box<Fields>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fields {
    code: Code,
    detail: String,
    path: Option<String>,
    dest: Option<String>,
    syscall: Option<&'static str>,
}

impl FsError {
    /// An error whose sentence is the standard description of `code`.
    pub fn new(code: Code) -> Self {
        Self::with_detail(code, String::new())
    }

    /// An error with a sentence of its own.
    pub fn with_detail(code: Code, detail: impl Into<String>) -> Self {
        FsError(Box::new(Fields { code, detail: detail.into(), path: None, dest: None, syscall: None }))
    }

    /// `EINVAL`: a value outside what the argument allows.
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::with_detail(Code::Inval, detail)
    }

    /// `ERR_INVALID_ARG_TYPE`: reaches JavaScript as a `TypeError`.
    pub fn arg_type(detail: impl Into<String>) -> Self {
        Self::with_detail(Code::ArgType, detail)
    }

    /// Names the path unless a more precise one is already there.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.0.path.get_or_insert(path.into());
        self
    }

    /// Names the second path of a call with two.
    #[must_use]
    pub fn to(mut self, dest: impl Into<String>) -> Self {
        self.0.dest.get_or_insert(dest.into());
        self
    }

    /// Names the call, as Node's `error.syscall` does.
    #[must_use]
    pub fn during(mut self, syscall: &'static str) -> Self {
        self.0.syscall.get_or_insert(syscall);
        self
    }

    /// What went wrong, without code, call and path.
    pub fn sentence(&self) -> &str {
        if self.0.detail.is_empty() { self.0.code.describe() } else { &self.0.detail }
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The path that the call was about.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// The second path, of calls that have one.
    pub fn dest(&self) -> Option<&str> {
        self.0.dest.as_deref()
    }

    /// The call.
    pub fn syscall(&self) -> Option<&'static str> {
        self.0.syscall
    }
}

impl fmt::Display for FsError {
    /// `ENOENT: no such file or directory, open '/a'`, the form of Node's own messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fields { code, detail, path, dest, syscall } = &*self.0;
        if *code == Code::ArgType {
            return f.write_str(detail);
        }
        write!(f, "{}: ", code.name())?;
        f.write_str(if detail.is_empty() { code.describe() } else { detail })?;
        if let Some(syscall) = syscall {
            write!(f, ", {syscall}")?;
        }
        if let Some(path) = path {
            write!(f, " '{path}'")?;
        }
        if let Some(dest) = dest {
            write!(f, " -> '{dest}'")?;
        }
        Ok(())
    }
}

impl std::error::Error for FsError {}
