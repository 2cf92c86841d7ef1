//! `find` and `ls`.

use crate::error::{Code, Result};
use crate::glob::PathFilter;
use crate::path::{WorkspacePath, join};
use crate::store::{Kind, Scope};
use crate::vfs::{LastLink, Resolved, Start, Step, Walk, directory as start_directory, real_path, resolve};

/// Steps of a walk made in one view of the workspace.
pub const STEPS_PER_VIEW: usize = 4096;

/// What to find.
pub struct FindOptions {
    filter: PathFilter,
    offset: u64,
    limit: u64,
}

impl FindOptions {
    /// Everything that matches `pattern`, if there is one, and none of `exclude`. Skips `offset`
    /// matches and returns at most `limit`.
    pub fn new(pattern: Option<&str>, exclude: &[String], offset: u64, limit: u64) -> Result<Self> {
        Ok(FindOptions { filter: PathFilter::new(pattern, exclude)?, offset, limit })
    }
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its path, beginning with the directory as it was asked for.
    pub path: String,
    /// What it is.
    pub kind: Kind,
}

/// Finds below a directory, depth first, names in byte order. Links are found, not followed.
pub fn find(scope: &Scope, directory: &WorkspacePath, options: &FindOptions) -> Result<Vec<Found>> {
    let start = scope.read_now(|tx| start_directory(tx, directory))?;
    let mut tree = Tree::new(start);
    let mut found = Vec::new();
    let mut seen = 0;
    while (found.len() as u64) < options.limit {
        let steps = tree.steps(scope, &options.filter)?;
        if steps.is_empty() {
            break;
        }
        for Step { relative, kind, .. } in steps {
            if !options.filter.wants(&relative) {
                continue;
            }
            seen += 1;
            if seen > options.offset && (found.len() as u64) < options.limit {
                found.push(Found { path: join(directory.as_str(), &relative), kind });
            }
        }
    }
    Ok(found)
}

/// Every file at or below a path, sorted by the whole path. A path that leads nowhere has none.
/// No link is followed.
pub fn ls(scope: &Scope, prefix: &WorkspacePath) -> Result<Vec<String>> {
    let start = scope.read_now(|tx| match resolve(tx, prefix, LastLink::Keep) {
        Ok(Resolved::Found { place, name, id, kind }) => {
            Ok(Some((Start { id, real: real_path(&place, &name) }, kind)))
        }
        Ok(Resolved::Absent { .. }) => Ok(None),
        Err(error) if matches!(error.code(), Code::NoEnt | Code::NotDir) => Ok(None),
        Err(error) => Err(error),
    })?;
    let start = match start {
        Some((_, Kind::File)) => return Ok(vec![prefix.as_str().to_owned()]),
        Some((start, Kind::Directory)) => start,
        Some((_, Kind::Link)) | None => return Ok(Vec::new()),
    };
    let everything = PathFilter::new(None, &[])?;
    let mut tree = Tree::new(start);
    let mut paths = Vec::new();
    loop {
        let steps = tree.steps(scope, &everything)?;
        if steps.is_empty() {
            break;
        }
        let files = steps.into_iter().filter(|step| step.kind == Kind::File);
        paths.extend(files.map(|step| join(prefix.as_str(), &step.relative)));
    }
    paths.sort_unstable();
    Ok(paths)
}

/// A walk that goes on over several views, and does not enter what is excluded.
pub struct Tree {
    walk: std::cell::RefCell<Walk>,
}

impl Tree {
    /// Below a directory.
    pub fn new(start: Start) -> Self {
        Tree { walk: std::cell::RefCell::new(Walk::new(start)) }
    }

    /// The next steps that are not excluded; none at the end.
    pub fn steps(&mut self, scope: &Scope, filter: &PathFilter) -> Result<Vec<Step>> {
        scope.read_now(|tx| {
            let mut walk = self.walk.borrow_mut();
            let mut steps = Vec::new();
            while steps.len() < STEPS_PER_VIEW {
                let Some(step) = walk.next(tx)? else { break };
                let is_directory = step.kind == Kind::Directory;
                if is_directory && filter.prunes_dir(&step.relative) {
                    walk.skip_contents();
                    continue;
                }
                if is_directory && !filter.wants_below(&step.relative) {
                    walk.skip_contents();
                }
                if !filter.excludes(&step.relative) {
                    steps.push(step);
                }
            }
            Ok(steps)
        })
    }
}
