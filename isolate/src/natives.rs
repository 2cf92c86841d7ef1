//! `natives.core`: the functions by which the prelude talks to the host.
//!
//! Arguments come from the prelude alone, which is trusted to call them with what they expect; model
//! code that has broken the prelude can only make calls that the host checks.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use carrel_wire::{Call, CallKind, Done, Ending, PRINTED_BYTES_MAX, Start, ToHost, Value};

use crate::bindings::{Kind, set_function, throw_error};
use crate::pipe::Pipe;
use crate::{clock, random, value};

thread_local! {
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
    static CALLBACKS: RefCell<Callbacks> = RefCell::new(Callbacks::default());
}

/// What the process knows of its host.
pub struct Host {
    /// Frames in and out.
    pub pipe: Pipe,
    /// Number of the last call that was sent.
    last_id: u32,
    /// Number of the last call that the code made; a call that waits for its turn has no `id` yet.
    last_token: u32,
    /// By the number of a call: the code's number for it, and whether it takes one of the places.
    tokens: HashMap<u32, (u32, bool)>,
    waiting: VecDeque<(u32, CallKind, String, Vec<Value>)>,
    /// Calls in flight, and how many may be.
    in_flight: u32,
    in_flight_max: u32,
    call_bytes_max: usize,
    result_bytes_max: usize,
    /// When the prelude wants to be woken up, in the run's milliseconds, and what the host was told.
    pub wake_at: Option<f64>,
    pub wake_sent: Option<f64>,
    /// The end of the run.
    pub done: Option<Done>,
}

/// JavaScript functions of the prelude.
#[derive(Default)]
pub struct Callbacks {
    /// `(type, promise, reason)`.
    pub rejection: Option<v8::Global<v8::Function>>,
    /// `(error, call sites)`.
    pub prepare_stack_trace: Option<v8::Global<v8::Function>>,
}

/// A copy of a callback, so that it can be called while another one is set.
pub fn callback(
    pick: impl Fn(&Callbacks) -> &Option<v8::Global<v8::Function>>,
) -> Option<v8::Global<v8::Function>> {
    CALLBACKS.with_borrow(|callbacks| pick(callbacks).clone())
}

/// Begins to talk with the host.
pub fn connect() {
    HOST.set(Some(Host {
        pipe: Pipe::new(),
        last_id: 0,
        last_token: 0,
        tokens: HashMap::new(),
        waiting: VecDeque::new(),
        in_flight: 0,
        in_flight_max: 1,
        call_bytes_max: 0,
        result_bytes_max: 0,
        wake_at: None,
        wake_sent: None,
        done: None,
    }));
}

/// Works on the connection.
pub fn with_host<T>(work: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(|host| work(host.as_mut().expect("`connect` comes first")))
}

impl Host {
    /// Takes over the limits of the run.
    pub fn set_limits(&mut self, start: &Start) {
        self.in_flight_max = start.concurrent_calls_max.max(1);
        self.call_bytes_max = usize::try_from(start.call_bytes_max).unwrap_or(usize::MAX);
        self.result_bytes_max = usize::try_from(start.result_bytes_max).unwrap_or(usize::MAX);
    }

    /// Makes a call and waits for the answer.
    pub fn call_sync(&mut self, kind: CallKind, name: String, args: Vec<Value>) -> Result<Value, Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.pipe.write(&ToHost::Call(Call { id, kind, is_sync: true, name, args }));
        self.pipe.answer_to(id)
    }

    fn call(&mut self, kind: CallKind, name: String, args: Vec<Value>) -> u32 {
        self.last_token += 1;
        let token = self.last_token;
        // Bodies are moved beside the calls that wait: a request may need another one's answer to be
        // read before it gets on.
        if is_body(kind, &name) || self.in_flight < self.in_flight_max {
            self.send(token, kind, name, args);
        } else {
            self.waiting.push_back((token, kind, name, args));
        }
        token
    }

    fn send(&mut self, token: u32, kind: CallKind, name: String, args: Vec<Value>) {
        self.last_id += 1;
        let takes_place = !is_body(kind, &name);
        self.in_flight += u32::from(takes_place);
        self.tokens.insert(self.last_id, (token, takes_place));
        self.pipe.write(&ToHost::Call(Call { id: self.last_id, kind, is_sync: false, name, args }));
    }

    /// An answer has come: which call of the prelude it belongs to.
    pub fn settle(&mut self, id: u32) -> Option<u32> {
        let (token, had_place) = self.tokens.remove(&id)?;
        self.in_flight -= u32::from(had_place);
        if self.in_flight < self.in_flight_max
            && let Some((token, kind, name, args)) = self.waiting.pop_front()
        {
            self.send(token, kind, name, args);
        }
        Some(token)
    }

    fn cancel(&mut self, token: u32) {
        if let Some((id, _)) = self.tokens.iter().find(|(_, (other, _))| *other == token) {
            let id = *id;
            self.pipe.write(&ToHost::Cancel { id });
        }
    }
}

/// Whether a call moves a piece of a body, which takes no place among the calls in flight.
fn is_body(kind: CallKind, name: &str) -> bool {
    kind == CallKind::Fetch && name != "request"
}

/// Puts the functions on `target`.
pub fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "call", call);
    set_function(scope, target, "callSync", call_sync);
    set_function(scope, target, "cancel", cancel);
    set_function(scope, target, "setCallbacks", set_callbacks);
    set_function(scope, target, "output", output);
    set_function(scope, target, "wake", wake);
    set_function(scope, target, "monotonic", monotonic);
    set_function(scope, target, "epoch", epoch);
    set_function(scope, target, "random", fill_random);
    set_function(scope, target, "done", done);
    set_function(scope, target, "enqueueMicrotask", enqueue_microtask);
    set_function(scope, target, "runMicrotasks", run_microtasks);
    set_function(scope, target, "getContinuationData", get_continuation_data);
    set_function(scope, target, "setContinuationData", set_continuation_data);
    set_function(scope, target, "memory", memory);
    set_function(scope, target, "errorSource", error_source);
}

/// Kind, name and arguments of a call; an exception is pending if there are none.
fn call_of(
    scope: &mut v8::PinScope<'_, '_>,
    args: &v8::FunctionCallbackArguments<'_>,
) -> Option<(CallKind, String, Vec<Value>)> {
    let kind = match args.get(0).uint32_value(scope)? {
        0 => CallKind::File,
        1 => CallKind::Host,
        2 => CallKind::Fetch,
        _ => CallKind::Import,
    };
    let name = args.get(1).to_rust_string_lossy(scope);
    let Some(Value::List(values)) = value::from_v8(scope, args.get(2), carrel_wire::DEPTH_MAX) else {
        throw_error(
            scope,
            Kind::TypeError,
            "ERR_INVALID_ARG_TYPE",
            "An argument of the call is of no kind that the host takes",
        );
        return None;
    };
    let bytes: usize = values.iter().map(Value::size_bytes).sum();
    let bytes_max = with_host(|host| host.call_bytes_max);
    if bytes > bytes_max.saturating_add(4096) {
        let text = format!(
            "ELIMIT: the arguments of {name} have {bytes} bytes, more than maxCapabilityBytes ({bytes_max}) allows for one call; pass less at a time"
        );
        throw_error(scope, Kind::Error, "ELIMIT", &text);
        return None;
    }
    Some((kind, name, values))
}

fn call(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    if let Some((kind, name, values)) = call_of(scope, &args) {
        result.set_uint32(with_host(|host| host.call(kind, name, values)));
    }
}

fn call_sync(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    let Some((kind, name, values)) = call_of(scope, &args) else { return };
    let outcome = with_host(|host| host.call_sync(kind, name, values));
    match &outcome {
        Ok(answer) => {
            if let Some(answer) = value::to_v8(scope, answer) {
                result.set(answer);
            }
        }
        Err(error) => {
            if let Some(error) = value::to_v8(scope, error) {
                scope.throw_exception(error);
            }
        }
    }
}

fn cancel(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_>) {
    if let Some(token) = args.get(0).uint32_value(scope) {
        with_host(|host| host.cancel(token));
    }
}

fn set_callbacks(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_>,
) {
    let Ok(object) = v8::Local::<v8::Object>::try_from(args.get(0)) else { return };
    let rejection = function_of(scope, object, "rejection");
    let prepare_stack_trace = function_of(scope, object, "prepareStackTrace");
    CALLBACKS.set(Callbacks { rejection, prepare_stack_trace });
}

/// A function that is a property of `object`.
pub fn function_of(
    scope: &mut v8::PinScope<'_, '_>,
    object: v8::Local<'_, v8::Object>,
    name: &str,
) -> Option<v8::Global<v8::Function>> {
    let key = v8::String::new(scope, name)?;
    let value = object.get(scope, key.into())?;
    let function = v8::Local::<v8::Function>::try_from(value).ok()?;
    Some(v8::Global::new(scope, function))
}

fn output(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_>) {
    let stream = if args.get(0).uint32_value(scope) == Some(2) { 2 } else { 1 };
    let bytes = match v8::Local::<v8::String>::try_from(args.get(1)) {
        Ok(text) => text.to_rust_string_lossy(scope).into_bytes(),
        Err(_) => value::bytes_of(scope, args.get(1)).unwrap_or_default(),
    };
    with_host(|host| {
        // In pieces, so that a reader sees the beginning of a very long text before its end.
        for piece in bytes.chunks(PRINTED_BYTES_MAX) {
            host.pipe.write(&ToHost::Output { stream, bytes: piece.to_vec() });
            host.pipe.flush();
        }
    });
}

fn wake(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_>) {
    let at = args.get(0).number_value(scope).unwrap_or(-1.0);
    with_host(|host| host.wake_at = (at >= 0.0).then_some(at));
}

fn monotonic(
    _: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    result.set_double(clock::monotonic_ms());
}

fn epoch(
    _: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    result.set_double(clock::epoch_ms());
}

fn fill_random(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_>,
) {
    let Ok(view) = v8::Local::<v8::ArrayBufferView>::try_from(args.get(0)) else { return };
    let mut bytes = vec![0; view.byte_length()];
    random::fill(&mut bytes);
    if !bytes.is_empty() {
        // SAFETY: `data` points at `byte_length` bytes of this view, which stays alive, and no
        // JavaScript runs meanwhile that could detach or shrink it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), view.data().cast(), bytes.len()) };
    }
}

fn done(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_>) {
    let ending = match args.get(0).uint32_value(scope) {
        Some(0) => Ending::Completed,
        Some(3) => Ending::Exited,
        Some(4) => Ending::TooLong,
        _ => Ending::Failed,
    };
    let mut text = args.get(1).to_rust_string_lossy(scope);
    let exit_code = if args.get(2).is_number() { args.get(2).int32_value(scope) } else { None };
    with_host(|host| {
        let ending = if ending == Ending::Completed && text.len() > host.result_bytes_max {
            text.clear();
            Ending::TooLong
        } else {
            ending
        };
        if ending != Ending::Completed {
            text.truncate(text.floor_char_boundary(PRINTED_BYTES_MAX));
        }
        // The first end is the run's.
        host.done.get_or_insert(Done { ending, exit_code, text });
    });
    // Nothing of the run may execute after its end.
    scope.terminate_execution();
}

fn enqueue_microtask(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_>,
) {
    if let Ok(function) = v8::Local::<v8::Function>::try_from(args.get(0)) {
        scope.enqueue_microtask(function);
    }
}

fn run_microtasks(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_>,
) {
    scope.perform_microtask_checkpoint();
}

fn get_continuation_data(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    result.set(scope.get_continuation_preserved_embedder_data());
}

fn set_continuation_data(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_>,
) {
    scope.set_continuation_preserved_embedder_data(args.get(0));
}

/// `[heap used, heap total, buffers]`, for `process.memoryUsage()`.
fn memory(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    let heap = scope.get_heap_statistics();
    let figures = [heap.used_heap_size(), heap.total_heap_size(), crate::memory::buffer_bytes()];
    let figures = figures.map(|figure| v8::Number::new(scope, figure as f64).into());
    result.set(v8::Array::new_with_elements(scope, &figures).into());
}

/// `[line, column]` of the code where an error, or what a stack was captured in, was made.
fn error_source(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    let message = v8::Exception::create_message(scope, args.get(0));
    let Some(line) = message.get_source_line(scope) else { return };
    let column = u32::try_from(message.get_start_column()).unwrap_or_default();
    let column = v8::Integer::new_from_unsigned(scope, column).into();
    result.set(v8::Array::new_with_elements(scope, &[line.into(), column]).into());
}
