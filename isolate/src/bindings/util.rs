//! `internalBinding('util')`: looking into values as no JavaScript can, and `.env` files.
//!
//! What JavaScript can do itself is in the prelude.

mod env_file;

use super::{Args, Kind, Return, Scope, set_function, set_value, throw_error};

/// Of a stack, the most that `getCallSites` looks at beyond what it was asked for: the calls of the
/// library itself, which it leaves out.
const LIBRARY_FRAMES_MAX: usize = 8;
/// The most frames that the library asks for.
const FRAMES_MAX: usize = 200;

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "getPromiseDetails", get_promise_details);
    set_function(scope, target, "getProxyDetails", get_proxy_details);
    set_function(scope, target, "getCallerLocation", get_caller_location);
    set_function(scope, target, "getCallSites", get_call_sites);
    set_function(scope, target, "previewEntries", preview_entries);
    set_function(scope, target, "getOwnNonIndexProperties", get_own_non_index_properties);
    set_function(scope, target, "getConstructorName", get_constructor_name);
    set_function(scope, target, "getExternalValue", get_external_value);
    set_function(scope, target, "parseEnv", parse_env);
    set_function(scope, target, "arrayBufferViewHasBuffer", array_buffer_view_has_buffer);
    set_function(scope, target, "isArrayBufferDetached", is_array_buffer_detached);
    set_function(scope, target, "markPromiseAsHandled", mark_promise_as_handled);
}

fn return_array(scope: &mut Scope<'_, '_>, result: &mut Return<'_>, values: &[v8::Local<'_, v8::Value>]) {
    let array = v8::Array::new_with_elements(scope, values);
    result.set(array.into());
}

/// `[state]` or `[state, result]`; `undefined` for what is no promise.
fn get_promise_details(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Ok(promise) = v8::Local::<v8::Promise>::try_from(args.get(0)) else { return };
    let number = v8::Integer::new(scope, promise.state() as i32).into();
    if promise.state() == v8::PromiseState::Pending {
        return return_array(scope, &mut result, &[number]);
    }
    let outcome = promise.result(scope);
    return_array(scope, &mut result, &[number, outcome]);
}

/// `[target, handler]`, or the target if the second argument is `false`; `undefined` for what is no proxy.
fn get_proxy_details(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Ok(proxy) = v8::Local::<v8::Proxy>::try_from(args.get(0)) else { return };
    let target = proxy.get_target(scope);
    if args.length() > 1 && !args.get(1).is_true() {
        return result.set(target);
    }
    let handler = proxy.get_handler(scope);
    return_array(scope, &mut result, &[target, handler]);
}

/// The entries of a collection or of an iterator over one, and whether they are keys and values.
fn preview_entries(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let value = args.get(0);
    let has_entries = value.is_map()
        || value.is_set()
        || value.is_map_iterator()
        || value.is_set_iterator()
        || value.is_weak_map()
        || value.is_weak_set();
    // V8 leaves the second part of its answer unset for anything else.
    let Some(object) = v8::Local::<v8::Object>::try_from(value).ok().filter(|_| has_entries) else { return };
    let (Some(entries), is_key_value) = object.preview_entries(scope) else { return };
    if args.length() == 1 {
        return result.set(entries.into());
    }
    let is_key_value = v8::Boolean::new(scope, is_key_value).into();
    return_array(scope, &mut result, &[entries.into(), is_key_value]);
}

/// `(object, filter)`, with a filter of V8's bits.
fn get_own_non_index_properties(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Ok(object) = v8::Local::<v8::Object>::try_from(args.get(0)) else { return };
    let Some(bits) = args.get(1).uint32_value(scope) else { return };
    let filters = [
        v8::PropertyFilter::ONLY_WRITABLE,
        v8::PropertyFilter::ONLY_ENUMERABLE,
        v8::PropertyFilter::ONLY_CONFIGURABLE,
        v8::PropertyFilter::SKIP_STRINGS,
        v8::PropertyFilter::SKIP_SYMBOLS,
    ];
    let filter = (0..)
        .zip(filters)
        .filter(|(bit, _)| bits >> bit & 1 == 1)
        .fold(v8::PropertyFilter::ALL_PROPERTIES, |all, (_, filter)| all | filter);
    let names = v8::GetPropertyNamesArgs {
        mode: v8::KeyCollectionMode::OwnOnly,
        property_filter: filter,
        index_filter: v8::IndexFilter::SkipIndices,
        key_conversion: v8::KeyConversionMode::KeepNumbers,
    };
    if let Some(names) = object.get_property_names(scope, names) {
        result.set(names.into());
    }
}

fn get_constructor_name(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    match v8::Local::<v8::Object>::try_from(args.get(0)) {
        Ok(object) => result.set(object.get_constructor_name().into()),
        Err(_) => throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", "argument must be an object"),
    }
}

/// No code of a run can get hold of such a value, and an address would tell something of the process.
fn get_external_value(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    if args.get(0).is_external() {
        result.set(v8::BigInt::new_from_u64(scope, 0).into());
    }
}

fn array_buffer_view_has_buffer(_: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let view = v8::Local::<v8::ArrayBufferView>::try_from(args.get(0));
    result.set_bool(view.is_ok_and(|view| view.has_buffer()));
}

fn is_array_buffer_detached(_: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let buffer = v8::Local::<v8::ArrayBuffer>::try_from(args.get(0));
    result.set_bool(buffer.is_ok_and(|buffer| buffer.was_detached()));
}

fn mark_promise_as_handled(_: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    if let Ok(promise) = v8::Local::<v8::Promise>::try_from(args.get(0)) {
        promise.mark_as_handled();
    }
}

/// The frames of the stack from the first on that is not the library's, at most `count`.
fn frames_outside<'s>(scope: &mut Scope<'s, '_>, count: usize) -> Vec<v8::Local<'s, v8::StackFrame>> {
    let Some(stack) = v8::StackTrace::current_stack_trace(scope, count + LIBRARY_FRAMES_MAX) else {
        return Vec::new();
    };
    let mut frames = Vec::new();
    for index in 0..stack.get_frame_count() {
        let Some(frame) = stack.get_frame(scope, index) else { continue };
        let name = frame.get_script_name(scope).map(|name| name.to_rust_string_lossy(scope));
        if !frames.is_empty() || !name.is_some_and(|name| name.starts_with("node:")) {
            frames.push(frame);
        }
    }
    frames.truncate(count);
    frames
}

/// `[line, column, file]` of what called the function that asks.
fn get_caller_location(scope: &mut Scope<'_, '_>, _: Args<'_>, mut result: Return<'_>) {
    let frames = frames_outside(scope, 2);
    let Some(frame) = frames.first() else { return };
    let Some(file) = frame.get_script_name_or_source_url(scope) else { return };
    let line = v8::Number::new(scope, frame.get_line_number() as f64).into();
    let column = v8::Number::new(scope, frame.get_column() as f64).into();
    return_array(scope, &mut result, &[line, column, file.into()]);
}

/// `(count)`
fn get_call_sites(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let Some(count) = args.get(0).uint32_value(scope) else { return };
    let frames = frames_outside(scope, usize::try_from(count).unwrap_or(FRAMES_MAX).clamp(1, FRAMES_MAX));
    let mut sites: Vec<v8::Local<'_, v8::Value>> = Vec::with_capacity(frames.len());
    for frame in frames {
        let site = v8::Object::new(scope);
        let null = v8::null(scope);
        site.set_prototype(scope, null.into());
        let empty = v8::String::empty(scope);
        let function = frame.get_function_name(scope).unwrap_or(empty);
        let script = frame.get_script_name(scope).unwrap_or(empty);
        let id = v8::String::new(scope, &frame.get_script_id().to_string()).unwrap_or(empty);
        let line = v8::Number::new(scope, frame.get_line_number() as f64);
        let column = v8::Number::new(scope, frame.get_column() as f64);
        set_value(scope, site, "functionName", function.into());
        set_value(scope, site, "scriptId", id.into());
        set_value(scope, site, "scriptName", script.into());
        set_value(scope, site, "lineNumber", line.into());
        set_value(scope, site, "columnNumber", column.into());
        set_value(scope, site, "column", column.into());
        sites.push(site.into());
    }
    return_array(scope, &mut result, &sites);
}

/// `(text)`; gives an object.
fn parse_env(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let text = args.get(0).to_rust_string_lossy(scope);
    let object = v8::Object::new(scope);
    for (name, value) in env_file::parse(&text) {
        let (Some(name), Some(value)) = (v8::String::new(scope, &name), v8::String::new(scope, &value))
        else {
            continue;
        };
        object.create_data_property(scope, name.into(), value.into());
    }
    result.set(object.into());
}
