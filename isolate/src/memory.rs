//! The memory of the run: V8's heap and all buffers, under one limit.
//!
//! - Passing the limit ends the run, even if the code would catch an exception: execution is
//!   terminated, and `was_exceeded` says why. What was dropped does not count: before a run is ended
//!   for it, V8 has collected all garbage.
//! - Beyond the limit there is some room in which the code can be stopped. If that does not suffice,
//!   the process ends with `EXIT_OUT_OF_MEMORY`.
//! - One buffer that is larger than the limit is an error that the code can handle, as in Node, where
//!   such a buffer cannot be made either.
//! - What V8 and this program take besides, for compiled code or frames, is limited by the operating
//!   system, by a limit that the host sets. To be refused memory by it is the same end.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

/// The host reads "out of memory" from it.
pub const EXIT_OUT_OF_MEMORY: i32 = 137;

/// What the heap, and what buffers, may grow by while the code is being stopped.
const GRACE_BYTES: usize = 16 * 1024 * 1024;
/// What the host allows beyond the run's own limit: a process that cannot have so much any more has used
/// more than that limit.
const PROBE_BYTES: usize = 256 * 1024 * 1024;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static HEAP_USED: AtomicUsize = AtomicUsize::new(0);
static BUFFERS: AtomicUsize = AtomicUsize::new(0);
static EXCEEDED: AtomicBool = AtomicBool::new(false);
static ISOLATE: OnceLock<v8::IsolateHandle> = OnceLock::new();
/// Whether V8 is asked to collect all garbage.
static IS_COLLECTING: AtomicBool = AtomicBool::new(false);

/// How far V8 is with a buffer that there was no room for: it collects garbage and asks again, twice;
/// then it collects everything that it can, which it announces, and asks for the last time.
static REFUSAL: AtomicU8 = AtomicU8::new(NOT_REFUSED);
const NOT_REFUSED: u8 = 0;
const REFUSED: u8 = 1;
const LAST_RESORT: u8 = 2;

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

/// Ends the process, which was refused memory.
fn end_process() -> ! {
    // SAFETY: `_exit` takes any status and does not return; no destructor has to run.
    unsafe { libc::_exit(EXIT_OUT_OF_MEMORY) }
}

extern "C" fn on_near_heap_limit(_data: *mut c_void, current_bytes: usize, initial_bytes: usize) -> usize {
    // V8 calls this before its last resort, too, for whatever it looks for memory.
    let is_for_buffer =
        REFUSAL.compare_exchange(REFUSED, LAST_RESORT, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if is_for_buffer {
        return current_bytes;
    }
    exceed();
    // V8 ends the process when it gets the same limit back. One portion is what the code may still
    // use on its way to the point where it can be stopped.
    if current_bytes > initial_bytes { current_bytes } else { current_bytes + GRACE_BYTES }
}

unsafe extern "C" fn on_out_of_memory(_location: *const c_char, _details: &v8::OomDetails) {
    end_process();
}

unsafe extern "C" fn on_gc(
    isolate: v8::UnsafeRawIsolatePtr,
    kind: v8::GCType,
    _flags: v8::GCCallbackFlags,
    _data: *mut c_void,
) {
    // SAFETY: V8 hands out its own live isolate, on its own thread.
    let mut isolate = unsafe { v8::Isolate::from_raw_isolate_ptr(isolate) };
    let used = isolate.get_heap_statistics().used_heap_size();
    HEAP_USED.store(used, Ordering::Relaxed);
    // What V8 itself knows of is buffers, too, and memories of WebAssembly, and what belongs to formats.
    let external = isolate.adjust_amount_of_external_allocated_memory(0);
    let outside = buffer_bytes().max(usize::try_from(external).unwrap_or_default());
    if used.saturating_add(outside) <= LIMIT.load(Ordering::Relaxed) {
        return;
    }
    if kind == v8::GCType::kGCTypeMarkSweepCompact {
        exceed();
    } else if !IS_COLLECTING.swap(true, Ordering::Relaxed)
        && let Some(isolate) = ISOLATE.get()
    {
        // It was a small collection: much of that may be garbage.
        isolate.request_interrupt(collect, std::ptr::null_mut());
    }
}

unsafe extern "C" fn collect(isolate: v8::UnsafeRawIsolatePtr, _data: *mut c_void) {
    // SAFETY: V8 hands out its own live isolate, on its own thread.
    let mut isolate = unsafe { v8::Isolate::from_raw_isolate_ptr(isolate) };
    isolate.low_memory_notification();
    IS_COLLECTING.store(false, Ordering::Relaxed);
}

/// Has the process end as one without memory if it breaks down because it got none: not every library
/// asks whether it was given what it needs.
#[cfg(unix)]
pub fn watch_breakdowns() {
    for signal in [libc::SIGABRT, libc::SIGILL, libc::SIGTRAP, libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: a valid action, for the length of the call. After it, the signal is as it was by default.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_breakdown as extern "C" fn(c_int) as usize;
            action.sa_flags = libc::SA_RESETHAND | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// The same where there are no signals.
#[cfg(not(unix))]
pub fn watch_breakdowns() {}

#[cfg(unix)]
extern "C" fn on_breakdown(_signal: c_int) {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping touches nothing that is there, and may be asked for in a signal handler.
    let probe = unsafe { libc::mmap(std::ptr::null_mut(), PROBE_BYTES, access, flags, -1, 0) };
    if probe == libc::MAP_FAILED {
        end_process();
    }
    // What broke down does so again, now for good.
}

/// The memory of this program itself. Without any, the run has used it up.
struct ProgramMemory;

#[global_allocator]
static PROGRAM_MEMORY: ProgramMemory = ProgramMemory;

fn given(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end_process();
    }
    memory
}

// SAFETY: all of it is the system's allocator, which keeps to the contract.
unsafe impl GlobalAlloc for ProgramMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as promised by the caller.
        given(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Takes room for a buffer; says whether there is some.
fn reserve(bytes: usize) -> bool {
    let limit = LIMIT.load(Ordering::Relaxed);
    let buffers = BUFFERS.load(Ordering::Relaxed).saturating_add(bytes);
    if buffers.saturating_add(HEAP_USED.load(Ordering::Relaxed)) > limit {
        if bytes > limit {
            let _ = REFUSAL.compare_exchange(NOT_REFUSED, REFUSED, Ordering::Relaxed, Ordering::Relaxed);
            return false;
        }
        if !was_exceeded() {
            if REFUSAL.load(Ordering::Relaxed) != LAST_RESORT {
                REFUSAL.store(REFUSED, Ordering::Relaxed);
                return false;
            }
            exceed();
        }
        // Refused, the code could go on for long with catching that and asking again, and V8 with
        // collecting garbage before each answer.
        if buffers > limit.saturating_add(GRACE_BYTES) {
            end_process();
        }
    }
    REFUSAL.store(NOT_REFUSED, Ordering::Relaxed);
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
    if !has_room(bytes) {
        // More than there can ever be is an error of the code's, anything else the end of the run.
        if bytes <= LIMIT.load(Ordering::Relaxed) {
            exceed();
        }
        return false;
    }
    BUFFERS.fetch_add(bytes, Ordering::Relaxed);
    true
}

/// Gives back what `take` took.
pub fn give_back(bytes: usize) {
    BUFFERS.fetch_sub(bytes, Ordering::Relaxed);
}

/// A buffer from `ask`, or null if there is no room for it.
fn buffer(length: usize, ask: impl FnOnce(usize) -> *mut c_void) -> *mut c_void {
    let is_last = REFUSAL.load(Ordering::Relaxed) == LAST_RESORT;
    if !reserve(length) {
        return std::ptr::null_mut();
    }
    // One byte at least, since null means failure.
    let memory = ask(length.max(1));
    if memory.is_null() {
        // The operating system's limit was reached first.
        if is_last {
            end_process();
        }
        give_back(length);
        REFUSAL.store(REFUSED, Ordering::Relaxed);
    }
    memory
}

unsafe extern "C" fn allocate(_: &(), length: usize) -> *mut c_void {
    // SAFETY: `calloc` takes any sizes.
    buffer(length, |length| unsafe { libc::calloc(length, 1) })
}

unsafe extern "C" fn allocate_uninitialized(_: &(), length: usize) -> *mut c_void {
    // SAFETY: `malloc` takes any size.
    buffer(length, |length| unsafe { libc::malloc(length) })
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
pub fn array_buffer<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    length: usize,
) -> Option<v8::Local<'s, v8::ArrayBuffer>> {
    if !has_room(length) {
        scope.low_memory_notification();
    }
    if !has_room(length) {
        exceed();
        let message = v8::String::new(scope, "Array buffer allocation failed")?;
        let error = v8::Exception::range_error(scope, message);
        scope.throw_exception(error);
        return None;
    }
    Some(v8::ArrayBuffer::new(scope, length))
}
