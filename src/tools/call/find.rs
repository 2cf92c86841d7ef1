//! `find`.

use serde_json::{Value, json};

use super::fit;
use crate::path::WorkspacePath;
use crate::search::{self, FindOptions, Found};
use crate::store::Kind;
use crate::tools::Call;
use crate::tools::definitions::PAGE_DEFAULT;
use crate::tools::outcome::{Failure, Result, Success};
use crate::vfs::realpath;

/// Finds by name.
pub fn find(call: &Call) -> Result {
    let (shown, path) = call.start_path()?;
    let pattern = call.arguments.text("pattern");
    let relative = relative_glob(pattern, &path);
    let offset = call.arguments.integer("offset").unwrap_or(0);
    let limit = call.arguments.integer("limit").unwrap_or(PAGE_DEFAULT);
    let exclude = relative_globs(&call.arguments.texts("exclude"), &path);
    let options = FindOptions::new(Some(relative), &exclude, offset, limit + 1)
        .map_err(|error| Failure::new(error.code().name(), error.sentence()))?;
    let found = search::find(call.scope(), &path, &options)
        .and_then(|found| Ok((found, call.scope().read_now(|tx| realpath(tx, &path))?)));
    let (found, real) = found.map_err(|error| call.explain(&error, &shown, &path))?;
    let mut entries: Vec<Value> = found.iter().take(limit as usize).map(entry).collect();
    let is_cut = fit(&mut entries);
    let is_truncated = is_cut || found.len() as u64 > limit;
    let count = entries.len() as u64;
    let mut output = json!({
        "path": shown, "pattern": pattern, "count": count, "entries": entries, "truncated": is_truncated,
    });
    if is_truncated {
        output["nextOffset"] = Value::from(offset + count);
    }
    if count == 0 && offset == 0 && is_one_level(relative) {
        output["note"] = Value::from(format!(
            "{relative:?} looks only directly in {shown}; {:?} looks in all directories below",
            format!("**/{relative}")
        ));
    } else if count == 0 && relative.starts_with('/') {
        output["note"] = Value::from(format!("globs are relative to {shown}, where no path starts with /"));
    }
    Ok(Success::new(output).about(real))
}

/// A glob as it is compared. What stands for the searched directory itself is left out, `./` or its own
/// path, and the `/` after a directory.
pub fn relative_glob<'g>(glob: &'g str, path: &WorkspacePath) -> &'g str {
    let below = match glob.strip_prefix("./") {
        Some(rest) => rest,
        None if glob == path.as_str() => "",
        None if path.is_root() => glob.strip_prefix('/').unwrap_or(glob),
        None => glob.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(glob),
    };
    if below.len() > 1 { below.strip_suffix('/').unwrap_or(below) } else { below }
}

/// The same for a list.
pub fn relative_globs(globs: &[String], path: &WorkspacePath) -> Vec<String> {
    globs.iter().map(|glob| relative_glob(glob, path).to_owned()).collect()
}

/// Whether a glob is about the first level only, which those who know other tools do not expect.
pub fn is_one_level(glob: &str) -> bool {
    !glob.is_empty() && !glob.contains('/') && !glob.contains("**")
}

fn entry(found: &Found) -> Value {
    let kind = match found.kind {
        Kind::File => "file",
        Kind::Directory => "dir",
        Kind::Link => "symlink",
    };
    json!({ "path": found.path, "type": kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_that_name_the_searched_directory() {
        let check = |glob, path, want| {
            assert_eq!(relative_glob(glob, &WorkspacePath::parse(path).unwrap()), want, "{glob} {path}");
        };
        check("./a", "/workspace", "a");
        check("node_modules/", "/workspace", "node_modules");
        check("/workspace/src/*", "/workspace", "src/*");
        check("/workspace/src/*", "/workspace/src", "*");
        check("/workspaces/src/*", "/workspace", "/workspaces/src/*");
        check("/a/*", "/", "a/*");
        check("./", "/workspace", "");
        check("/workspace/", "/workspace", "");
        check("/workspace", "/workspace", "");
        check("/", "/", "");
        check("/", "/workspace", "/");
        check("src/*", "/workspace", "src/*");
        check("**/*.ts", "/workspace", "**/*.ts");
    }
}
