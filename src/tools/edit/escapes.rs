//! Texts that a model wrote with escapes where the file has characters, or the other way round.
//!
//! Such a text is never taken for the other: which of the two is meant is in doubt exactly where it
//! matters (a `\n` in a string literal). It is only named in the refusal.

use std::ops::Range;

use memchr::memmem;

/// Escapes of the common string literals, longest first where one begins another.
const BACKSLASHES: [(&str, &str); 6] =
    [("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\\"", "\""), ("\\'", "'"), ("\\\\", "\\")];

/// The character entities that models confuse.
const ENTITIES: [(&str, &str); 7] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", "\u{A0}"),
];

/// A place where a text is, had it been written with or without escapes.
pub(super) struct Respelled {
    /// Bytes of the file.
    pub range: Range<usize>,
    /// What is written differently.
    pub difference: String,
}

/// Looks for the other spellings of a text.
pub(super) fn find(text: &str, old_text: &str) -> Option<Respelled> {
    let at = |spelling: &str| {
        let start = memmem::find(text.as_bytes(), spelling.as_bytes())?;
        Some(start..start + spelling.len())
    };
    // A file with `\r\n` is searched for both.
    let find = |spelling: &str| at(spelling).or_else(|| at(&spelling.replace('\n', "\r\n")));

    for decode in [decode_backslashes, decode_entities] {
        if let Some((decoded, escape, character)) = decode(old_text)
            && let Some(range) = find(&decoded)
        {
            let difference = format!(
                "oldText has the escape `{escape}` where the file has {}; write the characters themselves",
                character_name(&character)
            );
            return Some(Respelled { range, difference });
        }
    }
    for (escape, character) in [("\\\"", "\""), ("\\'", "'"), ("\\n", "\n"), ("\\\\", "\\"), ("\\t", "\t")] {
        if !old_text.contains(character) {
            continue;
        }
        if let Some(range) = find(&old_text.replace(character, escape)) {
            return Some(Respelled { range, difference: escaped_in_file(escape, character) });
        }
    }
    let entities = ENTITIES[..4].iter().fold(old_text.replace('&', "&amp;"), |text, (escape, character)| {
        if *escape == "&amp;" { text } else { text.replace(character, escape) }
    });
    let without_quotes = entities.replace("&quot;", "\"");
    [entities, without_quotes].iter().filter(|spelling| *spelling != old_text).find_map(|spelling| {
        let (escape, character) = ENTITIES.iter().find(|(_, character)| old_text.contains(character))?;
        Some(Respelled { range: at(spelling)?, difference: escaped_in_file(escape, character) })
    })
}

/// Names the escape if one of two texts begins with it and the other with what it stands for.
pub(super) fn first_in(file: &str, old: &str) -> Option<String> {
    BACKSLASHES
        .iter()
        .chain(&ENTITIES)
        .find_map(|(escape, character)| {
            // The end of a line is where the text goes on with a line break.
            let is_at = |text: &str| text.starts_with(character) || (*character == "\n" && text.is_empty());
            if old.starts_with(escape) && is_at(file) {
                Some(format!(
                    "oldText has the escape `{escape}` where the file has {}",
                    character_name(character)
                ))
            } else if file.starts_with(escape) && is_at(old) {
                Some(escaped_in_file(escape, character))
            } else {
                None
            }
        })
        .or_else(|| {
            let code = |text: &str| {
                let digits = text.strip_prefix("\\u")?.get(..4)?;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)
            };
            if code(old).is_some_and(|c| file.starts_with(c)) {
                Some(format!("oldText has the escape `{}` where the file has the character", &old[..6]))
            } else if code(file).is_some_and(|c| old.starts_with(c)) {
                Some(format!("the file has the escape `{}` where oldText has the character", &file[..6]))
            } else {
                None
            }
        })
}

fn escaped_in_file(escape: &str, character: &str) -> String {
    format!("the file has the escape `{escape}` where oldText has {}", character_name(character))
}

fn character_name(character: &str) -> String {
    match character {
        "\n" => "a line break".to_owned(),
        "\t" => "a tab".to_owned(),
        "\r" => "a carriage return".to_owned(),
        "\u{A0}" => "U+00A0 NO-BREAK SPACE".to_owned(),
        other => format!("`{other}`"),
    }
}

/// The text with its escapes decoded, and the first of them; `None` if it has none.
type Decoded = Option<(String, String, String)>;

fn decode_backslashes(text: &str) -> Decoded {
    decode(text, '\\', |rest| {
        let unicode = || {
            let digits = rest.strip_prefix("\\u")?.get(..4)?;
            let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((6, character.to_string()))
        };
        listed(&BACKSLASHES, rest).or_else(unicode)
    })
}

fn decode_entities(text: &str) -> Decoded {
    decode(text, '&', |rest| listed(&ENTITIES, rest))
}

fn listed(table: &[(&str, &str)], rest: &str) -> Option<(usize, String)> {
    let (escape, character) = table.iter().find(|(escape, _)| rest.starts_with(escape))?;
    Some((escape.len(), (*character).to_owned()))
}

fn decode(text: &str, introducer: char, escape_at: impl Fn(&str) -> Option<(usize, String)>) -> Decoded {
    let mut decoded = String::with_capacity(text.len());
    let mut first = None;
    let mut rest = text;
    while let Some(at) = rest.find(introducer) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match escape_at(rest) {
            Some((length, character)) => {
                decoded.push_str(&character);
                first.get_or_insert_with(|| (rest[..length].to_owned(), character));
                length
            }
            None => {
                decoded.push(introducer);
                introducer.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    decoded.push_str(rest);
    first.map(|(escape, character)| (decoded, escape, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_are_found_and_named() {
        for (text, old, want) in [
            ("a\nb\n", "a\\nb", "oldText has the escape `\\n` where the file has a line break"),
            ("a\r\nb\r\n", "a\\nb", "oldText has the escape `\\n` where the file has a line break"),
            ("say(\"x\")", "say(\\\"x\\\")", "oldText has the escape `\\\"` where the file has `\"`"),
            ("café", "caf\\u00e9", "oldText has the escape `\\u00e9` where the file has `é`"),
            ("if a < b", "if a &lt; b", "oldText has the escape `&lt;` where the file has `<`"),
            ("say(\\\"x\\\")", "say(\"x\")", "the file has the escape `\\\"` where oldText has `\"`"),
            ("p(\"a\\nb\")", "a\nb", "the file has the escape `\\n` where oldText has a line break"),
            ("a &lt; b &amp;&amp; c", "a < b && c", "the file has the escape `&lt;` where oldText has `<`"),
        ] {
            let found = find(text, old).map(|found| found.difference).unwrap_or_default();
            assert!(found.starts_with(want), "{text:?} {old:?}: {found}");
        }
        assert!(find("abc", "x\\n&lt;\"").is_none());
    }
}
