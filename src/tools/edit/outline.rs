//! The lines of a file by what they say, made once for all edits of a call.
//!
//! Lines with one text, apart from leading and trailing blanks, have one number. Comparing blocks is
//! comparing numbers then, and what is to be known of a text is found out once, however often the file
//! repeats it.

use std::collections::HashMap;

use super::lines::{Line, count_endings, lines};

/// Number of a blank line.
pub(super) const BLANK: u32 = 0;

/// Leading blanks of a line and the rest of it without trailing blanks.
pub(super) fn split_indentation(content: &str) -> (&str, &str) {
    let text = content.trim_start_matches([' ', '\t']);
    (&content[..content.len() - text.len()], text.trim_end_matches([' ', '\t']))
}

/// See the module.
pub(super) struct Outline<'t> {
    text: &'t str,
    /// Where each line starts.
    starts: Vec<usize>,
    /// The number of each line.
    ids: Vec<u32>,
    known: HashMap<&'t str, u32>,
}

impl<'t> Outline<'t> {
    /// Reads the lines of a file.
    pub(super) fn new(text: &'t str) -> Outline<'t> {
        let line_count = count_endings(text.as_bytes()) + 1;
        let mut known = HashMap::from([("", BLANK)]);
        let mut starts = Vec::with_capacity(line_count);
        let mut ids = Vec::with_capacity(line_count);
        let mut at = 0;
        let mut last = ("", BLANK);
        for line in lines(text) {
            let content = split_indentation(line.content).1;
            // Files that repeat a line over and over are the largest ones in lines.
            if content != last.0 {
                let next = known.len() as u32;
                last = (content, *known.entry(content).or_insert(next));
            }
            starts.push(at);
            ids.push(last.1);
            at += line.len();
        }
        Outline { text, starts, ids, known }
    }

    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Where a line starts in the file.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts[line]
    }

    /// A line of the file, from 0.
    pub(super) fn line(&self, line: usize) -> Option<Line<'t>> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        lines(&self.text[start..end]).next()
    }

    /// The numbers of all lines in order.
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The number of lines that say the same as this one, if there are any.
    pub(super) fn id_of(&self, content: &str) -> Option<u32> {
        self.known.get(split_indentation(content).1).copied()
    }

    /// For each number, what a function makes of the text of its lines.
    pub(super) fn for_each_text<V: Clone>(&self, none: V, mut of: impl FnMut(&'t str) -> V) -> Vec<V> {
        let mut values = vec![none; self.known.len()];
        for (text, id) in &self.known {
            values[*id as usize] = of(text);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_say_the_same_have_one_number() {
        let outline = Outline::new("  a\nb\r\n\ta  \n \nb");
        assert_eq!(outline.ids(), [1, 2, 1, BLANK, 2]);
        assert_eq!(
            (outline.id_of(" b "), outline.id_of("\t"), outline.id_of("c")),
            (Some(2), Some(BLANK), None)
        );
        assert_eq!(outline.line(1), Some(Line { content: "b", ending: "\r\n" }));
        assert_eq!((outline.len(), outline.start(2), outline.line(5)), (5, 7, None));
        assert_eq!(outline.for_each_text(0, str::len), [0, 1, 1]);
    }
}
