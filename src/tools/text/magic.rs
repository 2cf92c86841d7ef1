//! What the first bytes of a file say about its format.
//!
//! Most formats start with bytes that no text has. Some start with letters (`BM`, `GIF89a`,
//! `RIFF`), and a text may do so too: these count only in a file with NULs, or with more of their
//! structure, or under a name that says the same.
//!
//! Not here: text and its encodings (`kind`).

/// A format that is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub media_type: &'static str,
    pub description: &'static str,
}

const fn format(media_type: &'static str, description: &'static str) -> Format {
    Format { media_type, description }
}

/// What is known of a file before its bytes are compared.
pub(super) struct Head<'a> {
    /// The first bytes.
    pub bytes: &'a [u8],
    /// Whether one of them is NUL, which nearly every binary format has and no text.
    pub has_nul: bool,
    /// The extension of the name in lower case, without the dot; may be empty.
    pub extension: &'a str,
}

/// Bytes that no text starts with, and what they stand for.
const SIGNATURES: &[(&[u8], Format)] = &[
    (b"\x89PNG\r\n\x1A\n", format("image/png", "PNG image")),
    (b"\xFF\xD8\xFF", format("image/jpeg", "JPEG image")),
    (b"\x1F\x8B\x08", format("application/gzip", "gzip archive")),
    (b"\x28\xB5\x2F\xFD", format("application/zstd", "Zstandard archive")),
    (b"\xFD7zXZ\0", format("application/x-xz", "XZ archive")),
    (b"7z\xBC\xAF\x27\x1C", format("application/x-7z-compressed", "7-Zip archive")),
    (b"Rar!\x1A\x07", format("application/vnd.rar", "RAR archive")),
    (b"\x04\x22\x4D\x18", format("application/x-lz4", "LZ4 archive")),
    (b"\x1F\x9D", format("application/x-compress", "compress archive")),
    (b"MSCF\0\0\0\0", format("application/vnd.ms-cab-compressed", "cabinet archive")),
    (b"\xED\xAB\xEE\xDB", format("application/x-rpm", "RPM package")),
    (b"\x7FELF", format("application/x-elf", "ELF binary")),
    (b"\xFE\xED\xFA\xCE", format("application/x-mach-binary", "Mach-O binary")),
    (b"\xFE\xED\xFA\xCF", format("application/x-mach-binary", "Mach-O binary")),
    (b"\xCE\xFA\xED\xFE", format("application/x-mach-binary", "Mach-O binary")),
    (b"\xCF\xFA\xED\xFE", format("application/x-mach-binary", "Mach-O binary")),
    (b"\0asm", format("application/wasm", "WebAssembly module")),
    (b"dex\n035\0", format("application/vnd.android.dex", "Android bytecode")),
    (b"BC\xC0\xDE", format("application/x-llvm-bitcode", "LLVM bitcode")),
    (b"SQLite format 3\0", format("application/vnd.sqlite3", "SQLite database")),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", format("application/x-ole-storage", "Microsoft compound file")),
    (b"\x1A\x45\xDF\xA3", format("video/x-matroska", "Matroska or WebM video")),
    (b"FLV\x01", format("video/x-flv", "Flash video")),
    (b"OggS\0", format("audio/ogg", "Ogg media")),
    (b"fLaC\0", format("audio/flac", "FLAC audio")),
    (b"ID3\x02", format("audio/mpeg", "MP3 audio")),
    (b"ID3\x03", format("audio/mpeg", "MP3 audio")),
    (b"ID3\x04", format("audio/mpeg", "MP3 audio")),
    (b"MThd\0\0\0\x06", format("audio/midi", "MIDI music")),
    (b"wOFF\0\x01\0\0", format("font/woff", "WOFF font")),
    (b"OTTO\0", format("font/otf", "OpenType font")),
    (b"true\0", format("font/ttf", "TrueType font")),
    (b"ttcf\0", format("font/collection", "font collection")),
    (b"II*\0", format("image/tiff", "TIFF image")),
    (b"MM\0*", format("image/tiff", "TIFF image")),
    (b"8BPS\0\x01", format("image/vnd.adobe.photoshop", "Photoshop image")),
    (b"\0\0\0\x0CJXL \r\n\x87\n", format("image/jxl", "JPEG XL image")),
    (b"\0\0\0\x0CjP  \r\n\x87\n", format("image/jp2", "JPEG 2000 image")),
    (b"\x89HDF\r\n\x1A\n", format("application/x-hdf5", "HDF5 data")),
    (b"\x93NUMPY", format("application/x-npy", "NumPy array")),
    (b"ARROW1\0\0", format("application/vnd.apache.arrow.file", "Arrow data")),
    (b"Obj\x01", format("application/vnd.apache.avro", "Avro data")),
    (b"\xAC\xED\0\x05", format("application/x-java-serialized-object", "serialized Java objects")),
    (b"\xD4\xC3\xB2\xA1", format("application/vnd.tcpdump.pcap", "packet capture")),
    (b"\xA1\xB2\xC3\xD4", format("application/vnd.tcpdump.pcap", "packet capture")),
    (b"PACK\0\0\0", format("application/x-git-pack", "Git pack")),
    (b"DIRC\0\0\0", format("application/x-git-index", "Git index")),
    (b"\xFFtOc", format("application/x-git-pack-index", "Git pack index")),
    (b"PK\x05\x06", format("application/zip", "empty ZIP archive")),
    (b"PK\x07\x08", format("application/zip", "ZIP archive")),
    (b"BZh\x311AY&SY", format("application/x-bzip2", "bzip2 archive")),
    (b"\xFF\xFE\0\0", format("text/plain; charset=utf-32", "UTF-32 text")),
    (b"\0\0\xFE\xFF", format("text/plain; charset=utf-32", "UTF-32 text")),
];

/// Letters that a binary format starts with and a text can start with, and the extensions under which
/// they are enough.
const LETTERS: &[(&[u8], &[&str], Format)] = &[
    (b"GIF87a", &["gif"], format("image/gif", "GIF image")),
    (b"GIF89a", &["gif"], format("image/gif", "GIF image")),
    (b"wOFF", &["woff"], format("font/woff", "WOFF font")),
    (b"wOF2", &["woff2"], format("font/woff2", "WOFF2 font")),
    (b"MZ", &["exe", "dll"], format("application/vnd.microsoft.portable-executable", "Windows executable")),
    (b"!<arch>\n", &["a", "lib", "deb", "rlib"], format("application/x-archive", "ar archive")),
    (b"PAR1", &["parquet"], format("application/vnd.apache.parquet", "Parquet data")),
    (b"ORC", &["orc"], format("application/x-orc", "ORC data")),
    (b"GGUF", &["gguf"], format("application/x-gguf", "GGUF model")),
    (b"FWS", &["swf"], format("application/x-shockwave-flash", "Flash animation")),
    (b"CWS", &["swf"], format("application/x-shockwave-flash", "Flash animation")),
    (b"bplist00", &["plist"], format("application/x-bplist", "binary property list")),
    (b"LZIP", &["lz"], format("application/x-lzip", "lzip archive")),
    (b"xar!", &["xar", "pkg"], format("application/x-xar", "XAR archive")),
];

/// Binary formats that are known by nothing but the name.
const EXTENSIONS: &[(&[&str], Format)] = &[
    (&["exe", "dll"], format("application/vnd.microsoft.portable-executable", "Windows executable")),
    (&["o", "obj", "so", "dylib", "a", "lib", "rlib"], format("application/octet-stream", "object code")),
    (&["pyc", "pyo"], format("application/x-python-code", "Python bytecode")),
    (&["pkl", "pickle"], format("application/octet-stream", "Python pickle")),
    (&["safetensors"], format("application/octet-stream", "tensors")),
    (&["m2ts"], format("video/mp2t", "MPEG transport stream")),
    (&["mpg", "mpeg"], format("video/mpeg", "MPEG video")),
    (&["mp3"], format("audio/mpeg", "MP3 audio")),
    (&["aac"], format("audio/aac", "AAC audio")),
    (&["mp4", "m4v"], format("video/mp4", "MP4 video")),
    (&["ttf"], format("font/ttf", "TrueType font")),
    (&["eot"], format("application/vnd.ms-fontobject", "EOT font")),
    (&["ico"], format("image/x-icon", "icon")),
    (&["tga"], format("image/x-tga", "TGA image")),
    (&["iso"], format("application/x-iso9660-image", "disk image")),
    (&["dmg"], format("application/x-apple-diskimage", "disk image")),
    (&["zip"], format("application/zip", "ZIP archive")),
    (&["lzma"], format("application/x-lzma", "LZMA archive")),
    (&["br"], format("application/octet-stream", "Brotli archive")),
    (&["tar"], format("application/x-tar", "tar archive")),
    (&["der", "cer", "p12", "pfx"], format("application/octet-stream", "certificate or key")),
    (&["bin", "dat", "db", "idx", "pack"], UNKNOWN),
];

/// A binary of no known format.
pub(super) const UNKNOWN: Format = format("application/octet-stream", "binary data");

/// A PDF document.
pub(super) const PDF: Format = format("application/pdf", "PDF document");

/// The format that the contents are in, unless they may be text.
pub(super) fn format_of(head: &Head<'_>) -> Option<Format> {
    let bytes = head.bytes;
    if let Some((_, format)) = SIGNATURES.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(*format);
    }
    if let Some(format) = structured(head) {
        return Some(format);
    }
    let (_, _, format) = LETTERS.iter().find(|(magic, extensions, _)| {
        bytes.starts_with(magic) && (head.has_nul || extensions.contains(&head.extension))
    })?;
    Some(*format)
}

/// The format that binary data under this name is likely in.
pub(super) fn format_by_extension(extension: &str) -> Option<Format> {
    EXTENSIONS.iter().find(|(extensions, _)| extensions.contains(&extension)).map(|(_, format)| *format)
}

/// Formats that take more than a comparison.
fn structured(head: &Head<'_>) -> Option<Format> {
    let bytes = head.bytes;
    if is_pdf(head) {
        return Some(PDF);
    }
    match bytes {
        [b'P', b'K', 3, 4, ..] => return Some(zip(bytes, head.extension)),
        [b'R', b'I', b'F', b'F', ..] => return riff(head),
        [b'B', b'M', ..] if is_bmp(bytes) => return Some(format("image/bmp", "BMP image")),
        [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
            if rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90") =>
        {
            return Some(format("application/x-bzip2", "bzip2 archive"));
        }
        // The same four bytes start a Java class, where a version of at least 45 follows, and a
        // universal Mach-O binary, where the number of its architectures follows.
        [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 1..=44, ..] => {
            return Some(format("application/x-mach-binary", "universal Mach-O binary"));
        }
        [0xCA, 0xFE, 0xBA, 0xBE, ..] => return Some(format("application/java-vm", "Java class")),
        // The number of pictures, and the reserved byte of the first one.
        [0, 0, kind @ (1 | 2), 0, 1..=255, 0, _, _, _, 0, ..] => {
            return Some(format("image/x-icon", if *kind == 1 { "icon" } else { "cursor" }));
        }
        // The number of tables.
        [0, 1, 0, 0, 0, 1..=64, ..] => return Some(format("font/ttf", "TrueType font")),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] if head.has_nul => return Some(iso_media(bytes)),
        // Also a line of Latin-1, unless there is more.
        [0xFF, 0x0A, ..] if head.has_nul || head.extension == "jxl" => {
            return Some(format("image/jxl", "JPEG XL image"));
        }
        // The length of the block, then the mark for the order of its bytes.
        [0x0A, 0x0D, 0x0D, 0x0A, _, _, _, _, 0x1A, 0x2B, 0x3C, 0x4D, ..]
        | [0x0A, 0x0D, 0x0D, 0x0A, _, _, _, _, 0x4D, 0x3C, 0x2B, 0x1A, ..] => {
            return Some(format("application/x-pcapng", "packet capture"));
        }
        [0xFF, second, third, ..] if head.has_nul && is_mpeg_audio(*second, *third) => {
            return Some(format("audio/mpeg", "MP3 audio"));
        }
        _ => {}
    }
    if head.has_nul && bytes.get(257..262) == Some(b"ustar") {
        return Some(format("application/x-tar", "tar archive"));
    }
    if is_transport_stream(bytes, 0, 188) || is_transport_stream(bytes, 4, 192) {
        return Some(format("video/mp2t", "MPEG transport stream"));
    }
    None
}

fn is_pdf(head: &Head<'_>) -> bool {
    let Some(rest) = head.bytes.strip_prefix(b"%PDF-") else { return false };
    // A text about PDF goes on in its first line; a document made of plain text does not.
    let has_header = matches!(
        rest,
        [b'0'..=b'9', b'.', b'0'..=b'9'] | [b'0'..=b'9', b'.', b'0'..=b'9', b'\r' | b'\n', ..]
    );
    has_header || head.has_nul || head.extension == "pdf"
}

fn is_bmp(bytes: &[u8]) -> bool {
    // Two reserved numbers, and the size of one of the known headers.
    bytes.get(6..10) == Some(&[0; 4])
        && matches!(bytes.get(14..18), Some([12 | 16 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

fn riff(head: &Head<'_>) -> Option<Format> {
    let found = match head.bytes.get(8..12)? {
        b"WEBP" => format("image/webp", "WebP image"),
        b"WAVE" => format("audio/wav", "WAV audio"),
        b"AVI " => format("video/x-msvideo", "AVI video"),
        _ => format("application/x-riff", "RIFF data"),
    };
    let has_chunk = matches!(head.bytes.get(12..16), Some(b"VP8 " | b"VP8L" | b"VP8X" | b"fmt " | b"LIST"));
    let is_named = matches!(head.extension, "webp" | "wav" | "avi");
    (has_chunk || is_named || head.has_nul).then_some(found)
}

/// Containers of MPEG-4 and its relatives, by their brand.
fn iso_media(bytes: &[u8]) -> Format {
    match bytes.get(8..12) {
        Some(b"avif" | b"avis") => format("image/avif", "AVIF image"),
        Some(b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"mif1" | b"msf1") => {
            format("image/heic", "HEIC image")
        }
        Some(b"qt  ") => format("video/quicktime", "QuickTime video"),
        Some(b"M4A " | b"M4B ") => format("audio/mp4", "MPEG-4 audio"),
        Some(brand) if brand.starts_with(b"3g") => format("video/3gpp", "3GP video"),
        _ => format("video/mp4", "MP4 video"),
    }
}

fn is_mpeg_audio(second: u8, third: u8) -> bool {
    // Frame sync, and a layer, a bit rate and a sampling rate that exist.
    let is_layer_known = second & 0xE0 == 0xE0 && second & 0x06 != 0 && second & 0x18 != 0x08;
    is_layer_known && second < 0xFC && !matches!(third >> 4, 0 | 15) && third & 0x0C != 0x0C
}

/// Packets of one size that each start with the same byte, `G`.
fn is_transport_stream(bytes: &[u8], first: usize, packet_bytes: usize) -> bool {
    let mut starts = bytes.iter().skip(first).step_by(packet_bytes).take(4);
    starts.len() >= 2 && starts.all(|&byte| byte == 0x47) && memchr::memchr2(0, 0xFF, bytes).is_some()
}

/// Which of the formats that are ZIP archives inside.
fn zip(bytes: &[u8], extension: &str) -> Format {
    const WORD: Format =
        format("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "Word document");
    const SHEET: Format =
        format("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Excel workbook");
    const SLIDES: Format = format(
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "PowerPoint presentation",
    );
    const JAR: Format = format("application/java-archive", "Java archive");
    const APK: Format = format("application/vnd.android.package-archive", "Android package");

    let has = |name: &[u8]| memchr::memmem::find(bytes, name).is_some();
    // The first entry of EPUB and OpenDocument is their media type, as plain text.
    let stored = bytes.get(30..).filter(|entry| entry.starts_with(b"mimetype")).map(|entry| &entry[8..]);
    match stored {
        Some(media) if media.starts_with(b"application/epub+zip") => {
            return format("application/epub+zip", "EPUB book");
        }
        Some(media) if media.starts_with(b"application/vnd.oasis.opendocument.text") => {
            return format("application/vnd.oasis.opendocument.text", "OpenDocument text");
        }
        Some(media) if media.starts_with(b"application/vnd.oasis.opendocument.spreadsheet") => {
            return format("application/vnd.oasis.opendocument.spreadsheet", "OpenDocument spreadsheet");
        }
        Some(media) if media.starts_with(b"application/vnd.oasis.opendocument.presentation") => {
            return format("application/vnd.oasis.opendocument.presentation", "OpenDocument presentation");
        }
        _ => {}
    }
    if has(b"[Content_Types].xml") || has(b"_rels/.rels") {
        if has(b"word/") {
            return WORD;
        }
        if has(b"xl/") {
            return SHEET;
        }
        if has(b"ppt/") {
            return SLIDES;
        }
    }
    match extension {
        "docx" => WORD,
        "xlsx" => SHEET,
        "pptx" => SLIDES,
        "jar" | "war" => JAR,
        "apk" => APK,
        _ if has(b"AndroidManifest.xml") => APK,
        _ if has(b"META-INF/MANIFEST.MF") => JAR,
        _ => format("application/zip", "ZIP archive"),
    }
}
