//! Encodings of text files: the names, one character at a time, and back to bytes.
//!
//! Decoding follows the WHATWG Encoding Standard, by `encoding_rs`. A *unit* is what the decoder
//! turns into text in one step: the bytes of one character, or the bytes that it replaces by one
//! U+FFFD.
//!
//! Always true:
//! - No encoding here has a state that outlives a unit, so text can be decoded from any boundary
//!   between units. ISO-2022-JP, whose escape sequences switch alphabets, is left out for that.
//! - No unit is longer than [`UNIT_BYTES_MAX`], and none goes past a line break. But a line break can
//!   decide how many units the bytes before it are: GB 18030 makes one of `81 30` at the end of a
//!   file, and two in front of more. So lines are decoded with what follows in view.
//! - Encoding never replaces: a character without bytes is an error.
//!
//! Not here: which encoding a file has (`kind`).

use std::borrow::Cow;

use encoding_rs::{DecoderResult, EncoderResult};

/// The most bytes of one unit: four in UTF-8, UTF-16 and GB 18030.
pub(super) const UNIT_BYTES_MAX: usize = 4;

/// How many bytes of a single-byte encoding are decoded at once.
const BLOCK_BYTES: usize = 256;

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

/// How the text of a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFormat {
    /// The encoding.
    pub encoding: Encoding,
    /// Whether the file starts with a byte order mark, which is not part of the text.
    pub has_bom: bool,
}

impl TextFormat {
    /// UTF-8 without a byte order mark: what new files have.
    pub const UTF_8: TextFormat = TextFormat { encoding: Encoding::UTF_8, has_bom: false };

    /// Size of the byte order mark of a file that starts with `bytes`.
    pub(super) fn bom_bytes(self, bytes: &[u8]) -> usize {
        let bom = self.encoding.bom();
        if self.has_bom && bytes.starts_with(bom) { bom.len() } else { 0 }
    }
}

/// The encodings that files can have, with the names that models and hosts see: those of the
/// standard, in lower case.
static NAMES: [(&encoding_rs::Encoding, &str); 36] = [
    (encoding_rs::UTF_8, "utf-8"),
    (encoding_rs::UTF_16LE, "utf-16le"),
    (encoding_rs::UTF_16BE, "utf-16be"),
    (encoding_rs::WINDOWS_1252, "windows-1252"),
    (encoding_rs::WINDOWS_1250, "windows-1250"),
    (encoding_rs::WINDOWS_1251, "windows-1251"),
    (encoding_rs::WINDOWS_1253, "windows-1253"),
    (encoding_rs::WINDOWS_1254, "windows-1254"),
    (encoding_rs::WINDOWS_1255, "windows-1255"),
    (encoding_rs::WINDOWS_1256, "windows-1256"),
    (encoding_rs::WINDOWS_1257, "windows-1257"),
    (encoding_rs::WINDOWS_1258, "windows-1258"),
    (encoding_rs::WINDOWS_874, "windows-874"),
    (encoding_rs::ISO_8859_2, "iso-8859-2"),
    (encoding_rs::ISO_8859_3, "iso-8859-3"),
    (encoding_rs::ISO_8859_4, "iso-8859-4"),
    (encoding_rs::ISO_8859_5, "iso-8859-5"),
    (encoding_rs::ISO_8859_6, "iso-8859-6"),
    (encoding_rs::ISO_8859_7, "iso-8859-7"),
    (encoding_rs::ISO_8859_8, "iso-8859-8"),
    (encoding_rs::ISO_8859_10, "iso-8859-10"),
    (encoding_rs::ISO_8859_13, "iso-8859-13"),
    (encoding_rs::ISO_8859_14, "iso-8859-14"),
    (encoding_rs::ISO_8859_15, "iso-8859-15"),
    (encoding_rs::ISO_8859_16, "iso-8859-16"),
    (encoding_rs::KOI8_R, "koi8-r"),
    (encoding_rs::KOI8_U, "koi8-u"),
    (encoding_rs::IBM866, "ibm866"),
    (encoding_rs::MACINTOSH, "macintosh"),
    (encoding_rs::X_MAC_CYRILLIC, "x-mac-cyrillic"),
    (encoding_rs::SHIFT_JIS, "shift_jis"),
    (encoding_rs::EUC_JP, "euc-jp"),
    (encoding_rs::EUC_KR, "euc-kr"),
    (encoding_rs::BIG5, "big5"),
    (encoding_rs::GBK, "gbk"),
    (encoding_rs::GB18030, "gb18030"),
];

/// One step of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    /// How many bytes of the file it takes.
    pub bytes: usize,
    /// How many bytes of UTF-8 it becomes.
    pub text: usize,
}

/// What [`Encoding::decode_some`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decoded {
    /// How many bytes were decoded.
    pub bytes: usize,
    /// Whether it stopped because the next unit needs more room.
    pub is_full: bool,
}

/// Whether the bytes at hand go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The line or the file ends here.
    Ends,
    /// There is more, so a unit that is not whole yet may become so.
    Follows,
}

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Encoding = Encoding(encoding_rs::UTF_8);
    /// UTF-16, low byte first.
    pub const UTF_16LE: Encoding = Encoding(encoding_rs::UTF_16LE);
    /// UTF-16, high byte first.
    pub const UTF_16BE: Encoding = Encoding(encoding_rs::UTF_16BE);
    /// Western European, a superset of Latin-1: the guess when nothing else fits better.
    pub const WINDOWS_1252: Encoding = Encoding(encoding_rs::WINDOWS_1252);

    /// The encoding with this WHATWG label (any case), if text files can have it.
    pub fn from_label(label: &str) -> Option<Encoding> {
        encoding_rs::Encoding::for_label(label.as_bytes()).and_then(Encoding::from_standard)
    }

    /// The encoding, if text files can have it.
    pub(super) fn from_standard(encoding: &'static encoding_rs::Encoding) -> Option<Encoding> {
        NAMES.iter().any(|&(known, _)| known == encoding).then_some(Encoding(encoding))
    }

    /// Its WHATWG name in lower case.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|&&(known, _)| known == self.0).map_or(self.0.name(), |&(_, name)| name)
    }

    /// Whether every character is two or four bytes.
    pub(super) fn is_utf16(self) -> bool {
        self == Encoding::UTF_16LE || self == Encoding::UTF_16BE
    }

    /// Whether it holds every character.
    pub(super) fn is_unicode(self) -> bool {
        self == Encoding::UTF_8 || self.is_utf16()
    }

    /// Whether every byte is one character.
    pub(super) fn is_single_byte(self) -> bool {
        self.0.is_single_byte()
    }

    /// The bytes of its byte order mark; none for encodings that have no such thing.
    pub(super) fn bom(self) -> &'static [u8] {
        if self == Encoding::UTF_8 {
            b"\xEF\xBB\xBF"
        } else if self == Encoding::UTF_16LE {
            b"\xFF\xFE"
        } else if self == Encoding::UTF_16BE {
            b"\xFE\xFF"
        } else {
            b""
        }
    }

    /// Size of a line break in bytes.
    pub(super) fn newline_bytes(self) -> usize {
        if self.is_utf16() { 2 } else { 1 }
    }

    /// Where the first line break of `bytes` is, which start between two units.
    pub(super) fn find_newline(self, bytes: &[u8]) -> Option<usize> {
        if !self.is_utf16() {
            return memchr::memchr(b'\n', bytes);
        }
        let newline = self.utf16_newline();
        let low = newline.iter().position(|&byte| byte == b'\n')?;
        // U+0A00 and the like hold the same byte at the other place, hence the search goes on.
        memchr::memchr_iter(b'\n', bytes)
            .filter(|at| at % 2 == low)
            .map(|at| at - low)
            .find(|&at| bytes.get(at..at + 2) == Some(&newline[..]))
    }

    /// How many line breaks `bytes` hold, which start between two units.
    pub(super) fn count_newlines(self, bytes: &[u8]) -> u64 {
        let count = if self.is_utf16() {
            let newline = self.utf16_newline();
            bytes.as_chunks::<2>().0.iter().filter(|&&unit| unit == newline).count()
        } else {
            memchr::memchr_iter(b'\n', bytes).count()
        };
        count as u64
    }

    /// Skips the first `wanted` line breaks of `bytes`, which start between two units. Returns how
    /// many were there, and how many bytes end with the last of them; all bytes if some are missing.
    pub(super) fn skip_newlines(self, bytes: &[u8], wanted: u64) -> (u64, usize) {
        let count = self.count_newlines(bytes);
        if count < wanted {
            return (count, bytes.len());
        }
        let mut length = 0;
        for _ in 0..wanted {
            length += self.find_newline(&bytes[length..]).map_or(0, |newline| newline + self.newline_bytes());
        }
        (wanted, length)
    }

    fn utf16_newline(self) -> [u8; 2] {
        if self == Encoding::UTF_16LE { [b'\n', 0] } else { [0, b'\n'] }
    }

    /// The code unit that two bytes of UTF-16 stand for.
    pub(super) fn code_unit(self, bytes: [u8; 2]) -> u16 {
        if self == Encoding::UTF_16BE { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// All of `bytes` as text, without looking for a byte order mark, and whether all was valid.
    pub(super) fn decode_all(self, bytes: &[u8]) -> (Cow<'_, str>, bool) {
        let (text, has_errors) = self.0.decode_without_bom_handling(bytes);
        (text, !has_errors)
    }

    /// Decodes the first unit of `bytes` onto `text`. The bytes go on for at least
    /// [`UNIT_BYTES_MAX`], or the file ends with them.
    pub(super) fn decode_unit(self, bytes: &[u8], text: &mut String) -> Unit {
        let before = text.len();
        let length = if self == Encoding::UTF_8 {
            utf8_unit(bytes, text)
        } else if self.is_utf16() {
            self.utf16_unit(bytes, text)
        } else {
            self.legacy_unit(bytes, text)
        };
        Unit { bytes: length, text: text.len() - before }
    }

    fn utf16_unit(self, bytes: &[u8], text: &mut String) -> usize {
        let at = |index| bytes.get(index..index + 2).map(|pair| self.code_unit([pair[0], pair[1]]));
        let Some(first) = at(0) else {
            text.push(char::REPLACEMENT_CHARACTER);
            return bytes.len();
        };
        let second = at(2).filter(|_| (0xD800..0xDC00).contains(&first));
        let units = [first, second.unwrap_or(0)];
        match char::decode_utf16(units[..1 + usize::from(second.is_some())].iter().copied()).next() {
            Some(Ok(character)) => {
                text.push(character);
                character.len_utf16() * 2
            }
            _ => {
                text.push(char::REPLACEMENT_CHARACTER);
                // A file that ends in the middle of a pair ends with one error, not with two.
                if second.is_none() && (0xD800..0xDC00).contains(&first) { bytes.len().min(3) } else { 2 }
            }
        }
    }

    fn legacy_unit(self, bytes: &[u8], text: &mut String) -> usize {
        let mut decoder = self.0.new_decoder_without_bom_handling();
        // Big5 makes two characters of some pairs; the rest is the spare room the decoder asks for.
        let mut buffer = [0; 32];
        for (index, byte) in bytes.iter().enumerate() {
            let input = std::slice::from_ref(byte);
            let (result, _, written) = decoder.decode_to_utf8_without_replacement(input, &mut buffer, false);
            if let DecoderResult::Malformed(length, _) = result {
                text.push(char::REPLACEMENT_CHARACTER);
                return usize::from(length);
            }
            if written > 0 {
                text.push_str(&String::from_utf8_lossy(&buffer[..written]));
                return index + 1;
            }
        }
        text.push(char::REPLACEMENT_CHARACTER);
        // What is left at the end is one unit, unless its later bytes stand for themselves (a
        // second byte below 0x80).
        match decoder.decode_to_utf8_without_replacement(&[], &mut buffer, true).0 {
            DecoderResult::Malformed(length, _) => usize::from(length),
            DecoderResult::InputEmpty | DecoderResult::OutputFull => bytes.len(),
        }
    }

    /// Decodes whole units from the start of `bytes`, up to `length`, onto `text` for as long as they
    /// make no more than `room` bytes of UTF-8. What comes after `length` is only looked at: it may
    /// decide how many units the bytes before it are. If more of the line follows after `bytes`, the
    /// last few may be left for later.
    pub(super) fn decode_some(
        self,
        bytes: &[u8],
        length: usize,
        rest: Rest,
        room: usize,
        text: &mut String,
    ) -> Decoded {
        if self == Encoding::UTF_8 {
            return decode_some_utf8(&bytes[..length], rest, room, text);
        }
        // No unit grows to more than three times its bytes.
        if rest == Rest::Ends
            && length <= room / 3
            && let (all, true) = self.decode_all(&bytes[..length])
        {
            text.push_str(&all);
            return Decoded { bytes: length, is_full: false };
        }
        let end = text.len().saturating_add(room);
        let mut position = 0;
        loop {
            let remaining = &bytes[position..length];
            if remaining.is_empty() || rest == Rest::Follows && remaining.len() < UNIT_BYTES_MAX {
                return Decoded { bytes: position, is_full: false };
            }
            let room = end - text.len();
            if self.is_single_byte() && room / 3 >= BLOCK_BYTES {
                let block = &remaining[..remaining.len().min(BLOCK_BYTES)];
                text.push_str(&self.decode_all(block).0);
                position += block.len();
                continue;
            }
            if !self.is_utf16() {
                let window = &remaining[..remaining.len().min(room)];
                let ascii = &window[..encoding_rs::Encoding::ascii_valid_up_to(window)];
                if !ascii.is_empty() {
                    text.push_str(&String::from_utf8_lossy(ascii));
                    position += ascii.len();
                    continue;
                }
            }
            let before = text.len();
            let unit = self.decode_unit(&bytes[position..], text);
            if text.len() > end {
                text.truncate(before);
                return Decoded { bytes: position, is_full: true };
            }
            position += unit.bytes;
        }
    }

    /// Puts the bytes of `text` onto `bytes`, or names a character that the encoding does not hold.
    pub(super) fn encode(self, text: &str, bytes: &mut Vec<u8>) -> Result<(), char> {
        if self == Encoding::UTF_8 {
            bytes.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        if self.is_utf16() {
            let is_little = self == Encoding::UTF_16LE;
            let to_bytes = |unit: u16| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            bytes.extend(text.encode_utf16().flat_map(to_bytes));
            return Ok(());
        }
        let start = bytes.len();
        let mut encoder = self.0.new_encoder();
        let mut rest = text;
        loop {
            // Three bytes for one of UTF-8 is beyond every legacy encoding; were it not, the loop
            // would go round again.
            bytes.reserve(rest.len() * 3 + 16);
            let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, bytes, true);
            match result {
                EncoderResult::InputEmpty => break,
                EncoderResult::OutputFull => rest = &rest[read..],
                EncoderResult::Unmappable(character) => return Err(character),
            }
        }
        // Shift_JIS writes a yen sign as a backslash and the like: close enough for a web form,
        // another character for a file.
        let (again, _) = self.decode_all(&bytes[start..]);
        match text.chars().zip(again.chars()).find(|(wanted, got)| wanted != got) {
            Some((character, _)) => Err(character),
            None => Ok(()),
        }
    }
}

fn utf8_unit(bytes: &[u8], text: &mut String) -> usize {
    let head = &bytes[..bytes.len().min(UNIT_BYTES_MAX)];
    let (valid, malformed) = match std::str::from_utf8(head) {
        Ok(valid) => (valid, 0),
        Err(error) => {
            let valid = std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default();
            (valid, error.error_len().unwrap_or(head.len() - error.valid_up_to()))
        }
    };
    if let Some(character) = valid.chars().next() {
        text.push(character);
        character.len_utf8()
    } else {
        text.push(char::REPLACEMENT_CHARACTER);
        malformed
    }
}

fn decode_some_utf8(bytes: &[u8], rest: Rest, room: usize, text: &mut String) -> Decoded {
    let end = text.len().saturating_add(room);
    let mut position = 0;
    while position < bytes.len() {
        let room = end - text.len();
        // Looking one unit further than there is room for tells a full page from the end of a line,
        // and not much further keeps the cost of a page off the length of the line.
        let window_end = bytes.len().min(position.saturating_add(room).saturating_add(UNIT_BYTES_MAX));
        let window = &bytes[position..window_end];
        let (valid, error) = match std::str::from_utf8(window) {
            Ok(valid) => (valid, None),
            Err(error) => {
                (std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(), Some(error))
            }
        };
        if valid.len() > room {
            let fitting = valid.floor_char_boundary(room);
            text.push_str(&valid[..fitting]);
            return Decoded { bytes: position + fitting, is_full: true };
        }
        text.push_str(valid);
        position += valid.len();
        let Some(error) = error else { continue };
        let malformed = match error.error_len() {
            Some(length) => length,
            None if window_end == bytes.len() && rest == Rest::Follows => break,
            None => window.len() - valid.len(),
        };
        if end - text.len() < char::REPLACEMENT_CHARACTER.len_utf8() {
            return Decoded { bytes: position, is_full: true };
        }
        text.push(char::REPLACEMENT_CHARACTER);
        position += malformed;
    }
    Decoded { bytes: position, is_full: false }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_name_is_its_own_label() {
        for (standard, name) in NAMES {
            assert_eq!(name, standard.name().to_ascii_lowercase());
            assert_eq!(Encoding::from_label(name).map(Encoding::name), Some(name));
        }
    }

    #[test]
    fn encodings_with_states_are_not_known() {
        for label in ["iso-2022-jp", "replacement", "x-user-defined", "utf-7"] {
            assert_eq!(Encoding::from_label(label), None, "{label}");
        }
    }

    #[test]
    fn line_breaks_of_utf_16_are_aligned() {
        let text = "\u{0A00}\u{000A}\u{0A0A}\u{010A}\na";
        for encoding in [Encoding::UTF_16LE, Encoding::UTF_16BE] {
            let mut bytes = Vec::new();
            encoding.encode(text, &mut bytes).unwrap();
            assert_eq!(encoding.find_newline(&bytes), Some(2));
            assert_eq!(encoding.find_newline(&bytes[4..]), Some(4));
            assert_eq!(encoding.find_newline(&bytes[10..]), None);
            assert_eq!(encoding.count_newlines(&bytes), 2);
            assert_eq!(encoding.skip_newlines(&bytes, 2), (2, 10));
            assert_eq!(encoding.skip_newlines(&bytes, 3), (2, 12));
        }
    }

    #[test]
    fn all_characters_of_an_encoding_come_back() {
        for (standard, name) in NAMES {
            let encoding = Encoding::from_standard(standard).unwrap();
            for character in '\u{0}'..='\u{2FFFF}' {
                let mut bytes = Vec::new();
                let text = character.encode_utf8(&mut [0; 4]).to_owned();
                if encoding.encode(&text, &mut bytes).is_ok() {
                    assert_eq!(encoding.decode_all(&bytes), (text.as_str().into(), true), "{name}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// The steps are compared with the decoder that decodes all at once.
        #[test]
        fn steps_make_the_same_text(
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), 0x80u8..=0xFF, Just(b'a'), Just(b'\n'), Just(0u8), 0x30u8..0x3A, 0xD8u8..0xE0],
                0..60,
            ),
            rooms in prop::collection::vec(0usize..40, 1..8),
            window in 4usize..20,
        ) {
            for (standard, name) in NAMES {
                let encoding = Encoding::from_standard(standard).unwrap();
                let whole = encoding.decode_all(&bytes).0;
                let mut text = String::new();
                let mut position = 0;
                while position < bytes.len() {
                    let before = text.len();
                    let unit = encoding.decode_unit(&bytes[position..], &mut text);
                    prop_assert!(unit.bytes > 0 && unit.bytes <= UNIT_BYTES_MAX, "{name} {unit:?}");
                    prop_assert_eq!(unit.text, text.len() - before);
                    position += unit.bytes;
                }
                prop_assert_eq!(&text, whole.as_ref(), "{}", name);
                prop_assert_eq!(position, bytes.len());

                // Through a window, with little room at a time.
                let mut text = String::new();
                let mut position = 0;
                let mut rooms = rooms.iter().cycle();
                while position < bytes.len() {
                    let end = (position + window).min(bytes.len());
                    let rest = if end == bytes.len() { Rest::Ends } else { Rest::Follows };
                    let room = *rooms.next().unwrap();
                    let before = text.len();
                    let decoded = encoding.decode_some(&bytes[position..end], end - position, rest, room, &mut text);
                    prop_assert!(text.len() - before <= room);
                    prop_assert!(decoded.is_full || decoded.bytes + UNIT_BYTES_MAX > end - position);
                    position += decoded.bytes;
                    if decoded.is_full {
                        position += encoding.decode_unit(&bytes[position..], &mut text).bytes;
                        prop_assert!(text.len() - before > room);
                    }
                }
                prop_assert_eq!(&text, whole.as_ref(), "{}", name);
            }
        }
    }
}
