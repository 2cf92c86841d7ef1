//! Walks a tree depth first: a directory right before its contents, names in byte order.
//!
//! A walk can be held between transactions. What disappears meanwhile is skipped, and so is what the
//! rules of the call do not let it see.

use super::permit::may_see;
use super::resolve::Start;
use crate::error::Result;
use crate::path::join;
use crate::store::{InodeId, Kind, ReadTx};

/// What a walk comes across.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Path below the start, without a leading `/`.
    pub relative: String,
    /// What is there.
    pub id: InodeId,
    /// What that is.
    pub kind: Kind,
}

/// See the module.
pub struct Walk {
    /// Real path of the start.
    real: String,
    levels: Vec<Level>,
    /// A directory reported last, to go into next.
    pending: Option<(String, InodeId)>,
}

struct Level {
    /// Path of the directory below the start, with a `/` at its end; empty for the start.
    prefix: String,
    names: std::vec::IntoIter<(String, InodeId, Kind)>,
}

impl Walk {
    /// A walk below a directory, which is not reported itself.
    pub fn new(start: Start) -> Self {
        Walk { real: start.real, levels: Vec::new(), pending: Some((String::new(), start.id)) }
    }

    /// The next thing, or none at the end.
    pub fn next(&mut self, tx: &ReadTx<'_>) -> Result<Option<Step>> {
        if let Some((_, id)) = &self.pending {
            // A directory that is gone by now has no names. If this fails, nothing has changed.
            let names = tx.names(*id)?.into_iter();
            self.levels.extend(self.pending.take().map(|(prefix, _)| Level { prefix, names }));
        }
        while let Some(level) = self.levels.last_mut() {
            let Some((name, id, kind)) = level.names.next() else {
                self.levels.pop();
                continue;
            };
            let relative = format!("{}{name}", level.prefix);
            if tx.rules().is_some() && !may_see(tx, &join(&self.real, &relative)) {
                continue;
            }
            if kind == Kind::Directory {
                self.pending = Some((format!("{relative}/"), id));
            }
            return Ok(Some(Step { relative, id, kind }));
        }
        Ok(None)
    }

    /// Does not go into the directory that was reported last.
    pub fn skip_contents(&mut self) {
        self.pending = None;
    }
}

/// Calls `look` with the path of everything below a directory, were that one's path `top`. Sees all,
/// whatever the rules.
pub fn descendants(
    tx: &ReadTx<'_>,
    top: &str,
    id: InodeId,
    mut look: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut directories = vec![(top.to_owned(), id)];
    while let Some((directory, id)) = directories.pop() {
        for (name, id, kind) in tx.names(id)? {
            let path = join(&directory, &name);
            look(&path)?;
            if kind == Kind::Directory {
                directories.push((path, id));
            }
        }
    }
    Ok(())
}
