//! `ls`.

use serde_json::{Value, json};

use super::fit;
use crate::store::{Entry, Kind};
use crate::tools::Call;
use crate::tools::definitions::PAGE_DEFAULT;
use crate::tools::outcome::{Result, Success};
use crate::vfs::{self, realpath};

/// Lists a directory.
pub fn ls(call: &Call) -> Result {
    let (shown, path) = call.start_path()?;
    let offset = call.arguments.integer("offset").unwrap_or(0);
    let limit = call.arguments.integer("limit").unwrap_or(PAGE_DEFAULT);
    let read = call.scope().read_now(|tx| {
        // One more than asked for tells whether there are more.
        Ok((vfs::readdir(tx, &path, false, offset, limit + 1)?, realpath(tx, &path)?))
    });
    let (listing, real) = read.map_err(|error| call.explain(&error, &shown, &path))?;
    let mut entries: Vec<Value> = listing.entries.iter().take(limit as usize).map(entry).collect();
    let is_cut = fit(&mut entries);
    let is_truncated = is_cut || listing.entries.len() as u64 > limit;
    let count = entries.len() as u64;
    let mut output = json!({ "path": shown, "count": count, "entries": entries, "truncated": is_truncated });
    if is_truncated {
        output["nextOffset"] = Value::from(offset + count);
    }
    Ok(Success::new(output).about(real))
}

/// A time without a fraction that says nothing.
fn number(time: f64) -> Value {
    if time.fract() == 0.0 && time.abs() < 1e15 { Value::from(time as i64) } else { Value::from(time) }
}

fn entry(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "size": entry.size,
        "mtime": number(entry.mtime),
        "isFile": entry.kind == Kind::File,
        "isDirectory": entry.kind == Kind::Directory,
        "isSymbolicLink": entry.kind == Kind::Link,
    })
}
