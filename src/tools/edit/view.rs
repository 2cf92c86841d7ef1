//! A text as a looser rule sees it, with the way back to the file.
//!
//! A view is the normalised text and a list of *atoms*: stretches that do not stand for themselves
//! byte by byte (`\r\n` seen as `\n`, `ﬁ` seen as `fi`, trailing blanks seen as nothing). Between
//! atoms both texts are the same. A position inside an atom has no place in the file, so a hit that
//! begins or ends there is none.
//!
//! The loose view works grapheme by grapheme: a cluster of several characters is one atom even where
//! it looks the same, so that no hit takes the letter and leaves its accent.
//!
//! Always true:
//! - Atoms are in order and disjoint, in the view and in the file.
//! - The view has as many line endings as the file, all of them `\n`.
//! - Building one costs one walk over the text; ASCII is copied in runs.
//!
//! Not here: searching a view (`places`).

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::lines::lines;

/// See the module.
#[derive(Debug)]
pub(super) struct View<'t> {
    text: Cow<'t, str>,
    atoms: Vec<Atom>,
}

/// A stretch that is mapped as a whole or not at all. Its length in the view may be zero.
#[derive(Debug, Clone, Copy)]
struct Atom {
    view: usize,
    view_len: usize,
    file: usize,
    file_len: usize,
}

impl<'t> View<'t> {
    /// The text with every line ending as `\n`.
    pub(super) fn of_line_endings(text: &'t str) -> View<'t> {
        if memchr(b'\r', text.as_bytes()).is_none() {
            return View { text: Cow::Borrowed(text), atoms: Vec::new() };
        }
        let mut builder = Builder::with_capacity(text.len());
        for line in lines(text) {
            builder.same(line.content);
            builder.ending(line.ending);
        }
        builder.finish()
    }

    /// The text with compatible characters, quotes, dashes and spaces folded together and without
    /// trailing blanks.
    pub(super) fn of_loose(text: &'t str) -> View<'t> {
        let mut builder = Builder::with_capacity(text.len());
        for line in lines(text) {
            let kept = line.content.trim_end();
            builder.loose(kept);
            builder.atom("", line.content.len() - kept.len());
            builder.ending(line.ending);
        }
        builder.finish()
    }

    /// What the rule sees.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the rule sees the file as it is.
    pub(super) fn is_same(&self) -> bool {
        self.atoms.is_empty()
    }

    /// What part of the file a part of the view stands for, without the trailing blanks around it.
    /// `None` if it begins or ends inside an atom.
    pub(super) fn in_file(&self, range: Range<usize>) -> Option<Range<usize>> {
        let start = self.start_in_file(range.start)?;
        let end = self.end_in_file(range.end)?;
        // Both sides skip trailing blanks, so an empty part of the view could come out inside out.
        (start <= end).then_some(start..end)
    }

    fn start_in_file(&self, at: usize) -> Option<usize> {
        if at == 0 || self.text.as_bytes()[at - 1] == b'\n' {
            // The blanks of a line that has nothing else are its beginning, not what is behind it.
            return self.end_in_file(at);
        }
        let before = self.atoms.partition_point(|atom| atom.view <= at);
        let Some(atom) = before.checked_sub(1).map(|index| self.atoms[index]) else { return Some(at) };
        if at == atom.view && atom.view_len > 0 { Some(atom.file) } else { atom.after(at) }
    }

    fn end_in_file(&self, at: usize) -> Option<usize> {
        let before = self.atoms.partition_point(|atom| atom.view < at);
        before.checked_sub(1).map_or(Some(at), |index| self.atoms[index].after(at))
    }
}

impl Atom {
    /// Where a position behind this atom, and before the next, is in the file.
    fn after(self, at: usize) -> Option<usize> {
        Some(self.file + self.file_len + at.checked_sub(self.view + self.view_len)?)
    }
}

/// A view that grows from left to right.
struct Builder {
    text: String,
    atoms: Vec<Atom>,
    file: usize,
}

impl Builder {
    fn with_capacity(bytes: usize) -> Builder {
        Builder { text: String::with_capacity(bytes), atoms: Vec::new(), file: 0 }
    }

    fn same(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.file += piece.len();
    }

    fn atom(&mut self, seen_as: &str, file_len: usize) {
        if seen_as.is_empty() && file_len == 0 {
            return;
        }
        let atom = Atom { view: self.text.len(), view_len: seen_as.len(), file: self.file, file_len };
        self.atoms.push(atom);
        self.text.push_str(seen_as);
        self.file += file_len;
    }

    fn ending(&mut self, ending: &str) {
        match ending {
            "" | "\n" => self.same(ending),
            _ => self.atom("\n", ending.len()),
        }
    }

    /// A line without its ending. ASCII cannot change; the rest is taken in zones that reach one
    /// ASCII character further on both sides, as that one may belong to a cluster.
    fn loose(&mut self, content: &str) {
        let bytes = content.as_bytes();
        let next = |from: usize, ascii: bool| {
            bytes[from..].iter().position(|byte| byte.is_ascii() == ascii).map(|offset| from + offset)
        };
        let mut at = 0;
        while let Some(first) = next(at, false) {
            let start = at.max(first.saturating_sub(1));
            let mut end = first;
            while end < bytes.len() && !bytes[end].is_ascii() {
                end = next(end, true).map_or(bytes.len(), |ascii| ascii + 1);
            }
            self.same(&content[at..start]);
            content[start..end].graphemes(true).for_each(|cluster| self.loose_cluster(cluster));
            at = end;
        }
        self.same(&content[at..]);
    }

    fn loose_cluster(&mut self, cluster: &str) {
        let mut chars = cluster.chars();
        let is_single = chars.next().is_some() && chars.next().is_none();
        if is_single
            && cluster.chars().all(|c| fold_char(c) == c)
            && is_nfkc_quick(cluster.chars()) == IsNormalized::Yes
        {
            return self.same(cluster);
        }
        let view = self.text.len();
        self.text.extend(cluster.nfkc().map(fold_char));
        let view_len = self.text.len() - view;
        self.atoms.push(Atom { view, view_len, file: self.file, file_len: cluster.len() });
        self.file += cluster.len();
    }

    fn finish<'t>(self) -> View<'t> {
        View { text: Cow::Owned(self.text), atoms: self.atoms }
    }
}

/// A text as the loose rule sees it, all blanks kept.
pub(super) fn fold(text: &str) -> String {
    let mut builder = Builder::with_capacity(text.len());
    builder.loose(text);
    builder.text
}

/// Quotes, dashes and spaces that editors and models put for the plain ones.
pub(super) fn fold_char(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' => '\'',
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// Positions (in `a`, in `b`) where two pieces of lines that look the same to the loose rule can both
/// be cut, from the start to the end of what is not trailing blanks.
pub(super) fn common_cuts(a: &str, b: &str) -> Vec<(usize, usize)> {
    let (cuts_a, cuts_b) = (cuts(a), cuts(b));
    let mut common = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(left), Some(right)) = (cuts_a.get(i), cuts_b.get(j)) {
        if left.0 == right.0 {
            common.push((left.1, right.1));
        }
        let (step_a, step_b) = (left.0 <= right.0, right.0 <= left.0);
        i += usize::from(step_a);
        j += usize::from(step_b);
    }
    common
}

/// Every cluster boundary of a piece of a line, as (position in the view, position in the piece).
fn cuts(piece: &str) -> Vec<(usize, usize)> {
    let mut builder = Builder::with_capacity(piece.len());
    let mut cuts = vec![(0, 0)];
    for cluster in piece.trim_end().graphemes(true) {
        builder.loose_cluster(cluster);
        cuts.push((builder.text.len(), builder.file));
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_map_whole() {
        let view = View::of_line_endings("a\r\nb\rc\n");
        assert_eq!(view.text(), "a\nb\nc\n");
        assert_eq!(view.in_file(1..2), Some(1..3));
        assert_eq!(view.in_file(2..4), Some(3..5));
        assert_eq!(view.in_file(4..6), Some(5..7));
        assert!(View::of_line_endings("a\nb").is_same());
    }

    #[test]
    fn loose_text_is_folded() {
        for (text, want) in [
            ("“a” ‘b’ ‚c‛ „d‟", "\"a\" 'b' 'c' \"d\""),
            ("a‐b‑c‒d–e—f―g−h", "a-b-c-d-e-f-g-h"),
            ("a\u{a0}b\u{2002}c\u{200a}d\u{202f}e\u{205f}f\u{3000}g", "a b c d e f g"),
            ("ﬁne… ①", "fine... 1"),
            ("e\u{301}", "é"),
            ("x \t\r\ny\u{a0}\nz  ", "x\ny\nz"),
            ("日本 語", "日本 語"),
        ] {
            assert_eq!(View::of_loose(text).text(), want, "{text:?}");
        }
    }

    #[test]
    fn a_part_of_a_cluster_or_an_expansion_has_no_place() {
        let view = View::of_loose("aﬁb");
        assert_eq!(view.text(), "afib");
        assert_eq!(view.in_file(0..2), None);
        assert_eq!(view.in_file(2..4), None);
        assert_eq!(view.in_file(1..3), Some(1..4));
        // `x` with an accent that has no composed form: unchanged, but still one cluster.
        let view = View::of_loose("x\u{301}y");
        assert_eq!(view.in_file(0..1), None);
        assert_eq!(view.in_file(0..4), Some(0..4));
    }

    #[test]
    fn trailing_blanks_are_outside_on_both_sides() {
        let view = View::of_loose("a  \nb\t\r\nc");
        assert_eq!(view.text(), "a\nb\nc");
        assert_eq!(view.in_file(0..1), Some(0..1));
        assert_eq!(view.in_file(1..3), Some(3..5));
        assert_eq!(view.in_file(1..4), Some(3..8));
        assert_eq!(view.in_file(4..5), Some(8..9));
        let view = View::of_loose("a\n  \nb");
        assert_eq!(view.in_file(2..4), Some(2..6));
    }

    #[test]
    fn cuts_meet_where_both_can_be_cut() {
        assert_eq!(common_cuts("a\"b", "a“b  "), [(0, 0), (1, 1), (2, 4), (3, 5)]);
        assert_eq!(common_cuts("fix", "ﬁx"), [(0, 0), (2, 3), (3, 4)]);
    }
}
