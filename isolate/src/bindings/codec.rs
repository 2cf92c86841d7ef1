//! Node's text encodings: base64 and hexadecimal as lenient as Node is, and the names of all.
//!
//! No V8 here but its copy of simdutf.

use v8::simdutf;

/// The encodings of `Buffer`, with the numbers that Node's library knows them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Seven bits when read, the low eight when written.
    Ascii,
    /// The default.
    Utf8,
    /// With `+`, `/` and padding.
    Base64,
    /// UTF-16, low byte first.
    Ucs2,
    /// One byte for each character.
    Latin1,
    /// Two digits for each byte.
    Hex,
    /// As UTF-8.
    Buffer,
    /// With `-` and `_`, without padding.
    Base64Url,
}

impl Encoding {
    /// All, in the order of their numbers, with the names that the library has for them.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Ascii, "ascii"),
        (Self::Utf8, "utf8"),
        (Self::Base64, "base64"),
        (Self::Ucs2, "utf16le"),
        (Self::Latin1, "latin1"),
        (Self::Hex, "hex"),
        (Self::Buffer, "buffer"),
        (Self::Base64Url, "base64url"),
    ];

    /// The encoding with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).map(|(encoding, _)| *encoding)
    }

    /// The encoding with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "ascii" => Self::Ascii,
            "utf8" | "utf-8" => Self::Utf8,
            "base64" => Self::Base64,
            "ucs2" | "ucs-2" | "utf16le" | "utf-16le" => Self::Ucs2,
            "latin1" | "binary" => Self::Latin1,
            "hex" => Self::Hex,
            "buffer" => Self::Buffer,
            "base64url" => Self::Base64Url,
            _ => return None,
        })
    }
}

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Both digits of every byte.
const HEX_PAIRS: [[u8; 2]; 256] = {
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [HEX_DIGITS[byte >> 4], HEX_DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// What a character is worth as a digit; more than 15 if it is none.
const HEX_VALUES: [u8; 256] = {
    let mut values = [0xff; 256];
    let mut digit = 0;
    while digit < 16 {
        values[HEX_DIGITS[digit] as usize] = digit as u8;
        values[HEX_DIGITS[digit].to_ascii_uppercase() as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// Two digits for each byte.
pub fn hex_encode(bytes: &[u8]) -> Vec<u8> {
    let mut text = vec![0; bytes.len() * 2];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&HEX_PAIRS[usize::from(*byte)]);
    }
    text
}

/// Reads pairs of digits until `target` is full or something else comes. Gives the bytes written.
pub fn hex_decode(target: &mut [u8], text: &[u8]) -> usize {
    let mut written = 0;
    for (slot, pair) in target.iter_mut().zip(text.chunks_exact(2)) {
        let (high, low) = (HEX_VALUES[usize::from(pair[0])], HEX_VALUES[usize::from(pair[1])]);
        if high | low > 15 {
            break;
        }
        *slot = high << 4 | low;
        written += 1;
    }
    written
}

/// In base64, or with the alphabet for URLs and without padding.
pub fn base64_encode(bytes: &[u8], is_url: bool) -> Vec<u8> {
    let options = if is_url { simdutf::Base64Options::Url } else { simdutf::Base64Options::Default };
    let mut text = vec![0; simdutf::base64_length_from_binary(bytes.len(), options)];
    // SAFETY: `text` is as long as simdutf said that the result is.
    let len = unsafe { simdutf::binary_to_base64(bytes, &mut text, options) };
    text.truncate(len);
    text
}

/// Reads base64 of either alphabet up to the first `=`, skips what belongs to neither, and stops when
/// `target` is full. Gives the bytes written.
pub fn base64_decode(target: &mut [u8], text: &[u8]) -> usize {
    if target.len() >= simdutf::maximal_binary_length_from_base64(text) {
        // SAFETY: `target` is as long as simdutf asks for.
        let result = unsafe {
            simdutf::base64_to_binary(
                text,
                target,
                simdutf::Base64Options::Default,
                simdutf::LastChunkHandling::Loose,
            )
        };
        if result.is_ok() {
            return result.count;
        }
    }
    let (mut bits, mut bit_count, mut written) = (0_u32, 0, 0);
    for character in text {
        let Some(digit) = base64_digit(*character) else {
            if *character == b'=' {
                break;
            }
            continue;
        };
        bits = bits << 6 | digit;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            let Some(slot) = target.get_mut(written) else { break };
            *slot = (bits >> bit_count & 0xff) as u8;
            written += 1;
        }
    }
    written
}

fn base64_digit(character: u8) -> Option<u32> {
    Some(u32::from(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

/// Why `atob` refuses a text, with Node's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtobError {
    /// One character is left that makes no byte.
    Remainder = -1,
    /// Something that is not base64.
    Character = -2,
    /// Anything else.
    Other = -3,
}

/// The forgiving decoding of the HTML standard.
pub fn atob(text: &[u8]) -> Result<Vec<u8>, AtobError> {
    let mut bytes = vec![0; simdutf::maximal_binary_length_from_base64(text)];
    // SAFETY: `bytes` is as long as simdutf asks for.
    let result = unsafe {
        simdutf::base64_to_binary(
            text,
            &mut bytes,
            simdutf::Base64Options::Default,
            simdutf::LastChunkHandling::Loose,
        )
    };
    match result.error {
        simdutf::ErrorCode::Success => {
            bytes.truncate(result.count);
            Ok(bytes)
        }
        simdutf::ErrorCode::InvalidBase64Character => Err(AtobError::Character),
        simdutf::ErrorCode::Base64InputRemainder => Err(AtobError::Remainder),
        _ => Err(AtobError::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_lenient_as_node_does() {
        // (text, room, result of Node 24)
        let cases: &[(&str, usize, &[u8])] = &[
            ("YQ==YWI", 12, b"a"),
            ("Y Q = = Y", 12, b"a"),
            ("YWI-_+/", 12, b"ab>\xff\xef"),
            ("YWJj!!YWJj", 12, b"abcabc"),
            ("Y", 12, b""),
            ("YWJ", 12, b"ab"),
            ("=YWJ", 12, b""),
            ("YWJjZGVm", 4, b"abcd"),
            ("YWJj", 0, b""),
        ];
        for (text, room, expected) in cases {
            let mut target = vec![0; *room];
            let written = base64_decode(&mut target, text.as_bytes());
            assert_eq!(&target[..written], *expected, "{text}");
        }
    }

    #[test]
    fn base64_writes_both_alphabets() {
        assert_eq!(base64_encode(b"\xfb\xff\xfe\xff", false), b"+//+/w==");
        assert_eq!(base64_encode(b"\xfb\xff\xfe\xff", true), b"-__-_w");
        assert_eq!(base64_encode(b"", false), b"");
    }

    #[test]
    fn hexadecimal_ends_at_the_first_wrong_pair() {
        let mut target = [0; 4];
        assert_eq!(hex_decode(&mut target, b"00fFzz11"), 2);
        assert_eq!(target, [0, 255, 0, 0]);
        assert_eq!(hex_decode(&mut target, b"abc"), 1);
        assert_eq!(hex_encode(&[0, 171, 255]), b"00abff");
    }

    #[test]
    fn atob_tells_its_errors_apart() {
        assert_eq!(atob(b"Y Q\n"), Ok(b"a".to_vec()));
        assert_eq!(atob(b"Y"), Err(AtobError::Remainder));
        assert_eq!(atob(b"@@"), Err(AtobError::Character));
        assert_eq!(atob(b"YQ="), Err(AtobError::Character));
    }

    #[test]
    fn encodings_have_the_numbers_of_their_places() {
        for (number, (encoding, name)) in Encoding::ALL.iter().enumerate() {
            assert_eq!(*encoding as usize, number);
            assert_eq!(Encoding::from_number(number as u32), Some(*encoding));
            assert_eq!(Encoding::from_name(name), Some(*encoding));
        }
        assert_eq!(Encoding::from_number(8), None);
        assert_eq!(Encoding::from_name("UCS-2"), Some(Encoding::Ucs2));
        assert_eq!(Encoding::from_name("utf7"), None);
    }
}
