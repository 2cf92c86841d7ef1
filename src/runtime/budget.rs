//! How much of what a run prints is kept: both streams together, up to a limit.

/// What stands where output was cut.
const MARKER: &[u8] = b"...[stdio truncated]";

/// See the module.
#[derive(Debug)]
pub struct StdioBudget {
    left: usize,
    is_spent: bool,
    dropped: u64,
}

impl StdioBudget {
    /// Of so many bytes.
    pub fn new(bytes_max: usize) -> StdioBudget {
        StdioBudget { left: bytes_max, is_spent: false, dropped: 0 }
    }

    /// What of the next bytes is kept, and the marker behind it if some are not; none if nothing is.
    pub fn take<'b>(&mut self, bytes: &'b [u8]) -> Option<std::borrow::Cow<'b, [u8]>> {
        if self.is_spent {
            self.dropped += bytes.len() as u64;
            return None;
        }
        if bytes.len() <= self.left {
            self.left -= bytes.len();
            return (!bytes.is_empty()).then_some(bytes.into());
        }
        let mut end = self.left;
        // Not within a character; what goes back further than four bytes is none.
        for back in 0..4.min(end + 1) {
            if bytes[end - back] & 0xc0 != 0x80 {
                end -= back;
                break;
            }
        }
        self.is_spent = true;
        self.dropped = (bytes.len() - end) as u64;
        Some([&bytes[..end], MARKER].concat().into())
    }

    /// Bytes that were not kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_once_at_a_character_and_counted() {
        let mut budget = StdioBudget::new(6);
        let mut take =
            |text: &str| budget.take(text.as_bytes()).map(|kept| String::from_utf8(kept.into()).unwrap());
        assert_eq!(take("abc").as_deref(), Some("abc"));
        assert_eq!(take(""), None);
        assert_eq!(take("aéé").as_deref(), Some("aé...[stdio truncated]"));
        assert_eq!(take("x"), None);
        assert_eq!(budget.dropped(), 3);

        let mut budget = StdioBudget::new(3);
        assert_eq!(budget.take("aéé".as_bytes()).unwrap(), "aé...[stdio truncated]".as_bytes());
        let mut budget = StdioBudget::new(2);
        assert_eq!(budget.take("aéé".as_bytes()).unwrap(), "a...[stdio truncated]".as_bytes());
        let mut budget = StdioBudget::new(2);
        assert_eq!(budget.take("ab".as_bytes()).unwrap(), "ab".as_bytes());
        assert_eq!(budget.take(b"c").unwrap(), MARKER);
    }
}
