//! A diff in the unified form, as `diff -u` and version control write it.

use super::diff::Item;
use super::lines::Line;

/// What follows a last line without an ending.
const NO_NEWLINE: &str = "\\ No newline at end of file\n";

/// Writes the items as hunks under a header.
pub(super) fn unified(path: &str, items: &[Item<'_>]) -> String {
    let mut patch = format!("Index: {path}\n{}\n--- {path}\n+++ {path}\n", "=".repeat(67));
    for group in items.split(|item| matches!(item, Item::Gap)).filter(|group| !group.is_empty()) {
        Hunk::new(group).write(&mut patch);
    }
    patch
}

/// Items with no gap between them.
struct Hunk<'i, 't> {
    items: &'i [Item<'t>],
    old: Span,
    new: Span,
}

/// Lines of one text.
struct Span {
    first: usize,
    count: usize,
}

impl<'i, 't> Hunk<'i, 't> {
    fn new(items: &'i [Item<'t>]) -> Hunk<'i, 't> {
        let mut old = Span { first: usize::MAX, count: 0 };
        let mut new = Span { first: usize::MAX, count: 0 };
        for item in items {
            let (old_first, old_count, new_first, new_count) = match item {
                Item::Context(context) => {
                    (context.old_first, context.lines.len(), context.new_first, context.lines.len())
                }
                Item::Change(change) => {
                    (change.old_first, change.removed.len(), change.new_first, change.added.len())
                }
                Item::Gap => continue,
            };
            old.extend(old_first, old_count);
            new.extend(new_first, new_count);
        }
        Hunk { items, old, new }
    }

    fn write(&self, patch: &mut String) {
        patch.push_str(&format!("@@ -{} +{} @@\n", self.old.header(), self.new.header()));
        for item in self.items {
            match item {
                Item::Context(context) => write_lines(patch, ' ', &context.lines),
                Item::Change(change) => {
                    write_lines(patch, '-', &change.removed);
                    write_lines(patch, '+', &change.added);
                }
                Item::Gap => {}
            }
        }
    }
}

impl Span {
    fn extend(&mut self, first: usize, count: usize) {
        self.first = self.first.min(first);
        self.count += count;
    }

    /// Lines are counted from 1, but an empty span names the line before it.
    fn header(&self) -> String {
        let first = self.first + usize::from(self.count > 0);
        format!("{first},{}", self.count)
    }
}

fn write_lines(patch: &mut String, sign: char, lines: &[Line<'_>]) {
    for line in lines {
        patch.push(sign);
        patch.push_str(line.content);
        patch.push('\n');
        if line.ending.is_empty() {
            patch.push_str(NO_NEWLINE);
        }
    }
}
