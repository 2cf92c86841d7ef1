//! From a place in the file to the bytes that change there.
//!
//! What an edit changes is the difference between its two texts, not all of the place: lines that both
//! have keep the bytes of the file, whatever rule found them (curly quotes, `\r\n`, trailing blanks).
//! Of a line that differs, what both begin and end with stays.
//!
//! Always true:
//! - The lines of the place and of the old text correspond one to one.
//! - No cut is made inside a `\r\n` or inside a grapheme of the replaced or the new text.
//! - Half a pair of typographic quotes never stays: if a quote is among what changes in a line, the
//!   line takes the quotes of the new text.
//!
//! Not here: finding the place.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_segmentation::GraphemeCursor;

use super::indentation::Shift;
use super::lines::{Line, last_ending, lines, next_ending, splits_pair};
use super::outline::split_indentation;
use super::view::{common_cuts, fold};
use super::{Rule, Splice};

/// Product of differing old and new lines up to which they are compared; the comparison takes up to
/// that many steps. Beyond it they are replaced as one block.
const DIFF_CELLS_MAX: usize = 4 << 20;

/// An edit, ready to be made at any number of places.
pub(super) struct Graft<'e> {
    old: Vec<Line<'e>>,
    new: Vec<Line<'e>>,
    steps: Vec<Step>,
    rule: Rule,
    /// Set if old text and new text are parts of lines and the file has the old one as it is: what to
    /// replace within every place, and with what.
    inline: Option<(Range<usize>, &'e str)>,
}

/// Corresponding ranges of old and new lines.
enum Step {
    Keep(usize),
    Change { old: Range<usize>, new: Range<usize> },
}

impl<'e> Graft<'e> {
    /// Compares the texts of an edit.
    pub(super) fn new(old_text: &'e str, new_text: &'e str, rule: Rule) -> Graft<'e> {
        let old: Vec<Line<'e>> = lines(old_text).collect();
        let new: Vec<Line<'e>> = lines(new_text).collect();
        let is_part = |text: &str| next_ending(text).is_none();
        let inline = (matches!(rule, Rule::Exact | Rule::LineEndings)
            && is_part(old_text)
            && is_part(new_text))
        .then(|| {
            let (prefix, suffix) = common_ends(old_text, new_text);
            (prefix..old_text.len() - suffix, &new_text[prefix..new_text.len() - suffix])
        });
        let steps = if inline.is_some() { Vec::new() } else { compare(&old, &new) };
        Graft { old, new, steps, rule, inline }
    }

    /// The changes at one place, in order.
    pub(super) fn at(&self, text: &str, place: Range<usize>, shift: Option<&Shift>) -> Vec<Splice> {
        if let Some((changed, replacement)) = &self.inline {
            let range = place.start + changed.start..place.start + changed.end;
            let is_noop = range.is_empty() && replacement.is_empty();
            return if is_noop {
                Vec::new()
            } else {
                vec![Splice { range, replacement: (*replacement).to_owned() }]
            };
        }
        Site::new(self, text, shift, &place).change(place)
    }
}

/// The line ending that new lines get at a place: the first one in it, else the one of its line, else
/// the one before. A lone `\r` inside is the ending only if nothing else is, as it may as well be part
/// of a line. None in a text of one line: there the new text is taken as it is.
fn ending_of<'t>(text: &'t str, place: &Range<usize>) -> Option<&'t str> {
    let first_in = |piece: &'t str| {
        let mut endings = lines(piece).map(|line| line.ending).filter(|ending| !ending.is_empty());
        let first = endings.next()?;
        if first == "\r" { endings.find(|ending| *ending != "\r").or(Some(first)) } else { Some(first) }
    };
    first_in(&text[place.clone()])
        .or_else(|| next_ending(&text[place.end..]).map(|(_, ending)| ending))
        .or_else(|| last_ending(&text[..place.start]))
}

/// One place that is being changed.
struct Site<'s> {
    graft: &'s Graft<'s>,
    text: &'s str,
    shift: Option<&'s Shift>,
    ending: Option<&'s str>,
    changes: Changes<'s>,
    /// Whether what comes next follows a lone `\r`, with which a `\n` would become one ending.
    after_return: bool,
}

impl<'s> Site<'s> {
    fn new(graft: &'s Graft<'s>, text: &'s str, shift: Option<&'s Shift>, place: &Range<usize>) -> Site<'s> {
        let after_return = text[..place.start].ends_with('\r');
        Site { graft, text, shift, ending: ending_of(text, place), changes: Changes::new(text), after_return }
    }

    fn change(mut self, place: Range<usize>) -> Vec<Splice> {
        let mut here = lines(&self.text[place.clone()]);
        let mut at = place.start;
        for step in &self.graft.steps {
            match step {
                Step::Keep(count) => {
                    for line in here.by_ref().take(*count) {
                        self.end_line(at, line, line.content.is_empty(), line.ending);
                        at += line.len();
                    }
                }
                Step::Change { old, new } => {
                    let (old, new) = (&self.graft.old[old.clone()], &self.graft.new[new.clone()]);
                    for (index, line) in here.by_ref().take(old.len()).enumerate() {
                        match new.get(index) {
                            Some(new) => self.change_line(at, line, old[index], *new),
                            None => self.changes.push(at..at + line.len(), ""),
                        }
                        at += line.len();
                    }
                    for line in new.iter().skip(old.len()) {
                        self.insert_line(at, *line);
                    }
                }
            }
        }
        debug_assert!(at == place.end, "lines correspond one to one");
        self.changes.finish()
    }

    fn insert_line(&mut self, at: usize, new: Line<'_>) {
        let mut inserted = self.content(new.content);
        let ending = self.next_ending(inserted.is_empty(), self.ending_for(new.ending));
        inserted.push_str(ending);
        self.changes.push(at..at, &inserted);
    }

    fn change_line(&mut self, at: usize, here: Line<'_>, old: Line<'_>, new: Line<'_>) {
        let mut is_empty = here.content.is_empty();
        if old.content != new.content {
            let (range, replacement) = match self.graft.rule {
                Rule::Exact | Rule::LineEndings => (0..here.content.len(), new.content.to_owned()),
                Rule::Loose => loose_change(here.content, old.content, new.content),
                Rule::Indentation => shifted_change(here.content, old.content, &self.content(new.content)),
            };
            is_empty = range.len() == here.content.len() && replacement.is_empty();
            self.changes.push(at + range.start..at + range.end, &replacement);
        }
        // The line keeps its own ending, but a `\r` alone is what the new text says.
        let ending = match (here.ending, new.ending) {
            (_, "") => "",
            ("", wanted) => self.ending_for(wanted),
            (_, "\r") if old.ending != "\r" => "\r",
            (own, _) => own,
        };
        self.end_line(at, here, is_empty, ending);
    }

    /// Gives a line of the file this ending.
    fn end_line(&mut self, at: usize, here: Line<'_>, is_empty: bool, ending: &str) {
        let ending = self.next_ending(is_empty, ending);
        if ending != here.ending {
            self.changes.push(at + here.content.len()..at + here.len(), ending);
        }
    }

    /// The ending that a line of the result gets, which is the wanted one unless it would be taken for
    /// the second half of the one before.
    fn next_ending<'x>(&mut self, is_empty: bool, wanted: &'x str) -> &'x str {
        let ending = if self.after_return && is_empty && wanted == "\n" { "\r" } else { wanted };
        if !is_empty || !ending.is_empty() {
            self.after_return = ending == "\r";
        }
        ending
    }

    fn content(&self, content: &str) -> String {
        self.shift.map_or_else(|| content.to_owned(), |shift| shift.apply(content))
    }

    fn ending_for<'x>(&self, wanted: &'x str) -> &'x str
    where
        's: 'x,
    {
        if matches!(wanted, "" | "\r") { wanted } else { self.ending.unwrap_or(wanted) }
    }
}

/// What changes in a line that the loose rule found: the part between what old and new line begin and
/// end with, taken back to the line of the file. Its trailing blanks stay behind a line that is changed,
/// not behind one that is emptied or is given blanks of its own.
fn loose_change(here: &str, old: &str, new: &str) -> (Range<usize>, String) {
    let trailing = |content: &'_ str| content.len() - content.trim_end().len();
    if new.trim().is_empty() || old[old.len() - trailing(old)..] != new[new.len() - trailing(new)..] {
        return (0..here.len(), new.to_owned());
    }
    let (old, new) = (old.trim_end(), new.trim_end());
    let whole = (0..here.trim_end().len(), new.to_owned());

    let (prefix, suffix) = common_ends(old, new);
    let has_quote = |part: &str| fold(part).contains(['"', '\'']);
    if has_quote(&old[prefix..old.len() - suffix]) || has_quote(&new[prefix..new.len() - suffix]) {
        return whole;
    }
    let cuts = common_cuts(old, here);
    let start = cuts.iter().rfind(|(old_at, _)| *old_at <= prefix);
    let end = cuts.iter().find(|(old_at, _)| *old_at >= old.len() - suffix);
    let (Some(start), Some(end)) = (start, end) else { return whole };
    let new_end = new.len() - (old.len() - end.0);
    (start.1..end.1, new[start.0..new_end].to_owned())
}

/// What changes in a line of a shifted block. `new` is shifted already.
fn shifted_change(here: &str, old: &str, new: &str) -> (Range<usize>, String) {
    let (indentation, kept) = split_indentation(here);
    let trailing = |content: &str| content.len() - content.trim_end_matches([' ', '\t']).len();
    let keeps_blanks = !new.trim().is_empty() && trailing(old) == trailing(new);
    if keeps_blanks {
        let without = new.len() - trailing(new);
        (0..indentation.len() + kept.len(), new[..without].to_owned())
    } else {
        (0..here.len(), new.to_owned())
    }
}

/// Changes of one place in order, joined where they touch and trimmed to what differs.
struct Changes<'t> {
    text: &'t str,
    open: Option<Splice>,
    done: Vec<Splice>,
}

impl<'t> Changes<'t> {
    fn new(text: &'t str) -> Changes<'t> {
        Changes { text, open: None, done: Vec::new() }
    }

    fn push(&mut self, range: Range<usize>, replacement: &str) {
        match &mut self.open {
            Some(open) if open.range.end == range.start => {
                open.range.end = range.end;
                open.replacement.push_str(replacement);
            }
            _ => {
                self.close();
                self.open = Some(Splice { range, replacement: replacement.to_owned() });
            }
        }
    }

    fn close(&mut self) {
        let Some(Splice { range, mut replacement }) = self.open.take() else { return };
        let (prefix, suffix) = common_ends(&self.text[range.clone()], &replacement);
        let range = range.start + prefix..range.end - suffix;
        replacement.truncate(replacement.len() - suffix);
        replacement.drain(..prefix);
        if !range.is_empty() || !replacement.is_empty() {
            self.done.push(Splice { range, replacement });
        }
    }

    fn finish(mut self) -> Vec<Splice> {
        self.close();
        self.done
    }
}

/// How many bytes two texts have in common at their starts and at their ends, without sharing a byte
/// and without a cut inside a grapheme or a `\r\n` of either.
pub(super) fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let is_cut = |text: &str, at: usize| is_boundary(text, at);
    let mut prefix = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !is_cut(a, prefix) || !is_cut(b, prefix) {
        prefix -= 1;
    }
    let (rest_a, rest_b) = (&a[prefix..], &b[prefix..]);
    let mut suffix = rest_a.bytes().rev().zip(rest_b.bytes().rev()).take_while(|(a, b)| a == b).count();
    while !is_cut(a, a.len() - suffix) || !is_cut(b, b.len() - suffix) {
        suffix -= 1;
    }
    (prefix, suffix)
}

fn is_boundary(text: &str, at: usize) -> bool {
    if at == 0 || at == text.len() {
        return true;
    }
    let bytes = text.as_bytes();
    if bytes[at - 1].is_ascii() && bytes[at].is_ascii() {
        return !splits_pair(text, at);
    }
    // A cursor that has the whole text never asks for more context.
    text.is_char_boundary(at)
        && GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(false)
}

/// Line diff of the texts of an edit.
fn compare<'e>(old: &[Line<'e>], new: &[Line<'e>]) -> Vec<Step> {
    let (old_ids, new_ids) = ids(old, new);
    let prefix = old_ids.iter().zip(&new_ids).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old_ids[prefix..], &new_ids[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old_rest[..old_rest.len() - suffix], &new_rest[..new_rest.len() - suffix]);

    let mut steps = vec![Step::Keep(prefix)];
    let change = |old: Range<usize>, new: Range<usize>| Step::Change {
        old: old.start + prefix..old.end + prefix,
        new: new.start + prefix..new.end + prefix,
    };
    if old_rest.len().saturating_mul(new_rest.len()) > DIFF_CELLS_MAX {
        steps.push(change(0..old_rest.len(), 0..new_rest.len()));
    } else {
        for op in capture_diff_slices(Algorithm::Myers, old_rest, new_rest) {
            steps.push(match op {
                DiffOp::Equal { len, .. } => Step::Keep(len),
                _ => change(op.old_range(), op.new_range()),
            });
        }
    }
    steps.push(Step::Keep(suffix));
    steps
}

/// Numbers for lines, equal for lines that are to stay. `\n` and `\r\n` are one ending, as the place
/// decides which it is. A lone `\r` in the new text is meant literally and differs from both.
fn ids<'e>(old: &[Line<'e>], new: &[Line<'e>]) -> (Vec<u32>, Vec<u32>) {
    let has_literal = new.iter().any(|line| line.ending == "\r");
    let class = |ending: &str| match ending {
        "" => 0_u8,
        "\r" if has_literal => 2,
        _ => 1,
    };
    let mut known: HashMap<(&'e str, u8), u32> = HashMap::new();
    let mut number = |line: &Line<'e>| {
        let next = known.len() as u32;
        *known.entry((line.content, class(line.ending))).or_insert(next)
    };
    let old_ids = old.iter().map(&mut number).collect();
    let new_ids = new.iter().map(&mut number).collect();
    (old_ids, new_ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::edit::apply;

    /// Makes one edit at the only place of `at` in `text`.
    fn grafted(text: &str, at: &str, (old, new): (&str, &str), rule: Rule) -> (String, Vec<String>) {
        let start = text.find(at).unwrap();
        let splices = Graft::new(old, new, rule).at(text, start..start + at.len(), None);
        let replaced = splices.iter().map(|splice| text[splice.range.clone()].to_owned()).collect();
        (apply(text, &splices), replaced)
    }

    #[test]
    fn only_what_differs_is_replaced() {
        for (text, (old, new), want, replaced) in [
            ("let a = 1;\n", ("let a = 1;", "let a = 2;"), "let a = 2;\n", vec!["1"]),
            ("a\nb\nc\n", ("a\nb\nc", "a\nX\nb\nc"), "a\nX\nb\nc\n", vec![""]),
            ("a\nb\nc\n", ("a\nb\nc\n", "a\nc\n"), "a\nc\n", vec!["b\n"]),
            ("a\nb\nc\n", ("a\nb\nc", "A\nb\nC"), "A\nb\nC\n", vec!["a", "c"]),
            ("a\nb\n", ("a\nb\n", ""), "", vec!["a\nb\n"]),
            ("a\nb", ("a\nb", "c"), "c", vec!["a\nb"]),
            ("a", ("a", "a\nb\nc"), "a\nb\nc", vec![""]),
            ("a\n", ("a\n", "a\n"), "a\n", vec![]),
            // Never a part of a cluster.
            ("e\u{301}x", ("e\u{301}x", "ex"), "ex", vec!["e\u{301}"]),
            ("👩‍👩‍👧!", ("👩‍👩‍👧!", "👩‍👩‍👦!"), "👩‍👩‍👦!", vec!["👩‍👩‍👧"]),
        ] {
            assert_eq!(
                grafted(text, old, (old, new), Rule::Exact),
                (want.to_owned(), replaced.iter().map(|r| r.to_string()).collect()),
                "{text:?} {new:?}"
            );
        }
    }

    #[test]
    fn kept_lines_keep_their_own_endings() {
        let text = "a\r\nb\nc\r\nd\n";
        let (result, _) = grafted(text, "a\r\nb\nc\r\n", ("a\nb\nc\n", "a\nB\nnew\nc\n"), Rule::LineEndings);
        assert_eq!(result, "a\r\nB\nnew\r\nc\r\nd\n");
    }

    #[test]
    fn new_lines_take_the_ending_of_the_place() {
        for (text, at, want) in [
            ("a\r\nb\r\n", "b", "a\r\nx\r\ny\r\n"),
            ("a\r\nb", "b", "a\r\nx\r\ny"),
            ("a\rb\rc", "b", "a\rx\ry\rc"),
            ("a\nb\r\nc\n", "b", "a\nx\r\ny\r\nc\n"),
        ] {
            assert_eq!(grafted(text, at, (at, "x\ny"), Rule::Exact).0, want, "{text:?}");
            assert_eq!(grafted(text, at, (at, "x\r\ny"), Rule::Exact).0, want, "{text:?}");
        }
        assert_eq!(grafted("b", "b", ("b", "x\ny"), Rule::Exact).0, "x\ny");
        assert_eq!(grafted("b", "b", ("b", "x\r\ny"), Rule::Exact).0, "x\r\ny");
        assert_eq!(grafted("a\nb\n", "b\n", ("b\n", "x\ry\n"), Rule::Exact).0, "a\nx\ry\n");
    }

    #[test]
    fn loose_lines_keep_what_both_texts_share() {
        for (text, (old, new), want) in [
            (
                "say(“hello world”)  \n",
                ("say(\"hello world\")", "say(\"hello there\")"),
                "say(“hello there”)  \n",
            ),
            ("x = “a”\ny = 1\n", ("x = \"a\"\ny = 1", "x = \"a\"\ny = 2"), "x = “a”\ny = 2\n"),
            // Quotes that change: all of the line follows the new text.
            ("say(“a b”)\n", ("say(\"a b\")", "say(\"a \" + \"b\")"), "say(\"a \" + \"b\")\n"),
            ("a  \nb\n", ("a\nb", "c\nb"), "c  \nb\n"),
            ("a  \nb\n", ("a\nb", "\nb"), "\nb\n"),
            ("ﬁx me…\n", ("fix me...", "fix you..."), "ﬁx you…\n"),
            ("ﬁx\n", ("fix", "fax"), "fax\n"),
        ] {
            let at = text.trim_end();
            assert_eq!(grafted(text, at, (old, new), Rule::Loose).0, want, "{text:?} {new:?}");
        }
    }

    #[test]
    fn common_ends_do_not_overlap() {
        for (a, b, want) in [
            ("aaa", "aa", (2, 0)),
            ("abc", "abc", (3, 0)),
            ("abXcd", "abYYcd", (2, 2)),
            ("é", "è", (0, 0)),
            ("a\r\n", "a\n", (1, 0)),
            ("a\r\n", "b\r\n", (0, 2)),
            ("", "x", (0, 0)),
        ] {
            assert_eq!(common_ends(a, b), want, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_large_rewrite_is_one_block() {
        let old = (0..4000).map(|n| format!("a{n}\n")).collect::<String>();
        let new = (0..4000).map(|n| format!("b{n}\n")).collect::<String>();
        assert_eq!(grafted(&old, &old, (&old, &new), Rule::Exact).0, new);
    }
}
