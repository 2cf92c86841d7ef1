//! The end of a stream of output: what is shown of one that is longer than the limits, whole lines.

/// How much of a run's output its result shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Lines of each stream.
    pub lines_max: u64,
    /// Bytes of each stream.
    pub bytes_max: usize,
}

impl Default for OutputLimits {
    fn default() -> Self {
        OutputLimits { lines_max: 2000, bytes_max: 65_536 }
    }
}

/// Counts a stream and keeps its end.
#[derive(Debug, Clone)]
pub struct Tail {
    /// How much is kept; none: all of it.
    limits: Option<OutputLimits>,
    kept: Vec<u8>,
    bytes: u64,
    newlines: u64,
    ends_line: bool,
}

/// What is shown of a stream that is longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// The number of the first line that is shown, from 1.
    pub first_line: u64,
    /// Whether its beginning is missing.
    pub is_partial: bool,
}

impl Tail {
    /// Of nothing so far.
    pub fn new(limits: Option<OutputLimits>) -> Tail {
        Tail { limits, kept: Vec::new(), bytes: 0, newlines: 0, ends_line: true }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.ends_line = *last == b'\n';
        self.bytes += bytes.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.kept.extend_from_slice(bytes);
        if let Some(limits) = self.limits {
            // One byte more than is shown tells whether a line begins there.
            let most = limits.bytes_max.saturating_add(1);
            if self.kept.len() > most.saturating_mul(2) {
                self.kept.drain(..self.kept.len() - most);
            }
        }
    }

    fn lines(&self) -> u64 {
        self.newlines + u64::from(!self.ends_line)
    }

    /// Whether less than all is shown.
    pub fn is_cut(&self) -> bool {
        self.limits
            .is_some_and(|limits| self.bytes > limits.bytes_max as u64 || self.lines() > limits.lines_max)
    }

    /// What is shown, and how it was cut.
    pub fn finish(self) -> (Vec<u8>, Option<Cut>) {
        let (true, Some(limits)) = (self.is_cut(), self.limits) else { return (self.kept, None) };
        let lines = self.lines();
        let mut start = self.kept.len().saturating_sub(limits.bytes_max);
        // A character is not cut; what has no beginning within four bytes is none.
        let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
        start += self.kept[start..].iter().take(3).take_while(|byte| is_inside(byte)).count();
        let begins_line = |at: usize| {
            at == 0 && self.kept.len() as u64 == self.bytes || at > 0 && self.kept[at - 1] == b'\n'
        };
        let mut is_partial = !begins_line(start);
        if is_partial && let Some(end) = memchr::memchr(b'\n', &self.kept[start..]) {
            let next = start + end + 1;
            if next < self.kept.len() {
                start = next;
                is_partial = false;
            }
        }
        let mut shown = count_lines(&self.kept[start..]);
        for end in memchr::memchr_iter(b'\n', &self.kept[start..]).collect::<Vec<_>>() {
            if shown <= limits.lines_max {
                break;
            }
            shown -= 1;
            if shown <= limits.lines_max {
                start += end + 1;
                is_partial = false;
                break;
            }
        }
        let cut = Cut { bytes: self.bytes, lines, first_line: lines - shown + 1, is_partial };
        (self.kept[start..].to_vec(), Some(cut))
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    let newlines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    newlines + u64::from(bytes.last().is_some_and(|last| *last != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limits: (u64, usize), text: &str, want: &str, cut: Option<(u64, u64, bool)>) {
        for piece in [1, 3, text.len().max(1)] {
            let mut tail = Tail::new(Some(OutputLimits { lines_max: limits.0, bytes_max: limits.1 }));
            text.as_bytes().chunks(piece).for_each(|bytes| tail.push(bytes));
            let (shown, got) = tail.finish();
            assert_eq!(String::from_utf8_lossy(&shown), want, "{text:?} in pieces of {piece}");
            let got = got.map(|cut| (cut.lines, cut.first_line, cut.is_partial));
            assert_eq!(got, cut, "{text:?} in pieces of {piece}");
        }
    }

    #[test]
    fn the_end_of_a_stream_is_shown_from_a_line_on() {
        check((2, 100), "", "", None);
        check((2, 100), "a\nb\n", "a\nb\n", None);
        check((2, 100), "a\nb", "a\nb", None);
        check((2, 100), "a\nb\nc", "b\nc", Some((3, 2, false)));
        check((2, 100), "a\nb\nc\n", "b\nc\n", Some((3, 2, false)));
        check((1, 100), "\n\n\n", "\n", Some((3, 3, false)));
        check((9, 4), "a\nbb\ncc\n", "cc\n", Some((3, 3, false)));
        check((9, 3), "a\nbb\ncc\n", "cc\n", Some((3, 3, false)));
        check((9, 6), "a\nbb\ncc\n", "bb\ncc\n", Some((3, 2, false)));
    }

    #[test]
    fn of_one_long_line_the_end_is_shown() {
        check((9, 3), "abcdef", "def", Some((1, 1, true)));
        check((9, 3), "abcdef\n", "ef\n", Some((1, 1, true)));
        check((9, 3), "x\nabcdef\n", "ef\n", Some((2, 2, true)));
        check((9, 3), "aéé", "é", Some((1, 1, true)));
        check((9, 4), "aéé", "éé", Some((1, 1, true)));
    }

    #[test]
    fn without_limits_all_is_shown() {
        let mut tail = Tail::new(None);
        tail.push(&[b'\n'; 100_000]);
        assert!(!tail.is_cut());
        assert_eq!(tail.finish().0.len(), 100_000);
    }
}
