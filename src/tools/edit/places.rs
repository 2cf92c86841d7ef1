//! Where a text occurs in another: how often, and where first.
//!
//! Two questions with different answers. *Is this the only place* counts places that overlap (`aa`
//! is twice in `aaa`, and choosing one would be a guess). *All places* goes left to right and never
//! takes a byte twice.
//!
//! Always true: counting stops at a cap and at a budget of compared bytes, so a text made of
//! repetitions costs no more than one walk over the file and that budget.

use std::ops::Range;

use memchr::memmem::Finder;

/// Places that are counted. Beyond it, "or more".
pub(super) const COUNT_MAX: usize = 1_000;

/// Line numbers that a refusal lists.
pub(super) const LISTED_MAX: usize = 20;

/// Bytes compared for places that overlap, once it is known that there are two. Each of them costs
/// the length of the needle, however little it moves on.
const RECOUNT_BYTES_MAX: usize = 2 << 20;

/// Bytes compared for hits that turn out to be none. Only a long needle in a text of equal clusters
/// gets here.
const REJECT_BYTES_MAX: usize = 16 << 20;

/// Answer to *is this the only place*.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<P> {
    /// There is none.
    Nothing,
    /// There is exactly one.
    One(P),
    /// There are several.
    Many(Many),
}

/// Several places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Many {
    /// Where the first ones start, in ascending order.
    pub starts: Vec<usize>,
    /// How many there are.
    pub count: usize,
    /// Whether counting was stopped.
    pub is_capped: bool,
}

/// What can be counted: a part of the file.
pub(super) trait Place {
    /// Where it starts.
    fn start(&self) -> usize;
}

impl Place for Range<usize> {
    fn start(&self) -> usize {
        self.start
    }
}

impl<P: Place> Found<P> {
    /// Adds a place behind the others.
    pub(super) fn add(self, place: P) -> Found<P> {
        match self {
            Found::Nothing => Found::One(place),
            Found::One(first) => {
                Found::Many(Many { starts: vec![first.start(), place.start()], count: 2, is_capped: false })
            }
            Found::Many(mut many) => {
                many.count += 1;
                if many.starts.len() < LISTED_MAX {
                    many.starts.push(place.start());
                }
                Found::Many(many)
            }
        }
    }

    /// How many places are known.
    pub(super) fn count(&self) -> usize {
        match self {
            Found::Nothing => 0,
            Found::One(_) => 1,
            Found::Many(many) => many.count,
        }
    }

    /// Notes that there may be more.
    pub(super) fn capped(self) -> Found<P> {
        match self {
            Found::Many(many) => Found::Many(Many { is_capped: true, ..many }),
            other => other,
        }
    }
}

/// Counts the places of `needle`, also overlapping ones. `place_of` says what a hit stands for in
/// the file, or that it is none.
pub(super) fn count(
    haystack: &str,
    needle: &str,
    mut place_of: impl FnMut(Range<usize>) -> Option<Range<usize>>,
) -> Found<Range<usize>> {
    let finder = Finder::new(needle);
    let mut found = Found::Nothing;
    let mut at = 0;
    let mut compared = 0;
    while let Some(offset) = finder.find(&haystack.as_bytes()[at..]) {
        let hit = at + offset..at + offset + needle.len();
        at = hit.start + 1;
        compared += needle.len();
        if let Some(place) = place_of(hit) {
            found = found.add(place);
        }
        let is_known = found.count() >= 2;
        if found.count() >= COUNT_MAX
            || (is_known && compared > RECOUNT_BYTES_MAX)
            || compared > REJECT_BYTES_MAX.max(4 * needle.len())
        {
            // Whatever the rest holds: with one place known, it is not known to be the only one.
            return match found {
                Found::One(first) => {
                    Found::Many(Many { starts: vec![first.start], count: 1, is_capped: true })
                }
                other => other.capped(),
            };
        }
    }
    found
}

/// All places of `needle`, left to right and not overlapping.
pub(super) fn all(
    haystack: &str,
    needle: &str,
    place_of: impl FnMut(Range<usize>) -> Option<Range<usize>>,
) -> Vec<Range<usize>> {
    Finder::new(needle)
        .find_iter(haystack.as_bytes())
        .map(|start| start..start + needle.len())
        .filter_map(place_of)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(haystack: &str, needle: &str) -> usize {
        count(haystack, needle, Some).count()
    }

    #[test]
    fn overlapping_places_count() {
        assert_eq!(counted("aaa", "aa"), 2);
        assert_eq!(counted("abcab", "abc"), 1);
        assert_eq!(counted("éé", "é"), 2);
        assert_eq!(counted("abc", "x"), 0);
        assert_eq!(all("aaaaa", "aa", Some), [0..2, 2..4]);
    }

    #[test]
    fn a_long_periodic_text_is_counted_within_the_budget() {
        let haystack = "a".repeat(4 << 20);
        let Found::Many(many) = count(&haystack, &haystack[..1 << 20], Some) else { panic!("is many") };
        assert!(many.is_capped && many.count >= 2 && many.count < 10, "{}", many.count);
        let Found::Many(many) = count(&haystack, "a", Some) else { panic!("is many") };
        assert_eq!((many.count, many.starts.len(), many.is_capped), (COUNT_MAX, LISTED_MAX, true));
    }
}
