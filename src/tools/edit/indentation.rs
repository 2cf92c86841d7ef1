//! The last rule: the same lines, moved to the left or right as a block.
//!
//! A block is found by the texts of its lines without leading and trailing blanks, and then the
//! indentation of every line that is not blank must differ from the one asked for in one and the
//! same way (a [`Shift`]). The replacement gets the same shift.
//!
//! Always true:
//! - All lines must match; the first and the last alone never do.
//! - A conversion between tabs and spaces whose width is in doubt is no match: an only level of
//!   indentation fits several widths, and then only the one that needs no further shift is taken.
//! - Finding the lines is linear (Knuth, Morris and Pratt over line numbers); comparing indentations
//!   has a budget for each text, after which the block counts as not found.

use std::ops::Range;

use super::lines::{Line, lines};
use super::outline::{BLANK, Outline, split_indentation};
use super::places::{COUNT_MAX, Found, Place};

/// The widest tab.
const TAB_WIDTH_MAX: usize = 8;

/// Lines whose indentation is compared for one edit. A text with more places that have the same
/// lines is too repetitive to be sure of anything in it.
const COMPARED_LINES_MAX: usize = 1 << 20;

/// How the indentation of a place differs from that of the text asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shift {
    /// The file has this in front of every line.
    Add(String),
    /// The file lacks this in front of every line.
    Remove(String),
    /// The file has spaces for each tab, and so many more levels.
    TabsToSpaces {
        /// Spaces of one tab.
        width: usize,
        /// Levels added.
        levels: isize,
    },
    /// The file has a tab for so many spaces, and so many more levels.
    SpacesToTabs {
        /// Spaces of one tab.
        width: usize,
        /// Levels added.
        levels: isize,
    },
}

/// A place in the file and its shift.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShiftedPlace {
    /// Bytes of the file, from the start of a line.
    pub range: Range<usize>,
    /// What the replacement needs.
    pub shift: Shift,
}

impl Place for ShiftedPlace {
    fn start(&self) -> usize {
        self.range.start
    }
}

impl Outline<'_> {
    /// Finds the blocks that are `old_text` with another indentation.
    pub(super) fn find_shifted(&self, old_text: &str) -> Found<ShiftedPlace> {
        let old: Vec<Line<'_>> = lines(old_text).collect();
        let ids: Option<Vec<u32>> = old.iter().map(|line| self.id_of(line.content)).collect();
        let Some(ids) = ids.filter(|ids| ids.iter().any(|id| *id != BLANK)) else { return Found::Nothing };

        let mut found = Found::Nothing;
        let mut budget = COMPARED_LINES_MAX;
        for first in Occurrences::new(self.ids(), &ids) {
            if let Some(place) = self.place(first, &old, &mut budget) {
                found = found.add(place);
            }
            if found.count() >= COUNT_MAX {
                return found.capped();
            }
            if budget == 0 {
                // One place is not known to be the only one then.
                return if found.count() >= 2 { found.capped() } else { Found::Nothing };
            }
        }
        found
    }

    /// The place at a line, if its indentation differs in one way from that of `old`.
    fn place(&self, first: usize, old: &[Line<'_>], budget: &mut usize) -> Option<ShiftedPlace> {
        let last_at = self.start(first + old.len() - 1);
        let last = self.line(first + old.len() - 1)?;
        let wants_ending = !old.last()?.ending.is_empty();
        if wants_ending && last.ending.is_empty() {
            return None;
        }
        let end = match (wants_ending, last.content.trim_end_matches([' ', '\t'])) {
            (true, _) => last_at + last.len(),
            (false, "") => last_at + last.content.len(),
            (false, kept) => last_at + kept.len(),
        };
        let pairs = Pairs { old, file: self, first };
        let shift = Shift::between(&pairs, budget)?;
        Some(ShiftedPlace { range: self.start(first)..end, shift })
    }
}

/// Indentations of corresponding lines that are not blank.
struct Pairs<'p> {
    old: &'p [Line<'p>],
    file: &'p Outline<'p>,
    first: usize,
}

impl<'p> Pairs<'p> {
    /// (asked for, in the file)
    fn iter(&self) -> impl Iterator<Item = (&'p str, &'p str)> {
        let here = (self.first..).map_while(|line| self.file.line(line));
        self.old
            .iter()
            .zip(here)
            .filter(|(old, _)| !old.is_blank())
            .map(|(old, here)| (split_indentation(old.content).0, split_indentation(here.content).0))
    }

    /// Whether something holds for all of them. Ends at the first one for which it does not.
    fn all(&self, budget: &mut usize, holds: impl Fn((&str, &str)) -> bool) -> bool {
        self.iter().all(|pair| {
            *budget = budget.saturating_sub(1);
            *budget > 0 && holds(pair)
        })
    }
}

impl Shift {
    fn between(pairs: &Pairs<'_>, budget: &mut usize) -> Option<Shift> {
        let (old, here) = pairs.iter().next()?;
        if let Some(added) = here.strip_suffix(old)
            && pairs.all(budget, |(old, here)| is_joined(here, added, old))
        {
            return Some(Shift::Add(added.to_owned()));
        }
        if let Some(removed) = old.strip_suffix(here)
            && pairs.all(budget, |(old, here)| is_joined(old, removed, here))
        {
            return Some(Shift::Remove(removed.to_owned()));
        }
        if let Some((width, levels)) = conversion(pairs, budget, Tabbed::Old) {
            return Some(Shift::TabsToSpaces { width, levels });
        }
        let (width, levels) = conversion(pairs, budget, Tabbed::File)?;
        Some(Shift::SpacesToTabs { width, levels: -levels })
    }

    /// A line of the replacement (without its ending) as it goes to the place.
    pub(super) fn apply(&self, content: &str) -> String {
        let (indentation, _) = split_indentation(content);
        let text = &content[indentation.len()..];
        if content.is_empty() {
            // A blank line gets no trailing blanks.
            return String::new();
        }
        match self {
            Shift::Add(_) if text.is_empty() => content.to_owned(),
            Shift::Add(added) => format!("{added}{content}"),
            Shift::Remove(removed) => without_common_start(content, removed).to_owned(),
            Shift::TabsToSpaces { width, levels } => {
                let tabs = indentation.matches('\t').count();
                let spaces = indentation.len() - tabs + width * shifted(tabs, *levels);
                format!("{}{text}", " ".repeat(spaces))
            }
            Shift::SpacesToTabs { width, levels } => {
                let tabs = indentation.matches('\t').count();
                let spaces = indentation.len() - tabs;
                let levels = shifted(tabs + spaces / width, *levels);
                format!("{}{}{text}", "\t".repeat(levels), " ".repeat(spaces % width))
            }
        }
    }
}

/// Whether a text is the one in front of the other.
fn is_joined(whole: &str, front: &str, back: &str) -> bool {
    whole.len() == front.len() + back.len() && whole.starts_with(front) && whole.ends_with(back)
}

/// A line that is to lose an indentation, and loses as much of it as it has.
fn without_common_start<'c>(content: &'c str, removed: &str) -> &'c str {
    let common = content.bytes().zip(removed.bytes()).take_while(|(a, b)| a == b).count();
    &content[common..]
}

fn shifted(levels: usize, by: isize) -> usize {
    levels.saturating_add_signed(by)
}

/// Which side of a conversion has the tabs.
#[derive(Clone, Copy)]
enum Tabbed {
    Old,
    File,
}

/// The (width, levels) with which every tabbed indentation, seen as tabs and then spaces, is the spaced
/// one: `width × (tabs + levels) + spaces`. `None` if there is none or more than one.
fn conversion(pairs: &Pairs<'_>, budget: &mut usize, side: Tabbed) -> Option<(usize, isize)> {
    let levels_for = |width: usize, (old, here): (&str, &str)| -> Option<isize> {
        let (tabbed, spaced) = match side {
            Tabbed::Old => (old, here),
            Tabbed::File => (here, old),
        };
        let spaces = tabbed.trim_start_matches('\t');
        let tabs = tabbed.len() - spaces.len();
        let is_plain = !spaces.contains('\t') && spaces.len() < width && !spaced.contains('\t');
        let columns = spaced.len().checked_sub(spaces.len())?;
        (is_plain && columns % width == 0).then(|| (columns / width) as isize - tabs as isize)
    };
    let first = pairs.iter().next()?;
    let mut fits = Vec::new();
    for width in 1..=TAB_WIDTH_MAX {
        let Some(levels) = levels_for(width, first) else { continue };
        if pairs.all(budget, |pair| levels_for(width, pair) == Some(levels)) {
            fits.push((width, levels));
        }
    }
    match fits.as_slice() {
        [only] => Some(*only),
        several => several.iter().copied().find(|(_, levels)| *levels == 0),
    }
}

/// Where a sequence of numbers occurs in another, also overlapping, in linear time.
struct Occurrences<'i> {
    haystack: &'i [u32],
    needle: &'i [u32],
    /// For each length of a matched start of the needle, the longest shorter one that ends it too.
    borders: Vec<usize>,
    at: usize,
    matched: usize,
}

impl<'i> Occurrences<'i> {
    fn new(haystack: &'i [u32], needle: &'i [u32]) -> Occurrences<'i> {
        let mut borders = vec![0; needle.len() + 1];
        let mut border = 0;
        for end in 1..needle.len() {
            while border > 0 && needle[border] != needle[end] {
                border = borders[border];
            }
            border += usize::from(needle[border] == needle[end]);
            borders[end + 1] = border;
        }
        Occurrences { haystack, needle, borders, at: 0, matched: 0 }
    }
}

impl Iterator for Occurrences<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while let Some(id) = self.haystack.get(self.at) {
            self.at += 1;
            while self.matched > 0 && self.needle[self.matched] != *id {
                self.matched = self.borders[self.matched];
            }
            self.matched += usize::from(self.needle[self.matched] == *id);
            if self.matched == self.needle.len() {
                self.matched = self.borders[self.matched];
                return Some(self.at - self.needle.len());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, old: &str) -> Option<(Range<usize>, Shift)> {
        match Outline::new(text).find_shifted(old) {
            Found::One(place) => Some((place.range, place.shift)),
            _ => None,
        }
    }

    #[test]
    fn shifts_are_recognised() {
        let add = |added: &str| Some(Shift::Add(added.to_owned()));
        for (text, old, want) in [
            ("  a\n    b\n", "a\n  b\n", add("  ")),
            ("\ta\n\t\tb\n", "a\n\tb\n", add("\t")),
            ("a\n  b\n", "    a\n      b\n", Some(Shift::Remove("    ".into()))),
            ("    a\n        b\n", "\ta\n\t\tb\n", Some(Shift::TabsToSpaces { width: 4, levels: 0 })),
            ("\ta\n\t\tb\n", "  a\n    b\n", Some(Shift::SpacesToTabs { width: 2, levels: 0 })),
            ("\t\ta\n\t\t\tb\n", "  a\n    b\n", Some(Shift::SpacesToTabs { width: 2, levels: 1 })),
            ("  a\n    b\n", "\t\ta\n\t\t\tb\n", Some(Shift::TabsToSpaces { width: 2, levels: -1 })),
            (
                "    /**\n     * a\n     */\n",
                "\t/**\n\t * a\n\t */\n",
                Some(Shift::TabsToSpaces { width: 4, levels: 0 }),
            ),
            // Blank lines hold what they like, trailing blanks are nothing.
            ("  a  \n\t \n  b\n", "a\n\nb\n", add("  ")),
            ("x\n    a", "\ta", Some(Shift::TabsToSpaces { width: 4, levels: 0 })),
            // Not uniform.
            ("  a\n   b\n", "a\n  b\n", None),
            ("  a\n\tb\n", "a\nb\n", None),
            // Widths 1, 3 and 9 fit with some shift, none without.
            ("         a\n", "\t\ta\n", None),
            // Nothing but blanks, an unknown line, no ending where one is asked for.
            ("  \n", "\t\n", None),
            ("  a\n  c\n", "a\nb\n", None),
            ("  a", "a\n", None),
        ] {
            assert_eq!(found(text, old).map(|(_, shift)| shift), want, "{text:?} {old:?}");
        }
    }

    #[test]
    fn a_place_begins_with_a_line_and_ends_before_trailing_blanks() {
        assert_eq!(found("x\n  a\n  b  \n", "a\nb").map(|place| place.0), Some(2..9));
        assert_eq!(found("x\n  a\n  b  \n", "a\nb\n").map(|place| place.0), Some(2..12));
    }

    #[test]
    fn lines_of_the_replacement_are_shifted() {
        for (shift, content, want) in [
            (Shift::Add("  ".into()), "a", "  a"),
            (Shift::Add("  ".into()), "", ""),
            (Shift::Remove("    ".into()), "      a", "  a"),
            (Shift::Remove("    ".into()), "  a", "a"),
            (Shift::TabsToSpaces { width: 2, levels: 1 }, "\t\t b", "       b"),
            (Shift::TabsToSpaces { width: 4, levels: -1 }, "b", "b"),
            (Shift::SpacesToTabs { width: 4, levels: 0 }, "         * b", "\t\t * b"),
            (Shift::SpacesToTabs { width: 2, levels: -1 }, "    b", "\tb"),
        ] {
            assert_eq!(shift.apply(content), want, "{shift:?} {content:?}");
        }
    }

    #[test]
    fn occurrences_overlap() {
        let at = |haystack: &[u32], needle: &[u32]| Occurrences::new(haystack, needle).collect::<Vec<_>>();
        assert_eq!(at(&[1, 1, 1, 2, 1, 1], &[1, 1]), [0, 1, 4]);
        assert_eq!(at(&[1, 2, 1, 2, 1], &[1, 2, 1]), [0, 2]);
        assert_eq!(at(&[1], &[1, 2]), [] as [usize; 0]);
    }

    #[test]
    fn a_repetitive_text_stays_within_the_budget() {
        let text = "  x\n".repeat(20_000) + "x\n";
        let old = "\tx\n".repeat(5_000) + "  x\n";
        assert_eq!(Outline::new(&text).find_shifted(&old), Found::Nothing);
    }
}
