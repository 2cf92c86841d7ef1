//! Why an edit is not made, in words for a model. The only place that words refusals.

use super::places::Many;
use super::{Edit, Nearest, Refusal, Rule};

/// The arguments are wrong in themselves.
const INVALID: &str = "EINVAL";
/// The text is not in the file.
const NO_MATCH: &str = "ENOMATCH";
/// The text is in the file more than once.
const AMBIGUOUS: &str = "EAMBIGUOUS";
/// The result would be too large.
const TOO_LARGE: &str = "EFBIG";

/// An edit of a call, as the model knows it.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    /// Its index.
    pub edit: usize,
    /// How many edits the call has.
    pub of: usize,
}

impl Subject {
    /// The name of its argument. The index is only said where there is a choice.
    fn argument(self, name: &str) -> String {
        if self.of == 1 { name.to_owned() } else { format!("edits[{}].{name}", self.edit) }
    }

    fn old_text(self) -> String {
        self.argument("oldText")
    }

    fn refuse(self, code: &'static str, error: String) -> Refusal {
        Refusal { code, error, edit: Some(self.edit), lines: Vec::new(), nearest: None }
    }
}

/// There is nothing to do.
pub(super) fn no_edits() -> Refusal {
    let error = "edits is empty. Give at least one edit with oldText and newText.".to_owned();
    Refusal { code: INVALID, error, edit: None, lines: Vec::new(), nearest: None }
}

/// An edit names no text.
pub(super) fn empty_old_text(subject: Subject) -> Refusal {
    let error = format!(
        "{} is empty, so it names no place. To make a new file or to fill an empty one use write; to insert, \
         give the text next to the place and repeat it in newText.",
        subject.old_text()
    );
    subject.refuse(INVALID, error)
}

/// An edit names several places.
pub(super) fn ambiguous(
    subject: Subject,
    edit: &Edit,
    rule: Rule,
    many: &Many,
    lines: Vec<usize>,
) -> Refusal {
    let count = if many.is_capped { format!("{} or more", many.count) } else { many.count.to_string() };
    let mut lines = lines;
    lines.dedup();
    let listed = join_numbers(&lines);
    let more = if many.count > lines.len() || many.is_capped { " and more" } else { "" };
    let ignoring = match rule {
        Rule::Exact => "",
        Rule::LineEndings => " if line endings are ignored",
        Rule::Loose => " if typographic quotes, dashes, spaces and trailing blanks are ignored",
        Rule::Indentation => " if indentation is ignored",
    };
    let advice = if edit.replace_all {
        "replaceAll needs the text exactly as it is in the file: copy it from there."
    } else if matches!(rule, Rule::Exact | Rule::LineEndings) {
        "Add surrounding lines until it names one place, or set replaceAll to change all of them."
    } else {
        "Add surrounding lines until it names one place; replaceAll works only with the text exactly as it is \
         in the file."
    };
    let error = format!(
        "{} is in the file at {count} places{ignoring}, starting on {} {listed}{more}. {advice}",
        subject.old_text(),
        if lines.len() == 1 { "line" } else { "lines" },
    );
    Refusal { lines, ..subject.refuse(AMBIGUOUS, error) }
}

/// An edit names no place.
pub(super) fn no_match(subject: Subject, nearest: Option<Nearest>) -> Refusal {
    let what = format!("{} was not found in the file.", subject.old_text());
    let error = match &nearest {
        Some(near) if near.start_line == near.end_line => format!(
            "{what} The nearest text is at line {}; {}. Read the file again or copy the text exactly.",
            near.start_line, near.difference
        ),
        Some(near) => format!(
            "{what} The nearest text is at lines {}-{}; {}. Read the file again or copy the text exactly.",
            near.start_line, near.end_line, near.difference
        ),
        None => {
            format!("{what} Nothing similar was found either. Read the file again: it may be another one.")
        }
    };
    Refusal { nearest, ..subject.refuse(NO_MATCH, error) }
}

/// Two edits change the same bytes.
pub(super) fn overlap(first: usize, second: usize, of: usize, lines: (usize, usize)) -> Refusal {
    let (first, second) = (first.min(second), first.max(second));
    let on = if lines.0 == lines.1 {
        format!("line {}", lines.0)
    } else {
        format!("lines {}-{}", lines.0, lines.1)
    };
    let error = format!(
        "edits[{first}] and edits[{second}] change the same text, on {on}. All edits are matched against the \
         file as it was; merge these two into one."
    );
    let subject = Subject { edit: second, of };
    Refusal { lines: vec![lines.0], ..subject.refuse(INVALID, error) }
}

/// The edits make the file grow beyond the limit.
pub(super) fn too_large(subject: Subject, limit: usize) -> Refusal {
    let error = format!(
        "{} would be put in so many places that the edits add more than {limit} bytes. Use fewer places or a \
         shorter text.",
        subject.argument("newText")
    );
    subject.refuse(TOO_LARGE, error)
}

/// There are more edits than one call may have.
pub(super) fn too_many_edits(count: usize, limit: usize) -> Refusal {
    let error = format!("edits has {count} items and may have at most {limit}. Make several calls of it.");
    Refusal { code: INVALID, error, edit: None, lines: Vec::new(), nearest: None }
}

/// The edits have more places than can be held.
pub(super) fn too_many_places(subject: Subject, limit: usize) -> Refusal {
    let error = format!(
        "with {}, the edits are in more than {limit} places. Make several calls of it, or write the file anew.",
        subject.old_text()
    );
    subject.refuse(TOO_LARGE, error)
}

fn join_numbers(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
