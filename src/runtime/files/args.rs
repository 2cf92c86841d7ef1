//! Arguments of a call, one after the other. They come from an isolate, which may lie.

use carrel_wire::Value;

use super::failure::Failure;

/// See the module.
pub struct Args(std::vec::IntoIter<Value>);

impl Args {
    /// All of a call.
    pub fn new(args: Vec<Value>) -> Self {
        Args(args.into_iter())
    }

    /// A path: text, or bytes that are UTF-8.
    pub fn path(&mut self) -> Result<String, Failure> {
        match self.0.next() {
            Some(Value::Text(text)) => Ok(text),
            Some(Value::Bytes(bytes)) => String::from_utf8(bytes).map_err(|_| Failure {
                sentence: Some("names in a workspace are UTF-8, these bytes are not".to_owned()),
                ..Failure::arguments()
            }),
            _ => Err(Failure::arguments()),
        }
    }

    /// Bytes, or a text as UTF-8.
    pub fn bytes(&mut self) -> Result<Vec<u8>, Failure> {
        match self.0.next() {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            Some(Value::Text(text)) => Ok(text.into_bytes()),
            _ => Err(Failure::arguments()),
        }
    }

    /// A finite number.
    pub fn number(&mut self) -> Result<f64, Failure> {
        match self.0.next() {
            Some(Value::Number(number)) if number.is_finite() => Ok(number),
            _ => Err(Failure::arguments()),
        }
    }

    /// A 32-bit integer: a descriptor, flags, a mode, an id. Negative ones wrap, as in C.
    pub fn word(&mut self) -> Result<u32, Failure> {
        let number = self.number()?;
        if number.fract() != 0.0 || number < f64::from(i32::MIN) || number > f64::from(u32::MAX) {
            return Err(Failure::arguments());
        }
        Ok(number as i64 as u32)
    }

    /// A length or a place in a file.
    pub fn count(&mut self) -> Result<u64, Failure> {
        let number = self.number()?;
        // 2^63: what fits a file offset of Linux.
        if !(0.0..9_223_372_036_854_775_808.0).contains(&number) {
            return Err(Failure::arguments());
        }
        Ok(number as u64)
    }

    /// A place in a file; none is wherever the descriptor stands.
    pub fn position(&mut self) -> Result<Option<u64>, Failure> {
        match self.0.as_slice().first() {
            None | Some(Value::Null) => {
                self.0.next();
                Ok(None)
            }
            Some(Value::Number(number)) if *number < 0.0 => {
                self.0.next();
                Ok(None)
            }
            Some(_) => self.count().map(Some),
        }
    }

    /// Yes or no; left out is no.
    pub fn flag(&mut self) -> Result<bool, Failure> {
        match self.0.next() {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            _ => Err(Failure::arguments()),
        }
    }
}
