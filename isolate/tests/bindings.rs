//! The natives of the prelude, without the prelude.
//!
//! The programs are in `bindings/`. What Node has in C++ is compared with Node itself: with the
//! executable that the library of the prelude is taken from.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

#[expect(dead_code, reason = "the program uses more of it")]
#[path = "../src/bindings/mod.rs"]
mod bindings;
#[expect(dead_code, reason = "the program uses more of it")]
#[path = "../src/memory.rs"]
mod memory;
#[path = "../src/random.rs"]
mod random;

/// What the bindings are given in the place of the calls to the host.
mod natives {
    pub fn install(_: &mut v8::PinScope<'_, '_>, _: v8::Local<'_, v8::Object>) {}
}

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bindings").join(name)
}

fn print(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_>) {
    let line = args.get(0).to_rust_string_lossy(scope);
    LINES.with_borrow_mut(|lines| lines.push(line));
}

/// The lines that a program prints in an isolate of its own.
fn run(name: &str) -> Vec<String> {
    static START: Once = Once::new();
    START.call_once(|| {
        v8::V8::initialize_platform(v8::new_default_platform(1, false).make_shared());
        v8::V8::initialize();
    });
    random::seed(&[7; 32]);
    LINES.take();
    let mut isolate = v8::Isolate::new(v8::CreateParams::default());
    v8::scope!(let scope, &mut isolate);
    let context = v8::Context::new(scope, v8::ContextOptions::default());
    let scope = &mut v8::ContextScope::new(scope, context);
    let global = context.global(scope);
    let natives = bindings::create_natives(scope);
    bindings::set_value(scope, global, "natives", natives.into());
    bindings::set_function(scope, global, "print", print);

    v8::tc_scope!(let scope, scope);
    let source = std::fs::read_to_string(program(name)).expect("the program is in this folder");
    let source = v8::String::new(scope, &source).expect("it is a short text");
    let result = v8::Script::compile(scope, source, None).and_then(|script| script.run(scope));
    let error = scope.stack_trace().or_else(|| scope.exception());
    assert!(result.is_some(), "{}", error.map(|error| error.to_rust_string_lossy(scope)).unwrap_or_default());
    LINES.take()
}

fn node() -> PathBuf {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win",
        system => system,
    };
    let processor = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    let package = format!("prelude/node_modules/node-{system}-{processor}/bin/node");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(package).with_extension(std::env::consts::EXE_EXTENSION)
}

#[test]
fn calls_give_what_they_give_in_node() {
    let output = Command::new(node())
        .args(["--no-warnings", "--expose-internals"])
        .arg(program("calls.cjs"))
        .output()
        .expect("Node is installed with what the prelude is made of");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the lines are ASCII");
    let expected: Vec<&str> = text.lines().collect();
    let actual = run("calls.cjs");
    assert!(expected.len() > 40_000, "only {} calls", expected.len());
    let different: Vec<_> =
        expected.iter().zip(&actual).filter(|(expected, actual)| expected != actual).collect();
    assert!(
        different.is_empty(),
        "{} differ, such as\n{:#?}",
        different.len(),
        &different[..different.len().min(5)]
    );
    assert_eq!(actual.len(), expected.len());
}

#[test]
fn objects_of_the_library_are_cloned_by_their_methods() {
    assert_eq!(run("host-objects.cjs"), ["done"]);
}

#[test]
fn senseless_arguments_give_a_result_or_an_error() {
    assert_eq!(run("hostile.cjs"), ["done"]);
}
