//! Frames to bytes and back.

use std::io::{self, Read};

use crate::codec::{Malformed, Reader, Writer};
use crate::value::Value;
use crate::{Call, CallKind, Done, Ending, HostModule, SourceModule, Start, ToHost, ToIsolate};

/// The length in front of a frame.
pub const HEADER_BYTES: usize = 4;

/// A kind of frame: those to the isolate, or those from it.
pub trait Frame: Sized {
    /// Appends kind and fields.
    fn write(&self, writer: &mut Writer<'_>);
    /// Reads kind and fields.
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed>;
}

/// Appends a whole frame, its length in front, to `bytes`.
pub fn encode(frame: &impl Frame, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; HEADER_BYTES]);
    frame.write(&mut Writer::new(bytes));
    let length = u32::try_from(bytes.len() - start - HEADER_BYTES).expect("callers keep frames below 4 GiB");
    bytes[start..start + HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
}

fn decode<F: Frame>(body: &[u8]) -> Result<F, Malformed> {
    let mut reader = Reader::new(body);
    let frame = F::read(&mut reader)?;
    reader.end()?;
    Ok(frame)
}

fn malformed(error: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Waits for the next frame; none at the end of `input`.
pub fn read_frame<F: Frame>(input: &mut impl Read, bytes_max: usize) -> io::Result<Option<F>> {
    let mut header = [0; HEADER_BYTES];
    let mut filled = 0;
    while filled < HEADER_BYTES {
        match input.read(&mut header[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u32::from_le_bytes(header) as usize;
    if length > bytes_max {
        return Err(malformed(Malformed("it is longer than allowed")));
    }
    let mut body = Vec::with_capacity(length);
    if input.take(length as u64).read_to_end(&mut body)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    decode(&body).map(Some).map_err(malformed)
}

/// Bytes as they arrive, and the frames in them. Takes memory for what arrived, not for what a
/// length announces.
pub struct FrameBuffer {
    bytes: Vec<u8>,
    start: usize,
    bytes_max: usize,
}

impl FrameBuffer {
    /// For frames of up to `bytes_max`.
    pub fn new(bytes_max: usize) -> Self {
        FrameBuffer { bytes: Vec::new(), start: 0, bytes_max }
    }

    /// Adds what arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > 1024 * 1024 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame, if it is there as a whole.
    pub fn next_frame<F: Frame>(&mut self) -> Result<Option<F>, Malformed> {
        let rest = &self.bytes[self.start..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > self.bytes_max {
            return Err(Malformed("it is longer than allowed"));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let frame = decode(body)?;
        self.start += HEADER_BYTES + length;
        // A large frame must not stay in memory for the rest of the run.
        if self.start == self.bytes.len() && self.bytes.capacity() > 1024 * 1024 {
            self.bytes = Vec::new();
            self.start = 0;
        }
        Ok(Some(frame))
    }
}

impl Frame for ToIsolate {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            ToIsolate::Start(start) => {
                writer.u8(1);
                start.write(writer);
            }
            ToIsolate::Go { epoch_ms } => {
                writer.u8(2);
                writer.f64(*epoch_ms);
            }
            ToIsolate::Answer { id, epoch_ms, outcome } => {
                writer.u8(3);
                writer.u32(*id);
                writer.f64(*epoch_ms);
                let (ok, value) = match outcome {
                    Ok(value) => (1, value),
                    Err(value) => (0, value),
                };
                writer.u8(ok);
                value.write(writer);
            }
            ToIsolate::Tick { epoch_ms } => {
                writer.u8(4);
                writer.f64(*epoch_ms);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.u8()? {
            1 => ToIsolate::Start(Box::new(Start::read(reader)?)),
            2 => ToIsolate::Go { epoch_ms: reader.f64()? },
            3 => ToIsolate::Answer {
                id: reader.u32()?,
                epoch_ms: reader.f64()?,
                outcome: if reader.bool()? { Ok(Value::read(reader)?) } else { Err(Value::read(reader)?) },
            },
            4 => ToIsolate::Tick { epoch_ms: reader.f64()? },
            _ => return Err(Malformed("it is of no kind")),
        })
    }
}

impl Frame for ToHost {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            ToHost::Ready { version } => {
                writer.u8(1);
                writer.u32(*version);
            }
            ToHost::Loaded => writer.u8(2),
            ToHost::NotLoaded { name, message, code, path } => {
                writer.u8(3);
                writer.text(name);
                writer.text(message);
                writer.optional_text(code.as_deref());
                writer.optional_text(path.as_deref());
            }
            ToHost::Call(call) => {
                writer.u8(4);
                call.write(writer);
            }
            ToHost::Cancel { id } => {
                writer.u8(5);
                writer.u32(*id);
            }
            ToHost::Output { stream, bytes } => {
                writer.u8(6);
                writer.u8(*stream);
                writer.bytes(bytes);
            }
            ToHost::Wake { after_ms } => {
                writer.u8(7);
                writer.u8(u8::from(after_ms.is_some()));
                writer.f64(after_ms.unwrap_or_default());
            }
            ToHost::Done(done) => {
                writer.u8(8);
                writer.u8(done.ending as u8);
                writer.u8(u8::from(done.exit_code.is_some()));
                writer.u32(done.exit_code.unwrap_or_default().cast_unsigned());
                writer.text(&done.text);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.u8()? {
            1 => ToHost::Ready { version: reader.u32()? },
            2 => ToHost::Loaded,
            3 => ToHost::NotLoaded {
                name: reader.text()?,
                message: reader.text()?,
                code: reader.optional_text()?,
                path: reader.optional_text()?,
            },
            4 => ToHost::Call(Call::read(reader)?),
            5 => ToHost::Cancel { id: reader.u32()? },
            6 => {
                let stream = reader.u8()?;
                if !matches!(stream, 1 | 2) {
                    return Err(Malformed("output to no stream"));
                }
                ToHost::Output { stream, bytes: reader.bytes()?.to_vec() }
            }
            7 => {
                let is_some = reader.bool()?;
                let after_ms = reader.f64()?;
                if is_some && !(after_ms.is_finite() && after_ms >= 0.0) {
                    return Err(Malformed("a time that does not come"));
                }
                ToHost::Wake { after_ms: is_some.then_some(after_ms) }
            }
            8 => {
                let ending = match reader.u8()? {
                    0 => Ending::Completed,
                    1 => Ending::Failed,
                    2 => Ending::OutOfMemory,
                    3 => Ending::Exited,
                    4 => Ending::TooLong,
                    _ => return Err(Malformed("an end of no kind")),
                };
                let is_some = reader.bool()?;
                let exit_code = reader.u32()?.cast_signed();
                ToHost::Done(Done { ending, exit_code: is_some.then_some(exit_code), text: reader.text()? })
            }
            _ => return Err(Malformed("it is of no kind")),
        })
    }
}

impl Call {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.id);
        writer.u8(self.kind as u8);
        writer.u8(u8::from(self.is_sync));
        writer.text(&self.name);
        writer.count(self.args.len());
        self.args.iter().for_each(|arg| arg.write(writer));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let id = reader.u32()?;
        let kind = match reader.u8()? {
            0 => CallKind::File,
            1 => CallKind::Host,
            2 => CallKind::Fetch,
            3 => CallKind::Import,
            _ => return Err(Malformed("a call of no kind")),
        };
        let is_sync = reader.bool()?;
        let name = reader.text()?;
        let count = reader.count(1)?;
        let mut args = Vec::new();
        for _ in 0..count {
            args.push(Value::read(reader)?);
        }
        Ok(Call { id, kind, is_sync, name, args })
    }
}

impl Start {
    fn write(&self, writer: &mut Writer<'_>) {
        self.seed.iter().for_each(|byte| writer.u8(*byte));
        writer.f64(self.epoch_ms);
        writer.u8(u8::from(self.is_clock_frozen));
        writer.text(&self.entry_path);
        writer.text(&self.entry_source);
        writer.text(&self.cwd);
        writer.text(&self.input);
        writer.count(self.env.len());
        for (name, value) in &self.env {
            writer.text(name);
            writer.text(value);
        }
        writer.bytes(&self.stdin);
        writer.count(self.host_modules.len());
        for module in &self.host_modules {
            writer.text(&module.specifier);
            writer.count(module.exports.len());
            module.exports.iter().for_each(|name| writer.text(name));
        }
        writer.count(self.source_modules.len());
        for module in &self.source_modules {
            writer.text(&module.specifier);
            writer.text(&module.source);
        }
        writer.u32(self.cpu_ms_max);
        writer.u64(self.memory_bytes_max);
        writer.u64(self.result_bytes_max);
        writer.u64(self.call_bytes_max);
        writer.u32(self.concurrent_calls_max);
        writer.u8(u8::from(self.has_network));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut start = Start {
            seed: reader.raw()?,
            epoch_ms: reader.f64()?,
            is_clock_frozen: reader.bool()?,
            entry_path: reader.text()?,
            entry_source: reader.text()?,
            cwd: reader.text()?,
            input: reader.text()?,
            ..Start::default()
        };
        for _ in 0..reader.count(8)? {
            start.env.push((reader.text()?, reader.text()?));
        }
        start.stdin = reader.bytes()?.to_vec();
        for _ in 0..reader.count(8)? {
            let specifier = reader.text()?;
            let mut exports = Vec::new();
            for _ in 0..reader.count(4)? {
                exports.push(reader.text()?);
            }
            start.host_modules.push(HostModule { specifier, exports });
        }
        for _ in 0..reader.count(8)? {
            start.source_modules.push(SourceModule { specifier: reader.text()?, source: reader.text()? });
        }
        start.cpu_ms_max = reader.u32()?;
        start.memory_bytes_max = reader.u64()?;
        start.result_bytes_max = reader.u64()?;
        start.call_bytes_max = reader.u64()?;
        start.concurrent_calls_max = reader.u32()?;
        start.has_network = reader.bool()?;
        Ok(start)
    }
}
