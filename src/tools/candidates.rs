//! Paths that may have been meant by one that leads nowhere.
//!
//! Near names in the directory where the path goes wrong come first: the same in another case, in
//! another Unicode form or with another kind of space, or with one character wrong. Then the same name
//! elsewhere. The search is bounded, and sees what the call may see.

use unicode_normalization::UnicodeNormalization;

use crate::error::Result;
use crate::path::{WorkspacePath, join};
use crate::store::{Kind, ReadTx};
use crate::vfs::{LastLink, Resolved, Start, Walk, directory, exists, may_see, resolve};

/// Candidates named.
const SHOWN_MAX: usize = 3;
/// Names of one directory that are compared.
const NAMES_MAX: usize = 10_000;
/// Steps of the walk that looks for the same name elsewhere: some milliseconds.
const STEPS_MAX: usize = 20_000;

/// Existing paths that are like `path`, the likeliest first. `top` is where to look for the same name.
pub fn candidates(tx: &ReadTx<'_>, path: &WorkspacePath, top: &WorkspacePath) -> Result<Vec<String>> {
    let mut found = near(tx, path)?;
    if found.len() < SHOWN_MAX {
        for elsewhere in same_name(tx, path.name(), top)? {
            if !found.contains(&elsewhere) {
                found.push(elsewhere);
            }
        }
    }
    found.truncate(SHOWN_MAX);
    Ok(found)
}

/// Paths that differ from `path` in one segment.
fn near(tx: &ReadTx<'_>, path: &WorkspacePath) -> Result<Vec<String>> {
    let segments: Vec<&str> = path.segments().collect();
    let mut above = WorkspacePath::root();
    for (index, segment) in segments.iter().enumerate() {
        let here = WorkspacePath::parse(&above.join(segment))?;
        if let Ok(Resolved::Found { .. }) = resolve(tx, &here, LastLink::Follow) {
            above = here;
            continue;
        }
        // Not even to be looked at: above the root of the tools.
        let Ok(start) = directory(tx, &above) else {
            above = here;
            continue;
        };
        let rest = segments[index + 1..].join("/");
        let mut ranked: Vec<(u32, String)> = Vec::new();
        for (name, ..) in tx.names(start.id)?.into_iter().take(NAMES_MAX) {
            let Some(rank) = likeness(segment, &name) else { continue };
            if !may_see(tx, &join(&start.real, &name)) {
                continue;
            }
            let candidate = above.join(&name);
            let whole = if rest.is_empty() { candidate } else { format!("{candidate}/{rest}") };
            if exists(tx, &WorkspacePath::parse(&whole)?).unwrap_or(false) {
                ranked.push((rank, whole));
            }
        }
        ranked.sort();
        return Ok(ranked.into_iter().map(|(_, path)| path).take(SHOWN_MAX).collect());
    }
    Ok(Vec::new())
}

/// Files and directories of this name, anywhere below `top`.
fn same_name(tx: &ReadTx<'_>, name: &str, top: &WorkspacePath) -> Result<Vec<String>> {
    let Ok(start) = directory(tx, top) else { return Ok(Vec::new()) };
    let wanted = plain(name);
    let mut walk = Walk::new(Start { id: start.id, real: start.real });
    let mut found = Vec::new();
    for _ in 0..STEPS_MAX {
        let Some(step) = walk.next(tx)? else { break };
        let last = step.relative.rsplit('/').next().unwrap_or_default();
        if plain(last) == wanted && step.kind != Kind::Link {
            found.push(top.join(&step.relative));
            if found.len() == SHOWN_MAX {
                break;
            }
        }
    }
    Ok(found)
}

/// How like a name is to the one that was wanted, 0 the most; none if it is not.
fn likeness(wanted: &str, name: &str) -> Option<u32> {
    let (wanted, name) = (plain(wanted), plain(name));
    if wanted == name {
        return Some(0);
    }
    is_one_edit_away(&wanted, &name).then_some(1)
}

/// A name without case, kind of space and Unicode form.
fn plain(name: &str) -> String {
    let spaces = |character: char| if character.is_whitespace() { ' ' } else { character };
    if name.is_ascii() {
        return name.chars().map(spaces).collect::<String>().to_ascii_lowercase();
    }
    name.nfkc().map(spaces).flat_map(char::to_lowercase).nfc().collect()
}

/// Whether one character more, less, other, or two swapped make one name the other.
fn is_one_edit_away(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if long.len() - short.len() > 1 || long.len() < 3 {
        return false;
    }
    let start = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let end = short[start..].iter().rev().zip(long[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (left, right) = (&short[start..short.len() - end], &long[start..long.len() - end]);
    match (left, right) {
        ([], [_]) | ([_], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_of_names() {
        assert_eq!(likeness("Readme.md", "README.md"), Some(0));
        assert_eq!(likeness("caf\u{e9}", "cafe\u{301}"), Some(0));
        assert_eq!(likeness("a b", "a\u{a0}b"), Some(0));
        assert_eq!(likeness("indx.ts", "index.ts"), Some(1));
        assert_eq!(likeness("index.ts", "indxe.ts"), Some(1));
        assert_eq!(likeness("index.ts", "index.js"), Some(1));
        assert_eq!(likeness("index.ts", "inbox.ts"), None);
        assert_eq!(likeness("a", "b"), None);
        assert_eq!(likeness("ab", "ba"), None);
    }
}
