//! `internalBinding('icu')`: the encodings of the Encoding standard that have several bytes for a
//! character, `buffer.transcode`, and how wide text is on a terminal.
//!
//! - Decoding is the standard's, by `encoding_rs`, where Node uses ICU's converters; those differ from
//!   it in a few characters.
//! - A decoder is the value behind a handle that the library keeps.
//! - Widths come from the tables of the ICU in V8's library.

use encoding_rs::{CoderResult, Decoder, DecoderResult};

use super::buffer::new_node_buffer;
use super::bytes::{STORAGE, any_bytes, return_utf16, units_of, utf16_units, view_bytes};
use super::codec::Encoding;
use super::{Args, Kind, Return, Scope, handle, set_function, throw_error};

const FLAG_FLUSH: u32 = 1;
const FLAG_FATAL: u32 = 2;
const FLAG_IGNORE_BOM: u32 = 4;

/// ICU's numbers for what can go wrong.
const ILLEGAL_ARGUMENT: i32 = 1;
const INVALID_CHAR_FOUND: i32 = 10;

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "getConverter", get_converter);
    set_function(scope, target, "hasConverter", has_converter);
    set_function(scope, target, "decode", decode);
    set_function(scope, target, "transcode", transcode);
    set_function(scope, target, "icuErrName", icu_error_name);
    set_function(scope, target, "getStringWidth", get_string_width);
}

/// What is behind a handle.
struct Converter {
    encoding: &'static encoding_rs::Encoding,
    decoder: Decoder,
    is_fatal: bool,
    ignores_bom: bool,
}

impl Converter {
    fn reset(&mut self) {
        self.decoder = new_decoder(self.encoding, self.ignores_bom);
    }

    /// The next piece of text; `None` if the bytes are wrong and that is fatal.
    fn decode(&mut self, bytes: &[u8], is_last: bool) -> Option<Vec<u16>> {
        let mut units = vec![0; self.decoder.max_utf16_buffer_length(bytes.len())?];
        let (is_right, written) = if self.is_fatal {
            let (outcome, _, written) =
                self.decoder.decode_to_utf16_without_replacement(bytes, &mut units, is_last);
            (outcome == DecoderResult::InputEmpty, written)
        } else {
            let (outcome, _, written, _) = self.decoder.decode_to_utf16(bytes, &mut units, is_last);
            (outcome == CoderResult::InputEmpty, written)
        };
        if is_last || !is_right {
            self.reset();
        }
        units.truncate(written);
        is_right.then_some(units)
    }
}

fn new_decoder(encoding: &'static encoding_rs::Encoding, ignores_bom: bool) -> Decoder {
    if ignores_bom {
        encoding.new_decoder_without_bom_handling()
    } else {
        encoding.new_decoder_with_bom_removal()
    }
}

fn encoding_for(label: &str) -> Option<&'static encoding_rs::Encoding> {
    encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())
}

/// `(label, flags)`; gives `undefined` for an encoding that there is none of.
fn get_converter(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let label = args.get(0).to_rust_string_lossy(scope);
    let Some(flags) = args.get(1).uint32_value(scope) else { return };
    let Some(encoding) = encoding_for(&label) else { return };
    let ignores_bom = flags & FLAG_IGNORE_BOM != 0;
    let converter = Converter {
        encoding,
        decoder: new_decoder(encoding, ignores_bom),
        is_fatal: flags & FLAG_FATAL != 0,
        ignores_bom,
    };
    if let Some(object) = handle::make(scope, converter, size_of::<Converter>()) {
        result.set(object.into());
    }
}

fn has_converter(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let label = args.get(0).to_rust_string_lossy(scope);
    result.set_bool(encoding_for(&label).is_some());
}

/// `(converter, bytes, flags, name of the encoding)`
fn decode(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(flags) = args.get(2).uint32_value(scope) else { return };
    let name = args.get(3).to_rust_string_lossy(scope);
    let mut storage = STORAGE;
    let Some(bytes) = any_bytes(args.get(1), &mut storage) else {
        return throw_error(
            scope,
            Kind::TypeError,
            "ERR_INVALID_ARG_TYPE",
            "The \"input\" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.",
        );
    };
    let decoded = handle::with(scope, args.get(0), |converter: &mut Converter| {
        converter.decode(bytes, flags & FLAG_FLUSH != 0)
    });
    let Some(decoded) = decoded else {
        return throw_error(scope, Kind::TypeError, "ERR_INVALID_THIS", "The converter is none");
    };
    match decoded {
        Some(units) => return_utf16(scope, &mut result, &units),
        None => {
            let text = format!("The encoded data was not valid for encoding {name}");
            throw_error(scope, Kind::TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA", &text);
        }
    }
}

/// `(bytes, from, to)`; gives a `Buffer`, or ICU's number for what is wrong.
fn transcode(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let from = args.get(1).to_rust_string_lossy(scope);
    let to = args.get(2).to_rust_string_lossy(scope);
    let mut storage = STORAGE;
    let Some(bytes) = view_bytes(args.get(0), &mut storage) else {
        return throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a buffer");
    };
    let transcoded = match (Encoding::from_name(&from), Encoding::from_name(&to)) {
        (Some(from), Some(to)) => transcoded(bytes, from, to),
        _ => Err(ILLEGAL_ARGUMENT),
    };
    match transcoded {
        // Node takes a result without bytes for a failure.
        Ok(bytes) if bytes.is_empty() => result.set_int32(INVALID_CHAR_FOUND),
        Ok(bytes) => {
            if let Some(buffer) = new_node_buffer(scope, &bytes) {
                result.set(buffer.into());
            }
        }
        Err(error) => result.set_int32(error),
    }
}

fn transcoded(bytes: &[u8], from: Encoding, to: Encoding) -> Result<Vec<u8>, i32> {
    let is_strict = matches!((from, to), (Encoding::Utf8, Encoding::Ucs2) | (Encoding::Ucs2, Encoding::Utf8));
    let units: Vec<u16> = match from {
        // As Node does it; all other ways from ASCII replace what is none.
        Encoding::Ascii if to == Encoding::Ucs2 => bytes.iter().map(|byte| u16::from(*byte)).collect(),
        Encoding::Ascii => {
            bytes.iter().map(|byte| if *byte < 0x80 { u16::from(*byte) } else { 0xfffd }).collect()
        }
        Encoding::Latin1 => bytes.iter().map(|byte| u16::from(*byte)).collect(),
        Encoding::Ucs2 => utf16_units(bytes),
        Encoding::Utf8 if is_strict => {
            std::str::from_utf8(bytes).map_err(|_| INVALID_CHAR_FOUND)?.encode_utf16().collect()
        }
        Encoding::Utf8 => String::from_utf8_lossy(bytes).encode_utf16().collect(),
        _ => return Err(ILLEGAL_ARGUMENT),
    };
    let limit = match to {
        Encoding::Ucs2 => return Ok(units.into_iter().flat_map(u16::to_le_bytes).collect()),
        Encoding::Utf8 if is_strict => {
            return String::from_utf16(&units).map(String::into_bytes).map_err(|_| INVALID_CHAR_FOUND);
        }
        Encoding::Utf8 => return Ok(String::from_utf16_lossy(&units).into_bytes()),
        Encoding::Ascii => 0x7f,
        Encoding::Latin1 => 0xff,
        _ => return Err(ILLEGAL_ARGUMENT),
    };
    let characters = char::decode_utf16(units).map(|character| {
        let code = character.map_or(u32::MAX, u32::from);
        u8::try_from(code).ok().filter(|code| *code <= limit).unwrap_or(b'?')
    });
    Ok(characters.collect())
}

/// The names of ICU's first errors, by number.
const ERROR_NAMES: [&str; 16] = [
    "U_ZERO_ERROR",
    "U_ILLEGAL_ARGUMENT_ERROR",
    "U_MISSING_RESOURCE_ERROR",
    "U_INVALID_FORMAT_ERROR",
    "U_FILE_ACCESS_ERROR",
    "U_INTERNAL_PROGRAM_ERROR",
    "U_MESSAGE_PARSE_ERROR",
    "U_MEMORY_ALLOCATION_ERROR",
    "U_INDEX_OUTOFBOUNDS_ERROR",
    "U_PARSE_ERROR",
    "U_INVALID_CHAR_FOUND",
    "U_TRUNCATED_CHAR_FOUND",
    "U_ILLEGAL_CHAR_FOUND",
    "U_INVALID_TABLE_FORMAT",
    "U_INVALID_TABLE_FILE",
    "U_BUFFER_OVERFLOW_ERROR",
];

fn icu_error_name(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let number = args.get(0).integer_value(scope).and_then(|number| usize::try_from(number).ok());
    let name = number.and_then(|number| ERROR_NAMES.get(number)).unwrap_or(&"[BOGUS UErrorCode]");
    super::bytes::return_latin1(scope, &mut result, name.as_bytes());
}

// ICU puts its version into the names of its functions; the version of the crate `v8` is pinned.
unsafe extern "C" {
    safe fn u_charType_78(character: i32) -> i8;
    safe fn u_hasBinaryProperty_78(character: i32, property: i32) -> i8;
    safe fn u_getIntPropertyValue_78(character: i32, property: i32) -> i32;
}

const PROPERTY_EMOJI_PRESENTATION: i32 = 58;
const PROPERTY_EMOJI_MODIFIER: i32 = 59;
const PROPERTY_EAST_ASIAN_WIDTH: i32 = 0x1004;
const WIDTH_NEUTRAL: i32 = 0;
const WIDTH_AMBIGUOUS: i32 = 1;
const WIDTH_FULL: i32 = 3;
const WIDTH_WIDE: i32 = 5;
/// Marks that enclose or do not advance, control and format characters.
const ZERO_WIDTH_TYPES: [i8; 4] = [6, 7, 15, 16];
const SOFT_HYPHEN: i32 = 0xad;
const ZERO_WIDTH_JOINER: i32 = 0x200d;

fn has_property(character: i32, property: i32) -> bool {
    u_hasBinaryProperty_78(character, property) != 0
}

fn column_width(character: i32, is_ambiguous_wide: bool) -> u32 {
    match u_getIntPropertyValue_78(character, PROPERTY_EAST_ASIAN_WIDTH) {
        WIDTH_FULL | WIDTH_WIDE => return 2,
        WIDTH_AMBIGUOUS if is_ambiguous_wide => return 2,
        WIDTH_AMBIGUOUS | WIDTH_NEUTRAL if has_property(character, PROPERTY_EMOJI_PRESENTATION) => return 2,
        _ => {}
    }
    let is_zero = character != SOFT_HYPHEN
        && (ZERO_WIDTH_TYPES.contains(&u_charType_78(character))
            || has_property(character, PROPERTY_EMOJI_MODIFIER));
    u32::from(!is_zero)
}

/// `(text, isAmbiguousWide, expandsEmojiSequences)`
fn get_string_width(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Ok(text) = v8::Local::<v8::String>::try_from(args.get(0)) else { return };
    let is_ambiguous_wide = args.get(1).is_true();
    let expands = !args.get(2).is_boolean() || args.get(2).is_true();
    let mut width = 0;
    let mut before = 0;
    for character in char::decode_utf16(units_of(scope, text)) {
        let character = character.map_or_else(|error| i32::from(error.unpaired_surrogate()), |it| it as i32);
        let is_joined = !expands
            && before == ZERO_WIDTH_JOINER
            && (has_property(character, PROPERTY_EMOJI_PRESENTATION)
                || has_property(character, PROPERTY_EMOJI_MODIFIER));
        before = character;
        if !is_joined {
            width += column_width(character, is_ambiguous_wide);
        }
    }
    result.set_uint32(width);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcoding_replaces_what_the_target_lacks() {
        let text = "aé€😀".as_bytes();
        assert_eq!(transcoded(text, Encoding::Utf8, Encoding::Latin1), Ok(b"a\xe9??".to_vec()));
        assert_eq!(transcoded(text, Encoding::Utf8, Encoding::Ascii), Ok(b"a???".to_vec()));
        assert_eq!(transcoded(b"\xff", Encoding::Utf8, Encoding::Ucs2), Err(INVALID_CHAR_FOUND));
        assert_eq!(transcoded(b"\x00\xd8", Encoding::Ucs2, Encoding::Utf8), Err(INVALID_CHAR_FOUND));
        assert_eq!(transcoded(b"a", Encoding::Hex, Encoding::Utf8), Err(ILLEGAL_ARGUMENT));
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (character, width) in
            [('a', 1), ('世', 2), ('😀', 2), ('\u{301}', 0), ('\u{ad}', 1), ('\u{200b}', 0)]
        {
            assert_eq!(column_width(character as i32, false), width, "{character:?}");
        }
        assert_eq!(column_width('α' as i32, true), 2);
    }
}
