//! Walks a tree depth first: a directory right before its contents, names in byte order.
//!
//! A walk can be held between transactions. What disappears meanwhile is skipped.

use crate::error::Result;
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
    pub fn new(start: InodeId) -> Self {
        Walk { levels: Vec::new(), pending: Some((String::new(), start)) }
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
