//! The memory behind array buffers and their views, and strings made of bytes.
//!
//! - Small typed arrays lie on V8's own heap, where a collection moves them. Reading copies those into
//!   a [`Storage`]; writing first makes V8 move them out of its heap.
//! - A pointer or slice from here is good until JavaScript runs again: only JavaScript detaches or
//!   resizes a buffer, and no other thread has access to any.
//! - What is detached or out of bounds has no bytes. Nothing here panics on any value.

use super::{Kind, throw_error};

/// Room for the contents of a view on V8's heap.
pub type Storage = [u8; v8::TYPED_ARRAY_MAX_SIZE_IN_HEAP];

/// An empty [`Storage`].
pub const STORAGE: Storage = [0; v8::TYPED_ARRAY_MAX_SIZE_IN_HEAP];

/// Some memory that a buffer owns.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    data: *mut u8,
    len: usize,
}

impl Span {
    const EMPTY: Self = Self { data: std::ptr::null_mut(), len: 0 };

    fn new(data: *mut u8, len: usize) -> Self {
        if data.is_null() { Self::EMPTY } else { Self { data, len } }
    }

    /// How many bytes it has.
    pub fn len(self) -> usize {
        self.len
    }

    /// The part from `start` on, at most `len` bytes of it.
    pub fn part(self, start: usize, len: usize) -> Self {
        if start >= self.len {
            return Self::EMPTY;
        }
        // SAFETY: `start` is inside the memory.
        Self { data: unsafe { self.data.add(start) }, len: len.min(self.len - start) }
    }

    /// Its bytes.
    ///
    /// # Safety
    ///
    /// No JavaScript may run, and nobody may write to the buffer, while the slice is in use.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the buffer has these bytes; the caller keeps it as it is.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }

    /// Its bytes, to be changed.
    ///
    /// # Safety
    ///
    /// As for [`Span::bytes`], and there may be no other slice of the same memory.
    pub unsafe fn bytes_mut<'a>(self) -> &'a mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: the buffer has these bytes; the caller keeps it as it is and to itself.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }

    /// Copies as many bytes as both have; they may overlap.
    pub fn copy_from(self, source: Self) -> usize {
        let len = self.len.min(source.len);
        if len > 0 {
            // SAFETY: both have at least `len` bytes, and `copy` allows that they overlap.
            unsafe { std::ptr::copy(source.data, self.data, len) };
        }
        len
    }
}

/// The bytes of a typed array or a `DataView`, copied to `storage` if they could move.
pub fn view_bytes<'a>(value: v8::Local<'_, v8::Value>, storage: &'a mut Storage) -> Option<&'a [u8]> {
    let view = v8::Local::<v8::ArrayBufferView>::try_from(value).ok()?;
    if view.is_data_view() {
        // SAFETY: callers do not run JavaScript while they read.
        return Some(unsafe { span_outside_heap(view).bytes() });
    }
    // SAFETY: the pointer is used at once, and `storage` is as large as V8 asks for.
    let (data, len) = unsafe { view.get_contents_raw_parts(storage) };
    // SAFETY: V8 says that these bytes are there; callers do not run JavaScript while they read.
    Some(unsafe { Span::new(data, len).bytes() })
}

/// Where the bytes of a typed array or a `DataView` are.
pub fn view_span(scope: &v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Span> {
    let view = v8::Local::<v8::ArrayBufferView>::try_from(value).ok()?;
    if view.byte_length() == 0 {
        return Some(Span::EMPTY);
    }
    // This takes a small array out of V8's heap.
    view.buffer(scope)?;
    Some(span_outside_heap(view))
}

/// The bytes of a view that are not on V8's heap.
fn span_outside_heap(view: v8::Local<'_, v8::ArrayBufferView>) -> Span {
    let len = view.byte_length();
    if len == 0 {
        return Span::EMPTY;
    }
    if view.is_data_view() {
        // One that outlived a shrinking of its buffer can have a length, but nothing behind it.
        let end = view.byte_offset().saturating_add(len);
        if view.get_backing_store().is_none_or(|store| end > store.byte_length()) {
            return Span::EMPTY;
        }
    }
    Span::new(view.data().cast(), len)
}

/// Where the bytes of an `ArrayBuffer` or a `SharedArrayBuffer` are.
pub fn buffer_span(value: v8::Local<'_, v8::Value>) -> Option<Span> {
    if let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(value) {
        let data = buffer.data().map_or(std::ptr::null_mut(), |data| data.as_ptr().cast());
        return Some(Span::new(data, buffer.byte_length()));
    }
    let buffer = v8::Local::<v8::SharedArrayBuffer>::try_from(value).ok()?;
    let store = buffer.get_backing_store();
    let data = store.data().map_or(std::ptr::null_mut(), |data| data.as_ptr().cast());
    Some(Span::new(data, store.byte_length()))
}

/// The bytes of anything that has some: a view, an `ArrayBuffer` or a `SharedArrayBuffer`.
pub fn any_bytes<'a>(value: v8::Local<'_, v8::Value>, storage: &'a mut Storage) -> Option<&'a [u8]> {
    if value.is_array_buffer_view() {
        return view_bytes(value, storage);
    }
    // SAFETY: callers do not run JavaScript while they read.
    buffer_span(value).map(|span| unsafe { span.bytes() })
}

/// JavaScript's own constructor of buffers, kept from before any other code ran: it reports a lack of
/// memory as a `RangeError`, where V8's interface for embedders ends the process.
struct BufferConstructor(v8::Global<v8::Function>);

/// Keeps what [`new_buffer`] needs. The context must still be as V8 made it.
pub fn prepare(scope: &mut v8::PinScope<'_, '_>) {
    let global = scope.get_current_context().global(scope);
    let constructor = v8::String::new(scope, "ArrayBuffer")
        .and_then(|name| global.get(scope, name.into()))
        .and_then(|value| v8::Local::<v8::Function>::try_from(value).ok());
    if let Some(constructor) = constructor {
        let constructor = BufferConstructor(v8::Global::new(scope, constructor));
        scope.set_slot(constructor);
    }
}

/// A buffer of zeros; if there is no memory for it, a `RangeError` is pending.
pub fn new_buffer<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    len: usize,
) -> Option<v8::Local<'s, v8::ArrayBuffer>> {
    let constructor = scope.get_slot::<BufferConstructor>()?.0.clone();
    let constructor = v8::Local::new(scope, constructor);
    let len = v8::Number::new(scope, len as f64);
    let buffer = constructor.new_instance(scope, &[len.into()])?;
    v8::Local::<v8::ArrayBuffer>::try_from(buffer).ok()
}

/// A `Uint8Array` with a copy of `bytes` in a buffer of its own.
pub fn new_bytes<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    bytes: &[u8],
) -> Option<v8::Local<'s, v8::Uint8Array>> {
    let buffer = new_buffer(scope, bytes.len())?;
    if let Some(span) = buffer_span(buffer.into()) {
        // SAFETY: the buffer is new, so nobody else has a slice of it, and no JavaScript runs here.
        let target = unsafe { span.bytes_mut() };
        target.copy_from_slice(&bytes[..target.len()]);
    }
    v8::Uint8Array::new(scope, buffer, 0, bytes.len())
}

/// What Node throws for a string beyond V8's limit.
pub fn throw_too_long(scope: &mut v8::PinScope<'_, '_>) {
    let text = format!("Cannot create a string longer than {:#x} characters", v8::String::MAX_LENGTH);
    throw_error(scope, Kind::Error, "ERR_STRING_TOO_LONG", &text);
}

/// Gives back a string that is one byte for each character.
pub fn return_latin1(scope: &mut v8::PinScope<'_, '_>, result: &mut v8::ReturnValue<'_>, bytes: &[u8]) {
    if bytes.is_empty() {
        return result.set_empty_string();
    }
    match v8::String::new_from_one_byte(scope, bytes, v8::NewStringType::Normal) {
        Some(text) => result.set(text.into()),
        None => throw_too_long(scope),
    }
}

/// Gives back the string that `bytes` are in UTF-8, with U+FFFD for what is none.
pub fn return_utf8(scope: &mut v8::PinScope<'_, '_>, result: &mut v8::ReturnValue<'_>, bytes: &[u8]) {
    match v8::String::new_from_utf8(scope, bytes, v8::NewStringType::Normal) {
        Some(text) => result.set(text.into()),
        None => throw_too_long(scope),
    }
}

/// Gives back a string of UTF-16 units.
pub fn return_utf16(scope: &mut v8::PinScope<'_, '_>, result: &mut v8::ReturnValue<'_>, units: &[u16]) {
    match v8::String::new_from_two_byte(scope, units, v8::NewStringType::Normal) {
        Some(text) => result.set(text.into()),
        None => throw_too_long(scope),
    }
}

/// UTF-16 units that are stored low byte first; an odd byte at the end is left out.
pub fn utf16_units(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

/// The characters of a string, each cut to its low byte.
pub fn low_bytes(scope: &mut v8::PinScope<'_, '_>, text: v8::Local<'_, v8::String>) -> Vec<u8> {
    let mut bytes = vec![0; text.length()];
    text.write_one_byte_v2(scope, 0, &mut bytes, v8::WriteFlags::empty());
    bytes
}

/// The units of a string.
pub fn units_of(scope: &mut v8::PinScope<'_, '_>, text: v8::Local<'_, v8::String>) -> Vec<u16> {
    let mut units = vec![0; text.length()];
    text.write_v2(scope, 0, &mut units, v8::WriteFlags::empty());
    units
}
