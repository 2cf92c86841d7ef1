//! `internalBinding('url')`: the URL standard, by ada, which is what Node has.
//!
//! A parsed URL is its `href` and where its parts are in there: the function gives back the former and
//! leaves the latter in `urlComponents`, an array that it shares with the library.

use ada_url::{Idna, Url};

use super::bytes::{buffer_span, new_buffer, return_utf8};
use super::{Args, Kind, Return, Scope, new_error, set_function, set_value};

/// Nine numbers: where the parts are, the port, and the kind of the scheme.
struct Components(v8::Global<v8::Uint32Array>);

const COMPONENT_COUNT: usize = 9;
/// For a part that a URL does not have.
const OMITTED: u32 = u32::MAX;

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "domainToASCII", domain_to_ascii);
    set_function(scope, target, "domainToUnicode", domain_to_unicode);
    set_function(scope, target, "parse", parse);
    set_function(scope, target, "canParse", can_parse);
    set_function(scope, target, "pathToFileURL", path_to_file_url);
    set_function(scope, target, "format", format);
    set_function(scope, target, "getOrigin", get_origin);
    set_function(scope, target, "update", update);
    let components = new_buffer(scope, COMPONENT_COUNT * 4)
        .and_then(|buffer| v8::Uint32Array::new(scope, buffer, 0, COMPONENT_COUNT));
    if let Some(components) = components {
        set_value(scope, target, "urlComponents", components.into());
        let components = Components(v8::Global::new(scope, components));
        scope.set_slot(components);
    }
}

/// Leaves the parts in the shared array, and gives back the `href`.
fn return_url(scope: &mut Scope<'_, '_>, result: &mut Return<'_>, url: &Url) {
    let parts = url.components();
    let scheme = url.scheme_type() as u32;
    let numbers: [u32; COMPONENT_COUNT] = [
        parts.protocol_end,
        parts.username_end,
        parts.host_start,
        parts.host_end,
        parts.port.unwrap_or(OMITTED),
        parts.pathname_start.unwrap_or(OMITTED),
        parts.search_start.unwrap_or(OMITTED),
        parts.hash_start.unwrap_or(OMITTED),
        scheme,
    ];
    if let Some(components) = scope.get_slot::<Components>().map(|components| components.0.clone()) {
        let components = v8::Local::new(scope, components);
        let offset = components.byte_offset();
        if let Some(span) = components.buffer(scope).and_then(|buffer| buffer_span(buffer.into())) {
            // SAFETY: this is the only slice of the buffer, and no JavaScript runs while it is in use.
            let target = unsafe { span.part(offset, COMPONENT_COUNT * 4).bytes_mut() };
            for (slot, number) in target.chunks_exact_mut(4).zip(numbers) {
                slot.copy_from_slice(&number.to_ne_bytes());
            }
        }
    }
    return_utf8(scope, result, url.href().as_bytes());
}

fn throw_invalid(scope: &mut Scope<'_, '_>, input: Option<&str>, base: Option<&str>) {
    let Some(error) = new_error(scope, Kind::TypeError, "ERR_INVALID_URL", "Invalid URL") else { return };
    for (name, text) in [("input", input), ("base", base)] {
        if let Some(text) = text.and_then(|text| v8::String::new(scope, text)) {
            set_value(scope, error, name, text.into());
        }
    }
    scope.throw_exception(error.into());
}

fn text_of(scope: &mut Scope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<String> {
    value.is_string().then(|| value.to_rust_string_lossy(scope))
}

/// `(input, base, throws)`
fn parse(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let input = args.get(0).to_rust_string_lossy(scope);
    let base = text_of(scope, args.get(1));
    match Url::parse(input.as_str(), base.as_deref()) {
        Ok(url) => return_url(scope, &mut result, &url),
        Err(_) if args.get(2).is_true() => throw_invalid(scope, Some(&input), base.as_deref()),
        Err(_) => {}
    }
}

/// `(input, base)`
fn can_parse(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let input = args.get(0).to_rust_string_lossy(scope);
    let base = text_of(scope, args.get(1));
    result.set_bool(Url::can_parse(&input, base.as_deref()));
}

/// `(path, isWindows, host)`
fn path_to_file_url(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let path = args.get(0).to_rust_string_lossy(scope);
    let is_windows = args.get(1).is_true();
    let mut escaped = String::with_capacity(path.len());
    for character in path.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\\' if !is_windows => escaped.push_str("%5C"),
            '\n' => escaped.push_str("%0A"),
            '\r' => escaped.push_str("%0D"),
            '\t' => escaped.push_str("%09"),
            '?' => escaped.push_str("%3F"),
            '#' => escaped.push_str("%23"),
            '~' => escaped.push_str("%7E"),
            '^' => escaped.push_str("%5E"),
            '|' => escaped.push_str("%7C"),
            '[' => escaped.push_str("%5B"),
            ']' => escaped.push_str("%5D"),
            _ => escaped.push(character),
        }
    }
    let host = if is_windows { text_of(scope, args.get(2)) } else { None };
    let Ok(mut url) = Url::parse("file://", None) else { return };
    let is_set = url.set_pathname(Some(&escaped)).is_ok()
        && host.as_deref().is_none_or(|host| url.set_hostname(Some(host)).is_ok());
    if is_set {
        return_url(scope, &mut result, &url)
    } else {
        throw_invalid(scope, Some(&path), host.as_deref())
    }
}

/// `(href, withHash, inUnicode, withSearch, withCredentials)`
fn format(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let href = args.get(0).to_rust_string_lossy(scope);
    let Ok(mut url) = Url::parse(href.as_str(), None) else {
        return result.set(args.get(0));
    };
    if !args.get(1).is_true() {
        url.set_hash(None);
    }
    if !args.get(3).is_true() {
        url.set_search(None);
    }
    if !args.get(4).is_true() {
        // A URL that cannot have them has none.
        let _ = url.set_username(Some(""));
        let _ = url.set_password(Some(""));
    }
    let mut text = url.href().to_owned();
    if args.get(2).is_true() && url.has_hostname() {
        let end = url.components().host_end as usize;
        let start = end - url.hostname().len();
        text.replace_range(start..end, &Idna::unicode(url.hostname()));
    }
    return_utf8(scope, &mut result, text.as_bytes());
}

fn get_origin(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let href = args.get(0).to_rust_string_lossy(scope);
    match Url::parse(href.as_str(), None) {
        Ok(url) => return_utf8(scope, &mut result, url.origin().as_bytes()),
        Err(_) => throw_invalid(scope, None, None),
    }
}

/// The host that a domain becomes in a URL with a special scheme.
fn host_of(domain: &str) -> Option<String> {
    let mut url = Url::parse("ws://x", None).ok()?;
    url.set_hostname(Some(domain)).ok()?;
    Some(url.hostname().to_owned())
}

fn domain_to_ascii(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let domain = args.get(0).to_rust_string_lossy(scope);
    let host = host_of(&domain).unwrap_or_default();
    return_utf8(scope, &mut result, host.as_bytes());
}

fn domain_to_unicode(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let domain = args.get(0).to_rust_string_lossy(scope);
    let host = host_of(&domain).map(|host| Idna::unicode(&host)).unwrap_or_default();
    return_utf8(scope, &mut result, host.as_bytes());
}

/// `(href, part, value)`; gives `false` if the part cannot have that value.
fn update(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let href = args.get(0).to_rust_string_lossy(scope);
    let value = args.get(2).to_rust_string_lossy(scope);
    let value = value.as_str();
    let Ok(mut url) = Url::parse(href.as_str(), None) else {
        return result.set_bool(false);
    };
    let is_set = match args.get(1).uint32_value(scope) {
        Some(0) => url.set_protocol(value).is_ok(),
        Some(1) => url.set_host(Some(value)).is_ok(),
        Some(2) => url.set_hostname(Some(value)).is_ok(),
        Some(3) => url.set_port(Some(value)).is_ok(),
        Some(4) => url.set_username(Some(value)).is_ok(),
        Some(5) => url.set_password(Some(value)).is_ok(),
        Some(6) => url.set_pathname(Some(value)).is_ok(),
        Some(7) => {
            url.set_search(Some(value));
            true
        }
        Some(8) => {
            url.set_hash(Some(value));
            true
        }
        Some(9) => url.set_href(value).is_ok(),
        _ => false,
    };
    if is_set { return_url(scope, &mut result, &url) } else { result.set_bool(false) }
}
