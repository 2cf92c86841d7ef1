//! `internalBinding('buffer')`: strings in and out of bytes, comparing, searching and filling.
//!
//! The library checks most arguments before it calls. What it leaves to Node's C++ has the same errors
//! here; what only a broken prelude could pass is clipped or refused, and never reaches other memory.

use memchr::memmem;
use v8::simdutf;

use super::bytes::{
    self, STORAGE, Span, any_bytes, buffer_span, low_bytes, return_latin1, return_utf8, return_utf16,
    units_of, utf16_units, view_bytes, view_span,
};
use super::codec::{self, Encoding};
use super::{Args, Kind, Return, Scope, set_function, set_number, throw_error};

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "setBufferPrototype", set_buffer_prototype);
    set_function(scope, target, "getZeroFillToggle", |_: &mut Scope<'_, '_>, _: Args<'_>, _: Return<'_>| {});
    set_function(scope, target, "byteLengthUtf8", byte_length_utf8);
    set_function(scope, target, "copy", copy);
    set_function(scope, target, "copyArrayBuffer", copy_array_buffer);
    set_function(scope, target, "createUnsafeArrayBuffer", create_array_buffer);
    set_function(scope, target, "setDetachKey", set_detach_key);
    set_function(scope, target, "compare", compare);
    set_function(scope, target, "compareOffset", compare_offset);
    set_function(scope, target, "fill", fill);
    set_function(scope, target, "isAscii", is_ascii);
    set_function(scope, target, "isUtf8", is_utf8);
    set_function(scope, target, "indexOfBuffer", index_of_buffer);
    set_function(scope, target, "indexOfNumber", index_of_number);
    set_function(scope, target, "indexOfString", index_of_string);
    set_function(scope, target, "swap16", swap::<2>);
    set_function(scope, target, "swap32", swap::<4>);
    set_function(scope, target, "swap64", swap::<8>);
    set_function(scope, target, "atob", atob);
    set_function(scope, target, "btoa", btoa);
    set_function(scope, target, "asciiSlice", ascii_slice);
    set_function(scope, target, "base64Slice", base64_slice);
    set_function(scope, target, "base64urlSlice", base64url_slice);
    set_function(scope, target, "latin1Slice", latin1_slice);
    set_function(scope, target, "hexSlice", hex_slice);
    set_function(scope, target, "ucs2Slice", ucs2_slice);
    set_function(scope, target, "utf8Slice", utf8_slice);
    set_function(scope, target, "base64Write", base64_write);
    set_function(scope, target, "base64urlWrite", base64_write);
    set_function(scope, target, "hexWrite", hex_write);
    set_function(scope, target, "ucs2Write", ucs2_write);
    set_function(scope, target, "asciiWriteStatic", latin1_write);
    set_function(scope, target, "latin1WriteStatic", latin1_write);
    set_function(scope, target, "utf8WriteStatic", utf8_write);
    set_number(scope, target, "kMaxLength", v8::Uint8Array::MAX_LENGTH as f64);
    set_number(scope, target, "kStringMaxLength", v8::String::MAX_LENGTH as f64);
}

/// `Buffer.prototype`, for buffers that are made here.
struct BufferPrototype(v8::Global<v8::Object>);

fn set_buffer_prototype(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    if let Ok(prototype) = v8::Local::<v8::Object>::try_from(args.get(0)) {
        let prototype = BufferPrototype(v8::Global::new(scope, prototype));
        scope.set_slot(prototype);
    }
}

/// A `Buffer` with a copy of `bytes`.
pub fn new_node_buffer<'s>(scope: &mut Scope<'s, '_>, bytes: &[u8]) -> Option<v8::Local<'s, v8::Uint8Array>> {
    let array = bytes::new_bytes(scope, bytes)?;
    if let Some(prototype) = scope.get_slot::<BufferPrototype>().map(|prototype| prototype.0.clone()) {
        let prototype = v8::Local::new(scope, prototype);
        array.set_prototype(scope, prototype.into());
    }
    Some(array)
}

fn throw_not_buffer(scope: &mut Scope<'_, '_>) {
    throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a buffer");
}

fn throw_not_string(scope: &mut Scope<'_, '_>) {
    throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a string");
}

fn throw_out_of_range(scope: &mut Scope<'_, '_>) {
    throw_error(scope, Kind::RangeError, "ERR_OUT_OF_RANGE", "Index out of range");
}

/// A position in a buffer. Without one an exception is pending.
fn index_of(scope: &mut Scope<'_, '_>, value: v8::Local<'_, v8::Value>, default: usize) -> Option<usize> {
    if value.is_undefined() {
        return Some(default);
    }
    let index = value.integer_value(scope)?;
    let index = usize::try_from(index).ok();
    if index.is_none() {
        throw_out_of_range(scope);
    }
    index
}

/// An argument that is a string. Without one an exception is pending.
fn string_arg<'s>(
    scope: &mut Scope<'_, '_>,
    value: v8::Local<'s, v8::Value>,
) -> Option<v8::Local<'s, v8::String>> {
    let text = v8::Local::<v8::String>::try_from(value).ok();
    if text.is_none() {
        throw_not_string(scope);
    }
    text
}

/// An argument that is a view, as memory that can be written to. Without one an exception is pending.
fn span_arg(scope: &mut Scope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Span> {
    let span = view_span(scope, value);
    if span.is_none() {
        throw_not_buffer(scope);
    }
    span
}

fn byte_length_utf8(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    if let Some(text) = string_arg(scope, args.get(0)) {
        result.set_double(text.utf8_length(scope) as f64);
    }
}

/// `(source, target, targetStart, sourceStart, length)`
fn copy(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(target_start) = index_of(scope, args.get(2), 0) else { return };
    let Some(source_start) = index_of(scope, args.get(3), 0) else { return };
    let Some(len) = index_of(scope, args.get(4), 0) else { return };
    let Some(source) = span_arg(scope, args.get(0)) else { return };
    let Some(target) = span_arg(scope, args.get(1)) else { return };
    let copied = target.part(target_start, len).copy_from(source.part(source_start, len));
    result.set_double(copied as f64);
}

/// `(target, targetStart, source, sourceStart, length)`, with buffers instead of views.
fn copy_array_buffer(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    let Some(target_start) = index_of(scope, args.get(1), 0) else { return };
    let Some(source_start) = index_of(scope, args.get(3), 0) else { return };
    let Some(len) = index_of(scope, args.get(4), 0) else { return };
    let (Some(target), Some(source)) = (buffer_span(args.get(0)), buffer_span(args.get(2))) else {
        return throw_not_buffer(scope);
    };
    target.part(target_start, len).copy_from(source.part(source_start, len));
}

fn create_array_buffer(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(len) = index_of(scope, args.get(0), 0) else { return };
    if let Some(buffer) = bytes::new_buffer(scope, len) {
        result.set(buffer.into());
    }
}

fn set_detach_key(_: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    if let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(args.get(0)) {
        buffer.set_detach_key(args.get(1));
    }
}

fn compare(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let (mut storage, mut other_storage) = (STORAGE, STORAGE);
    let bytes = view_bytes(args.get(0), &mut storage);
    let other = view_bytes(args.get(1), &mut other_storage);
    match (bytes, other) {
        (Some(bytes), Some(other)) => result.set_int32(bytes.cmp(other) as i32),
        _ => throw_not_buffer(scope),
    }
}

/// `(source, target, targetStart, sourceStart, targetEnd, sourceEnd)`
fn compare_offset(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(target_start) = index_of(scope, args.get(2), 0) else { return };
    let Some(source_start) = index_of(scope, args.get(3), 0) else { return };
    let Some(target_end) = index_of(scope, args.get(4), usize::MAX) else { return };
    let Some(source_end) = index_of(scope, args.get(5), usize::MAX) else { return };
    let (mut storage, mut other_storage) = (STORAGE, STORAGE);
    let source = view_bytes(args.get(0), &mut storage);
    let target = view_bytes(args.get(1), &mut other_storage);
    let (Some(source), Some(target)) = (source, target) else { return throw_not_buffer(scope) };
    for (name, start, bytes) in [("sourceStart", source_start, source), ("targetStart", target_start, target)]
    {
        if start > bytes.len() {
            let text = format!("The value of \"{name}\" is out of range.");
            return throw_error(scope, Kind::RangeError, "ERR_OUT_OF_RANGE", &text);
        }
    }
    let source = &source[source_start..source_end.clamp(source_start, source.len())];
    let target = &target[target_start..target_end.clamp(target_start, target.len())];
    result.set_int32(source.cmp(target) as i32);
}

/// Gives `undefined`, -1 if there is nothing to fill with, or -2 if the range is not in the buffer.
fn fill(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    if view_span(scope, args.get(0)).is_none() {
        return throw_not_buffer(scope);
    }
    let Some(start) = index_of(scope, args.get(2), 0) else { return };
    let value = args.get(1);
    let pattern = if let Ok(text) = v8::Local::<v8::String>::try_from(value) {
        let encoding = encoding_of(scope, args.get(4));
        Some(encoded(scope, text, encoding))
    } else if value.is_array_buffer_view() {
        let mut storage = STORAGE;
        view_bytes(value, &mut storage).map(<[u8]>::to_vec)
    } else {
        let Some(number) = value.uint32_value(scope) else { return };
        Some(vec![(number & 0xff) as u8])
    };
    let (Some(pattern), Some(span)) = (pattern, view_span(scope, args.get(0))) else { return };
    let Some(end) = index_of(scope, args.get(3), 0) else { return };
    if start > end || end > span.len() {
        return result.set_int32(-2);
    }
    if start == end {
        return;
    }
    if pattern.is_empty() {
        return result.set_int32(-1);
    }
    // SAFETY: `pattern` is a copy, so this is the only slice of the buffer, and no JavaScript runs
    // while it is filled.
    let target = unsafe { span.part(start, end - start).bytes_mut() };
    if let [byte] = pattern[..] {
        return target.fill(byte);
    }
    let mut done = pattern.len().min(target.len());
    target[..done].copy_from_slice(&pattern[..done]);
    // What is filled is a whole number of patterns until the last step.
    while done < target.len() {
        let len = done.min(target.len() - done);
        target.copy_within(..len, done);
        done += len;
    }
}

/// The encoding that a name or a number stands for; UTF-8 if there is none such.
fn encoding_of(scope: &mut Scope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Encoding {
    let encoding = if value.is_string() {
        Encoding::from_name(&value.to_rust_string_lossy(scope))
    } else if value.is_number() {
        value.uint32_value(scope).and_then(Encoding::from_number)
    } else {
        None
    };
    encoding.unwrap_or(Encoding::Utf8)
}

/// The bytes of a string in an encoding.
fn encoded(scope: &mut Scope<'_, '_>, text: v8::Local<'_, v8::String>, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 | Encoding::Buffer => text.to_rust_string_lossy(scope).into_bytes(),
        Encoding::Ucs2 => units_of(scope, text).into_iter().flat_map(u16::to_le_bytes).collect(),
        Encoding::Ascii | Encoding::Latin1 => low_bytes(scope, text),
        Encoding::Hex => decoded(&low_bytes(scope, text), codec::hex_decode),
        Encoding::Base64 | Encoding::Base64Url => decoded(&low_bytes(scope, text), codec::base64_decode),
    }
}

fn decoded(text: &[u8], decode: fn(&mut [u8], &[u8]) -> usize) -> Vec<u8> {
    // Neither encoding has fewer characters than bytes.
    let mut target = vec![0; text.len()];
    let len = decode(&mut target, text);
    target.truncate(len);
    target
}

fn is_ascii(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    match any_bytes(args.get(0), &mut storage) {
        Some(bytes) => result.set_bool(simdutf::validate_ascii(bytes)),
        None => throw_not_buffer(scope),
    }
}

fn is_utf8(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    match any_bytes(args.get(0), &mut storage) {
        Some(bytes) => result.set_bool(simdutf::validate_utf8(bytes)),
        None => throw_not_buffer(scope),
    }
}

/// Where a search begins: the first place for a forward one, the last for a backward one.
fn search_start(len: usize, offset: i64, needle_len: usize, is_forward: bool) -> Option<usize> {
    let signed_len = i64::try_from(len).unwrap_or(i64::MAX);
    let signed_needle = i64::try_from(needle_len).unwrap_or(i64::MAX);
    let start = if offset < 0 {
        match offset.saturating_add(signed_len) {
            from_end if from_end >= 0 => from_end,
            _ if is_forward || needle_len == 0 => 0,
            _ => return None,
        }
    } else if offset.saturating_add(signed_needle) <= signed_len {
        offset
    } else if needle_len == 0 {
        signed_len
    } else if is_forward {
        return None;
    } else {
        signed_len - 1
    };
    usize::try_from(start).ok()
}

/// What to search for, and how.
struct Search<'a> {
    needle: &'a [u8],
    /// Where to begin; from the end of the buffer if it is negative.
    offset: i64,
    /// Where the part ends that is searched.
    end: usize,
    is_forward: bool,
    /// Matches begin at multiples of this.
    step: usize,
}

impl Search<'_> {
    fn find(&self, haystack: &[u8]) -> Option<usize> {
        let start = search_start(haystack.len(), self.offset, self.needle.len(), self.is_forward)?;
        let end = self.end.min(haystack.len()) / self.step * self.step;
        if self.needle.is_empty() {
            return Some(start.min(end));
        }
        // A needle of half a unit is in no text of whole ones.
        if !self.needle.len().is_multiple_of(self.step) || self.needle.len() > end {
            return None;
        }
        let (haystack, start) = (&haystack[..end], start / self.step * self.step);
        if self.is_forward { self.first(haystack, start) } else { self.last(haystack, start) }
    }

    /// The first match from `start` on.
    fn first(&self, haystack: &[u8], start: usize) -> Option<usize> {
        let finder = memmem::Finder::new(self.needle);
        let mut from = start;
        loop {
            let found = from + finder.find(haystack.get(from..)?)?;
            if found.is_multiple_of(self.step) {
                return Some(found);
            }
            from = found + 1;
        }
    }

    /// The last match that does not begin after `start`.
    fn last(&self, haystack: &[u8], start: usize) -> Option<usize> {
        let finder = memmem::FinderRev::new(self.needle);
        let mut end = start.min(haystack.len() - self.needle.len()) + self.needle.len();
        loop {
            let found = finder.rfind(&haystack[..end])?;
            if found.is_multiple_of(self.step) {
                return Some(found);
            }
            end = found + self.needle.len() - 1;
        }
    }
}

fn return_index(result: &mut Return<'_>, index: Option<usize>) {
    result.set_double(index.map_or(-1.0, |index| index as f64));
}

/// Where a search ends, which argument `position` says.
fn end_of(scope: &mut Scope<'_, '_>, args: &Args<'_>, position: i32) -> usize {
    let end = args.get(position);
    if end.is_undefined() {
        return usize::MAX;
    }
    // A negative one leaves nothing to be searched.
    end.integer_value(scope).and_then(|end| usize::try_from(end).ok()).unwrap_or(0)
}

/// `(buffer, needle, offset, encoding, isForward, end)`
fn index_of_string(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(text) = string_arg(scope, args.get(1)) else { return };
    let Some(offset) = args.get(2).integer_value(scope) else { return };
    let encoding = encoding_of(scope, args.get(3));
    let end = end_of(scope, &args, 5);
    let needle = encoded(scope, text, encoding);
    let mut storage = STORAGE;
    let Some(bytes) = view_bytes(args.get(0), &mut storage) else { return throw_not_buffer(scope) };
    // Text is in whole units, and offsets from the end count from theirs.
    let bytes = if encoding == Encoding::Ucs2 { &bytes[..bytes.len() & !1] } else { bytes };
    return_index(&mut result, find(bytes, &needle, offset, end, encoding, args.get(4).is_true()));
}

/// `(buffer, needle, offset, encoding, isForward, end)`
fn index_of_buffer(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(offset) = args.get(2).integer_value(scope) else { return };
    let encoding = encoding_of(scope, args.get(3));
    let end = end_of(scope, &args, 5);
    let (mut storage, mut needle_storage) = (STORAGE, STORAGE);
    let bytes = view_bytes(args.get(0), &mut storage);
    let needle = view_bytes(args.get(1), &mut needle_storage);
    let (Some(bytes), Some(needle)) = (bytes, needle) else { return throw_not_buffer(scope) };
    return_index(&mut result, find(bytes, needle, offset, end, encoding, args.get(4).is_true()));
}

fn find(
    bytes: &[u8],
    needle: &[u8],
    offset: i64,
    end: usize,
    encoding: Encoding,
    is_forward: bool,
) -> Option<usize> {
    let step = if encoding == Encoding::Ucs2 { 2 } else { 1 };
    Search { needle, offset, end, is_forward, step }.find(bytes)
}

/// `(buffer, number, offset, isForward, end)`
fn index_of_number(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(number) = args.get(1).uint32_value(scope) else { return };
    let Some(offset) = args.get(2).integer_value(scope) else { return };
    let end = end_of(scope, &args, 4);
    let mut storage = STORAGE;
    let Some(bytes) = view_bytes(args.get(0), &mut storage) else { return throw_not_buffer(scope) };
    let needle = &[(number & 0xff) as u8];
    return_index(&mut result, find(bytes, needle, offset, end, Encoding::Latin1, args.get(3).is_true()));
}

/// Turns around the bytes of each unit of `SIZE` bytes.
fn swap<const SIZE: usize>(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(span) = span_arg(scope, args.get(0)) else { return };
    // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
    for unit in unsafe { span.bytes_mut() }.as_chunks_mut::<SIZE>().0 {
        unit.reverse();
    }
    result.set(args.get(0));
}

fn atob(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(text) = string_arg(scope, args.get(0)) else { return };
    if !text.contains_only_onebyte() {
        return result.set_int32(codec::AtobError::Character as i32);
    }
    match codec::atob(&low_bytes(scope, text)) {
        Ok(bytes) => return_latin1(scope, &mut result, &bytes),
        Err(error) => result.set_int32(error as i32),
    }
}

fn btoa(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(text) = string_arg(scope, args.get(0)) else { return };
    if !text.contains_only_onebyte() {
        return result.set_int32(-1);
    }
    let encoded = codec::base64_encode(&low_bytes(scope, text), false);
    return_latin1(scope, &mut result, &encoded);
}

/// The part of a buffer that `(buffer, start, end)` name. Without one an exception is pending.
fn slice_of<'a>(
    scope: &mut Scope<'_, '_>,
    args: &Args<'_>,
    storage: &'a mut bytes::Storage,
) -> Option<&'a [u8]> {
    let Ok(view) = v8::Local::<v8::ArrayBufferView>::try_from(args.get(0)) else {
        throw_not_buffer(scope);
        return None;
    };
    if view.byte_length() == 0 {
        return Some(&[]);
    }
    let start = index_of(scope, args.get(1), 0)?;
    let end = index_of(scope, args.get(2), usize::MAX)?;
    // Only now: a conversion above can run JavaScript.
    let bytes = view_bytes(args.get(0), storage)?;
    let end = if args.get(2).is_undefined() { bytes.len() } else { end };
    if end <= start || bytes.is_empty() {
        return Some(&[]);
    }
    if end > bytes.len() {
        throw_out_of_range(scope);
        return None;
    }
    Some(&bytes[start..end])
}

fn ascii_slice(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    let Some(bytes) = slice_of(scope, &args, &mut storage) else { return };
    if simdutf::validate_ascii(bytes) {
        return return_latin1(scope, &mut result, bytes);
    }
    let bytes: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
    return_latin1(scope, &mut result, &bytes);
}

fn latin1_slice(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    let Some(bytes) = slice_of(scope, &args, &mut storage) else { return };
    return_latin1(scope, &mut result, bytes);
}

fn utf8_slice(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    let Some(bytes) = slice_of(scope, &args, &mut storage) else { return };
    return_utf8(scope, &mut result, bytes);
}

fn ucs2_slice(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    let Some(bytes) = slice_of(scope, &args, &mut storage) else { return };
    if bytes.len() / 2 > v8::String::MAX_LENGTH {
        return bytes::throw_too_long(scope);
    }
    return_utf16(scope, &mut result, &utf16_units(bytes));
}

fn hex_slice(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    let Some(bytes) = slice_of(scope, &args, &mut storage) else { return };
    if bytes.len() > v8::String::MAX_LENGTH / 2 {
        return bytes::throw_too_long(scope);
    }
    return_latin1(scope, &mut result, &codec::hex_encode(bytes));
}

fn base64_slice(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    base64_slice_as(scope, &args, result, false);
}

fn base64url_slice(scope: &mut Scope<'_, '_>, args: Args<'_>, result: Return<'_>) {
    base64_slice_as(scope, &args, result, true);
}

fn base64_slice_as(scope: &mut Scope<'_, '_>, args: &Args<'_>, mut result: Return<'_>, is_url: bool) {
    let mut storage = STORAGE;
    let Some(bytes) = slice_of(scope, args, &mut storage) else { return };
    if bytes.len() > v8::String::MAX_LENGTH / 4 * 3 {
        return bytes::throw_too_long(scope);
    }
    return_latin1(scope, &mut result, &codec::base64_encode(bytes, is_url));
}

/// What `(buffer, text, offset, length)` name: the text, and the memory it is written to. Without them
/// an exception is pending.
fn write_of<'s>(scope: &mut Scope<'s, '_>, args: &Args<'s>) -> Option<(v8::Local<'s, v8::String>, Span)> {
    if !args.get(0).is_array_buffer_view() {
        throw_not_buffer(scope);
        return None;
    }
    let text = string_arg(scope, args.get(1))?;
    let offset = index_of(scope, args.get(2), 0)?;
    let len = v8::Local::<v8::ArrayBufferView>::try_from(args.get(0)).ok()?.byte_length();
    if offset > len {
        let text = "\"offset\" is outside of buffer bounds";
        throw_error(scope, Kind::RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", text);
        return None;
    }
    let len = index_of(scope, args.get(3), len - offset)?;
    // Only now: the conversion of a length can run JavaScript.
    let span = view_span(scope, args.get(0))?.part(offset, len);
    Some((text, span))
}

fn utf8_write<'s>(scope: &mut Scope<'s, '_>, args: Args<'s>, mut result: Return<'_>) {
    let Some((text, span)) = write_of(scope, &args) else { return };
    // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
    let target = unsafe { span.bytes_mut() };
    let written = text.write_utf8_v2(scope, target, v8::WriteFlags::kReplaceInvalidUtf8, None);
    result.set_double(written as f64);
}

fn latin1_write<'s>(scope: &mut Scope<'s, '_>, args: Args<'s>, mut result: Return<'_>) {
    let Some((text, span)) = write_of(scope, &args) else { return };
    // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
    let target = unsafe { span.bytes_mut() };
    text.write_one_byte_v2(scope, 0, target, v8::WriteFlags::empty());
    result.set_double(target.len().min(text.length()) as f64);
}

fn ucs2_write<'s>(scope: &mut Scope<'s, '_>, args: Args<'s>, mut result: Return<'_>) {
    let Some((text, span)) = write_of(scope, &args) else { return };
    let view = v8::ValueView::new(scope, text);
    // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
    let pairs = unsafe { span.bytes_mut() }.chunks_exact_mut(2);
    let room = pairs.len();
    let written = match view.data() {
        v8::ValueViewData::OneByte(characters) => {
            pairs.zip(characters).for_each(|(pair, character)| pair.copy_from_slice(&[*character, 0]));
            room.min(characters.len())
        }
        v8::ValueViewData::TwoByte(units) => {
            pairs.zip(units).for_each(|(pair, unit)| pair.copy_from_slice(&unit.to_le_bytes()));
            room.min(units.len())
        }
    };
    result.set_double((written * 2) as f64);
}

fn hex_write<'s>(scope: &mut Scope<'s, '_>, args: Args<'s>, result: Return<'_>) {
    write_decoded(scope, &args, result, codec::hex_decode);
}

fn base64_write<'s>(scope: &mut Scope<'s, '_>, args: Args<'s>, result: Return<'_>) {
    write_decoded(scope, &args, result, codec::base64_decode);
}

fn write_decoded<'s>(
    scope: &mut Scope<'s, '_>,
    args: &Args<'s>,
    mut result: Return<'_>,
    decode: fn(&mut [u8], &[u8]) -> usize,
) {
    let Some((text, span)) = write_of(scope, args) else { return };
    let view = v8::ValueView::new(scope, text);
    // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
    let target = unsafe { span.bytes_mut() };
    let written = match view.data() {
        v8::ValueViewData::OneByte(characters) => decode(target, characters),
        // Node looks at the low byte of each character.
        v8::ValueViewData::TwoByte(units) => {
            let characters: Vec<u8> = units.iter().map(|unit| (unit & 0xff) as u8).collect();
            decode(target, &characters)
        }
    };
    result.set_double(written as f64);
}

#[cfg(test)]
mod tests {
    use super::{Search, search_start};

    #[test]
    fn searches_begin_where_node_begins() {
        // (length, offset, needle, forward, result)
        let cases = [
            (5, 0, 1, true, Some(0)),
            (5, -2, 1, true, Some(3)),
            (5, -9, 1, true, Some(0)),
            (5, -9, 1, false, None),
            (5, -9, 0, false, Some(0)),
            (5, 9, 1, true, None),
            (5, 9, 1, false, Some(4)),
            (5, 9, 0, true, Some(5)),
            (5, i64::MAX, 3, false, Some(4)),
        ];
        for (len, offset, needle, is_forward, expected) in cases {
            assert_eq!(search_start(len, offset, needle, is_forward), expected, "{len} {offset} {needle}");
        }
    }

    #[test]
    fn two_byte_searches_find_whole_units() {
        let haystack = [0, 1, 0, 1, 0, 0];
        let find = |needle: &[u8], offset, is_forward| {
            Search { needle, offset, end: usize::MAX, is_forward, step: 2 }.find(&haystack)
        };
        assert_eq!(find(&[1, 0], 0, true), None);
        assert_eq!(find(&[0, 1], 0, true), Some(0));
        assert_eq!(find(&[0, 1], -1, false), Some(2));
        assert_eq!(find(&[0, 0], -1, false), Some(4));
        assert_eq!(find(&[1, 0], -1, false), None);
    }

    #[test]
    fn an_end_bounds_the_matches_but_not_the_offset() {
        let find = |needle: &[u8], offset, end, is_forward| {
            Search { needle, offset, end, is_forward, step: 1 }.find(b"abcabc")
        };
        assert_eq!(find(b"abc", -3, 5, true), None);
        assert_eq!(find(b"c", 9, 5, false), Some(2));
        assert_eq!(find(b"", 9, 4, true), Some(4));
        assert_eq!(find(b"a", 0, 0, true), None);
    }
}
