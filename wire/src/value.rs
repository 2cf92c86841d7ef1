//! Plain values: the arguments and answers of calls.

use crate::codec::{Malformed, Reader, Writer};

/// How deep lists may be in lists.
pub const DEPTH_MAX: usize = 16;

/// One argument or answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A double.
    Number(f64),
    /// A text; lone surrogates have become U+FFFD.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several.
    List(Vec<Value>),
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into())
    }

    /// A text, or nothing.
    pub fn optional_text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Value::Null, Value::text)
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        if let Value::Number(number) = self { Some(*number) } else { None }
    }

    /// The bytes, if it is some.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// Bytes that it takes in a frame, about.
    pub fn size_bytes(&self) -> usize {
        match self {
            Value::Null => 1,
            Value::Bool(_) => 2,
            Value::Number(_) => 9,
            Value::Text(text) => 5 + text.len(),
            Value::Bytes(bytes) => 5 + bytes.len(),
            Value::List(items) => 5 + items.iter().map(Value::size_bytes).sum::<usize>(),
        }
    }

    /// Appends it.
    pub fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Value::Null => writer.u8(0),
            Value::Bool(value) => {
                writer.u8(1);
                writer.u8(u8::from(*value));
            }
            Value::Number(value) => {
                writer.u8(2);
                writer.f64(*value);
            }
            Value::Text(value) => {
                writer.u8(3);
                writer.text(value);
            }
            Value::Bytes(value) => {
                writer.u8(4);
                writer.bytes(value);
            }
            Value::List(items) => {
                writer.u8(5);
                writer.count(items.len());
                items.iter().for_each(|item| item.write(writer));
            }
        }
    }

    /// Takes one off the front.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::read_within(reader, DEPTH_MAX)
    }

    fn read_within(reader: &mut Reader<'_>, depth_left: usize) -> Result<Self, Malformed> {
        Ok(match reader.u8()? {
            0 => Value::Null,
            1 => Value::Bool(reader.bool()?),
            2 => Value::Number(reader.f64()?),
            3 => Value::Text(reader.text()?),
            4 => Value::Bytes(reader.bytes()?.to_vec()),
            5 => {
                let depth_left = depth_left.checked_sub(1).ok_or(Malformed("lists are too deep"))?;
                let count = reader.count(1)?;
                // Grows as items arrive: a value takes more memory than the byte that announces it.
                let mut items = Vec::new();
                for _ in 0..count {
                    items.push(Self::read_within(reader, depth_left)?);
                }
                Value::List(items)
            }
            _ => return Err(Malformed("a value of no kind")),
        })
    }
}
