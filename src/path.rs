//! The only way from text to a path.
//!
//! A path is made canonical before anything is looked up: absolute, no empty or `.` segment, and
//! `..` removed together with the segment before it, whatever that segment is. (Inside a link's
//! target `..` means the real parent, as on POSIX; see `vfs::resolve`.)

use crate::error::{Code, FsError, Result};
use crate::limits::{NAME_BYTES_MAX, PATH_BYTES_MAX};

/// A canonical absolute path: `/` or `/segment/segment`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePath {
    text: String,
}

impl WorkspacePath {
    /// Reads a path as a caller wrote it.
    ///
    /// `EINVAL` for an empty, relative or root-escaping path or one with NUL, `ENAMETOOLONG` for
    /// a segment over 255 or a path over 4,096 bytes.
    pub fn parse(raw: &str) -> Result<Self> {
        Self::canonical(raw).map_err(|error| error.at(shown(raw)))
    }

    fn canonical(raw: &str) -> Result<Self> {
        let invalid = |reason: &str| FsError::invalid(format!("invalid path ({reason})"));
        if raw.is_empty() {
            return Err(invalid("empty; paths start with '/'"));
        }
        if !raw.starts_with('/') {
            return Err(invalid("must be absolute; start it with '/'"));
        }
        if raw.contains('\0') {
            return Err(invalid("contains a NUL byte"));
        }
        if raw.len() > PATH_BYTES_MAX {
            return Err(FsError::new(Code::NameTooLong));
        }
        let mut text = String::with_capacity(raw.len());
        for segment in raw.split('/') {
            match segment {
                "" | "." => {}
                ".." => match text.rfind('/') {
                    Some(cut) => text.truncate(cut),
                    None => return Err(invalid("escapes the root")),
                },
                name if name.len() > NAME_BYTES_MAX => return Err(FsError::new(Code::NameTooLong)),
                name => {
                    text.push('/');
                    text.push_str(name);
                }
            }
        }
        if text.is_empty() {
            text.push('/');
        }
        Ok(WorkspacePath { text })
    }

    /// The root.
    pub fn root() -> Self {
        WorkspacePath { text: "/".to_owned() }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether this is `/`.
    pub fn is_root(&self) -> bool {
        self.text == "/"
    }

    /// The segments from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split('/').filter(|segment| !segment.is_empty())
    }

    /// The last segment; empty for the root.
    pub fn name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// The path of `name` below this one.
    pub fn join(&self, name: &str) -> String {
        join(&self.text, name)
    }
}

impl std::fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A path for an error: one that is far too long is cut.
fn shown(raw: &str) -> &str {
    let end = (0..=raw.len().min(PATH_BYTES_MAX)).rev().find(|at| raw.is_char_boundary(*at));
    &raw[..end.unwrap_or(0)]
}

/// `name` below `directory`, both canonical.
pub fn join(directory: &str, name: &str) -> String {
    if directory == "/" { format!("/{name}") } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, want: Result<&str, Code>) {
        let got = WorkspacePath::parse(raw);
        assert_eq!(got.as_ref().map(WorkspacePath::as_str).map_err(FsError::code), want, "{raw:?}");
    }

    #[test]
    fn canonical_form() {
        check("/", Ok("/"));
        check("//", Ok("/"));
        check("/a", Ok("/a"));
        check("/a/", Ok("/a"));
        check("//a///b/.", Ok("/a/b"));
        check("/nope/../f", Ok("/f"));
        check("/..a/...", Ok("/..a/..."));
        check("/a\nb/\\c", Ok("/a\nb/\\c"));
    }

    #[test]
    fn refusals() {
        check("", Err(Code::Inval));
        check("a", Err(Code::Inval));
        check("./a", Err(Code::Inval));
        check(" /a", Err(Code::Inval));
        check("/..", Err(Code::Inval));
        check("/a/../..", Err(Code::Inval));
        check("/a\0b", Err(Code::Inval));
    }

    #[test]
    fn lengths_count_bytes() {
        check(&format!("/{}", "a".repeat(255)), Ok(&format!("/{}", "a".repeat(255))));
        check(&format!("/{}", "a".repeat(256)), Err(Code::NameTooLong));
        check(&format!("/{}", "é".repeat(128)), Err(Code::NameTooLong));
        check(&"/abcdefg".repeat(513), Err(Code::NameTooLong));
    }
}
