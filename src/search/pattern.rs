//! What `grep` searches for: a text or a regular expression, compiled.
//!
//! A pattern is compared with one line at a time, without the line's end (`\n` or `\r\n`), so `$`
//! and `\z` hold before either. A CR elsewhere is an ordinary character, but `.` does not match it.
//! Regular expressions are those of the crate `regex`: Unicode throughout (`\w`, `\d`, case), and
//! linear time in the text, which look-around and back-references would cost.
//!
//! Two engines, one meaning:
//! - `line` decides. It sees the text of one line and nothing else.
//! - `lines` finds. It runs over whole buffers at memory speed (ripgrep's engine, with its search
//!   for literals inside an expression) and names lines that may match; it never misses one.
//!
//! Always true:
//! - Whether a line matches does not depend on the lines around it.
//! - Every error about a part of the pattern quotes it and says where it is.
//!
//! Not here: reading lines out of a file, context, cutting long lines (`scan`).

use std::ops::Range;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::{ErrorKind as LinesErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_automata::{Input, meta::Regex};
use regex_syntax::{
    ast::{self, Ast, Span, parse::ParserBuilder},
    hir::{self, translate::TranslatorBuilder},
};

use crate::error::{FsError, Result};

/// The longest pattern, in bytes. The time per byte of text is bounded by the size of the pattern,
/// and patterns that overlap themselves (`aaaa…`) come near that bound; with a hundred kilobytes
/// they would take minutes for a small file.
pub const PATTERN_BYTES_MAX: usize = 4_096;

/// The most memory a compiled pattern may take, in bytes; the default of the crate `regex`. Reached
/// with repetitions of large classes such as `\w{5000}`, whose compilation takes too long as well.
const COMPILED_BYTES_MAX: usize = 10 << 20;

/// What a search may use for the states it computes on the way, in bytes and per thread. Used only
/// as far as needed; with much less, expressions full of Unicode classes would start over often.
const SEARCH_STATE_BYTES_MAX: usize = 16 << 20;

/// How deep groups and classes may nest; the default of the crate `regex`. The parser recurses.
const NESTING_MAX: u32 = 250;

/// The most characters of a pattern that an error quotes.
const QUOTED_CHARS_MAX: usize = 40;

/// How the text of a pattern is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Every character stands for itself.
    Literal,
    /// A regular expression.
    Regex,
}

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// They do.
    Sensitive,
    /// They do not, by the simple case folding of Unicode.
    Ignored,
}

/// A compiled pattern. Threads that search at the same time had better have a clone each: cloning is
/// cheap, and saves a lock per search.
#[derive(Debug, Clone)]
pub struct Pattern {
    line: Regex,
    lines: RegexMatcher,
    /// What a hit of `lines` says.
    trust: Trust,
}

/// How far `lines` can be trusted with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Every line that it names matches.
    Sure,
    /// A line that it names may match, others do not.
    Candidate,
    /// Not usable: the pattern means something else in a buffer of several lines.
    None,
}

impl Pattern {
    /// Compiles a pattern. The empty pattern matches every line.
    ///
    /// Fails with `EINVAL` if it is not a regular expression, could only match across a line
    /// break, or is too large.
    pub fn new(text: &str, syntax: Syntax, case: Case) -> Result<Pattern> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(FsError::invalid(format!(
                "a pattern may have at most {PATTERN_BYTES_MAX} bytes, this one has {}; search for a shorter part",
                text.len()
            )));
        }
        let expression = match syntax {
            Syntax::Literal if text.contains('\n') => return Err(contains_line_break()),
            Syntax::Literal => &regex_syntax::escape(text),
            Syntax::Regex => text,
        };
        let ignore_case = case == Case::Ignored;

        let ast = ParserBuilder::new()
            .nest_limit(NESTING_MAX)
            .build()
            .parse(expression)
            .map_err(|error| refused_syntax(expression, &error))?;
        let facts = Facts::of(&ast);
        if let Some(span) = &facts.line_break {
            return Err(refused(
                expression,
                span,
                "is a line break, but grep compares the pattern with one line at a time; \
                 search for a part that stands on one line",
            ));
        }
        // CRLF mode without multi-line mode: `.` leaves out CR, and `^` and `$` are the two ends of
        // the text, which is one line.
        let hir = TranslatorBuilder::new()
            .utf8(false)
            .case_insensitive(ignore_case)
            .multi_line(false)
            .crlf(true)
            .build()
            .translate(expression, &ast)
            .map_err(|error| refused_meaning(expression, &error))?;
        // The order matters: `crlf` lets `$` match before CR and would also forbid CR in the
        // pattern, which the line terminator set after it takes back.
        let lines = RegexMatcherBuilder::new()
            .nest_limit(NESTING_MAX)
            .case_insensitive(ignore_case)
            .multi_line(true)
            .crlf(true)
            .line_terminator(Some(b'\n'))
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(SEARCH_STATE_BYTES_MAX)
            .build(expression)
            .map_err(|error| match error.kind() {
                LinesErrorKind::NotAllowed(_) => contains_line_break(),
                _ => too_large(),
            })?;
        let line = Regex::builder()
            .configure(
                Regex::config()
                    .utf8_empty(false)
                    .nfa_size_limit(Some(COMPILED_BYTES_MAX))
                    .hybrid_cache_capacity(SEARCH_STATE_BYTES_MAX),
            )
            .build_from_hir(&hir)
            .map_err(|_| too_large())?;

        let never_cr = lines.non_matching_bytes().is_some_and(|bytes| bytes.contains(b'\r'));
        let trust = if lines.line_terminator().is_none() || facts.turns_off_crlf {
            Trust::None
        } else if never_cr && !hir.properties().look_set().contains_anchor() {
            Trust::Sure
        } else {
            // The hit may rest on the CR of a line's end, or on a lone CR, before and after which
            // `lines` takes `$` and `^` to hold.
            Trust::Candidate
        };
        Ok(Pattern { line, lines, trust })
    }

    /// The first match in the text of one line.
    pub fn find_in_line(&self, line: &[u8]) -> Option<Range<usize>> {
        self.line.find(line).map(|found| found.range())
    }

    /// Whether the text of one line matches.
    pub fn is_match_in_line(&self, line: &[u8]) -> bool {
        self.line.is_match(line)
    }

    /// Whether no line of this buffer can match, found out without looking at lines. Does not say
    /// the opposite: after `false`, there still may be none.
    pub fn is_hopeless(&self, buffer: &[u8]) -> bool {
        matches!(self.trust, Trust::Sure | Trust::Candidate)
            && matches!(self.find_candidate_line(buffer), Ok(None))
    }
}

/// The text of a line: without the `\n` or `\r\n` that ends it. The last line of a file may end in
/// nothing, or in the CR of a line end that was cut in two.
pub fn line_text(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What `grep-searcher` asks a pattern, which is about lines with or without their end.
impl Matcher for Pattern {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, line: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        let text = line_text(line);
        if at > text.len() {
            return Ok(None);
        }
        let found = self.line.find(Input::new(text).range(at..));
        Ok(found.map(|found| Match::new(found.start(), found.end())))
    }

    fn shortest_match_at(&self, line: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        let text = line_text(line);
        if at > text.len() {
            return Ok(None);
        }
        Ok(self.line.search_half(&Input::new(text).range(at..)).map(|found| found.offset()))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        (self.trust != Trust::None).then_some(LineTerminator::byte(b'\n'))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        // Only asked to find out whether whole buffers can be searched, which `line_terminator`
        // has answered.
        None
    }

    fn find_candidate_line(&self, buffer: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        let Some(hit) = self.lines.find_candidate_line(buffer)? else {
            return Ok(None);
        };
        let (LineMatchKind::Candidate(at) | LineMatchKind::Confirmed(at)) = hit;
        // `^` and `$` also hold after the line break that ends the buffer, where no line is. A hit
        // there is the first one, so there is no other.
        if at == buffer.len() && buffer.ends_with(b"\n") {
            return Ok(None);
        }
        Ok(Some(match self.trust {
            Trust::Sure => hit,
            Trust::Candidate | Trust::None => LineMatchKind::Candidate(at),
        }))
    }
}

/// What decides about a pattern and is only visible in its syntax.
#[derive(Default)]
struct Facts {
    /// The first line break that has to match itself. One among other characters of a class is
    /// none: the others can match.
    line_break: Option<Span>,
    /// Whether CRLF mode is turned off somewhere, and with it `$` before `\r\n` in a buffer.
    turns_off_crlf: bool,
}

impl Facts {
    fn of(ast: &Ast) -> Facts {
        match ast::visit(ast, Facts::default()) {
            Ok(facts) => facts,
            Err(never) => match never {},
        }
    }
}

impl ast::Visitor for Facts {
    type Output = Facts;
    type Err = std::convert::Infallible;

    fn finish(self) -> std::result::Result<Facts, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> std::result::Result<(), Self::Err> {
        let flags = match ast {
            Ast::Literal(literal) if literal.c == '\n' => {
                self.line_break.get_or_insert(literal.span);
                None
            }
            Ast::Flags(set) => Some(&set.flags),
            Ast::Group(group) => group.flags(),
            _ => None,
        };
        self.turns_off_crlf |= flags.and_then(|flags| flags.flag_state(ast::Flag::CRLF)) == Some(false);
        Ok(())
    }
}

fn contains_line_break() -> FsError {
    FsError::invalid(
        "the pattern contains a line break, but grep compares it with one line at a time; \
         search for a part that stands on one line",
    )
}

fn too_large() -> FsError {
    FsError::invalid(
        "the pattern is too large once compiled; use smaller counts in its repetitions, or fewer alternatives",
    )
}

fn refused_syntax(pattern: &str, error: &ast::Error) -> FsError {
    use ast::ErrorKind as Kind;

    let span = error.span();
    let quoted = &pattern[span.start.offset..span.end.offset];
    let why = match error.kind() {
        Kind::UnsupportedLookAround => {
            let name = if quoted.contains('<') { "look-behind" } else { "look-ahead" };
            format!("is {name}, which is not supported; match the text around it as part of the line instead")
        }
        Kind::UnsupportedBackreference if quoted == r"\0" => {
            r"is not supported; write \x00 for the NUL character".to_owned()
        }
        Kind::UnsupportedBackreference => {
            "is a back-reference, which is not supported; write out what it would repeat".to_owned()
        }
        Kind::EscapeUnrecognized => unknown_escape(quoted),
        Kind::EscapeUnexpectedEof => r"cuts an escape short; write \\ for a backslash".to_owned(),
        Kind::EscapeHexEmpty | Kind::EscapeHexInvalid | Kind::EscapeHexInvalidDigit => {
            r"is not the code of a character; write it like \x41 or \u{1F600}".to_owned()
        }
        Kind::ClassEscapeInvalid => "cannot stand in a character class".to_owned(),
        Kind::ClassRangeInvalid => "is a range whose end comes before its start".to_owned(),
        Kind::ClassRangeLiteral => {
            r"is a range between things that are not single characters; write \- for a hyphen".to_owned()
        }
        Kind::ClassUnclosed => {
            r"opens a character class that is never closed; write \[ for the character itself".to_owned()
        }
        Kind::GroupUnclosed => {
            r"opens a group that is never closed; write \( for the character itself".to_owned()
        }
        Kind::GroupUnopened => {
            r"closes a group that was never opened; write \) for the character itself".to_owned()
        }
        Kind::RepetitionMissing => {
            "has nothing before it to repeat; put a backslash before it for the character itself".to_owned()
        }
        Kind::RepetitionCountUnclosed | Kind::RepetitionCountDecimalEmpty | Kind::DecimalEmpty => {
            r"is not a repetition count like {2} or {2,5}; write \{ for the character itself".to_owned()
        }
        Kind::RepetitionCountInvalid => "is a repetition whose maximum is below its minimum".to_owned(),
        Kind::DecimalInvalid => "is too large a number".to_owned(),
        Kind::FlagUnrecognized | Kind::FlagUnexpectedEof | Kind::FlagDanglingNegation => {
            "is not a kind of group that is supported; there are (…), (?:…), (?<name>…) and flags like (?i)"
                .to_owned()
        }
        Kind::GroupNameDuplicate { .. } => "is the name of two groups; rename one".to_owned(),
        Kind::GroupNameEmpty | Kind::GroupNameInvalid | Kind::GroupNameUnexpectedEof => {
            "is not the name of a group; use letters, digits and _ as in (?<name>…)".to_owned()
        }
        Kind::NestLimitExceeded(max) => format!("nests deeper than {max} levels"),
        Kind::UnicodeClassInvalid => r"is not a Unicode class; write it like \p{L} or \p{Greek}".to_owned(),
        other => format!("is not valid: {other}"),
    };
    refused(pattern, span, &why)
}

/// Escapes that other engines have.
fn unknown_escape(quoted: &str) -> String {
    match quoted.chars().nth(1) {
        Some('k' | 'g') => "is a back-reference, which is not supported; write out what it would repeat",
        Some('Z') => r"is not supported; write $ for the end of the line",
        Some('h') => r"is not supported; write [ \t] for blanks",
        Some('R' | 'N') => "is not supported; a pattern is compared with one line at a time",
        Some('c') => r"is not supported; write the code of the control character, like \x01",
        Some('G' | 'K' | 'X' | 'C' | 'Q' | 'E') => "is not supported",
        _ => r"means nothing; leave out the backslash, or write \\ for a backslash",
    }
    .to_owned()
}

fn refused_meaning(pattern: &str, error: &hir::Error) -> FsError {
    use hir::ErrorKind as Kind;

    let why = match error.kind() {
        Kind::UnicodePropertyNotFound | Kind::UnicodePropertyValueNotFound => {
            r"is not a Unicode class that exists; there are for example \p{L}, \p{Lu}, \p{Nd}, \p{Greek}"
                .to_owned()
        }
        other => format!("is not valid: {other}"),
    };
    refused(pattern, error.span(), &why)
}

/// `the pattern is not a regular expression that can be used: "(?=" at character 4 …`
fn refused(pattern: &str, span: &Span, why: &str) -> FsError {
    let mut part = &pattern[span.start.offset..span.end.offset];
    if part.is_empty() {
        // The parser means the place before this character, or the end.
        let rest = &pattern[span.start.offset..];
        part = rest.chars().next().map_or("", |next| &rest[..next.len_utf8()]);
    }
    let position = pattern[..span.start.offset].chars().count() + 1;
    let what = match part.char_indices().nth(QUOTED_CHARS_MAX) {
        _ if part.is_empty() => "the end".to_owned(),
        None => format!("{part:?}").replace(r"\\", r"\"),
        Some((end, _)) => format!("{:?}", format!("{}…", &part[..end])).replace(r"\\", r"\"),
    };
    FsError::invalid(format!("the regular expression cannot be used: {what} at character {position} {why}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Code;

    fn regex(text: &str) -> Pattern {
        Pattern::new(text, Syntax::Regex, Case::Sensitive).unwrap()
    }

    /// Which of the texts match.
    #[track_caller]
    fn check(pattern: &Pattern, want: &[(&str, bool)]) {
        let got: Vec<_> =
            want.iter().map(|(text, _)| (*text, pattern.is_match_in_line(text.as_bytes()))).collect();
        assert_eq!(got, want);
    }

    #[track_caller]
    fn refusal(text: &str, syntax: Syntax) -> String {
        let error = Pattern::new(text, syntax, Case::Sensitive).unwrap_err();
        assert_eq!(error.code(), Code::Inval);
        error.to_string()
    }

    #[test]
    fn literals_stand_for_themselves() {
        let literal = |text| Pattern::new(text, Syntax::Literal, Case::Sensitive).unwrap();
        check(&literal("a.b(*"), &[("xa.b(*x", true), ("aab(*", false), ("A.b(*", false)]);
        check(&literal(""), &[("", true), ("a", true)]);
        check(&literal(r"\n"), &[(r"\n", true), ("n", false)]);
        check(&literal("a b#c"), &[("a b#c", true)]);
        check(&literal("\r"), &[("a\rb", true), ("ab", false)]);
    }

    #[test]
    fn case_is_ignored_by_unicode_rules() {
        let folded = |text| Pattern::new(text, Syntax::Literal, Case::Ignored).unwrap();
        check(&folded("éK"), &[("ÉK", true), ("ék", true), ("É\u{212a}", true), ("ek", false)]);
        check(&regex("(?i)todo"), &[("ToDo", true)]);
    }

    #[test]
    fn anchors_are_the_ends_of_the_line() {
        check(&regex("^a$"), &[("a", true), ("ab", false), ("a\r", false), ("x\ra", false)]);
        check(&regex(r"\Aa\z"), &[("a", true), ("ba", false)]);
        check(&regex(""), &[("", true), ("a", true)]);
        check(&regex("^$"), &[("", true), ("a", false)]);
    }

    #[test]
    fn what_javascript_writes_the_same_way_is_understood() {
        check(&regex(r"(?<year>\d{4})-\d\d"), &[("on 2024-05", true)]);
        check(&regex(r"\u0041\x42\/\-"), &[("AB/-", true)]);
        check(&regex(r"\bfoo\b"), &[("a foo b", true), ("afoo", false)]);
        check(&regex(r"a+?b{2,}"), &[("aabb", true), ("ab", false)]);
        check(&regex(r"\p{L}"), &[("é", true), ("1", false)]);
    }

    #[test]
    fn refusals_name_the_part_the_place_and_the_way_out() {
        let prefix = "EINVAL: the regular expression cannot be used: ";
        for (pattern, want) in [
            (
                "foo(?=bar)",
                r#""(?=" at character 4 is look-ahead, which is not supported; match the text around it as part of the line instead"#,
            ),
            (
                "é(?!x)",
                r#""(?!" at character 2 is look-ahead, which is not supported; match the text around it as part of the line instead"#,
            ),
            (
                "(?<!a)b",
                r#""(?<!" at character 1 is look-behind, which is not supported; match the text around it as part of the line instead"#,
            ),
            (
                r"(a)\1",
                r#""\1" at character 4 is a back-reference, which is not supported; write out what it would repeat"#,
            ),
            (
                r"(?<q>a)\k<q>",
                r#""\k" at character 8 is a back-reference, which is not supported; write out what it would repeat"#,
            ),
            (r"\0", r#""\0" at character 1 is not supported; write \x00 for the NUL character"#),
            (
                r"\cA",
                r#""\c" at character 1 is not supported; write the code of the control character, like \x01"#,
            ),
            (r"a\Z", r#""\Z" at character 2 is not supported; write $ for the end of the line"#),
            (
                r"\y",
                r#""\y" at character 1 means nothing; leave out the backslash, or write \\ for a backslash"#,
            ),
            (r"a\", r#""\" at character 2 cuts an escape short; write \\ for a backslash"#),
            (r"\x4", "the end at character 4 cuts an escape short; write \\\\ for a backslash"),
            (
                r"\u12z4",
                r#""z" at character 5 is not the code of a character; write it like \x41 or \u{1F600}"#,
            ),
            (
                "[^]",
                r#""[^]" at character 1 opens a character class that is never closed; write \[ for the character itself"#,
            ),
            ("[z-a]", r#""z-a" at character 2 is a range whose end comes before its start"#),
            (
                r"[a-\d]",
                r#""\d" at character 4 is a range between things that are not single characters; write \- for a hyphen"#,
            ),
            (
                "call(",
                r#""(" at character 5 opens a group that is never closed; write \( for the character itself"#,
            ),
            (
                "a)",
                r#"")" at character 2 closes a group that was never opened; write \) for the character itself"#,
            ),
            (
                "*.ts",
                r#""*" at character 1 has nothing before it to repeat; put a backslash before it for the character itself"#,
            ),
            (
                "a{",
                r#""{" at character 2 is not a repetition count like {2} or {2,5}; write \{ for the character itself"#,
            ),
            ("a{3,2}", r#""{3,2}" at character 2 is a repetition whose maximum is below its minimum"#),
            (
                "(?>a)",
                r#"">" at character 3 is not a kind of group that is supported; there are (…), (?:…), (?<name>…) and flags like (?i)"#,
            ),
            (
                "(?<a-b>x)",
                r#""-" at character 5 is not the name of a group; use letters, digits and _ as in (?<name>…)"#,
            ),
            ("(?<a>x)(?<a>y)", r#""a" at character 11 is the name of two groups; rename one"#),
            (
                r"\p{Klingon}",
                r#""\p{Klingon}" at character 1 is not a Unicode class that exists; there are for example \p{L}, \p{Lu}, \p{Nd}, \p{Greek}"#,
            ),
        ] {
            assert_eq!(refusal(pattern, Syntax::Regex), format!("{prefix}{want}"), "{pattern}");
        }
        let deep = "(".repeat(300) + &")".repeat(300);
        let message = refusal(&deep, Syntax::Regex);
        assert!(message.ends_with("nests deeper than 250 levels"), "{message}");
        assert!(message.len() < 250, "quotes too much: {message}");
    }

    #[test]
    fn patterns_with_a_line_break_are_refused() {
        let refused_whole = |pattern, syntax| {
            assert_eq!(
                refusal(pattern, syntax),
                "EINVAL: the pattern contains a line break, but grep compares it with one line at a time; \
                 search for a part that stands on one line",
                "{pattern:?}"
            );
        };
        refused_whole("a\nb", Syntax::Literal);
        refused_whole("a\r\nb", Syntax::Literal);
        refused_whole(r"[\n]", Syntax::Regex);
        for (pattern, part) in [
            ("a\nb", r#""\n" at character 2"#),
            (r"é\nb", r#""\n" at character 2"#),
            (r"a|\n", r#""\n" at character 3"#),
            (r"(\x0a)", r#""\x0a" at character 2"#),
        ] {
            assert_eq!(
                refusal(pattern, Syntax::Regex),
                format!(
                    "EINVAL: the regular expression cannot be used: {part} is a line break, but grep compares \
                     the pattern with one line at a time; search for a part that stands on one line"
                ),
            );
        }
        // These match other characters as well.
        check(&regex(r"a[\n\t]b"), &[("a\tb", true)]);
        check(&regex(r"a\sb"), &[("a b", true), ("a\rb", true)]);
        check(&regex("(?x) a # comment\n b"), &[("ab", true)]);
    }

    #[test]
    fn patterns_beyond_the_limits_are_refused() {
        assert_eq!(
            refusal(r"\w{5000}", Syntax::Regex),
            "EINVAL: the pattern is too large once compiled; use smaller counts in its repetitions, \
             or fewer alternatives"
        );
        let longest: String = ('a'..='z').cycle().take(PATTERN_BYTES_MAX).collect();
        check(
            &Pattern::new(&longest, Syntax::Literal, Case::Sensitive).unwrap(),
            &[(&longest, true), ("a", false)],
        );
        assert_eq!(
            refusal(&format!("{longest}a"), Syntax::Literal),
            "EINVAL: a pattern may have at most 4096 bytes, this one has 4097; search for a shorter part"
        );
    }

    #[test]
    fn buffers_are_trusted_where_they_can_be() {
        for (pattern, want) in [
            ("foo", Trust::Sure),
            (r"\bfoo\w+", Trust::Sure),
            (r"foo\s", Trust::Candidate),
            ("foo$", Trust::Candidate),
            ("^foo", Trust::Candidate),
            (r"\Afoo", Trust::None),
            (r"(?-m)foo$", Trust::None),
            (r"(?-R)foo$", Trust::None),
            (r"(?-R:foo)$", Trust::None),
        ] {
            assert_eq!(regex(pattern).trust, want, "{pattern}");
        }
    }

    proptest! {
        /// The engine for buffers may name too many lines, but must not miss one.
        #[test]
        fn no_matching_line_is_called_hopeless(
            pattern in prop::sample::select(vec![
                "", "a", "^", "$", "^$", "^a", "a$", "a b", r"\s$", r"a\s*$", r"\r", r"a\rb", r".a.", r"[^b]$",
                r"\ba", r"b\b", r"\Ba", r"\Aa", r"a\z", r"(?-m)^a", r"(?-R)a$", r"(?s).b$", r"(?m)a$", "é|b", r"\w+a\w+",
            ]),
            before in "[ab\r\n]{0,4}",
            line in "[ab\ré ]{0,5}",
            end in prop::sample::select(vec!["", "\n", "\r\n", "\n\n", "\r\na"]),
        ) {
            let pattern = regex(pattern);
            let buffer = if before.is_empty() { format!("{line}{end}") } else { format!("{before}\n{line}{end}") };
            let text = line_text(line.as_bytes());
            let text = if end.starts_with('\n') || end.is_empty() { text } else { line.as_bytes() };
            if pattern.is_match_in_line(text) && !(line.is_empty() && end.is_empty()) {
                prop_assert!(!pattern.is_hopeless(buffer.as_bytes()), "{:?}", buffer);
            }
        }
    }
}
