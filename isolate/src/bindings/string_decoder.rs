//! `internalBinding('string_decoder')`: text out of bytes that come in pieces.
//!
//! The state is seven bytes in a `Buffer` of the library's, where code can change it: up to four bytes
//! of a character that is not complete, how many are missing, how many are there, and the encoding.
//! A state that no decoding leaves behind counts as an empty one.

use super::bytes::{STORAGE, return_latin1, return_utf8, return_utf16, utf16_units, view_bytes, view_span};
use super::codec::{Encoding, base64_encode, hex_encode};
use super::{Args, Kind, Return, Scope, set_function, set_number, set_value, throw_error};

const PART_MAX: usize = 4;
const MISSING: usize = 4;
const BUFFERED: usize = 5;
const ENCODING: usize = 6;
const SIZE: usize = 7;

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "decode", decode);
    set_function(scope, target, "flush", flush);
    set_number(scope, target, "kIncompleteCharactersStart", 0.0);
    set_number(scope, target, "kIncompleteCharactersEnd", PART_MAX as f64);
    set_number(scope, target, "kMissingBytes", MISSING as f64);
    set_number(scope, target, "kBufferedBytes", BUFFERED as f64);
    set_number(scope, target, "kEncodingField", ENCODING as f64);
    set_number(scope, target, "kNumFields", SIZE as f64);
    set_number(scope, target, "kSize", SIZE as f64);
    let names: Option<Vec<_>> =
        Encoding::ALL.iter().map(|(_, name)| Some(v8::String::new(scope, name)?.into())).collect();
    if let Some(names) = names {
        let encodings = v8::Array::new_with_elements(scope, &names);
        set_value(scope, target, "encodings", encodings.into());
    }
}

/// What is kept between two pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    part: [u8; PART_MAX],
    missing: usize,
    buffered: usize,
    encoding: Encoding,
}

impl State {
    fn from_bytes(bytes: [u8; SIZE]) -> Self {
        let [part @ .., missing, buffered, encoding] = bytes;
        let (mut missing, mut buffered) = (usize::from(missing), usize::from(buffered));
        let encoding = Encoding::from_number(u32::from(encoding)).unwrap_or(Encoding::Utf8);
        let keeps = matches!(
            encoding,
            Encoding::Utf8 | Encoding::Buffer | Encoding::Ucs2 | Encoding::Base64 | Encoding::Base64Url
        );
        if missing + buffered > PART_MAX || !keeps {
            (missing, buffered) = (0, 0);
        }
        Self { part, missing, buffered, encoding }
    }

    fn to_bytes(self) -> [u8; SIZE] {
        let [a, b, c, d] = self.part;
        // None of the three is more than seven.
        [a, b, c, d, self.missing as u8, self.buffered as u8, self.encoding as u8]
    }

    /// Takes a piece; gives the bytes that can become text now, and keeps those of a character that is
    /// not complete.
    fn take(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len() + PART_MAX);
        if self.missing > 0 {
            if matches!(self.encoding, Encoding::Utf8 | Encoding::Buffer) {
                let continuing =
                    bytes.iter().take(self.missing).take_while(|byte| **byte & 0xc0 == 0x80).count();
                if continuing < self.missing && continuing < bytes.len() {
                    // Something else begins before the character is complete: what is there of it is
                    // all that there is.
                    self.missing = continuing;
                }
            }
            let found = self.missing.min(bytes.len());
            self.part[self.buffered..self.buffered + found].copy_from_slice(&bytes[..found]);
            bytes = &bytes[found..];
            self.missing -= found;
            self.buffered += found;
            if self.missing == 0 {
                text.extend_from_slice(&self.part[..self.buffered]);
                self.buffered = 0;
            }
        }
        if bytes.is_empty() {
            return text;
        }
        (self.buffered, self.missing) = incomplete(self.encoding, bytes);
        let (complete, rest) = bytes.split_at(bytes.len() - self.buffered);
        self.part[..rest.len()].copy_from_slice(rest);
        text.extend_from_slice(complete);
        text
    }

    /// The bytes that are left at the end.
    fn finish(&mut self) -> Vec<u8> {
        if self.encoding == Encoding::Ucs2 && self.buffered % 2 == 1 {
            self.buffered -= 1;
        }
        let text = self.part[..self.buffered].to_vec();
        (self.missing, self.buffered) = (0, 0);
        text
    }
}

/// How many bytes at the end belong to a character that is not complete, and how many it lacks.
fn incomplete(encoding: Encoding, bytes: &[u8]) -> (usize, usize) {
    let len = bytes.len();
    match encoding {
        Encoding::Utf8 | Encoding::Buffer => {
            for (index, byte) in bytes.iter().rev().take(PART_MAX - 1).enumerate() {
                let needed = match byte {
                    0x80..=0xbf => continue,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => return (0, 0),
                };
                let there = index + 1;
                return if there < needed { (there, needed - there) } else { (0, 0) };
            }
            (0, 0)
        }
        Encoding::Ucs2 if len % 2 == 1 => (1, 1),
        Encoding::Ucs2 if bytes[len - 1] & 0xfc == 0xd8 => (2, 2),
        Encoding::Base64 | Encoding::Base64Url if !len.is_multiple_of(3) => (len % 3, 3 - len % 3),
        _ => (0, 0),
    }
}

/// The state in the first argument. Without one an exception is pending.
fn state_of(scope: &mut Scope<'_, '_>, args: &Args<'_>) -> Option<State> {
    let mut storage = STORAGE;
    let bytes = view_bytes(args.get(0), &mut storage);
    let Some(bytes) = bytes.and_then(|bytes| <[u8; SIZE]>::try_from(bytes.get(..SIZE)?).ok()) else {
        throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a buffer");
        return None;
    };
    Some(State::from_bytes(bytes))
}

fn keep_state(scope: &mut Scope<'_, '_>, args: &Args<'_>, state: State) {
    if let Some(span) = view_span(scope, args.get(0)).filter(|span| span.len() >= SIZE) {
        // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
        unsafe { span.part(0, SIZE).bytes_mut() }.copy_from_slice(&state.to_bytes());
    }
}

fn return_text(scope: &mut Scope<'_, '_>, result: &mut Return<'_>, encoding: Encoding, bytes: &[u8]) {
    match encoding {
        Encoding::Utf8 | Encoding::Buffer => return_utf8(scope, result, bytes),
        Encoding::Ucs2 => return_utf16(scope, result, &utf16_units(bytes)),
        Encoding::Latin1 => return_latin1(scope, result, bytes),
        Encoding::Ascii => {
            let bytes: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
            return_latin1(scope, result, &bytes);
        }
        Encoding::Hex => return_latin1(scope, result, &hex_encode(bytes)),
        Encoding::Base64 => return_latin1(scope, result, &base64_encode(bytes, false)),
        Encoding::Base64Url => return_latin1(scope, result, &base64_encode(bytes, true)),
    }
}

/// `(state, bytes)`
fn decode(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(mut state) = state_of(scope, &args) else { return };
    let mut storage = STORAGE;
    let Some(bytes) = view_bytes(args.get(1), &mut storage) else {
        return throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a buffer");
    };
    if state.missing == 0 && incomplete_is_none(state.encoding, bytes) {
        // Nothing kept and nothing to keep: no copy is needed.
        state.buffered = 0;
        keep_state(scope, &args, state);
        return return_text(scope, &mut result, state.encoding, bytes);
    }
    let text = state.take(bytes);
    keep_state(scope, &args, state);
    return_text(scope, &mut result, state.encoding, &text);
}

fn incomplete_is_none(encoding: Encoding, bytes: &[u8]) -> bool {
    bytes.is_empty() || incomplete(encoding, bytes) == (0, 0)
}

/// `(state)`
fn flush(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(mut state) = state_of(scope, &args) else { return };
    let text = state.finish();
    keep_state(scope, &args, state);
    return_text(scope, &mut result, state.encoding, &text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(encoding: Encoding) -> State {
        State { part: [0; PART_MAX], missing: 0, buffered: 0, encoding }
    }

    /// What comes out of pieces is what comes out of the whole, wherever they are cut.
    #[test]
    fn pieces_make_the_same_text_as_the_whole() {
        let texts: [&[u8]; 4] = ["aé€😀z".as_bytes(), b"\xf0\x9fabc\xe2\x82", b"\x80\x80\xff", b"abcdefg"];
        for encoding in [Encoding::Utf8, Encoding::Ucs2, Encoding::Base64, Encoding::Latin1] {
            for text in texts {
                for cut in 0..=text.len() {
                    let mut state = empty(encoding);
                    let mut result = state.take(&text[..cut]);
                    result.extend(state.take(&text[cut..]));
                    result.extend(state.finish());
                    let kept = if encoding == Encoding::Ucs2 { text.len() & !1 } else { text.len() };
                    assert_eq!(result, &text[..kept], "{encoding:?} cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn a_character_is_given_only_when_it_is_complete() {
        let mut state = empty(Encoding::Utf8);
        assert_eq!(state.take("€".as_bytes().get(..2).expect("it has three")), b"");
        assert_eq!((state.buffered, state.missing), (2, 1));
        assert_eq!(state.take(b"\xac!"), "€!".as_bytes());
    }

    #[test]
    fn an_impossible_state_is_an_empty_one() {
        for bytes in [[0, 0, 0, 0, 255, 255, 1], [0, 0, 0, 0, 3, 3, 200], [1, 1, 1, 1, 1, 1, 4]] {
            let mut state = State::from_bytes(bytes);
            assert_eq!((state.missing, state.buffered), (0, 0));
            assert_eq!(state.take(b"abc"), b"abc");
        }
    }
}
