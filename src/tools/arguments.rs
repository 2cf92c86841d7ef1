//! Arguments as models pass them.
//!
//! What is meant is accepted where it is clear: `null` for nothing, a number or `true` as text, one
//! string where a list is wanted, JSON within JSON, the field names that other tools have. All else is
//! refused with a sentence that names the field, what came, and what is wanted. Right arguments pass
//! unchanged, so arguments may be checked twice.

use serde_json::{Map, Value, json};

use super::definitions::{CONTEXT_MAX, PAGE_MAX, Tool};
use super::options::Options;

/// Arguments that are right, by the names of the schema. Nothing absent is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments(Map<String, Value>);

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The field, such as `edits[1].oldText`; empty for all of it.
    pub field: String,
    /// A sentence.
    pub message: String,
}

/// The largest integer that JSON numbers hold exactly everywhere.
const INTEGER_MAX: u64 = (1 << 53) - 1;

/// What a field holds.
enum Wanted {
    Text,
    /// The number of a line. 0 can only mean the first.
    Line,
    /// An integer. Less is wrong, more is taken as the most.
    Integer {
        least: u64,
        most: u64,
    },
    Flag,
    Texts,
    Choice(&'static [&'static str]),
    /// One of these, as it is written.
    Name(Vec<String>),
    /// An object of texts.
    TextMap,
    /// An object of anything.
    Object,
    Edits,
}

struct Field {
    name: &'static str,
    is_required: bool,
    wanted: Wanted,
    /// Names that other tools, which models know, have for it.
    aliases: &'static [&'static str],
}

const PATHS: &[&str] = &["file_path", "filePath", "file", "filename"];
const DIRECTORIES: &[&str] = &["directory", "dir", "cwd"];
const OLD: &[&str] = &["old_text", "oldString", "old_string", "old_str"];
const NEW: &[&str] = &["new_text", "newString", "new_string", "new_str"];
const ALL: &[&str] = &["replace_all"];

fn fields(tool: Tool, options: &Options) -> Vec<Field> {
    let field = |name, is_required, wanted, aliases| Field { name, is_required, wanted, aliases };
    let page = || {
        [
            field(
                "limit",
                false,
                Wanted::Integer { least: 1, most: PAGE_MAX },
                &["max_results", "head_limit"],
            ),
            field("offset", false, Wanted::Integer { least: 0, most: INTEGER_MAX }, &[]),
        ]
    };
    let from = |least| Wanted::Integer { least, most: INTEGER_MAX };
    let mut fields = match tool {
        Tool::Read => vec![
            field("path", true, Wanted::Text, PATHS),
            field("offset", false, Wanted::Line, &["start_line", "startLine"]),
            field("byteOffset", false, from(0), &["byte_offset"]),
            field("limit", false, from(1), &["lines"]),
            field("version", false, Wanted::Text, &[]),
        ],
        // The schema asks for it, but where it is missing there is only one that can be meant.
        Tool::Ls => vec![field("path", false, Wanted::Text, DIRECTORIES)],
        Tool::Find => vec![
            field("path", false, Wanted::Text, DIRECTORIES),
            field("pattern", true, Wanted::Text, &["glob", "query"]),
            field("exclude", false, Wanted::Texts, &["ignore"]),
        ],
        Tool::Grep => vec![
            field("path", false, Wanted::Text, DIRECTORIES),
            field("query", true, Wanted::Text, &["pattern"]),
            field("include", false, Wanted::Texts, &["glob"]),
            field("exclude", false, Wanted::Texts, &["ignore"]),
            field("regex", false, Wanted::Flag, &["isRegex", "is_regex"]),
            field("ignoreCase", false, Wanted::Flag, &["ignore_case", "caseInsensitive", "case_insensitive"]),
            field("context", false, Wanted::Integer { least: 0, most: CONTEXT_MAX }, &[]),
            field(
                "outputMode",
                false,
                Wanted::Choice(&["content", "files", "count"]),
                &["output_mode", "mode"],
            ),
        ],
        Tool::Write => vec![
            field("path", true, Wanted::Text, PATHS),
            field("content", true, Wanted::Text, &["contents", "text", "file_text"]),
            field("ifUnchanged", false, Wanted::Text, &["if_unchanged", "version"]),
        ],
        Tool::Edit => vec![
            field("path", true, Wanted::Text, PATHS),
            field("edits", true, Wanted::Edits, &["edit", "replacements"]),
        ],
        Tool::Delete => {
            vec![field("path", true, Wanted::Text, PATHS), field("recursive", false, Wanted::Flag, &[])]
        }
        Tool::Exec => {
            let backends = &options.exec.backends;
            let mut fields = vec![
                field("command", true, Wanted::Text, &["source", "code", "script"]),
                field("cwd", false, Wanted::Text, &["workdir", "directory", "dir"]),
                field("env", false, Wanted::TextMap, &["environment"]),
                field("timeoutMs", false, from(1), &["timeout_ms"]),
                field("language", false, Wanted::Choice(&["javascript", "typescript"]), &[]),
                field(
                    "backend",
                    backends.len() > 1,
                    Wanted::Name(backends.iter().map(|backend| backend.id.clone()).collect()),
                    &[],
                ),
            ];
            if backends.iter().any(|backend| backend.is_callable) {
                fields.push(field("input", false, Wanted::Object, &[]));
            }
            fields
        }
    };
    if matches!(tool, Tool::Ls | Tool::Find | Tool::Grep) {
        fields.extend(page());
    }
    fields
}

impl Arguments {
    /// Checks what came and makes it right.
    pub fn check(tool: Tool, came: &Value, options: &Options) -> Result<Arguments, Vec<Issue>> {
        let parsed;
        let object = match came {
            Value::Object(object) => object,
            Value::Null => &Map::new(),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(object)) => {
                    parsed = object;
                    &parsed
                }
                _ => return Err(vec![wrong("", came, "an object with the fields of the tool")]),
            },
            _ => return Err(vec![wrong("", came, "an object with the fields of the tool")]),
        };
        let fields = fields(tool, options);
        let mut issues = Vec::new();
        let mut right = Map::new();
        let edits = (tool == Tool::Edit).then(|| single_edit(object)).flatten();
        for field in &fields {
            let came = match value_of(object, field) {
                Some(_) if field.name == "edits" && edits.is_some() => {
                    issues.push(Issue {
                        field: field.name.to_owned(),
                        message:
                            "`edits` and an oldText or newText beside it are there; put all into `edits`"
                                .to_owned(),
                    });
                    continue;
                }
                Some(value) => Some(value),
                None if field.name == "edits" => edits.as_ref(),
                None => None,
            };
            issues.extend(contradiction(object, field));
            match came {
                Some(value) => match field.read(value) {
                    Ok(value) => {
                        right.insert(field.name.to_owned(), value);
                    }
                    Err(found) => issues.extend(found),
                },
                None if field.is_required => issues.push(Issue {
                    field: field.name.to_owned(),
                    message: format!("`{}` is missing; it has to be {}", field.name, field.wanted.in_words()),
                }),
                None => {}
            }
        }
        for (name, value) in object {
            let is_known = fields.iter().any(|field| field.is_called(name));
            let is_edit =
                tool == Tool::Edit && [OLD, NEW, ALL, EDIT_FIELDS].concat().contains(&name.as_str());
            if !is_known && !is_edit && !value.is_null() {
                issues.push(unknown(name, fields.iter().map(|field| field.name)));
            }
        }
        if tool == Tool::Read && issues.is_empty() {
            issues.extend(lone_byte_offset(&right));
            if right.get("offset").and_then(Value::as_u64) == Some(0) {
                right.insert("offset".to_owned(), Value::from(1));
            }
        }
        if tool == Tool::Exec && issues.is_empty() {
            issues.extend(uncallable(&right, options));
        }
        if issues.is_empty() { Ok(Arguments(right)) } else { Err(issues) }
    }

    /// The arguments as JSON.
    pub fn to_json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// A text, empty if it is not there.
    pub fn text(&self, name: &str) -> &str {
        self.optional_text(name).unwrap_or_default()
    }

    /// A text.
    pub fn optional_text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// What came, of whatever type.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// An integer.
    pub fn integer(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// A flag, off if it is not there.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let items = self.0.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The replacements of `edit`: old text, new text, and whether all places are meant.
    pub fn edits(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let items = self.0.get("edits").and_then(Value::as_array);
        items.into_iter().flatten().map(|edit| {
            let text = |name| edit.get(name).and_then(Value::as_str).unwrap_or_default();
            (
                text("oldText"),
                text("newText"),
                edit.get("replaceAll").and_then(Value::as_bool).unwrap_or(false),
            )
        })
    }
}

const EDIT_FIELDS: &[&str] = &["oldText", "newText", "replaceAll"];

/// An edit whose fields stand beside `path`.
fn single_edit(object: &Map<String, Value>) -> Option<Value> {
    let is_of_edit = |name: &str| [OLD, NEW, ALL, EDIT_FIELDS].iter().any(|names| names.contains(&name));
    let edit: Map<String, Value> = object
        .iter()
        .filter(|(name, value)| is_of_edit(name) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!edit.is_empty()).then_some(Value::Object(edit))
}

fn lone_byte_offset(right: &Map<String, Value>) -> Option<Issue> {
    let is_given = |name| right.get(name).and_then(Value::as_u64).is_some_and(|number| number > 0);
    (is_given("byteOffset") && !is_given("offset")).then(|| Issue {
        field: "byteOffset".to_owned(),
        message:
            "`byteOffset` needs `offset`: pass both as the page before gave them, as nextByteOffset and \
                  nextOffset"
                .to_owned(),
    })
}

/// An input for a backend that takes none.
fn uncallable(right: &Map<String, Value>, options: &Options) -> Option<Issue> {
    right.get("input")?;
    let id = right.get("backend").and_then(Value::as_str)?;
    let backend = options.exec.backends.iter().find(|backend| backend.id == id)?;
    (!backend.is_callable).then(|| Issue {
        field: "input".to_owned(),
        message: format!(
            "the backend \"{id}\" takes no `input`; put the data into `command`, or into a file"
        ),
    })
}

/// A field that came by two names, with two values.
fn contradiction(object: &Map<String, Value>, field: &Field) -> Option<Issue> {
    let first = value_of(object, field)?;
    let mut names = [field.name].into_iter().chain(field.aliases.iter().copied());
    let differs = |name: &&str| object.get(*name).is_some_and(|value| !value.is_null() && value != first);
    let other = names.rfind(differs)?;
    Some(Issue {
        field: field.name.to_owned(),
        message: format!(
            "`{other}` and `{}` are the same field and came with different values; pass one",
            field.name
        ),
    })
}

/// The value of a field by its own name, else by another; `null` is none.
fn value_of<'v>(object: &'v Map<String, Value>, field: &Field) -> Option<&'v Value> {
    let names = [field.name].into_iter().chain(field.aliases.iter().copied());
    names.filter_map(|name| object.get(name)).find(|value| !value.is_null())
}

impl Field {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    fn read(&self, came: &Value) -> Result<Value, Vec<Issue>> {
        let name = self.name;
        let refused = || vec![wrong(name, came, &self.wanted.in_words())];
        match &self.wanted {
            Wanted::Text => text(came).ok_or_else(refused),
            Wanted::Integer { least, most } => match integer(came) {
                Some(number) if number >= *least => Ok(Value::from(number.min(*most))),
                _ => Err(refused()),
            },
            Wanted::Line => integer(came).map(Value::from).ok_or_else(refused),
            Wanted::Flag => flag(came).ok_or_else(refused),
            Wanted::Texts => texts(came).ok_or_else(refused),
            Wanted::Choice(choices) => match came.as_str().map(str::to_lowercase) {
                Some(choice) if choices.contains(&choice.as_str()) => Ok(Value::from(choice)),
                _ => Err(refused()),
            },
            Wanted::Name(names) => match came.as_str() {
                Some(name) if names.iter().any(|known| known == name) => Ok(came.clone()),
                _ => Err(refused()),
            },
            Wanted::TextMap => match object(came) {
                Some(Value::Object(map)) if map.values().all(Value::is_string) => Ok(Value::Object(map)),
                _ => Err(refused()),
            },
            Wanted::Object => object(came).ok_or_else(refused),
            Wanted::Edits => edits(came),
        }
    }
}

impl Wanted {
    fn in_words(&self) -> String {
        match self {
            Wanted::Text => "a string".to_owned(),
            Wanted::Line => "an integer from 1".to_owned(),
            Wanted::Integer { least, .. } => format!("an integer from {least}"),
            Wanted::Flag => "true or false".to_owned(),
            Wanted::Texts => "a list of strings".to_owned(),
            Wanted::Choice(choices) => one_of(choices.iter().copied()),
            Wanted::Name(names) => one_of(names.iter().map(String::as_str)),
            Wanted::TextMap => "an object whose values are strings".to_owned(),
            Wanted::Object => "an object".to_owned(),
            Wanted::Edits => "a list of { oldText, newText }".to_owned(),
        }
    }
}

fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("one of {}", names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", "))
}

/// An object, or one as JSON text.
fn object(came: &Value) -> Option<Value> {
    parsed(came).filter(Value::is_object)
}

fn text(came: &Value) -> Option<Value> {
    came.is_string().then(|| came.clone())
}

fn integer(came: &Value) -> Option<u64> {
    let number = match came {
        Value::Number(number) => number.as_u64().or_else(|| {
            number
                .as_f64()
                .filter(|number| number.fract() == 0.0 && *number >= 0.0)
                .map(|number| number as u64)
        })?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (number <= INTEGER_MAX).then_some(number)
}

fn flag(came: &Value) -> Option<Value> {
    match came {
        Value::Bool(flag) => Some(Value::from(*flag)),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(Value::from(true)),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(Value::from(false)),
        _ => None,
    }
}

/// A list of strings. A blank one says nothing.
fn texts(came: &Value) -> Option<Value> {
    let items = match came {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => items,
            _ => vec![came.clone()],
        },
        Value::Array(items) => items.clone(),
        _ => return None,
    };
    if !items.iter().all(Value::is_string) {
        return None;
    }
    Some(items.into_iter().filter(|item| item.as_str().is_some_and(|text| !text.trim().is_empty())).collect())
}

/// The edits of a call: a list, one alone, or either as JSON text.
fn edits(came: &Value) -> Result<Value, Vec<Issue>> {
    let refused = |field: &str, came: &Value| wrong(field, came, &Wanted::Edits.in_words());
    let items = match parsed(came) {
        Some(Value::Array(items)) => items,
        Some(edit @ Value::Object(_)) => vec![edit],
        _ => return Err(vec![refused("edits", came)]),
    };
    if items.is_empty() {
        return Err(vec![Issue {
            field: "edits".to_owned(),
            message: "`edits` is empty; it has to hold at least one { oldText, newText }".to_owned(),
        }]);
    }
    let mut right = Vec::new();
    let mut issues = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let name = format!("edits[{index}]");
        match parsed(item) {
            Some(Value::Object(object)) => match edit(&name, &object) {
                Ok(edit) => right.push(edit),
                Err(found) => issues.extend(found),
            },
            _ => issues.push(wrong(&name, item, "{ oldText, newText }")),
        }
    }
    if issues.is_empty() { Ok(Value::Array(right)) } else { Err(issues) }
}

/// A value, or what a text of JSON holds. Line breaks and tabs within its strings, which JSON wants
/// written as `\n` and `\t`, are taken as they are.
fn parsed(came: &Value) -> Option<Value> {
    match came {
        Value::String(text) => {
            serde_json::from_str(text).or_else(|_| serde_json::from_str(&with_escaped_controls(text))).ok()
        }
        _ => Some(came.clone()),
    }
}

/// JSON whose strings have control characters in them, with these escaped.
fn with_escaped_controls(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len() + 16);
    let (mut is_in_string, mut is_after_backslash) = (false, false);
    for character in json.chars() {
        match character {
            '\n' if is_in_string => escaped.push_str("\\n"),
            '\r' if is_in_string => escaped.push_str("\\r"),
            '\t' if is_in_string => escaped.push_str("\\t"),
            _ => escaped.push(character),
        }
        is_in_string ^= character == '"' && !is_after_backslash;
        is_after_backslash = character == '\\' && !is_after_backslash;
    }
    escaped
}

fn edit(name: &str, object: &Map<String, Value>) -> Result<Value, Vec<Issue>> {
    let fields = [
        Field { name: "oldText", is_required: true, wanted: Wanted::Text, aliases: OLD },
        Field { name: "newText", is_required: true, wanted: Wanted::Text, aliases: NEW },
        Field { name: "replaceAll", is_required: false, wanted: Wanted::Flag, aliases: ALL },
    ];
    let mut right = Map::new();
    let mut issues = Vec::new();
    for field in &fields {
        match value_of(object, field).map(|value| (value, field.read(value))) {
            Some((_, Ok(value))) => {
                right.insert(field.name.to_owned(), value);
            }
            Some((value, Err(_))) => {
                issues.push(wrong(&format!("{name}.{}", field.name), value, &field.wanted.in_words()));
            }
            None if field.is_required => issues.push(Issue {
                field: format!("{name}.{}", field.name),
                message: format!("`{name}.{}` is missing; it has to be a string", field.name),
            }),
            None => {}
        }
    }
    for (field, value) in object {
        if !fields.iter().any(|known| known.is_called(field)) && !value.is_null() {
            let mut issue = unknown(field, fields.iter().map(|field| field.name));
            issue.field = format!("{name}.{field}");
            issues.push(issue);
        }
    }
    if issues.is_empty() { Ok(Value::Object(right)) } else { Err(issues) }
}

fn wrong(field: &str, came: &Value, wanted: &str) -> Issue {
    let subject = if field.is_empty() { "the arguments have".to_owned() } else { format!("`{field}` has") };
    Issue {
        field: field.to_owned(),
        message: format!("{subject} to be {wanted}; received {}", in_words(came)),
    }
}

fn unknown(field: &str, known: impl Iterator<Item = &'static str>) -> Issue {
    let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    Issue {
        field: field.to_owned(),
        message: format!("there is no field `{}`; the fields are {}", excerpt(field), known.join(", ")),
    }
}

/// What a value is, for a sentence.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", json!(excerpt(text))),
        Value::Array(_) => format!("the list {}", excerpt(&value.to_string())),
        Value::Object(_) => format!("the object {}", excerpt(&value.to_string())),
    }
}

/// The beginning of a text, if it is long.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Backend;
    use super::*;

    /// With two backends, of which one takes no input.
    fn options() -> Options {
        let backend = |id: &str, is_callable| Backend { id: id.to_owned(), is_callable, guidance: None };
        let mut options = Options::default();
        options.exec.backends = vec![backend("js", true), backend("sh", false)];
        options
    }

    #[track_caller]
    fn accepts(tool: Tool, came: Value, right: Value) {
        let options = options();
        let checked = Arguments::check(tool, &came, &options).map(|arguments| arguments.to_json());
        assert_eq!(checked.as_ref(), Ok(&right), "{came}");
        let again = Arguments::check(tool, &right, &options).map(|arguments| arguments.to_json());
        assert_eq!(again, Ok(right));
    }

    #[track_caller]
    fn refuses(tool: Tool, came: Value, field: &str, words: &str) {
        let issues = Arguments::check(tool, &came, &options()).expect_err("it is wrong");
        assert_eq!(issues[0].field, field);
        assert!(issues[0].message.contains(words), "{}", issues[0].message);
    }

    #[test]
    fn what_is_meant_is_accepted() {
        accepts(Tool::Read, json!({ "path": "/a", "offset": null }), json!({ "path": "/a" }));
        accepts(Tool::Read, json!({ "path": "/a", "offset": "12" }), json!({ "path": "/a", "offset": 12 }));
        accepts(Tool::Read, json!({ "path": "/a", "offset": 12.0 }), json!({ "path": "/a", "offset": 12 }));
        accepts(Tool::Read, json!({ "path": "/a", "offset": 0 }), json!({ "path": "/a", "offset": 1 }));
        accepts(Tool::Read, json!({ "file_path": "/a" }), json!({ "path": "/a" }));
        accepts(Tool::Read, json!("{\"path\":\"/a\"}"), json!({ "path": "/a" }));
        accepts(Tool::Ls, json!({ "path": "/a", "limit": 5000 }), json!({ "path": "/a", "limit": 1000 }));
        accepts(
            Tool::Grep,
            json!({ "query": "q", "include": "*.ts", "regex": "true", "outputMode": "Files", "extra": null }),
            json!({ "query": "q", "include": ["*.ts"], "regex": true, "outputMode": "files" }),
        );
        accepts(
            Tool::Find,
            json!({ "pattern": "", "exclude": ["a", " "] }),
            json!({ "pattern": "", "exclude": ["a"] }),
        );
        accepts(
            Tool::Find,
            json!({ "pattern": "*", "exclude": "[\"a\",\"b\"]" }),
            json!({ "pattern": "*", "exclude": ["a", "b"] }),
        );
    }

    #[test]
    fn edits_come_in_many_forms() {
        let one = json!({ "path": "/a", "edits": [{ "oldText": "x", "newText": "y" }] });
        let edit = json!({ "oldText": "x", "newText": "y" });
        for came in [
            json!({ "path": "/a", "edits": [edit] }),
            json!({ "path": "/a", "edits": edit }),
            json!({ "path": "/a", "edits": edit.to_string() }),
            json!({ "path": "/a", "edits": json!([edit]).to_string() }),
            json!({ "path": "/a", "edits": [edit.to_string()] }),
            json!({ "path": "/a", "edits": "[{\n\t\"oldText\": \"x\",\n\t\"newText\": \"y\"\n}]" }),
            json!({ "path": "/a", "oldText": "x", "newText": "y" }),
            json!({ "path": "/a", "old_string": "x", "new_string": "y", "edits": null }),
        ] {
            accepts(Tool::Edit, came, one.clone());
        }
        accepts(
            Tool::Edit,
            json!({ "path": "/a", "edits": "[{\"oldText\":\"a\nb\",\"newText\":\"\\\"\tc\"}]" }),
            json!({ "path": "/a", "edits": [{ "oldText": "a\nb", "newText": "\"\tc" }] }),
        );
        accepts(
            Tool::Edit,
            json!({ "path": "/a", "oldText": "x", "newText": "", "replaceAll": "true" }),
            json!({ "path": "/a", "edits": [{ "oldText": "x", "newText": "", "replaceAll": true }] }),
        );
    }

    #[test]
    fn arguments_of_a_run() {
        let right = json!({ "command": "1", "backend": "js" });
        accepts(Tool::Exec, json!({ "source": "1", "backend": "js", "cwd": null }), right);
        accepts(
            Tool::Exec,
            json!({ "command": "", "backend": "js", "input": "{\"a\":1}", "env": { "A": "b" }, "timeoutMs": "5" }),
            json!({ "command": "", "env": { "A": "b" }, "timeoutMs": 5, "backend": "js", "input": { "a": 1 } }),
        );
        let exec = |more: Value| {
            let mut came = json!({ "command": "1", "backend": "js" });
            let fields = more.as_object().expect("an object").clone();
            came.as_object_mut().expect("an object").extend(fields);
            came
        };
        refuses(Tool::Exec, json!({ "backend": "js" }), "command", "is missing");
        refuses(Tool::Exec, json!({ "command": "1" }), "backend", "one of \"js\", \"sh\"");
        refuses(Tool::Exec, exec(json!({ "backend": "JS" })), "backend", "one of \"js\", \"sh\"");
        refuses(Tool::Exec, exec(json!({ "input": [1] })), "input", "to be an object; received the list");
        refuses(Tool::Exec, exec(json!({ "input": "1" })), "input", "to be an object");
        refuses(Tool::Exec, exec(json!({ "backend": "sh", "input": {} })), "input", "takes no `input`");
        refuses(Tool::Exec, exec(json!({ "env": { "A": 1 } })), "env", "values are strings");
        refuses(Tool::Exec, exec(json!({ "timeoutMs": 0 })), "timeoutMs", "from 1");
        refuses(Tool::Exec, exec(json!({ "language": "python" })), "language", "\"typescript\"");
    }

    #[test]
    fn of_one_backend_the_name_may_be_missing() {
        let mut options = options();
        options.exec.backends.truncate(1);
        let check = |came: Value| Arguments::check(Tool::Exec, &came, &options);
        assert!(check(json!({ "command": "1" })).is_ok());
        assert!(check(json!({ "command": "1", "backend": "js" })).is_ok());
        assert_eq!(
            check(json!({ "command": "1", "backend": "sh" })).expect_err("no such")[0].field,
            "backend"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        refuses(Tool::Read, json!({}), "path", "`path` is missing");
        refuses(Tool::Read, json!({ "path": 7 }), "path", "to be a string; received the number 7");
        refuses(Tool::Read, json!([]), "", "an object");
        refuses(Tool::Read, json!({ "path": "/a", "offset": "first" }), "offset", "the string \"first\"");
        refuses(
            Tool::Read,
            json!({ "path": "/a", "offset": -1 }),
            "offset",
            "from 1; received the number -1",
        );
        refuses(Tool::Read, json!({ "path": "/a", "offset": 1.5 }), "offset", "1.5");
        refuses(Tool::Read, json!({ "path": "/a", "byteOffset": 5 }), "byteOffset", "needs `offset`");
        refuses(Tool::Ls, json!({ "path": "/a", "limit": 0 }), "limit", "from 1");
        refuses(
            Tool::Grep,
            json!({ "query": "q", "outputMode": "lines" }),
            "outputMode",
            "\"content\", \"files\"",
        );
        refuses(Tool::Grep, json!({ "query": "q", "ignorecase": true }), "ignorecase", "there is no field");
        refuses(Tool::Edit, json!({ "path": "/a", "edits": [] }), "edits", "empty");
        refuses(Tool::Edit, json!({ "path": "/a", "edits": "no" }), "edits", "a list of");
        refuses(Tool::Edit, json!({ "path": "/a", "edits": [["x", "y"]] }), "edits[0]", "to be { oldText");
        let both = json!({ "path": "/a", "edits": [{ "oldText": "x", "newText": "y" }], "oldText": "z" });
        refuses(Tool::Edit, both, "edits", "put all into `edits`");
        refuses(Tool::Read, json!({ "path": "/a", "file_path": "/b" }), "path", "the same field");
        accepts(Tool::Ls, json!({}), json!({}));
        refuses(
            Tool::Edit,
            json!({ "path": "/a", "edits": [{ "oldText": "x" }] }),
            "edits[0].newText",
            "is missing",
        );
    }
}
