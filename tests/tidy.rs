//! The rules of the house that a machine can check.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the inside out. A layer knows those before it and no other.
const LAYERS: &[&str] = &["store", "vfs", "search", "tools", "runtime", "binding"];

fn sources() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("src can be read") {
            let path = entry.expect("src can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                files.push((path, text));
            }
        }
    }
    assert!(files.len() > 30, "the sources are somewhere else now");
    files
}

/// The layer that a file is in; none for the few files that serve all.
fn layer_of(path: &Path) -> Option<usize> {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).ok()?;
    let folder = below.components().next()?.as_os_str().to_str()?;
    LAYERS.iter().position(|layer| *layer == folder)
}

/// The part of a file before its tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[track_caller]
fn assert_none(offences: Vec<String>, repair: &str) {
    assert!(offences.is_empty(), "{repair}:\n{}", offences.join("\n"));
}

/// Lines of code, without comments, that `is_offence` says so of.
fn offences(mut is_offence: impl FnMut(&Path, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources() {
        for (number, line) in (1..).zip(code(&text).lines()) {
            if !line.trim_start().starts_with("//") && is_offence(&path, line) {
                found.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    found
}

#[test]
fn layers_know_only_what_is_inside_them() {
    let outward = offences(|path, line| {
        let own = layer_of(path);
        LAYERS.iter().enumerate().any(|(other, name)| {
            line.contains(&format!("crate::{name}")) && own.is_none_or(|own| other > own)
        })
    });
    assert_none(outward, "move the code outward, or pass in what it needs");
}

#[test]
fn sql_is_in_the_store_only() {
    let store = LAYERS.iter().position(|layer| *layer == "store");
    let sql = offences(|path, line| {
        let words = ["\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"DELETE ", "\"PRAGMA ", "\"BEGIN"];
        let uses_sqlite = line.contains("rusqlite") || words.iter().any(|word| line.contains(word));
        uses_sqlite && layer_of(path) != store
    });
    assert_none(sql, "give the store a function for it");
}

#[test]
fn node_is_known_in_the_binding_only() {
    let binding = LAYERS.iter().position(|layer| *layer == "binding");
    let napi = offences(|path, line| line.contains("napi") && layer_of(path) != binding);
    assert_none(napi, "keep N-API in src/binding");
}

#[test]
fn only_the_clock_asks_for_the_time_of_day() {
    let asks = offences(|path, line| line.contains("SystemTime") && !path.ends_with("clock.rs"));
    assert_none(asks, "take `now` as a parameter, or call clock::now_ms");
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(path, _)| path.display().to_string())
        .collect();
    assert_none(silent, "begin with //! and what the module is, keeps true, and leaves to others");
}

#[test]
fn unsafe_is_at_the_edges_only() {
    let edges = ["binding/answer.rs", "binding/queries.rs", "store/owner.rs", "store/open.rs"];
    let inside =
        offences(|path, line| line.contains("unsafe ") && !edges.iter().any(|edge| path.ends_with(edge)));
    assert_none(inside, "find a safe way, or add the file to the edges with a reason");
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["TODO", "FIXME", "XXX", "todo!(", "unimplemented!(", "dbg!("];
    let mut unfinished = Vec::new();
    for (path, text) in sources() {
        for (number, line) in (1..).zip(text.lines()) {
            if marks.iter().any(|mark| line.contains(mark)) {
                unfinished.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    assert_none(unfinished, "finish it");
}
