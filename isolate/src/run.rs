//! The life of the run: `Start`, load, `Go`, one frame after the other, `Done`.

use carrel_wire::{Done, Ending, Start, ToHost, ToIsolate, Value};

use crate::natives::{self, with_host};
use crate::{bindings, clock, lockdown, memory, modules, random, value};

/// Says `Ready`, then serves the one run of the process.
pub fn run(isolate: &mut v8::OwnedIsolate) -> ! {
    serve(isolate);
    crate::pipe::leave();
}

fn serve(isolate: &mut v8::OwnedIsolate) {
    v8::scope!(let scope, isolate);
    let context = v8::Context::new(scope, v8::ContextOptions::default());
    let scope = &mut v8::ContextScope::new(scope, context);

    natives::connect();
    v8::tc_scope!(let scope, scope);
    // All that does not depend on the run is done before there is one.
    let Some(prelude) = boot(scope) else { crate::pipe::leave() };
    // V8 has what it needs for itself; from here on the process can only read, write and end.
    lockdown::lock_in();
    with_host(|host| {
        host.pipe.write(&ToHost::Ready { version: carrel_wire::VERSION });
        host.pipe.flush();
    });
    let ToIsolate::Start(mut start) = with_host(|host| host.pipe.next()) else { crate::pipe::leave() };

    lockdown::limit_cpu(start.cpu_ms_max);
    clock::start(start.epoch_ms, start.is_clock_frozen);
    random::seed(&start.seed);
    with_host(|host| host.set_limits(&start));

    let Some(module) = load(scope, prelude, &mut start) else {
        let (exception, message) = (scope.exception(), scope.message());
        return report_not_loaded(scope, exception, message);
    };
    with_host(|host| {
        host.pipe.write(&ToHost::Loaded);
        host.pipe.flush();
    });
    let ToIsolate::Go { epoch_ms } = with_host(|host| host.pipe.next()) else { crate::pipe::leave() };
    clock::set(epoch_ms);

    execute(scope, prelude, module);
    let exception = scope.exception();
    let done = end(scope, exception);
    with_host(|host| {
        host.pipe.write(&ToHost::Done(done));
        host.pipe.flush();
    });
}

/// Gives the prelude the functions of this executable; it gives back those that drive a run.
fn boot<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<v8::Local<'s, v8::Object>> {
    let global = scope.get_current_context().global(scope);
    let name = v8::String::new(scope, "__carrel_boot")?;
    let boot = v8::Local::<v8::Function>::try_from(global.get(scope, name.into())?).ok()?;
    global.delete(scope, name.into())?;
    let natives = bindings::create_natives(scope);
    let prelude = boot.call(scope, global.into(), &[natives.into()])?;
    v8::Local::<v8::Object>::try_from(prelude).ok()
}

fn load<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    prelude: v8::Local<'s, v8::Object>,
    start: &mut Start,
) -> Option<v8::Local<'s, v8::Module>> {
    let config = config_of(scope, start)?;
    call(scope, prelude, "start", &[config])?;
    modules::configure(start, v8::Global::new(scope, prelude));
    modules::load_entry(scope, &start.entry_path, &start.entry_source)
}

/// What the prelude has to know of the run.
fn config_of<'s>(scope: &mut v8::PinScope<'s, '_>, start: &mut Start) -> Option<v8::Local<'s, v8::Value>> {
    let env = start.env.drain(..).flat_map(|(name, value)| [Value::Text(name), Value::Text(value)]).collect();
    #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53")]
    let fields = [
        ("entryPath", Value::text(start.entry_path.clone())),
        ("cwd", Value::text(start.cwd.clone())),
        ("input", Value::Text(std::mem::take(&mut start.input))),
        ("env", Value::List(env)),
        ("stdin", Value::Bytes(std::mem::take(&mut start.stdin))),
        ("resultBytesMax", Value::Number(start.result_bytes_max as f64)),
        ("callBytesMax", Value::Number(start.call_bytes_max as f64)),
        ("memoryBytesMax", Value::Number(start.memory_bytes_max as f64)),
        ("hasNetwork", Value::Bool(start.has_network)),
        ("isClockFrozen", Value::Bool(start.is_clock_frozen)),
    ];
    let config = v8::Object::new(scope);
    for (name, field) in fields {
        let name = v8::String::new(scope, name)?;
        let field = value::to_v8(scope, &field)?;
        config.create_data_property(scope, name.into(), field)?;
    }
    Some(config.into())
}

fn call<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    prelude: v8::Local<'s, v8::Object>,
    name: &str,
    args: &[v8::Local<'s, v8::Value>],
) -> Option<v8::Local<'s, v8::Value>> {
    let key = v8::String::new(scope, name)?;
    let function = v8::Local::<v8::Function>::try_from(prelude.get(scope, key.into())?).ok()?;
    function.call(scope, prelude.into(), args)
}

fn report_not_loaded(
    scope: &mut v8::PinScope<'_, '_>,
    exception: Option<v8::Local<'_, v8::Value>>,
    message: Option<v8::Local<'_, v8::Message>>,
) {
    let field = |scope: &mut v8::PinScope<'_, '_>, name: &str| {
        let object = v8::Local::<v8::Object>::try_from(exception?).ok()?;
        let name = v8::String::new(scope, name)?;
        let field = object.get(scope, name.into())?;
        field.is_string().then(|| field.to_rust_string_lossy(scope))
    };
    let name = field(scope, "name").unwrap_or_else(|| "Error".to_owned());
    let code = field(scope, "code");
    let mut text = field(scope, "message")
        .or_else(|| exception.map(|exception| exception.to_rust_string_lossy(scope)))
        .unwrap_or_else(|| "the module could not be loaded".to_owned());
    if memory::was_exceeded() {
        text = "the module and its imports need more memory than maxMemoryBytes allows".to_owned();
    }
    // Where V8 found it: the file of the workspace, and the place in it.
    if name == "SyntaxError"
        && code.is_none()
        && let Some(message) = message
        && let Some(resource) = message.get_script_resource_name(scope)
    {
        let resource = resource.to_rust_string_lossy(scope);
        let line = message.get_line_number(scope).unwrap_or_default();
        let column = message.get_start_column() + 1;
        let path = resource.strip_prefix("file://").unwrap_or(&resource);
        text = format!("{text} ({path}:{line}:{column})");
    }
    with_host(|host| {
        host.pipe.write(&ToHost::NotLoaded { name, message: text, code, path: None });
        host.pipe.flush();
    });
}

// What the prelude says after a turn; anything else is a wait for a frame.
/// Go on at once.
const AGAIN: u32 = 1;
/// Something is to be done at once, after what the host may have sent already.
const SOON: u32 = 2;
/// Nothing is left to do, as far as the prelude knows.
const IDLE: u32 = 3;

// What a turn is about.
const GO_ON: i32 = 0;
const ANSWER: i32 = 1;
const TICK: i32 = 2;
const NOTHING_LEFT: i32 = 3;

fn execute<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    prelude: v8::Local<'s, v8::Object>,
    module: v8::Local<'s, v8::Module>,
) {
    // Handles of one turn end with it.
    let mut state = {
        v8::scope!(let scope, scope);
        begin(scope, prelude, module)
    };
    while let Some(next) = state {
        if with_host(|host| host.done.is_some()) || memory::was_exceeded() {
            return;
        }
        v8::scope!(let scope, scope);
        // Tasks that V8 gave itself, such as compiled WebAssembly.
        let mut had_tasks = false;
        while v8::Platform::pump_message_loop(&v8::V8::get_current_platform(), scope, false) {
            had_tasks = true;
        }
        let kind = if had_tasks || next == AGAIN { GO_ON } else { NOTHING_LEFT };
        let args = if had_tasks || matches!(next, AGAIN | IDLE) {
            Some(vec![v8::Integer::new(scope, kind).into()])
        } else {
            event(scope, next == SOON)
        };
        state = args.and_then(|args| {
            let answer = call(scope, prelude, "turn", &args)?;
            answer.uint32_value(scope)
        });
    }
}

fn begin(
    scope: &mut v8::PinScope<'_, '_>,
    prelude: v8::Local<'_, v8::Object>,
    module: v8::Local<'_, v8::Module>,
) -> Option<u32> {
    let prelude = v8::Local::new(scope, prelude);
    let namespace = module.get_module_namespace();
    let promise = module.evaluate(scope)?;
    call(scope, prelude, "begin", &[promise, namespace])?.uint32_value(scope)
}

/// Takes the next frame: arguments for the prelude's `turn`.
fn event<'s>(scope: &mut v8::PinScope<'s, '_>, is_soon: bool) -> Option<Vec<v8::Local<'s, v8::Value>>> {
    loop {
        let frame = with_host(|host| {
            ask_to_be_woken(host, is_soon);
            host.pipe.next()
        });
        match frame {
            ToIsolate::Answer { id, epoch_ms, outcome } => {
                clock::set(epoch_ms);
                let Some(token) = with_host(|host| host.settle(id)) else { continue };
                let (ok, answer) = match &outcome {
                    Ok(answer) => (true, answer),
                    Err(error) => (false, error),
                };
                let answer = value::to_v8(scope, answer)?;
                return Some(vec![
                    v8::Integer::new(scope, ANSWER).into(),
                    v8::Integer::new_from_unsigned(scope, token).into(),
                    v8::Boolean::new(scope, ok).into(),
                    answer,
                ]);
            }
            ToIsolate::Tick { epoch_ms } => {
                clock::set(epoch_ms);
                with_host(|host| host.wake_sent = None);
                return Some(vec![v8::Integer::new(scope, TICK).into()]);
            }
            ToIsolate::Start(_) | ToIsolate::Go { .. } => crate::pipe::leave(),
        }
    }
}

fn ask_to_be_woken(host: &mut natives::Host, is_soon: bool) {
    let wake_at = if is_soon { Some(0.0) } else { host.wake_at };
    if wake_at != host.wake_sent {
        host.wake_sent = wake_at;
        let after_ms = wake_at.map(|at| (at - clock::monotonic_ms()).max(0.0));
        host.pipe.write(&ToHost::Wake { after_ms });
    }
}

/// How it ended.
fn end(scope: &mut v8::PinScope<'_, '_>, exception: Option<v8::Local<'_, v8::Value>>) -> Done {
    if memory::was_exceeded() {
        return Done { ending: Ending::OutOfMemory, exit_code: None, text: String::new() };
    }
    if let Some(done) = with_host(|host| host.done.take()) {
        return done;
    }
    let what = exception.map(|exception| exception.to_rust_string_lossy(scope));
    let text = what.unwrap_or_else(|| "the run ended without a result".to_owned());
    Done { ending: Ending::Failed, exit_code: None, text }
}
