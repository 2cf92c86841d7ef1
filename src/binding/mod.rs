//! N-API: the only folder that knows Node.
//!
//! A method reads its arguments, copies what it keeps, and hands work to a scope of the store. If
//! the work is small and nothing has to be waited for, it is done here and now and the method
//! returns its result; otherwise it returns a promise. `lib/` wraps either into a promise.
//!
//! - Errors are thrown, or reject, as `Error` whose message is JSON: `lib/errors.ts` makes of it
//!   what users see, with a stack that leads to their call.
//! - No JavaScript value is kept across a thread or a turn of the event loop.
//! - A panic becomes an error of the one call.

mod answer;
mod args;
mod files;
mod mutations;
mod queries;
mod runtime;
mod streams;
mod tools;
mod workspace;
