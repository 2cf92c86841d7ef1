//! `read`.

use serde_json::{Map, Value, json};

use crate::error::{Code, FsError};
use crate::path::WorkspacePath;
use crate::store::{Content, Inode, Kind as InodeKind, ReadTx};
use crate::tools::Call;
use crate::tools::definitions::size_text;
use crate::tools::outcome::{Failure, Media, Result, Success, Text};
use crate::tools::text::{
    Kind, PREFIX_BYTES, Page, PageError, PageOptions, PageRequest, Source, TextFormat, kind_of, read_page,
};
use crate::vfs::{LastLink, existing, realpath};

/// Bytes of a binary file that are shown.
const FIRST_BYTES: usize = 32;

/// The bytes of a file, read as they are wanted.
struct Contents<'t, 'c> {
    tx: &'t ReadTx<'c>,
    content: Content,
    size: u64,
}

impl Source for Contents<'_, '_> {
    type Error = FsError;

    fn size(&self) -> u64 {
        self.size
    }

    fn read(&mut self, offset: u64, length: usize) -> crate::error::Result<Vec<u8>> {
        self.tx.content_range(self.content, self.size, offset, length as u64)
    }
}

/// What was found at a path.
enum Found {
    Text(TextFormat, std::result::Result<Page, PageError<FsError>>),
    Media { kind: &'static str, media_type: &'static str, bytes: Option<Vec<u8>> },
    Binary { media_type: &'static str, description: &'static str, first: Vec<u8> },
}

/// What one view of the workspace says of the file.
struct View {
    inode: Inode,
    real: String,
    version: String,
    /// None if the file is not what the call wants to read on in.
    found: Option<Found>,
}

/// Reads a file.
pub fn read(call: &Call) -> Result {
    let (shown, path) = call.path()?;
    let view = call.scope().read_now(|tx| look(call, tx, &path));
    let View { inode, real, version, found } = view.map_err(|error| call.explain(&error, shown, &path))?;
    let size = inode.size;
    let output = json!({ "path": shown });
    let success = match found {
        None => return Err(changed(shown, &version)),
        Some(Found::Text(format, page)) => {
            let page = page.map_err(|error| explain_page(call, error, shown, &path))?;
            text(call, output, format, page, &version)
        }
        Some(Found::Media { kind, media_type, bytes }) => {
            media(call, path.name(), output, kind, media_type, size, bytes)?.of_version(&version)
        }
        Some(Found::Binary { media_type, description, first }) => {
            binary(output, path.name(), media_type, description, size, &first).of_version(&version)
        }
    };
    // Only what was shown was read.
    if call.options().needs_read {
        note(call, &inode, &version);
    }
    let mut success = success.about(real);
    success.touched.bytes_before = Some(size);
    success.touched.bytes_after = Some(size);
    Ok(success)
}

impl Success {
    /// Which version of the file it shows.
    fn of_version(mut self, version: &str) -> Self {
        self.output["version"] = Value::from(version);
        self
    }
}

fn look(call: &Call, tx: &ReadTx<'_>, path: &WorkspacePath) -> crate::error::Result<View> {
    let inode = existing(tx, path, LastLink::Follow)?;
    if inode.kind == InodeKind::Directory {
        return Err(FsError::new(Code::IsDir));
    }
    tx.check_size(inode.content, inode.size)?;
    let version = tx.content_version(inode.content)?;
    let real = realpath(tx, path)?;
    let arguments = &call.arguments;
    let byte_offset = arguments.integer("byteOffset");
    let is_stale = arguments.optional_text("version").is_some_and(|known| known != version);
    if is_stale && byte_offset.is_some_and(|offset| offset > 0) {
        return Ok(View { inode, real, version, found: None });
    }
    let mut contents = Contents { tx, content: inode.content, size: inode.size };
    let prefix = contents.read(0, PREFIX_BYTES)?;
    let found = match kind_of(&prefix, inode.size, path.name()) {
        Kind::Text(format) => {
            let request = PageRequest {
                offset: arguments.integer("offset"),
                byte_offset,
                limit: arguments.integer("limit"),
            };
            let read = &call.options().read;
            let options = PageOptions {
                max_lines: read.max_lines,
                max_bytes: read.max_bytes,
                include_line_numbers: read.include_line_numbers,
                line_truncation: read.line_truncation,
            };
            let page = read_page(&mut contents, format, &request, &options);
            Found::Text(format, page)
        }
        Kind::Image { media_type } => media_bytes(call, &mut contents, "image", media_type)?,
        Kind::Pdf => media_bytes(call, &mut contents, "file", "application/pdf")?,
        Kind::Binary { media_type, description } => {
            let first = prefix[..prefix.len().min(FIRST_BYTES)].to_vec();
            Found::Binary { media_type, description, first }
        }
    };
    Ok(View { inode, real, version, found: Some(found) })
}

fn media_bytes(
    call: &Call,
    contents: &mut Contents<'_, '_>,
    kind: &'static str,
    media_type: &'static str,
) -> crate::error::Result<Found> {
    let fits = contents.size <= call.options().read.max_model_bytes;
    let size = usize::try_from(contents.size).unwrap_or(usize::MAX);
    let bytes = if fits { Some(contents.read(0, size)?) } else { None };
    Ok(Found::Media { kind, media_type, bytes })
}

/// Notes that the caller knows this version. Not waited for: a call that needs it queues behind.
fn note(call: &Call, inode: &Inode, version: &str) {
    if call.scope().store().check_writable().is_err() {
        return;
    }
    let (reader, id, version) = (call.toolset.reader().to_owned(), inode.id, version.to_owned());
    let work = move |tx: &crate::store::WriteTx<'_>| {
        let known = tx.known_version(&reader, id)?;
        if known.as_deref() == Some(version.as_str()) {
            Ok(())
        } else {
            tx.note_version(&reader, id, &version)
        }
    };
    call.scope().write_later(call.now, false, 0, work, |_| {});
}

fn text(call: &Call, mut output: Value, format: TextFormat, page: Page, version: &str) -> Success {
    // An encoding is to be seen.
    let is_utf8 = format.encoding == TextFormat::UTF_8.encoding;
    let text = if page.is_plain && is_utf8 { Text::Field("content") } else { Text::Json };
    let lacks_final_newline = !page.truncated && !page.content.is_empty() && !page.ends_with_newline;
    let mut more = Map::new();
    let mut put = |name: &str, value: Value| {
        more.insert(name.to_owned(), value);
    };
    put("content", Value::from(page.content));
    put("startLine", Value::from(page.start_line));
    put("endLine", Value::from(page.end_line));
    put("totalLines", Value::from(page.total_lines));
    put("truncated", Value::from(page.truncated));
    if let Some(offset) = page.next_offset {
        put("nextOffset", Value::from(offset));
    }
    if let Some(offset) = page.next_byte_offset {
        put("nextByteOffset", Value::from(offset));
    }
    put("version", Value::from(version));
    if format.encoding.name() != "utf-8" {
        put("encoding", Value::from(format.encoding.name()));
    }
    for (name, is_so) in [
        ("bom", format.has_bom),
        ("partialLine", page.partial_line),
        ("changed", call.arguments.optional_text("version").is_some_and(|known| known != version)),
    ] {
        if is_so {
            put(name, Value::from(true));
        }
    }
    if lacks_final_newline {
        more.insert("finalNewline".to_owned(), Value::from(false));
    }
    if let Value::Object(output) = &mut output {
        output.extend(more);
    }
    Success { output, text, ..Success::default() }
}

fn media(
    call: &Call,
    name: &str,
    mut output: Value,
    kind: &'static str,
    media_type: &'static str,
    size: u64,
    bytes: Option<Vec<u8>>,
) -> Result {
    let shown = output["path"].as_str().unwrap_or_default().to_owned();
    let Some(bytes) = bytes else {
        return Err(Failure::new(
            "EFBIG",
            format!(
                "{shown} ({media_type}) has {}, and at most {} can be shown; tell the user that it is too large",
                size_text(size),
                size_text(call.options().read.max_model_bytes),
            ),
        ));
    };
    describe(&mut output, kind, name, media_type, size);
    let text = Text::Sentences(format!("Read {shown} ({media_type}, {size} bytes)."));
    let media = Some(Media { kind, media_type, name: name.to_owned(), bytes });
    Ok(Success { output, text, media, ..Success::default() })
}

fn binary(
    mut output: Value,
    name: &str,
    media_type: &'static str,
    description: &'static str,
    size: u64,
    first: &[u8],
) -> Success {
    let shown = output["path"].as_str().unwrap_or_default().to_owned();
    let hex: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
    let hex = hex.join(" ");
    describe(&mut output, "binary", name, media_type, size);
    output["unsupported"] = Value::from(true);
    output["description"] = Value::from(description);
    output["firstBytes"] = Value::from(hex.as_str());
    let text = Text::Sentences(format!(
        "{shown} is no text: {description} ({media_type}, {size} bytes). It begins with the bytes {hex}."
    ));
    Success { output, text, ..Success::default() }
}

fn describe(output: &mut Value, kind: &str, name: &str, media_type: &str, size: u64) {
    output["kind"] = Value::from(kind);
    output["name"] = Value::from(name);
    output["mediaType"] = Value::from(media_type);
    output["sizeBytes"] = Value::from(size);
}

fn changed(shown: &str, version: &str) -> Failure {
    Failure::new(
        Code::Stale.name(),
        format!("{shown} has changed since the page before was read, so that one cannot be read on; read the file again from the start"),
    )
    .with("version", version)
}

fn explain_page(call: &Call, error: PageError<FsError>, shown: &str, path: &WorkspacePath) -> Failure {
    match error {
        PageError::Source(error) => call.explain(&error, shown, path),
        PageError::BeyondLines { offset, lines } => Failure::new(
            Code::Inval.name(),
            format!("Offset {offset} is beyond end of file ({lines} line(s)): {shown}"),
        ),
        PageError::BeyondBytes { byte_offset, size } => Failure::new(
            Code::Inval.name(),
            format!("Byte continuation {byte_offset} is beyond end of file ({size} bytes): {shown}"),
        ),
        PageError::NotThatLine { byte_offset, offset, line } => Failure::new(
            Code::Inval.name(),
            format!(
                "`byteOffset` {byte_offset} is in line {line} of {shown}, not in line {offset}; pass nextOffset and nextByteOffset as the page before gave them"
            ),
        ),
        PageError::NotOnBoundary { byte_offset } => Failure::new(
            Code::Inval.name(),
            format!(
                "`byteOffset` {byte_offset} lies within a character of {shown}; pass nextByteOffset as the page before gave it"
            ),
        ),
    }
}
