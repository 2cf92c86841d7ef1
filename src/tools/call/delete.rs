//! `delete`.

use std::sync::Arc;

use serde_json::json;

use crate::error::Code;
use crate::path::WorkspacePath;
use crate::store::{Kind, WriteTx};
use crate::tools::Call;
use crate::tools::outcome::{Failure, Problem, Result, Success};
use crate::vfs::{self, LastLink, Resolved, real_path, realpath, resolve};

/// Deletes what is at a path; a link, never what it leads to.
pub fn delete(call: &Arc<Call>) {
    let (shown, path) = match call.path() {
        Ok((shown, path)) => (shown.to_owned(), path),
        Err(failure) => return call.finish(Err(failure)),
    };
    let work = {
        let (shown, path) = (shown.clone(), path.clone());
        move |call: &Call, tx: &WriteTx<'_>| delete_in(call, tx, &shown, &path)
    };
    call.change(0, shown, path, work);
}

fn delete_in(call: &Call, tx: &WriteTx<'_>, shown: &str, path: &WorkspacePath) -> Result<Success, Problem> {
    let home = call.toolset.home();
    if path == &home {
        return Err(is_home(shown).into());
    }
    let found = match resolve(tx, path, LastLink::Keep) {
        Ok(Resolved::Found { place, name, id, kind }) => Some((real_path(&place, &name), id, kind)),
        Ok(Resolved::Absent { .. }) => None,
        Err(error) if matches!(error.code(), Code::NoEnt | Code::NotDir) => None,
        Err(error) => return Err(error.into()),
    };
    let mut success = Success::new(json!({ "deleted": shown, "existed": found.is_some() }));
    let Some((real, id, kind)) = found else {
        // Where nothing is, nothing was.
        realpath(tx, &home)?;
        return Ok(success.about(path.as_str()));
    };
    if real == "/" || realpath(tx, &home).is_ok_and(|home| home == real) {
        return Err(is_home(shown).into());
    }
    if kind == Kind::File {
        success.touched.bytes_before = Some(tx.inode(id)?.size);
    }
    match vfs::rm(tx, path, call.arguments.flag("recursive"), true) {
        Ok(_) => Ok(success.about(real)),
        Err(error) if error.code() == Code::NotEmpty => Err(Failure::new(
            Code::NotEmpty.name(),
            format!("{shown} is a directory that is not empty; pass `recursive: true` to delete it with all that is in it"),
        )
        .into()),
        Err(error) => Err(error.into()),
    }
}

fn is_home(shown: &str) -> Failure {
    Failure::new(
        Code::Perm.name(),
        format!(
            "{shown} is the directory that these tools work in and cannot be deleted; delete what is in it"
        ),
    )
}
