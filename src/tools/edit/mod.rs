//! The engine behind the `edit` tool: where texts are in a file, and what changes there.
//!
//! A call is a list of edits, each an old text that names one place and a new text for it. Every edit
//! is matched against the file as it was, so their order does not matter, and all are made or none.
//! An old text is looked for by ever looser rules, and a looser one is only tried if the one before
//! found nothing at all:
//!
//! | [`Rule`] | Ignores | Places |
//! | --- | --- | --- |
//! | `exact` | nothing | one, or all with `replace_all` |
//! | `line-endings` | kinds of line endings, a byte order mark in front | one, or all with `replace_all` |
//! | `loose` | also compatible characters (NFKC), kinds of quotes, dashes and spaces, trailing blanks | one |
//! | `indentation` | an indentation that all lines have more or less, or have as tabs for spaces | one |
//!
//! A loose rule that fits several places is refused even with `replace_all`: places that are only
//! similar may be meant differently.
//!
//! Always true:
//! - Bytes that do not change keep their line endings, quotes and blanks (`graft`).
//! - A replacement is literal, and takes the line ending of the place that it goes to.
//! - Splices are in order, disjoint, and cut no character and no `\r\n`.
//! - Time is linear in the file and the edits, next to fixed budgets. Nothing asks for the time, so the
//!   same call always has the same answer.
//!
//! Not here: reading and writing files, encodings and byte order marks, and what of all this the
//! model is shown.

#![expect(
    clippy::result_large_err,
    reason = "a call is refused once, and the caller takes the refusal apart at once"
)]

mod diff;
mod difference;
mod escapes;
mod graft;
mod indentation;
mod lines;
mod nearest;
mod outline;
mod patch;
mod places;
mod refusal;
mod search;
#[cfg(test)]
mod tests;
mod view;

use std::ops::Range;

use graft::Graft;
use lines::LineNumbers;
use refusal::Subject;
use search::{End, Located, Search};

pub use diff::{Diff, DiffLimits, diff};

/// The most bytes that the replacements of one call may have together. Without it a short text with
/// many places and a long replacement would be an allocation of any size.
pub const REPLACEMENT_BYTES_MAX: usize = 64 << 20;

/// The most edits of one call. Each of them may take a walk over the file for each rule.
pub const EDITS_MAX: usize = 1_000;

/// The most places that the edits of one call may have together. They are all in memory before the
/// first is changed.
pub const PLACES_MAX: usize = 1_000_000;

/// One replacement asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is in the file. Must name one place, unless `replace_all`.
    pub old_text: String,
    /// What is to be there. Literal.
    pub new_text: String,
    /// Whether all places are meant.
    pub replace_all: bool,
}

/// Text range (bytes of the text) and what goes there, with line endings and indentation as they are
/// to be in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// What is replaced. Empty for an insertion.
    pub range: Range<usize>,
    /// What is put there.
    pub replacement: String,
}

/// How literally a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Byte by byte.
    Exact,
    /// With other line endings.
    LineEndings,
    /// With other quotes, dashes, spaces, trailing blanks or compatible characters.
    Loose,
    /// With another indentation.
    Indentation,
}

impl Rule {
    /// The name that the model and the host see.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Exact => "exact",
            Rule::LineEndings => "line-endings",
            Rule::Loose => "loose",
            Rule::Indentation => "indentation",
        }
    }
}

/// Where an edit was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// Index of the edit.
    pub edit: usize,
    /// First line of the first place, from 1, in the text before the edits.
    pub start_line: usize,
    /// Last line of the first place.
    pub end_line: usize,
    /// The rule that found it.
    pub rule: Rule,
    /// Number of places.
    pub count: usize,
}

/// What a call changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The changes, in order and disjoint. None of them is without effect.
    pub splices: Vec<Splice>,
    /// One for each edit, in the order of the edits.
    pub matches: Vec<Matched>,
}

impl Plan {
    /// Whether the text stays as it is.
    pub fn is_noop(&self) -> bool {
        self.splices.is_empty()
    }
}

/// Why a call changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// `EINVAL`, `ENOMATCH`, `EAMBIGUOUS` or `EFBIG`.
    pub code: &'static str,
    /// What is wrong and what to do, in a few sentences for a model.
    pub error: String,
    /// Index of the edit that is refused.
    pub edit: Option<usize>,
    /// Lines of the places that an ambiguous edit has, at most 20.
    pub lines: Vec<usize>,
    /// What is most like a text that was not found.
    pub nearest: Option<Nearest>,
}

/// The part of a file that is most like a text that is not in it. At most 2 KiB of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// First line, from 1.
    pub start_line: usize,
    /// Last line.
    pub end_line: usize,
    /// Its lines, each as `<number>\t<line>`.
    pub text: String,
    /// Where and how it differs first.
    pub difference: String,
}

/// Finds the places of all edits and what changes there, or says why not.
///
/// `text` is the whole file without a byte order mark and with its own line endings.
pub fn plan(text: &str, edits: &[Edit]) -> Result<Plan, Refusal> {
    if edits.is_empty() {
        return Err(refusal::no_edits());
    }
    if edits.len() > EDITS_MAX {
        return Err(refusal::too_many_edits(edits.len(), EDITS_MAX));
    }
    let subject = |edit| Subject { edit, of: edits.len() };
    if let Some(edit) = edits.iter().position(|edit| edit.old_text.is_empty()) {
        return Err(refusal::empty_old_text(subject(edit)));
    }
    let mut search = Search::new(text);
    let mut located = Vec::with_capacity(edits.len());
    let mut places = 0;
    for (index, edit) in edits.iter().enumerate() {
        let found = search.locate(edit, subject(index))?;
        places += found.places.len();
        if places > PLACES_MAX {
            return Err(refusal::too_many_places(subject(index), PLACES_MAX));
        }
        located.push(found);
    }
    refuse_overlaps(text, &located)?;
    Ok(Plan { splices: splices(text, edits, &located)?, matches: matches(text, &located) })
}

/// The text with the changes made.
pub fn apply(text: &str, splices: &[Splice]) -> String {
    let added: usize = splices.iter().map(|splice| splice.replacement.len()).sum();
    let mut result = String::with_capacity(text.len() + added);
    let mut at = 0;
    for splice in splices {
        result.push_str(&text[at..splice.range.start]);
        result.push_str(&splice.replacement);
        at = splice.range.end;
    }
    result.push_str(&text[at..]);
    result
}

fn refuse_overlaps(text: &str, located: &[Located]) -> Result<(), Refusal> {
    let mut places: Vec<(&Range<usize>, usize)> = located
        .iter()
        .enumerate()
        .flat_map(|(edit, located)| located.places.iter().map(move |place| (place, edit)))
        .collect();
    places.sort_unstable_by_key(|(place, edit)| (place.start, place.end, *edit));
    for pair in places.windows(2) {
        let ((first, first_edit), (second, second_edit)) = (pair[0], pair[1]);
        if second.start < first.end {
            let mut numbers = LineNumbers::new(text);
            let start = numbers.of(second.start);
            let end = numbers.of(last_byte(first.end.min(second.end), second.start));
            return Err(refusal::overlap(first_edit, second_edit, located.len(), (start, end)));
        }
    }
    Ok(())
}

fn splices(text: &str, edits: &[Edit], located: &[Located]) -> Result<Vec<Splice>, Refusal> {
    let mut splices = Vec::new();
    let mut bytes = 0;
    for (index, (edit, located)) in edits.iter().zip(located).enumerate() {
        let graft_to = |end| {
            let (old_text, new_text) = located.texts(edit, end);
            Graft::new(old_text, new_text, located.rule)
        };
        // Made once for all places; most edits need only the first.
        let graft = graft_to(End::Full);
        let graft_before_return = edit.old_text.ends_with('\r').then(|| graft_to(End::BeforeReturn));
        for place in &located.places {
            let graft = match located.end_of(text, edit, place) {
                End::Full => &graft,
                End::BeforeReturn => graft_before_return.as_ref().unwrap_or(&graft),
            };
            let changes = graft.at(text, place.clone(), located.shift.as_ref());
            bytes += changes.iter().map(|splice| splice.replacement.len()).sum::<usize>();
            if bytes > REPLACEMENT_BYTES_MAX {
                let subject = Subject { edit: index, of: edits.len() };
                return Err(refusal::too_large(subject, REPLACEMENT_BYTES_MAX));
            }
            splices.extend(changes.into_iter().map(|splice| (place, splice)));
        }
    }
    // By place and not by splice: two edits that touch may both insert where they do.
    splices.sort_by_key(|(place, _)| (place.start, place.end));
    Ok(splices.into_iter().map(|(_, splice)| splice).collect())
}

fn matches(text: &str, located: &[Located]) -> Vec<Matched> {
    let mut order: Vec<usize> = (0..located.len()).collect();
    order.sort_unstable_by_key(|edit| located[*edit].places[0].start);
    let mut numbers = LineNumbers::new(text);
    let mut matches: Vec<Matched> = order
        .into_iter()
        .map(|edit| {
            let Located { places, rule, .. } = &located[edit];
            // Of places that do not overlap, the one that starts first also ends first.
            let start_line = numbers.of(places[0].start);
            let end_line = numbers.of(last_byte(places[0].end, places[0].start));
            Matched { edit, start_line, end_line, rule: *rule, count: places.len() }
        })
        .collect();
    matches.sort_unstable_by_key(|matched| matched.edit);
    matches
}

/// A position on the last line of a range: a final line ending still belongs to the line it ends.
fn last_byte(end: usize, start: usize) -> usize {
    end.saturating_sub(1).max(start)
}
