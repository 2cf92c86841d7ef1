//! A whole text file, decoded so that parts of its text can be replaced.
//!
//! The text is what a model sees; the file is its bytes. A splice is given in terms of the text and
//! made in the bytes:
//!
//! ```text
//!   text   f o o \u{FFFD} b a r ⏎          splice 4..7 → "baz"
//!   bytes  f o o   E9     b a r 0A   ──▶   f o o E9 b a z 0A
//! ```
//!
//! Always true:
//! - Bytes outside of the spliced ranges stay as they are: invalid ones, the byte order mark, line
//!   breaks. So do those inside that the old and the new text start or end with.
//! - Nothing is replaced by a question mark or a reference: text that the encoding does not hold is
//!   refused.
//! - What [`Document::splice`] returns decodes to the text with the splices made.
//!
//! Valid UTF-8, which is nearly every file, is never copied to be decoded. For the rest the text
//! stands next to the bytes, with marks from which places of the one are found in the other.
//!
//! Not here: finding what to replace, and line endings, which are text like any other.

use std::ops::Range;

use super::encoding::{Encoding, TextFormat};

/// The least distance between two marks, in bytes. A place is found by decoding from the mark before
/// it. Even, so that the pairs of UTF-16 are not torn.
const MARK_DISTANCE_BYTES: usize = 1024;

/// A whole file decoded for editing.
#[derive(Debug, Clone)]
pub struct Document {
    format: TextFormat,
    /// Size of the byte order mark that the file has.
    bom_bytes: usize,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    /// The file is its text, after the byte order mark.
    Utf8(String),
    /// Another encoding, or UTF-8 with invalid bytes.
    Mapped(Mapped),
}

#[derive(Debug, Clone)]
struct Mapped {
    bytes: Vec<u8>,
    text: String,
    /// Starts of lines, in order. The first is the start of the text.
    marks: Vec<Place>,
    /// Whether every U+FFFD of the text is one in the file.
    is_valid: bool,
}

/// A boundary between two units, in the text and in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    text: usize,
    byte: usize,
}

/// Why splices were not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpliceError {
    /// The new text holds a character that the file's encoding has no bytes for.
    Unencodable {
        /// The character.
        character: char,
        /// Name of the encoding.
        encoding: &'static str,
    },
    /// The new text holds a U+FFFD, and it is not known which bytes of the file it stands for, or
    /// bytes that have to stay would become other characters next to the new ones.
    Ambiguous,
}

impl Document {
    /// Decodes a file. Never fails: what is not text in this encoding becomes U+FFFD.
    pub fn decode(bytes: Vec<u8>, format: TextFormat) -> Document {
        let bom_bytes = format.bom_bytes(&bytes);
        let body = if format.encoding == Encoding::UTF_8 {
            match String::from_utf8(bytes) {
                Ok(text) => Body::Utf8(text),
                Err(error) => Body::Mapped(Mapped::new(error.into_bytes(), bom_bytes, format.encoding)),
            }
        } else {
            Body::Mapped(Mapped::new(bytes, bom_bytes, format.encoding))
        };
        Document { format, bom_bytes, body }
    }

    /// The text, without a byte order mark, with the line endings of the file, and with U+FFFD for
    /// invalid bytes.
    pub fn text(&self) -> &str {
        match &self.body {
            Body::Utf8(file) => &file[self.bom_bytes..],
            Body::Mapped(mapped) => &mapped.text,
        }
    }

    /// How the file is stored.
    pub fn format(&self) -> TextFormat {
        self.format
    }

    /// Whether some bytes of the file are not text in its encoding.
    pub fn has_invalid_bytes(&self) -> bool {
        matches!(&self.body, Body::Mapped(mapped) if !mapped.is_valid)
    }

    /// Replaces ranges of [`Document::text`] and returns the bytes of the new file.
    ///
    /// # Panics
    ///
    /// If the ranges are not in order, overlap, or do not lie on character boundaries of the text.
    pub fn splice(&self, splices: &[(Range<usize>, &str)]) -> Result<Vec<u8>, SpliceError> {
        let text = self.text();
        let mut end = 0;
        for (range, _) in splices {
            assert!(end <= range.start && range.start <= range.end, "splices are in order");
            assert!(text.get(range.clone()).is_some(), "splices lie on character boundaries");
            end = range.end;
        }
        match &self.body {
            Body::Utf8(file) => Ok(spliced(file, self.bom_bytes, splices).into_bytes()),
            Body::Mapped(mapped) => mapped.splice(self.bom_bytes, self.format.encoding, splices),
        }
    }
}

/// `text` with splices whose offsets count from `base`.
fn spliced(text: &str, base: usize, splices: &[(Range<usize>, &str)]) -> String {
    let added: usize = splices.iter().map(|(_, new)| new.len()).sum();
    let removed: usize = splices.iter().map(|(range, _)| range.len()).sum();
    let mut result = String::with_capacity(text.len() - removed + added);
    let mut copied = 0;
    for (range, new) in splices {
        result.push_str(&text[copied..base + range.start]);
        result.push_str(new);
        copied = base + range.end;
    }
    result.push_str(&text[copied..]);
    result
}

impl Mapped {
    fn new(bytes: Vec<u8>, bom_bytes: usize, encoding: Encoding) -> Mapped {
        let mut text = String::with_capacity(bytes.len());
        let mut marks = Vec::new();
        let mut is_valid = true;
        let mut position = bom_bytes;
        while position < bytes.len() {
            marks.push(Place { text: text.len(), byte: position });
            let rest = &bytes[position..];
            // Units do not go past a line break, so the text of the parts is the text of the whole.
            let least = rest.len().min(MARK_DISTANCE_BYTES);
            let length = encoding
                .find_newline(&rest[least..])
                .map_or(rest.len(), |newline| least + newline + encoding.newline_bytes());
            let (part, part_is_valid) = encoding.decode_all(&rest[..length]);
            text.push_str(&part);
            is_valid &= part_is_valid;
            position += length;
        }
        Mapped { bytes, text, marks, is_valid }
    }

    fn splice(
        &self,
        bom_bytes: usize,
        encoding: Encoding,
        splices: &[(Range<usize>, &str)],
    ) -> Result<Vec<u8>, SpliceError> {
        let mut cursor = Cursor { mapped: self, encoding, place: Place { text: 0, byte: bom_bytes } };
        let mut result = Vec::with_capacity(self.bytes.len());
        let mut copied = 0;
        for (range, new) in splices {
            let old = &self.text[range.clone()];
            if cursor.last_not_after(range.start).text != range.start {
                return Err(SpliceError::Ambiguous);
            }

            let prefix = common_prefix(old, new);
            let kept_until = cursor.last_not_after(range.start + prefix);
            let prefix = kept_until.text - range.start;

            let suffix = common_suffix(&old[prefix..], &new[prefix..]);
            let mut replaced = Vec::new();
            let kept_from = cursor.first_not_before(range.end - suffix, &mut replaced);
            let Some(suffix) = range.end.checked_sub(kept_from.text) else {
                return Err(SpliceError::Ambiguous);
            };

            result.extend_from_slice(&self.bytes[copied..kept_until.byte]);
            self.encode(&new[prefix..new.len() - suffix], &replaced, encoding, &mut result)?;
            copied = kept_from.byte;
        }
        result.extend_from_slice(&self.bytes[copied..]);

        // Bytes that were invalid apart can be a character together, when what stood between them is
        // gone.
        if encoding.decode_all(&result[bom_bytes..]).0 != spliced(&self.text, 0, splices) {
            return Err(SpliceError::Ambiguous);
        }
        Ok(result)
    }

    /// Puts the bytes of new text onto `result`. `replaced` is where the bytes are that the replaced
    /// text showed as U+FFFD.
    fn encode(
        &self,
        new: &str,
        replaced: &[Range<usize>],
        encoding: Encoding,
        result: &mut Vec<u8>,
    ) -> Result<(), SpliceError> {
        let encode = |text: &str, result: &mut Vec<u8>| {
            encoding
                .encode(text, result)
                .map_err(|character| SpliceError::Unencodable { character, encoding: encoding.name() })
        };
        let count = new.matches(char::REPLACEMENT_CHARACTER).count();
        if count == 0 || self.is_valid && count != replaced.len() {
            return encode(new, result);
        }
        if count != replaced.len() {
            return Err(SpliceError::Ambiguous);
        }
        let mut originals = replaced.iter();
        for (index, part) in new.split(char::REPLACEMENT_CHARACTER).enumerate() {
            if index > 0
                && let Some(original) = originals.next()
            {
                result.extend_from_slice(&self.bytes[original.clone()]);
            }
            encode(part, result)?;
        }
        Ok(())
    }
}

/// Finds places of the text in the file, going forward only, so that many splices of one long line
/// cost no more than one pass over it.
struct Cursor<'d> {
    mapped: &'d Mapped,
    encoding: Encoding,
    place: Place,
}

impl Cursor<'_> {
    /// The last boundary between units that is not after `target` in the text.
    fn last_not_after(&mut self, target: usize) -> Place {
        self.skip_to_mark(target);
        while self.place.text < target {
            let next = self.next();
            if next.text > target {
                break;
            }
            self.place = next;
        }
        self.place
    }

    /// The first boundary between units that is not before `target` in the text, and the bytes that
    /// are U+FFFD on the way.
    fn first_not_before(&mut self, target: usize, replaced: &mut Vec<Range<usize>>) -> Place {
        let Some(way) = self.mapped.text.get(self.place.text..target) else { return self.place };
        if !way.contains(char::REPLACEMENT_CHARACTER) {
            self.skip_to_mark(target);
        }
        while self.place.text < target {
            let next = self.next();
            if self.mapped.text[self.place.text..].starts_with(char::REPLACEMENT_CHARACTER) {
                replaced.push(self.place.byte..next.byte);
            }
            self.place = next;
        }
        self.place
    }

    fn skip_to_mark(&mut self, target: usize) {
        let after = self.mapped.marks.partition_point(|mark| mark.text <= target);
        if let Some(mark) = after.checked_sub(1).and_then(|index| self.mapped.marks.get(index))
            && mark.text > self.place.text
        {
            self.place = *mark;
        }
    }

    /// The boundary after the unit at the current one.
    fn next(&self) -> Place {
        let mut text = String::new();
        let unit = self.encoding.decode_unit(&self.mapped.bytes[self.place.byte..], &mut text);
        Place { text: self.place.text + unit.text, byte: self.place.byte + unit.bytes }
    }
}

/// How many bytes both start with, in whole characters.
fn common_prefix(left: &str, right: &str) -> usize {
    let length = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    left.floor_char_boundary(length)
}

/// How many bytes both end with, in whole characters.
fn common_suffix(left: &str, right: &str) -> usize {
    let pairs = left.bytes().rev().zip(right.bytes().rev());
    let length = pairs.take_while(|(left, right)| left == right).count();
    left.len() - left.ceil_char_boundary(left.len() - length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn format(label: &str) -> TextFormat {
        TextFormat { encoding: Encoding::from_label(label).unwrap(), has_bom: false }
    }

    /// Replaces `old`, which is in the text once, by `new`, and compares the bytes.
    #[track_caller]
    fn check(label: &str, file: &[u8], (old, new): (&str, &str), want: Result<&[u8], SpliceError>) {
        let encoding = format(label).encoding;
        let has_bom = !encoding.bom().is_empty() && file.starts_with(encoding.bom());
        let document = Document::decode(file.to_vec(), TextFormat { encoding, has_bom });
        let start = document.text().find(old).unwrap();
        let got = document.splice(&[(start..start + old.len(), new)]);
        assert_eq!(got, want.map(<[u8]>::to_vec));
    }

    #[test]
    fn bytes_outside_of_a_splice_stay() {
        check("utf-8", b"\xEF\xBB\xBFa\r\nb\n", ("b", "\u{E9}"), Ok(b"\xEF\xBB\xBFa\r\n\xC3\xA9\n"));
        check("utf-8", b"a\xFF b\n", ("b", "c"), Ok(b"a\xFF c\n"));
        check("utf-16le", b"\xFF\xFEa\0b\0", ("b", "\u{1F600}"), Ok(b"\xFF\xFEa\0\x3D\xD8\0\xDE"));
        check("utf-16be", b"\0a\0b\xD8\0\0c", ("c", "d"), Ok(b"\0a\0b\xD8\0\0d"));
        check("utf-16le", b"a\0b\0c", ("b", "x"), Ok(b"a\0x\0c"));
        check("windows-1252", b"caf\xE9 \x81\n", ("caf", "th"), Ok(b"th\xE9 \x81\n"));
        check(
            "shift_jis",
            b"\x93\xFA\x96\x7B \x80\xFF",
            ("\u{672C}", "\u{65E5}"),
            Ok(b"\x93\xFA\x93\xFA \x80\xFF"),
        );
        // Two ways to write the same character: the one of the file stays.
        check("shift_jis", b"\x87\x90 \x81\xE0 x", ("x", "y"), Ok(b"\x87\x90 \x81\xE0 y"));
    }

    #[test]
    fn unchanged_ends_of_a_splice_keep_their_bytes() {
        check("utf-8", b"\xFFa\xFE\n", ("\u{FFFD}a\u{FFFD}", "\u{FFFD}b\u{FFFD}"), Ok(b"\xFFb\xFE\n"));
        check("utf-8", b"x\xE2\x82y", ("x\u{FFFD}y", "x\u{FFFD}yz"), Ok(b"x\xE2\x82yz"));
    }

    #[test]
    fn replaced_text_keeps_as_many_invalid_bytes_as_it_had() {
        check("utf-8", b"a\xFFb\xFEc", ("a\u{FFFD}b\u{FFFD}c", "A\u{FFFD}B\u{FFFD}C"), Ok(b"A\xFFB\xFEC"));
        check("utf-8", b"a\xFFb", ("a\u{FFFD}b", "none"), Ok(b"none"));
        check("utf-8", b"a\xFFb\xFEc", ("a\u{FFFD}b\u{FFFD}c", "A\u{FFFD}C"), Err(SpliceError::Ambiguous));
        check("utf-8", b"a\xFFb", ("a", "\u{FFFD}"), Err(SpliceError::Ambiguous));
        // Nothing in this file is invalid, so it is a character like any other.
        check("utf-8", b"ab", ("a", "\u{FFFD}"), Ok(b"\xEF\xBF\xBDb"));
        check("utf-16le", b"a\0", ("a", "\u{FFFD}"), Ok(b"\xFD\xFF"));
    }

    #[test]
    fn what_the_encoding_does_not_hold_is_refused() {
        let refused = |character, encoding| Err(SpliceError::Unencodable { character, encoding });
        check("windows-1252", b"\xE9a", ("a", "\u{2192}"), refused('\u{2192}', "windows-1252"));
        check("windows-1252", b"\xE9a", ("a", "x\u{1F600}"), refused('\u{1F600}', "windows-1252"));
        check("windows-1252", b"\xE9a", ("a", "\u{FFFD}"), refused('\u{FFFD}', "windows-1252"));
        check("shift_jis", b"\x93\xFAa", ("a", "\u{A5}"), refused('\u{A5}', "shift_jis"));
    }

    #[test]
    fn invalid_bytes_that_would_become_a_character_are_refused() {
        check("utf-8", b"\xE2x\x82\xAC", ("x", ""), Err(SpliceError::Ambiguous));
        check("utf-16le", b"\x3D\xD8x\0\0\xDE", ("x", ""), Err(SpliceError::Ambiguous));
    }

    #[test]
    fn half_of_a_pair_that_is_two_characters_is_refused() {
        check("big5", b"\x88\x62!", ("\u{CA}", "x"), Err(SpliceError::Ambiguous));
        check("big5", b"\x88\x62!", ("\u{CA}\u{304}", "x"), Ok(b"x!"));
        check("big5", b"\x88\x62!", ("\u{CA}\u{304}!", "\u{CA}\u{304}?"), Ok(b"\x88\x62?"));
    }

    #[test]
    fn an_empty_file_can_be_filled() {
        for (label, want) in [("utf-8", &b"a"[..]), ("utf-16be", b"\0a"), ("windows-1252", b"a")] {
            let document = Document::decode(Vec::new(), format(label));
            assert_eq!((document.text(), document.splice(&[(0..0, "a")])), ("", Ok(want.to_vec())));
        }
    }

    #[test]
    #[should_panic(expected = "in order")]
    fn splices_out_of_order_are_a_bug_of_the_caller() {
        let _ = Document::decode(b"abc".to_vec(), TextFormat::UTF_8).splice(&[(1..2, ""), (0..1, "")]);
    }

    /// Many splices of one long line, which has no marks.
    #[test]
    fn a_long_line_is_gone_through_once() {
        let file = b"\xE9bcd".repeat(100_000);
        let document = Document::decode(file, format("windows-1252"));
        let splices: Vec<_> = (0..100_000).map(|index| (index * 5 + 2..index * 5 + 3, "x")).collect();
        assert_eq!(document.splice(&splices), Ok(b"\xE9xcd".repeat(100_000)));
    }

    const LABELS: [&str; 12] = [
        "utf-8",
        "utf-16le",
        "utf-16be",
        "windows-1252",
        "windows-1251",
        "shift_jis",
        "euc-jp",
        "euc-kr",
        "gbk",
        "big5",
        "gb18030",
        "koi8-u",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn random_splices_change_what_they_replace(
            label in 0..LABELS.len(),
            has_bom in any::<bool>(),
            words in prop::collection::vec(
                prop_oneof![
                    Just(b"line\r\n".to_vec()), Just(b"\n".to_vec()), Just("h\u{E9}\u{1F600}".as_bytes().to_vec()),
                    Just(b"a\0\n\0\0\n".to_vec()), Just(b"\x93\xFA\x96\x7B".to_vec()),
                    prop::collection::vec(any::<u8>(), 0..8), Just(b"long ".repeat(300)),
                ],
                0..24,
            ),
            cuts in prop::collection::vec((any::<prop::sample::Index>(), "[ab\u{E9}\u{FFFD}\n]{0,3}"), 0..5),
        ) {
            let encoding = format(LABELS[label]).encoding;
            let has_bom = has_bom && !encoding.bom().is_empty();
            let mut file = if has_bom { encoding.bom().to_vec() } else { Vec::new() };
            file.extend(words.concat());
            let format = TextFormat { encoding, has_bom };
            let document = Document::decode(file.clone(), format);
            let text = document.text();
            let body = &file[if has_bom { encoding.bom().len() } else { 0 }..];
            prop_assert!(text == encoding.decode_all(body).0);
            prop_assert_eq!(document.splice(&[]), Ok(file.clone()));
            prop_assert_eq!(document.splice(&[(0..text.len(), text)]), Ok(file.clone()));

            let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut ends: Vec<usize> = cuts.iter().map(|(at, _)| *at.get(&boundaries)).collect();
            ends.sort_unstable();
            let splices: Vec<_> =
                ends.chunks_exact(2).zip(&cuts).map(|(pair, (_, new))| (pair[0]..pair[1], new.as_str())).collect();
            if let Ok(bytes) = document.splice(&splices) {
                let again = Document::decode(bytes.clone(), format);
                prop_assert_eq!(again.text(), spliced(text, 0, &splices));
                // The text before the first and after the last splice comes from the same bytes.
                if let (Some((first, _)), Some((last, _))) = (splices.first(), splices.last()) {
                    let mut unit = String::new();
                    let mut position = file.len() - body.len();
                    while unit.len() < first.start {
                        position += encoding.decode_unit(&file[position..], &mut unit).bytes;
                    }
                    prop_assert_eq!(&bytes[..position], &file[..position]);
                    while unit.len() < last.end {
                        position += encoding.decode_unit(&file[position..], &mut unit).bytes;
                    }
                    prop_assert!(bytes.ends_with(&file[position..]));
                }
            }
        }
    }
}
