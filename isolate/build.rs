//! Makes the start-up snapshot: a context in which the prelude has run.
//!
//! The prelude is one script, bundled by `isolate/prelude/build.mjs`; `scripts/setup.mjs` does both.

use std::path::PathBuf;

#[path = "src/flags.rs"]
mod flags;

fn main() {
    println!("cargo::rerun-if-env-changed=CARREL_PRELUDE");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/flags.rs");
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let prelude = std::env::var_os("CARREL_PRELUDE")
        .map_or_else(|| manifest.join("../target/prelude/prelude.js"), PathBuf::from);
    println!("cargo::rerun-if-changed={}", prelude.display());
    let Ok(source) = std::fs::read_to_string(&prelude) else {
        println!(
            "cargo::error=there is no bundled prelude at {}: run `npm run build`, which makes it",
            prelude.display()
        );
        return;
    };
    let snapshot = snapshot_of(&source);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("snapshot.bin"), snapshot).expect("OUT_DIR can be written");
}

fn snapshot_of(source: &str) -> Vec<u8> {
    v8::V8::set_flags_from_string(&flags::FLAGS.join(" "));
    let platform = v8::new_single_threaded_default_platform(false).make_shared();
    v8::V8::initialize_platform(platform);
    v8::V8::initialize();

    let mut isolate = v8::Isolate::snapshot_creator(None, None);
    {
        v8::scope!(let scope, &mut isolate);
        let context = v8::Context::new(scope, v8::ContextOptions::default());
        let scope = &mut v8::ContextScope::new(scope, context);
        v8::tc_scope!(let scope, scope);
        give_private_symbols(scope);
        let name = v8::String::new(scope, "node:internal/prelude").expect("a short string");
        let origin =
            v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, false, None);
        let source = v8::String::new(scope, source).expect("the prelude fits a string");
        let result = v8::Script::compile(scope, source, Some(&origin)).and_then(|script| script.run(scope));
        if result.is_none() {
            let exception =
                scope.exception().map(|error| error.to_rust_string_lossy(scope)).unwrap_or_default();
            let line = scope.message().and_then(|message| message.get_source_line(scope));
            let line = line.map(|line| line.to_rust_string_lossy(scope)).unwrap_or_default();
            let column = scope.message().map(|message| message.get_start_column()).unwrap_or_default();
            let place: String = line.chars().skip(column.saturating_sub(80)).take(160).collect();
            println!("cargo::error=the prelude failed: {exception} near `{place}`");
            std::process::exit(1);
        }
        scope.perform_microtask_checkpoint();
        scope.set_default_context(context);
    }
    let blob = isolate.create_blob(v8::FunctionCodeHandling::Keep).expect("the context can be stored");
    blob.to_vec()
}

/// As many as the prelude has marks that no reflection may see, in an array that it takes away again.
const PRIVATE_SYMBOLS: u32 = 32;

fn give_private_symbols(scope: &mut v8::PinScope<'_, '_>) {
    let list = v8::Array::new(scope, 0);
    for index in 0..PRIVATE_SYMBOLS {
        let private = v8::Private::new(scope, None);
        // SAFETY: V8's private symbols are symbols, which are values; only the type of the handle is
        // another one. JavaScript can use them as keys, as Node's library does.
        let private: v8::Local<'_, v8::Value> = unsafe { std::mem::transmute(private) };
        list.set_index(scope, index, private);
    }
    let key = v8::String::new(scope, "__carrel_private_symbols").expect("a short string");
    scope.get_current_context().global(scope).set(scope, key.into(), list.into());
}
