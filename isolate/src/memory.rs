//! The memory of the run: V8's heap and all buffers, under one limit.
//!
//! - Passing the limit ends the run, even if the code would catch an exception: execution is
//!   terminated, and `was_exceeded` says why.
//! - The heap's own limit is V8's; near it there is some room in which the code can be stopped.
//!   If that does not suffice, V8 gives up and the process ends with `EXIT_OUT_OF_MEMORY`.
//! - Not here: the operating system's limit, which the host sets as a second line.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;

/// The host reads "out of memory" from it.
pub const EXIT_OUT_OF_MEMORY: i32 = 137;

/// What the heap may grow by while the code is being stopped.
const HEAP_GRACE_BYTES: usize = 16 * 1024 * 1024;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static HEAP_USED: AtomicUsize = AtomicUsize::new(0);
static BUFFERS: AtomicUsize = AtomicUsize::new(0);
static EXCEEDED: AtomicBool = AtomicBool::new(false);
static ISOLATE: OnceLock<v8::IsolateHandle> = OnceLock::new();

/// Whether the limit was passed.
pub fn was_exceeded() -> bool {
    EXCEEDED.load(Ordering::Relaxed)
}

/// Bytes of all buffers.
pub fn buffer_bytes() -> usize {
    BUFFERS.load(Ordering::Relaxed)
}

/// Sets the limit of an isolate.
pub fn watch(isolate: &mut v8::Isolate, limit_bytes: usize) {
    LIMIT.store(limit_bytes, Ordering::Relaxed);
    // Only one isolate lives in a process.
    let _ = ISOLATE.set(isolate.thread_safe_handle());
    isolate.add_near_heap_limit_callback(on_near_heap_limit, std::ptr::null_mut());
    isolate.set_oom_error_handler(on_out_of_memory);
    isolate.add_gc_epilogue_callback(on_gc, std::ptr::null_mut(), v8::GCType::kGCTypeAll);
}

fn exceed() {
    EXCEEDED.store(true, Ordering::Relaxed);
    if let Some(isolate) = ISOLATE.get() {
        isolate.terminate_execution();
    }
}

extern "C" fn on_near_heap_limit(_data: *mut c_void, current_bytes: usize, initial_bytes: usize) -> usize {
    exceed();
    // V8 ends the process when it gets the same limit back. One portion is what the code may still
    // use on its way to the point where it can be stopped.
    if current_bytes > initial_bytes { current_bytes } else { current_bytes + HEAP_GRACE_BYTES }
}

unsafe extern "C" fn on_out_of_memory(_location: *const c_char, _details: &v8::OomDetails) {
    // SAFETY: ends the process; no destructor has to run. The host knows the status.
    unsafe { libc::_exit(EXIT_OUT_OF_MEMORY) }
}

unsafe extern "C" fn on_gc(
    isolate: v8::UnsafeRawIsolatePtr,
    _kind: v8::GCType,
    _flags: v8::GCCallbackFlags,
    _data: *mut c_void,
) {
    // SAFETY: V8 hands out its own live isolate, on its own thread.
    let mut isolate = unsafe { v8::Isolate::from_raw_isolate_ptr(isolate) };
    let used = isolate.get_heap_statistics().used_heap_size();
    HEAP_USED.store(used, Ordering::Relaxed);
    if used.saturating_add(buffer_bytes()) > LIMIT.load(Ordering::Relaxed) {
        exceed();
    }
}

/// Takes room for a buffer; none if there is none.
fn reserve(bytes: usize) -> bool {
    let buffers = BUFFERS.load(Ordering::Relaxed).saturating_add(bytes);
    let limit = LIMIT.load(Ordering::Relaxed);
    if buffers.saturating_add(HEAP_USED.load(Ordering::Relaxed)) > limit {
        // A single request beyond the limit is an error that the code can handle, as in Node, where
        // such a buffer cannot be allocated. Many small ones that add up are the run's end.
        if bytes < limit {
            exceed();
        }
        return false;
    }
    BUFFERS.store(buffers, Ordering::Relaxed);
    true
}

/// Whether there is room for so many bytes more.
pub fn has_room(bytes: usize) -> bool {
    let used = BUFFERS.load(Ordering::Relaxed).saturating_add(HEAP_USED.load(Ordering::Relaxed));
    used.saturating_add(bytes) <= LIMIT.load(Ordering::Relaxed)
}

/// Takes room for what is no buffer and still the run's, such as the state of a stream. There is none if
/// this is false.
pub fn take(bytes: usize) -> bool {
    reserve(bytes)
}

/// Gives back what `take` took.
pub fn give_back(bytes: usize) {
    BUFFERS.fetch_sub(bytes, Ordering::Relaxed);
}

unsafe extern "C" fn allocate(_: &(), length: usize) -> *mut c_void {
    if !reserve(length) {
        return std::ptr::null_mut();
    }
    // SAFETY: `calloc` takes any sizes; one byte at least, since null means failure.
    unsafe { libc::calloc(length.max(1), 1) }
}

unsafe extern "C" fn allocate_uninitialized(_: &(), length: usize) -> *mut c_void {
    if !reserve(length) {
        return std::ptr::null_mut();
    }
    // SAFETY: `malloc` takes any size; one byte at least, since null means failure.
    unsafe { libc::malloc(length.max(1)) }
}

unsafe extern "C" fn free(_: &(), data: *mut c_void, length: usize) {
    BUFFERS.fetch_sub(length, Ordering::Relaxed);
    // SAFETY: V8 gives back what one of the two functions above returned, once.
    unsafe { libc::free(data) };
}

unsafe extern "C" fn drop_allocator(_: *const ()) {}

static ALLOCATOR: v8::RustAllocatorVtable<()> =
    v8::RustAllocatorVtable { allocate, allocate_uninitialized, free, drop: drop_allocator };

/// The allocator of all buffers.
pub fn allocator() -> v8::UniqueRef<v8::Allocator> {
    // SAFETY: the handle is not read by any of the functions, so any pointer will do; they keep to
    // what the table's fields ask for.
    unsafe { v8::new_rust_allocator(std::ptr::dangling::<()>(), &ALLOCATOR) }
}

/// A buffer, or none if there is no room; V8 itself would end the process then.
pub fn array_buffer<'s>(scope: &mut v8::PinScope<'s, '_>, length: usize) -> Option<v8::Local<'s, v8::ArrayBuffer>> {
    let used = BUFFERS.load(Ordering::Relaxed).saturating_add(HEAP_USED.load(Ordering::Relaxed));
    if used.saturating_add(length) > LIMIT.load(Ordering::Relaxed) {
        exceed();
        let message = v8::String::new(scope, "Array buffer allocation failed")?;
        let error = v8::Exception::range_error(scope, message);
        scope.throw_exception(error);
        return None;
    }
    Some(v8::ArrayBuffer::new(scope, length))
}
