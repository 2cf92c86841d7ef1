//! Plain values between frames and V8.

use carrel_wire::Value;

/// A JavaScript value as a frame carries it; `None` if it is of no kind that a frame has.
pub fn from_v8(
    scope: &mut v8::PinScope<'_, '_>,
    value: v8::Local<'_, v8::Value>,
    depth_left: usize,
) -> Option<Value> {
    Some(if value.is_null_or_undefined() {
        Value::Null
    } else if value.is_boolean() {
        Value::Bool(value.is_true())
    } else if value.is_number() {
        Value::Number(value.number_value(scope)?)
    } else if let Ok(text) = v8::Local::<v8::String>::try_from(value) {
        Value::Text(text.to_rust_string_lossy(scope))
    } else if value.is_array_buffer_view() || value.is_array_buffer() || value.is_shared_array_buffer() {
        Value::Bytes(bytes_of(scope, value)?)
    } else if let Ok(array) = v8::Local::<v8::Array>::try_from(value) {
        let depth_left = depth_left.checked_sub(1)?;
        let mut items = Vec::with_capacity(array.length() as usize);
        for index in 0..array.length() {
            let item = array.get_index(scope, index)?;
            items.push(from_v8(scope, item, depth_left)?);
        }
        Value::List(items)
    } else {
        return None;
    })
}

/// A copy of the bytes of a buffer or a view.
pub fn bytes_of(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Vec<u8>> {
    let view = if let Ok(view) = v8::Local::<v8::ArrayBufferView>::try_from(value) {
        view
    } else if let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(value) {
        v8::Uint8Array::new(scope, buffer, 0, buffer.byte_length())?.into()
    } else {
        return None;
    };
    let mut bytes = vec![0; view.byte_length()];
    let copied = view.copy_contents(&mut bytes);
    bytes.truncate(copied);
    Some(bytes)
}

/// A value of a frame as JavaScript sees it. `None` if there is no memory for it; then an exception
/// is pending or the run is being ended.
pub fn to_v8<'s>(scope: &mut v8::PinScope<'s, '_>, value: &Value) -> Option<v8::Local<'s, v8::Value>> {
    Some(match value {
        Value::Null => v8::null(scope).into(),
        Value::Bool(value) => v8::Boolean::new(scope, *value).into(),
        Value::Number(value) => v8::Number::new(scope, *value).into(),
        Value::Text(text) => v8::String::new(scope, text)?.into(),
        Value::Bytes(bytes) => uint8_array(scope, bytes)?.into(),
        Value::List(items) => {
            let mut locals = Vec::with_capacity(items.len());
            for item in items {
                locals.push(to_v8(scope, item)?);
            }
            v8::Array::new_with_elements(scope, &locals).into()
        }
    })
}

/// A copy of `bytes` as a `Uint8Array` with a buffer of its own.
pub fn uint8_array<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    bytes: &[u8],
) -> Option<v8::Local<'s, v8::Uint8Array>> {
    let buffer = crate::memory::array_buffer(scope, bytes.len())?;
    if let Some(data) = buffer.data() {
        // SAFETY: the buffer was just made with this length, nothing else refers to it, and V8's
        // memory and `bytes` do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast().as_ptr(), bytes.len()) };
    }
    v8::Uint8Array::new(scope, buffer, 0, bytes.len())
}
