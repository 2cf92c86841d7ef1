//! V8: its flags, the isolate from the snapshot, and what V8 calls back for.

use crate::natives::callback;
use crate::{memory, modules};

static SNAPSHOT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/snapshot.bin"));

/// Of a heap's limit, what new objects may take; the rest is for old ones.
const YOUNG_SHARE: usize = 8;

/// Starts V8 and makes the isolate.
pub fn start(memory_bytes_max: usize) -> v8::OwnedIsolate {
    v8::V8::set_flags_from_string(&crate::flags::FLAGS.join(" "));
    let platform = v8::new_single_threaded_default_platform(false).make_shared();
    v8::V8::initialize_platform(platform);
    v8::V8::initialize();

    let young = (memory_bytes_max / YOUNG_SHARE).min(48 * 1024 * 1024);
    let params = v8::CreateParams::default()
        .snapshot_blob(v8::StartupData::from(SNAPSHOT))
        .array_buffer_allocator(memory::allocator().make_shared())
        .set_max_young_generation_size_in_bytes(young)
        .set_max_old_generation_size_in_bytes(memory_bytes_max - young);
    let mut isolate = v8::Isolate::new(params);
    isolate.set_microtasks_policy(v8::MicrotasksPolicy::Explicit);
    isolate.set_capture_stack_trace_for_uncaught_exceptions(false, 0);
    isolate.set_promise_reject_callback(on_rejection);
    isolate.set_prepare_stack_trace_callback(prepare_stack_trace);
    isolate.set_host_import_module_dynamically_callback(modules::import_dynamically);
    isolate.set_host_initialize_import_meta_object_callback(modules::initialize_import_meta);
    memory::watch(&mut isolate, memory_bytes_max);
    isolate
}

extern "C" fn on_rejection(message: v8::PromiseRejectMessage<'_>) {
    let Some(function) = callback(|callbacks| &callbacks.rejection) else { return };
    v8::callback_scope!(unsafe let scope, &message);
    let promise = message.get_promise();
    let undefined = v8::undefined(scope).into();
    let reason = message.get_value().unwrap_or(undefined);
    let kind = v8::Number::new(scope, f64::from(message.get_event() as u32));
    let function = v8::Local::new(scope, &function);
    v8::tc_scope!(let scope, scope);
    // What it throws can only be the end of the run.
    function.call(scope, undefined, &[kind.into(), promise.into(), reason]);
}

fn prepare_stack_trace<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    error: v8::Local<'s, v8::Value>,
    sites: v8::Local<'s, v8::Array>,
) -> v8::Local<'s, v8::Value> {
    let prepared = callback(|callbacks| &callbacks.prepare_stack_trace).and_then(|function| {
        let function = v8::Local::new(scope, &function);
        let undefined = v8::undefined(scope).into();
        function.call(scope, undefined, &[error, sites.into()])
    });
    prepared.unwrap_or_else(|| v8::undefined(scope).into())
}
