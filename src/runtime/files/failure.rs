//! Failed file calls as Node knows them: code, `errno` of Linux, call and paths.
//!
//! The texts of known codes are Node's own, inside the isolate; a sentence goes along only where carrel
//! has more to say.

use carrel_wire::Value;

use crate::error::{Code, FsError};

/// What went wrong, before it is said with which call and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// As `error.code`.
    pub code: &'static str,
    /// As `error.errno`; 0 where POSIX has none.
    pub errno: i32,
    /// Instead of the code's own text.
    pub sentence: Option<String>,
}

impl Failure {
    /// One of POSIX.
    pub fn posix(code: &'static str, errno: i32) -> Self {
        Failure { code, errno, sentence: None }
    }

    /// Arguments that no isolate of ours sends.
    pub fn arguments() -> Self {
        Failure { code: "EINVAL", errno: -22, sentence: None }
    }

    /// A descriptor that is not open, or not for this.
    pub fn descriptor() -> Self {
        Failure::posix("EBADF", -9)
    }

    /// More than a limit allows; the sentence has its name.
    pub fn limit(sentence: String) -> Self {
        Failure { code: "ELIMIT", errno: 0, sentence: Some(sentence) }
    }
}

impl From<FsError> for Failure {
    fn from(error: FsError) -> Self {
        let says_more = matches!(
            error.code(),
            Code::Acces | Code::Closed | Code::Fbig | Code::Io | Code::NoSpc | Code::Perm | Code::Rofs
        ) && error.sentence() != FsError::new(error.code()).sentence();
        Failure {
            code: error.code().name(),
            errno: error.code().errno(),
            sentence: (says_more || error.code() == Code::Closed).then(|| error.sentence().to_owned()),
        }
    }
}

/// Which call it was, and about what, in the caller's own words.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// As `error.syscall`.
    pub syscall: &'static str,
    /// As `error.path`.
    pub path: Option<String>,
    /// As `error.dest`.
    pub dest: Option<String>,
}

impl About {
    /// A call with a descriptor.
    pub fn call(syscall: &'static str) -> Self {
        About { syscall, path: None, dest: None }
    }

    /// A call with a path.
    pub fn path(syscall: &'static str, path: &str) -> Self {
        About { syscall, path: Some(path.to_owned()), dest: None }
    }

    /// A call with two.
    pub fn paths(syscall: &'static str, path: &str, dest: &str) -> Self {
        About { syscall, path: Some(path.to_owned()), dest: Some(dest.to_owned()) }
    }

    /// The error as it crosses: `[code, syscall, path, dest, message, errno]`.
    pub fn error(&self, failure: Failure) -> Value {
        Value::List(vec![
            Value::text(failure.code),
            Value::text(self.syscall),
            Value::optional_text(self.path.as_deref()),
            Value::optional_text(self.dest.as_deref()),
            Value::optional_text(failure.sentence),
            Value::Number(f64::from(failure.errno)),
        ])
    }
}
