//! The part of a file that is most like a text that is not in it.
//!
//! Lines that both have, apart from blanks and typography, vote for where the text would begin; rare
//! lines decide, as common ones (`}`) are everywhere. The best places are compared line by line. If no
//! line is the same, the line of the file that shares most pairs of bytes with one of the text is taken.
//!
//! Always true:
//! - One walk over the file for each step, and budgets for all that is more.
//! - [`Nearest`] is at most [`NEAREST_BYTES_MAX`] long.
//! - It is a hint. Nothing is changed because of it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::Nearest;
use super::difference::{Part, describe};
use super::escapes;
use super::lines::{count_endings, lines};
use super::outline::Outline;
use super::view::fold;

/// Bytes of text and difference together.
pub(super) const NEAREST_BYTES_MAX: usize = 2_048;

/// Bytes of the difference.
const DIFFERENCE_BYTES_MAX: usize = 768;

/// Bytes shown of one line.
const LINE_BYTES_MAX: usize = 240;

/// Lines shown before the one that differs first, if the whole does not fit.
const LEAD_LINES: usize = 3;

/// Votes counted. A vote is one entry of a hash map.
const VOTES_MAX: usize = 200_000;

/// Places that are compared line by line, and lines of each.
const CANDIDATES_MAX: usize = 16;
const COMPARED_LINES_MAX: usize = 300;

/// Bytes of a line that are compared with another.
const COMPARED_BYTES_MAX: usize = 128;

/// Bytes of a line that count for whether two are the same.
const KEY_BYTES_MAX: usize = 1_024;

/// Bytes of a line in which a difference is looked for.
const MATCHED_BYTES_MAX: usize = 16_384;

/// Lines of the text that are looked for if no line is the same, the longest first.
const PROBES_MAX: usize = 4;

/// The least likeness, of 1, of places with and without equal lines.
const VOTED_LIKENESS_MIN: f32 = 0.35;
const PROBED_LIKENESS_MIN: f32 = 0.5;

/// What a line before the first mistake counts more.
const LEADING_BONUS: f32 = 0.25;

/// The most that the length of a line, in bytes, makes it count.
const WEIGHT_MAX: usize = 40;

/// Marks what is left out.
const CUT: &str = "(cut)";

/// Finds what is most like `old_text`, if anything is.
pub(super) fn nearest(text: &str, file: &Outline<'_>, old_text: &str) -> Option<Nearest> {
    if let Some(found) = escapes::find(text, old_text) {
        let first = count_endings(&text.as_bytes()[..found.range.start]);
        let count = lines(&text[found.range]).count().max(1);
        return Some(render(file, first..first + count, first, found.difference));
    }
    let old: Vec<&str> = lines(old_text).map(|line| line.content).collect();
    let window = Window::by_equal_lines(file, &old).or_else(|| Window::by_likeness(file, &old))?;
    let (first, difference) = window.first_difference(old_text.ends_with(['\n', '\r']));
    Some(render(file, window.range(), first, difference))
}

/// Old text laid over the file.
struct Window<'w, 't> {
    file: &'w Outline<'t>,
    old: &'w [&'w str],
    /// Line of the file under the first line of the old text. May be before the file.
    start: isize,
}

impl<'w, 't> Window<'w, 't> {
    fn by_equal_lines(file: &'w Outline<'t>, old: &'w [&'w str]) -> Option<Window<'w, 't>> {
        let votes = votes(file, old);
        let mut starts: Vec<(isize, u32)> = votes.into_iter().collect();
        // Of equals the first in the file, and none that begins before it.
        let order = |vote: &(isize, u32)| (Reverse(vote.1), vote.0 < 0, vote.0.abs());
        if starts.len() > CANDIDATES_MAX {
            starts.select_nth_unstable_by_key(CANDIDATES_MAX, order);
            starts.truncate(CANDIDATES_MAX);
        }
        starts.sort_unstable_by_key(order);
        let mut best: Option<(f32, Window<'w, 't>)> = None;
        for (start, _) in starts {
            let window = Window { file, old, start };
            let likeness = window.likeness();
            if likeness >= VOTED_LIKENESS_MIN && best.as_ref().is_none_or(|(most, _)| likeness > *most) {
                best = Some((likeness, window));
            }
        }
        best.map(|(_, window)| window)
    }

    fn by_likeness(file: &'w Outline<'t>, old: &'w [&'w str]) -> Option<Window<'w, 't>> {
        let mut longest: Vec<usize> = (0..old.len()).filter(|line| !old[*line].trim().is_empty()).collect();
        longest.sort_by_key(|line| Reverse(old[*line].len()));
        longest.truncate(PROBES_MAX);
        let mut best = (PROBED_LIKENESS_MIN, None);
        for probed in longest {
            let Some(mut probe) = Probe::new(old[probed]) else { continue };
            let likenesses = file.for_each_text(0.0, |text| probe.likeness(text));
            for (number, id) in file.ids().iter().enumerate() {
                let likeness = likenesses[*id as usize];
                if likeness > best.0 {
                    best = (likeness, Some(number as isize - probed as isize));
                }
            }
        }
        best.1.map(|start| Window { file, old, start })
    }

    /// The line of the file under a line of the old text.
    fn under(&self, line: usize) -> Option<&'t str> {
        let number = usize::try_from(self.start + line as isize).ok()?;
        self.file.line(number).map(|line| line.content)
    }

    fn range(&self) -> Range<usize> {
        let end = (self.start + self.old.len() as isize).clamp(1, self.file.len() as isize) as usize;
        let start = self.start.max(0) as usize;
        start.min(end - 1)..end
    }

    /// Mean likeness of corresponding lines that are not blank. Long lines count more, as a `}` is like
    /// many others; and so do those before the first mistake, since after a line too many or too few all
    /// others are out of step.
    fn likeness(&self) -> f32 {
        let mut sum = 0.0;
        let mut weights = 0.0;
        let mut is_right_so_far = true;
        for (line, old) in self.old.iter().enumerate().take(COMPARED_LINES_MAX) {
            if old.trim().is_empty() {
                continue;
            }
            let weight = old.trim().len().min(WEIGHT_MAX) as f32;
            weights += weight;
            let likeness = self.under(line).map_or(0.0, |file| likeness(file.trim(), old.trim()));
            is_right_so_far &= likeness == 1.0;
            sum += weight * if is_right_so_far { 1.0 + LEADING_BONUS } else { likeness };
        }
        if weights == 0.0 { 0.0 } else { sum / weights }
    }

    /// The line of the file, from 0, that keeps the old text from matching, and why.
    fn first_difference(&self, ends_with_break: bool) -> (usize, String) {
        let last = self.old.len() - 1;
        for (line, old) in self.old.iter().enumerate() {
            let part = Part { from_start: line > 0, to_end: line < last || ends_with_break };
            let number = (self.start + line as isize).max(0) as usize;
            let Some(file) = self.under(line) else {
                let (side, count) = if self.start + (line as isize) < 0 {
                    ("before the start", self.start.unsigned_abs())
                } else {
                    ("after the end", self.old.len() - line)
                };
                let shown = number.min(self.file.len() - 1);
                let difference =
                    format!("oldText has {count} more {} {side} of the file", plural(count, "line"));
                return (shown, difference);
            };
            if !is_match(file, old, part) {
                let difference =
                    format!("it differs first in line {}: {}", number + 1, describe(file, old, part));
                return (number, difference);
            }
        }
        let end = self.range().end;
        let is_cut_off =
            ends_with_break && self.file.line(end - 1).is_some_and(|line| line.ending.is_empty());
        let difference = if is_cut_off {
            "oldText ends with a line break, which the last line of the file does not have".to_owned()
        } else if self.old.iter().any(|line| line.len() > MATCHED_BYTES_MAX) {
            format!("it differs after the first {MATCHED_BYTES_MAX} bytes of a line")
        } else {
            "it differs only in part of a character (a letter without its accent, half a ligature)".to_owned()
        };
        (end - 1, difference)
    }
}

/// Whether a line is no obstacle to a loose match.
fn is_match(file: &str, old: &str, part: Part) -> bool {
    let start = |line: &str| fold(&line[..line.floor_char_boundary(MATCHED_BYTES_MAX)]);
    let (file, old) = (start(file), start(old));
    let file = file.trim_end();
    let old = if part.to_end { old.trim_end() } else { old.as_str() };
    match (part.from_start, part.to_end) {
        (true, true) => file == old,
        (true, false) => file.starts_with(old),
        (false, true) => file.ends_with(old),
        (false, false) => file.contains(old),
    }
}

/// For every line of the file where the old text could begin, how many of its lines say so.
fn votes(file: &Outline<'_>, old: &[&str]) -> HashMap<isize, u32> {
    let mut indexes: HashMap<u64, usize> = HashMap::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    for (line, content) in old.iter().enumerate() {
        if let Some(key) = key(content) {
            let index = *indexes.entry(key).or_insert(wanted.len());
            if index == wanted.len() {
                wanted.push(Wanted::default());
            }
            wanted[index].lines.push(line);
        }
    }
    let index_of = file.for_each_text(None, |text| key(text).and_then(|key| indexes.get(&key).copied()));
    for index in file.ids().iter().filter_map(|id| index_of[*id as usize]) {
        wanted[index].count += 1;
    }
    let limit = rarity_limit(&wanted);
    let mut votes = HashMap::new();
    let mut left = VOTES_MAX;
    for (number, id) in file.ids().iter().enumerate() {
        let Some(wanted) = index_of[*id as usize].map(|index| &wanted[index]) else { continue };
        if wanted.votes() > limit {
            continue;
        }
        for line in wanted.lines.iter().take(left) {
            *votes.entry(number as isize - *line as isize).or_insert(0) += 1;
        }
        left = left.saturating_sub(wanted.lines.len());
        if left == 0 {
            break;
        }
    }
    votes
}

/// Lines of the old text that are the same, and how many such lines the file has.
#[derive(Default)]
struct Wanted {
    lines: Vec<usize>,
    count: usize,
}

impl Wanted {
    fn votes(&self) -> usize {
        self.lines.len().saturating_mul(self.count)
    }
}

/// The most votes that a line may have for those of all rarer ones to fit the budget. If even the
/// rarest does not fit, every line votes until the budget is used up.
fn rarity_limit(wanted: &[Wanted]) -> usize {
    let mut votes: Vec<usize> = wanted.iter().map(Wanted::votes).filter(|votes| *votes > 0).collect();
    votes.sort_unstable();
    let mut sum = 0_usize;
    let fitting = votes.iter().take_while(|votes| {
        sum = sum.saturating_add(**votes);
        sum <= VOTES_MAX
    });
    fitting.last().copied().unwrap_or(usize::MAX)
}

/// A number for what a line says, whatever its blanks and typography; `None` for a blank line.
/// Different lines with one number only make the hint worse.
fn key(content: &str) -> Option<u64> {
    let content = content.trim();
    let content = &content[..content.floor_char_boundary(KEY_BYTES_MAX)];
    let folded;
    let content = if content.is_ascii() {
        content
    } else {
        folded = fold(content);
        &folded
    };
    let mut key = 0_u64;
    let mut after_blank = false;
    let mut is_blank = true;
    for byte in content.bytes() {
        if matches!(byte, b' ' | b'\t') {
            after_blank = true;
            continue;
        }
        if after_blank && !is_blank {
            key = mixed(key, b' ');
        }
        key = mixed(key, byte);
        after_blank = false;
        is_blank = false;
    }
    (!is_blank).then_some(key)
}

fn mixed(key: u64, byte: u8) -> u64 {
    (key.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Likeness of two short texts: the share of pairs of bytes that they have in common.
fn likeness(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    let pairs = |text: &str| {
        let bytes = &text.as_bytes()[..text.len().min(COMPARED_BYTES_MAX)];
        let mut pairs: Vec<[u8; 2]> = bytes.array_windows().copied().collect();
        pairs.sort_unstable();
        pairs
    };
    let (a, b) = (pairs(a), pairs(b));
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let order = a[i].cmp(&b[j]);
        common += usize::from(order.is_eq());
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    (2 * common) as f32 / (a.len() + b.len()).max(1) as f32
}

/// A line that every line of the file is compared with, in one walk over the file.
struct Probe {
    /// How often each pair of bytes is in the line and has not been met yet.
    left: Vec<u8>,
    pairs: usize,
    /// Pairs taken from `left`, to be put back.
    taken: Vec<usize>,
}

impl Probe {
    fn new(line: &str) -> Option<Probe> {
        let line = line.trim();
        let bytes = &line.as_bytes()[..line.len().min(2 * COMPARED_BYTES_MAX)];
        let mut left = vec![0_u8; 1 << 16];
        for pair in bytes.array_windows() {
            let count = &mut left[index(pair)];
            *count = count.saturating_add(1);
        }
        let pairs = bytes.len().checked_sub(1).filter(|pairs| *pairs > 0)?;
        Some(Probe { left, pairs, taken: Vec::new() })
    }

    /// Likeness of the best part of a line: a line much longer than this one is taken in pieces.
    fn likeness(&mut self, line: &str) -> f32 {
        let bytes = line.trim().as_bytes();
        let piece = 2 * (self.pairs + 1);
        if bytes.len() <= piece {
            return self.piece_likeness(bytes);
        }
        let starts = (0..bytes.len()).step_by(self.pairs + 1);
        starts
            .map(|start| self.piece_likeness(&bytes[start..bytes.len().min(start + piece)]))
            .fold(0.0, f32::max)
    }

    fn piece_likeness(&mut self, piece: &[u8]) -> f32 {
        for pair in piece.array_windows() {
            let index = index(pair);
            if self.left[index] > 0 {
                self.left[index] -= 1;
                self.taken.push(index);
            }
        }
        let common = self.taken.len();
        for index in self.taken.drain(..) {
            self.left[index] += 1;
        }
        (2 * common) as f32 / (self.pairs + piece.len().saturating_sub(1)) as f32
    }
}

fn index(pair: &[u8; 2]) -> usize {
    usize::from(u16::from_ne_bytes(*pair))
}

/// The window as the model sees it, with the line that differs first in it.
fn render(file: &Outline<'_>, window: Range<usize>, first: usize, difference: String) -> Nearest {
    let difference = cut_to(difference, DIFFERENCE_BYTES_MAX);
    let budget = NEAREST_BYTES_MAX - difference.len() - CUT.len() - 1;
    let from = window.start.max(first.saturating_sub(LEAD_LINES));
    let all = numbered(file, window.clone(), budget);
    let text = if all.ends_with(CUT) && from > window.start {
        format!("{CUT}\n{}", numbered(file, from..window.end, budget - CUT.len() - 1))
    } else {
        all
    };
    Nearest { start_line: window.start + 1, end_line: window.end, text, difference }
}

/// Numbered lines as far as they fit, and then a mark.
fn numbered(file: &Outline<'_>, range: Range<usize>, budget: usize) -> String {
    let mut text = String::new();
    for number in range {
        let Some(line) = file.line(number) else { break };
        let next = format!("{}\t{}", number + 1, cut_to(line.content.to_owned(), LINE_BYTES_MAX));
        if text.len() + next.len() + 1 > budget {
            text.push_str(CUT);
            return text;
        }
        text.push_str(&next);
        text.push('\n');
    }
    text.pop();
    text
}

/// A text of at most so many bytes, the mark included.
fn cut_to(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max - CUT.len()));
        text.push_str(CUT);
    }
    text
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, old: &str) -> Option<Nearest> {
        nearest(text, &Outline::new(text), old)
    }

    #[test]
    fn the_window_is_where_most_lines_are_the_same() {
        let text = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n    three();\n}\n";
        let near = found(text, "fn b() {\n    two();\n    four();\n}").unwrap();
        assert_eq!((near.start_line, near.end_line), (5, 8));
        assert_eq!(near.text, "5\tfn b() {\n6\t    two();\n7\t    three();\n8\t}");
        assert_eq!(
            near.difference,
            "it differs first in line 7: the file has `three();`, oldText has `four();`"
        );
    }

    #[test]
    fn without_equal_lines_the_most_similar_one_counts() {
        let text = "alpha beta gamma\nlet total = price * count;\nomega\n";
        let near = found(text, "let totals = price * counts;").unwrap();
        assert_eq!((near.start_line, near.end_line), (2, 2));
        assert!(found(text, "zzzzzzzzzz\nqqqqqqqq").is_none());
        assert!(found("", "x").is_none());
    }

    #[test]
    fn a_text_that_reaches_over_the_end_says_so() {
        let near = found("one line\ntwo lines\n", "two lines\nthree lines\nfour").unwrap();
        assert_eq!(near.difference, "oldText has 2 more lines after the end of the file");
        let near = found("one line\ntwo lines", "one line\ntwo lines\n").unwrap();
        assert_eq!(
            near.difference,
            "oldText ends with a line break, which the last line of the file does not have"
        );
    }

    #[test]
    fn a_missing_line_is_found_where_it_is_missing() {
        let near = found(
            "class A {\n\tfoo(a) {\n\t\tlog(a);\n\t\treturn a;\n\t}\n}\n",
            "class A {\n\tfoo(a) {\n\t\treturn a;\n\t}",
        )
        .unwrap();
        assert_eq!((near.start_line, near.end_line), (1, 4));
        assert!(near.difference.starts_with("it differs first in line 3: "), "{}", near.difference);
    }

    #[test]
    fn it_is_never_longer_than_allowed() {
        let block: String = (0..500).map(|n| format!("line number {n} {}\n", "é".repeat(n))).collect();
        let old = block.replace("number 250 ", "number 25x ");
        let near = found(&block, &old).unwrap();
        assert!(near.text.len() + near.difference.len() <= NEAREST_BYTES_MAX, "{}", near.text.len());
        assert!(near.text.contains("251\tline number 250"), "{}", near.text);
        assert!(near.text.starts_with(CUT) && near.text.ends_with(CUT));
    }

    #[test]
    fn an_escaped_text_is_found_by_what_it_means() {
        let near = found("x\nsay(\"a\")\n\ty\n", "say(\\\"a\\\")\\n\\ty").unwrap();
        assert_eq!((near.start_line, near.end_line), (2, 3));
        assert!(near.difference.contains("`\\\"`"), "{}", near.difference);
    }
}
