//! The rules of a POSIX file system over the rows of `store`. One verb per file.
//!
//! Every function takes an open transaction and a path, and is done or fails as a whole: the
//! transaction belongs to the caller. What a promise may wait for is decided in `binding`.
//!
//! Differences from Linux that are meant: paths are made canonical before links are followed
//! (`path`), permission bits are kept but not enforced, `rm` removes an empty directory without
//! `recursive`, and reading sets no `atime`.

mod access;
mod attributes;
mod copy;
mod download;
mod link;
mod mkdir;
mod permit;
mod pwrite;
mod read;
mod readdir;
mod rename;
mod resolve;
mod rm;
mod stat;
mod upload;
mod walk;
mod watch;
mod write;

pub use access::{Access, access, exists};
pub use attributes::{chmod, utimes};
pub use copy::{CopyTree, copy_file, copy_tree, sources};
pub use download::Download;
pub use link::{link, readlink, symlink};
pub use mkdir::mkdir;
pub use permit::{may_see, permit_change};
pub use pwrite::write_at;
pub use read::{Range, Slice, read_file, slice_of, slice_of_inode};
pub use readdir::{Listing, readdir};
pub use rename::rename;
pub use resolve::{LastLink, Place, Resolved, Start, directory, existing, real_path, realpath, resolve};
pub use rm::rm;
pub use stat::{Stat, Usage, lstat, stat, usage};
pub use upload::{Upload, UploadTarget};
pub use walk::{Step, Walk};
pub use watch::{Event, Watch};
pub use write::{Condition, NewContent, NewFile, Tail, append, truncate, truncate_inode, write};

/// Permission bits of a new file.
pub const FILE_MODE: u32 = 0o644;
/// Permission bits of a new directory.
pub const DIRECTORY_MODE: u32 = 0o755;
/// The bits that a mode may have.
pub const MODE_MASK: u32 = 0o7777;
