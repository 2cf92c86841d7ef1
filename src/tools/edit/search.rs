//! Finding one edit's places, rule after rule.
//!
//! What a looser rule needs of the file (its view, its outline) is made when the first edit needs it
//! and kept for the others.

use std::ops::Range;

use super::indentation::Shift;
use super::lines::{LineNumbers, splits_pair};
use super::nearest::nearest;
use super::outline::Outline;
use super::places::{self, Found, Many};
use super::refusal::{self, Subject};
use super::view::{View, fold};
use super::{Edit, Refusal, Rule};

/// A byte order mark, which models copy from elsewhere. The file's own is not part of its text.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// A file that edits are looked for in.
pub(super) struct Search<'t> {
    text: &'t str,
    line_endings: Option<View<'t>>,
    loose: Option<View<'t>>,
    outline: Option<Outline<'t>>,
}

/// Where an edit goes.
#[derive(Debug)]
pub(super) struct Located {
    /// Bytes of the file, in order; at least one place.
    pub places: Vec<Range<usize>>,
    /// The rule that found them.
    pub rule: Rule,
    /// The indentation that the replacement gets.
    pub shift: Option<Shift>,
}

impl Located {
    fn new(rule: Rule, places: Vec<Range<usize>>) -> Located {
        Located { places, rule, shift: None }
    }

    /// Old and new text as they correspond to a place.
    pub(super) fn texts<'e>(&self, edit: &'e Edit, ends: End) -> (&'e str, &'e str) {
        let (old, new) = (edit.old_text.as_str(), edit.new_text.as_str());
        let is_mark_meant = self.rule == Rule::Exact && old.starts_with(BYTE_ORDER_MARK);
        let (old, new) = if is_mark_meant { (old, new) } else { (without_mark(old), without_mark(new)) };
        match ends {
            End::Full => (old, new),
            End::BeforeReturn => (without_return(old), without_return(new)),
        }
    }

    /// Where a place ends.
    pub(super) fn end_of(&self, text: &str, edit: &Edit, place: &Range<usize>) -> End {
        if self.rule != Rule::Exact || !edit.old_text.ends_with('\r') {
            return End::Full;
        }
        let is_extended = edit.old_text.starts_with('\n') && text[place.clone()].starts_with('\r');
        let full = edit.old_text.len() + usize::from(is_extended);
        if place.len() < full { End::BeforeReturn } else { End::Full }
    }
}

/// Whether a place takes all of the old text; see [`exact_place`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// All of it.
    Full,
    /// All but a final `\r`, which in the file begins a `\r\n`.
    BeforeReturn,
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

fn without_return(text: &str) -> &str {
    text.strip_suffix('\r').unwrap_or(text)
}

impl<'t> Search<'t> {
    /// A search in this text.
    pub(super) fn new(text: &'t str) -> Search<'t> {
        Search { text, line_endings: None, loose: None, outline: None }
    }

    /// Finds the places of an edit by the first rule that has any.
    pub(super) fn locate(&mut self, edit: &Edit, subject: Subject) -> Result<Located, Refusal> {
        let text = self.text;
        let refuse = |rule, many: &Many| {
            refusal::ambiguous(subject, edit, rule, many, line_numbers(text, &many.starts))
        };
        if let Some(located) = self.exact(edit).map_err(|many| refuse(Rule::Exact, &many))? {
            return Ok(located);
        }
        let old_text = without_mark(&edit.old_text);
        if old_text.is_empty() {
            return Err(refusal::empty_old_text(subject));
        }
        let found = self.with_line_endings(edit, old_text);
        if let Some(located) = found.map_err(|many| refuse(Rule::LineEndings, &many))? {
            return Ok(located);
        }
        match self.loosely(old_text) {
            Found::One(place) => return Ok(Located::new(Rule::Loose, vec![place])),
            Found::Many(many) => return Err(refuse(Rule::Loose, &many)),
            Found::Nothing => {}
        }
        let outline = self.outline.get_or_insert_with(|| Outline::new(text));
        match outline.find_shifted(old_text) {
            Found::One(place) => {
                let shift = Some(place.shift);
                Ok(Located { shift, ..Located::new(Rule::Indentation, vec![place.range]) })
            }
            Found::Many(many) => Err(refuse(Rule::Indentation, &many)),
            Found::Nothing => Err(refusal::no_match(subject, nearest(text, outline, old_text))),
        }
    }

    fn exact(&self, edit: &Edit) -> Result<Option<Located>, Many> {
        let text = self.text;
        let place_of = |hit: Range<usize>| Some(exact_place(text, hit)).filter(|place| !place.is_empty());
        located(Rule::Exact, text, &edit.old_text, edit.replace_all, place_of)
    }

    fn with_line_endings(&mut self, edit: &Edit, old_text: &str) -> Result<Option<Located>, Many> {
        let text = self.text;
        let view = self.line_endings.get_or_insert_with(|| View::of_line_endings(text));
        let needle = View::of_line_endings(old_text);
        if view.is_same() && needle.text() == edit.old_text {
            return Ok(None);
        }
        located(Rule::LineEndings, view.text(), needle.text(), edit.replace_all, |hit| view.in_file(hit))
    }

    /// Trailing blanks of the last line of the old text are either those of a part of a line, which
    /// the file has too, or they are at the end of a line and nothing.
    fn loosely(&mut self, old_text: &str) -> Found<Range<usize>> {
        let text = self.text;
        let view = self.loose.get_or_insert_with(|| View::of_loose(text));
        let needle = View::of_loose(old_text);
        if needle.text().is_empty() || (view.is_same() && needle.text() == old_text) {
            return Found::Nothing;
        }
        let seen = view.text();
        let blanks = fold(&old_text[old_text.trim_end_matches(is_blank).len()..]);
        if blanks.is_empty() {
            return places::count(seen, needle.text(), |hit| view.in_file(hit));
        }
        let within = places::count(seen, &format!("{}{blanks}", needle.text()), |hit| view.in_file(hit));
        let at_end = places::count(seen, needle.text(), |hit| {
            let is_end = matches!(seen.as_bytes().get(hit.end), None | Some(b'\n'));
            if is_end { view.in_file(hit) } else { None }
        });
        joined(within, at_end)
    }
}

/// A blank that does not end the line.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n' && c != '\r'
}

/// Places of one rule for which all may be meant.
fn located(
    rule: Rule,
    haystack: &str,
    needle: &str,
    replace_all: bool,
    place_of: impl FnMut(Range<usize>) -> Option<Range<usize>>,
) -> Result<Option<Located>, Many> {
    if replace_all {
        let places = places::all(haystack, needle, place_of);
        return Ok((!places.is_empty()).then(|| Located::new(rule, places)));
    }
    match places::count(haystack, needle, place_of) {
        Found::Nothing => Ok(None),
        Found::One(place) => Ok(Some(Located::new(rule, vec![place]))),
        Found::Many(many) => Err(many),
    }
}

/// The place of an exact hit, which is never half a `\r\n`. A text that begins with the `\n` of one
/// means the line ending; a text that ends with the `\r` of one was split at `\n` and means the line
/// before it, and taking the `\n` too would join two lines.
fn exact_place(text: &str, hit: Range<usize>) -> Range<usize> {
    let start = hit.start - usize::from(splits_pair(text, hit.start));
    let end = hit.end - usize::from(splits_pair(text, hit.end));
    start.min(end)..end
}

/// Two sets of places as one.
fn joined(a: Found<Range<usize>>, b: Found<Range<usize>>) -> Found<Range<usize>> {
    let many = |place: Range<usize>| Many { starts: vec![place.start], count: 1, is_capped: false };
    let (mut a, b) = match (a, b) {
        (Found::Nothing, other) | (other, Found::Nothing) => return other,
        (Found::One(a), Found::One(b)) => (many(a), many(b)),
        (Found::One(a), Found::Many(b)) => (many(a), b),
        (Found::Many(a), Found::One(b)) => (a, many(b)),
        (Found::Many(a), Found::Many(b)) => (a, b),
    };
    a.starts.extend(b.starts);
    a.starts.sort_unstable();
    a.starts.truncate(places::LISTED_MAX);
    Found::Many(Many { starts: a.starts, count: a.count + b.count, is_capped: a.is_capped || b.is_capped })
}

/// Line numbers of places in ascending order.
fn line_numbers(text: &str, starts: &[usize]) -> Vec<usize> {
    let mut numbers = LineNumbers::new(text);
    starts.iter().map(|start| numbers.of(*start)).collect()
}
