//! The part of DER and PEM that keys are written in.
//!
//! A reader that walks tag by tag over borrowed bytes, and functions that build the same bytes. It knows no
//! key: what the sequences mean is `key.rs`. Lengths are checked against what is there before anything is
//! taken, so no input makes it allocate more than the input itself.

use super::failure::{Failure, Result};

/// INTEGER
pub const INTEGER: u8 = 0x02;
/// BIT STRING
pub const BIT_STRING: u8 = 0x03;
/// OCTET STRING
pub const OCTET_STRING: u8 = 0x04;
/// NULL
pub const NULL: u8 = 0x05;
/// OBJECT IDENTIFIER
pub const OBJECT_ID: u8 = 0x06;
/// SEQUENCE
pub const SEQUENCE: u8 = 0x30;

/// Reads one value after the other.
#[derive(Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Over these bytes.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tag of the next value.
    pub fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next value, whatever it is.
    pub fn any(&mut self) -> Result<(u8, &'a [u8])> {
        let [tag, length, rest @ ..] = self.0 else { return Err(Failure::bad_der()) };
        let (length, rest) = match *length {
            short @ 0..=0x7f => (usize::from(short), rest),
            long => {
                let count = usize::from(long & 0x7f);
                if count == 0 || count > 4 || rest.len() < count {
                    return Err(Failure::bad_der());
                }
                (rest[..count].iter().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte)), &rest[count..])
            }
        };
        if rest.len() < length {
            return Err(Failure::bad_der());
        }
        let (value, rest) = rest.split_at(length);
        self.0 = rest;
        Ok((*tag, value))
    }

    /// The next value, which must have this tag.
    pub fn take(&mut self, tag: u8) -> Result<&'a [u8]> {
        match self.any()? {
            (found, value) if found == tag => Ok(value),
            _ => Err(Failure::bad_der()),
        }
    }

    /// The next value if it has this tag.
    pub fn optional(&mut self, tag: u8) -> Result<Option<&'a [u8]>> {
        if self.peek() == Some(tag) { self.take(tag).map(Some) } else { Ok(None) }
    }

    /// What is inside the next sequence.
    pub fn sequence(&mut self) -> Result<Reader<'a>> {
        self.take(SEQUENCE).map(Reader)
    }

    /// A non-negative number without leading zeros.
    pub fn unsigned(&mut self) -> Result<&'a [u8]> {
        let value = self.take(INTEGER)?;
        if value.is_empty() || value[0] & 0x80 != 0 {
            return Err(Failure::bad_der());
        }
        let zeros = value.iter().take_while(|byte| **byte == 0).count();
        Ok(&value[zeros..])
    }

    /// A small number, such as a version.
    pub fn small(&mut self) -> Result<u32> {
        let value = self.unsigned()?;
        if value.len() > 4 {
            return Err(Failure::bad_der());
        }
        Ok(value.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    }

    /// A bit string of whole bytes.
    pub fn bits(&mut self) -> Result<&'a [u8]> {
        match self.take(BIT_STRING)? {
            [0, rest @ ..] => Ok(rest),
            _ => Err(Failure::bad_der()),
        }
    }
}

/// One value.
pub fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    if length < 0x80 {
        out.push(length as u8);
    } else {
        let bytes = (length as u32).to_be_bytes();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        out.push(0x80 | (4 - zeros) as u8);
        out.extend_from_slice(&bytes[zeros..]);
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

/// A sequence of these values.
pub fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    value(SEQUENCE, parts)
}

/// A non-negative number.
pub fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros..];
    if bytes.first().is_none_or(|first| first & 0x80 != 0) {
        value(INTEGER, &[&[0], bytes])
    } else {
        value(INTEGER, &[bytes])
    }
}

/// A bit string of whole bytes.
pub fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes])
}

/// One block of a PEM text.
#[derive(Debug, PartialEq, Eq)]
pub struct Pem {
    /// What its first line says it is.
    pub label: String,
    /// The value of its `DEK-Info` line, when it is encrypted the old way.
    pub encryption: Option<String>,
    /// Its bytes.
    pub body: Vec<u8>,
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64_decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        bits = bits << 6 | BASE64.iter().position(|known| *known == byte)? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

/// The first PEM block of a text.
pub fn read_pem(text: &str) -> Option<Pem> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body = body.trim_start();
    let mut encryption = None;
    let body = match body.split_once("\n\n").or_else(|| body.split_once("\r\n\r\n")) {
        Some((head, rest)) if head.contains(':') => {
            encryption = head
                .lines()
                .find_map(|line| line.strip_prefix("DEK-Info:"))
                .map(|value| value.trim().to_owned());
            rest
        }
        _ => body,
    };
    Some(Pem { label: label.to_owned(), encryption, body: base64_decode(body)? })
}

/// A PEM text with lines of 64 characters; `head` are lines before the body.
pub fn write_pem(label: &str, head: &str, body: &[u8]) -> String {
    let mut text = String::with_capacity(body.len() / 48 * 65 + 2 * label.len() + 64);
    let mut column = 0;
    for three in body.chunks(3) {
        let bits =
            three.iter().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for index in 0..4 {
            let digit = (bits >> (18 - 6 * index)) & 63;
            text.push(if index <= three.len() { BASE64[digit as usize] as char } else { '=' });
        }
        column += 4;
        if column == 64 {
            text.push('\n');
            column = 0;
        }
    }
    if column > 0 {
        text.push('\n');
    }
    format!("-----BEGIN {label}-----\n{head}{text}-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_for_every_form_of_a_length() {
        for length in [0usize, 1, 0x7f, 0x80, 0xff, 0x100, 70_000] {
            let bytes = vec![7u8; length];
            let whole = sequence(&[&value(OCTET_STRING, &[&bytes]), &unsigned(&[0, 0, 0x80])]);
            let mut outer = Reader::new(&whole);
            let mut inner = outer.sequence().expect("a sequence");
            assert_eq!(inner.take(OCTET_STRING).expect("an octet string"), bytes);
            assert_eq!(inner.unsigned().expect("a number"), [0x80]);
            assert!(inner.is_empty() && outer.is_empty());
        }
    }

    #[test]
    fn what_is_cut_or_claims_more_than_there_is_is_refused() {
        let whole = sequence(&[&unsigned(&[1]), &bits(&[2; 200])]);
        for end in 0..whole.len() {
            assert!(Reader::new(&whole[..end]).sequence().is_err(), "{end}");
        }
        for bytes in
            [&[0x30, 0x85, 1, 1, 1, 1, 1][..], &[0x30, 0x80, 0, 0], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]]
        {
            assert!(Reader::new(bytes).any().is_err());
        }
        assert!(Reader::new(&[INTEGER, 1, 0x80]).unsigned().is_err());
    }

    #[test]
    fn pem_comes_back_for_every_remainder_and_reads_old_encryption() {
        for length in 0..100u8 {
            let body: Vec<u8> = (0..length).collect();
            let text = write_pem("PUBLIC KEY", "", &body);
            assert_eq!(read_pem(&text), Some(Pem { label: "PUBLIC KEY".to_owned(), encryption: None, body }));
        }
        let text =
            write_pem("EC PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00FF\n\n", &[1, 2, 3]);
        let pem = read_pem(&text).expect("a block");
        assert_eq!((pem.encryption.as_deref(), &pem.body[..]), (Some("AES-256-CBC,00FF"), &[1, 2, 3][..]));
        assert_eq!(read_pem("-----BEGIN A-----\n*\n-----END A-----"), None);
        assert_eq!(read_pem("nothing"), None);
    }
}
