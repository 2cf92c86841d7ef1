//! Runs of code, for `lib/runtime`.
//!
//! What the core asks of JavaScript (functions of host modules, the network) comes through one callback,
//! which does not keep Node alive, and is answered with `answer`.

use std::sync::Arc;

use napi::bindgen_prelude::{Function, Uint8Array};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status};
use napi_derive::napi;

use super::answer::{Answer, Bytes, attempt_unnamed, later, to_napi};
use super::workspace::NativeWorkspace;
use crate::error::Result;
use crate::runtime::{Config, Item, Refusal, Runtime, Upcalls};
use crate::store::guarded;

/// Arguments of the callback.
type UpcallArguments = napi::bindgen_prelude::FnArgs<(String, Option<Bytes>)>;

/// The callback. Weak: it does not keep Node alive.
type Upcall = ThreadsafeFunction<UpcallArguments, (), UpcallArguments, Status, false, true>;

struct JavaScript(Upcall);

impl Upcalls for JavaScript {
    fn call(&self, json: String, bytes: Option<Vec<u8>>) -> bool {
        let arguments = (json, bytes.map(Bytes)).into();
        self.0.call(arguments, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
    }
}

/// Runs of one backend in one workspace.
#[napi]
pub struct NativeRuntime {
    runtime: Runtime,
}

/// Something that happened in a run.
#[napi(object, object_from_js = false)]
#[allow(missing_docs)]
pub struct NativeRunEvent {
    pub seq: f64,
    pub name: String,
    /// Of output.
    #[napi(ts_type = "Uint8Array")]
    pub bytes: Option<Bytes>,
    /// Of the exit.
    pub json: Option<String>,
}

impl From<Item> for NativeRunEvent {
    fn from(item: Item) -> Self {
        match item {
            Item::Output(event) => NativeRunEvent {
                seq: event.seq as f64,
                name: if event.stream == 1 { "stdout" } else { "stderr" }.to_owned(),
                bytes: Some(Bytes(event.bytes)),
                json: None,
            },
            Item::Exit { seq, json } => {
                NativeRunEvent { seq: seq as f64, name: "exit".to_owned(), bytes: None, json: Some(json) }
            }
        }
    }
}

fn refusal(refusal: Refusal) -> napi::Error {
    match refusal {
        Refusal::Failed(error) => to_napi(&error),
        Refusal::NotLoaded { name, message, code, path } => {
            let json = serde_json::json!({
                "name": name,
                "code": code,
                "errno": 0,
                "message": message,
                "path": path,
                "dest": null,
                "syscall": null,
            });
            napi::Error::new(Status::GenericFailure, json.to_string())
        }
    }
}

/// Fails for options that a backend cannot have.
#[cfg_attr(test, allow(dead_code, reason = "only Node calls it"))]
#[napi(catch_unwind)]
pub fn validate_runtime_config(config_json: String) -> napi::Result<()> {
    attempt_unnamed(|| Config::parse(&config_json).map(|_| ()))
}

#[napi]
impl NativeWorkspace {
    /// Connects a backend.
    #[napi(
        catch_unwind,
        ts_args_type = "configJson: string, upcall: (json: string, bytes: Uint8Array | null) => void"
    )]
    pub fn runtime(
        &self,
        config_json: String,
        upcall: Function<'_, UpcallArguments, ()>,
    ) -> napi::Result<NativeRuntime> {
        let config = attempt_unnamed(|| {
            self.store.check_open()?;
            Config::parse(&config_json)
        })?;
        let upcall: Upcall = upcall.build_threadsafe_function().weak::<true>().build()?;
        let upcalls = Arc::new(JavaScript(upcall));
        attempt_unnamed(|| Ok(NativeRuntime { runtime: Runtime::new(self.store.clone(), config, upcalls) }))
    }
}

#[napi]
impl NativeRuntime {
    /// Starts a run; its id, once its modules are loaded.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn exec<'env>(
        &self,
        env: &'env Env,
        request_json: String,
        source: String,
        stdin: Option<Uint8Array>,
    ) -> napi::Result<Answer<'env, String>> {
        let stdin = stdin.map(|bytes| bytes.to_vec()).unwrap_or_default();
        let (deferred, promise) = env.create_deferred()?;
        let started = move |outcome: Result<String, Refusal>| match outcome {
            Ok(id) => deferred.resolve(move |_env| Ok(id)),
            Err(reason) => deferred.reject(refusal(reason)),
        };
        attempt_unnamed(|| {
            self.runtime.exec(&request_json, source, stdin, Box::new(started));
            Ok(())
        })?;
        Ok(Answer::Later(promise))
    }

    /// Answers what the callback was called with. What nobody waits for any more is dropped.
    #[napi(catch_unwind)]
    pub fn answer(
        &self,
        run: String,
        call: u32,
        is_ok: bool,
        bytes: Option<Uint8Array>,
        json: Option<String>,
    ) -> napi::Result<()> {
        attempt_unnamed(|| {
            let bytes = bytes.map(|bytes| bytes.to_vec());
            self.runtime.answer(&run, call, is_ok, bytes, json.as_deref());
            Ok(())
        })
    }

    /// The events after one, at least one; none when the exit has been handed out.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeRunEvent[]>")]
    pub fn next<'env>(
        &self,
        env: &'env Env,
        run: String,
        after_seq: f64,
    ) -> napi::Result<Answer<'env, Vec<NativeRunEvent>>> {
        let after = after_seq.max(0.0) as u64;
        later(env, |settle| {
            self.runtime.next(&run, after, move |items| {
                settle(items.map(|items| items.into_iter().map(NativeRunEvent::from).collect()));
            });
        })
    }

    /// The number of the last event so far.
    #[napi(catch_unwind, ts_return_type = "Promise<number>")]
    pub fn last_seq<'env>(&self, env: &'env Env, run: String) -> napi::Result<Answer<'env, f64>> {
        later(env, |settle| self.runtime.last_seq(&run, move |seq| settle(seq.map(|seq| seq as f64))))
    }

    /// The result as JSON, when the run is over.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn result<'env>(
        &self,
        env: &'env Env,
        run: String,
        output_json: Option<String>,
    ) -> napi::Result<Answer<'env, String>> {
        later(env, |settle| self.runtime.result(&run, output_json.as_deref(), settle))
    }

    /// Whether there is such a run.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn has<'env>(&self, env: &'env Env, run: String) -> napi::Result<Answer<'env, bool>> {
        later(env, |settle| self.runtime.has(&run, settle))
    }

    /// Ends a run; resolves when it has ended.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn kill<'env>(&self, env: &'env Env, run: String) -> napi::Result<Answer<'env, ()>> {
        later(env, |settle| self.runtime.kill(&run, settle))
    }

    /// Forgets a run that is over.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn dispose<'env>(&self, env: &'env Env, run: String) -> napi::Result<Answer<'env, ()>> {
        later(env, |settle| self.runtime.dispose(&run, settle))
    }

    /// Settles what processes that have ended left.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn recover<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, ()>> {
        later(env, |settle| self.runtime.recover(settle))
    }

    /// What runs now, as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn stats<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, String>> {
        later(env, |settle| self.runtime.stats(settle))
    }

    /// Makes processes ready for the runs that come.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn prewarm<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, ()>> {
        later(env, |settle| self.runtime.prewarm(settle))
    }

    /// Ends all runs; resolves when no process of theirs is left.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<Answer<'env, ()>> {
        later(env, |settle| self.runtime.close(move || settle(guarded(|| Ok(())))))
    }
}
