//! What changed, as a numbered diff for people and models and as a unified diff for programs.
//!
//! Both are made from the splices: only the lines that a splice touches are compared, next to one
//! count of the file's lines. Lines are shown without their endings, so a file with `\r\n` has the same
//! diff as one with `\n`.
//!
//! Always true:
//! - Applying the unified diff to the old text with `\n` for every ending gives the new one.
//! - The limits bound lines and bytes; what is cut is said to be.
//!
//! Not here: writing the unified diff down (`patch`).

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Splice;
use super::lines::{Line, LineNumbers, line_end, line_start, lines};
use super::patch;

/// Unchanged lines shown before and after a change. Changes with at most twice as many lines between
/// them are shown as one.
const CONTEXT_LINES: usize = 4;

/// How much of a diff is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// Changed lines, old or new, whichever are more. A larger change has no diff.
    pub max_lines: usize,
    /// Bytes of either form, which is cut there.
    pub max_bytes: usize,
}

/// What changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// A line per changed line and its context: a sign, the line number, the text. Context has the
    /// number that it had before.
    pub diff: String,
    /// Unified diff with four lines of context.
    pub patch: String,
    /// First changed line, from 1, in the new text.
    pub first_changed_line: Option<usize>,
    /// Whether a limit was met.
    pub truncated: bool,
}

/// Makes the diff of a text and what [`apply`](super::apply) made of it.
pub fn diff(path: &str, old: &str, new: &str, splices: &[Splice], limits: &DiffLimits) -> Diff {
    let Some(script) = Script::new(old, new, splices, limits.max_lines) else {
        return Diff { truncated: true, ..Diff::default() };
    };
    let Some(first) = script.changes.first() else { return Diff::default() };
    let first_changed_line = Some(first.new_first + 1);
    let items = script.items();
    let (diff, is_diff_cut) = cut(numbered(&items, script.number_width()), limits.max_bytes);
    let (patch, is_patch_cut) = cut(patch::unified(path, &items), limits.max_bytes);
    Diff { diff, patch, first_changed_line, truncated: is_diff_cut || is_patch_cut }
}

fn cut(mut text: String, bytes_max: usize) -> (String, bool) {
    let is_long = text.len() > bytes_max;
    if is_long {
        text.truncate(text.floor_char_boundary(bytes_max));
    }
    (text, is_long)
}

/// A part of a diff in order.
pub(super) enum Item<'t> {
    /// Unchanged lines.
    Context(Context<'t>),
    /// Unchanged lines that are not shown.
    Gap,
    /// Changed lines.
    Change(Change<'t>),
}

/// Unchanged lines and where they begin, from 0, in both texts.
pub(super) struct Context<'t> {
    pub old_first: usize,
    pub new_first: usize,
    pub lines: Vec<Line<'t>>,
}

/// Lines that give way to others.
#[derive(Clone)]
pub(super) struct Change<'t> {
    /// First removed line, from 0.
    pub old_first: usize,
    /// First added line, from 0.
    pub new_first: usize,
    pub removed: Vec<Line<'t>>,
    pub added: Vec<Line<'t>>,
    /// Bytes of the removed lines in the old text.
    at: Range<usize>,
}

impl Change<'_> {
    fn old_end(&self) -> usize {
        self.old_first + self.removed.len()
    }

    fn new_end(&self) -> usize {
        self.new_first + self.added.len()
    }
}

/// All changes between two texts.
struct Script<'t> {
    old: &'t str,
    changes: Vec<Change<'t>>,
    old_endings: usize,
    /// New lines minus old lines.
    growth: isize,
}

impl<'t> Script<'t> {
    /// `None` if more lines change than allowed.
    fn new(old: &'t str, new: &'t str, splices: &[Splice], lines_max: usize) -> Option<Script<'t>> {
        let mut numbers = LineNumbers::new(old);
        let mut script = Script { old, changes: Vec::new(), old_endings: 0, growth: 0 };
        let mut lines_left = lines_max;
        for region in Regions::new(old, splices) {
            let old_first = numbers.of(region.old.start) - 1;
            let changes = Comparison {
                old: lines(&old[region.old.clone()]).collect(),
                new: lines(&new[region.new.clone()]).collect(),
                old_first,
                new_first: old_first.saturating_add_signed(script.growth),
                at: region.old.start,
            };
            script.growth += changes.new.len() as isize - changes.old.len() as isize;
            changes.run(lines_max, &mut script.changes, &mut lines_left)?;
        }
        script.old_endings = numbers.of(old.len()) - 1;
        Some(script)
    }

    /// Digits of the largest line number, counting an empty line after a final ending.
    fn number_width(&self) -> usize {
        let new_endings = self.old_endings.saturating_add_signed(self.growth);
        (self.old_endings.max(new_endings) + 1).to_string().len()
    }

    /// The changes with their context and what is left out between.
    fn items(&self) -> Vec<Item<'t>> {
        let mut items = Vec::new();
        let mut before: Option<&Change<'t>> = None;
        for change in &self.changes {
            let between = change.old_first - before.map_or(0, Change::old_end);
            match before {
                Some(before) if between <= 2 * CONTEXT_LINES => {
                    items.push(self.context_after(before, between))
                }
                _ => {
                    let shown = between.min(CONTEXT_LINES);
                    if let Some(before) = before {
                        items.push(self.context_after(before, CONTEXT_LINES));
                    }
                    if between > shown {
                        items.push(Item::Gap);
                    }
                    items.push(self.context_before(change, shown));
                }
            }
            items.push(Item::Change(change.clone()));
            before = Some(change);
        }
        if let Some(last) = before {
            let is_ended = self.old.is_empty() || self.old.ends_with(['\n', '\r']);
            let left = self.old_endings + usize::from(!is_ended) - last.old_end();
            items.push(self.context_after(last, CONTEXT_LINES));
            if left > CONTEXT_LINES {
                items.push(Item::Gap);
            }
        }
        items
    }

    fn context_after(&self, change: &Change<'t>, count: usize) -> Item<'t> {
        Item::Context(Context {
            old_first: change.old_end(),
            new_first: change.new_end(),
            lines: lines(&self.old[change.at.end..]).take(count).collect(),
        })
    }

    fn context_before(&self, change: &Change<'t>, count: usize) -> Item<'t> {
        let mut start = change.at.start;
        for _ in 0..count {
            let ending = if self.old[..start].ends_with("\r\n") { 2 } else { 1 };
            start = line_start(self.old, start - ending);
        }
        Item::Context(Context {
            old_first: change.old_first - count,
            new_first: change.new_first - count,
            lines: lines(&self.old[start..change.at.start]).collect(),
        })
    }
}

/// Whole lines that splices touch, in both texts.
struct Region {
    old: Range<usize>,
    new: Range<usize>,
}

/// Splices as regions that do not touch.
struct Regions<'s> {
    old: &'s str,
    splices: std::iter::Peekable<std::slice::Iter<'s, Splice>>,
    /// Bytes that the new text is longer, up to the region that comes next.
    growth: isize,
    /// Where the region before ends.
    done: usize,
}

impl<'s> Regions<'s> {
    fn new(old: &'s str, splices: &'s [Splice]) -> Regions<'s> {
        Regions { old, splices: splices.iter().peekable(), growth: 0, done: 0 }
    }

    fn start(&self, at: usize) -> usize {
        let start = line_start(self.old, at);
        // A `\n` put at the start of a line would become one ending with the lone `\r` before it.
        let start = if self.old[..start].ends_with('\r') { line_start(self.old, start - 1) } else { start };
        start.max(self.done)
    }
}

impl Iterator for Regions<'_> {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let first = self.splices.peek()?.range.start;
        let start = self.start(first);
        let new_start = start.saturating_add_signed(self.growth);
        let mut end = start;
        // Many splices may be on one long line: its end is looked for once.
        while let Some(splice) = self.splices.next_if(|splice| splice.range.start <= end || end == start) {
            self.growth += splice.replacement.len() as isize - splice.range.len() as isize;
            if splice.range.end >= end {
                end = line_end(self.old, splice.range.end);
            }
        }
        self.done = end;
        Some(Region { old: start..end, new: new_start..end.saturating_add_signed(self.growth) })
    }
}

/// The lines of one region.
struct Comparison<'t> {
    old: Vec<Line<'t>>,
    new: Vec<Line<'t>>,
    old_first: usize,
    new_first: usize,
    at: usize,
}

impl<'t> Comparison<'t> {
    /// Adds the changes. `None` if there are more than `lines_left`.
    fn run(&self, lines_max: usize, changes: &mut Vec<Change<'t>>, lines_left: &mut usize) -> Option<()> {
        let (old, new) = (&self.old, &self.new);
        let prefix = old.iter().zip(new).take_while(|(a, b)| is_same(a, b)).count();
        let (old, new) = (&old[prefix..], &new[prefix..]);
        let suffix = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| is_same(a, b)).count();
        let (old, new) = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
        if old.len().max(new.len()) > lines_max {
            // Comparing may take the product of both; what is larger than the limit as a whole has no
            // diff, even if lines in between should be the same.
            return None;
        }
        let (old, new) = ids(old, new);
        let mut at = self.at + bytes(&self.old[..prefix]);
        let mut done = 0;
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let old = op.old_range().start + prefix..op.old_range().end + prefix;
            let new = op.new_range().start + prefix..op.new_range().end + prefix;
            at += bytes(&self.old[done.max(prefix)..old.start]);
            let removed = bytes(&self.old[old.clone()]);
            *lines_left = lines_left.checked_sub(old.len().max(new.len()))?;
            changes.push(Change {
                old_first: self.old_first + old.start,
                new_first: self.new_first + new.start,
                removed: self.old[old.clone()].to_vec(),
                added: self.new[new].to_vec(),
                at: at..at + removed,
            });
            at += removed;
            done = old.end;
        }
        Some(())
    }
}

/// Whether two lines are the same in a diff. Of the ending only counts whether there is one.
fn is_same(a: &Line<'_>, b: &Line<'_>) -> bool {
    a.content == b.content && a.ending.is_empty() == b.ending.is_empty()
}

/// Numbers that are equal for lines that are the same.
fn ids<'t>(old: &[Line<'t>], new: &[Line<'t>]) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<(&'t str, bool), u32> = HashMap::new();
    let mut number = |line: &Line<'t>| {
        let next = known.len() as u32;
        *known.entry((line.content, line.ending.is_empty())).or_insert(next)
    };
    let old = old.iter().map(&mut number).collect();
    let new = new.iter().map(&mut number).collect();
    (old, new)
}

fn bytes(lines: &[Line<'_>]) -> usize {
    lines.iter().map(Line::len).sum()
}

/// The numbered form.
fn numbered(items: &[Item<'_>], width: usize) -> String {
    let mut shown = String::new();
    for item in items {
        match item {
            Item::Context(context) => show(&mut shown, ' ', width, context.old_first, &context.lines),
            Item::Change(change) => {
                show(&mut shown, '-', width, change.old_first, &change.removed);
                show(&mut shown, '+', width, change.new_first, &change.added);
            }
            Item::Gap => shown.push_str(&format!(" {:width$} ...\n", "")),
        }
    }
    shown.pop();
    shown
}

fn show(shown: &mut String, sign: char, width: usize, first: usize, lines: &[Line<'_>]) {
    for (line, number) in lines.iter().zip(first + 1..) {
        shown.push_str(&format!("{sign}{number:width$} {}\n", line.content));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::edit::apply;

    const LIMITS: DiffLimits = DiffLimits { max_lines: 2_000, max_bytes: 131_072 };

    /// Diff of replacing the only `from` by `to`.
    fn made(old: &str, pairs: &[(&str, &str)], limits: DiffLimits) -> Diff {
        let mut splices: Vec<Splice> = pairs
            .iter()
            .map(|(from, to)| {
                let start = old.find(from).unwrap();
                Splice { range: start..start + from.len(), replacement: to.to_string() }
            })
            .collect();
        splices.sort_by_key(|splice| splice.range.start);
        diff("/a.txt", old, &apply(old, &splices), &splices, &limits)
    }

    fn numbers(range: Range<usize>) -> String {
        range.map(|n| format!("l{n}\n")).collect()
    }

    #[test]
    fn lines_have_a_sign_a_number_and_their_text() {
        let made = made("a\nb\nc\n", &[("b", "B")], LIMITS);
        assert_eq!(made.diff, " 1 a\n-2 b\n+2 B\n 3 c");
        assert_eq!(made.first_changed_line, Some(2));
        assert_eq!(
            made.patch,
            "Index: /a.txt\n===================================================================\n\
             --- /a.txt\n+++ /a.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
        );
    }

    #[test]
    fn gaps_stand_for_what_is_not_shown() {
        let old = numbers(1..31);
        let made = made(&old, &[("l10\n", "x\n"), ("l25\n", "")], LIMITS);
        assert_eq!(
            made.diff,
            "    ...\n  6 l6\n  7 l7\n  8 l8\n  9 l9\n-10 l10\n+10 x\n 11 l11\n 12 l12\n 13 l13\n 14 l14\n    ...\n \
             21 l21\n 22 l22\n 23 l23\n 24 l24\n-25 l25\n 26 l26\n 27 l27\n 28 l28\n 29 l29\n    ..."
        );
        assert!(
            made.patch.contains("@@ -6,9 +6,9 @@\n l6\n") && made.patch.contains("@@ -21,9 +21,8 @@\n l21\n")
        );
    }

    #[test]
    fn near_changes_share_their_context() {
        let old = numbers(1..31);
        let near = made(&old, &[("l10\n", "x\n"), ("l19\n", "y\n")], LIMITS);
        assert_eq!(near.patch.matches("@@ -").count(), 1);
        assert_eq!(near.diff.matches("...").count(), 2);
        let far = made(&old, &[("l10\n", "x\n"), ("l20\n", "y\n")], LIMITS);
        assert_eq!(far.patch.matches("@@ -").count(), 2);
        assert_eq!(far.diff.matches("...").count(), 3);
    }

    #[test]
    fn edges_of_the_file() {
        for (old, pairs, want_diff, want_hunk) in [
            (
                "a\nb",
                [("b", "c")],
                " 1 a\n-2 b\n+2 c",
                "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
            ),
            (
                "a\nb",
                [("b", "b\n")],
                " 1 a\n-2 b\n+2 b",
                "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
            ),
            ("a", [("a", "")], "-1 a", "@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"),
            ("a\r\nb\r\n", [("b", "c")], " 1 a\n-2 b\n+2 c", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
            (
                "a\nb",
                [("a", "x")],
                "-1 a\n+1 x\n 2 b",
                "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n",
            ),
        ] {
            let made = made(old, &pairs, LIMITS);
            assert_eq!(made.diff, want_diff, "{old:?}");
            assert_eq!(made.patch.split_once("+++ /a.txt\n").unwrap().1, want_hunk, "{old:?}");
        }
        let splices = [Splice { range: 0..0, replacement: "a\n".into() }];
        let made = diff("/a.txt", "", "a\n", &splices, &LIMITS);
        assert_eq!(made.diff, "+1 a");
        assert!(made.patch.ends_with("@@ -0,0 +1,1 @@\n+a\n"));
        assert_eq!(diff("/a.txt", "a", "a", &[], &LIMITS), Diff::default());
    }

    #[test]
    fn limits_hold() {
        let old = numbers(0..3000);
        let all = [(old.as_str(), "x\n")];
        let large = made(&old, &all, LIMITS);
        assert_eq!(large, Diff { truncated: true, ..Diff::default() });
        let cut = made("é\nb\n", &[("b", "c")], DiffLimits { max_lines: 10, max_bytes: 4 });
        assert!(cut.truncated);
        assert_eq!(cut.diff, " 1 ");
    }
}
