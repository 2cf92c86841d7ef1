//! Search: find, ls and grep over the tree.
//!
//! Engines take time linear in what they read, whatever the pattern. A search is many short
//! reads, not one long view: it holds up no writer and no WAL, and what disappears under it is
//! skipped.

mod find;
mod grep;
mod pattern;
mod scan;

pub use find::{FindOptions, Found, find, ls};
pub use grep::{GrepFiles, GrepOptions, GrepResult, Skipped, grep, grep_files};
pub use pattern::{Case, Pattern, Syntax};
