//! Lines of a text, and how they end.
//!
//! A line ends with `\n`, `\r\n` or a lone `\r`, in every part of the edit engine: what counts as one
//! line for matching has one number in refusals and in diffs. Text after the last ending is a line
//! too; after a final ending there is none.

use memchr::{memchr, memchr_iter, memchr2, memrchr2};

/// One line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// The line without its ending.
    pub content: &'t str,
    /// `\n`, `\r\n`, `\r`, or nothing at the end of the text.
    pub ending: &'t str,
}

impl Line<'_> {
    /// Length in bytes with the ending.
    pub(super) fn len(&self) -> usize {
        self.content.len() + self.ending.len()
    }

    /// Whether only blanks are on it.
    pub(super) fn is_blank(&self) -> bool {
        self.content.trim().is_empty()
    }
}

/// The lines of a text in order. An empty text has none.
pub(super) fn lines(text: &str) -> Lines<'_> {
    Lines { rest: text }
}

/// See [`lines`].
#[derive(Debug, Clone)]
pub(super) struct Lines<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        if self.rest.is_empty() {
            return None;
        }
        let (content, ending) = match next_ending(self.rest) {
            Some((at, ending)) => (&self.rest[..at], ending),
            None => (self.rest, ""),
        };
        self.rest = &self.rest[content.len() + ending.len()..];
        Some(Line { content, ending })
    }
}

/// The first line ending and where it is.
pub(super) fn next_ending(text: &str) -> Option<(usize, &str)> {
    let at = memchr2(b'\n', b'\r', text.as_bytes())?;
    let is_pair = text[at..].starts_with("\r\n");
    Some((at, &text[at..at + 1 + usize::from(is_pair)]))
}

/// The last line ending, which may be at the very end.
pub(super) fn last_ending(text: &str) -> Option<&str> {
    let at = memrchr2(b'\n', b'\r', text.as_bytes())?;
    let is_pair = text[..=at].ends_with("\r\n");
    Some(&text[at - usize::from(is_pair)..=at])
}

/// Start of the line that a position is on.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |before| before + 1)
}

/// End, with its ending, of the line that a position is on.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    next_ending(&text[at..]).map_or(text.len(), |(offset, ending)| at + offset + ending.len())
}

/// Whether a position lies between the `\r` and the `\n` of one line ending.
pub(super) fn splits_pair(text: &str, at: usize) -> bool {
    at > 0 && text.as_bytes()[at - 1] == b'\r' && text.as_bytes().get(at) == Some(&b'\n')
}

/// How many line endings a text has.
pub(super) fn count_endings(bytes: &[u8]) -> usize {
    let feeds = memchr_iter(b'\n', bytes).count();
    if memchr(b'\r', bytes).is_none() {
        return feeds;
    }
    feeds + memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count()
}

/// Line numbers for positions that come in ascending order, in one walk over the text.
pub(super) struct LineNumbers<'t> {
    text: &'t str,
    at: usize,
    number: usize,
}

impl<'t> LineNumbers<'t> {
    /// Starts before the first position.
    pub(super) fn new(text: &'t str) -> LineNumbers<'t> {
        LineNumbers { text, at: 0, number: 1 }
    }

    /// The number, from 1, of the line that a position is on. Any byte will do, also one inside a
    /// character or a `\r\n`, which is on the line that it ends.
    pub(super) fn of(&mut self, at: usize) -> usize {
        let at = at - usize::from(splits_pair(self.text, at));
        debug_assert!(self.at <= at, "positions come in ascending order");
        self.number += count_endings(&self.text.as_bytes()[self.at..at]);
        self.at = at;
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_ending_ends_a_line() {
        let split = |text| lines(text).map(|line| (line.content, line.ending)).collect::<Vec<_>>();
        assert_eq!(split(""), []);
        assert_eq!(split("a"), [("a", "")]);
        assert_eq!(split("a\n"), [("a", "\n")]);
        assert_eq!(split("a\r\nb\rc\n\nd"), [("a", "\r\n"), ("b", "\r"), ("c", "\n"), ("", "\n"), ("d", "")]);
        assert_eq!(split("\n\r"), [("", "\n"), ("", "\r")]);
    }

    #[test]
    fn endings_are_counted_and_found_from_both_sides() {
        assert_eq!(count_endings(b"a\r\nb\rc\nd"), 3);
        assert_eq!(count_endings(b"ab"), 0);
        assert_eq!(last_ending("a\nb\r\nc"), Some("\r\n"));
        assert_eq!(last_ending("a\r"), Some("\r"));
        assert_eq!(last_ending("a"), None);
        assert_eq!((line_start("a\r\nbc\n", 4), line_end("a\r\nbc\n", 4)), (3, 6));
        assert!(splits_pair("a\r\n", 2));
        assert!(!splits_pair("a\r\n", 1));
        assert!(!splits_pair("\n", 0));
    }

    #[test]
    fn numbers_are_those_of_the_line_a_position_is_on() {
        let mut numbers = LineNumbers::new("a\r\nb\rc\nd");
        assert_eq!([0, 1, 2, 3, 5, 5, 7].map(|at| numbers.of(at)), [1, 1, 1, 2, 3, 3, 4]);
    }
}
