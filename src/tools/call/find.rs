//! `find`.

use serde_json::{Value, json};

use super::fit;
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
    let offset = call.arguments.integer("offset").unwrap_or(0);
    let limit = call.arguments.integer("limit").unwrap_or(PAGE_DEFAULT);
    let exclude = call.arguments.texts("exclude");
    let options = FindOptions::new(Some(pattern), &exclude, offset, limit + 1)
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
    if count == 0 && offset == 0 && is_one_level(pattern) {
        output["note"] = Value::from(format!(
            "{pattern:?} looks only directly in {shown}; {:?} looks in all directories below",
            format!("**/{pattern}")
        ));
    }
    Ok(Success::new(output).about(real))
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
