//! The tools, one a file.

mod contents;
mod delete;
mod edit;
mod find;
mod grep;
mod ls;
mod read;
mod write;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::candidates::candidates;
use super::outcome::{Failure, Result};
use super::{Call, Tool};
use crate::error::{Code, FsError};
use crate::path::WorkspacePath;
use crate::vfs::{directory, exists};

/// Starts a call whose arguments are right.
pub fn start(call: &Arc<Call>) {
    match call.tool {
        Tool::Read => call.read(read::read),
        Tool::Ls => call.read(ls::ls),
        Tool::Find => call.read(find::find),
        Tool::Grep => call.read(grep::grep),
        Tool::Write => write::write(call),
        Tool::Edit => edit::edit(call),
        Tool::Delete => delete::delete(call),
        // Code runs outside of this; see `Execution`.
        Tool::Exec => call.finish(Err(Failure::new("EINVAL", "code is run step by step, not by one call"))),
    }
}

impl Call {
    /// The path argument, as it was written and as it is meant.
    fn path(&self) -> Result<(&str, WorkspacePath)> {
        let text = self.arguments.text("path");
        Ok((if text.is_empty() { "." } else { text }, self.toolset.locate(text)?))
    }

    /// The path argument of a search, which may be absent.
    fn start_path(&self) -> Result<(String, WorkspacePath)> {
        let text = self.arguments.optional_text("path").filter(|text| !text.is_empty());
        match text {
            Some(text) => Ok((text.to_owned(), self.toolset.locate(text)?)),
            None => {
                let home = self.toolset.home();
                Ok((home.to_string(), home))
            }
        }
    }

    /// An error of the file system for a model, which wrote the path as `shown`.
    pub(super) fn explain(&self, error: &FsError, shown: &str, path: &WorkspacePath) -> Failure {
        let code = error.code().name();
        let shown = &*short(shown);
        let sentence = match error.code() {
            Code::NoEnt => return self.missing(shown, path),
            Code::NotDir if matches!(self.tool, Tool::Ls | Tool::Find) => {
                format!("{shown} is a file, not a directory; use `read` to see what is in it")
            }
            Code::NotDir => format!("{shown} leads through a file, and a file has nothing below it"),
            Code::IsDir if self.tool == Tool::Read => {
                format!("{shown} is a directory; use `ls` to see what is in it")
            }
            Code::IsDir => format!("{shown} is a directory; name a file"),
            Code::Acces => return self.out_of_reach(error, shown, path),
            Code::Rofs => match error.path().filter(|inner| *inner != path.as_str()) {
                Some(inner) => {
                    format!("{shown} cannot be changed, since it holds {inner}: {}", error.sentence())
                }
                None => format!("{shown} cannot be changed: {}", error.sentence()),
            },
            Code::Loop => format!("{shown} leads through links that go in a circle"),
            Code::Io => {
                format!("{shown}: {}; tell the user, since trying again will not help", error.sentence())
            }
            _ => format!("{shown}: {}", error.sentence()),
        };
        Failure::new(code, sentence)
    }

    /// A path that rules deny. One that takes the root of the tools for `/` was meant inside.
    fn out_of_reach(&self, error: &FsError, shown: &str, path: &WorkspacePath) -> Failure {
        // What is out of sight is not named.
        let is_inside = error.path().is_some_and(|inner| inner != path.as_str());
        let sentence = if is_inside {
            format!("{shown} holds something that is not open to these tools: {}", error.sentence())
        } else {
            format!("{shown} is not open to these tools: {}", error.sentence())
        };
        let failure = Failure::new(error.code().name(), sentence);
        let inside = self.options().root.as_ref().map(|root| format!("{root}{path}"));
        let inside = inside.and_then(|inside| WorkspacePath::parse(&inside).ok()).filter(|_| !path.is_root());
        match inside {
            Some(inside) if self.scope().read_now(|tx| exists(tx, &inside)).unwrap_or(false) => {
                failure.with("candidates", vec![inside.to_string()])
            }
            _ => failure,
        }
    }

    fn missing(&self, shown: &str, path: &WorkspacePath) -> Failure {
        let top = self.toolset.home();
        if self.scope().read_now(|tx| directory(tx, &top)).is_err() {
            return Failure::new(
                Code::NoEnt.name(),
                format!("{top}, the directory that these tools work in, is not there; tell the user"),
            );
        }
        let near = self.scope().read_now(|tx| candidates(tx, path, &top)).unwrap_or_default();
        let what = match self.tool {
            Tool::Ls | Tool::Find => "Directory",
            Tool::Grep => "File or directory",
            _ => "File",
        };
        let advice = if near.is_empty() { "; use `ls` or `find` to see what there is" } else { "" };
        let failure = Failure::new(Code::NoEnt.name(), format!("{what} not found: {shown}{advice}"));
        if near.is_empty() { failure } else { failure.with("candidates", Value::from(near)) }
    }
}

/// A path for a sentence: one that is far too long is cut.
pub fn short(path: &str) -> Cow<'_, str> {
    const SHOWN_CHARS_MAX: usize = 300;
    match path.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}…", &path[..end])),
        None => Cow::Borrowed(path),
    }
}

/// Most bytes of JSON that the items of one result have.
const ITEMS_BYTES_MAX: usize = 128 * 1024;

/// Cuts a page to what a model can take. Returns whether something was cut; the first item stays.
fn fit(items: &mut Vec<Value>) -> bool {
    let mut bytes = 0;
    let fitting = items.iter().take_while(|item| {
        bytes += item.to_string().len() + 1;
        bytes <= ITEMS_BYTES_MAX
    });
    let count = fitting.count().max(1);
    let is_cut = items.len() > count;
    items.truncate(count);
    is_cut
}
