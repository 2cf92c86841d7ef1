//! What a model is told of each tool: name, description, and the JSON Schema of its arguments.
//!
//! Schemas have no `$ref` and no unions, which some providers refuse. What else is accepted, since its
//! meaning is clear, is in [`super::arguments`].

use serde_json::{Map, Value, json};

use super::exec;
use super::options::Options;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Tool {
    Read,
    Ls,
    Find,
    Grep,
    Write,
    Edit,
    Delete,
    Exec,
}

impl Tool {
    /// All, in the order in which a model is shown them.
    pub const ALL: [Tool; 8] =
        [Tool::Read, Tool::Ls, Tool::Find, Tool::Grep, Tool::Write, Tool::Edit, Tool::Delete, Tool::Exec];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Read => "read",
            Tool::Ls => "ls",
            Tool::Find => "find",
            Tool::Grep => "grep",
            Tool::Write => "write",
            Tool::Edit => "edit",
            Tool::Delete => "delete",
            Tool::Exec => "exec",
        }
    }

    /// The tool of a name.
    pub fn from_name(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Whether it changes nothing.
    pub fn is_read_only(self) -> bool {
        matches!(self, Tool::Read | Tool::Ls | Tool::Find | Tool::Grep)
    }

    fn title(self) -> &'static str {
        match self {
            Tool::Read => "Read a file",
            Tool::Ls => "List a directory",
            Tool::Find => "Find files by name",
            Tool::Grep => "Search in files",
            Tool::Write => "Write a file",
            Tool::Edit => "Edit a file",
            Tool::Delete => "Delete a file or directory",
            Tool::Exec => "Run code",
        }
    }
}

/// Most entries of one page of `ls`, `find` and `grep`, and how many if the call does not say.
pub const PAGE_MAX: u64 = 1_000;
/// See [`PAGE_MAX`].
pub const PAGE_DEFAULT: u64 = 200;
/// Most lines of context of `grep`.
pub const CONTEXT_MAX: u64 = 10;

/// Names of the fields that are required, and the schema of each field.
pub type Fields = (&'static [&'static str], Vec<(&'static str, Value)>);

/// The definitions of a set of tools, as `lib/` reads them.
pub fn definitions(tools: impl Iterator<Item = Tool>, options: &Options) -> Value {
    tools
        .map(|tool| {
            json!({
                "name": tool.name(),
                "title": tool.title(),
                "description": description(tool, options),
                "inputSchema": input_schema(tool, options),
                "readOnly": tool.is_read_only(),
            })
        })
        .collect()
}

fn description(tool: Tool, options: &Options) -> String {
    let globs = "Globs match whole paths relative to `path`: `*` is any run of characters without `/`, `**/` any \
                 directories, `?` one character, `{a,b}` alternatives; all else is literal. Hidden files are included.";
    match tool {
        Tool::Read => {
            let numbers = if options.read.include_line_numbers {
                " Each line begins with its number and a tab, which are not part of the file."
            } else {
                ""
            };
            format!(
                "Read a file. Text comes in pages of at most {} lines or {}; a longer result says `truncated` and \
                 gives `nextOffset`, `nextByteOffset` and `version` to read on with.{numbers} Images and PDFs are \
                 attached for models that accept them; other binary files are described.",
                options.read.max_lines,
                size_text(options.read.max_bytes as u64),
            )
        }
        Tool::Ls => format!(
            "List what is in a directory, with sizes and times, by name. {PAGE_DEFAULT} entries unless `limit` says \
             otherwise; `nextOffset` in the result is the `offset` of the next page."
        ),
        Tool::Find => format!(
            "Find files and directories by name. {globs} `exclude` leaves out what matches, with all below it. \
             {PAGE_DEFAULT} results unless `limit` says otherwise; `nextOffset` is the `offset` of the next page."
        ),
        Tool::Grep => format!(
            "Search for text in files, line by line. `query` is plain text, or with `regex` a regular expression \
             (RE2/Rust syntax: no look-around, no backreferences). {globs} `outputMode` \"content\" gives the lines, \
             \"files\" only the files, \"count\" how many lines match in each. The result says what was skipped and \
             whether there is more."
        ),
        Tool::Write => {
            "Write a whole file: makes it, or replaces all of its content. Missing directories are made. To change a \
             part of a file use `edit`."
                .to_owned()
        }
        Tool::Edit => {
            "Replace exact text in one file. Each `oldText` must be found in exactly one place of the file as it is \
             now (all edits of a call are matched against the original, none overlap), unless `replaceAll` is set. \
             Copy it from `read` without the line numbers, with enough lines around it to be unique. Either all edits \
             are made or none."
                .to_owned()
        }
        Tool::Delete => {
            "Delete a file, a link or an empty directory; with `recursive` a directory with all that is in it."
                .to_owned()
        }
        // What the backends say of themselves is asked for when somebody reads it.
        Tool::Exec => exec::description(&options.exec, &Map::new()),
    }
}

/// A size for people: `500B`, `64KB`, `1.5MB`.
pub fn size_text(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes}B"),
        1024..1_048_576 => format!("{}KB", bytes.div_ceil(1024)),
        _ => format!("{:.1}MB", bytes as f64 / 1_048_576.0),
    }
}

fn input_schema(tool: Tool, options: &Options) -> Value {
    let path_text = match &options.root {
        Some(root) => format!("path, absolute or relative to {root}"),
        None => "absolute path, such as /workspace/notes.md".to_owned(),
    };
    let string = |text: &str| json!({ "type": "string", "description": text });
    let flag = |text: &str| json!({ "type": "boolean", "description": text });
    let integer =
        |minimum: u64, text: &str| json!({ "type": "integer", "minimum": minimum, "description": text });
    let strings = |text: &str| json!({ "type": "array", "items": { "type": "string" }, "description": text });
    let limit = |what: &str| {
        json!({
            "type": "integer", "minimum": 1, "maximum": PAGE_MAX,
            "description": format!("most {what} to return; default {PAGE_DEFAULT}"),
        })
    };
    let skip = |what: &str| integer(0, &format!("how many {what} to skip: `nextOffset` of the page before"));
    let start = options.root.as_ref().map_or("/workspace", |root| root.as_str());
    let (required, properties): Fields = match tool {
        Tool::Read => (
            &["path"],
            vec![
                ("path", string(&path_text)),
                ("offset", integer(1, "number of the first line to read; default 1")),
                ("byteOffset", integer(0, "`nextByteOffset` of the page before; needs `offset`")),
                ("limit", integer(1, "most lines to read")),
                ("version", string("`version` of the page before: tells whether the file has changed since")),
            ],
        ),
        Tool::Ls => (
            &["path"],
            vec![("path", string(&path_text)), ("limit", limit("entries")), ("offset", skip("entries"))],
        ),
        Tool::Find => (
            &["pattern"],
            vec![
                ("path", string(&format!("directory to search below; default {start}"))),
                ("pattern", string("glob, such as `**/*.ts`; an empty one matches everything")),
                ("exclude", strings("globs of what to leave out")),
                ("limit", limit("results")),
                ("offset", skip("results")),
            ],
        ),
        Tool::Grep => (
            &["query"],
            vec![
                ("path", string(&format!("file, or directory to search below; default {start}"))),
                ("query", string("what to search for")),
                ("include", strings("globs of the files to search; default all")),
                ("exclude", strings("globs of what to leave out")),
                ("regex", flag("the query is a regular expression; default false")),
                ("ignoreCase", flag("upper and lower case are the same; default false")),
                (
                    "context",
                    json!({
                        "type": "integer", "minimum": 0, "maximum": CONTEXT_MAX,
                        "description": "lines to show before and after each match; default 0",
                    }),
                ),
                (
                    "outputMode",
                    json!({
                        "type": "string", "enum": ["content", "files", "count"],
                        "description": "what to return; default \"content\"",
                    }),
                ),
                ("limit", limit("matches")),
                ("offset", skip("matches")),
            ],
        ),
        Tool::Write => (
            &["path", "content"],
            vec![
                ("path", string(&path_text)),
                ("content", string("the whole content of the file")),
                (
                    "ifUnchanged",
                    string(
                        "`version` of the file as it was read: if it has changed since, nothing is written",
                    ),
                ),
            ],
        ),
        Tool::Edit => (
            &["path", "edits"],
            vec![
                ("path", string(&path_text)),
                (
                    "edits",
                    json!({
                        "type": "array", "minItems": 1,
                        "description": "replacements, all against the original text",
                        "items": {
                            "type": "object",
                            "properties": {
                                "oldText": string("text to replace; must be in the file exactly once"),
                                "newText": string("what to put there"),
                                "replaceAll": flag("replace every place where oldText is; default false"),
                            },
                            "required": ["oldText", "newText"],
                            "additionalProperties": false,
                        },
                    }),
                ),
            ],
        ),
        Tool::Delete => (
            &["path"],
            vec![
                ("path", string(&path_text)),
                ("recursive", flag("delete a directory with all that is in it; default false")),
            ],
        ),
        Tool::Exec => exec::schema(&options.exec),
    };
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
