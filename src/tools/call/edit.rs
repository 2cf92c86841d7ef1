//! `edit`: matches against one version of the file, and commits on that version only.
//!
//! The match is made on a view of the file, without holding up writers. If the file has changed when
//! the change is to be made, the match is made again; the last time within the change itself, where no
//! other writer can come between.

use std::sync::Arc;

use serde_json::{Value, json};

use super::contents::Contents;
use super::write::{has_cut_line, put};
use crate::error::{Code, FsError};
use crate::path::WorkspacePath;
use crate::store::{Inode, InodeId, Kind as InodeKind, ReadTx, WriteTx, executor};
use crate::tools::definitions::size_text;
use crate::tools::edit::{self, DiffLimits, Edit, Plan, Refusal};
use crate::tools::outcome::{Failure, Problem, Result, Success};
use crate::tools::text::{Document, Kind, PREFIX_BYTES, SpliceError, TextFormat, kind_of};
use crate::tools::{Call, guarded};
use crate::vfs::{LastLink, existing};

/// Times that the match is made outside of the change.
const ATTEMPTS: u32 = 3;

/// What an edit is about.
struct Target {
    shown: String,
    path: WorkspacePath,
    edits: Vec<Edit>,
}

/// An edit worked out for one version of a file.
struct Worked {
    inode: InodeId,
    version: String,
    contents: Contents,
    size_before: u64,
    /// All of the result but the new version.
    output: Value,
}

/// Edits a file.
pub fn edit(call: &Arc<Call>) {
    let target = call.path().map(|(shown, path)| Target {
        shown: shown.to_owned(),
        path,
        edits: call
            .arguments
            .edits()
            .map(|(old, new, replace_all)| Edit {
                old_text: old.to_owned(),
                new_text: new.to_owned(),
                replace_all,
            })
            .collect(),
    });
    match target {
        Ok(target) => attempt(call, Arc::new(target), 1),
        Err(failure) => call.finish(Err(failure)),
    }
}

/// Matches on a view, then changes; again if the file has changed meanwhile.
fn attempt(call: &Arc<Call>, target: Arc<Target>, number: u32) {
    let (call, guard) = (Arc::clone(call), call.scope().store().enter());
    executor::spawn_blocking(move || {
        let worked = guarded(|| {
            let viewed = call.scope().read_now(|tx| look(&call, tx, &target));
            let file = viewed.map_err(|error| call.explain(&error, &target.shown, &target.path))?;
            work_out(&call, &target, file).map_err(|failure| after_changes(failure, &target, number))
        });
        match worked {
            Err(failure) => call.finish(Err(failure)),
            // All is as it should be already.
            Ok(worked) if worked.output["changed"] == false => {
                call.finish(Ok(finished(&worked, worked.version.clone(), target.path.to_string())));
            }
            Ok(worked) => commit(&call, &target, worked, number),
        }
        drop(guard);
    });
}

fn commit(call: &Arc<Call>, target: &Arc<Target>, worked: Worked, number: u32) {
    let bytes = worked.contents.len();
    let in_change = Arc::clone(target);
    let work = move |call: &Call, tx: &WriteTx<'_>| change(call, tx, &in_change, worked, number);
    let (next, target) = (Arc::clone(call), Arc::clone(target));
    call.try_change(bytes, work, move |changed| match changed {
        Ok(success) => next.answer(success),
        Err(Problem::Refused(failure)) if failure.code == AGAIN => attempt(&next, target, number + 1),
        Err(Problem::Refused(failure)) => next.finish(Err(failure)),
        Err(Problem::Fs(error)) => next.explain_later(error, target.shown.clone(), target.path.clone()),
    });
}

/// Code of a failure that only says that the match has to be made again.
const AGAIN: &str = "again";

fn change(
    call: &Call,
    tx: &WriteTx<'_>,
    target: &Target,
    mut worked: Worked,
    number: u32,
) -> Result<Success, Problem> {
    let file = look(call, tx, target)?;
    if file.inode.id != worked.inode || file.version != worked.version {
        if number < ATTEMPTS {
            return Err(Failure::new(AGAIN, "the file has changed").into());
        }
        worked = work_out(call, target, file).map_err(|failure| after_changes(failure, target, number))?;
    }
    // Who had not read what is around the edit does not know it now.
    let is_known = call.options().needs_read
        && tx.known_version(call.toolset.reader(), worked.inode)?.as_deref() == Some(&*worked.version);
    let (version, real) = put(call, tx, &target.path, &worked.contents, is_known)?;
    Ok(finished(&worked, version, real))
}

/// A file as an edit finds it.
struct File {
    inode: Inode,
    version: String,
    bytes: Vec<u8>,
}

fn look(call: &Call, tx: &ReadTx<'_>, target: &Target) -> crate::error::Result<File> {
    let inode = existing(tx, &target.path, LastLink::Follow)?;
    if inode.kind == InodeKind::Directory {
        return Err(FsError::new(Code::IsDir));
    }
    let most = call.options().edit.max_bytes;
    if inode.size > most {
        return Err(FsError::with_detail(
            Code::Fbig,
            format!(
                "the file has {} bytes and at most {most} ({}) can be edited; replace it whole with `write`, or tell the user",
                inode.size,
                size_text(most)
            ),
        ));
    }
    tx.check_size(inode.content, inode.size)?;
    let version = tx.content_version(inode.content)?;
    let bytes = tx.content_range(inode.content, inode.size, 0, inode.size)?;
    Ok(File { inode, version, bytes })
}

fn work_out(call: &Call, target: &Target, file: File) -> Result<Worked> {
    let shown = &target.shown;
    let prefix = &file.bytes[..file.bytes.len().min(PREFIX_BYTES)];
    let Kind::Text(format) = kind_of(prefix, file.inode.size, target.path.name()) else {
        return Err(Failure::new(
            Code::Inval.name(),
            format!("{shown} is no text and cannot be edited; `read` says what it is"),
        ));
    };
    let size_before = file.inode.size;
    let document = Document::decode(file.bytes, format);
    if target.edits.iter().any(|edit| {
        has_cut_line(call.options(), &edit.new_text) && !has_cut_line(call.options(), &edit.old_text)
    }) {
        return Err(Failure::new(
            Code::Inval.name(),
            "newText holds a line that `read` has cut, with its notice; nothing was changed. Leave that line out of the edit, or read all of it first",
        ));
    }
    let (plan, is_unnumbered) =
        plan(document.text(), &target.edits).map_err(|refusal| explain_refusal(*refusal, &file.version))?;
    let splices: Vec<_> =
        plan.splices.iter().map(|splice| (splice.range.clone(), splice.replacement.as_str())).collect();
    let bytes = document.splice(&splices).map_err(|error| explain_splice(error, shown))?;
    let limits = DiffLimits {
        max_lines: call.options().edit.max_diff_lines,
        max_bytes: call.options().edit.max_diff_bytes,
    };
    let is_changed = !plan.is_noop();
    let new_text = edit::apply(document.text(), &plan.splices);
    check_is_read_as(&new_text, &bytes, &document, target)?;
    let diff = edit::diff(shown, document.text(), &new_text, &plan.splices, &limits);
    let mut output = json!({
        "path": shown,
        "editsApplied": target.edits.len(),
        "diff": diff.diff,
        "patch": diff.patch,
    });
    if let Some(line) = diff.first_changed_line {
        output["firstChangedLine"] = Value::from(line);
    }
    if diff.truncated {
        output["diffTruncated"] = Value::from(true);
    }
    output["changed"] = Value::from(is_changed);
    output["matches"] = matches(&plan);
    output["sizeBefore"] = Value::from(size_before);
    output["sizeAfter"] = Value::from(bytes.len());
    if is_unnumbered {
        output["note"] =
            Value::from("the line numbers in oldText and newText were left out: they are not in the file");
    }
    if !is_changed {
        let asks_for_other = target.edits.iter().any(|edit| edit.old_text != edit.new_text);
        output["note"] = Value::from(if asks_for_other {
            "nothing was changed: lines keep the line endings that they have in the file; to change those, write the file anew with `write`"
        } else {
            "newText is the same as oldText; the file was left as it is"
        });
    }
    Ok(Worked {
        inode: file.inode.id,
        version: file.version,
        contents: Contents::new(&bytes),
        size_before,
        output,
    })
}

/// Refuses bytes that would not be read as the text that they are: encodings are found out from the
/// contents, and new ones may look like another, or like no text at all.
fn check_is_read_as(text: &str, bytes: &[u8], old: &Document, target: &Target) -> Result<()> {
    let prefix = &bytes[..bytes.len().min(PREFIX_BYTES)];
    let format = old.format();
    let is_same = match kind_of(prefix, bytes.len() as u64, target.path.name()) {
        // The bytes were made, and compared, in this format.
        Kind::Text(same) if same == format => true,
        // With bytes that are no text anyway, what is left of it may look like anything.
        Kind::Text(_) if format.encoding == TextFormat::UTF_8.encoding && old.has_invalid_bytes() => true,
        // Which code page it is remains a guess; the bytes are those of the first one.
        Kind::Text(other) if is_code_page(format) && is_code_page(other) => true,
        Kind::Text(other) => Document::decode(bytes.to_vec(), other).text() == text,
        _ => false,
    };
    if is_same {
        return Ok(());
    }
    Err(Failure::new(
        "EILSEQ",
        format!(
            "with newText, {} would no longer be read as the text that it is, since what a file is, is found out \
             from its contents (now {}); leave control characters and marks of other formats out, or replace the \
             file with `write`",
            target.shown,
            format.encoding.name()
        ),
    ))
}

fn is_code_page(format: TextFormat) -> bool {
    !format.encoding.name().starts_with("utf-")
}

fn matches(plan: &Plan) -> Value {
    let matches = plan.matches.iter().map(|found| {
        json!({
            "edit": found.edit,
            "startLine": found.start_line,
            "endLine": found.end_line,
            "rule": found.rule.name(),
            "count": found.count,
        })
    });
    matches.collect()
}

fn finished(worked: &Worked, version: String, real: String) -> Success {
    let mut output = worked.output.clone();
    output["version"] = Value::from(version);
    let mut success = Success::new(output).about(real);
    success.touched.bytes_before = Some(worked.size_before);
    success.touched.bytes_after = Some(worked.contents.len() as u64);
    success
}

/// Matches the edits. If a text is not found that was copied with the line numbers that `read` shows,
/// and is right there without them, that is meant; it is said in the result.
fn plan(text: &str, edits: &[Edit]) -> Result<(Plan, bool), Box<Refusal>> {
    let refusal = match edit::plan(text, edits) {
        Ok(plan) => return Ok((plan, false)),
        Err(refusal) => Box::new(refusal),
    };
    if refusal.code != "ENOMATCH" {
        return Err(refusal);
    }
    // What is in the file with its number stays as it was asked for.
    let bare = edits.iter().map(|edit| without_numbers(edit).filter(|_| !text.contains(&edit.old_text)));
    let bare: Vec<Option<(usize, Edit)>> = bare.collect();
    if bare.iter().all(Option::is_none) {
        return Err(refusal);
    }
    let asked = edits.iter().zip(&bare);
    let asked: Vec<Edit> =
        asked.map(|(edit, bare)| bare.as_ref().map_or(edit, |(_, bare)| bare).clone()).collect();
    let Ok(plan) = edit::plan(text, &asked) else { return Err(refusal) };
    let is_there = |(bare, found): (&Option<(usize, Edit)>, &edit::Matched)| {
        bare.as_ref().is_none_or(|(line, _)| *line == found.start_line)
    };
    if bare.iter().zip(&plan.matches).all(is_there) { Ok((plan, true)) } else { Err(refusal) }
}

/// An edit without the line numbers that its old text has, and its new text, too, if it has them; and
/// the first of them.
fn without_numbers(edit: &Edit) -> Option<(usize, Edit)> {
    let (first, old_text) = unnumbered(&edit.old_text).filter(|_| !edit.replace_all)?;
    // What begins with another number is no copy of these lines.
    let new_text = match unnumbered(&edit.new_text) {
        Some((number, text)) if number == first => text,
        _ => edit.new_text.clone(),
    };
    Some((first, Edit { old_text, new_text, replace_all: false }))
}

/// A text of which each line begins with its number and a tab, as `read` shows them: the first number,
/// and the text without them.
fn unnumbered(text: &str) -> Option<(usize, String)> {
    let mut first = None;
    let mut plain = String::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let (number, rest) = line.split_once('\t')?;
        let number: usize = number.trim_start().parse().ok()?;
        if number != *first.get_or_insert(number) + index {
            return None;
        }
        plain.push_str(rest);
    }
    (!plain.is_empty()).then_some((first?, plain))
}

fn explain_refusal(refusal: Refusal, version: &str) -> Failure {
    let mut failure = Failure::new(refusal.code, format!("{} Nothing was changed.", refusal.error));
    if !refusal.lines.is_empty() {
        failure = failure.with("lines", refusal.lines);
    }
    if let Some(nearest) = refusal.nearest {
        failure = failure.with(
            "nearest",
            json!({
                "startLine": nearest.start_line,
                "endLine": nearest.end_line,
                "text": nearest.text,
                "difference": nearest.difference,
            }),
        );
    }
    failure.with("version", version)
}

/// A failure to match after the file was changed by others while this call went on.
fn after_changes(failure: Failure, target: &Target, number: u32) -> Failure {
    if number == 1 {
        return failure;
    }
    let sentence =
        format!("{} was changed by someone else while it was edited. {}", target.shown, failure.error);
    Failure { code: "ECONFLICT".into(), error: sentence, help: failure.help }
}

fn explain_splice(error: SpliceError, shown: &str) -> Failure {
    let sentence = match error {
        SpliceError::Unencodable { character, encoding } => format!(
            "{shown} is in the encoding {encoding}, which has no {character:?} (U+{:04X}); use another character, or write the whole file anew as UTF-8",
            u32::from(character)
        ),
        SpliceError::Ambiguous => format!(
            "{shown} has bytes that are no text where newText has U+FFFD, and they could not be kept; leave them out of the edit"
        ),
    };
    Failure::new("EILSEQ", sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_as_read_shows_them() {
        let text = |first: usize, text: &str| Some((first, text.to_owned()));
        assert_eq!(unnumbered("12\tlet x\n13\t\ty"), text(12, "let x\n\ty"));
        assert_eq!(unnumbered("   3\ta\n"), text(3, "a\n"));
        assert_eq!(unnumbered("3\ta\n5\tb\n"), None);
        assert_eq!(unnumbered("3\ta\nb\n"), None);
        assert_eq!(unnumbered("\tlet x"), None);
        assert_eq!(unnumbered("12 let x"), None);
        assert_eq!(unnumbered("3\t"), None);
        assert_eq!(unnumbered(""), None);
    }

    #[test]
    fn numbers_are_left_out_where_they_name_the_line() {
        let edit = |old: &str, new: &str| Edit {
            old_text: old.to_owned(),
            new_text: new.to_owned(),
            replace_all: false,
        };
        let applied = |text: &str, edits: &[Edit]| {
            plan(text, edits)
                .map(|(plan, _)| edit::apply(text, &plan.splices))
                .map_err(|refusal| refusal.code)
        };
        assert_eq!(applied("a\nb\nc\n", &[edit("2\tb", "2\tB")]), Ok("a\nB\nc\n".to_owned()));
        assert_eq!(applied("a\nb\nc\n", &[edit("2\tb", "B")]), Ok("a\nB\nc\n".to_owned()));
        assert_eq!(applied("foo\n", &[edit("1\tfoo", "5\tapples")]), Ok("5\tapples\n".to_owned()));
        assert_eq!(applied("a\nb\nc\n", &[edit("3\tb", "B")]), Err("ENOMATCH"));
        assert_eq!(applied("n\n4\tapples\n", &[edit("3\tapples", "3\tpears")]), Err("ENOMATCH"));
        // What is in the file with its number stays as it was asked for.
        assert_eq!(
            applied("a\n1\tfoo\n", &[edit("1\ta", "1\tb"), edit("1\tfoo", "2\tfoo")]),
            Ok("b\n2\tfoo\n".to_owned())
        );
    }
}
