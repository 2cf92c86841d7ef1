//! carrel's core: a file system in one SQLite file, for agents on Node.js.
//!
//! ```text
//! binding ──▶ runtime ──▶ tools ──▶ search ──▶ vfs ──▶ store ──▶ SQLite
//! ```
//!
//! - [`store`] keeps rows and transactions. All SQL is there, and no rule about paths.
//! - [`vfs`] has the rules of a POSIX file system over those rows.
//! - [`search`] walks and reads through `vfs`: find, ls, grep.
//! - [`tools`] is what a model calls: read, ls, find, grep, write, edit, delete, exec.
//! - [`runtime`] runs code of a model in isolate processes and serves what it asks for.
//! - [`binding`] is the only folder that knows Node: it reads arguments and settles promises.
//!
//! Each knows only what is to its right. [`error`], [`limits`], [`path`], [`glob`], [`rules`], [`tail`] and [`clock`]
//! serve all.

pub mod binding;
pub mod clock;
pub mod error;
pub mod glob;
pub mod limits;
pub mod path;
pub mod rules;
pub mod runtime;
pub mod search;
pub mod store;
pub mod tail;
pub mod tools;
pub mod vfs;
