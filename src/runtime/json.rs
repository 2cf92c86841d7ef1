//! Whether a text is JSON, however deep: a result comes from a process that may lie, and goes to
//! `JSON.parse` as it is.

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    /// A value, or the end of a list that has none yet.
    ValueOrEnd,
    Key,
    /// A name, or the end of an object that has none yet.
    KeyOrEnd,
    /// A comma or the end of what is open.
    After,
}

/// Whether it is one JSON value and nothing else. Takes one byte for each level of depth.
pub fn is_json(text: &str) -> bool {
    let mut rest = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    let mut next = Next::Value;
    loop {
        rest = trimmed(rest);
        let Some((&first, tail)) = rest.split_first() else {
            return next == Next::After && open.is_empty();
        };
        let after = match (next, first) {
            (Next::Value | Next::ValueOrEnd, b'[') => {
                open.push(b']');
                next = Next::ValueOrEnd;
                rest = tail;
                continue;
            }
            (Next::Value | Next::ValueOrEnd, b'{') => {
                open.push(b'}');
                next = Next::KeyOrEnd;
                rest = tail;
                continue;
            }
            (Next::ValueOrEnd, b']') | (Next::KeyOrEnd, b'}') => {
                open.pop();
                Some(tail)
            }
            (Next::Value | Next::ValueOrEnd, _) => scalar(rest),
            (Next::Key | Next::KeyOrEnd, b'"') => {
                let Some((b':', tail)) = string(rest).map(trimmed).and_then(|rest| {
                    let (first, tail) = rest.split_first()?;
                    Some((*first, tail))
                }) else {
                    return false;
                };
                next = Next::Value;
                rest = tail;
                continue;
            }
            (Next::After, b',') => {
                next = match open.last() {
                    Some(b']') => Next::Value,
                    Some(_) => Next::Key,
                    None => return false,
                };
                rest = tail;
                continue;
            }
            (Next::After, _) if open.last() == Some(&first) => {
                open.pop();
                Some(tail)
            }
            _ => None,
        };
        let Some(after) = after else { return false };
        rest = after;
        next = Next::After;
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    &bytes[blanks..]
}

/// What follows a string, a number or a word.
fn scalar(bytes: &[u8]) -> Option<&[u8]> {
    match bytes.first()? {
        b'"' => string(bytes),
        b't' => bytes.strip_prefix(b"true"),
        b'f' => bytes.strip_prefix(b"false"),
        b'n' => bytes.strip_prefix(b"null"),
        _ => number(bytes),
    }
}

fn string(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.strip_prefix(b"\"")?;
    loop {
        let plain = rest.iter().take_while(|byte| **byte >= 0x20 && !matches!(byte, b'"' | b'\\')).count();
        rest = &rest[plain..];
        match rest {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', after @ ..] => rest = after,
            [b'\\', b'u', a, b, c, d, after @ ..] if [a, b, c, d].iter().all(|it| it.is_ascii_hexdigit()) => {
                rest = after;
            }
            _ => return None,
        }
    }
}

fn number(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let mut rest = match rest {
        [b'0', rest @ ..] => rest,
        _ => digits(rest)?,
    };
    if let [b'.', fraction @ ..] = rest {
        rest = digits(fraction)?;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            _ => exponent,
        };
        rest = digits(exponent)?;
    }
    Some(rest)
}

fn digits(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| &bytes[count..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_parser(text in r#"[\[\]{}",:0-9.eE+\-truefalsn\\ ]{0,12}"#) {
            let parsed = serde_json::from_str::<serde_json::Value>(&text);
            // A number beyond those of the parser is one all the same.
            let is_right = parsed.map_or_else(|error| error.to_string().contains("out of range"), |_| true);
            prop_assert_eq!(is_json(&text), is_right);
        }
    }

    #[test]
    fn json_is_told_from_other_texts() {
        for text in
            ["1", " [1, {\"a\\u00e9\": [], \"b\": {}}, -0.5e+3, \"\", null, true, false] ", "\"é\"", "{}"]
        {
            assert!(is_json(text), "{text}");
        }
        for text in [
            "",
            "[",
            "]",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{1:2}",
            "{,}",
            "01",
            "1.",
            ".5",
            "1e",
            "+1",
            "nul",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\n\"",
            "\"",
            "1 2",
            "[1}",
            "{\"a\":1]",
            "[1 2]",
            "NaN",
            "{\"a\":1,}",
        ] {
            assert!(!is_json(text), "{text}");
        }
    }

    #[test]
    fn depth_has_no_limit() {
        let deep = "[".repeat(500_000) + &"]".repeat(500_000);
        assert!(is_json(&deep));
        assert!(!is_json(&deep[1..]));
    }
}
