//! Searching the content of one file for a pattern, line by line.
//!
//! Lines end with `\n` or `\r\n`; the last one may end with the file (a CR there counts as the
//! line's end too). A final line break does not start another, empty line. Line numbers start at 1.
//!
//! What is searched is bytes; what is returned is text, in which bytes that are not UTF-8 appear as
//! U+FFFD. A byte-order mark is not part of the text. UTF-16 is searched if it has one. A file with
//! a NUL in its first 8 KiB is binary, by the rule of git, and not searched.
//!
//! Context is merged. The lists of all matches, one after another, are the lines of the file that
//! are near a match, in order and each once:
//!
//! ```text
//!   context: 1     match of    its context         (> is the matching line)
//!   1  one
//!   2  two a    ─▶ line 2      1 one  2 > two a  3 three
//!   3  three
//!   4  four a   ─▶ line 4                        4 > four a
//!   5  five a   ─▶ line 5                        5 > five a  6 six
//!   6  six
//! ```
//!
//! Always true:
//! - A match's own line is in its own list and in no other. Any other line belongs to the match
//!   before it, if it is near, else to the one after it.
//! - A matching line past the limit appears where it is near the last match, flagged as a match.
//! - A slice and a reader give the same result, but for lines that are too long for the latter.
//! - The memory in use does not depend on the size of the file, only on its longest line
//!   ([`LINE_BYTES_MAX`]) and on what is returned.
//!
//! Not here: what matches (`pattern`), which files are searched and in what order (`grep`).

use std::io::{self, Cursor, Read};

use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::pattern::{Pattern, line_text};

/// How much of a file decides whether it is binary, in bytes; what git looks at.
pub const BINARY_CHECK_BYTES: usize = 8 << 10;

/// The most that a reader may have to hold at once, in bytes: a line, and the lines before it that
/// may become its context. Large enough for a minified bundle or a data dump on one line, small
/// enough to have one such buffer per searching thread.
pub const LINE_BYTES_MAX: usize = 32 << 20;

/// The most characters of a line that are returned. A result is read by a model or shown to a
/// person; nobody reads further, and a bundle on one line would otherwise come back as a whole.
pub const LINE_CHARS_MAX: usize = 2_048;

/// The most lines of context on each side. Lines before a match have to be kept until it is found,
/// and with more they would reach [`LINE_BYTES_MAX`] in ordinary files.
pub const CONTEXT_LINES_MAX: usize = 10_000;

/// What to return of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    /// Lines of context before and after each match. More than [`CONTEXT_LINES_MAX`] is taken as
    /// that many; callers refuse it before.
    pub context: usize,
    /// How many matching lines to return at most.
    pub limit: usize,
    /// Whether matching lines are only counted; then `context` means nothing.
    pub counts: bool,
}

impl Default for ScanOptions {
    /// All matches without context.
    fn default() -> Self {
        ScanOptions { context: 0, limit: usize::MAX, counts: false }
    }
}

/// How the search of one file ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was searched, as far as was needed.
    Searched(Found),
    /// Not text.
    Binary,
    /// A line is too long to be held. Matches before it are dropped: a file that was searched in
    /// part must not look like one that was searched.
    TooLong,
}

/// The matches of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order of their lines; none if they are only counted.
    pub matches: Vec<LineMatch>,
    /// How many they are, if they are only counted.
    pub count: u64,
    /// Whether there is a matching line past the limit.
    pub more: bool,
}

impl Found {
    /// Keeps the first `limit` matches, as if the file had been searched with that limit: lines that
    /// are near the last one stay, whichever match they belonged to.
    pub fn truncate(&mut self, limit: usize, context: usize) {
        if self.matches.len() <= limit {
            return;
        }
        self.more = true;
        let dropped = self.matches.split_off(limit);
        if let Some(last) = self.matches.last_mut() {
            let near = dropped.into_iter().flat_map(|dropped| dropped.context);
            last.context.extend(near.take_while(|near| near.line - last.line <= context as u64));
        }
    }
}

/// One matching line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMatch {
    /// Its number, from 1.
    pub line: u64,
    /// Its text without the line's end, at most [`LINE_CHARS_MAX`] characters around the match.
    pub text: String,
    /// Whether `text` is only a part of the line.
    pub cut: bool,
    /// The lines around it, with itself; empty if no context was asked for.
    pub context: Vec<ContextLine>,
}

/// One line near a match, or a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextLine {
    /// Its number, from 1.
    pub line: u64,
    /// Its text without the line's end, at most [`LINE_CHARS_MAX`] characters.
    pub text: String,
    /// Whether it matches.
    pub is_match: bool,
}

/// Searches content that is in memory.
pub fn scan_slice(pattern: &Pattern, options: &ScanOptions, content: &[u8]) -> Outcome {
    let text = match Head::of(content) {
        Head::Binary => return Outcome::Binary,
        Head::Utf16 => {
            let scanned = search(pattern, options, |collector| {
                reading_searcher(options, true).search_slice(pattern, content, collector)
            });
            // Nothing is read, so the only thing to fail is the line buffer.
            return scanned.unwrap_or(Outcome::TooLong);
        }
        Head::Text { bom_len } => &content[bom_len..],
    };
    // Most files match nowhere, and this finds it out without setting up a search.
    if pattern.is_hopeless(text) {
        return Outcome::Searched(Found::default());
    }
    let scanned = search(pattern, options, |collector| {
        searcher(options)
            // The line buffer is only for readers.
            .heap_limit(Some(1))
            .bom_sniffing(false)
            .build()
            .search_slice(pattern, text, collector)
    });
    scanned.expect("nothing is read, no buffer is filled, and neither pattern nor collector can fail")
}

/// Searches content that is read piece by piece. Fails if reading fails.
pub fn scan_reader(pattern: &Pattern, options: &ScanOptions, reader: impl Read) -> io::Result<Outcome> {
    let mut reader = Source { reader, has_failed: false };
    let mut head = Vec::with_capacity(BINARY_CHECK_BYTES);
    (&mut reader).take(BINARY_CHECK_BYTES as u64).read_to_end(&mut head)?;

    let (bom_len, is_utf16) = match Head::of(&head) {
        Head::Binary => return Ok(Outcome::Binary),
        Head::Utf16 => (0, true),
        Head::Text { bom_len } => (bom_len, false),
    };
    let mut head = Cursor::new(head);
    head.set_position(bom_len as u64);
    let scanned = search(pattern, options, |collector| {
        let whole = head.chain(&mut reader);
        reading_searcher(options, is_utf16).search_reader(pattern, whole, collector)
    });
    match scanned {
        Err(error) if reader.has_failed => Err(error),
        // Neither pattern nor collector can fail, so it was the line buffer, at its limit.
        Err(_) => Ok(Outcome::TooLong),
        Ok(outcome) => Ok(outcome),
    }
}

/// What the beginning of a file says about the whole.
enum Head {
    Binary,
    Utf16,
    Text { bom_len: usize },
}

impl Head {
    fn of(content: &[u8]) -> Head {
        let start = &content[..content.len().min(BINARY_CHECK_BYTES)];
        // The mark of UTF-32, of which the one of UTF-16 is the beginning.
        if start.starts_with(b"\xff\xfe\0\0") {
            Head::Binary
        } else if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
            Head::Utf16
        } else if memchr::memchr(0, start).is_some() {
            Head::Binary
        } else {
            Head::Text { bom_len: if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 } }
        }
    }
}

/// Remembers whether an error came from reading, and tries again where a signal interrupted it.
struct Source<R> {
    reader: R,
    has_failed: bool,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.has_failed = true;
                    return Err(error);
                }
                Ok(length) => return Ok(length),
            }
        }
    }
}

fn searcher(options: &ScanOptions) -> SearcherBuilder {
    let context = if options.counts { 0 } else { options.context.min(CONTEXT_LINES_MAX) };
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::none());
    builder
}

fn reading_searcher(options: &ScanOptions, is_utf16: bool) -> Searcher {
    searcher(options).heap_limit(Some(LINE_BYTES_MAX)).bom_sniffing(is_utf16).build()
}

/// Runs a search and returns what it collected.
fn search(
    pattern: &Pattern,
    options: &ScanOptions,
    run: impl FnOnce(&mut Collector<'_>) -> io::Result<()>,
) -> io::Result<Outcome> {
    let options = ScanOptions { context: options.context.min(CONTEXT_LINES_MAX), ..*options };
    let mut collector = Collector { pattern, options, found: Found::default(), before: Vec::new() };
    run(&mut collector)?;
    Ok(Outcome::Searched(collector.found))
}

/// Turns the lines that a search reports into matches. The search reports each line that matches or
/// is near a match once and in order; what is left to do is to give it to one of them.
struct Collector<'p> {
    pattern: &'p Pattern,
    options: ScanOptions,
    found: Found,
    /// Lines of context for the next match.
    before: Vec<ContextLine>,
}

impl Collector<'_> {
    /// The last match that is returned, if this line lies in the context after it.
    fn last_match_near(&mut self, line: u64) -> Option<&mut LineMatch> {
        let context = self.options.context as u64;
        self.found.matches.last_mut().filter(|last| line - last.line <= context)
    }

    /// The text of a matching line, and whether it was cut.
    fn matching_text(&self, text: &[u8]) -> (String, bool) {
        if is_long(text) {
            let at = self.pattern.find_in_line(text).unwrap_or(0..0);
            (excerpt(text, at.start, at.end), true)
        } else {
            (String::from_utf8_lossy(text).into_owned(), false)
        }
    }
}

impl Sink for &mut Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.options.counts {
            self.found.count += 1;
            return Ok(self.found.count < self.options.limit as u64);
        }
        let line = found.line_number().unwrap_or_default();
        let bytes = line_text(found.bytes());
        if self.found.matches.len() >= self.options.limit {
            self.found.more = true;
            if self.last_match_near(line).is_none() {
                return Ok(false);
            }
            let (text, _) = self.matching_text(bytes);
            if let Some(last) = self.last_match_near(line) {
                last.context.push(ContextLine { line, text, is_match: true });
            }
            return Ok(true);
        }
        let (text, cut) = self.matching_text(bytes);
        let mut context = std::mem::take(&mut self.before);
        if self.options.context > 0 {
            context.push(ContextLine { line, text: text.clone(), is_match: true });
        }
        self.found.matches.push(LineMatch { line, text, cut, context });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> io::Result<bool> {
        let line = near.line_number().unwrap_or_default();
        let bytes = line_text(near.bytes());
        let near_line = || ContextLine {
            line,
            text: if is_long(bytes) {
                excerpt(bytes, 0, 0)
            } else {
                String::from_utf8_lossy(bytes).into_owned()
            },
            is_match: false,
        };
        if self.found.matches.len() >= self.options.limit {
            // The search goes on to find out whether there is more; its context is not wanted.
            let more = self.found.more;
            match self.last_match_near(line) {
                Some(last) => last.context.push(near_line()),
                None if more => return Ok(false),
                None => {}
            }
            return Ok(true);
        }
        match (near.kind(), self.found.matches.last_mut()) {
            (SinkContextKind::After, Some(last)) => last.context.push(near_line()),
            _ => self.before.push(near_line()),
        }
        Ok(true)
    }
}

/// Whether a line has more characters than are returned.
fn is_long(text: &[u8]) -> bool {
    // No character, and no broken one, is longer than four bytes.
    text.len() > 4 * LINE_CHARS_MAX
        || (text.len() > LINE_CHARS_MAX && characters(text).nth(LINE_CHARS_MAX).is_some())
}

/// [`LINE_CHARS_MAX`] characters of a long line: the match in the middle, or its beginning if it is
/// longer itself.
fn excerpt(text: &[u8], start: usize, end: usize) -> String {
    // Enough bytes to both sides for all characters that can be needed, and one more: what may be
    // broken by cutting here is never used.
    let reach = 4 * (LINE_CHARS_MAX + 1);
    let mut from = start.saturating_sub(reach);
    if from > 0 {
        from += text[from..].iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    }
    let to = text.len().min(start + reach);
    let window: Vec<(usize, char)> =
        characters(&text[from..to]).map(|(at, character)| (from + at, character)).collect();

    let first_of_match = window.partition_point(|(at, _)| *at <= start).saturating_sub(1);
    let end_of_match = window.partition_point(|(at, _)| *at < end).max(first_of_match);
    let room = LINE_CHARS_MAX.saturating_sub(end_of_match - first_of_match);
    let first = first_of_match.saturating_sub(room / 2);
    let last = window.len().min(first + LINE_CHARS_MAX);
    // Close to the end of the line there is room left for more before the match.
    let first = first.min(last.saturating_sub(LINE_CHARS_MAX));
    window[first..last].iter().map(|(_, character)| *character).collect()
}

/// The characters of a text and where they start, as `String::from_utf8_lossy` makes them.
fn characters(text: &[u8]) -> impl Iterator<Item = (usize, char)> {
    let mut start = 0;
    text.utf8_chunks().flat_map(move |chunk| {
        let valid_at = start;
        let broken_at = start + chunk.valid().len();
        start = broken_at + chunk.invalid().len();
        let broken = (!chunk.invalid().is_empty()).then_some((broken_at, char::REPLACEMENT_CHARACTER));
        chunk.valid().char_indices().map(move |(at, character)| (valid_at + at, character)).chain(broken)
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;
    use crate::search::pattern::{Case, Syntax};

    /// Hands out its content in pieces of a fixed size.
    struct Pieces<'c> {
        content: &'c [u8],
        piece: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.piece.min(buffer.len()).min(self.content.len());
            buffer[..length].copy_from_slice(&self.content[..length]);
            self.content = &self.content[length..];
            Ok(length)
        }
    }

    fn regex(text: &str) -> Pattern {
        Pattern::new(text, Syntax::Regex, Case::Sensitive).unwrap()
    }

    fn all() -> ScanOptions {
        ScanOptions::default()
    }

    fn context(context: usize) -> ScanOptions {
        ScanOptions { context, ..all() }
    }

    /// Scans in every way there is, which must agree.
    #[track_caller]
    fn scanned(pattern: &Pattern, options: ScanOptions, content: &[u8]) -> Outcome {
        let outcome = scan_slice(pattern, &options, content);
        for piece in [1, 3, 1000, usize::MAX] {
            let read = scan_reader(pattern, &options, Pieces { content, piece }).unwrap();
            assert_eq!(read, outcome, "pieces of {piece}");
        }
        outcome
    }

    /// `2:text`, with context `2:text[1 one,2>text,3 three]`.
    fn rendered(outcome: &Outcome) -> String {
        let found = match outcome {
            Outcome::Binary => return "binary".to_owned(),
            Outcome::TooLong => return "too long".to_owned(),
            Outcome::Searched(found) => found,
        };
        let mut parts: Vec<String> = Vec::new();
        for found in &found.matches {
            let context: Vec<_> = found
                .context
                .iter()
                .map(|near| format!("{}{}{}", near.line, if near.is_match { '>' } else { ' ' }, near.text))
                .collect();
            let context = if context.is_empty() { String::new() } else { format!("[{}]", context.join(",")) };
            parts.push(format!("{}:{}{context}", found.line, found.text));
        }
        if found.more {
            parts.push("more".to_owned());
        }
        parts.join(" ")
    }

    #[track_caller]
    fn check(pattern: &str, options: ScanOptions, content: impl AsRef<[u8]>, want: &str) {
        assert_eq!(rendered(&scanned(&regex(pattern), options, content.as_ref())), want);
    }

    #[test]
    fn lines_are_counted_from_one_and_end_with_lf_or_crlf() {
        check("a", all(), "", "");
        check("a", all(), "a", "1:a");
        check("a", all(), "a\n", "1:a");
        check("a", all(), "x\na\nx\nxa", "2:a 4:xa");
        check("a$", all(), "a\r\nb\r\na", "1:a 3:a");
        check("^a$", all(), "x\r\na\r\n", "2:a");
        check(r"a\s", all(), "a\r\na \n", "2:a ");
        check(r"a\r", all(), "a\r\na\rb\n", "2:a\rb");
        check("", all(), "\n\nx", "1: 2: 3:x");
        check("^$", all(), "\r\nx\n\n", "1: 3:");
        check("^$", all(), "x\n", "");
    }

    #[test]
    fn lone_cr_is_an_ordinary_character() {
        check("b", all(), "a\rb\n", "1:a\rb");
        check("a$|^b", all(), "a\rb\nb\ra\r\r\n", "2:b\ra\r");
        check("a$", all(), "b\ra\r\n", "1:b\ra");
        // Half of a line's end at the end of the file.
        check("a$", all(), "x\na\r", "2:a");
    }

    #[test]
    fn anchors_of_the_text_are_those_of_the_line() {
        check(r"\Aa", all(), "ba\nab\n", "2:ab");
        check(r"a\z", all(), "ab\nba\r\n", "2:ba");
        check(r"(?-R)a$", all(), "a\r\nb\na\n", "1:a 3:a");
    }

    #[test]
    fn byte_order_marks_are_not_text() {
        check("^a", all(), "\u{feff}a\na", "1:a 2:a");
        check("a", context(1), "\u{feff}x\na", "2:a[1 x,2>a]");
        check("^", all(), "\u{feff}", "");
        let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(unit).collect()
        };
        let text = "\u{feff}x\r\né😀a\r\n";
        check("^é", all(), utf16(text, u16::to_le_bytes), "2:é😀a");
        check("^é", context(1), utf16(text, u16::to_be_bytes), "2:é😀a[1 x,2>é😀a]");
        check("x", all(), utf16("x", u16::to_le_bytes), "binary");
        // Only the first mark is one.
        check("^\u{feff}a", all(), "\u{feff}\u{feff}a", "1:\u{feff}a");
        check("a", all(), b"\xef\xbb\xbf\xff\xfea", "1:\u{fffd}\u{fffd}a");
    }

    #[test]
    fn binary_files_are_not_searched() {
        check("a", all(), "a\n\0", "binary");
        check("a", all(), b"\xff\xfe\0\0a\0\0\0", "binary");
        check("a", all(), b"\0\0\xfe\xff\0\0\0a", "binary");
        let line = "x".repeat(BINARY_CHECK_BYTES - 1);
        check("a", all(), format!("{line}\0a"), "binary");
        check("a", all(), format!("{line}\n\0a"), "2:\0a");
    }

    #[test]
    fn broken_utf8_is_replaced_in_the_text() {
        check("a", all(), b"\xffa\xe2\x82\nx", "1:\u{fffd}a\u{fffd}");
        check("x", context(1), b"\x80\nx\n\xf0\x9f", "2:x[1 \u{fffd},2>x,3 \u{fffd}]");
        check(r"(?-u:\xff)", all(), b"x\n\xff\n", "2:\u{fffd}");
    }

    #[test]
    fn context_lines_appear_once_with_the_first_match_they_are_near() {
        let file = "one\ntwo a\nthree\nfour a\nfive a\nsix\n";
        check(
            "a",
            context(1),
            file,
            "2:two a[1 one,2>two a,3 three] 4:four a[4>four a] 5:five a[5>five a,6 six]",
        );
        check(
            "a",
            context(2),
            file,
            "2:two a[1 one,2>two a,3 three] 4:four a[4>four a] 5:five a[5>five a,6 six]",
        );
        check("two|six", context(1), file, "2:two a[1 one,2>two a,3 three] 6:six[5 five a,6>six]");
        check("two|six", context(2), file, "2:two a[1 one,2>two a,3 three,4 four a] 6:six[5 five a,6>six]");
        check("one", context(99), "one\r\n\r\nx", "1:one[1>one,2 ,3 x]");
        check("o", context(usize::MAX), "x\no", "2:o[1 x,2>o]");
    }

    #[test]
    fn limit_stops_the_search_and_says_whether_there_is_more() {
        let limit = |limit| ScanOptions { limit, ..all() };
        check("a", limit(0), "x\na", "more");
        check("a", limit(0), "x\nx", "");
        check("a", limit(1), "a\na", "1:a more");
        check("a", limit(2), "a\na", "1:a 2:a");
        check("a", limit(2), "a\nx\na\nx", "1:a 3:a");
    }

    #[test]
    fn counting_keeps_no_text() {
        let count = |limit, content: &[u8]| {
            let options = ScanOptions { limit, counts: true, ..all() };
            let pattern = Pattern::new("a", Syntax::Literal, Case::Sensitive).unwrap();
            match scan_slice(&pattern, &options, content) {
                Outcome::Searched(found) => (found.count, found.matches.len()),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(count(usize::MAX, b"a\nxa\nx\naa\n"), (3, 0));
        assert_eq!(count(1, b"a\nxa\nx\naa\n"), (1, 0));
        assert_eq!(count(usize::MAX, b"x\n"), (0, 0));
    }

    #[test]
    fn limit_inside_a_context_still_shows_all_of_it() {
        let limit = |context, limit| ScanOptions { context, limit, ..all() };
        check("a", limit(2, 1), "a\nx\nx\nx", "1:a[1>a,2 x,3 x]");
        check("a", limit(2, 1), "a\na1\nx\ny\nz", "1:a[1>a,2>a1,3 x] more");
        check("a", limit(2, 1), "a\nx\na1\ny\nz\na2", "1:a[1>a,2 x,3>a1] more");
        check("a", limit(1, 1), "a\nx\ny\na1\ny", "1:a[1>a,2 x] more");
        check("a", limit(3, 1), "a\na1\na2\ny\nz\na3", "1:a[1>a,2>a1,3>a2,4 y] more");
        check("a", limit(2, 0), "x\na", "more");
    }

    /// The text of the only match, and whether it was cut.
    #[track_caller]
    fn cut(pattern: &str, content: &[u8]) -> (String, bool) {
        match scanned(&regex(pattern), context(1), content) {
            Outcome::Searched(found) if found.matches.len() == 1 => {
                let only = found.matches.into_iter().next().unwrap();
                assert_eq!(only.context.iter().find(|line| line.is_match).unwrap().text, only.text);
                (only.text, only.cut)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        const MAX: usize = LINE_CHARS_MAX;
        let e = |count| "é".repeat(count);
        for (before, hit, after, want) in [
            // As long as can be.
            (MAX - 1, "a".to_owned(), 0, (e(MAX - 1) + "a", false)),
            (0, "a".to_owned(), MAX - 1, ("a".to_owned() + &e(MAX - 1), false)),
            // One more.
            (MAX, "a".to_owned(), 0, (e(MAX - 1) + "a", true)),
            (0, "a".to_owned(), MAX, ("a".to_owned() + &e(MAX - 1), true)),
            // In the middle.
            (50_000, "ab".to_owned(), 50_000, (e(MAX / 2 - 1) + "ab" + &e(MAX / 2 - 1), true)),
            // Close to one end, the other gets the room.
            (10, "a".to_owned(), 50_000, (e(10) + "a" + &e(MAX - 11), true)),
            (50_000, "a".to_owned(), 10, (e(MAX - 11) + "a" + &e(10), true)),
            // A match that is as long, or longer.
            (9, "a".repeat(MAX), 9, ("a".repeat(MAX), true)),
            (9, "a".repeat(3 * MAX), 9, ("a".repeat(MAX), true)),
            (9, "a".repeat(90 * MAX), 9, ("a".repeat(MAX), true)),
        ] {
            let line = format!("x\n{}{hit}{}\r\nx", e(before), e(after));
            assert_eq!(cut("[ab]+", line.as_bytes()), want, "{before} {} {after}", hit.len());
        }
        // Four bytes each, and no character broken.
        let line = "😀".repeat(9_000) + "a" + &"😀".repeat(9_000);
        assert_eq!(cut("a", line.as_bytes()).0, "😀".repeat(1_023) + "a" + &"😀".repeat(1_024));
        // Broken everywhere.
        let line = [vec![0x80; 20_000], b"a".to_vec(), vec![0xf0; 20_000]].concat();
        assert_eq!(cut("a", &line).0, "\u{fffd}".repeat(1_023) + "a" + &"\u{fffd}".repeat(1_024));
        // Empty matches at the ends.
        let line = "é".repeat(9_000);
        assert_eq!(cut("$", line.as_bytes()), (e(MAX), true));
        assert_eq!(cut("^", line.as_bytes()), (e(MAX), true));
    }

    #[test]
    fn long_lines_of_context_are_cut_at_their_end() {
        let content = format!("1{}\na", "é".repeat(9_000));
        check("a", context(1), content, &format!("2:a[1 1{},2>a]", "é".repeat(LINE_CHARS_MAX - 1)));
    }

    #[test]
    fn lines_longer_than_the_buffer_are_reported() {
        let pattern = regex("a");
        let long = [b"a\n".to_vec(), vec![b'x'; LINE_BYTES_MAX + 1], b"\na".to_vec()].concat();
        let read = |options: ScanOptions| {
            scan_reader(&pattern, &options, Pieces { content: &long, piece: 99_999 }).unwrap()
        };
        assert_eq!(rendered(&read(all())), "too long");
        // What is in memory already need not fit into a buffer.
        assert_eq!(rendered(&scan_slice(&pattern, &all(), &long)), "1:a 3:a");

        let fitting = [vec![b'x'; LINE_BYTES_MAX / 2], b"\na".to_vec()].concat();
        let read = scan_reader(&pattern, &all(), Pieces { content: &fitting, piece: 99_999 }).unwrap();
        assert_eq!(rendered(&read), "2:a");
    }

    #[test]
    fn errors_of_the_reader_are_passed_on_and_interruptions_are_not() {
        struct Failing<'c>(&'c [u8], Vec<io::ErrorKind>);

        impl Read for Failing<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                match self.1.pop() {
                    Some(kind) => Err(kind.into()),
                    None => self.0.read(buffer),
                }
            }
        }

        let content = b"x\na";
        let interrupted = Failing(content, vec![io::ErrorKind::Interrupted; 3]);
        assert_eq!(rendered(&scan_reader(&regex("a"), &all(), interrupted).unwrap()), "2:a");

        let text = vec![b'x'; 3 * BINARY_CHECK_BYTES];
        for before in [0, BINARY_CHECK_BYTES, 2 * BINARY_CHECK_BYTES] {
            let broken = (&text[..before]).chain(Failing(b"", vec![io::ErrorKind::ConnectionReset]));
            let error = scan_reader(&regex("a"), &all(), broken).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "after {before}");
        }
    }

    #[test]
    fn many_matches_on_long_lines_take_linear_time() {
        let start = Instant::now();
        let content = "ab ".repeat(1 << 20);
        assert!(cut("a", content.as_bytes()).1);
        let content = (String::from("a") + &"b".repeat(9_000) + "\n").repeat(200);
        scanned(&regex("a"), context(3), content.as_bytes());
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    /// The same search as a loop over all lines, with everything in memory.
    fn plain(pattern: &str, options: ScanOptions, content: &[u8]) -> Outcome {
        let regex = regex_automata::meta::Regex::builder()
            .syntax(regex_automata::util::syntax::Config::new().utf8(false))
            .build(&format!("(?R){pattern}"))
            .unwrap();
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        let mut lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let texts: Vec<&[u8]> = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
        let hits: Vec<usize> = (0..texts.len()).filter(|at| regex.is_match(texts[*at])).collect();

        let shown = &hits[..hits.len().min(options.limit)];
        let text = |at: usize| String::from_utf8_lossy(texts[at]).into_owned();
        // The match that a line belongs to.
        let owner = |line: usize| {
            let before = shown.iter().rev().find(|hit| **hit <= line);
            let after = shown.iter().find(|hit| **hit > line);
            let is_near = |hit: &&usize| hit.abs_diff(line) <= options.context;
            before.filter(is_near).or(after.filter(is_near))
        };
        let matches = shown
            .iter()
            .map(|&hit| LineMatch {
                line: hit as u64 + 1,
                text: text(hit),
                cut: false,
                context: (0..texts.len())
                    .filter(|line| options.context > 0 && owner(*line) == Some(&hit))
                    .map(|at| ContextLine {
                        line: at as u64 + 1,
                        text: text(at),
                        is_match: hits.contains(&at),
                    })
                    .collect(),
            })
            .collect();
        Outcome::Searched(Found { matches, count: 0, more: hits.len() > shown.len() })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn agrees_with_a_loop_over_lines(
            pattern in prop::sample::select(vec![
                "", "a", "b", "ab", "^", "$", "^$", "^a", "b$", "a.b", r"\s$", r"a\s*$", r"\r", r"a\r", ".", "[^b]$",
                r"\ba", r"b\b", r"\Aa", r"b\z", "é", "(?i)É", r"(?-u:\xff)", "a|b$", "x", r"\w+b\w+", r"(?-R)a$",
            ]),
            (context, limit) in (0usize..4, prop_oneof![Just(usize::MAX), 0usize..5]),
            bom in prop::bool::weighted(0.1),
            content in prop::collection::vec(
                prop::sample::select(vec![&b"a"[..], b"b", b"ab", b"\n", b"\n", b"\n", b"\r\n", b"\r", "é".as_bytes(), b"\xff", b" ", b"x\nx\nx\n"]),
                0..25,
            ),
        ) {
            let mut content = content.concat();
            if bom {
                content.splice(0..0, "\u{feff}".bytes());
            }
            let options = ScanOptions { context, limit, counts: false };
            let got = scanned(&regex(pattern), options, &content);
            prop_assert_eq!(rendered(&got), rendered(&plain(pattern, options, &content)));
            prop_assert_eq!(&got, &plain(pattern, options, &content));

            let Outcome::Searched(mut all) = scan_slice(&regex(pattern), &ScanOptions { context, ..all() }, &content)
            else { panic!("not searched") };
            all.truncate(limit, context);
            prop_assert_eq!(got, Outcome::Searched(all));
        }
    }
}
