//! Results on their way to JavaScript: at once, or through a promise.

use std::ptr;

use napi::bindgen_prelude::{Object, ToNapiValue, Unknown};
use napi::{Env, Status, sys};

use super::args;
use crate::error::{FsError, Result};
use crate::path::WorkspacePath;
use crate::store::guarded;

/// What a method returns: a value, or a promise of one.
pub enum Answer<'env, T> {
    /// It is done.
    Now(T),
    /// A promise.
    Later(Object<'env>),
}

impl<T: ToNapiValue> ToNapiValue for Answer<'_, T> {
    unsafe fn to_napi_value(env: sys::napi_env, answer: Self) -> napi::Result<sys::napi_value> {
        match answer {
            // SAFETY: `env` is the one that the caller vouches for.
            Answer::Now(value) => unsafe { T::to_napi_value(env, value) },
            // SAFETY: as above.
            Answer::Later(promise) => unsafe { Object::to_napi_value(env, promise) },
        }
    }
}

/// Returns a promise, which `start` promises to settle: it gets the function that does so, from
/// any thread.
pub fn later<'env, T, Start>(env: &'env Env, start: Start) -> napi::Result<Answer<'env, T>>
where
    T: ToNapiValue + Send + 'static,
    Start: FnOnce(Box<dyn FnOnce(Result<T>) + Send>),
{
    let (deferred, promise) = env.create_deferred()?;
    start(Box::new(move |result: Result<T>| match result {
        Ok(value) => deferred.resolve(move |_env| Ok(value)),
        Err(error) => deferred.reject(to_napi(&error)),
    }));
    Ok(Answer::Later(promise))
}

/// Runs the synchronous part of a method: its errors are thrown, its panics too.
pub fn attempt<T>(syscall: &'static str, work: impl FnOnce() -> Result<T>) -> napi::Result<T> {
    About::call(syscall).attempt(work)
}

/// The same for what has no name among the calls of a file system.
pub fn attempt_unnamed<T>(work: impl FnOnce() -> Result<T>) -> napi::Result<T> {
    guarded(work).map_err(|error| to_napi(&error))
}

/// What a call is about: its name, and the paths it got. Every error of the call says so.
#[derive(Debug, Clone)]
pub struct About {
    syscall: &'static str,
    path: Option<String>,
    dest: Option<String>,
}

impl About {
    /// A call without a path.
    pub fn call(syscall: &'static str) -> Self {
        About { syscall, path: None, dest: None }
    }

    /// A call with a path, which is read here.
    pub fn path(
        syscall: &'static str,
        name: &str,
        value: &Unknown<'_>,
    ) -> napi::Result<(Self, WorkspacePath)> {
        let path = attempt(syscall, || args::path(name, value))?;
        Ok((About { syscall, path: Some(path.to_string()), dest: None }, path))
    }

    /// A call with a path and a second one, which are read here.
    pub fn paths(
        syscall: &'static str,
        (name, value): (&str, &Unknown<'_>),
        (dest_name, dest_value): (&str, &Unknown<'_>),
    ) -> napi::Result<(Self, WorkspacePath, WorkspacePath)> {
        let (mut about, path) = Self::path(syscall, name, value)?;
        let dest = about.attempt(|| args::path(dest_name, dest_value))?;
        about.dest = Some(dest.to_string());
        Ok((about, path, dest))
    }

    /// A call with two paths, of which the first is only text.
    pub fn of(syscall: &'static str, path: &str, dest: &str) -> Self {
        About { syscall, path: Some(path.to_owned()), dest: Some(dest.to_owned()) }
    }

    /// Runs the synchronous part of the call.
    pub fn attempt<T>(&self, work: impl FnOnce() -> Result<T>) -> napi::Result<T> {
        guarded(work).map_err(|error| to_napi(&self.blame(error)))
    }

    /// The error, and what it is about.
    pub fn blame(&self, error: FsError) -> FsError {
        let mut error = error.during(self.syscall);
        if let Some(path) = &self.path {
            error = error.at(path);
        }
        if let Some(dest) = &self.dest {
            error = error.to(dest);
        }
        error
    }
}

/// An error for JavaScript. The message is JSON for `lib/errors.ts`.
pub fn to_napi(error: &FsError) -> napi::Error {
    let json = serde_json::json!({
        "code": error.code().name(),
        "errno": error.code().errno(),
        "message": error.to_string(),
        "path": error.path(),
        "dest": error.dest(),
        "syscall": error.syscall(),
    });
    napi::Error::new(Status::GenericFailure, json.to_string())
}

/// Bytes that JavaScript gets as a `Uint8Array` with a buffer of its own, which it may detach.
///
/// They are copied, which is cheap next to reading them: memory that the collector does not see
/// as a JavaScript buffer would pile up until it runs.
pub struct Bytes(pub Vec<u8>);

impl ToNapiValue for Bytes {
    unsafe fn to_napi_value(env: sys::napi_env, Bytes(bytes): Self) -> napi::Result<sys::napi_value> {
        let (mut data, mut buffer, mut array) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: `env` is the one that the caller vouches for; the out pointers are ours.
        let status = unsafe { sys::napi_create_arraybuffer(env, bytes.len(), &mut data, &mut buffer) };
        napi::check_status!(status, "no memory for a buffer of {} bytes", bytes.len())?;
        if !bytes.is_empty() {
            // SAFETY: Node made `data` point to `bytes.len()` bytes that nobody else has yet.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>(), bytes.len()) };
        }
        // SAFETY: `buffer` was made above and is as long as it says here.
        let status = unsafe {
            sys::napi_create_typedarray(
                env,
                sys::TypedarrayType::uint8_array,
                bytes.len(),
                buffer,
                0,
                &mut array,
            )
        };
        napi::check_status!(status, "no memory for a buffer of {} bytes", bytes.len())?;
        Ok(array)
    }
}

/// Text for JavaScript, which V8 limits in length.
pub struct Text(pub String);

/// `v8::String::kMaxLength` on 64-bit platforms, in UTF-16 units.
const STRING_UNITS_MAX: usize = (1 << 29) - 24;

impl Text {
    /// Decodes UTF-8; what is not becomes U+FFFD, as the WHATWG encoding standard has it. A byte
    /// order mark stays.
    pub fn decode(bytes: Vec<u8>) -> Result<Text> {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        if text.len() > STRING_UNITS_MAX && text.encode_utf16().count() > STRING_UNITS_MAX {
            return Err(FsError::with_detail(
                crate::error::Code::Fbig,
                "the file is too long for one string; read it as a stream or in ranges",
            ));
        }
        Ok(Text(text))
    }
}

impl ToNapiValue for Text {
    unsafe fn to_napi_value(env: sys::napi_env, Text(text): Self) -> napi::Result<sys::napi_value> {
        // SAFETY: `env` is the one that the caller vouches for.
        unsafe { String::to_napi_value(env, text) }
    }
}
