//! A window that moves over a file: where its lines are, and where its characters begin and end.
//!
//! Always true: no more than one piece of the file is in memory, however long the file and its lines.
//!
//! Not here: what a page is, and how its lines are shown (`page`).

use super::Source;
use super::encoding::{Encoding, UNIT_BYTES_MAX};
use super::page::PageError;

/// How far before a continuation its place in a legacy text is looked for, in bytes.
const LOOK_BACK_BYTES: u64 = 4096;

/// Where a page starts.
pub(super) struct Start {
    /// Its first byte.
    pub(super) byte: u64,
    /// Its first byte that is text.
    pub(super) content: u64,
    pub(super) is_inside_line: bool,
}

/// How the part of a line that a page shows ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// With a line break.
    Newline,
    /// With the file.
    EndOfFile,
    /// In the middle: the rest is for the next page.
    Inside,
}

/// A window that moves over the file.
pub(super) struct Reader<'s, S> {
    source: &'s mut S,
    pub(super) encoding: Encoding,
    pub(super) size: u64,
    /// Where reads end: at multiples of this. Even, so that no pair of UTF-16 is torn.
    piece_bytes: u64,
    piece: Vec<u8>,
    piece_start: u64,
}

impl<'s, S: Source> Reader<'s, S> {
    pub(super) fn new(source: &'s mut S, encoding: Encoding, piece_bytes: u64) -> Self {
        let size = source.size();
        Reader { source, encoding, size, piece_bytes, piece: Vec::new(), piece_start: 0 }
    }

    /// Bytes from `offset`: at least [`UNIT_BYTES_MAX`] unless the file ends, none at its end.
    pub(super) fn at(&mut self, offset: u64) -> Result<&[u8], S::Error> {
        self.fill(offset)?;
        Ok(self.window(offset))
    }

    /// What is in memory from `offset`, after `fill`.
    pub(super) fn window(&self, offset: u64) -> &[u8] {
        &self.piece[(offset - self.piece_start) as usize..]
    }

    /// Moves the window to `offset`.
    pub(super) fn fill(&mut self, offset: u64) -> Result<(), S::Error> {
        let piece_end = self.piece_start + self.piece.len() as u64;
        if !(self.piece_start..=piece_end).contains(&offset) {
            self.piece.clear();
            self.piece_start = offset;
        }
        loop {
            let skipped = (offset - self.piece_start) as usize;
            let end = self.piece_start + self.piece.len() as u64;
            if self.piece.len() - skipped >= UNIT_BYTES_MAX || end >= self.size {
                return Ok(());
            }
            let length = (self.piece_bytes - end % self.piece_bytes).min(self.size - end) as usize;
            let mut next = self.source.read(end, length)?;
            next.truncate(length);
            if next.is_empty() {
                // The file is shorter than it said; what is there is what gets read.
                self.size = end;
            } else if skipped == self.piece.len() {
                self.piece = next;
                self.piece_start = end;
            } else {
                self.piece.drain(..skipped);
                self.piece.append(&mut next);
                self.piece_start = offset;
            }
        }
    }

    /// The start of line `offset`. The file is not empty.
    pub(super) fn line(&mut self, offset: u64, bom_bytes: u64) -> Result<Start, PageError<S::Error>> {
        let encoding = self.encoding;
        let mut position = bom_bytes;
        let mut missing = offset - 1;
        while missing > 0 {
            let bytes = self.at(position).map_err(PageError::Source)?;
            if bytes.is_empty() {
                break;
            }
            let (found, length) = encoding.skip_newlines(bytes, missing);
            missing -= found;
            position += length as u64;
        }
        if position < self.size && missing == 0 {
            let byte = if offset == 1 { 0 } else { position };
            return Ok(Start { byte, content: position, is_inside_line: false });
        }
        let lines = self.count_lines(bom_bytes).map_err(PageError::Source)?;
        Err(PageError::BeyondLines { offset, lines })
    }

    /// Checks that a page can start at `byte_offset`.
    pub(super) fn continuation(
        &mut self,
        byte_offset: u64,
        bom_bytes: u64,
    ) -> Result<Start, PageError<S::Error>> {
        if byte_offset >= self.size {
            return Err(PageError::BeyondBytes { byte_offset, size: self.size });
        }
        let refused = Err(PageError::NotOnBoundary { byte_offset });
        let encoding = self.encoding;
        if byte_offset < bom_bytes || encoding.is_utf16() && byte_offset % 2 == 1 {
            return refused;
        }
        let look_back = if encoding == Encoding::UTF_8 || encoding.is_utf16() || encoding.is_single_byte() {
            UNIT_BYTES_MAX as u64
        } else {
            LOOK_BACK_BYTES
        };
        let from = byte_offset.saturating_sub(look_back).max(bom_bytes);
        let before_length = (byte_offset - from) as usize;
        let mut around = Vec::with_capacity(before_length + UNIT_BYTES_MAX);
        while around.len() < before_length + UNIT_BYTES_MAX {
            let bytes = self.at(from + around.len() as u64).map_err(PageError::Source)?;
            if bytes.is_empty() {
                break;
            }
            let missing = before_length + UNIT_BYTES_MAX - around.len();
            around.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        }
        if around.len() <= before_length {
            return Err(PageError::BeyondBytes { byte_offset, size: self.size });
        }
        if cuts_unit(encoding, &around, before_length) {
            return refused;
        }
        let newline_bytes = encoding.newline_bytes();
        let is_line_start = byte_offset == bom_bytes
            || before_length >= newline_bytes
                && encoding.find_newline(&around[before_length - newline_bytes..before_length]).is_some();
        Ok(Start { byte: byte_offset, content: byte_offset, is_inside_line: !is_line_start })
    }

    /// How many line breaks there are between two positions.
    pub(super) fn newlines_between(&mut self, mut position: u64, end: u64) -> Result<u64, S::Error> {
        let encoding = self.encoding;
        let mut newlines = 0;
        while position < end {
            let bytes = self.at(position)?;
            if bytes.is_empty() {
                break;
            }
            let wanted = usize::try_from(end - position).unwrap_or(usize::MAX).min(bytes.len());
            newlines += encoding.count_newlines(&bytes[..wanted]);
            position += wanted as u64;
        }
        Ok(newlines)
    }

    /// How many lines there are from `position`, where a line starts, or the rest of one.
    pub(super) fn count_lines(&mut self, mut position: u64) -> Result<u64, S::Error> {
        let encoding = self.encoding;
        let mut lines = 0;
        let mut is_line_open = false;
        loop {
            let bytes = self.at(position)?;
            if bytes.is_empty() {
                return Ok(lines + u64::from(is_line_open));
            }
            lines += encoding.count_newlines(bytes);
            let tail = &bytes[bytes.len().saturating_sub(encoding.newline_bytes())..];
            is_line_open =
                bytes.len() % encoding.newline_bytes() > 0 || encoding.find_newline(tail).is_none();
            position += bytes.len() as u64;
        }
    }

    /// Where the line break of the line that `position` is in starts, or the end of the file.
    pub(super) fn line_end(&mut self, mut position: u64) -> Result<(u64, LineEnd), S::Error> {
        let encoding = self.encoding;
        loop {
            let bytes = self.at(position)?;
            if bytes.is_empty() {
                return Ok((position, LineEnd::EndOfFile));
            }
            if let Some(newline) = encoding.find_newline(bytes) {
                return Ok((position + newline as u64, LineEnd::Newline));
            }
            position += bytes.len() as u64;
        }
    }
}

/// Whether a unit goes over `index`. `around` starts between two units, or far enough before.
fn cuts_unit(encoding: Encoding, around: &[u8], index: usize) -> bool {
    let start = if encoding == Encoding::UTF_8 {
        // The byte that a sequence starts with is never one of its others, so what starts at the last
        // such byte is a unit whatever comes before.
        let sequence = &around[index.saturating_sub(UNIT_BYTES_MAX - 1)..index];
        sequence.iter().rposition(|byte| byte & 0xC0 != 0x80).map(|lead| index - sequence.len() + lead)
    } else if encoding.is_utf16() {
        // Likewise the first half of a surrogate pair.
        index.checked_sub(2)
    } else if encoding.is_single_byte() {
        None
    } else {
        // Bytes below the digits are only ever characters of their own.
        let sync = around[..index].iter().rposition(|&byte| byte < b'0').map(|sync| sync + 1);
        sync.or_else(|| (index < LOOK_BACK_BYTES as usize).then_some(0))
    };
    let Some(mut position) = start else { return false };
    let mut text = String::new();
    while position < index {
        position += encoding.decode_unit(&around[position..], &mut text).bytes;
    }
    position > index
}
