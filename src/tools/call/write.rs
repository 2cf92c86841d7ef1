//! `write`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::contents::Contents;
use crate::error::{Code, FsError};
use crate::path::WorkspacePath;
use crate::store::{Inode, Kind, ReadTx, WriteTx};
use crate::tools::definitions::size_text;
use crate::tools::outcome::{Failure, Problem, Result, Success};
use crate::tools::text::{TRUNCATION_MARK, Truncation};
use crate::tools::{Call, Options};
use crate::vfs::{self, Condition, LastLink, NewFile, Resolved, existing, realpath, resolve};

/// Longest old file that is looked through for lines that the new one has cut.
const NOTICE_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Writes a whole file.
pub fn write(call: &Arc<Call>) {
    let prepared = call.path().and_then(|(shown, path)| {
        if shown.ends_with('/') {
            return Err(Failure::new(
                Code::IsDir.name(),
                format!("{shown} names a directory; name a file, without a / at the end"),
            ));
        }
        let size = call.arguments.text("content").len() as u64;
        let most = call.options().write_max_bytes;
        if size > most {
            return Err(Failure::new(
                Code::Fbig.name(),
                format!(
                    "the content has {size} bytes and at most {most} ({}) can be written at once; write a first part, then add to it with `edit`, or split it into files",
                    size_text(most),
                ),
            ));
        }
        Ok((shown.to_owned(), path))
    });
    let (shown, path) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return call.finish(Err(failure)),
    };
    let bytes = call.arguments.text("content").len();
    let work = {
        let (shown, path) = (shown.clone(), path.clone());
        move |call: &Call, tx: &WriteTx<'_>| {
            // Hashed here: this is the first that is not done on the caller's thread.
            let contents = Contents::new(call.arguments.text("content").as_bytes());
            write_in(call, tx, &shown, &path, &contents)
        }
    };
    call.change(bytes, shown, path, work);
}

fn write_in(
    call: &Call,
    tx: &WriteTx<'_>,
    shown: &str,
    path: &WorkspacePath,
    contents: &Contents,
) -> Result<Success, Problem> {
    let old = old_file(tx, path)?;
    let version = old.as_ref().map(|old| tx.content_version(old.content)).transpose()?;
    check_version(call, shown, version.as_deref())?;
    if let (Some(old), Some(version)) = (&old, &version) {
        check_is_known(call, tx, shown, old, version)?;
    }
    check_notices(call, tx, shown, old.as_ref())?;

    let size = contents.len() as u64;
    if old.is_none()
        && let Some((above, _)) = path.as_str().rsplit_once('/')
        && !above.is_empty()
    {
        vfs::mkdir(tx, &WorkspacePath::parse(above)?, true, None)?;
    }
    let (version, real) = put(call, tx, path, contents, true)?;
    let mut output = json!({ "path": shown, "bytesWritten": size, "existed": old.is_some() });
    if let Some(old) = &old {
        output["sizeBefore"] = Value::from(old.size);
    }
    output["version"] = Value::from(version);
    let mut success = Success::new(output).about(real);
    success.touched.bytes_before = old.map(|old| old.size);
    success.touched.bytes_after = Some(size);
    Ok(success)
}

/// Gives a file new contents, which the caller knows all of if `is_known`; their version, and where the
/// file really is.
pub fn put(
    call: &Call,
    tx: &WriteTx<'_>,
    path: &WorkspacePath,
    contents: &Contents,
    is_known: bool,
) -> crate::error::Result<(String, String)> {
    let file = NewFile { mode: None, condition: Condition::Any };
    contents.with(tx, |contents| vfs::write(tx, path, file, contents))?;
    let new = existing(tx, path, LastLink::Follow)?;
    let version = tx.content_version(new.content)?;
    if call.options().needs_read && is_known {
        tx.note_version(call.toolset.reader(), new.id, &version)?;
    }
    Ok((version, realpath(tx, path)?))
}

/// The file that is there, if any.
fn old_file(tx: &ReadTx<'_>, path: &WorkspacePath) -> crate::error::Result<Option<Inode>> {
    match resolve(tx, path, LastLink::Follow) {
        Ok(Resolved::Found { kind: Kind::Directory, .. }) => Err(FsError::new(Code::IsDir)),
        Ok(Resolved::Found { id, .. }) => tx.inode(id).map(Some),
        Ok(Resolved::Absent { .. }) => Ok(None),
        Err(error) if error.code() == Code::NoEnt => Ok(None),
        Err(error) => Err(error),
    }
}

/// `ifUnchanged`.
fn check_version(call: &Call, shown: &str, now: Option<&str>) -> Result<()> {
    let Some(wanted) = call.arguments.optional_text("ifUnchanged") else { return Ok(()) };
    match now {
        Some(now) if now == wanted => Ok(()),
        Some(now) => Err(Failure::new(
            "ECONFLICT",
            format!("{shown} has changed since it was read as version {wanted}; read it again, then write"),
        )
        .with("version", now)),
        None => Err(Failure::new(
            "ECONFLICT",
            format!(
                "{shown} was deleted since it was read as version {wanted}; to make it anew, leave `ifUnchanged` out"
            ),
        )),
    }
}

/// `requireReadBeforeOverwrite`.
fn check_is_known(call: &Call, tx: &ReadTx<'_>, shown: &str, old: &Inode, version: &str) -> Result<()> {
    // Nothing is lost with an empty file.
    if !call.options().needs_read || old.size == 0 {
        return Ok(());
    }
    match tx.known_version(call.toolset.reader(), old.id)? {
        Some(known) if known == version => Ok(()),
        Some(_) => Err(Failure::new(
            "ECONFLICT",
            format!("{shown} has changed since you read it; read it again before you replace it"),
        )
        .with("version", version)),
        None => Err(Failure::new(
            "ENOTREAD",
            format!("{shown} exists and you have not read it; read it before you replace it, or use `edit`"),
        )),
    }
}

/// Refuses content in which lines were cut by `read`, or that ends in the notice of a command's cut
/// output: to write it would lose what was cut.
fn check_notices(call: &Call, tx: &ReadTx<'_>, shown: &str, old: Option<&Inode>) -> Result<()> {
    let content = call.arguments.text("content");
    let cut_lines = || content.lines().filter_map(|line| line.strip_suffix(TRUNCATION_MARK));
    if cut_lines().next().is_none() && !ends_in_output_notice(content) {
        return Ok(());
    }
    let refused = || {
        Failure::new(
            Code::Inval.name(),
            format!(
                "the content holds a notice that a tool put where it cut its output, so {shown} would lose what was cut; nothing was written. Use `edit`, or read the rest first"
            ),
        )
    };
    let old_text = match old {
        Some(old) if old.size <= NOTICE_FILE_BYTES_MAX => {
            let bytes = tx.content_range(old.content, old.size, 0, old.size)?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => String::new(),
    };
    if ends_in_output_notice(content) && !ends_in_output_notice(&old_text) {
        return Err(refused());
    }
    if has_cut_line(call.options(), content) && !has_cut_line(call.options(), &old_text) {
        return Err(refused());
    }
    for kept in cut_lines().filter(|kept| !kept.is_empty()) {
        let whole = format!("{kept}{TRUNCATION_MARK}");
        let is_cut = |line: &str| line.starts_with(kept) && line.len() > kept.len() && line != whole;
        if old_text.lines().any(is_cut) && !old_text.lines().any(|line| line == whole) {
            return Err(refused());
        }
    }
    Ok(())
}

/// Whether a line is as long as `read` leaves one that it cuts, and ends with the notice.
pub fn has_cut_line(options: &Options, text: &str) -> bool {
    let Some(truncation) = options.read.line_truncation else { return false };
    text.lines().filter_map(|line| line.strip_suffix(TRUNCATION_MARK)).any(|kept| match truncation {
        // A character is not cut: up to three bytes may be missing.
        Truncation::Bytes(most) => (most.saturating_sub(3)..=most).contains(&kept.len()),
        Truncation::Chars(most) => kept.chars().count() == most,
    })
}

/// Whether a text ends as the output of a command does that was cut: `[Showing lines 4-5 of 5.]`.
fn ends_in_output_notice(text: &str) -> bool {
    let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let is_lines = last.strip_prefix("[Showing lines ").is_some_and(|rest| rest.contains(" of "));
    let is_part = last.strip_prefix("[Showing last ").is_some_and(|rest| rest.contains(" of line "));
    (is_lines || is_part) && last.ends_with(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notice_of_cut_output() {
        assert!(ends_in_output_notice("x\n\n[Showing lines 4-5 of 5. Full output: /.carrel/output/a.log]\n"));
        assert!(ends_in_output_notice("[Showing last 8B of line 3.]"));
        assert!(!ends_in_output_notice("[Showing lines 4-5 of 5.]\nmore"));
        assert!(!ends_in_output_notice("[Showing]"));
    }
}
