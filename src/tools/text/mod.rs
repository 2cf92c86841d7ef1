//! Text for models: what a file is, how its text is encoded, and reading it page by page.
//!
//! ```text
//!   first 64 KiB, size, name ──▶ kind ──▶ TextFormat ──┬─▶ page      for `read`: bounded memory
//!                                                      └─▶ document  for `edit`: the whole file
//! ```
//!
//! Always true:
//! - Contents decide what a file is. Its name only breaks ties.
//! - A line ends at `\n` in the encoding of the file, and nowhere else. In every supported
//!   encoding a new character starts there, whatever comes before, so text can be decoded from any
//!   line on.
//! - Bytes that are not text in their encoding are shown as U+FFFD and never rewritten by an edit
//!   that does not replace them.
//!
//! Not here: where bytes come from ([`Source`] is implemented by the callers), what the model is
//! told, and finding the text to edit.

mod document;
mod encoding;
mod kind;
mod magic;
mod page;
mod reader;

pub use document::{Document, SpliceError};
pub use encoding::{Encoding, TextFormat};
pub use kind::{Kind, PREFIX_BYTES, kind_of};
pub use page::{Page, PageError, PageOptions, PageRequest, TRUNCATION_MARK, Truncation, read_page};

/// Where the bytes of one file come from.
///
/// Implementations read from chunks of 512 KiB, so callers ask for pieces of that order and never
/// for the whole file.
pub trait Source {
    /// Why bytes could not be read.
    type Error;

    /// Size of the file in bytes.
    fn size(&self) -> u64;

    /// `length` bytes from `offset`; fewer only at the end of the file.
    fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Self::Error>;
}

/// A file that is in memory already.
impl Source for &[u8] {
    type Error = std::convert::Infallible;

    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Self::Error> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        Ok(self[start..start.saturating_add(length).min(self.len())].to_vec())
    }
}
