//! What Node implements in C++ behind `internalBinding(name)`, as far as bytes or V8's own interface
//! are needed; the rest is JavaScript in the prelude. Signatures are those that Node's library expects.

mod buffer;
mod bytes;
mod codec;
mod crypto;
mod encoding;
mod handle;
mod icu;
mod messaging;
mod string_decoder;
mod types;
mod url;
mod util;
mod zlib;

/// The scope of a call.
pub type Scope<'s, 'i> = v8::PinScope<'s, 'i>;
/// The arguments of a call.
pub type Args<'s> = v8::FunctionCallbackArguments<'s>;
/// The result of a call.
pub type Return<'s> = v8::ReturnValue<'s>;

/// Puts functions and constants on an object.
type Install = fn(&mut Scope<'_, '_>, v8::Local<'_, v8::Object>);

/// Which JavaScript class an error is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `Error`
    Error,
    /// `TypeError`
    TypeError,
    /// `RangeError`
    RangeError,
    /// `SyntaxError`
    SyntaxError,
}

/// Makes a function and puts it on `target`.
pub fn set_function(
    scope: &mut v8::PinScope<'_, '_>,
    target: v8::Local<'_, v8::Object>,
    name: &str,
    callback: impl v8::MapFnTo<v8::FunctionCallback>,
) {
    let function = v8::Function::new(scope, callback);
    let key = v8::String::new(scope, name);
    if let (Some(function), Some(key)) = (function, key) {
        function.set_name(key);
        target.set(scope, key.into(), function.into());
    }
}

/// Puts a number on `target`.
pub fn set_number(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>, name: &str, number: f64) {
    let number = v8::Number::new(scope, number);
    set_value(scope, target, name, number.into());
}

/// Puts any value on `target`.
pub fn set_value(
    scope: &mut Scope<'_, '_>,
    target: v8::Local<'_, v8::Object>,
    name: &str,
    value: v8::Local<'_, v8::Value>,
) {
    if let Some(key) = v8::String::new(scope, name) {
        target.set(scope, key.into(), value);
    }
}

/// Throws an error; with a `code` unless it is empty.
pub fn throw_error(scope: &mut v8::PinScope<'_, '_>, kind: Kind, code: &str, message: &str) {
    if let Some(error) = new_error(scope, kind, code, message) {
        scope.throw_exception(error.into());
    }
}

/// An error; with a `code` unless it is empty.
pub fn new_error<'s>(
    scope: &mut Scope<'s, '_>,
    kind: Kind,
    code: &str,
    message: &str,
) -> Option<v8::Local<'s, v8::Object>> {
    let text = v8::String::new(scope, message)?;
    let error = match kind {
        Kind::Error => v8::Exception::error(scope, text),
        Kind::TypeError => v8::Exception::type_error(scope, text),
        Kind::RangeError => v8::Exception::range_error(scope, text),
        Kind::SyntaxError => v8::Exception::syntax_error(scope, text),
    };
    let error = v8::Local::<v8::Object>::try_from(error).ok()?;
    if !code.is_empty() {
        let code = v8::String::new(scope, code)?;
        set_value(scope, error, "code", code.into());
    }
    Some(error)
}

/// `{ core, buffer, … }`: all that the prelude is given.
pub fn create_natives<'s>(scope: &mut v8::PinScope<'s, '_>) -> v8::Local<'s, v8::Object> {
    bytes::prepare(scope);
    let natives = v8::Object::new(scope);
    let install: &[(&str, Install)] = &[
        ("core", crate::natives::install),
        ("buffer", buffer::install),
        ("string_decoder", string_decoder::install),
        ("encoding_binding", encoding::install),
        ("icu", icu::install),
        ("url", url::install),
        ("util", util::install),
        ("types", types::install),
        ("messaging", messaging::install),
        ("crypto", crypto::install),
        ("zlib", zlib::install),
    ];
    for (name, install) in install {
        let target = v8::Object::new(scope);
        install(scope, target);
        set_value(scope, natives, name, target.into());
    }
    natives
}
