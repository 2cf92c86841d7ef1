//! How a set of tools behaves.

use crate::path::WorkspacePath;
use crate::tail::OutputLimits;

use super::text::Truncation;

/// See the fields; their defaults are those of `lib/tools/types.ts`.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only what changes nothing is offered.
    pub is_readonly: bool,
    /// Where relative paths start, and what nothing leads out of.
    pub root: Option<WorkspacePath>,
    /// `write` needs to know what it replaces.
    pub needs_read: bool,
    /// How `read` reads.
    pub read: ReadOptions,
    /// How `write` writes.
    pub write_max_bytes: u64,
    /// How `edit` edits.
    pub edit: EditOptions,
    /// Where `exec` runs code; without a backend there is no such tool.
    pub exec: ExecOptions,
    /// Who calls.
    pub tag: Option<String>,
}

/// How `read` reads.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Most lines of a page.
    pub max_lines: u64,
    /// Most bytes of a page.
    pub max_bytes: usize,
    /// Whether each line has its number before it.
    pub include_line_numbers: bool,
    /// How long lines are cut; otherwise they come in pieces.
    pub line_truncation: Option<Truncation>,
    /// Largest image or PDF for a model.
    pub max_model_bytes: u64,
}

/// How `edit` edits.
#[derive(Debug, Clone)]
pub struct EditOptions {
    /// Largest file.
    pub max_bytes: u64,
    /// Changed lines beyond which there is no diff.
    pub max_diff_lines: usize,
    /// Longest diff.
    pub max_diff_bytes: usize,
}

/// Where `exec` runs code, and what it shows.
#[derive(Debug, Clone, Default)]
pub struct ExecOptions {
    /// In the order of the workspace.
    pub backends: Vec<Backend>,
    /// How much of each stream a result has.
    pub output: OutputLimits,
}

/// A backend that a model may choose.
#[derive(Debug, Clone, Default)]
pub struct Backend {
    /// Its id.
    pub id: String,
    /// Whether it takes `input` and gives a result.
    pub is_callable: bool,
    /// What the program around has to say of it, besides what the backend says itself.
    pub guidance: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            is_readonly: false,
            root: None,
            needs_read: false,
            read: ReadOptions {
                max_lines: 2_000,
                max_bytes: 256 * 1024,
                include_line_numbers: true,
                line_truncation: None,
                // 3.5 MiB: with base64 it stays below the 5 MB that providers take.
                max_model_bytes: 3_670_016,
            },
            write_max_bytes: 2 * 1024 * 1024,
            edit: EditOptions {
                max_bytes: 2 * 1024 * 1024,
                max_diff_lines: 2_000,
                max_diff_bytes: 128 * 1024,
            },
            exec: ExecOptions::default(),
            tag: None,
        }
    }
}
