//! Reading a text file page by page.
//!
//! A page is a number of whole lines, as many as fit, or a piece of one line that is too long for a
//! page. Its answer names the line and the byte where the next one starts:
//!
//! ```text
//!   lines of the file   │ 1 │ 2 │ 3 │ 4 ········· │ 5 │
//!   pages               ├───────────┼──────┼──────────┤
//!                         1-3         4      4-5
//!                         whole     piece  rest of 4, then whole lines
//! ```
//!
//! Always true:
//! - The byte ranges of the pages that follow one another cover the file from its first byte to its
//!   last, each exactly once.
//! - Without line numbers and truncation their contents, each with a `\n` if
//!   [`Page::ends_with_newline`], are the decoded text. So a `\r` before a line break is part of the
//!   content.
//! - No page cuts a character: neither a sequence of UTF-8 nor a surrogate pair nor two bytes of a
//!   legacy encoding.
//! - Memory is bounded by one page and one piece of the file, however long the file and its lines.
//!   Unless lines are counted or truncated, no more of the file is read than that either.
//!
//! Not here: continuations of a file that changed meanwhile, and the words for errors.

use std::fmt::Write as _;
use std::ops::Range;

use super::Source;
use super::encoding::{Encoding, Rest, TextFormat};
use super::reader::{LineEnd, Reader};

/// How much is read at once: half a chunk, and reads end at multiples of it, so none takes two
/// chunks.
const PIECE_BYTES: u64 = 256 * 1024;

/// Files up to this size have their lines counted to the end, whatever page of them is read.
const COUNTED_BYTES_MAX: u64 = 1024 * 1024;

/// How many combining characters a piece may leave to the next one.
const COMBINING_MAX: usize = 8;

/// What stands for the rest of a truncated line.
pub const TRUNCATION_MARK: &str = "... (truncated)";

/// Which part of the file is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Number of the first line, from 1.
    pub offset: Option<u64>,
    /// Where that line, or the rest of it, starts in the file: given by the page before. 0 is as
    /// good as none.
    pub byte_offset: Option<u64>,
    /// The most lines.
    pub limit: Option<u64>,
}

/// How much of each line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// At most this many bytes of UTF-8.
    Bytes(usize),
    /// At most this many code points.
    Chars(usize),
}

/// How large pages are and how they look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOptions {
    /// The most lines of a page, whatever is asked for.
    pub max_lines: u64,
    /// The most bytes of a page's content. It is exceeded only if it has no room for one character.
    pub max_bytes: usize,
    /// Whether each line starts with its number and a tab.
    pub include_line_numbers: bool,
    /// Whether long lines are cut. Lines that are cut never go on on the next page.
    pub line_truncation: Option<Truncation>,
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions {
            max_lines: 2_000,
            max_bytes: 256 * 1024,
            include_line_numbers: false,
            line_truncation: None,
        }
    }
}

/// A part of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The lines, joined by `\n`.
    pub content: String,
    /// Number of the first line.
    pub start_line: u64,
    /// Number of the last line; one less than `start_line` in an empty file.
    pub end_line: u64,
    /// How many lines the file has, if that is known without reading much more of it.
    pub total_lines: Option<u64>,
    /// Whether the file goes on after this page.
    pub truncated: bool,
    /// The line that the next page starts with, or in.
    pub next_offset: Option<u64>,
    /// The byte that the next page starts with.
    pub next_byte_offset: Option<u64>,
    /// Whether the page starts or ends inside of a line.
    pub partial_line: bool,
    /// Whether the content alone says it all: the file is not empty, nothing but the file was asked
    /// for, and this is all of it.
    pub is_plain: bool,
    /// Where the page starts in the file. The byte order mark belongs to the first page.
    pub start_byte: u64,
    /// Where the page ends in the file, after the line break of its last line.
    pub end_byte: u64,
    /// Whether a line break follows the content. On the last page: whether the file ends with one.
    pub ends_with_newline: bool,
}

/// Why there is no such page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError<E> {
    /// The file could not be read.
    Source(E),
    /// The file has fewer lines.
    BeyondLines {
        /// The line that was asked for.
        offset: u64,
        /// How many there are.
        lines: u64,
    },
    /// The file ends before or at this byte.
    BeyondBytes {
        /// The byte that was asked for.
        byte_offset: u64,
        /// Size of the file.
        size: u64,
    },
    /// The byte is inside of a character.
    NotOnBoundary {
        /// The byte that was asked for.
        byte_offset: u64,
    },
    /// The byte is in another line than was said.
    NotThatLine {
        /// The byte that was asked for.
        byte_offset: u64,
        /// The line that it was said to be in.
        offset: u64,
        /// The line that it is in.
        line: u64,
    },
}

/// Reads one page.
///
/// A line number alone is looked for from the start of the file. A byte offset is taken as the
/// place of that line, or of its rest: it must not cut a character, and in a file of which the lines are
/// counted anyway it must lie in that line.
pub fn read_page<S: Source>(
    source: &mut S,
    format: TextFormat,
    request: &PageRequest,
    options: &PageOptions,
) -> Result<Page, PageError<S::Error>> {
    read_page_by(PIECE_BYTES, source, format, request, options)
}

fn read_page_by<S: Source>(
    piece_bytes: u64,
    source: &mut S,
    format: TextFormat,
    request: &PageRequest,
    options: &PageOptions,
) -> Result<Page, PageError<S::Error>> {
    let mut reader = Reader::new(source, format.encoding, piece_bytes);
    let bom_bytes = format.bom_bytes(reader.at(0).map_err(PageError::Source)?) as u64;
    let offset = request.offset.unwrap_or(1).max(1);
    let byte_offset = request.byte_offset.filter(|&byte_offset| byte_offset > 0);
    let start = match byte_offset {
        Some(byte_offset) => {
            let start = reader.continuation(byte_offset, bom_bytes)?;
            if reader.size <= COUNTED_BYTES_MAX {
                let line = 1 + reader.newlines_between(bom_bytes, byte_offset).map_err(PageError::Source)?;
                if line != offset {
                    return Err(PageError::NotThatLine { byte_offset, offset, line });
                }
            }
            start
        }
        None if reader.size == bom_bytes => return Ok(empty_page(reader.size)),
        None => reader.line(offset, bom_bytes)?,
    };

    let lines_max = request.limit.unwrap_or(options.max_lines).min(options.max_lines).max(1);
    let mut writer = Writer { reader, options, content: String::new(), line: offset, cursor: start.content };
    let end = writer.write_lines(lines_max).map_err(PageError::Source)?;
    let Writer { mut reader, content, line: next_line, cursor, .. } = writer;

    let truncated = cursor < reader.size;
    let end_line = if end == LineEnd::Inside { next_line } else { next_line - 1 };
    let total_lines = if !truncated {
        Some(end_line)
    } else if reader.size <= COUNTED_BYTES_MAX {
        Some(next_line - 1 + reader.count_lines(cursor).map_err(PageError::Source)?)
    } else {
        None
    };
    let is_everything = request.offset.is_none() && request.byte_offset.is_none() && !truncated;
    Ok(Page {
        is_plain: is_everything && !content.is_empty(),
        content,
        start_line: offset,
        end_line,
        total_lines,
        truncated,
        next_offset: truncated.then_some(next_line),
        next_byte_offset: truncated.then_some(cursor),
        partial_line: start.is_inside_line || end == LineEnd::Inside,
        start_byte: start.byte,
        end_byte: cursor,
        ends_with_newline: end == LineEnd::Newline,
    })
}

fn empty_page(size: u64) -> Page {
    Page {
        content: String::new(),
        start_line: 1,
        end_line: 0,
        total_lines: Some(0),
        truncated: false,
        next_offset: None,
        next_byte_offset: None,
        partial_line: false,
        is_plain: false,
        start_byte: 0,
        end_byte: size,
        ends_with_newline: false,
    }
}

/// A page as it grows.
struct Writer<'s, 'o, S> {
    reader: Reader<'s, S>,
    options: &'o PageOptions,
    content: String,
    /// Number of the line at the cursor.
    line: u64,
    /// Where the next line, or the rest of one, starts.
    cursor: u64,
}

/// What became of a line.
enum Written {
    /// It is on the page.
    Whole(LineEnd),
    /// It, or the start of it, is on the page, which is full now.
    Piece,
    /// It is for the next page.
    NoRoom,
}

impl<S: Source> Writer<'_, '_, S> {
    /// Writes lines until the page is full or the file ends, and tells how the last one ends.
    fn write_lines(&mut self, lines_max: u64) -> Result<LineEnd, S::Error> {
        let mut end = LineEnd::EndOfFile;
        for index in 0..lines_max {
            if self.cursor >= self.reader.size {
                break;
            }
            let before = self.content.len();
            if index > 0 {
                self.content.push('\n');
            }
            if self.options.include_line_numbers {
                // Writing to a string does not fail.
                let _ = write!(self.content, "{}\t", self.line);
            }
            match self.write_line(index == 0)? {
                Written::Whole(line_end) => {
                    end = line_end;
                    self.line += 1;
                }
                Written::Piece => return Ok(LineEnd::Inside),
                Written::NoRoom => {
                    self.content.truncate(before);
                    break;
                }
            }
        }
        Ok(end)
    }

    /// Writes the line at the cursor. The first of a page is never without room.
    fn write_line(&mut self, is_first: bool) -> Result<Written, S::Error> {
        let room = match self.options.max_bytes.checked_sub(self.content.len()) {
            Some(room) => room,
            None if is_first => 0,
            None => return Ok(Written::NoRoom),
        };
        if let Some(end) = self.write_short_utf8(room)? {
            return Ok(Written::Whole(end));
        }

        let start = self.content.len();
        let wanted = match self.options.line_truncation {
            None => room,
            Some(Truncation::Bytes(bytes)) => bytes.min(room),
            // No code point is longer than four bytes, so what does not fit has more of them.
            Some(Truncation::Chars(chars)) => chars.saturating_mul(4).min(room),
        };
        let mut position = self.cursor;
        let line_end = self.decode_line(&mut position, wanted)?;
        match self.options.line_truncation {
            Some(truncation) => {
                let text = &self.content[start..];
                let shown = match truncation {
                    Truncation::Bytes(_) => text.len(),
                    Truncation::Chars(chars) => {
                        text.char_indices().nth(chars).map_or(text.len(), |(index, _)| index)
                    }
                };
                self.write_truncated(start..start + shown, start + room, position, line_end, is_first)
            }
            None => match line_end {
                Some(end) => {
                    self.cursor = self.after(position, end);
                    Ok(Written::Whole(end))
                }
                None if is_first => self.write_piece(start, position),
                None => Ok(Written::NoRoom),
            },
        }
    }

    /// Writes the line at the cursor if it is valid UTF-8, short enough to be shown as it is, and in
    /// the window: nearly every line.
    fn write_short_utf8(&mut self, room: usize) -> Result<Option<LineEnd>, S::Error> {
        let encoding = self.reader.encoding;
        if encoding != Encoding::UTF_8 {
            return Ok(None);
        }
        self.reader.fill(self.cursor)?;
        let size = self.reader.size;
        let bytes = self.reader.window(self.cursor);
        let (line, end) = match encoding.find_newline(bytes) {
            Some(newline) => (&bytes[..newline], LineEnd::Newline),
            None if self.cursor + bytes.len() as u64 >= size => (bytes, LineEnd::EndOfFile),
            None => return Ok(None),
        };
        let shown_max = match self.options.line_truncation {
            None => usize::MAX,
            // In bytes there are at least as many as in code points.
            Some(Truncation::Bytes(amount) | Truncation::Chars(amount)) => amount,
        };
        if line.len() > room.min(shown_max) {
            return Ok(None);
        }
        let Ok(text) = std::str::from_utf8(line) else { return Ok(None) };
        self.content.push_str(text);
        let position = self.cursor + text.len() as u64;
        self.cursor = self.after(position, end);
        Ok(Some(end))
    }

    /// Decodes the line from `position` on for as long as it makes no more than `room` bytes, and
    /// moves `position` behind what was decoded. Returns how the line ends, if it was reached.
    fn decode_line(&mut self, position: &mut u64, room: usize) -> Result<Option<LineEnd>, S::Error> {
        let encoding = self.reader.encoding;
        let full = self.content.len().saturating_add(room);
        loop {
            self.reader.fill(*position)?;
            let bytes = self.reader.window(*position);
            let newline = encoding.find_newline(bytes);
            let end = match newline {
                Some(_) => Some(LineEnd::Newline),
                None if *position + bytes.len() as u64 >= self.reader.size => Some(LineEnd::EndOfFile),
                None => None,
            };
            let length = newline.unwrap_or(bytes.len());
            let rest = if end.is_some() { Rest::Ends } else { Rest::Follows };
            let decoded =
                encoding.decode_some(bytes, length, rest, full - self.content.len(), &mut self.content);
            *position += decoded.bytes as u64;
            if decoded.is_full {
                return Ok(None);
            }
            if end.is_some() {
                return Ok(end);
            }
        }
    }

    /// Ends a line that is decoded up to `position` with the mark for truncated lines, unless `shown`,
    /// the part of the content that is to be kept of it, is all of it.
    fn write_truncated(
        &mut self,
        shown: Range<usize>,
        room_end: usize,
        position: u64,
        line_end: Option<LineEnd>,
        is_first: bool,
    ) -> Result<Written, S::Error> {
        if let Some(end) = line_end
            && shown.end == self.content.len()
        {
            self.cursor = self.after(position, end);
            return Ok(Written::Whole(end));
        }
        // A line that does not fit is not cut to fit, except where it would fit on no page.
        if shown.end + TRUNCATION_MARK.len() > room_end && !is_first {
            return Ok(Written::NoRoom);
        }
        let fitting = room_end.saturating_sub(TRUNCATION_MARK.len()).max(shown.start);
        self.content.truncate(self.content.floor_char_boundary(shown.end.min(fitting)));
        self.content.push_str(TRUNCATION_MARK);
        let (position, end) = self.reader.line_end(position)?;
        self.cursor = self.after(position, end);
        Ok(Written::Whole(end))
    }

    /// Ends the page with the part of a line that is decoded: from `start` in the content, up to
    /// `position` in the file.
    fn write_piece(&mut self, start: usize, mut position: u64) -> Result<Written, S::Error> {
        self.reader.fill(position)?;
        if position == self.cursor {
            // Not even one character fits. It is written nevertheless, or no page would ever end.
            let encoding = self.reader.encoding;
            position += encoding.decode_unit(self.reader.window(position), &mut self.content).bytes as u64;
            let bytes = self.reader.at(position)?;
            let end = if bytes.is_empty() { LineEnd::EndOfFile } else { LineEnd::Newline };
            if bytes.is_empty() || encoding.find_newline(bytes) == Some(0) {
                self.cursor = self.after(position, end);
                return Ok(Written::Whole(end));
            }
        } else {
            position -= self.leave_combining(start, position) as u64;
        }
        self.cursor = position;
        Ok(Written::Piece)
    }

    /// If the next page would start with a character that belongs to the last one of this page, takes
    /// that off as well, and returns how many bytes of the file that is.
    fn leave_combining(&mut self, start: usize, position: u64) -> usize {
        let encoding = self.reader.encoding;
        let bytes_of = |character: char| {
            if encoding == Encoding::UTF_8 {
                character.len_utf8()
            } else if encoding.is_utf16() {
                character.len_utf16() * 2
            } else {
                1
            }
        };
        let mut next = String::new();
        encoding.decode_unit(self.reader.window(position), &mut next);
        let mut next = next.chars().next().unwrap_or_default();
        let mut end = self.content.len();
        let mut bytes = 0;
        for character in self.content[start..].chars().rev().take(COMBINING_MAX) {
            if !is_joined(character, next) {
                break;
            }
            // The bytes of a U+FFFD are not known here, nor those of a legacy character.
            if character == char::REPLACEMENT_CHARACTER || !encoding.is_unicode() && !character.is_ascii() {
                return 0;
            }
            end -= character.len_utf8();
            bytes += bytes_of(character);
            next = character;
        }
        let first = self.content[start..end].chars().next_back();
        if first.is_none_or(|character| is_joined(character, next)) {
            // Too long to be one visible character, or nothing else is on the page.
            return 0;
        }
        self.content.truncate(end);
        bytes
    }

    /// The byte after a line that ends at `position`.
    fn after(&self, position: u64, end: LineEnd) -> u64 {
        match end {
            LineEnd::Newline => position + self.reader.encoding.newline_bytes() as u64,
            LineEnd::EndOfFile | LineEnd::Inside => position,
        }
    }
}

/// Whether the second of two characters changes how the first one looks.
fn is_joined(first: char, second: char) -> bool {
    const JOINER: char = '\u{200D}';
    if second == '\r' {
        // The two bytes of a line break.
        return true;
    }
    first == JOINER
        || matches!(second,
            JOINER
            | '\u{0300}'..='\u{036F}'     // accents
            | '\u{0591}'..='\u{05BD}'     // Hebrew points
            | '\u{064B}'..='\u{065F}'     // Arabic vowels
            | '\u{1AB0}'..='\u{1AFF}'
            | '\u{1DC0}'..='\u{1DFF}'
            | '\u{20D0}'..='\u{20FF}'
            | '\u{3099}' | '\u{309A}'     // kana voicing
            | '\u{FE00}'..='\u{FE0F}'     // variations
            | '\u{FE20}'..='\u{FE2F}'
            | '\u{1F3FB}'..='\u{1F3FF}'   // skin tones
            | '\u{E0100}'..='\u{E01EF}')
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn format(label: &str, has_bom: bool) -> TextFormat {
        TextFormat { encoding: Encoding::from_label(label).unwrap(), has_bom }
    }

    fn options(max_lines: u64, max_bytes: usize) -> PageOptions {
        PageOptions { max_lines, max_bytes, ..PageOptions::default() }
    }

    fn read(file: &[u8], request: PageRequest, options: PageOptions) -> Result<Page, PageError<Infallible>> {
        read_page(&mut &*file, TextFormat::UTF_8, &request, &options)
    }

    fn from_line(offset: u64) -> PageRequest {
        PageRequest { offset: Some(offset), ..PageRequest::default() }
    }

    fn from_byte(offset: u64, byte_offset: u64) -> PageRequest {
        PageRequest { offset: Some(offset), byte_offset: Some(byte_offset), limit: None }
    }

    /// Reads a page of UTF-8 and compares content, lines, total and continuation.
    #[track_caller]
    fn check(
        file: &str,
        request: PageRequest,
        options: PageOptions,
        content: &str,
        (start_line, end_line, total_lines): (u64, u64, Option<u64>),
        next: Option<(u64, u64)>,
    ) {
        let page = read(file.as_bytes(), request, options).unwrap();
        assert_eq!(page.content, content);
        assert_eq!((page.start_line, page.end_line, page.total_lines), (start_line, end_line, total_lines));
        assert_eq!(page.next_offset.zip(page.next_byte_offset), next);
        assert_eq!(page.truncated, next.is_some());
        assert_eq!(page.is_plain, next.is_none() && request.offset.is_none() && !content.is_empty());
    }

    #[test]
    fn whole_files() {
        let all = PageRequest::default();
        for (file, content, lines) in [
            ("a", "a", 1),
            ("a\n", "a", 1),
            ("\n", "", 1),
            ("\n\n", "\n", 2),
            ("a\r\nb\r\n", "a\r\nb\r", 2),
            ("a\rb\r", "a\rb\r", 1),
            ("a\u{2028}b", "a\u{2028}b", 1),
            ("a\n\nb", "a\n\nb", 3),
            ("\u{FEFF}", "\u{FEFF}", 1),
        ] {
            check(file, all, options(10, 100), content, (1, lines, Some(lines)), None);
            assert_eq!(
                read(file.as_bytes(), all, options(10, 100)).unwrap().ends_with_newline,
                file.ends_with('\n')
            );
        }
    }

    #[test]
    fn an_empty_file_has_no_line() {
        for offset in [1, 2, 1000] {
            check("", from_line(offset), options(10, 100), "", (1, 0, Some(0)), None);
        }
        check("", PageRequest::default(), options(10, 100), "", (1, 0, Some(0)), None);
        let bom = &mut &b"\xEF\xBB\xBF"[..];
        let page = read_page(bom, format("utf-8", true), &from_line(3), &PageOptions::default()).unwrap();
        assert_eq!((page.content.as_str(), page.end_line, page.end_byte), ("", 0, 3));
    }

    #[test]
    fn lines_are_capped() {
        let limit = |limit| PageRequest { limit: Some(limit), ..PageRequest::default() };
        check("a\nb\nc\n", limit(2), options(10, 100), "a\nb", (1, 2, Some(3)), Some((3, 4)));
        check("a\nb\nc\n", limit(9), options(1, 100), "a", (1, 1, Some(3)), Some((2, 2)));
        check("a\nb\nc\n", limit(3), options(10, 100), "a\nb\nc", (1, 3, Some(3)), None);
        check("a\nb\nc\n", from_line(2), options(1, 100), "b", (2, 2, Some(3)), Some((3, 4)));
        check("a\nb\nc\n", from_line(3), options(1, 100), "c", (3, 3, Some(3)), None);
    }

    #[test]
    fn bytes_are_capped_at_lines() {
        let all = PageRequest::default();
        check("aa\nbb\ncc", all, options(10, 8), "aa\nbb\ncc", (1, 3, Some(3)), None);
        check("aa\nbb\ncc", all, options(10, 7), "aa\nbb", (1, 2, Some(3)), Some((3, 6)));
        check("aa\n\ncc", all, options(10, 2), "aa", (1, 1, Some(3)), Some((2, 3)));
        check("aa\n\ncc", all, options(10, 3), "aa\n", (1, 2, Some(3)), Some((3, 4)));
        let numbered = PageOptions { include_line_numbers: true, ..options(10, 9) };
        check("aa\nbb\ncc", all, numbered, "1\taa\n2\tbb", (1, 2, Some(3)), Some((3, 6)));
        let numbered = PageOptions { include_line_numbers: true, ..options(10, 8) };
        check("aa\nbb\ncc", all, numbered, "1\taa", (1, 1, Some(3)), Some((2, 3)));
    }

    #[test]
    fn a_line_longer_than_a_page_comes_in_pieces() {
        let small = options(10, 4);
        check("abcdefg\nh\n", PageRequest::default(), small, "abcd", (1, 1, Some(2)), Some((1, 4)));
        check("abcdefg\nh\n", from_byte(1, 4), small, "efg", (1, 1, Some(2)), Some((2, 8)));
        check("abcdef\nh\n", from_byte(1, 4), small, "ef\nh", (1, 2, Some(2)), None);
        check("abcdefg\nh\n", from_byte(2, 8), small, "h", (2, 2, Some(2)), None);
        check("abc\u{1F600}", PageRequest::default(), small, "abc", (1, 1, Some(1)), Some((1, 3)));
        // Not a character fits, so one is more than the page may have.
        check(
            "\u{1F600}b",
            PageRequest::default(),
            options(10, 1),
            "\u{1F600}",
            (1, 1, Some(1)),
            Some((1, 4)),
        );
        check(
            "\u{1F600}\nb",
            PageRequest::default(),
            options(10, 1),
            "\u{1F600}",
            (1, 1, Some(2)),
            Some((2, 5)),
        );
        let numbered = PageOptions { include_line_numbers: true, ..small };
        check("abcdefg\nh\n", from_byte(1, 4), numbered, "1\tef", (1, 1, Some(2)), Some((1, 6)));

        for (request, is_partial) in [(from_line(1), true), (from_byte(1, 4), true), (from_byte(2, 8), false)]
        {
            assert_eq!(read(b"abcdefg\nh\n", request, small).unwrap().partial_line, is_partial);
        }
    }

    #[test]
    fn pieces_end_before_a_character_with_its_accents() {
        let small = options(10, 4);
        check("abce\u{301}", PageRequest::default(), small, "abc", (1, 1, Some(1)), Some((1, 3)));
        check("abcd\r\n", PageRequest::default(), small, "abc", (1, 1, Some(1)), Some((1, 3)));
        // It has to end somewhere.
        check(
            "e\u{301}\u{301}\u{301}",
            PageRequest::default(),
            small,
            "e\u{301}",
            (1, 1, Some(1)),
            Some((1, 3)),
        );
    }

    #[test]
    fn truncated_lines_end_with_a_mark() {
        let cut = |truncation, max_bytes| PageOptions {
            line_truncation: Some(truncation),
            ..options(10, max_bytes)
        };
        let all = PageRequest::default();
        let bytes = cut(Truncation::Bytes(3), 100);
        check("abcd\nabc\n", all, bytes, "abc... (truncated)\nabc", (1, 2, Some(2)), None);
        check("ab\u{E9}", all, bytes, "ab... (truncated)", (1, 1, Some(1)), None);
        let chars = cut(Truncation::Chars(3), 100);
        check(
            "ab\u{1F600}d\nab\u{E9}\n",
            all,
            chars,
            "ab\u{1F600}... (truncated)\nab\u{E9}",
            (1, 2, Some(2)),
            None,
        );
        // The cut line fits, the second one is for the next page.
        check(
            "abcd\nabcd",
            all,
            cut(Truncation::Bytes(3), 36),
            "abc... (truncated)",
            (1, 1, Some(2)),
            Some((2, 5)),
        );
        // No page has room for 90 characters, but a line is not left in pieces.
        let long = "x".repeat(90);
        for truncation in [Truncation::Bytes(80), Truncation::Chars(80)] {
            check(&long, all, cut(truncation, 20), "xxxxx... (truncated)", (1, 1, Some(1)), None);
            check(&format!("a\n{long}\nb"), all, cut(truncation, 20), "a", (1, 1, Some(3)), Some((2, 2)));
        }
    }

    #[test]
    fn places_that_are_not_there_are_refused() {
        let all = PageOptions::default();
        assert_eq!(read(b"a\nb\n", from_line(3), all), Err(PageError::BeyondLines { offset: 3, lines: 2 }));
        assert_eq!(read(b"a\nb", from_line(9), all), Err(PageError::BeyondLines { offset: 9, lines: 2 }));
        assert_eq!(
            read(b"a\nb", from_byte(1, 3), all),
            Err(PageError::BeyondBytes { byte_offset: 3, size: 3 })
        );
        assert_eq!(read(b"", from_byte(1, 3), all), Err(PageError::BeyondBytes { byte_offset: 3, size: 0 }));
        assert_eq!(
            read(b"a\nb\nc", from_byte(2, 4), all),
            Err(PageError::NotThatLine { byte_offset: 4, offset: 2, line: 3 })
        );
        assert_eq!(read(b"a\nb\nc", from_byte(3, 4), all).unwrap().content, "c");
        assert_eq!(read(b"a\nb", from_byte(2, 0), all).unwrap().content, "b");
    }

    #[test]
    fn continuations_do_not_cut_characters() {
        for (label, file, refused) in [
            ("utf-8", &b"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"[..], &[2, 4, 5, 7, 8, 9][..]),
            ("utf-8", b"\xEF\xBB\xBFab", &[1, 2]),
            ("utf-8", b"\x80\x80\xE2\x82a", &[3]),
            ("utf-16le", b"a\0\x3D\xD8\0\xDEb\0", &[1, 3, 4, 5, 7]),
            ("utf-16be", b"\xFE\xFF\0a\xD8\0\0b", &[1, 3, 5, 7]),
            ("shift_jis", b"\x93\xFA\x96\x7B!\x95\x5C\x95\x5C", &[1, 3, 6, 8]),
            ("windows-1252", b"\xE9\xE9", &[]),
        ] {
            let encoding = Encoding::from_label(label).unwrap();
            let has_bom = !encoding.bom().is_empty() && file.starts_with(encoding.bom());
            let got: Vec<u64> = (1..file.len() as u64)
                .filter(|&byte| {
                    let format = TextFormat { encoding, has_bom };
                    let page = read_page(&mut &*file, format, &from_byte(1, byte), &PageOptions::default());
                    page.is_err_and(|error| error == PageError::NotOnBoundary { byte_offset: byte })
                })
                .collect();
            assert_eq!(got, refused, "{label}");
        }
    }

    /// A file that counts what is read of it.
    struct Counted<F> {
        size: u64,
        byte_at: F,
        read_bytes: u64,
    }

    impl<F: Fn(u64) -> u8> Source for Counted<F> {
        type Error = Infallible;

        fn size(&self) -> u64 {
            self.size
        }

        fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Infallible> {
            assert!(length as u64 <= PIECE_BYTES && offset + length as u64 <= self.size);
            self.read_bytes += length as u64;
            Ok((offset..offset + length as u64).map(&self.byte_at).collect())
        }
    }

    #[test]
    fn a_page_of_an_endless_line_costs_a_page() {
        for label in ["utf-8", "utf-16le", "windows-1251", "gbk"] {
            let mut source = Counted { size: 1 << 40, byte_at: |_| b'x', read_bytes: 0 };
            let request = from_byte(1, 1 << 39);
            let page =
                read_page(&mut source, format(label, false), &request, &PageOptions::default()).unwrap();
            assert!((262_140..=262_144).contains(&page.content.len()), "{label} {}", page.content.len());
            assert_eq!((page.partial_line, page.total_lines, page.next_offset), (true, None, Some(1)));
            assert!(source.read_bytes <= 4 * PIECE_BYTES, "{label} {}", source.read_bytes);
        }
    }

    #[test]
    fn a_file_that_is_shorter_than_it_said_ends_there() {
        struct Short;
        impl Source for Short {
            type Error = Infallible;
            fn size(&self) -> u64 {
                1 << 30
            }
            fn read(&mut self, offset: u64, _: usize) -> Result<Vec<u8>, Infallible> {
                Ok(if offset == 0 { b"a\nb".to_vec() } else { Vec::new() })
            }
        }
        let page = read_page(&mut Short, TextFormat::UTF_8, &PageRequest::default(), &PageOptions::default());
        let page = page.unwrap();
        assert_eq!((page.content.as_str(), page.total_lines, page.end_byte), ("a\nb", Some(2), 3));
    }

    fn any_file() -> impl Strategy<Value = (TextFormat, Vec<u8>)> {
        let encodings = prop_oneof![
            4 => Just("utf-8"),
            2 => Just("utf-16le"),
            2 => Just("utf-16be"),
            1 => prop_oneof![
                Just("windows-1252"), Just("windows-1251"), Just("shift_jis"), Just("euc-jp"), Just("euc-kr"),
                Just("gb18030"), Just("big5"),
            ],
        ];
        let text = prop_oneof![
            3 => "[a-z ]{0,12}(\n|\r\n|\r)?",
            1 => "[\u{E9}\u{20AC}\u{65E5}\u{1F600}\u{301}\u{200D}\u{0A0A}]{1,8}\n?",
            1 => "[a-z\u{E9}]{100,300}",
        ];
        let raw =
            prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n'), 1 => 0xD8u8..=0xFF], 0..10);
        let pieces = prop::collection::vec((text, raw, 0u8..4), 0..16);
        (encodings, any::<bool>(), pieces).prop_map(|(label, has_bom, pieces)| {
            let encoding = Encoding::from_label(label).unwrap();
            let has_bom = has_bom && encoding.is_unicode();
            let mut bytes = if has_bom { encoding.bom().to_vec() } else { Vec::new() };
            for (text, raw, which) in pieces {
                for character in text.chars() {
                    let _ = encoding.encode(character.encode_utf8(&mut [0; 4]), &mut bytes);
                }
                if which == 0 {
                    bytes.extend(raw);
                }
            }
            (TextFormat { encoding, has_bom }, bytes)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn pages_cover_the_file_and_rebuild_its_text(
            (format, file) in any_file(),
            max_lines in 1u64..6,
            limit in prop::option::of(1u64..6),
            max_bytes in 1usize..120,
            has_numbers in any::<bool>(),
            truncation in prop_oneof![
                3 => Just(None),
                1 => (0usize..40).prop_map(|amount| Some(Truncation::Bytes(amount))),
                1 => (0usize..40).prop_map(|amount| Some(Truncation::Chars(amount))),
            ],
            piece_bytes in (4u64..60).prop_map(|half| half * 2),
        ) {
            let options = PageOptions {
                max_lines,
                max_bytes,
                include_line_numbers: has_numbers,
                line_truncation: truncation,
            };
            let bom_bytes = format.bom_bytes(&file);
            let text = format.encoding.decode_all(&file[bom_bytes..]).0.into_owned();
            let lines: Vec<&str> = text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();

            let mut request = PageRequest { limit, ..PageRequest::default() };
            let mut covered = 0;
            let mut rebuilt = String::new();
            let mut is_inside = false;
            loop {
                let page = read_page_by(piece_bytes, &mut &file[..], format, &request, &options).unwrap();
                // A larger window makes no difference.
                let again = read_page(&mut &file[..], format, &request, &options).unwrap();
                prop_assert_eq!(&page, &again);
                if !is_inside && !lines.is_empty() {
                    let by_line = PageRequest { offset: Some(page.start_line), byte_offset: None, limit };
                    let by_line = read_page_by(piece_bytes, &mut &file[..], format, &by_line, &options).unwrap();
                    prop_assert_eq!(&by_line, &Page { is_plain: false, ..page.clone() });
                }

                prop_assert_eq!(page.start_byte, covered);
                prop_assert!(page.end_byte > covered || file.is_empty());
                covered = page.end_byte;
                prop_assert_eq!(page.total_lines, Some(lines.len() as u64));
                prop_assert_eq!(page.truncated, covered < file.len() as u64);
                prop_assert_eq!(page.next_byte_offset, page.truncated.then_some(covered));
                let shown: Vec<&str> =
                    if page.end_line < page.start_line { Vec::new() } else { page.content.split('\n').collect() };
                prop_assert_eq!(shown.len() as u64, page.end_line + 1 - page.start_line);
                prop_assert!(shown.len() as u64 <= max_lines.min(limit.unwrap_or(max_lines)));
                let prefix = |number: u64| if has_numbers { format!("{number}\t") } else { String::new() };
                let least = prefix(page.start_line).len()
                    + if truncation.is_some() { TRUNCATION_MARK.len() } else { 4 };
                prop_assert!(page.content.len() <= max_bytes.max(least));

                let ends_inside = page.next_offset == Some(page.end_line);
                prop_assert_eq!(page.partial_line, is_inside || ends_inside);
                prop_assert!(!(ends_inside && page.ends_with_newline));
                for (number, line) in (page.start_line..).zip(&shown) {
                    let line = line.strip_prefix(prefix(number).as_str()).expect("a number");
                    let whole = lines[number as usize - 1];
                    match truncation {
                        None => rebuilt.push_str(line),
                        Some(_) if line == whole => rebuilt.push_str(whole),
                        Some(amount) => {
                            let kept = line.strip_suffix(TRUNCATION_MARK).expect("a mark");
                            prop_assert!(whole.starts_with(kept));
                            match amount {
                                Truncation::Bytes(amount) => prop_assert!(kept.len() <= amount && whole.len() > amount.min(max_bytes.saturating_sub(prefix(number).len()))),
                                Truncation::Chars(amount) => prop_assert!(kept.chars().count() <= amount),
                            }
                            rebuilt.push_str(whole);
                        }
                    }
                    if number < page.end_line || page.ends_with_newline {
                        rebuilt.push('\n');
                    }
                }
                let (Some(offset), Some(byte_offset)) = (page.next_offset, page.next_byte_offset) else { break };
                prop_assert!(offset == page.end_line || offset == page.end_line + 1);
                prop_assert!(truncation.is_none() || !ends_inside);
                is_inside = ends_inside;
                request = PageRequest { offset: Some(offset), byte_offset: Some(byte_offset), limit };
            }
            prop_assert_eq!(covered, file.len() as u64);
            prop_assert_eq!(rebuilt, text);
        }
    }
}
