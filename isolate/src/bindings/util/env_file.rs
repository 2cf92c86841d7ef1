//! `.env` files, read as Node reads them.

use std::collections::BTreeMap;

/// The variables of a file, by name.
pub fn parse(text: &str) -> BTreeMap<String, String> {
    let text = text.replace('\r', "");
    let mut rest = trim(&text);
    let mut variables = BTreeMap::new();
    while !rest.is_empty() {
        if rest.starts_with(['\n', '#']) {
            rest = after_line(rest);
            continue;
        }
        let Some(end) = rest.find(['=', '\n']) else { break };
        if rest[end..].starts_with('\n') {
            rest = trim(after_line(rest));
            continue;
        }
        let name = trim(&rest[..end]);
        rest = &rest[end + 1..];
        if rest.is_empty() || rest.starts_with('\n') {
            variables.insert(name.to_owned(), String::new());
            continue;
        }
        if name.is_empty() {
            rest = trim(rest);
            continue;
        }
        let name = name.strip_prefix("export ").map_or(name, trim);
        rest = trim(rest);
        let (value, after) = value_of(rest);
        variables.insert(name.to_owned(), value);
        rest = after;
    }
    variables
}

/// The value at the beginning of `rest`, and what follows its line.
fn value_of(rest: &str) -> (String, &str) {
    if let Some(quote) = rest.chars().next().filter(|first| matches!(first, '"' | '\'' | '`')) {
        if let Some(len) = rest[1..].find(quote) {
            let value = &rest[1..=len];
            let value = if quote == '"' { value.replace("\\n", "\n") } else { value.to_owned() };
            return (value, after_line(&rest[len + 2..]));
        }
        // Without its end, a quotation mark is a character like others.
        let line = rest.split('\n').next().unwrap_or_default();
        return (line.to_owned(), trim(after_line(rest)));
    }
    let line = rest.split('\n').next().unwrap_or_default();
    let value = line.split('#').next().unwrap_or_default();
    (trim(value).to_owned(), trim(after_line(rest)))
}

fn after_line(rest: &str) -> &str {
    rest.split_once('\n').map_or("", |(_, after)| after)
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n'])
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn files_are_read_as_node_reads_them() {
        // (text, variables that Node 24 gives)
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("A=1\nB = 2 # c\n", &[("A", "1"), ("B", "2")]),
            ("A=\"x\\ny\"\nB='x\\ny'", &[("A", "x\ny"), ("B", "x\\ny")]),
            ("A=`a\nb`\n#A=2\nexport  B=3", &[("A", "a\nb"), ("B", "3")]),
            ("noise\nA=\nB", &[("A", "")]),
            ("=1\nA=2", &[("A", "2")]),
            ("A=\"open\nB=1", &[("A", "\"open"), ("B", "1")]),
            ("A=  \nB=#c", &[("A", "B=")]),
        ];
        for (text, expected) in cases {
            let variables = parse(text);
            let variables: Vec<_> =
                variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(&variables, expected, "{text:?}");
        }
    }
}
