//! `internalBinding('messaging')`: structured clones, by V8's serializer.
//!
//! `structuredClone(value, { transfer })` writes a value to bytes and reads it again. What V8 does not
//! know are *host objects*: those of the library's classes, which carry a mark. `setHooks` says how to
//! deal with them, once, at the start:
//!
//! ```text
//! setHooks({
//!   DOMException,      // the class of errors
//!   transferMode,      // symbol of the mark: 1 can be transferred, 2 can be cloned, 3 both, 0 neither
//!   untransferable,    // symbol of the mark of what must not be transferred
//!   clone, transfer,   // symbols of the methods that give { data, deserializeInfo }, or { object }
//!   transferList,      // symbol of the method that gives what is transferred along
//!   deserialize,       // symbol of the method that takes `data`
//!   create,            // function of deserializeInfo: a new object for it
//! })
//! ```
//!
//! A method that gives `{ object }` has made the other side's object itself: it is used as it is. That
//! is for objects whose state is no data, such as ports.
//!
//! - Nothing is detached before the value has been written without an error.
//! - Getters run while a value is written, so any list of objects is complete only afterwards.
//! - `serialize` and `deserialize` are for data alone.

use std::cell::RefCell;
use std::rc::Rc;

use v8::{ValueDeserializerHelper, ValueSerializerHelper};

use super::bytes::{STORAGE, any_bytes, new_bytes};
use super::{Args, Kind, Return, Scope, new_error, set_function, throw_error};

const TRANSFERABLE: u32 = 1;
const CLONEABLE: u32 = 2;

const CLONE_UNSUPPORTED: &str = "Cannot clone object of unsupported type.";
const TRANSFER_UNSUPPORTED: &str = "Cannot transfer object of unsupported type.";

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "setHooks", set_hooks);
    set_function(scope, target, "structuredClone", structured_clone);
    set_function(scope, target, "serialize", serialize);
    set_function(scope, target, "deserialize", deserialize);
}

/// What the library has said about its objects.
#[derive(Clone, Default)]
struct Hooks {
    dom_exception: Option<v8::Global<v8::Function>>,
    create: Option<v8::Global<v8::Function>>,
    transfer_mode: Option<v8::Global<v8::Name>>,
    untransferable: Option<v8::Global<v8::Name>>,
    clone: Option<v8::Global<v8::Name>>,
    transfer: Option<v8::Global<v8::Name>>,
    transfer_list: Option<v8::Global<v8::Name>>,
    deserialize: Option<v8::Global<v8::Name>>,
}

fn property<'s>(
    scope: &mut Scope<'s, '_>,
    object: v8::Local<'_, v8::Object>,
    name: &str,
) -> Option<v8::Local<'s, v8::Value>> {
    let key = v8::String::new(scope, name)?;
    object.get(scope, key.into())
}

fn set_hooks(scope: &mut Scope<'_, '_>, args: Args<'_>, _: Return<'_>) {
    let Ok(object) = v8::Local::<v8::Object>::try_from(args.get(0)) else { return };
    fn function_of(
        scope: &mut Scope<'_, '_>,
        object: v8::Local<'_, v8::Object>,
        name: &str,
    ) -> Option<v8::Global<v8::Function>> {
        let value = property(scope, object, name)?;
        let function = v8::Local::<v8::Function>::try_from(value).ok()?;
        Some(v8::Global::new(scope, function))
    }
    fn symbol_of(
        scope: &mut Scope<'_, '_>,
        object: v8::Local<'_, v8::Object>,
        name: &str,
    ) -> Option<v8::Global<v8::Name>> {
        let value = property(scope, object, name)?;
        let symbol = v8::Local::<v8::Name>::try_from(value).ok()?;
        Some(v8::Global::new(scope, symbol))
    }
    let hooks = Hooks {
        dom_exception: function_of(scope, object, "DOMException"),
        create: function_of(scope, object, "create"),
        transfer_mode: symbol_of(scope, object, "transferMode"),
        untransferable: symbol_of(scope, object, "untransferable"),
        clone: symbol_of(scope, object, "clone"),
        transfer: symbol_of(scope, object, "transfer"),
        transfer_list: symbol_of(scope, object, "transferList"),
        deserialize: symbol_of(scope, object, "deserialize"),
    };
    scope.set_slot(hooks);
}

fn hooks_of(scope: &Scope<'_, '_>) -> Hooks {
    scope.get_slot::<Hooks>().cloned().unwrap_or_default()
}

fn throw_data_clone(scope: &mut Scope<'_, '_>, message: &str) {
    if let Some(message) = v8::String::new(scope, message) {
        throw_data_clone_text(scope, message);
    }
}

fn throw_data_clone_text(scope: &mut Scope<'_, '_>, message: v8::Local<'_, v8::String>) {
    let hooks = hooks_of(scope);
    let (Some(class), Some(name)) = (hooks.dom_exception, v8::String::new(scope, "DataCloneError")) else {
        let message = message.to_rust_string_lossy(scope);
        return throw_error(scope, Kind::Error, "ERR_DATA_CLONE", &message);
    };
    let class = v8::Local::new(scope, class);
    if let Some(error) = class.new_instance(scope, &[message.into(), name.into()]) {
        scope.throw_exception(error.into());
    }
}

/// The mark of a host object; `None` if it is none.
fn mode_of(scope: &mut Scope<'_, '_>, hooks: &Hooks, object: v8::Local<'_, v8::Object>) -> Option<u32> {
    let mark = v8::Local::new(scope, hooks.transfer_mode.as_ref()?);
    if object.has_own_property(scope, mark) != Some(true) {
        return None;
    }
    object.get(scope, mark.into())?.uint32_value(scope)
}

/// Calls the method that `symbol` names.
fn call_method<'s>(
    scope: &mut Scope<'s, '_>,
    object: v8::Local<'_, v8::Object>,
    symbol: Option<&v8::Global<v8::Name>>,
    arguments: &[v8::Local<'_, v8::Value>],
) -> Option<v8::Local<'s, v8::Value>> {
    let symbol = v8::Local::new(scope, symbol?);
    let method = object.get(scope, symbol.into())?;
    let Ok(method) = v8::Local::<v8::Function>::try_from(method) else {
        throw_data_clone(scope, CLONE_UNSUPPORTED);
        return None;
    };
    method.call(scope, object.into(), arguments)
}

/// An object of the library inside the value.
struct Host {
    object: v8::Global<v8::Object>,
    is_transferred: bool,
}

/// What a value had inside that is no bytes.
#[derive(Default)]
struct Parcel {
    hosts: RefCell<Vec<Host>>,
    shared_buffers: RefCell<Vec<v8::Global<v8::SharedArrayBuffer>>>,
    wasm_modules: RefCell<Vec<v8::CompiledWasmModule>>,
    /// The other side's objects for `hosts`.
    received: RefCell<Vec<v8::Global<v8::Object>>>,
    /// Whether the value may have anything but data inside.
    is_data_only: bool,
}

impl Parcel {
    /// Where `object` is among the hosts.
    fn position(&self, scope: &mut Scope<'_, '_>, object: v8::Local<'_, v8::Object>) -> Option<u32> {
        let hosts = self.hosts.borrow();
        let index = hosts.iter().position(|host| {
            let host = v8::Local::new(scope, &host.object);
            host.strict_equals(object.into())
        })?;
        u32::try_from(index).ok()
    }

    fn add(&self, scope: &mut Scope<'_, '_>, object: v8::Local<'_, v8::Object>, is_transferred: bool) -> u32 {
        let mut hosts = self.hosts.borrow_mut();
        hosts.push(Host { object: v8::Global::new(scope, object), is_transferred });
        u32::try_from(hosts.len() - 1).unwrap_or(u32::MAX)
    }
}

struct Writer {
    parcel: Rc<Parcel>,
    hooks: Hooks,
}

impl v8::ValueSerializerImpl for Writer {
    fn throw_data_clone_error<'s>(&self, scope: &mut Scope<'s, '_>, message: v8::Local<'s, v8::String>) {
        throw_data_clone_text(scope, message);
    }

    fn has_custom_host_object(&self, _: &v8::Isolate) -> bool {
        self.hooks.transfer_mode.is_some()
    }

    fn is_host_object<'s>(
        &self,
        scope: &mut Scope<'s, '_>,
        object: v8::Local<'s, v8::Object>,
    ) -> Option<bool> {
        let Some(mark) = &self.hooks.transfer_mode else { return Some(false) };
        let mark = v8::Local::new(scope, mark);
        object.has_own_property(scope, mark)
    }

    fn write_host_object<'s>(
        &self,
        scope: &mut Scope<'s, '_>,
        object: v8::Local<'s, v8::Object>,
        serializer: &dyn ValueSerializerHelper,
    ) -> Option<bool> {
        if let Some(index) = self.parcel.position(scope, object) {
            serializer.write_uint32(index);
            return Some(true);
        }
        let mode = mode_of(scope, &self.hooks, object).unwrap_or(0);
        if mode & CLONEABLE != 0 && !self.parcel.is_data_only {
            let index = self.parcel.add(scope, object, false);
            serializer.write_uint32(index);
            return Some(true);
        }
        let message = if mode & TRANSFERABLE != 0 {
            "Object that needs transfer was found in message but not listed in transferList"
        } else {
            CLONE_UNSUPPORTED
        };
        throw_data_clone(scope, message);
        None
    }

    fn get_shared_array_buffer_id<'s>(
        &self,
        scope: &mut Scope<'s, '_>,
        buffer: v8::Local<'s, v8::SharedArrayBuffer>,
    ) -> Option<u32> {
        if self.parcel.is_data_only {
            throw_data_clone(scope, CLONE_UNSUPPORTED);
            return None;
        }
        let mut buffers = self.parcel.shared_buffers.borrow_mut();
        let known = buffers.iter().position(|known| v8::Local::new(scope, known) == buffer);
        let index = known.unwrap_or_else(|| {
            buffers.push(v8::Global::new(scope, buffer));
            buffers.len() - 1
        });
        u32::try_from(index).ok()
    }

    fn get_wasm_module_transfer_id(
        &self,
        scope: &mut Scope<'_, '_>,
        module: v8::Local<'_, v8::WasmModuleObject>,
    ) -> Option<u32> {
        if self.parcel.is_data_only {
            throw_data_clone(scope, CLONE_UNSUPPORTED);
            return None;
        }
        let mut modules = self.parcel.wasm_modules.borrow_mut();
        modules.push(module.get_compiled_module());
        u32::try_from(modules.len() - 1).ok()
    }
}

struct Reader {
    parcel: Rc<Parcel>,
}

fn throw_unreadable(scope: &mut Scope<'_, '_>) {
    if let Some(error) = new_error(scope, Kind::Error, "", "Unable to deserialize cloned data.") {
        scope.throw_exception(error.into());
    }
}

impl v8::ValueDeserializerImpl for Reader {
    fn read_host_object<'s>(
        &self,
        scope: &mut Scope<'s, '_>,
        deserializer: &dyn ValueDeserializerHelper,
    ) -> Option<v8::Local<'s, v8::Object>> {
        let mut index = 0;
        let is_read = deserializer.read_uint32(&mut index);
        let received = self.parcel.received.borrow();
        match received.get(index as usize).filter(|_| is_read) {
            Some(object) => Some(v8::Local::new(scope, object)),
            None => {
                throw_unreadable(scope);
                None
            }
        }
    }

    fn get_shared_array_buffer_from_id<'s>(
        &self,
        scope: &mut Scope<'s, '_>,
        index: u32,
    ) -> Option<v8::Local<'s, v8::SharedArrayBuffer>> {
        let buffers = self.parcel.shared_buffers.borrow();
        let Some(buffer) = buffers.get(index as usize) else {
            throw_unreadable(scope);
            return None;
        };
        let store = v8::Local::new(scope, buffer).get_backing_store();
        Some(v8::SharedArrayBuffer::with_backing_store(scope, &store))
    }

    fn get_wasm_module_from_id<'s>(
        &self,
        scope: &mut Scope<'s, '_>,
        index: u32,
    ) -> Option<v8::Local<'s, v8::WasmModuleObject>> {
        let modules = self.parcel.wasm_modules.borrow();
        let Some(module) = modules.get(index as usize) else {
            throw_unreadable(scope);
            return None;
        };
        v8::WasmModuleObject::from_compiled_module(scope, module)
    }
}

/// The entries of an array. Without them an exception is pending.
fn entries_of<'s>(
    scope: &mut Scope<'s, '_>,
    value: v8::Local<'_, v8::Value>,
) -> Option<Vec<v8::Local<'s, v8::Value>>> {
    if value.is_null_or_undefined() {
        return Some(Vec::new());
    }
    let Ok(array) = v8::Local::<v8::Array>::try_from(value) else {
        throw_data_clone(scope, "Found invalid value in transferList.");
        return None;
    };
    (0..array.length()).map(|index| array.get_index(scope, index)).collect()
}

/// Takes the transfer list apart: buffers are given back, other objects go to the parcel.
fn transferred<'s>(
    scope: &mut Scope<'s, '_>,
    hooks: &Hooks,
    parcel: &Parcel,
    list: v8::Local<'_, v8::Value>,
) -> Option<Vec<v8::Local<'s, v8::ArrayBuffer>>> {
    let mut buffers: Vec<v8::Local<'s, v8::ArrayBuffer>> = Vec::new();
    for entry in entries_of(scope, list)? {
        let refusal = refusal_of(scope, hooks, parcel, &buffers, entry);
        if let Some(refusal) = refusal {
            throw_data_clone(scope, refusal);
            return None;
        }
        if let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(entry) {
            buffers.push(buffer);
        } else if let Ok(object) = v8::Local::<v8::Object>::try_from(entry) {
            parcel.add(scope, object, true);
        }
    }
    add_nested(scope, hooks, parcel)?;
    Some(buffers)
}

/// Why an entry of a transfer list cannot be transferred.
fn refusal_of(
    scope: &mut Scope<'_, '_>,
    hooks: &Hooks,
    parcel: &Parcel,
    buffers: &[v8::Local<'_, v8::ArrayBuffer>],
    entry: v8::Local<'_, v8::Value>,
) -> Option<&'static str> {
    let Ok(object) = v8::Local::<v8::Object>::try_from(entry) else {
        return Some("Found invalid value in transferList.");
    };
    if let Some(mark) = &hooks.untransferable {
        let mark = v8::Local::new(scope, mark);
        if object.has_own_property(scope, mark) == Some(true) {
            return Some(TRANSFER_UNSUPPORTED);
        }
    }
    if let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(entry) {
        if !buffer.is_detachable() || buffer.was_detached() {
            return Some(TRANSFER_UNSUPPORTED);
        }
        return buffers.contains(&buffer).then_some("Transfer list contains duplicate ArrayBuffer");
    }
    match mode_of(scope, hooks, object) {
        None => Some("Found invalid value in transferList."),
        Some(mode) if mode & TRANSFERABLE == 0 => Some(TRANSFER_UNSUPPORTED),
        Some(_) => parcel.position(scope, object).map(|_| "Transfer list contains duplicate host object"),
    }
}

/// Adds what the transferred objects take along.
fn add_nested(scope: &mut Scope<'_, '_>, hooks: &Hooks, parcel: &Parcel) -> Option<()> {
    let mut index = 0;
    loop {
        let Some(host) = parcel.hosts.borrow().get(index).map(|host| host.object.clone()) else {
            return Some(());
        };
        index += 1;
        let host = v8::Local::new(scope, host);
        let symbol = v8::Local::new(scope, hooks.transfer_list.as_ref()?);
        if !host.get(scope, symbol.into())?.is_function() {
            continue;
        }
        let list = call_method(scope, host, hooks.transfer_list.as_ref(), &[])?;
        for entry in entries_of(scope, list)? {
            let Ok(object) = v8::Local::<v8::Object>::try_from(entry) else { continue };
            if mode_of(scope, hooks, object).is_some() && parcel.position(scope, object).is_none() {
                parcel.add(scope, object, true);
            }
        }
    }
}

/// `(value, { transfer })`
fn structured_clone<'s>(scope: &mut Scope<'s, '_>, args: Args<'s>, mut result: Return<'_>) {
    let list = match v8::Local::<v8::Object>::try_from(args.get(1)) {
        Ok(options) => {
            let Some(list) = property(scope, options, "transfer") else { return };
            list
        }
        Err(_) => v8::undefined(scope).into(),
    };
    if let Some(clone) = clone_of(scope, args.get(0), list) {
        result.set(clone);
    }
}

/// The clone of a value. Without one an exception is pending.
fn clone_of<'s>(
    scope: &mut Scope<'s, '_>,
    value: v8::Local<'s, v8::Value>,
    list: v8::Local<'_, v8::Value>,
) -> Option<v8::Local<'s, v8::Value>> {
    let hooks = hooks_of(scope);
    let parcel = Rc::new(Parcel::default());
    let buffers = transferred(scope, &hooks, &parcel, list)?;
    if !value.is_object() && !value.is_symbol() && buffers.is_empty() && parcel.hosts.borrow().is_empty() {
        // All other primitive values are their own clones.
        return Some(value);
    }
    let context = scope.get_current_context();
    let writer = Writer { parcel: Rc::clone(&parcel), hooks: hooks.clone() };
    let serializer = v8::ValueSerializer::new(scope, Box::new(writer));
    serializer.write_header();
    for (index, buffer) in (0..).zip(&buffers) {
        serializer.transfer_array_buffer(index, *buffer);
    }
    ValueSerializerHelper::write_value(&serializer, context, value)?;

    let mut stores = Vec::with_capacity(buffers.len());
    for buffer in &buffers {
        // A getter of the value can have made it WebAssembly's meanwhile, or detached it: then it is empty.
        if !buffer.is_detachable() {
            throw_data_clone(scope, TRANSFER_UNSUPPORTED);
            return None;
        }
        let store = buffer.get_backing_store();
        buffer.detach(None)?;
        stores.push(store);
    }
    let has_data = write_hosts(scope, &hooks, &parcel, &serializer, context)?;
    let bytes = serializer.release();
    drop(serializer);

    let deserializer =
        v8::ValueDeserializer::new(scope, Box::new(Reader { parcel: Rc::clone(&parcel) }), &bytes);
    deserializer.read_header(context)?;
    for (index, store) in (0..).zip(&stores) {
        let buffer = v8::ArrayBuffer::with_backing_store(scope, store);
        deserializer.transfer_array_buffer(index, buffer);
    }
    let clone = ValueDeserializerHelper::read_value(&deserializer, context)?;
    for (index, has_data) in has_data.into_iter().enumerate() {
        if has_data {
            let data = ValueDeserializerHelper::read_value(&deserializer, context)?;
            let object = parcel.received.borrow().get(index).cloned()?;
            let object = v8::Local::new(scope, object);
            call_method(scope, object, hooks.deserialize.as_ref(), &[data])?;
        }
    }
    Some(clone)
}

/// Writes the data of all hosts behind the value, and makes the other side's objects. Gives for each
/// whether it has data.
fn write_hosts(
    scope: &mut Scope<'_, '_>,
    hooks: &Hooks,
    parcel: &Parcel,
    serializer: &v8::ValueSerializer<'_>,
    context: v8::Local<'_, v8::Context>,
) -> Option<Vec<bool>> {
    let mut has_data = Vec::new();
    // The data of a host can have further hosts inside.
    loop {
        let index = has_data.len();
        let next = parcel.hosts.borrow().get(index).map(|host| (host.object.clone(), host.is_transferred));
        let Some((host, is_transferred)) = next else { return Some(has_data) };
        let host = v8::Local::new(scope, host);
        let method = if is_transferred { &hooks.transfer } else { &hooks.clone };
        let parts = call_method(scope, host, method.as_ref(), &[])?;
        let Ok(parts) = v8::Local::<v8::Object>::try_from(parts) else {
            throw_data_clone(scope, CLONE_UNSUPPORTED);
            return None;
        };
        let object = property(scope, parts, "object")?;
        let object = if object.is_object() {
            has_data.push(false);
            object
        } else {
            let data = property(scope, parts, "data")?;
            ValueSerializerHelper::write_value(serializer, context, data)?;
            has_data.push(true);
            let info = property(scope, parts, "deserializeInfo")?;
            let create = v8::Local::new(scope, hooks.create.as_ref()?);
            let undefined = v8::undefined(scope).into();
            create.call(scope, undefined, &[info])?
        };
        let Ok(object) = v8::Local::<v8::Object>::try_from(object) else {
            throw_data_clone(scope, CLONE_UNSUPPORTED);
            return None;
        };
        let object = v8::Global::new(scope, object);
        parcel.received.borrow_mut().push(object);
    }
}

/// `(value)`; gives its bytes.
fn serialize(scope: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>) {
    let context = scope.get_current_context();
    let parcel = Rc::new(Parcel { is_data_only: true, ..Parcel::default() });
    let hooks = hooks_of(scope);
    let serializer = v8::ValueSerializer::new(scope, Box::new(Writer { parcel, hooks }));
    serializer.write_header();
    if ValueSerializerHelper::write_value(&serializer, context, args.get(0)).is_none() {
        return;
    }
    let bytes = serializer.release();
    if let Some(array) = new_bytes(scope, &bytes) {
        result.set(array.into());
    }
}

/// `(bytes)`; gives the value.
fn deserialize<'s>(scope: &mut Scope<'s, '_>, args: Args<'s>, mut result: Return<'_>) {
    let mut storage = STORAGE;
    let Some(bytes) = any_bytes(args.get(0), &mut storage).map(<[u8]>::to_vec) else {
        return throw_error(scope, Kind::TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a buffer");
    };
    let context = scope.get_current_context();
    let reader = Reader { parcel: Rc::new(Parcel { is_data_only: true, ..Parcel::default() }) };
    let deserializer = v8::ValueDeserializer::new(scope, Box::new(reader), &bytes);
    if deserializer.read_header(context).is_none() {
        return;
    }
    if let Some(value) = ValueDeserializerHelper::read_value(&deserializer, context) {
        result.set(value);
    }
}
