//! The class behind `workspace.fs` and behind the `fs` of a transaction, and how its methods run.

use napi::Env;
use napi::bindgen_prelude::ToNapiValue;
use napi_derive::napi;

use super::answer::{About, Answer, later};
use crate::error::Result;
use crate::store::{ReadTx, Scope, WriteTx, executor, guarded};

/// The files of a workspace, or of an open transaction.
#[napi]
pub struct NativeFiles {
    pub(super) scope: Scope,
}

impl NativeFiles {
    /// Runs a read: here if `small` can do it without waiting, else `work` on another thread.
    pub(super) fn read<'env, T>(
        &self,
        env: &'env Env,
        about: About,
        small: impl Fn(&ReadTx<'_>) -> Result<Option<T>>,
        work: impl Fn(&ReadTx<'_>) -> Result<T> + Send + 'static,
    ) -> napi::Result<Answer<'env, T>>
    where
        T: ToNapiValue + Send + 'static,
    {
        let here = about.attempt(|| {
            self.scope.check_open()?;
            self.scope.read_here(&small).transpose().map(Option::flatten)
        })?;
        match here {
            Some(value) => Ok(Answer::Now(value)),
            None => later(env, |settle| {
                self.scope.read_later(work, move |result| {
                    settle(result.map_err(|error| about.blame(error)));
                });
            }),
        }
    }

    /// Runs a read that never is much work.
    pub(super) fn read_small<'env, T>(
        &self,
        env: &'env Env,
        about: About,
        work: impl Fn(&ReadTx<'_>) -> Result<T> + Clone + Send + 'static,
    ) -> napi::Result<Answer<'env, T>>
    where
        T: ToNapiValue + Send + 'static,
    {
        let small = work.clone();
        self.read(env, about, move |tx| small(tx).map(Some), work)
    }

    /// Runs a read that may be much work.
    pub(super) fn read_large<'env, T>(
        &self,
        env: &'env Env,
        about: About,
        work: impl FnOnce(&Scope) -> Result<T> + Send + 'static,
    ) -> napi::Result<Answer<'env, T>>
    where
        T: ToNapiValue + Send + 'static,
    {
        self.start(env, about, executor::spawn_blocking, work)
    }

    /// Runs what reads many files.
    pub(super) fn search<'env, T>(
        &self,
        env: &'env Env,
        about: About,
        work: impl FnOnce(&Scope) -> Result<T> + Send + 'static,
    ) -> napi::Result<Answer<'env, T>>
    where
        T: ToNapiValue + Send + 'static,
    {
        self.start(env, about, executor::spawn_search, work)
    }

    fn start<'env, T>(
        &self,
        env: &'env Env,
        about: About,
        spawn: impl FnOnce(Box<dyn FnOnce() + Send>),
        work: impl FnOnce(&Scope) -> Result<T> + Send + 'static,
    ) -> napi::Result<Answer<'env, T>>
    where
        T: ToNapiValue + Send + 'static,
    {
        about.attempt(|| self.scope.check_open())?;
        let (scope, call) = (self.scope.clone(), self.scope.store().enter());
        later(env, |settle| {
            spawn(Box::new(move || {
                let result = guarded(|| work(&scope));
                settle(result.map_err(|error| about.blame(error)));
                drop(call);
            }));
        })
    }

    /// Makes a change: here if it is small and nothing has to be waited for, else in its turn.
    /// `bytes` is about how much it writes.
    pub(super) fn write<'env, T>(
        &self,
        env: &'env Env,
        about: About,
        now: f64,
        size: Effort,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> napi::Result<Answer<'env, T>>
    where
        T: ToNapiValue + Send + 'static,
    {
        let here = about.attempt(|| {
            self.scope.check_open()?;
            self.scope.store().check_writable()?;
            match size {
                Effort::Small => match self.scope.write_here(now, work) {
                    Ok(result) => result.map(Ok),
                    Err(work) => Ok(Err(work)),
                },
                Effort::Large(_) => Ok(Err(work)),
            }
        })?;
        match here {
            Ok(value) => Ok(Answer::Now(value)),
            Err(work) => later(env, |settle| {
                let bytes = if let Effort::Large(bytes) = size { bytes } else { 0 };
                self.scope.write_later(now, true, bytes, work, move |result| {
                    settle(result.map_err(|error| about.blame(error)));
                });
            }),
        }
    }
}

/// How much a change has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// A few rows and at most a little content.
    Small,
    /// More; about so many bytes.
    Large(usize),
}
