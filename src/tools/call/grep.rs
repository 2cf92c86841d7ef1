//! `grep`.

use serde_json::{Map, Value, json};

use super::find::{is_one_level, relative_globs};
use super::fit;
use crate::path::WorkspacePath;
use crate::search::{self, Case, GrepOptions, Pattern, Skipped, Syntax};
use crate::tools::Call;
use crate::tools::definitions::PAGE_DEFAULT;
use crate::tools::outcome::{Failure, Result, Success};
use crate::vfs::realpath;

/// One page of what was found, whatever is shown of it.
struct Page {
    /// Name of the list in the output.
    name: &'static str,
    items: Vec<Value>,
    has_more: bool,
    files_searched: u64,
    skipped: Skipped,
}

/// Searches in files.
pub fn grep(call: &Call) -> Result {
    let (shown, path) = call.start_path()?;
    let arguments = &call.arguments;
    let offset = arguments.integer("offset").unwrap_or(0);
    let options = options(call, &path, offset)?;
    let searched = match arguments.optional_text("outputMode") {
        Some("files") => search::grep_files(call.scope(), &path, &options, false).map(files),
        Some("count") => search::grep_files(call.scope(), &path, &options, true).map(counts),
        _ => search::grep(call.scope(), &path, &options).map(lines),
    };
    let found = searched.and_then(|page| Ok((page, call.scope().read_now(|tx| realpath(tx, &path))?)));
    let (mut page, real) = found.map_err(|error| call.explain(&error, &shown, &path))?;
    let is_cut = fit(&mut page.items);
    let count = page.items.len() as u64;
    let is_truncated = is_cut || page.has_more;
    let mut output = Map::new();
    output.insert("path".to_owned(), Value::from(shown.as_str()));
    output.insert("query".to_owned(), Value::from(arguments.text("query")));
    output.insert("count".to_owned(), Value::from(count));
    output.insert(page.name.to_owned(), Value::Array(page.items));
    output.insert("truncated".to_owned(), Value::from(is_truncated));
    if is_truncated {
        output.insert("nextOffset".to_owned(), Value::from(offset + count));
    }
    output.insert("filesSearched".to_owned(), Value::from(page.files_searched));
    let Skipped { binary, unreadable, too_long } = page.skipped;
    output.insert(
        "skipped".to_owned(),
        json!({ "binary": binary, "unreadable": unreadable, "tooLong": too_long }),
    );
    let include = relative_globs(&arguments.texts("include"), &path);
    if page.files_searched == 0 && include.iter().any(|glob| glob.starts_with('/')) {
        let note = format!("globs are relative to {shown}, where no path starts with /");
        output.insert("note".to_owned(), Value::from(note));
    } else if page.files_searched == 0 && !include.is_empty() && include.iter().all(|glob| is_one_level(glob))
    {
        let deeper: Vec<String> = include.iter().map(|glob| format!("**/{glob}")).collect();
        output.insert(
            "note".to_owned(),
            Value::from(format!(
                "`include` looks only directly in {shown}; {} looks in all directories below",
                Value::from(deeper)
            )),
        );
    }
    Ok(Success::new(Value::Object(output)).about(real))
}

fn options(call: &Call, path: &WorkspacePath, offset: u64) -> Result<GrepOptions> {
    let arguments = &call.arguments;
    let syntax = if arguments.flag("regex") { Syntax::Regex } else { Syntax::Literal };
    let case = if arguments.flag("ignoreCase") { Case::Ignored } else { Case::Sensitive };
    let refused = |error: crate::error::FsError| Failure::new(error.code().name(), error.sentence());
    let pattern = Pattern::new(arguments.text("query"), syntax, case).map_err(|error| {
        let mut failure = refused(error);
        if syntax == Syntax::Regex {
            failure.error.push_str("; to search for the text as it is, leave `regex` out");
        }
        failure
    })?;
    let include = relative_globs(&arguments.texts("include"), path);
    let exclude = relative_globs(&arguments.texts("exclude"), path);
    let context = arguments.integer("context").unwrap_or(0);
    let limit = arguments.integer("limit").unwrap_or(PAGE_DEFAULT);
    GrepOptions::new(pattern, include.iter().map(String::as_str), &exclude, context, offset, limit)
        .map_err(refused)
}

fn lines(found: search::GrepResult) -> Page {
    Page {
        name: "matches",
        items: found.matches_as_json(),
        has_more: found.is_truncated,
        files_searched: found.files_searched,
        skipped: found.skipped,
    }
}

fn files(found: search::GrepFiles) -> Page {
    page(found, "files", |path, _| Value::from(path))
}

fn counts(found: search::GrepFiles) -> Page {
    page(found, "counts", |path, count| json!({ "path": path, "count": count }))
}

fn page(found: search::GrepFiles, name: &'static str, item: impl Fn(String, u64) -> Value) -> Page {
    Page {
        name,
        items: found.files.into_iter().map(|(path, count)| item(path, count)).collect(),
        has_more: found.is_truncated,
        files_searched: found.files_searched,
        skipped: found.skipped,
    }
}
