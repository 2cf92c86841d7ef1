//! What a file is: text in some encoding, a picture, a PDF document, or something else.
//!
//! The contents decide, in this order:
//!
//! 1. the signature of a known format (`magic`),
//! 2. a byte order mark,
//! 3. NULs: in every second byte or so of what would be text in UTF-16, else in no text,
//! 4. control characters: few in text, more where everything else is valid UTF-8,
//! 5. valid UTF-8, or mostly so: a broken file in UTF-8 is one with broken places,
//! 6. a legacy encoding, guessed from which one makes the likeliest words.
//!
//! The name breaks ties: how many control characters a legacy text may have, and what a binary that
//! nothing else is known of is called.
//!
//! Always true:
//! - Only the given prefix is looked at, and a character that its end cuts counts for nothing.
//! - Text of UTF-8 that is cut anywhere is text of UTF-8.
//!
//! Not here: what is shown of each kind.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::encoding::{Encoding, Rest, TextFormat};
use super::magic::{self, Format, Head};

/// How much of a file is looked at. The cost of reading a little more is small next to that of a
/// wrong answer, and what tells text from data mostly comes early.
pub const PREFIX_BYTES: usize = 64 * 1024;

/// How much of that, in lines that are not ASCII, a legacy encoding is guessed from.
const GUESSED_BYTES_MAX: usize = 8 * 1024;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text(TextFormat),
    /// A picture that models can look at: PNG, JPEG, GIF or WebP.
    Image {
        /// Its media type.
        media_type: &'static str,
    },
    /// A PDF document.
    Pdf,
    /// Something else.
    Binary {
        /// Its media type; `application/octet-stream` if unknown.
        media_type: &'static str,
        /// What it is in words, like "ZIP archive".
        description: &'static str,
    },
}

/// Extensions under which nothing but text is to be expected.
const TEXT_EXTENSIONS: &[&str] = &[
    "txt",
    "text",
    "md",
    "rst",
    "log",
    "csv",
    "tsv",
    "json",
    "xml",
    "html",
    "htm",
    "css",
    "js",
    "jsx",
    "mjs",
    "tsx",
    "py",
    "rb",
    "rs",
    "go",
    "c",
    "h",
    "cc",
    "cpp",
    "hpp",
    "cs",
    "java",
    "kt",
    "swift",
    "php",
    "pl",
    "lua",
    "sh",
    "bat",
    "cmd",
    "ps1",
    "sql",
    "ini",
    "cfg",
    "conf",
    "toml",
    "yaml",
    "yml",
    "properties",
    "tex",
    "srt",
    "vtt",
    "diff",
    "patch",
    "svg",
    "nfo",
    "bas",
    "pas",
    "vb",
    "asm",
    "s",
    "r",
    "po",
    "strings",
];

/// Extensions under which text is not to be expected.
const BINARY_EXTENSIONS: &[&str] = &[
    "bin", "dat", "exe", "dll", "so", "o", "obj", "a", "lib", "pyc", "class", "db", "zip", "gz", "br", "zst",
    "xz", "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "mp3", "mp4", "ttf", "woff", "woff2", "pkl",
    "npy",
];

/// Decides what a file is from its first [`PREFIX_BYTES`] (or all bytes, if there are fewer), its
/// size, and its name or path.
pub fn kind_of(prefix: &[u8], size: u64, name: &str) -> Kind {
    let rest = if (prefix.len() as u64) < size { Rest::Follows } else { Rest::Ends };
    let extension = extension_of(name);
    let utf8 = Utf8Census::of(prefix, rest);
    let controls = Controls::of_bytes(prefix);

    if let Some(found) =
        magic::format_of(&Head { bytes: prefix, has_nul: controls.nul > 0, extension: &extension })
    {
        return kind_of_format(found);
    }
    match text_format(prefix, rest, &extension, utf8, controls) {
        Some(format) => Kind::Text(format),
        None => kind_of_format(magic::format_by_extension(&extension).unwrap_or(magic::UNKNOWN)),
    }
}

fn kind_of_format(format: Format) -> Kind {
    let Format { media_type, description } = format;
    match media_type {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Kind::Image { media_type },
        _ if format == magic::PDF => Kind::Pdf,
        _ => Kind::Binary { media_type, description },
    }
}

/// What follows the last dot of the name, in lower case.
fn extension_of(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// How the text is stored, if the bytes are text.
fn text_format(
    prefix: &[u8],
    rest: Rest,
    extension: &str,
    utf8: Utf8Census,
    controls: Controls,
) -> Option<TextFormat> {
    if prefix.starts_with(Encoding::UTF_8.bom()) {
        let format = TextFormat { encoding: Encoding::UTF_8, has_bom: true };
        return (controls.nul == 0 && controls.are_few(CONTROLS_UTF_8.under(extension))).then_some(format);
    }
    for encoding in [Encoding::UTF_16LE, Encoding::UTF_16BE] {
        if let Some(text) = prefix.strip_prefix(encoding.bom()) {
            let census = Utf16Census::of(text, encoding);
            // The mark alone is good evidence, but not against what follows.
            let is_text = census.bad * 20 <= census.units;
            return is_text.then_some(TextFormat { encoding, has_bom: true });
        }
    }
    if controls.nul > 0 {
        return utf16_without_bom(prefix, rest);
    }
    if utf8.is_likely() {
        return controls.are_few(CONTROLS_UTF_8.under(extension)).then_some(TextFormat::UTF_8);
    }
    legacy(prefix, rest, extension, controls).map(|encoding| TextFormat { encoding, has_bom: false })
}

/// The largest share of control characters in text, in thousandths.
struct ControlShare {
    under_text_name: usize,
    under_other_name: usize,
    under_binary_name: usize,
}

/// Binary data is hardly ever valid UTF-8, while logs and exports with a control character as
/// separator are.
const CONTROLS_UTF_8: ControlShare =
    ControlShare { under_text_name: 200, under_other_name: 100, under_binary_name: 20 };

/// Any bytes may be legacy text, and of random ones every tenth is a control character.
const CONTROLS_LEGACY: ControlShare =
    ControlShare { under_text_name: 40, under_other_name: 15, under_binary_name: 0 };

impl ControlShare {
    fn under(&self, extension: &str) -> usize {
        if TEXT_EXTENSIONS.contains(&extension) {
            self.under_text_name
        } else if BINARY_EXTENSIONS.contains(&extension) {
            self.under_binary_name
        } else {
            self.under_other_name
        }
    }
}

/// Control characters, other than tabs and line breaks.
#[derive(Debug, Clone, Copy, Default)]
struct Controls {
    length: usize,
    nul: usize,
    /// Those that texts do not have.
    hard: usize,
    /// Those that texts have for a reason: colors, overstriking, pages, bells, the end of a DOS file.
    soft: usize,
}

impl Controls {
    fn of_bytes(bytes: &[u8]) -> Controls {
        // Most files have none, which is seen much faster than it is counted.
        let is_control = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0x7F;
        if bytes.iter().map(|&byte| u32::from(is_control(byte))).sum::<u32>() == 0 {
            return Controls { length: bytes.len(), ..Controls::default() };
        }
        let mut counts = [0usize; 256];
        for &byte in bytes {
            counts[usize::from(byte)] += 1;
        }
        let soft_bytes = [0x07, 0x08, 0x0B, 0x0C, 0x1A, 0x1B];
        let soft = soft_bytes.iter().map(|&byte: &usize| counts[byte]).sum();
        let all: usize = counts[1..0x20].iter().sum::<usize>() + counts[0x7F];
        let layout = counts[usize::from(b'\t')] + counts[usize::from(b'\n')] + counts[usize::from(b'\r')];
        Controls { length: bytes.len(), nul: counts[0], hard: all - layout - soft, soft }
    }

    /// Whether they are at most so many thousandths of the text. Soft ones count as a fifth.
    fn are_few(self, thousandths: usize) -> bool {
        (self.hard * 5 + self.soft) * 1000 <= self.length * 5 * thousandths
    }
}

/// How much of the bytes beyond ASCII is UTF-8.
#[derive(Debug, Clone, Copy, Default)]
struct Utf8Census {
    /// Valid characters beyond ASCII, long ones with more weight: they are no coincidence.
    weight: usize,
    /// Sequences that are not UTF-8.
    malformed: usize,
}

impl Utf8Census {
    fn of(bytes: &[u8], rest: Rest) -> Utf8Census {
        let mut census = Utf8Census::default();
        let mut remaining = bytes;
        loop {
            let (valid, error) = match std::str::from_utf8(remaining) {
                Ok(valid) => (valid.as_bytes(), None),
                Err(error) => (&remaining[..error.valid_up_to()], Some(error)),
            };
            // A character of n bytes has one that starts it; only its width is counted.
            if !valid.is_ascii() {
                let weights = valid.iter().map(|&byte| match byte {
                    0xC0..=0xDF => 1,
                    0xE0..=0xEF => 3,
                    0xF0..=0xFF => 4,
                    _ => 0usize,
                });
                census.weight += weights.sum::<usize>();
            }
            let Some(error) = error else { return census };
            let tail = remaining.len() - error.valid_up_to();
            match error.error_len() {
                Some(length) => {
                    census.malformed += 1;
                    remaining = &remaining[error.valid_up_to() + length..];
                }
                // Cut by the end of the prefix, or the file itself was cut; but a single byte at the
                // end of a file may as well be the é of a text in Latin-1.
                None => {
                    census.malformed += usize::from(rest == Rest::Ends && tail == 1);
                    return census;
                }
            }
        }
    }

    fn is_likely(self) -> bool {
        self.malformed <= self.weight
    }
}

/// What the code units of UTF-16 are.
#[derive(Debug, Clone, Copy, Default)]
struct Utf16Census {
    units: usize,
    /// Letters, digits, spaces and punctuation of ASCII.
    ascii: usize,
    /// Control characters, halves of surrogate pairs, private and unassigned characters.
    bad: usize,
}

impl Utf16Census {
    fn of(bytes: &[u8], encoding: Encoding) -> Utf16Census {
        let mut census = Utf16Census::default();
        let pairs = bytes.as_chunks::<2>().0;
        let last = pairs.len().saturating_sub(1);
        let mut is_after_high = false;
        for (index, pair) in pairs.iter().enumerate() {
            let unit = encoding.code_unit(*pair);
            census.units += 1;
            let is_low = (0xDC00..0xE000).contains(&unit);
            census.bad += usize::from(is_after_high != is_low);
            // The other half of the last one may be cut off.
            is_after_high = (0xD800..0xDC00).contains(&unit) && index < last;
            match unit {
                0x20..=0x7E | 0x09 | 0x0A | 0x0D => census.ascii += 1,
                0x1B | 0x0C | 0x08 => {}
                0..=0x1F | 0x7F..=0x9F | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xFFFE | 0xFFFF => {
                    census.bad += 1
                }
                _ => {}
            }
        }
        census
    }
}

/// Bytes with NULs that are text of UTF-16 nevertheless.
fn utf16_without_bom(prefix: &[u8], rest: Rest) -> Option<TextFormat> {
    if prefix.len() < 4 || rest == Rest::Ends && prefix.len() % 2 == 1 {
        return None;
    }
    let censuses = [Encoding::UTF_16LE, Encoding::UTF_16BE]
        .map(|encoding| (encoding, Utf16Census::of(prefix, encoding)));
    let (encoding, census) = censuses.into_iter().max_by_key(|(_, census)| census.ascii)?;
    // Mostly ASCII is every second byte zero. Other scripts have at least spaces and line breaks, but
    // a few characters of them are no evidence.
    let is_mostly_ascii = census.ascii * 2 >= census.units && census.bad * 50 <= census.units;
    let is_other_script = census.bad == 0 && census.units >= 16 && census.ascii * 50 >= census.units;
    (is_mostly_ascii || is_other_script).then_some(TextFormat { encoding, has_bom: false })
}

/// The legacy encoding that the bytes are text of, if they are text.
fn legacy(prefix: &[u8], rest: Rest, extension: &str, controls: Controls) -> Option<Encoding> {
    if !controls.are_few(CONTROLS_LEGACY.under(extension)) {
        return None;
    }
    let beyond_ascii = prefix.iter().filter(|byte| !byte.is_ascii()).count();
    let cut = usize::from(rest == Rest::Follows);
    let fits = |encoding: &Encoding| {
        let errors = encoding.decode_all(prefix).0.matches(char::REPLACEMENT_CHARACTER).count();
        errors.saturating_sub(cut) * 50 <= beyond_ascii
    };
    let guess = Encoding::from_standard(guess(prefix, rest));
    let encoding = guess.filter(fits).unwrap_or(Encoding::WINDOWS_1252);

    // Any bytes are characters of some encoding with one byte for each. In text they make words.
    let spaces = prefix.iter().filter(|byte| byte.is_ascii_whitespace()).count();
    let is_wordless = prefix.len() >= 32 && beyond_ascii * 3 > prefix.len() && spaces * 33 < prefix.len();
    let is_data = encoding.is_single_byte() && is_wordless && !TEXT_EXTENSIONS.contains(&extension);
    (!is_data).then_some(encoding)
}

/// The encoding in which the bytes make the likeliest words.
fn guess(prefix: &[u8], rest: Rest) -> &'static encoding_rs::Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    // A line of ASCII says nothing, and the detector takes its time over each byte.
    let mut room = GUESSED_BYTES_MAX;
    let mut is_end_seen = false;
    for line in prefix.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.is_ascii()) {
        let fed = &line[..line.len().min(room)];
        detector.feed(fed, false);
        room -= fed.len();
        is_end_seen = fed.len() == line.len() && line.as_ptr_range().end == prefix.as_ptr_range().end;
        if room == 0 {
            break;
        }
    }
    if is_end_seen && rest == Rest::Ends {
        detector.feed(&[], true);
    }
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The kind in short: encoding (with `+bom`), media type, or `pdf`.
    fn short(prefix: &[u8], size: u64, name: &str) -> String {
        match kind_of(prefix, size, name) {
            Kind::Text(format) => {
                format!("{}{}", format.encoding.name(), if format.has_bom { "+bom" } else { "" })
            }
            Kind::Image { media_type } | Kind::Binary { media_type, .. } => media_type.to_owned(),
            Kind::Pdf => "pdf".to_owned(),
        }
    }

    #[track_caller]
    fn check(rows: &[(&str, &[u8], &str)]) {
        for (name, bytes, want) in rows {
            assert_eq!(short(bytes, bytes.len() as u64, name), *want, "{name}: {}", bytes.escape_ascii());
        }
    }

    #[test]
    fn text_is_utf_8_unless_something_speaks_against_it() {
        check(&[
            ("a", b"", "utf-8"),
            ("a.png", b"", "utf-8"),
            ("a.png", b"not a picture\n", "utf-8"),
            ("a.bin", b"hello\n", "utf-8"),
            ("a.txt", "h\u{E9}llo \u{1F600}\n".as_bytes(), "utf-8"),
            ("a.txt", "\u{FEFF}hello\n".as_bytes(), "utf-8+bom"),
            ("a.txt", "\u{FEFF}".as_bytes(), "utf-8+bom"),
            ("a.svg", b"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "utf-8"),
            ("a.log", b"\x1B[31merror\x1B[0m: disk full\x07\r\n", "utf-8"),
            ("a.1", b"N\x08NA\x08AM\x08ME\x08E\n  l\x08ls - list\n", "utf-8"),
            ("a.txt", b"page one\x0Cpage two\n\x1A", "utf-8"),
            ("orders.log", b"8=FIX.4.4\x019=112\x0135=A\x0149=SENDER\x0156=TARGET\x01", "utf-8"),
            ("a.ps", b"%!PS-Adobe-3.0\n", "utf-8"),
            ("a.rtf", b"{\\rtf1\\ansi hello}", "utf-8"),
            // Broken, but not much.
            (
                "a.txt",
                "\u{E9}t\u{E9} \u{20AC}"
                    .as_bytes()
                    .iter()
                    .chain(b"\xFF!")
                    .copied()
                    .collect::<Vec<_>>()
                    .leak(),
                "utf-8",
            ),
            ("a.txt", b"ok \xE2\x82\xAC broken \xE2\x82 \xFF\n", "utf-8"),
            // The file itself ends inside of a character.
            ("a.txt", b"price: 3 \xE2\x82", "utf-8"),
        ]);
    }

    #[test]
    fn controls_make_binary_data() {
        check(&[
            ("a.txt", &[0; 100], "application/octet-stream"),
            ("a.txt", b"hello\0world\n", "application/octet-stream"),
            ("a.txt", b"\xEF\xBB\xBFhello\0world\n", "application/octet-stream"),
            ("a", b"\x01\x02\x03\x04", "application/octet-stream"),
            ("a", b"\x01\x02\x03\x04\x80\x90\xFE\xFE", "application/octet-stream"),
            ("a.pyc", b"\x6F\x0D\x0D\x0A\0\0\0\0", "application/x-python-code"),
            ("a.unknown", b"\x80\x04\x95\x10\0\0\0", "application/octet-stream"),
        ]);
    }

    #[test]
    fn utf_16_is_text() {
        let le = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let russian = "\u{41F}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43C}\u{438}\u{440}! \u{41A}\u{430}\u{43A} \u{434}\u{435}\u{43B}\u{430}?\r\n";
        let chinese = "\u{4F60}\u{597D}\u{FF0C}\u{4E16}\u{754C}\u{3002}\n".repeat(4);
        check(&[
            ("a.txt", &le("\u{FEFF}hello\r\n"), "utf-16le+bom"),
            ("a.txt", &be("\u{FEFF}hello\r\n"), "utf-16be+bom"),
            ("a.txt", &le("\u{FEFF}"), "utf-16le+bom"),
            ("a.txt", &le("\u{FEFF}\u{4F60}\u{597D}"), "utf-16le+bom"),
            ("a.txt", &le("hello, world\r\n"), "utf-16le"),
            ("a.txt", &be("hello, world\r\n"), "utf-16be"),
            ("a.txt", &le("hi"), "utf-16le"),
            ("a.txt", &le("h\u{E9}\u{1F600}llo, world\r\n"), "utf-16le"),
            ("a.txt", &le(russian), "utf-16le"),
            ("a.txt", &be(russian), "utf-16be"),
            ("a.txt", &le(&chinese), "utf-16le"),
            ("a.txt", &be(&chinese), "utf-16be"),
            // The size of text in UTF-16 is even.
            ("a.txt", b"h\0e\0l\0l\0o", "application/octet-stream"),
            // Small numbers of two, four and eight bytes.
            ("a", b"\x01\0\x02\0\x03\0\x04\0\x05\0", "application/octet-stream"),
            ("a", b"A\0\0\0B\0\0\0C\0\0\0D\0\0\0", "application/octet-stream"),
            ("a", b"\xFF\xFEh\0\0\0i\0\0\0\x01\0\x02\0", "application/octet-stream"),
            ("a", b"\xFF\xFE\0\0h\0\0\0", "text/plain; charset=utf-32"),
        ]);
    }

    #[test]
    fn legacy_encodings_are_guessed() {
        let rows = [
            ("windows-1252", "caf\u{E9}\n"),
            ("windows-1252", "// Gr\u{F6}\u{DF}e in Pixeln\nint size = 3;\n"),
            ("windows-1252", "caf\u{E9}"),
            ("windows-1252", "It\u{2019}s \u{201C}quoted\u{201D} \u{2013} really\u{2026}"),
            ("windows-1252", "\u{C0} la recherche du temps perdu, Fran\u{E7}ois \u{E9}tait l\u{E0}.\n"),
            ("windows-1252", "ORCHESTRE: r\u{E9}p\u{E9}tition"),
            ("windows-1252", "MZ\u{E9}"),
            (
                "windows-1251",
                "\u{41F}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43C}\u{438}\u{440}! \u{41A}\u{430}\u{43A} \u{434}\u{435}\u{43B}\u{430}?",
            ),
            (
                "koi8-u",
                "\u{41F}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43C}\u{438}\u{440}! \u{41A}\u{430}\u{43A} \u{434}\u{435}\u{43B}\u{430}?",
            ),
            (
                "shift_jis",
                "\u{3053}\u{3093}\u{306B}\u{3061}\u{306F}\u{4E16}\u{754C}\u{3002}\u{65E5}\u{672C}\u{8A9E}\u{306E}\u{30C6}\u{30AD}\u{30B9}\u{30C8}",
            ),
            (
                "euc-jp",
                "\u{3053}\u{3093}\u{306B}\u{3061}\u{306F}\u{4E16}\u{754C}\u{3002}\u{65E5}\u{672C}\u{8A9E}\u{306E}\u{30C6}\u{30AD}\u{30B9}\u{30C8}",
            ),
            (
                "gbk",
                "\u{4F60}\u{597D}\u{FF0C}\u{4E16}\u{754C}\u{3002}\u{8FD9}\u{662F}\u{4E2D}\u{6587}\u{6587}\u{672C}\u{3002}",
            ),
            (
                "big5",
                "\u{4F60}\u{597D}\u{FF0C}\u{4E16}\u{754C}\u{3002}\u{9019}\u{662F}\u{7E41}\u{9AD4}\u{4E2D}\u{6587}\u{3002}",
            ),
            (
                "euc-kr",
                "\u{C548}\u{B155}\u{D558}\u{C138}\u{C694}, \u{C138}\u{ACC4}. \u{D55C}\u{AD6D}\u{C5B4} \u{D14D}\u{C2A4}\u{D2B8}",
            ),
        ];
        for (label, text) in rows {
            let encoding = Encoding::from_label(label).unwrap();
            let mut bytes = Vec::new();
            encoding.encode(text, &mut bytes).unwrap();
            check(&[("a.txt", &bytes, label), ("a", &bytes, label)]);
        }
    }

    #[test]
    fn formats_are_known_by_their_contents() {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"a.txt");
        tar[257..265].copy_from_slice(b"ustar\x0000");
        let mut packets = vec![0xFF; 188 * 4];
        for packet in packets.chunks_mut(188) {
            packet[0] = 0x47;
        }
        let mut exe = vec![0; 256];
        exe[..2].copy_from_slice(b"MZ");
        let docx = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0aaaabbbbcccc\x13\0\0\0[Content_Types].xml ... word/document.xml";
        let odt = b"PK\x03\x04\x14\0\0\x08\0\0\0\0!\0aaaabbbbcccc\x08\0\0\0mimetypeapplication/vnd.oasis.opendocument.textPK";
        check(&[
            ("a.txt", b"\x89PNG\r\n\x1A\n", "image/png"),
            ("a", b"\xFF\xD8\xFF\xE0\0\x10JFIF", "image/jpeg"),
            ("a", b"GIF89a\x01\0\x01\0\x80\0\0", "image/gif"),
            ("a", b"GIF87a\x01\0\x01\0\x80\0\0", "image/gif"),
            ("a.gif", b"GIF89a", "image/gif"),
            ("a.txt", b"GIF89a is a format of pictures\n", "utf-8"),
            ("a.txt", b"BM is two letters, and this is longer than a header of a bitmap is\n", "utf-8"),
            ("a.bmp", b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0", "image/bmp"),
            ("a", b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
            ("a", b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
            ("a.txt", b"RIFF is a container: WEBP and others\n", "utf-8"),
            ("a", b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n", "pdf"),
            ("a", b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n", "pdf"),
            ("a.md", b"%PDF-1.4 is how such files start\n", "utf-8"),
            ("a.txt", b"MZ is how DOS programs start\n", "utf-8"),
            ("a", &exe, "application/vnd.microsoft.portable-executable"),
            ("a.ts", &packets, "video/mp2t"),
            ("a", &tar, "application/x-tar"),
            ("a.docx", docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("a", docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("a", odt, "application/vnd.oasis.opendocument.text"),
            ("a.zip", b"PK\x03\x04\x14\0\0\0\0\0a.txt", "application/zip"),
            ("a.jar", b"PK\x03\x04\x14\0\0\0\0\0a.txt", "application/java-archive"),
            ("a", b"PK\x05\x06\0\0", "application/zip"),
            ("a.gz", b"\x1F\x8B\x08\0", "application/gzip"),
            ("a", b"\x28\xB5\x2F\xFD\x04", "application/zstd"),
            ("a", b"\xFD7zXZ\0", "application/x-xz"),
            ("a", b"BZh91AY&SY\xAA", "application/x-bzip2"),
            ("a", b"7z\xBC\xAF\x27\x1C\0", "application/x-7z-compressed"),
            ("a", b"\x7FELF\x02\x01\x01\0", "application/x-elf"),
            ("a", b"\xCF\xFA\xED\xFE\x07", "application/x-mach-binary"),
            ("a", b"\xCA\xFE\xBA\xBE\0\0\0\x02", "application/x-mach-binary"),
            ("A.class", b"\xCA\xFE\xBA\xBE\0\0\0\x41", "application/java-vm"),
            ("a", b"\0asm\x01\0\0\0", "application/wasm"),
            ("a", b"SQLite format 3\0\x10\0", "application/vnd.sqlite3"),
            ("a.md", b"SQLite format 3 is what such files start with", "utf-8"),
            ("a", b"ID3\x04\0\0", "audio/mpeg"),
            ("a", b"\xFF\xFB\x90\x64\0\0", "audio/mpeg"),
            ("a", b"OggS\0\x02", "audio/ogg"),
            ("a", b"fLaC\0\0\0\x22", "audio/flac"),
            ("a", b"\0\0\0\x20ftypisom\0\0\x02\0", "video/mp4"),
            ("a", b"\0\0\0\x20ftypavif\0\0\0\0", "image/avif"),
            ("a", b"\0\0\0\x18ftypheic\0\0\0\0", "image/heic"),
            ("a", b"wOFF\0\x01\0\0\0\0", "font/woff"),
            ("a", b"wOF2\0\x01\0\0\0\0", "font/woff2"),
            ("a", b"\0\x01\0\0\0\x0C\0\x80", "font/ttf"),
            ("a", b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0", "image/x-icon"),
            ("a", b"II*\0\x08\0\0\0", "image/tiff"),
            ("a", b"MM\0*\0\0\0\x08", "image/tiff"),
            ("a", b"PAR1\x15\x04\x15\0", "application/vnd.apache.parquet"),
            ("a.txt", b"PAR1 and so on", "utf-8"),
        ]);
    }

    /// Data that looks random, as compressed data does, has no kind of text. The shorter, the more of
    /// it passes.
    #[test]
    fn random_data_is_binary() {
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        for (length, wrong_max) in [(32, 120), (64, 12), (128, 0), (1024, 0)] {
            let mut wrong = 0;
            for _ in 0..1000 {
                let bytes: Vec<u8> = (0..length).map(|_| next()).collect();
                wrong += usize::from(matches!(kind_of(&bytes, length, "a"), Kind::Text(_)));
                // The same without NULs, which give it away.
                let bytes: Vec<u8> = bytes.iter().map(|&byte| byte.max(1)).collect();
                wrong += usize::from(matches!(kind_of(&bytes, length, "a"), Kind::Text(_)));
            }
            assert!(wrong <= wrong_max, "{wrong} of 2000 with {length} bytes");
        }
    }

    #[test]
    fn a_prefix_may_end_inside_of_a_character() {
        let text = "a\u{E9}\u{65E5}\u{1F600}\n".repeat(20);
        for length in 1..text.len() {
            assert_eq!(short(&text.as_bytes()[..length], 1 << 20, "a.txt"), "utf-8", "{length}");
        }
        let wide: Vec<u8> =
            "hello \u{1F600}\n".repeat(20).encode_utf16().flat_map(u16::to_le_bytes).collect();
        for length in 4..wide.len() {
            assert_eq!(short(&wide[..length], 1 << 20, "a.txt"), "utf-16le", "{length}");
        }
        let mut japanese = Vec::new();
        let encoding = Encoding::from_label("shift_jis").unwrap();
        encoding
            .encode(&"\u{3053}\u{3093}\u{306B}\u{3061}\u{306F}\u{4E16}\u{754C}\n".repeat(20), &mut japanese)
            .unwrap();
        for length in 40..japanese.len() {
            assert_eq!(short(&japanese[..length], 1 << 20, "a.txt"), "shift_jis", "{length}");
        }
    }

    proptest! {
        #[test]
        fn text_of_utf_8_is_text(text in "[\\t\\r\\n -~\u{A0}-\u{D7FF}\u{E000}-\u{10FFFF}]{0,80}", has_bom in any::<bool>()) {
            // The mark in front would be taken for what it is.
            let text = text.trim_start_matches('\u{FEFF}');
            let bytes = [if has_bom { "\u{FEFF}" } else { "" }, text].concat();
            let want = if has_bom { "utf-8+bom" } else { "utf-8" };
            prop_assert_eq!(short(bytes.as_bytes(), bytes.len() as u64, "a.bin"), want);
        }

        #[test]
        fn any_bytes_have_a_kind(bytes in prop::collection::vec(any::<u8>(), 0..600), more in 0u64..2) {
            kind_of(&bytes, bytes.len() as u64 + more, "a");
        }
    }
}
