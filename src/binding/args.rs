//! Arguments: what JavaScript passed, checked and copied.
//!
//! A wrong type is `ERR_INVALID_ARG_TYPE`, a wrong value `EINVAL`, an option that does not exist
//! `EINVAL` by name. `undefined` and `null` are an option not given.

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{JsString, JsValue, KeyCollectionMode, KeyConversion, KeyFilter, ValueType};

use crate::error::{Code, FsError, Result};
use crate::path::WorkspacePath;
use crate::rules::{Access, Rule};

/// The largest integer that JavaScript counts exactly.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// What an argument is, in words.
fn describe(value: &Unknown<'_>) -> String {
    match value.get_type() {
        Ok(ValueType::Undefined) => "undefined".to_owned(),
        Ok(ValueType::Null) => "null".to_owned(),
        Ok(ValueType::Number) => {
            format!("the number {}", number_text(f64::from_unknown(*value).unwrap_or(f64::NAN)))
        }
        Ok(ValueType::Boolean) => "a boolean".to_owned(),
        Ok(ValueType::String) => "a string".to_owned(),
        Ok(ValueType::Function) => "a function".to_owned(),
        Ok(ValueType::BigInt) => "a bigint".to_owned(),
        Ok(ValueType::Symbol) => "a symbol".to_owned(),
        Ok(ValueType::Object) if value.is_array().unwrap_or(false) => "an array".to_owned(),
        Ok(ValueType::Object) => "an object".to_owned(),
        _ => "something else".to_owned(),
    }
}

/// A number as JavaScript writes it, near enough.
fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    if number.abs() >= 1e21 { format!("{number:e}") } else { number.to_string() }
}

fn wrong_type(name: &str, wanted: &str, value: &Unknown<'_>) -> FsError {
    FsError::arg_type(format!("{name} must be {wanted}; received {}", describe(value)))
}

/// Whether an argument counts as not given.
pub fn is_absent(value: &Unknown<'_>) -> bool {
    matches!(value.get_type(), Ok(ValueType::Undefined | ValueType::Null))
}

/// A string. One with lone surrogates has no UTF-8 form and is refused.
pub fn string(name: &str, value: &Unknown<'_>) -> Result<String> {
    let text = lossy_string(name, value)?;
    if text.contains('\u{fffd}') && has_lone_surrogate(value) {
        return Err(FsError::invalid(format!("{name} contains a lone surrogate, which is no character")));
    }
    Ok(text)
}

/// A string, lone surrogates replaced by U+FFFD, as contents of a file are.
pub fn lossy_string(name: &str, value: &Unknown<'_>) -> Result<String> {
    if !matches!(value.get_type(), Ok(ValueType::String)) {
        return Err(wrong_type(name, "a string", value));
    }
    String::from_unknown(*value)
        .map_err(|error| FsError::with_detail(Code::Io, format!("{name} cannot be read: {error}")))
}

fn has_lone_surrogate(value: &Unknown<'_>) -> bool {
    let units = JsString::from_unknown(*value).and_then(|text| text.into_utf16());
    units.is_ok_and(|units| char::decode_utf16(units.iter().copied()).any(|unit| unit.is_err()))
}

/// A path.
pub fn path(name: &str, value: &Unknown<'_>) -> Result<WorkspacePath> {
    WorkspacePath::parse(&string(name, value)?)
}

/// `true` or `false`.
pub fn boolean(name: &str, value: &Unknown<'_>) -> Result<bool> {
    match value.get_type() {
        Ok(ValueType::Boolean) => Ok(bool::from_unknown(*value).unwrap_or(false)),
        _ => Err(wrong_type(name, "a boolean", value)),
    }
}

/// Any number but NaN and the infinities.
pub fn finite(name: &str, value: &Unknown<'_>) -> Result<f64> {
    if !matches!(value.get_type(), Ok(ValueType::Number)) {
        return Err(wrong_type(name, "a number", value));
    }
    let number = f64::from_unknown(*value).unwrap_or(f64::NAN);
    if !number.is_finite() {
        return Err(FsError::invalid(format!(
            "{name} must be a finite number; received {}",
            number_text(number)
        )));
    }
    Ok(number)
}

/// A count: a non-negative integer that JavaScript counts exactly.
pub fn count(name: &str, value: &Unknown<'_>) -> Result<u64> {
    if !matches!(value.get_type(), Ok(ValueType::Number)) {
        return Err(wrong_type(name, "a non-negative integer", value));
    }
    let number = f64::from_unknown(*value).unwrap_or(f64::NAN);
    if number.fract() != 0.0 || !(0.0..=SAFE_INTEGER_MAX).contains(&number) {
        return Err(FsError::invalid(format!(
            "{name} must be a non-negative safe integer; received {}",
            number_text(number)
        )));
    }
    Ok(number as u64)
}

/// Permission bits. Type bits above them are cut off, as `chmod` does with what `stat` gave.
pub fn mode(name: &str, value: &Unknown<'_>) -> Result<u32> {
    let number = count(name, value)?;
    u32::try_from(number).map_err(|_| {
        FsError::invalid(format!("{name} must be permission bits such as 0o644; received {number}"))
    })
}

/// An options argument, checked for names that do not exist.
pub struct Options<'env> {
    object: Option<Object<'env>>,
}

impl<'env> Options<'env> {
    /// Reads an options argument that may have these names.
    pub fn read(name: &str, value: &Unknown<'env>, known: &[&str]) -> Result<Self> {
        if is_absent(value) {
            return Ok(Options { object: None });
        }
        let is_object =
            matches!(value.get_type(), Ok(ValueType::Object)) && !value.is_array().unwrap_or(true);
        if !is_object {
            return Err(wrong_type(name, "an object", value));
        }
        let object = Object::from_unknown(*value).map_err(unreadable)?;
        for key in own_keys(&object)? {
            if !known.contains(&key.as_str()) {
                return Err(FsError::invalid(format!(
                    "there is no option '{key}'; the options are {}",
                    known.join(", ")
                )));
            }
        }
        Ok(Options { object: Some(object) })
    }

    /// An option, read by `parse` if it is given.
    pub fn get<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str, &Unknown<'env>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(object) = &self.object else { return Ok(None) };
        let value = object.get_named_property::<Unknown<'env>>(name).map_err(unreadable)?;
        if is_absent(&value) { Ok(None) } else { parse(name, &value).map(Some) }
    }

    /// A flag, off if not given.
    pub fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.get(name, boolean)?.unwrap_or(false))
    }
}

fn unreadable(error: napi::Error) -> FsError {
    FsError::arg_type(format!("an option cannot be read: {}", error.reason))
}

/// Names of an object's own enumerable properties; what it inherits is nobody's option.
fn own_keys(object: &Object<'_>) -> Result<Vec<String>> {
    let names = object
        .get_all_property_names(
            KeyCollectionMode::OwnOnly,
            KeyFilter::Enumerable,
            KeyConversion::NumbersToStrings,
        )
        .map_err(unreadable)?;
    let count = names.get_array_length().map_err(unreadable)?;
    (0..count)
        .map(|index| {
            let name = names.get_element::<Unknown<'_>>(index).map_err(unreadable)?;
            match name.get_type() {
                Ok(ValueType::String) => String::from_unknown(name).map_err(unreadable),
                _ => Ok("a symbol".to_owned()),
            }
        })
        .collect()
}

/// Path rules, from `root` if there is one.
pub fn rules(name: &str, value: &Unknown<'_>, root: Option<&WorkspacePath>) -> Result<Vec<Rule>> {
    if !value.is_array().unwrap_or(false) {
        return Err(wrong_type(name, "an array of { path, access }", value));
    }
    let array = Object::from_unknown(*value).map_err(unreadable)?;
    let length = array.get_array_length().map_err(unreadable)?;
    (0..length)
        .map(|index| {
            let item = array.get_element::<Unknown<'_>>(index).map_err(unreadable)?;
            rule(&format!("{name}[{index}]"), &item, root)
        })
        .collect()
}

fn rule(name: &str, value: &Unknown<'_>, root: Option<&WorkspacePath>) -> Result<Rule> {
    if is_absent(value) {
        return Err(wrong_type(name, "an object with path and access", value));
    }
    let options = Options::read(name, value, &["path", "access"])?;
    let missing =
        |field: &str| FsError::arg_type(format!("{name}.{field} must be a string; it is not given"));
    let path = options.get("path", string)?.ok_or_else(|| missing("path"))?;
    let access = options.get("access", string)?.ok_or_else(|| missing("access"))?;
    let access = Access::from_name(&access).ok_or_else(|| {
        FsError::invalid(format!(
            "{name}.access must be \"none\", \"read\" or \"read-write\"; received \"{access}\""
        ))
    })?;
    Rule::new(&path, access, root)
}

/// A list of strings.
pub fn strings(name: &str, value: &Unknown<'_>) -> Result<Vec<String>> {
    let wanted = "an array of strings";
    if !value.is_array().unwrap_or(false) {
        return Err(wrong_type(name, wanted, value));
    }
    let array = Object::from_unknown(*value).map_err(unreadable)?;
    let length = array.get_array_length().map_err(unreadable)?;
    (0..length)
        .map(|index| {
            let item = array.get_element::<Unknown<'_>>(index).map_err(unreadable)?;
            string(&format!("{name}[{index}]"), &item)
        })
        .collect()
}

/// Globs: a list of strings, or one.
pub fn globs(name: &str, value: &Unknown<'_>) -> Result<Vec<String>> {
    match value.get_type() {
        Ok(ValueType::String) => Ok(vec![string(name, value)?]),
        _ => strings(name, value),
    }
}

/// The `now` that comes with a mutation: milliseconds since the epoch, from the host's clock or,
/// if it has none of its own, from ours.
pub fn now(value: Option<f64>) -> Result<f64> {
    match value {
        None => Ok(crate::clock::now_ms()),
        Some(now) if now.is_finite() => Ok(now),
        Some(now) => Err(FsError::invalid(format!("now() must return a finite number; it returned {now}"))),
    }
}
