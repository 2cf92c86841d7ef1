//! How two lines differ, in words: what cannot be seen is called by its name.
//!
//! Not here: which lines are compared (`nearest`).

use unicode_normalization::UnicodeNormalization;

use super::escapes;
use super::outline::split_indentation;
use super::view::fold_char;

/// Bytes of a line that are looked at. What differs later is not named.
const LINE_BYTES_MAX: usize = 4_096;

/// Characters shown of either line from where they differ, and before it.
const SHOWN_AFTER: usize = 40;
const SHOWN_BEFORE: usize = 20;

/// Bytes that a part of a line must have in common with the file to be laid over it, and that count.
const ALIGNED_BYTES_MIN: usize = 4;
const ALIGNED_BYTES_MAX: usize = 64;

/// Remarks on one line.
const REMARKS_MAX: usize = 4;

/// Which parts of a line of the old text must be there: its first line may begin, and its last may
/// end, in the middle of a line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Whether it begins the line.
    pub from_start: bool,
    /// Whether it ends the line.
    pub to_end: bool,
}

/// How a line of the file differs from one of the old text.
pub(super) fn describe(file: &str, old: &str, part: Part) -> String {
    let is_long = file.len().max(old.len()) > LINE_BYTES_MAX;
    let (file, old) = (start_of(file), start_of(old));
    let ((file_indent, file_text), (old_indent, old_text)) =
        (split_indentation(file), split_indentation(old));
    let file_text = if part.from_start { file_text } else { aligned(file_text, old_text) };
    let whole_bytes = file_text.len();
    let file_text = if part.to_end { file_text } else { cut_to(file_text, old_text) };
    let goes_on = file_text.len() < whole_bytes;

    let mut remarks = Vec::new();
    // What begins in the middle of a line may begin in the middle of its indentation.
    if file_indent != old_indent && (part.from_start || !file_indent.ends_with(old_indent)) {
        let (in_file, in_old) = (blanks(file_indent), blanks(old_indent));
        remarks.push(format!("the line is indented by {in_file} in the file, by {in_old} in oldText"));
    }
    if file_text != old_text {
        describe_texts(file_text, goes_on, old_text, &mut remarks);
    }
    let (file_tail, old_tail) = (trailing(file), trailing(old));
    if part.to_end && file_tail != old_tail {
        let (in_file, in_old) = (blanks(file_tail), blanks(old_tail));
        remarks.push(format!("the line ends with {in_file} in the file, with {in_old} in oldText"));
    }
    if remarks.is_empty() && is_long {
        remarks.push(format!("it differs somewhere after the first {LINE_BYTES_MAX} bytes of the line"));
    }
    if remarks.is_empty() {
        remarks
            .push("a letter and its accent, or a character and its parts, may not be separated".to_owned());
    }
    remarks.truncate(REMARKS_MAX);
    remarks.join("; ")
}

/// What differs between two texts without blanks around them. The line of the file may go on.
fn describe_texts(file: &str, goes_on: bool, old: &str, remarks: &mut Vec<String>) {
    if file.nfc().eq(old.nfc()) {
        let at = common_start(file, old, |a, b| a == b);
        remarks.push(format!(
            "the same text in different Unicode forms (NFC, NFD): {} in the file, {} in oldText",
            code_points(&file[at..]),
            code_points(&old[at..])
        ));
        return;
    }
    let at = common_start(file, old, |a, b| fold_char(a) == fold_char(b));
    remarks.extend(lookalikes(file, old));
    // Alike characters may differ in length, so the other text is cut by the number of characters.
    let count = file[..at].chars().count();
    let old_at = old.char_indices().nth(count).map_or(old.len(), |(at, _)| at);
    let (file_rest, old_rest) = (&file[at..], &old[old_at..]);
    if file_rest.is_empty() && old_rest.is_empty() {
        return;
    }
    let mut before: String =
        file[..at].chars().rev().take(SHOWN_BEFORE).collect::<Vec<_>>().into_iter().rev().collect();
    let is_start = count <= SHOWN_BEFORE;
    if !is_start {
        before.insert(0, '…');
    }
    remarks.push(format!(
        "the file has {}, oldText has {}",
        shown(&before, file_rest, goes_on),
        shown(&before, old_rest, false)
    ));
    if let Some(escape) = escapes::first_in(file_rest, old_rest) {
        remarks.push(escape);
    } else if file.to_lowercase() == old.to_lowercase() {
        remarks.push("only letter case differs".to_owned());
    } else {
        remarks.extend(named(file_rest, "the file"));
        remarks.extend(named(old_rest, "oldText"));
    }
}

/// Names a character that cannot be seen or told apart.
fn named(rest: &str, whose: &str) -> Option<String> {
    // A blank next to something else is seen.
    let c = rest.chars().next().filter(|c| *c != ' ')?;
    name(c).map(|name| format!("{whose} has U+{:04X} {name} there", c as u32))
}

/// The first two characters that the loose rule takes for one another.
fn lookalikes(file: &str, old: &str) -> Option<String> {
    let (a, b) = file
        .chars()
        .zip(old.chars())
        .take_while(|(a, b)| fold_char(*a) == fold_char(*b))
        .find(|(a, b)| a != b)?;
    let code = |c: char| format!("U+{:04X} {}", c as u32, name(c).unwrap_or("CHARACTER"));
    Some(format!("the file has {} where oldText has {}", code(a), code(b)))
}

/// Bytes of the first text up to the first pair of characters that is not alike.
fn common_start(a: &str, b: &str, is_alike: impl Fn(char, char) -> bool) -> usize {
    a.char_indices().zip(b.chars()).find(|((_, a), b)| !is_alike(*a, *b)).map_or_else(
        || a.char_indices().nth(b.chars().count()).map_or(a.len(), |(at, _)| at),
        |((at, _), _)| at,
    )
}

/// The part of a line of the file that a part of a line is best compared with: from where it has the
/// longest start of it, or all of it if that is next to nothing.
fn aligned<'f>(file: &'f str, old: &str) -> &'f str {
    (ALIGNED_BYTES_MIN..=old.len().min(ALIGNED_BYTES_MAX))
        .rev()
        .filter_map(|length| old.get(..length))
        .find_map(|start| file.find(start))
        .map_or(file, |at| &file[at..])
}

/// A line of the file without what comes after as many characters as the old one has.
fn cut_to<'f>(file: &'f str, old: &str) -> &'f str {
    file.char_indices().nth(old.chars().count().max(1)).map_or(file, |(at, _)| &file[..at])
}

fn start_of(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

fn trailing(line: &str) -> &str {
    &line[line.trim_end_matches([' ', '\t']).len()..]
}

/// An excerpt: some characters before the difference and what comes there.
fn shown(before: &str, rest: &str, goes_on: bool) -> String {
    let after: String = rest.chars().take(SHOWN_AFTER).collect();
    let more = if after.len() < rest.len() || goes_on { "…" } else { "" };
    if before.is_empty() && rest.is_empty() {
        "nothing".to_owned()
    } else {
        format!("`{before}{after}`{more}")
    }
}

fn code_points(text: &str) -> String {
    text.chars().take(2).map(|c| format!("U+{:04X}", c as u32)).collect::<Vec<_>>().join(" ")
}

/// Blanks by kind and number, in order.
fn blanks(text: &str) -> String {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for c in text.chars() {
        match runs.last_mut() {
            Some((last, count)) if *last == c => *count += 1,
            _ => runs.push((c, 1)),
        }
    }
    if runs.is_empty() {
        return "nothing".to_owned();
    }
    let is_long = runs.len() > 4;
    runs.truncate(4);
    let kinds: Vec<String> = runs
        .iter()
        .map(|(c, count)| {
            let kind = if *c == '\t' { "tab" } else { "space" };
            format!("{count} {kind}{}", if *count == 1 { "" } else { "s" })
        })
        .collect();
    kinds.join(" and ") + if is_long { " and so on" } else { "" }
}

/// The Unicode names of what is easily taken for something else.
fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\t' => "TAB",
        '\r' => "CARRIAGE RETURN",
        '"' => "QUOTATION MARK",
        '\'' => "APOSTROPHE",
        '`' => "GRAVE ACCENT",
        '-' => "HYPHEN-MINUS",
        ' ' => "SPACE",
        '\u{00A0}' => "NO-BREAK SPACE",
        '\u{00AD}' => "SOFT HYPHEN",
        '\u{00B4}' => "ACUTE ACCENT",
        '\u{2002}' => "EN SPACE",
        '\u{2003}' => "EM SPACE",
        '\u{2004}'..='\u{2006}' | '\u{2008}'..='\u{200A}' => "NARROW SPACE",
        '\u{2007}' => "FIGURE SPACE",
        '\u{200B}' => "ZERO WIDTH SPACE",
        '\u{200C}' => "ZERO WIDTH NON-JOINER",
        '\u{200D}' => "ZERO WIDTH JOINER",
        '\u{200E}' => "LEFT-TO-RIGHT MARK",
        '\u{200F}' => "RIGHT-TO-LEFT MARK",
        '\u{2010}' => "HYPHEN",
        '\u{2011}' => "NON-BREAKING HYPHEN",
        '\u{2012}' => "FIGURE DASH",
        '\u{2013}' => "EN DASH",
        '\u{2014}' => "EM DASH",
        '\u{2015}' => "HORIZONTAL BAR",
        '\u{2018}' => "LEFT SINGLE QUOTATION MARK",
        '\u{2019}' => "RIGHT SINGLE QUOTATION MARK",
        '\u{201A}' => "SINGLE LOW-9 QUOTATION MARK",
        '\u{201B}' => "SINGLE HIGH-REVERSED-9 QUOTATION MARK",
        '\u{201C}' => "LEFT DOUBLE QUOTATION MARK",
        '\u{201D}' => "RIGHT DOUBLE QUOTATION MARK",
        '\u{201E}' => "DOUBLE LOW-9 QUOTATION MARK",
        '\u{201F}' => "DOUBLE HIGH-REVERSED-9 QUOTATION MARK",
        '\u{2028}' => "LINE SEPARATOR",
        '\u{2029}' => "PARAGRAPH SEPARATOR",
        '\u{202F}' => "NARROW NO-BREAK SPACE",
        '\u{205F}' => "MEDIUM MATHEMATICAL SPACE",
        '\u{2060}' => "WORD JOINER",
        '\u{2212}' => "MINUS SIGN",
        '\u{3000}' => "IDEOGRAPHIC SPACE",
        '\u{FEFF}' => "ZERO WIDTH NO-BREAK SPACE",
        '\u{FFFD}' => "REPLACEMENT CHARACTER",
        '\u{0300}'..='\u{036F}' => "COMBINING MARK",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Part = Part { from_start: true, to_end: true };

    #[test]
    fn what_cannot_be_seen_is_named() {
        for (file, old, want) in [
            ("\tx", "    x", "indented by 1 tab in the file, by 4 spaces in oldText"),
            ("\t  x", "x", "indented by 1 tab and 2 spaces in the file, by nothing in oldText"),
            ("x  y", "x z", "the file has `x  y`, oldText has `x z`"),
            ("x  ", "y", "ends with 2 spaces in the file, with nothing in oldText"),
            (
                "it’s a",
                "it's b",
                "the file has U+2019 RIGHT SINGLE QUOTATION MARK where oldText has U+0027 APOSTROPHE",
            ),
            ("a–b", "a-c", "U+2013 EN DASH where oldText has U+002D HYPHEN-MINUS"),
            ("a\u{200b}b", "ab", "the file has U+200B ZERO WIDTH SPACE there"),
            ("ab", "a\u{feff}b", "oldText has U+FEFF ZERO WIDTH NO-BREAK SPACE there"),
            ("e\u{301}", "é", "(NFC, NFD): U+0065 U+0301 in the file, U+00E9 in oldText"),
            ("Hello", "hello", "only letter case differs"),
            ("a = \"x\"", "a = \\\"x\\\"", "oldText has the escape `\\\"` where the file has `\"`"),
            ("a < b", "a &lt; b", "oldText has the escape `&lt;` where the file has `<`"),
            ("caf\\u00e9", "café", "the file has the escape `\\u00e9` where oldText has the character"),
            ("p(\"a\\nb\")", "p(\"a", "the file has the escape `\\n` where oldText has a line break"),
            ("let x = 1;", "let x = 2;", "the file has `let x = 1;`, oldText has `let x = 2;`"),
            ("", "a", "the file has nothing, oldText has `a`"),
        ] {
            let text = describe(file, old, WHOLE);
            assert!(text.contains(want), "{file:?} {old:?}: {text}");
        }
    }

    #[test]
    fn a_part_of_a_line_is_compared_where_it_starts_alike() {
        let text = describe("if (ready) { go(1); }", "{ go(2); }", Part { from_start: false, to_end: true });
        assert_eq!(text, "the file has `{ go(1); }`, oldText has `{ go(2); }`");
    }
}
