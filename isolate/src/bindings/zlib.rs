//! What `node:zlib` does in C++: streams of zlib and Brotli, and CRC-32.
//!
//! - `natives.zlib.open()` makes the functions at the first use of the module, so that a run without it
//!   pays nothing.
//! - zlib is `libz-rs-sys`, the zlib interface in Rust: flush modes, return codes and error texts are
//!   zlib's, so the class here is a translation of Node's `ZlibContext`.
//! - A write does its work at once and returns; the prelude decides when the program hears of it. There are
//!   no threads.
//! - Bytes that a level gives differ from Node's (which links Chromium's zlib); what they unpack to does
//!   not.

use std::ffi::CStr;

use brotli::enc::StandardAlloc;
use brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState};
use libz_rs_sys as z;

use super::bytes::{STORAGE, view_bytes, view_span};
use super::{Kind, handle, set_function, throw_error};

/// Node's numbers of the kinds of streams.
mod mode {
    pub const DEFLATE: i32 = 1;
    pub const INFLATE: i32 = 2;
    pub const GZIP: i32 = 3;
    pub const GUNZIP: i32 = 4;
    pub const DEFLATERAW: i32 = 5;
    pub const INFLATERAW: i32 = 6;
    pub const UNZIP: i32 = 7;
}

/// The first two bytes of a gzip member.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Brotli's window when none is asked for: 4 MiB.
const BROTLI_WINDOW_BITS: u32 = 22;
/// Brotli's operation that ends a stream.
const BROTLI_FINISH: i32 = 2;

/// What a stream tells when it fails: the text, zlib's number and Node's code.
struct Broken {
    message: String,
    errno: i32,
    code: String,
}

/// Bytes that one write took and gave.
#[derive(Clone, Copy)]
struct Progress {
    taken: usize,
    given: usize,
}

/// A stream of either format.
trait Stream {
    /// Takes from `input` and gives to `output` as far as it can.
    fn write(&mut self, flush: i32, input: &[u8], output: &mut [u8]) -> (Progress, Result<(), Broken>);
    /// Begins anew.
    fn reset(&mut self) -> Result<(), Broken>;
    /// Another level and strategy from here on.
    fn params(&mut self, _level: i32, _strategy: i32) -> Result<(), Broken> {
        Ok(())
    }
}

/// Node's `ZlibContext`.
struct Zlib {
    // Boxed: zlib keeps the address of what it was initialized with.
    strm: Box<z::z_stream>,
    mode: i32,
    is_open: bool,
    level: i32,
    window_bits: i32,
    mem_level: i32,
    strategy: i32,
    dictionary: Vec<u8>,
    gzip_bytes_seen: u8,
    rejects_garbage: bool,
}

impl Zlib {
    fn is_compressor(&self) -> bool {
        matches!(self.mode, mode::DEFLATE | mode::GZIP | mode::DEFLATERAW)
    }

    /// About what zlib allocates for such a stream (zconf.h).
    fn memory_bytes(&self) -> usize {
        let window = 1usize << self.window_bits.clamp(8, 15);
        if self.is_compressor() {
            window * 4 + (1 << (self.mem_level.clamp(1, 9) + 9))
        } else {
            window * 2 + 8192
        }
    }

    fn failure(&self, code: i32, message: &str) -> Broken {
        let own = self.strm.msg;
        let message = if own.is_null() {
            message.to_owned()
        } else {
            // SAFETY: zlib points `msg` at its own constant strings, which end with a zero.
            unsafe { CStr::from_ptr(own) }.to_string_lossy().into_owned()
        };
        Broken { message, errno: code, code: code_name(code).to_owned() }
    }

    /// Initializes zlib at the first use: a stream that is never written to costs nothing.
    fn open(&mut self) -> Result<(), Broken> {
        if self.is_open {
            return Ok(());
        }
        let bits = match self.mode {
            mode::GZIP | mode::GUNZIP => self.window_bits + 16,
            mode::UNZIP => self.window_bits + 32,
            mode::DEFLATERAW | mode::INFLATERAW => -self.window_bits,
            _ => self.window_bits,
        };
        let size = size_of::<z::z_stream>() as i32;
        // SAFETY: a fresh stream with its own allocator functions, at an address that stays; the version
        // and the size are those of the library that is called.
        let code = unsafe {
            if self.is_compressor() {
                z::deflateInit2_(
                    &mut *self.strm,
                    self.level,
                    z::Z_DEFLATED,
                    bits,
                    self.mem_level,
                    self.strategy,
                    z::zlibVersion(),
                    size,
                )
            } else {
                z::inflateInit2_(&mut *self.strm, bits, z::zlibVersion(), size)
            }
        };
        if code != z::Z_OK {
            return Err(self.failure(code, "Init error"));
        }
        self.is_open = true;
        self.set_dictionary()
    }

    fn set_dictionary(&mut self) -> Result<(), Broken> {
        if self.dictionary.is_empty() {
            return Ok(());
        }
        let (data, length) = (self.dictionary.as_ptr(), self.dictionary.len() as u32);
        // SAFETY: the stream is open, and the dictionary is there for the whole call.
        let code = unsafe {
            match self.mode {
                mode::DEFLATE | mode::DEFLATERAW => z::deflateSetDictionary(&mut *self.strm, data, length),
                mode::INFLATERAW => z::inflateSetDictionary(&mut *self.strm, data, length),
                _ => z::Z_OK,
            }
        };
        if code == z::Z_OK { Ok(()) } else { Err(self.failure(code, "Failed to set dictionary")) }
    }

    fn inflate(&mut self, flush: i32) -> i32 {
        // SAFETY: the stream is open, and `write` has pointed it at slices that are there for the whole call.
        unsafe { z::inflate(&mut *self.strm, flush) }
    }

    fn next_byte(&self, offset: usize) -> Option<u8> {
        // SAFETY: `next_in` has `avail_in` bytes, and the offset is checked against them.
        (offset < self.strm.avail_in as usize).then(|| unsafe { *self.strm.next_in.add(offset) })
    }

    /// `UNZIP` takes gzip and zlib: the first two bytes tell which.
    fn detect(&mut self) {
        let mut offset = 0;
        if self.gzip_bytes_seen == 0 {
            match self.next_byte(0) {
                None => return,
                Some(byte) if byte == GZIP_MAGIC[0] => self.gzip_bytes_seen = 1,
                Some(_) => {
                    self.mode = mode::INFLATE;
                    return;
                }
            }
            offset = 1;
        }
        match self.next_byte(offset) {
            None => {}
            Some(byte) if byte == GZIP_MAGIC[1] => {
                self.gzip_bytes_seen = 2;
                self.mode = mode::GUNZIP;
            }
            Some(_) => self.mode = mode::INFLATE,
        }
    }

    fn run(&mut self, flush: i32) -> Result<i32, Broken> {
        if self.is_compressor() {
            // SAFETY: the stream is open, and `write` has pointed it at slices that are there for the whole
            // call.
            return Ok(unsafe { z::deflate(&mut *self.strm, flush) });
        }
        if self.mode == mode::UNZIP {
            self.detect();
        }
        let mut code = self.inflate(flush);
        if self.mode != mode::INFLATERAW && code == z::Z_NEED_DICT && !self.dictionary.is_empty() {
            // SAFETY: the stream is open, and the dictionary is there for the whole call.
            code = unsafe {
                z::inflateSetDictionary(
                    &mut *self.strm,
                    self.dictionary.as_ptr(),
                    self.dictionary.len() as u32,
                )
            };
            if code == z::Z_OK {
                code = self.inflate(flush);
            } else if code == z::Z_DATA_ERROR {
                // The wrong dictionary, not wrong data.
                code = z::Z_NEED_DICT;
            }
        }
        // A gzip file may have several members one after the other, and zeros behind the last.
        while code == z::Z_STREAM_END
            && self.mode == mode::GUNZIP
            && !self.rejects_garbage
            && self.next_byte(0).is_some_and(|byte| byte != 0)
        {
            self.reset()?;
            code = self.inflate(flush);
        }
        Ok(code)
    }
}

impl Stream for Zlib {
    fn write(&mut self, flush: i32, input: &[u8], output: &mut [u8]) -> (Progress, Result<(), Broken>) {
        self.strm.next_in = input.as_ptr();
        self.strm.avail_in = input.len() as u32;
        self.strm.next_out = output.as_mut_ptr();
        self.strm.avail_out = output.len() as u32;
        let result = self.open().and_then(|()| self.run(flush));
        let progress = Progress {
            taken: input.len() - self.strm.avail_in as usize,
            given: output.len() - self.strm.avail_out as usize,
        };
        let result = result.and_then(|code| match code {
            z::Z_OK | z::Z_BUF_ERROR => {
                if self.strm.avail_out != 0 && flush == z::Z_FINISH {
                    Err(self.failure(z::Z_BUF_ERROR, "unexpected end of file"))
                } else {
                    Ok(())
                }
            }
            z::Z_STREAM_END => Ok(()),
            z::Z_NEED_DICT if self.dictionary.is_empty() => Err(self.failure(code, "Missing dictionary")),
            z::Z_NEED_DICT => Err(self.failure(code, "Bad dictionary")),
            code => Err(self.failure(code, "Zlib error")),
        });
        self.strm.next_in = std::ptr::null();
        self.strm.avail_in = 0;
        self.strm.next_out = std::ptr::null_mut();
        self.strm.avail_out = 0;
        (progress, result)
    }

    fn reset(&mut self) -> Result<(), Broken> {
        self.open()?;
        // SAFETY: the stream is open.
        let code = unsafe {
            if self.is_compressor() {
                z::deflateReset(&mut *self.strm)
            } else {
                z::inflateReset(&mut *self.strm)
            }
        };
        if code != z::Z_OK {
            return Err(self.failure(code, "Failed to reset stream"));
        }
        self.set_dictionary()
    }

    fn params(&mut self, level: i32, strategy: i32) -> Result<(), Broken> {
        self.open()?;
        if !matches!(self.mode, mode::DEFLATE | mode::DEFLATERAW) {
            return Ok(());
        }
        // The library has flushed, so nothing is left to be written; zlib only insists on a place for it.
        let mut nothing = [0u8; 1];
        self.strm.next_in = nothing.as_ptr();
        self.strm.next_out = nothing.as_mut_ptr();
        // SAFETY: the stream is open, and what it may read and write are no bytes at all.
        let code = unsafe { z::deflateParams(&mut *self.strm, level, strategy) };
        self.strm.next_in = std::ptr::null();
        self.strm.next_out = std::ptr::null_mut();
        if code == z::Z_OK || code == z::Z_BUF_ERROR {
            Ok(())
        } else {
            Err(self.failure(code, "Failed to set parameters"))
        }
    }
}

impl Drop for Zlib {
    fn drop(&mut self) {
        if self.is_open {
            // SAFETY: the stream is open, and this is its end.
            unsafe {
                if self.is_compressor() {
                    z::deflateEnd(&mut *self.strm);
                } else {
                    z::inflateEnd(&mut *self.strm);
                }
            }
        }
    }
}

fn code_name(code: i32) -> &'static str {
    match code {
        z::Z_OK => "Z_OK",
        z::Z_STREAM_END => "Z_STREAM_END",
        z::Z_NEED_DICT => "Z_NEED_DICT",
        z::Z_ERRNO => "Z_ERRNO",
        z::Z_STREAM_ERROR => "Z_STREAM_ERROR",
        z::Z_DATA_ERROR => "Z_DATA_ERROR",
        z::Z_MEM_ERROR => "Z_MEM_ERROR",
        z::Z_BUF_ERROR => "Z_BUF_ERROR",
        z::Z_VERSION_ERROR => "Z_VERSION_ERROR",
        _ => "UNKNOWN_ERROR",
    }
}

/// A Brotli compressor.
struct BrotliEncoder {
    state: Box<BrotliEncoderStateStruct<StandardAlloc>>,
    params: Vec<(u32, u32)>,
}

fn encoder_parameter(index: u32) -> Option<BrotliEncoderParameter> {
    use BrotliEncoderParameter::*;
    Some(match index {
        0 => BROTLI_PARAM_MODE,
        1 => BROTLI_PARAM_QUALITY,
        2 => BROTLI_PARAM_LGWIN,
        3 => BROTLI_PARAM_LGBLOCK,
        4 => BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING,
        5 => BROTLI_PARAM_SIZE_HINT,
        6 => BROTLI_PARAM_LARGE_WINDOW,
        _ => return None,
    })
}

impl BrotliEncoder {
    fn new(params: Vec<(u32, u32)>) -> BrotliEncoder {
        let mut state = Box::new(BrotliEncoderStateStruct::new(StandardAlloc::default()));
        for (index, value) in &params {
            // NPOSTFIX and NDIRECT tune the coding of distances only. A value that Brotli refuses is passed
            // over, as Node does.
            if let Some(parameter) = encoder_parameter(*index) {
                state.set_parameter(parameter, *value);
            }
        }
        BrotliEncoder { state, params }
    }
}

impl Stream for BrotliEncoder {
    fn write(&mut self, flush: i32, input: &[u8], output: &mut [u8]) -> (Progress, Result<(), Broken>) {
        let operation = match flush {
            1 => BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
            2 => BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
            3 => BrotliEncoderOperation::BROTLI_OPERATION_EMIT_METADATA,
            _ => BrotliEncoderOperation::BROTLI_OPERATION_PROCESS,
        };
        let (mut available_in, mut taken) = (input.len(), 0);
        let (mut available_out, mut given) = (output.len(), 0);
        let done = self.state.compress_stream(
            operation,
            &mut available_in,
            input,
            &mut taken,
            &mut available_out,
            output,
            &mut given,
            &mut None,
            &mut |_, _, _, _| (),
        );
        let failure = || Broken {
            message: "Compression failed".to_owned(),
            errno: -1,
            code: "ERR_BROTLI_COMPRESSION_FAILED".to_owned(),
        };
        (Progress { taken, given }, if done { Ok(()) } else { Err(failure()) })
    }

    fn reset(&mut self) -> Result<(), Broken> {
        *self = BrotliEncoder::new(std::mem::take(&mut self.params));
        Ok(())
    }
}

/// A Brotli decompressor.
struct BrotliDecoder {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    large_window: bool,
}

impl BrotliDecoder {
    fn new(large_window: bool) -> BrotliDecoder {
        let new = if large_window { BrotliState::new } else { BrotliState::new_strict };
        let state = new(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
        BrotliDecoder { state: Box::new(state), large_window }
    }
}

impl Stream for BrotliDecoder {
    fn write(&mut self, flush: i32, input: &[u8], output: &mut [u8]) -> (Progress, Result<(), Broken>) {
        let (mut available_in, mut taken) = (input.len(), 0);
        let (mut available_out, mut given) = (output.len(), 0);
        let result = BrotliDecompressStream(
            &mut available_in,
            &mut taken,
            input,
            &mut available_out,
            &mut given,
            output,
            &mut 0,
            &mut self.state,
        );
        let result = match result {
            BrotliResult::ResultFailure => {
                let name = format!("{:?}", self.state.error_code);
                Err(Broken {
                    message: "Decompression failed".to_owned(),
                    errno: self.state.error_code as i32,
                    // Node puts `ERR_` before what Brotli's own names have after its prefix.
                    code: format!("ERR_{}", name.strip_prefix("BROTLI_DECODER").unwrap_or(&name)),
                })
            }
            BrotliResult::NeedsMoreInput if flush == BROTLI_FINISH => Err(Broken {
                message: "unexpected end of file".to_owned(),
                errno: z::Z_BUF_ERROR,
                code: "Z_BUF_ERROR".to_owned(),
            }),
            _ => Ok(()),
        };
        (Progress { taken, given }, result)
    }

    fn reset(&mut self) -> Result<(), Broken> {
        *self = BrotliDecoder::new(self.large_window);
        Ok(())
    }
}

/// Puts `open` on `target`.
pub fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_function(scope, target, "open", open);
}

/// `open()`: an object with the other functions.
fn open(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    let target = v8::Object::new(scope);
    set_function(scope, target, "zlib", new_zlib);
    set_function(scope, target, "brotli", new_brotli);
    set_function(scope, target, "write", write);
    set_function(scope, target, "params", params);
    set_function(scope, target, "reset", reset);
    set_function(scope, target, "close", close);
    set_function(scope, target, "crc32", crc32);
    result.set(target.into());
}

fn integer(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> i32 {
    value.int32_value(scope).unwrap_or(0)
}

/// `zlib(mode, windowBits, level, memLevel, strategy, dictionary, rejectGarbageAfterEnd)` gives a stream.
fn new_zlib(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    let [mode, window_bits, level, mem_level, strategy] =
        [0, 1, 2, 3, 4].map(|at| integer(scope, args.get(at)));
    let stream = Zlib {
        strm: Box::new(z::z_stream::default()),
        mode,
        is_open: false,
        level,
        window_bits,
        mem_level,
        strategy,
        dictionary: view_bytes(args.get(5), &mut STORAGE.clone()).unwrap_or_default().to_vec(),
        gzip_bytes_seen: 0,
        rejects_garbage: args.get(6).is_true(),
    };
    let bytes = stream.memory_bytes();
    let stream: Box<dyn Stream> = Box::new(stream);
    if let Some(object) = handle::make(scope, stream, bytes) {
        result.set(object.into());
    }
}

/// `brotli(decodes, params)` gives a stream. `params` holds -1 for what is not set.
fn new_brotli(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    let mut storage = STORAGE;
    let values = view_bytes(args.get(1), &mut storage).unwrap_or_default();
    let params: Vec<(u32, u32)> = values
        .chunks_exact(4)
        .map(|value| u32::from_ne_bytes(value.try_into().expect("four bytes")))
        .enumerate()
        .filter(|(_, value)| *value != u32::MAX)
        .map(|(index, value)| (index as u32, value))
        .collect();
    let param = |wanted| params.iter().find(|(index, _)| *index == wanted).map(|(_, value)| *value);
    let (stream, bytes): (Box<dyn Stream>, usize) = if args.get(0).is_true() {
        let large_window = param(1).is_some_and(|value| value != 0);
        // The window grows with the text; that of a large one is the only that can be beyond all measure.
        (Box::new(BrotliDecoder::new(large_window)), if large_window { 1 << 30 } else { 1 << 20 })
    } else {
        let window_bits = param(2).unwrap_or(BROTLI_WINDOW_BITS).clamp(10, 30);
        (Box::new(BrotliEncoder::new(params)), 2 << window_bits)
    };
    if let Some(object) = handle::make(scope, stream, bytes) {
        result.set(object.into());
    }
}

/// Undefined, or `[message, errno, code]`.
fn report(
    scope: &mut v8::PinScope<'_, '_>,
    outcome: Option<Result<(), Broken>>,
    mut result: v8::ReturnValue<'_>,
) {
    let Some(outcome) = outcome else {
        throw_error(scope, Kind::Error, "ERR_INVALID_STATE", "Invalid state: the zlib stream is closed");
        return;
    };
    if let Err(Broken { message, errno, code }) = outcome {
        let message = v8::String::new(scope, &message).unwrap_or_else(|| v8::String::empty(scope));
        let code = v8::String::new(scope, &code).unwrap_or_else(|| v8::String::empty(scope));
        let errno = v8::Integer::new(scope, errno);
        let array = v8::Array::new_with_elements(scope, &[message.into(), errno.into(), code.into()]);
        result.set(array.into());
    }
}

/// `write(stream, flush, in, inOffset, inLength, out, outOffset, outLength, state)`: sets `state` to the
/// bytes that are left of the output and of the input.
fn write(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    result: v8::ReturnValue<'_>,
) {
    let flush = integer(scope, args.get(1));
    let [in_offset, in_length, out_offset, out_length] =
        [3, 4, 6, 7].map(|at| args.get(at).uint32_value(scope).unwrap_or(0) as usize);
    let mut storage = STORAGE;
    let input = view_bytes(args.get(2), &mut storage).unwrap_or_default();
    let input = input.get(in_offset..).unwrap_or_default();
    let mut input = &input[..in_length.min(input.len())];
    let Some(output) = view_span(scope, args.get(5)).map(|span| span.part(out_offset, out_length)) else {
        return report(scope, None, result);
    };
    let Some(state) = view_span(scope, args.get(8)) else { return report(scope, None, result) };
    // SAFETY: nothing below runs JavaScript; the slices are dropped before this returns.
    let (output, state) = unsafe { (output.bytes_mut(), state.bytes_mut()) };
    // A program that digs out the stream's own buffer can write it to the stream.
    let own;
    if input.as_ptr_range().start < output.as_ptr_range().end
        && output.as_ptr_range().start < input.as_ptr_range().end
    {
        own = input.to_vec();
        input = &own;
    }
    let outcome = handle::with(scope, args.get(0), |stream: &mut Box<dyn Stream>| {
        let (progress, outcome) = stream.write(flush, input, output);
        let left = [output.len() - progress.given, input.len() - progress.taken];
        for (place, left) in state.chunks_exact_mut(4).zip(left) {
            place.copy_from_slice(&(left as u32).to_ne_bytes());
        }
        outcome
    });
    report(scope, outcome, result);
}

/// `params(stream, level, strategy)`
fn params(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    result: v8::ReturnValue<'_>,
) {
    let (level, strategy) = (integer(scope, args.get(1)), integer(scope, args.get(2)));
    let outcome =
        handle::with(scope, args.get(0), |stream: &mut Box<dyn Stream>| stream.params(level, strategy));
    report(scope, outcome, result);
}

/// `reset(stream)`
fn reset(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    result: v8::ReturnValue<'_>,
) {
    let outcome = handle::with(scope, args.get(0), |stream: &mut Box<dyn Stream>| stream.reset());
    report(scope, outcome, result);
}

/// `close(stream)` gives its memory back now.
fn close(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_>) {
    drop(handle::take::<Box<dyn Stream>>(scope, args.get(0)));
}

/// `crc32(bytes, value)`
fn crc32(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_>,
) {
    let start = args.get(1).uint32_value(scope).unwrap_or(0);
    let mut hasher = crc32fast::Hasher::new_with_initial(start);
    hasher.update(view_bytes(args.get(0), &mut STORAGE.clone()).unwrap_or_default());
    result.set_uint32(hasher.finalize());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zlib(mode: i32) -> Zlib {
        Zlib {
            strm: Box::new(z::z_stream::default()),
            mode,
            is_open: false,
            level: 6,
            window_bits: 15,
            mem_level: 8,
            strategy: 0,
            dictionary: Vec::new(),
            gzip_bytes_seen: 0,
            rejects_garbage: false,
        }
    }

    /// Everything that the stream makes of the input, with an output of so many bytes at a time.
    fn all(stream: &mut dyn Stream, finish: i32, mut input: &[u8], room: usize) -> Result<Vec<u8>, Broken> {
        let mut out = Vec::new();
        let mut buffer = vec![0u8; room];
        loop {
            let (progress, result) = stream.write(finish, input, &mut buffer);
            result?;
            out.extend_from_slice(&buffer[..progress.given]);
            input = &input[progress.taken..];
            if progress.given < room {
                return Ok(out);
            }
        }
    }

    fn text() -> Vec<u8> {
        (0..5000u32).flat_map(|line| format!("line {}\n", line * line % 977).into_bytes()).collect()
    }

    #[test]
    fn every_kind_of_stream_undoes_itself_whatever_the_room() {
        let text = text();
        for (packs, unpacks) in [
            (mode::DEFLATE, mode::INFLATE),
            (mode::GZIP, mode::GUNZIP),
            (mode::DEFLATERAW, mode::INFLATERAW),
            (mode::GZIP, mode::UNZIP),
            (mode::DEFLATE, mode::UNZIP),
        ] {
            for room in [64, 1000, 1 << 20] {
                let packed = all(&mut zlib(packs), z::Z_FINISH, &text, room)
                    .unwrap_or_else(|error| panic!("{}", error.message));
                assert!(packed.len() < text.len() / 3);
                let again = all(&mut zlib(unpacks), z::Z_FINISH, &packed, room)
                    .unwrap_or_else(|error| panic!("{}", error.message));
                assert!(again == text, "{packs} {unpacks} {room}");
            }
        }
        let packed = all(&mut BrotliEncoder::new(vec![(1, 5)]), BROTLI_FINISH, &text, 100);
        let packed = packed.unwrap_or_else(|error| panic!("{}", error.message));
        let again = all(&mut BrotliDecoder::new(false), BROTLI_FINISH, &packed, 100);
        assert!(again.unwrap_or_else(|error| panic!("{}", error.message)) == text);
    }

    #[test]
    fn gunzip_reads_members_one_after_the_other() {
        let one = all(&mut zlib(mode::GZIP), z::Z_FINISH, b"one", 100)
            .unwrap_or_else(|error| panic!("{}", error.message));
        let two = [&one[..], &one, &[0, 0]].concat();
        let both = all(&mut zlib(mode::GUNZIP), z::Z_FINISH, &two, 100)
            .unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!(both, b"oneone");
    }

    #[test]
    fn wrong_and_cut_data_have_the_codes_of_node() {
        let code = |stream: &mut dyn Stream, finish, input: &[u8]| match all(stream, finish, input, 1000) {
            Ok(_) => String::new(),
            Err(error) => format!("{} {} {}", error.code, error.errno, error.message),
        };
        let packed = all(&mut zlib(mode::DEFLATE), z::Z_FINISH, b"some text", 100)
            .unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!(
            code(&mut zlib(mode::INFLATE), z::Z_FINISH, b"nonsense"),
            "Z_DATA_ERROR -3 incorrect header check"
        );
        assert_eq!(
            code(&mut zlib(mode::INFLATE), z::Z_FINISH, &packed[..9]),
            "Z_BUF_ERROR -5 unexpected end of file"
        );
        assert_eq!(
            code(&mut BrotliDecoder::new(false), BROTLI_FINISH, b"nonsense"),
            "ERR__ERROR_FORMAT_PADDING_2 -15 Decompression failed"
        );
        assert_eq!(
            code(&mut BrotliDecoder::new(false), BROTLI_FINISH, &[]),
            "Z_BUF_ERROR -5 unexpected end of file"
        );
    }
}
