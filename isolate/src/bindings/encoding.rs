//! `internalBinding('encoding_binding')`: UTF-8 for `TextEncoder` and `TextDecoder`, and domain names.

use v8::simdutf;

use super::bytes::{STORAGE, any_bytes, buffer_span, new_buffer, return_utf8, view_span};
use super::{Args, Kind, Return, Scope, set_function, throw_error};

/// `[units read, bytes written]` of the last `encodeInto`.
struct EncodeIntoResults(v8::Global<v8::Uint32Array>);

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "encodeInto", encode_into);
    set_function(scope, target, "encodeUtf8String", encode_utf8_string);
    set_function(scope, target, "decodeUTF8", decode_utf8);
    set_function(scope, target, "toASCII", to_ascii);
    set_function(scope, target, "toUnicode", to_unicode);
    set_function(scope, target, "setEncodeIntoResults", set_encode_into_results);
}

/// Takes the array that the library reads the results of `encodeInto` from: it keeps the one that it
/// found when it was loaded, before there was a native function.
fn set_encode_into_results(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    if let Ok(results) = v8::Local::<v8::Uint32Array>::try_from(args.get(0)) {
        let results = EncodeIntoResults(v8::Global::new(scope, results));
        scope.set_slot(results);
    }
}

fn throw_type(scope: &mut Scope<'_, '_>, message: &str) {
    throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", message);
}

/// `(text, bytes)`
fn encode_into(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    let Ok(text) = v8::Local::<v8::String>::try_from(args.get(0)) else {
        return throw_type(scope, "argument must be a string");
    };
    let Some(span) = view_span(scope, args.get(1)) else {
        return throw_type(scope, "argument must be a buffer");
    };
    let mut read = 0;
    // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
    let target = unsafe { span.bytes_mut() };
    let written = text.write_utf8_v2(scope, target, v8::WriteFlags::kReplaceInvalidUtf8, Some(&mut read));
    let Some(results) = scope.get_slot::<EncodeIntoResults>().map(|results| results.0.clone()) else {
        return;
    };
    let results = v8::Local::new(scope, results);
    for (index, number) in [read, written].into_iter().enumerate() {
        let number = v8::Number::new(scope, number as f64);
        results.set_index(scope, index as u32, number.into());
    }
}

fn encode_utf8_string(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Ok(text) = v8::Local::<v8::String>::try_from(args.get(0)) else {
        return throw_type(scope, "argument must be a string");
    };
    let len = text.utf8_length(scope);
    let Some(buffer) = new_buffer(scope, len) else { return };
    if let Some(span) = buffer_span(buffer.into()) {
        // SAFETY: the buffer is new, so nobody else has a slice of it, and no JavaScript runs here.
        let target = unsafe { span.bytes_mut() };
        text.write_utf8_v2(scope, target, v8::WriteFlags::kReplaceInvalidUtf8, None);
    }
    if let Some(array) = v8::Uint8Array::new(scope, buffer, 0, len) {
        result.set(array.into());
    }
}

/// `(bytes, ignoreBOM, isFatal)`
fn decode_utf8(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    let Some(mut bytes) = any_bytes(args.get(0), &mut storage) else {
        return throw_type(
            scope,
            "The \"list\" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.",
        );
    };
    if args.get(2).is_true() && !simdutf::validate_utf8(bytes) {
        return throw_error(
            scope,
            Kind::TypeError,
            "ERR_ENCODING_INVALID_ENCODED_DATA",
            "The encoded data was not valid for encoding utf-8",
        );
    }
    if !args.get(1).boolean_value(scope) {
        bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    }
    return_utf8(scope, &mut result, bytes);
}

fn to_ascii(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let domain = args.get(0).to_rust_string_lossy(scope);
    return_utf8(scope, &mut result, ada_url::Idna::ascii(&domain).as_bytes());
}

fn to_unicode(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let domain = args.get(0).to_rust_string_lossy(scope);
    return_utf8(scope, &mut result, ada_url::Idna::unicode(&domain).as_bytes());
}
