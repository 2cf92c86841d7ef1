//! The frames between the addon and one isolate process: what they say and how they look as bytes.
//!
//! ```text
//!   addon                                    isolate
//!     │            ◄──────────── Ready ─────────│   locked in, waiting
//!     │── Start ───────────────────────────────►│   compiles, asks for imports
//!     │            ◄──────────── Call(Import) ──│
//!     │── Answer ──────────────────────────────►│
//!     │            ◄──────────── Loaded ────────│   nothing of the module has run
//!     │── Go ──────────────────────────────────►│   runs it
//!     │            ◄── Call, Output, Wake, … ───│
//!     │── Answer, Tick ────────────────────────►│
//!     │            ◄──────────── Done ──────────│   and ends
//! ```
//!
//! - Everything the code in the isolate can learn from outside is in a frame to it, and it takes
//!   one frame at a time, in order: the sequence of those frames is all that a replay needs.
//! - A frame is its length (4 bytes, little endian, without itself), one byte for its kind, and its
//!   fields. Numbers are little endian; texts and bytes have their length (4 bytes) in front.
//! - Whatever arrives may be a lie: decoding checks every length against what is there and never
//!   takes memory for more than arrived.
//!
//! Not here: pipes, and what a call does.

mod codec;
mod frame;
mod value;

pub use codec::{Malformed, Reader, Writer};
pub use frame::{Frame, FrameBuffer, HEADER_BYTES, encode, read_frame};
pub use value::{DEPTH_MAX, Value};

/// Bytes of output, or of what is printed of an error, that one frame holds at most.
pub const PRINTED_BYTES_MAX: usize = 1024 * 1024;

/// Raised with every change of what frames say or look like. Both sides come from one build, so a
/// difference means that another program was started.
pub const VERSION: u32 = 1;

/// What the isolate asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// A function of `node:fs`: `name` is the function of Node's binding. An error is
    /// `[code, system call, path or null, second path or null, message or null, error number]`.
    File,
    /// A function of a host module: `name` is the module, the arguments are the function and the
    /// encoded array of its arguments; answer and error are encoded values, too.
    Host,
    /// A step of a network request: `request(token, method, url, headers, has a body)` is answered by
    /// `[status, status text, headers]`, `write(token, bytes, is last)` by null, `read(token)` by
    /// bytes or null at the end, `cancel(token)` by null. An error is `[name, code or null, message]`.
    Fetch,
    /// The source of a module: `resolve(specifier, referrer's path, type attribute or null)`, answered
    /// by `[path, format, source, query and fragment]` with the format `module` or `json`, or by an error
    /// `[name, code or null, message, path or null]`.
    Import,
}

/// One request of the isolate. `id`s start at 1 and go up by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its number in the run.
    pub id: u32,
    /// Who serves it.
    pub kind: CallKind,
    /// Whether the isolate does nothing else until the answer is there.
    pub is_sync: bool,
    /// What is to be done.
    pub name: String,
    /// With what.
    pub args: Vec<Value>,
}

/// A host module as the isolate sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostModule {
    /// `ws:name`.
    pub specifier: String,
    /// The names of its functions.
    pub exports: Vec<String>,
}

/// A module whose source the host configured.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceModule {
    /// The name that it is imported by.
    pub specifier: String,
    /// JavaScript.
    pub source: String,
}

/// What a run is made of.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Start {
    /// Of all chance in the run.
    pub seed: [u8; 32],
    /// Milliseconds since the epoch.
    pub epoch_ms: f64,
    /// Whether the clock stands still between frames.
    pub is_clock_frozen: bool,
    /// Path of the entry module in the workspace; it need not exist there.
    pub entry_path: String,
    /// Its JavaScript.
    pub entry_source: String,
    /// Working directory.
    pub cwd: String,
    /// Argument of the default function, as JSON.
    pub input: String,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// Modules served by the host.
    pub host_modules: Vec<HostModule>,
    /// Modules given as source.
    pub source_modules: Vec<SourceModule>,
    /// CPU time of the process from here on, in milliseconds.
    pub cpu_ms_max: u32,
    /// V8's heap and all buffers together.
    pub memory_bytes_max: u64,
    /// The result as JSON.
    pub result_bytes_max: u64,
    /// One call or one answer.
    pub call_bytes_max: u64,
    /// Calls in flight at one moment; more wait inside the isolate.
    pub concurrent_calls_max: u32,
    /// Whether `fetch` has a network behind it.
    pub has_network: bool,
}

/// A frame to the isolate.
#[derive(Clone, Debug, PartialEq)]
pub enum ToIsolate {
    /// The first one.
    Start(Box<Start>),
    /// Run what was loaded.
    Go {
        /// Milliseconds since the epoch.
        epoch_ms: f64,
    },
    /// The answer to a call.
    Answer {
        /// Which call.
        id: u32,
        /// Milliseconds since the epoch.
        epoch_ms: f64,
        /// What came out; an error is a value of the call's kind.
        outcome: Result<Value, Value>,
    },
    /// The time that was asked for with `Wake` has come.
    Tick {
        /// Milliseconds since the epoch.
        epoch_ms: f64,
    },
}

/// A frame from the isolate.
#[derive(Clone, Debug, PartialEq)]
pub enum ToHost {
    /// Locked in and waiting for `Start`.
    Ready {
        /// [`VERSION`] of the program.
        version: u32,
    },
    /// The entry and all its static imports are there and parse.
    Loaded,
    /// They are not; nothing ran. The process ends.
    NotLoaded {
        /// `SyntaxError` and the like.
        name: String,
        /// What is wrong, with file and line.
        message: String,
        /// Code of the error, if it has one.
        code: Option<String>,
        /// Path that it is about, if any.
        path: Option<String>,
    },
    /// A request.
    Call(Call),
    /// Nobody waits for this call's answer any more.
    Cancel {
        /// Which call.
        id: u32,
    },
    /// Printed bytes.
    Output {
        /// 1: standard output, 2: standard error.
        stream: u8,
        /// What was printed.
        bytes: Vec<u8>,
    },
    /// When to send the next `Tick`; replaces what was asked before.
    Wake {
        /// Milliseconds from the frame before this one's time on; none: no `Tick` is needed.
        after_ms: Option<f64>,
    },
    /// The end of the run.
    Done(Done),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// What happened.
    pub ending: Ending,
    /// `process.exitCode`, if the code set it.
    pub exit_code: Option<i32>,
    /// Result as JSON, or what to print to standard error.
    pub text: String,
}

/// What kind of end it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The result is there.
    Completed,
    /// An error that nobody caught.
    Failed,
    /// More memory than the limit.
    OutOfMemory,
    /// `process.exit()`.
    Exited,
    /// A result that is longer than the limit, and is not here.
    TooLong,
}
