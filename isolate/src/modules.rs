//! ES modules: names to sources, sources to modules, and the graph of a run.
//!
//! | Specifier | Module |
//! | --- | --- |
//! | `node:fs`, `fs` | a built-in of the prelude |
//! | `ws:name` | functions that call the host |
//! | a configured name | the source in `Start` |
//! | `./x.js`, `/x.js`, `file:` | a file of the workspace: the host resolves and reads it |
//! | anything else | refused |
//!
//! A module is known by its key: the URL of a file, or the specifier of the rest. Each key is
//! loaded once, however it is imported.

use std::cell::RefCell;
use std::collections::HashMap;

use carrel_wire::{CallKind, Start, Value};

use crate::bindings::{Kind, throw_error};
use crate::natives::with_host;

thread_local! {
    static MODULES: RefCell<Modules> = RefCell::new(Modules::default());
}

#[derive(Default)]
struct Modules {
    by_key: HashMap<String, v8::Global<v8::Module>>,
    /// By V8's identity hash, which several modules can share.
    keys: HashMap<i32, Vec<(v8::Global<v8::Module>, String)>>,
    /// What a specifier of a module turned out to be.
    resolved: HashMap<(String, String), String>,
    /// What evaluating a synthetic module sets.
    exports: HashMap<String, v8::Global<v8::Object>>,
    host_modules: HashMap<String, Vec<String>>,
    source_modules: HashMap<String, String>,
    prelude: Option<v8::Global<v8::Object>>,
    /// Key of the module that the run was started with.
    entry: Option<String>,
}

/// Takes over what `Start` configures, and the prelude's functions `builtin` and `hostModule`.
pub fn configure(start: &mut Start, prelude: v8::Global<v8::Object>) {
    MODULES.with_borrow_mut(|modules| {
        modules.host_modules =
            start.host_modules.drain(..).map(|module| (module.specifier, module.exports)).collect();
        modules.source_modules =
            start.source_modules.drain(..).map(|module| (module.specifier, module.source)).collect();
        modules.prelude = Some(prelude);
    });
}

/// URL of a workspace path, with what a URL cannot hold encoded.
pub fn file_url(path: &str) -> String {
    let mut url = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'%'
            | b'\\'
            | b'\n'
            | b'\r'
            | b'\t'
            | b'?'
            | b'#'
            | b' '
            | b'"'
            | b'<'
            | b'>'
            | b'^'
            | b'`'
            | b'{'
            | b'|'
            | b'}'
            | 0..0x20
            | 0x7f.. => {
                url.push_str(&format!("%{byte:02X}"));
            }
            _ => url.push(char::from(byte)),
        }
    }
    url
}

fn path_of(key: &str) -> Option<String> {
    let encoded = key.strip_prefix("file://")?.split(['?', '#']).next()?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Compiles the entry and everything it imports. With an exception pending if that fails.
pub fn load_entry<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    path: &str,
    source: &str,
) -> Option<v8::Local<'s, v8::Module>> {
    let key = file_url(path);
    MODULES.with_borrow_mut(|modules| modules.entry = Some(key.clone()));
    let module = compile(scope, &key, source)?;
    load_graph(scope, module, &key)?;
    instantiate(scope, module)?;
    Some(module)
}

fn instantiate(scope: &mut v8::PinScope<'_, '_>, module: v8::Local<'_, v8::Module>) -> Option<()> {
    module.instantiate_module(scope, resolve_loaded).map(|_| ())
}

/// Loads what `module` imports, and what that imports, breadth first.
fn load_graph(scope: &mut v8::PinScope<'_, '_>, module: v8::Local<'_, v8::Module>, key: &str) -> Option<()> {
    let mut queue = std::collections::VecDeque::from([(v8::Global::new(scope, module), key.to_owned())]);
    while let Some((module, key)) = queue.pop_front() {
        let module = v8::Local::new(scope, &module);
        if !module.is_source_text_module() || module.get_status() != v8::ModuleStatus::Uninstantiated {
            continue;
        }
        let requests = module.get_module_requests();
        for index in 0..requests.length() {
            let request = requests.get(scope, index)?;
            let request = v8::Local::<v8::ModuleRequest>::try_from(request).ok()?;
            let specifier = request.get_specifier().to_rust_string_lossy(scope);
            let attributes = request.get_import_attributes();
            let kind = attribute_type(scope, attributes, 3)?;
            let (loaded, is_new) = load(scope, &specifier, &key, kind.as_deref())?;
            if is_new {
                let loaded_key = key_of(scope, loaded);
                queue.push_back((v8::Global::new(scope, loaded), loaded_key));
            }
        }
    }
    Some(())
}

/// The `type` of import attributes, that V8 hands over in groups of `stride`.
fn attribute_type(
    scope: &mut v8::PinScope<'_, '_>,
    attributes: v8::Local<'_, v8::FixedArray>,
    stride: usize,
) -> Option<Option<String>> {
    let mut kind = None;
    for index in (0..attributes.length()).step_by(stride) {
        let key = attributes.get(scope, index)?;
        let value = attributes.get(scope, index + 1)?;
        let key = v8::Local::<v8::Value>::try_from(key).ok()?.to_rust_string_lossy(scope);
        let value = v8::Local::<v8::Value>::try_from(value).ok()?.to_rust_string_lossy(scope);
        if key != "type" {
            let text = format!("Import attribute \"{key}\" with value \"{value}\" is not supported");
            throw_error(scope, Kind::TypeError, "ERR_IMPORT_ATTRIBUTE_UNSUPPORTED", &text);
            return None;
        }
        kind = Some(value);
    }
    Some(kind)
}

/// The module that `specifier` means in the module `referrer`, and whether it was loaded just now.
fn load<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: &str,
    referrer: &str,
    kind: Option<&str>,
) -> Option<(v8::Local<'s, v8::Module>, bool)> {
    let place = (referrer.to_owned(), specifier.to_owned());
    let known = MODULES.with_borrow(|modules| {
        let key = modules.resolved.get(&place)?;
        modules.by_key.get(key).cloned()
    });
    if let Some(module) = known {
        return Some((v8::Local::new(scope, &module), false));
    }
    let (key, module, is_new) = load_new(scope, specifier, referrer, kind)?;
    MODULES.with_borrow_mut(|modules| modules.resolved.insert(place, key));
    Some((module, is_new))
}

type Loaded<'s> = (String, v8::Local<'s, v8::Module>, bool);

fn load_new<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: &str,
    referrer: &str,
    kind: Option<&str>,
) -> Option<Loaded<'s>> {
    if let Some(source) = MODULES.with_borrow(|modules| modules.source_modules.get(specifier).cloned()) {
        return match existing(scope, specifier) {
            Some(module) => Some((specifier.to_owned(), module, false)),
            None => Some((specifier.to_owned(), compile(scope, specifier, &source)?, true)),
        };
    }
    if let Some(names) = MODULES.with_borrow(|modules| modules.host_modules.get(specifier).cloned()) {
        return match existing(scope, specifier) {
            Some(module) => Some((specifier.to_owned(), module, false)),
            None => {
                let object = host_module(scope, specifier, &names)?;
                Some((specifier.to_owned(), synthetic(scope, specifier, object, false)?, true))
            }
        };
    }
    if is_path(specifier) {
        if path_of(referrer).is_none() && !specifier.starts_with('/') && !specifier.starts_with("file:") {
            // A configured module may name another one with a path, as if they lay side by side.
            let name = specifier.strip_prefix("./").unwrap_or(specifier);
            if MODULES.with_borrow(|modules| modules.source_modules.contains_key(name)) {
                return load_new(scope, name, referrer, kind);
            }
            let text = format!(
                "Cannot import '{specifier}' from the configured module '{referrer}': it is in no folder; configure the module that it needs under its name"
            );
            throw_error(scope, Kind::Error, "ERR_MODULE_NOT_FOUND", &text);
            return None;
        }
        return load_file(scope, specifier, referrer, kind);
    }
    let key = if specifier.starts_with("node:") { specifier.to_owned() } else { format!("node:{specifier}") };
    if let Some(module) = existing(scope, &key) {
        return Some((key, module, false));
    }
    if let Some(object) = builtin(scope, &key)? {
        let module = synthetic(scope, &key, object, true)?;
        return Some((key, module, true));
    }
    refuse(scope, specifier, referrer);
    None
}

fn is_path(specifier: &str) -> bool {
    specifier.starts_with('/')
        || specifier.starts_with("./")
        || specifier.starts_with("../")
        || specifier == "."
        || specifier == ".."
        || specifier.starts_with("file:")
}

/// Built-ins of Node.js that an isolate does not have.
const NODE_ONLY: &[&str] = &[
    "child_process",
    "cluster",
    "dgram",
    "dns",
    "domain",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "repl",
    "sea",
    "sqlite",
    "test",
    "tls",
    "trace_events",
    "tty",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
];

fn refuse(scope: &mut v8::PinScope<'_, '_>, specifier: &str, referrer: &str) {
    let from = path_of(referrer).unwrap_or_else(|| referrer.to_owned());
    if specifier.starts_with("ws:") {
        let text = format!(
            "Cannot find host module '{specifier}' imported from {from}: the backend's `modules` option does not have it"
        );
        throw_error(scope, Kind::Error, "ERR_MODULE_NOT_FOUND", &text);
    } else if let Some(name) = specifier.strip_prefix("node:") {
        let text = format!("No such built-in module: node:{name}, as far as carrel's isolate goes");
        throw_error(scope, Kind::Error, "ERR_UNKNOWN_BUILTIN_MODULE", &text);
    } else if NODE_ONLY.contains(&specifier.split('/').next().unwrap_or_default()) {
        let text = format!(
            "The built-in module '{specifier}' of Node.js is not part of carrel's isolate: there is no process, network or thread behind it"
        );
        throw_error(scope, Kind::Error, "ERR_UNKNOWN_BUILTIN_MODULE", &text);
    } else if let Some((scheme, _)) = specifier.split_once(':') {
        let text = format!(
            "Modules with the scheme '{scheme}:' cannot be imported ('{specifier}' from {from}); import files of the workspace, built-ins and configured modules"
        );
        throw_error(scope, Kind::Error, "ERR_UNSUPPORTED_ESM_URL_SCHEME", &text);
    } else {
        let text = format!(
            "Cannot find package '{specifier}' imported from {from}: packages are not installed here. Bundle it to one file of the workspace and import that by its path, or have it configured in the backend's `modules` option"
        );
        throw_error(scope, Kind::Error, "ERR_MODULE_NOT_FOUND", &text);
    }
}

fn load_file<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: &str,
    referrer: &str,
    kind: Option<&str>,
) -> Option<Loaded<'s>> {
    let from = path_of(referrer).unwrap_or_else(|| "/".to_owned());
    let args = vec![Value::text(specifier), Value::text(from), Value::optional_text(kind)];
    let outcome = with_host(|host| host.call_sync(CallKind::Import, "resolve".to_owned(), args));
    let (path, format, source, suffix) = match outcome {
        Ok(Value::List(items)) => match items.as_slice() {
            [Value::Text(path), Value::Text(format), Value::Text(source), Value::Text(suffix)] => {
                (path.clone(), format.clone(), source.clone(), suffix.clone())
            }
            _ => return None,
        },
        Ok(_) => return None,
        Err(error) => {
            throw_import_error(scope, &error);
            return None;
        }
    };
    // A query makes a module of its own, as in Node.
    let url = file_url(&path) + &suffix;
    // Two files that a link makes one are one module, as in Node.
    if let Some(module) = existing(scope, &url) {
        return Some((url, module, false));
    }
    let module = if format == "json" {
        let text = v8::String::new(scope, &source)?;
        let value = {
            v8::tc_scope!(let scope, scope);
            let value = v8::json::parse(scope, text);
            if value.is_none() {
                let what = scope.exception().map(|it| it.to_rust_string_lossy(scope)).unwrap_or_default();
                let what = what.strip_prefix("SyntaxError: ").unwrap_or(&what).to_owned();
                scope.reset();
                throw_error(scope, Kind::SyntaxError, "", &format!("{path}: {what}"));
                scope.rethrow();
                return None;
            }
            value?
        };
        let object = v8::Object::new(scope);
        let key = v8::String::new(scope, "default")?;
        object.create_data_property(scope, key.into(), value)?;
        synthetic(scope, &url, object, false)?
    } else {
        compile(scope, &url, &source)?
    };
    Some((url, module, true))
}

fn throw_import_error(scope: &mut v8::PinScope<'_, '_>, error: &Value) {
    let Value::List(items) = error else { return };
    let text = |index: usize| items.get(index).and_then(Value::as_text).unwrap_or_default();
    let kind = match text(0) {
        "SyntaxError" => Kind::SyntaxError,
        "TypeError" => Kind::TypeError,
        _ => Kind::Error,
    };
    throw_error(scope, kind, text(1), text(2));
}

fn existing<'s>(scope: &mut v8::PinScope<'s, '_>, key: &str) -> Option<v8::Local<'s, v8::Module>> {
    let module = MODULES.with_borrow(|modules| modules.by_key.get(key).cloned())?;
    Some(v8::Local::new(scope, &module))
}

fn key_of(scope: &mut v8::PinScope<'_, '_>, module: v8::Local<'_, v8::Module>) -> String {
    MODULES.with_borrow(|modules| {
        modules
            .keys
            .get(&module.get_identity_hash().get())
            .into_iter()
            .flatten()
            .find(|(other, _)| v8::Local::new(scope, other) == module)
            .map(|(_, key)| key.clone())
            .unwrap_or_default()
    })
}

fn register(scope: &mut v8::PinScope<'_, '_>, key: &str, module: v8::Local<'_, v8::Module>) {
    let global = v8::Global::new(scope, module);
    MODULES.with_borrow_mut(|modules| {
        let hash = module.get_identity_hash().get();
        modules.keys.entry(hash).or_default().push((global.clone(), key.to_owned()));
        modules.by_key.insert(key.to_owned(), global);
    });
}

fn compile<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    key: &str,
    source: &str,
) -> Option<v8::Local<'s, v8::Module>> {
    let name = v8::String::new(scope, key)?;
    let source = v8::String::new(scope, source)?;
    let origin = v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, true, None);
    let mut source = v8::script_compiler::Source::new(source, Some(&origin));
    let module = v8::script_compiler::compile_module(scope, &mut source)?;
    register(scope, key, module);
    Some(module)
}

/// A module whose exports are the properties of `object`; with `object` itself as its default if asked.
fn synthetic<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    key: &str,
    object: v8::Local<'s, v8::Object>,
    with_default: bool,
) -> Option<v8::Local<'s, v8::Module>> {
    let name = v8::String::new(scope, key)?;
    let default = v8::String::new(scope, "default")?;
    let properties = object.get_own_property_names(scope, v8::GetPropertyNamesArgs::default())?;
    let mut names = Vec::new();
    for index in 0..properties.length() {
        let property = properties.get_index(scope, index)?;
        if let Ok(property) = v8::Local::<v8::String>::try_from(property)
            && !(with_default && property == default)
        {
            names.push(property);
        }
    }
    if with_default {
        names.push(default);
    }
    let module = v8::Module::create_synthetic_module(scope, name, &names, set_exports);
    register(scope, key, module);
    let exports = if with_default {
        let copy = v8::Object::new(scope);
        for name in &names {
            let value = if *name == default { object.into() } else { object.get(scope, (*name).into())? };
            copy.create_data_property(scope, (*name).into(), value)?;
        }
        copy
    } else {
        object
    };
    let exports = v8::Global::new(scope, exports);
    MODULES.with_borrow_mut(|modules| modules.exports.insert(key.to_owned(), exports));
    Some(module)
}

fn set_exports<'s>(
    context: v8::Local<'s, v8::Context>,
    module: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Value>> {
    v8::callback_scope!(unsafe let scope, context);
    let key = key_of(scope, module);
    let exports = MODULES.with_borrow_mut(|modules| modules.exports.remove(&key))?;
    let exports = v8::Local::new(scope, &exports);
    let names = exports.get_own_property_names(scope, v8::GetPropertyNamesArgs::default())?;
    for index in 0..names.length() {
        let name = names.get_index(scope, index)?;
        let value = exports.get(scope, name)?;
        let name = v8::Local::<v8::String>::try_from(name).ok()?;
        module.set_synthetic_module_export(scope, name, value)?;
    }
    let resolver = v8::PromiseResolver::new(scope)?;
    let undefined = v8::undefined(scope);
    resolver.resolve(scope, undefined.into())?;
    Some(resolver.get_promise(scope).into())
}

fn prelude<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<v8::Local<'s, v8::Object>> {
    let prelude = MODULES.with_borrow(|modules| modules.prelude.clone())?;
    Some(v8::Local::new(scope, &prelude))
}

fn call_prelude<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: &str,
    args: &[v8::Local<'s, v8::Value>],
) -> Option<v8::Local<'s, v8::Value>> {
    let prelude = prelude(scope)?;
    let key = v8::String::new(scope, name)?;
    let function = v8::Local::<v8::Function>::try_from(prelude.get(scope, key.into())?).ok()?;
    function.call(scope, prelude.into(), args)
}

/// Exports of a built-in; none if there is no such built-in.
fn builtin<'s>(scope: &mut v8::PinScope<'s, '_>, key: &str) -> Option<Option<v8::Local<'s, v8::Object>>> {
    let id = v8::String::new(scope, key)?;
    let exports = call_prelude(scope, "builtin", &[id.into()])?;
    Some(v8::Local::<v8::Object>::try_from(exports).ok())
}

fn host_module<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: &str,
    names: &[String],
) -> Option<v8::Local<'s, v8::Object>> {
    let specifier = v8::String::new(scope, specifier)?;
    let mut locals: Vec<v8::Local<'_, v8::Value>> = Vec::new();
    for name in names {
        locals.push(v8::String::new(scope, name)?.into());
    }
    let names = v8::Array::new_with_elements(scope, &locals);
    let exports = call_prelude(scope, "hostModule", &[specifier.into(), names.into()])?;
    v8::Local::<v8::Object>::try_from(exports).ok()
}

/// V8 asks for the module of a specifier while it links: `load_graph` has seen to it.
fn resolve_loaded<'s>(
    context: v8::Local<'s, v8::Context>,
    specifier: v8::Local<'s, v8::String>,
    _attributes: v8::Local<'s, v8::FixedArray>,
    referrer: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Module>> {
    v8::callback_scope!(unsafe let scope, context);
    let specifier = specifier.to_rust_string_lossy(scope);
    let referrer = key_of(scope, referrer);
    Some(load(scope, &specifier, &referrer, None)?.0)
}

/// `import()`.
pub fn import_dynamically<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    _options: v8::Local<'s, v8::Data>,
    referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    let specifier = specifier.to_rust_string_lossy(scope);
    let referrer = referrer.to_rust_string_lossy(scope);
    v8::tc_scope!(let scope, scope);
    let module = import_now(scope, &specifier, &referrer, attributes);
    if let Some(promise) = module {
        return Some(promise);
    }
    // A run that is being ended has no exception that the code could see.
    let error = scope.exception().filter(|_| !scope.has_terminated())?;
    scope.reset();
    let resolver = v8::PromiseResolver::new(scope)?;
    resolver.reject(scope, error)?;
    Some(resolver.get_promise(scope))
}

fn import_now<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: &str,
    referrer: &str,
    attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    let kind = attribute_type(scope, attributes, 2)?;
    let (module, _) = load(scope, specifier, referrer, kind.as_deref())?;
    let key = key_of(scope, module);
    load_graph(scope, module, &key)?;
    if module.get_status() == v8::ModuleStatus::Uninstantiated {
        instantiate(scope, module)?;
    }
    let namespace = module.get_module_namespace();
    let evaluated = v8::Local::<v8::Promise>::try_from(module.evaluate(scope)?).ok()?;
    let give = v8::Function::builder(give_data).data(namespace).build(scope)?;
    evaluated.then(scope, give)
}

fn give_data(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    result.set(args.data());
}

/// `import.meta`.
pub unsafe extern "C" fn initialize_import_meta(
    context: v8::Local<'_, v8::Context>,
    module: v8::Local<'_, v8::Module>,
    meta: v8::Local<'_, v8::Object>,
) {
    v8::callback_scope!(unsafe let scope, context);
    let key = key_of(scope, module);
    let set = |name: &str, text: &str| {
        if let (Some(name), Some(text)) = (v8::String::new(scope, name), v8::String::new(scope, text)) {
            meta.create_data_property(scope, name.into(), text.into());
        }
    };
    if let Some(path) = path_of(&key) {
        let directory = match path.rsplit_once('/') {
            Some(("", _)) | None => "/",
            Some((directory, _)) => directory,
        };
        set("dirname", directory);
        set("filename", &path);
    }
    set("url", &key);
    let is_main = MODULES.with_borrow(|modules| modules.entry.as_deref() == Some(key.as_str()));
    if let Some(url) = v8::String::new(scope, &key) {
        let is_main = v8::Boolean::new(scope, is_main);
        call_prelude(scope, "importMeta", &[meta.into(), url.into(), is_main.into()]);
    }
}
