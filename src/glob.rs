//! Globs: which paths `find` and `grep` look at.
//!
//! A glob is compared with a whole path relative to the searched directory, character by
//! character and case-sensitively:
//!
//! | In the glob | Matches |
//! | --- | --- |
//! | `*` | any run of characters without `/`, also an empty one |
//! | `**/` | nothing, or any text that ends in `/` |
//! | `**` elsewhere | any run of characters, `/` and line breaks included |
//! | `?` | one character (a Unicode scalar value) other than `/` |
//! | `{a,b}` | one of the alternatives, which may be empty, hold wildcards, and nest |
//!
//! Everything else stands for itself, `[`, `]`, `!` and `\` included. So do the braces of a group
//! that has no comma of its own or is never closed; what is between them keeps its meaning.
//! Wildcards are read left to right inside one alternative and never joined across a brace:
//! `{a,*}*` is `a*` or any name, not `**`.
//!
//! Always true:
//! - A match costs at most (length of the glob) × (length of the path), whatever the glob.
//!   Nothing backtracks, so a glob written by a model cannot hang a search.
//! - A relative path has no leading `/`, no `./` and no trailing `/`; a glob that asks for one of
//!   these matches nothing.
//!
//! Globs are not handed to `globset`: its `?` is one *byte*, and it refuses stray braces instead of
//! taking them literally. Common shapes need no regular expression at all, see [`Middle`].
//!
//! Not here: walking directories (`find`), and what text is searched for (`pattern`).

use regex_automata::{Anchored, Input, meta::Regex};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition,
};

use crate::error::{FsError, Result};

/// The longest glob, in bytes: no path is longer than this, and the cost of a match is the product
/// of both lengths.
pub const GLOB_BYTES_MAX: usize = 4_096;

/// How deep alternatives may nest. Compiling recurses once per level, on threads with small stacks.
pub const GLOB_NESTING_MAX: usize = 32;

/// The most globs in one `include` or `exclude`. Each of them is compared with every path.
pub const GLOBS_MAX: usize = 1_000;

/// The most bytes that the globs of one `include` or `exclude` have together. Each may compile to a
/// thousand times its length, and is compared with every path.
pub const GLOBS_BYTES_MAX: usize = 64 * 1024;

/// The most memory that one compiled glob may take, in bytes. The length cap keeps well below it;
/// this one holds should a later version of the compiler need more.
const COMPILED_BYTES_MAX: usize = 10 << 20;

/// One compiled glob. Threads that search at the same time had better have a clone each, as with
/// patterns.
#[derive(Debug, Clone)]
pub struct Glob {
    /// What every matching path starts with.
    prefix: String,
    /// What every matching path ends with, after the prefix and not overlapping it.
    suffix: String,
    /// What is allowed between the two.
    middle: Middle,
    /// The most `/` that a matching path can have; `None` if there is no such number.
    slashes_max: Option<usize>,
}

/// What may stand between the literal ends of a glob.
///
/// Almost every glob in use is a literal start, one wildcard, and a literal end (`*.rs`,
/// `src/**`, `**/node_modules`, `src/**/*.ts`), and comparing the ends is several times faster than
/// any automaton. The rest of the language goes through one.
#[derive(Debug, Clone)]
enum Middle {
    /// Nothing: the glob is a literal.
    Nothing,
    /// Any run without `/`.
    Name,
    /// Nothing, or anything that ends in `/`.
    Directories,
    /// Anything.
    Anything,
    /// What this expression matches as a whole.
    Expression(Box<Regex>),
}

/// One piece of a parsed glob.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(String),
    /// `?`
    Character,
    /// `*`
    Name,
    /// `**/`
    Directories,
    /// `**`
    Anything,
    /// `{…,…}`
    Alternatives(Vec<Vec<Token>>),
}

impl Glob {
    /// Compiles a glob. The empty glob matches everything.
    ///
    /// Fails with `EINVAL` if the glob is longer than [`GLOB_BYTES_MAX`] or nests deeper than
    /// [`GLOB_NESTING_MAX`]. No other text is wrong: what is not a wildcard is a literal.
    pub fn new(pattern: &str) -> Result<Glob> {
        if pattern.len() > GLOB_BYTES_MAX {
            return Err(FsError::invalid(format!(
                "a glob may have at most {GLOB_BYTES_MAX} bytes, this one has {}; split it into several",
                pattern.len()
            )));
        }
        if pattern.is_empty() {
            return Ok(Glob {
                prefix: String::new(),
                suffix: String::new(),
                middle: Middle::Anything,
                slashes_max: None,
            });
        }
        let mut tokens = parse(pattern)?;
        let slashes_max = slashes_max(&tokens);
        let prefix = match tokens.first() {
            Some(Token::Literal(_)) => literal_text(tokens.remove(0)),
            _ => String::new(),
        };
        let suffix = match tokens.last() {
            Some(Token::Literal(_)) => tokens.pop().map(literal_text).unwrap_or_default(),
            _ => String::new(),
        };
        let middle = match tokens.as_slice() {
            [] => Middle::Nothing,
            [Token::Name] => Middle::Name,
            [Token::Directories] => Middle::Directories,
            [Token::Anything] | [Token::Directories, Token::Name] => Middle::Anything,
            _ => Middle::Expression(Box::new(compile(&tokens)?)),
        };
        Ok(Glob { prefix, suffix, middle, slashes_max })
    }

    /// Whether the glob matches this path as a whole.
    pub fn is_match(&self, relative_path: &str) -> bool {
        let Some(middle) = relative_path
            .as_bytes()
            .strip_prefix(self.prefix.as_bytes())
            .and_then(|rest| rest.strip_suffix(self.suffix.as_bytes()))
        else {
            return false;
        };
        match &self.middle {
            Middle::Nothing => middle.is_empty(),
            Middle::Name => memchr::memchr(b'/', middle).is_none(),
            Middle::Directories => middle.is_empty() || middle.ends_with(b"/"),
            Middle::Anything => true,
            Middle::Expression(regex) => regex.is_match(Input::new(middle).anchored(Anchored::Yes)),
        }
    }

    /// Whether a path below this directory could match. May be true when none does; is never false
    /// when one does.
    fn may_match_below(&self, directory: &str) -> bool {
        let depth = memchr::memchr_iter(b'/', directory.as_bytes()).count() + 1;
        if self.slashes_max.is_some_and(|max| depth > max) {
            return false;
        }
        // What both have must agree; past the end of the shorter one anything can follow.
        let known = directory.bytes().chain([b'/']);
        self.prefix.bytes().zip(known).all(|(wanted, is)| wanted == is)
    }
}

/// Which paths a search wants: those that `pattern` matches and no `exclude` does.
#[derive(Debug, Clone)]
pub struct PathFilter {
    /// One of them has to match; none wants everything.
    include: Vec<Glob>,
    exclude: Vec<Exclude>,
}

/// One glob of `exclude`.
#[derive(Debug, Clone)]
struct Exclude {
    glob: Glob,
    /// `a/**` hides what is below `a`. A directory of which nothing can be seen is hidden too; a
    /// file named `a` has nothing below it and stays. This is the glob of the directory itself.
    directory: Option<Glob>,
}

impl PathFilter {
    /// Compiles the globs of a search. No glob in `include`, or an empty one, wants everything; empty
    /// globs in `exclude` are dropped.
    pub fn new<'g>(include: impl IntoIterator<Item = &'g str>, exclude: &[String]) -> Result<PathFilter> {
        let globs: Vec<&str> = include.into_iter().collect();
        let wants_all = globs.contains(&"");
        let bytes = |globs: &mut dyn Iterator<Item = usize>| globs.sum::<usize>();
        for (name, count, bytes) in [
            ("include", globs.len(), bytes(&mut globs.iter().map(|glob| glob.len()))),
            ("exclude", exclude.len(), bytes(&mut exclude.iter().map(String::len))),
        ] {
            if bytes > GLOBS_BYTES_MAX {
                return Err(FsError::invalid(format!(
                    "the globs of {name} may have at most {GLOBS_BYTES_MAX} bytes together, these have {bytes}"
                )));
            }
            if count > GLOBS_MAX {
                return Err(FsError::invalid(format!(
                    "{name} may have at most {GLOBS_MAX} globs, this one has {count}; join some of them with {{a,b}}",
                )));
            }
        }
        let include =
            if wants_all { Vec::new() } else { globs.into_iter().map(Glob::new).collect::<Result<_>>()? };
        let exclude = exclude
            .iter()
            .filter(|glob| !glob.is_empty())
            .map(|glob| {
                let directory = match glob.strip_suffix("/**") {
                    None | Some("") => None,
                    Some(directory) => Some(Glob::new(directory)?),
                };
                Ok(Exclude { glob: Glob::new(glob)?, directory })
            })
            .collect::<Result<_>>()?;
        Ok(PathFilter { include, exclude })
    }

    /// Whether the pattern asks for this path. Says nothing about `exclude`.
    pub fn wants(&self, relative: &str) -> bool {
        self.include.is_empty() || self.include.iter().any(|glob| glob.is_match(relative))
    }

    /// Whether the pattern could ask for a path below this directory: if not, entering it is of no
    /// use. Says nothing about `exclude`.
    pub fn wants_below(&self, directory: &str) -> bool {
        self.include.is_empty() || self.include.iter().any(|glob| glob.may_match_below(directory))
    }

    /// Whether a file or link of this path is hidden.
    pub fn excludes(&self, relative: &str) -> bool {
        self.exclude.iter().any(|exclude| exclude.glob.is_match(relative))
    }

    /// Whether a directory of this path is hidden, and with it all that it holds.
    pub fn prunes_dir(&self, relative: &str) -> bool {
        self.exclude.iter().any(|Exclude { glob, directory }| {
            glob.is_match(relative) || directory.as_ref().is_some_and(|glob| glob.is_match(relative))
        })
    }
}

/// A group of braces that is one: where it opens, and where its commas and its end are.
struct Group {
    open: usize,
    commas: Vec<usize>,
    close: usize,
}

/// The groups of a glob in the order in which they open. Braces without a partner or without a
/// comma of their own are not among them.
fn groups(pattern: &str) -> Result<Vec<Group>> {
    let mut groups = Vec::new();
    let mut opened: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            b'{' => opened.push((at, Vec::new())),
            b',' => {
                if let Some((_, commas)) = opened.last_mut() {
                    commas.push(at);
                }
            }
            b'}' => {
                if let Some((open, commas)) = opened.pop()
                    && !commas.is_empty()
                {
                    groups.push(Group { open, commas, close: at });
                }
            }
            _ => {}
        }
    }
    groups.sort_unstable_by_key(|group| group.open);

    let mut closes: Vec<usize> = Vec::new();
    for group in &groups {
        closes.retain(|close| *close > group.open);
        closes.push(group.close);
        if closes.len() > GLOB_NESTING_MAX {
            return Err(FsError::invalid(format!(
                "the alternatives of a glob may nest at most {GLOB_NESTING_MAX} deep; write it with fewer braces"
            )));
        }
    }
    Ok(groups)
}

/// Reads a glob left to right.
fn parse(pattern: &str) -> Result<Vec<Token>> {
    /// A group being read: its alternatives so far, and where it comes from.
    struct Open {
        outer: Vec<Token>,
        alternatives: Vec<Vec<Token>>,
        group: Group,
    }

    let mut groups = groups(pattern)?.into_iter().peekable();
    let mut open: Vec<Open> = Vec::new();
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = pattern.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        match character {
            '?' => tokens.push(Token::Character),
            '*' => {
                if rest.next_if(|(_, next)| *next == '*').is_none() {
                    tokens.push(Token::Name);
                } else if rest.next_if(|(_, next)| *next == '/').is_some() {
                    tokens.push(Token::Directories);
                } else {
                    tokens.push(Token::Anything);
                }
            }
            '{' if groups.peek().is_some_and(|group| group.open == at) => {
                if let Some(group) = groups.next() {
                    let outer = std::mem::take(&mut tokens);
                    open.push(Open { outer, alternatives: Vec::new(), group });
                }
            }
            // A comma that belongs to an unclosed brace is not in any group's list: it is text.
            ',' if open.last().is_some_and(|open| open.group.commas.binary_search(&at).is_ok()) => {
                if let Some(open) = open.last_mut() {
                    open.alternatives.push(std::mem::take(&mut tokens));
                }
            }
            '}' if open.last().is_some_and(|open| open.group.close == at) => {
                if let Some(Open { outer, mut alternatives, .. }) = open.pop() {
                    alternatives.push(std::mem::replace(&mut tokens, outer));
                    tokens.push(Token::Alternatives(alternatives));
                }
            }
            _ => match tokens.last_mut() {
                Some(Token::Literal(text)) => text.push(character),
                _ => tokens.push(Token::Literal(character.into())),
            },
        }
    }
    Ok(tokens)
}

fn literal_text(token: Token) -> String {
    match token {
        Token::Literal(text) => text,
        _ => String::new(),
    }
}

/// The most `/` that a match can have, `None` if there is no such number.
fn slashes_max(tokens: &[Token]) -> Option<usize> {
    tokens.iter().try_fold(0, |sum, token| {
        Some(
            sum + match token {
                Token::Literal(text) => text.bytes().filter(|byte| *byte == b'/').count(),
                Token::Character | Token::Name => 0,
                Token::Directories | Token::Anything => return None,
                Token::Alternatives(alternatives) => {
                    let mut most = 0;
                    for alternative in alternatives {
                        most = most.max(slashes_max(alternative)?);
                    }
                    most
                }
            },
        )
    })
}

/// An expression that matches what the tokens match, as a whole.
fn compile(tokens: &[Token]) -> Result<Regex> {
    let whole = Hir::concat(vec![Hir::look(Look::Start), sequence(tokens), Hir::look(Look::End)]);
    Regex::builder()
        .configure(Regex::config().utf8_empty(false).nfa_size_limit(Some(COMPILED_BYTES_MAX)))
        .build_from_hir(&whole)
        .map_err(|_| FsError::invalid("the glob is too large once compiled; split it into several"))
}

fn sequence(tokens: &[Token]) -> Hir {
    Hir::concat(tokens.iter().map(expression).collect())
}

fn expression(token: &Token) -> Hir {
    match token {
        Token::Literal(text) => Hir::literal(text.as_bytes()),
        Token::Character => {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new('/', '/')]);
            class.negate();
            Hir::class(Class::Unicode(class))
        }
        // Bytes instead of characters where a run is skipped: that is one state instead of a dozen,
        // and no run can end inside a character, because what follows starts one.
        Token::Name => any_number_of(&[(0, b'/' - 1), (b'/' + 1, 0xff)]),
        Token::Anything => any_number_of(&[(0, 0xff)]),
        Token::Directories => Hir::alternation(vec![
            Hir::concat(vec![any_number_of(&[(0, 0xff)]), Hir::literal(*b"/")]),
            Hir::empty(),
        ]),
        Token::Alternatives(alternatives) => {
            Hir::alternation(alternatives.iter().map(|alternative| sequence(alternative)).collect())
        }
    }
}

fn any_number_of(ranges: &[(u8, u8)]) -> Hir {
    let ranges = ranges.iter().map(|&(start, end)| ClassBytesRange::new(start, end));
    Hir::repetition(Repetition {
        min: 0,
        max: None,
        greedy: true,
        sub: Box::new(Hir::class(Class::Bytes(ClassBytes::new(ranges)))),
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;
    use crate::error::Code;

    /// Each path with whether the glob matches it.
    #[track_caller]
    fn check(glob: &str, want: &[(&str, bool)]) {
        let compiled = Glob::new(glob).unwrap();
        let got: Vec<_> = want.iter().map(|(path, _)| (*path, compiled.is_match(path))).collect();
        assert_eq!(got, want, "{glob}");
    }

    #[track_caller]
    fn refused(result: Result<impl Sized>) -> String {
        let error = result.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), Code::Inval);
        error.to_string()
    }

    #[test]
    fn star_stays_in_one_name() {
        check("*", &[("a", true), ("", true), ("a/b", false), ("a\nb", true), (".hidden", true)]);
        check("*.ts", &[("a.ts", true), (".ts", true), ("a/b.ts", false), ("a.tsx", false)]);
        check("src/*.ts", &[("src/a.ts", true), ("src/.ts", true), ("src/a/b.ts", false), ("src.ts", false)]);
        check("a*b*c", &[("abc", true), ("axbyc", true), ("ab/c", false), ("acb", false)]);
    }

    #[test]
    fn star_star_slash_is_nothing_or_directories() {
        check("**/a", &[("a", true), ("x/a", true), ("x/y/a", true), ("xa", false), ("a/x", false)]);
        check("src/**/a", &[("src/a", true), ("src/x/a", true), ("src/xa", false), ("srca", false)]);
        check("**/*.ts", &[("a.ts", true), ("x/y/a.ts", true), ("x/y/.ts", true), ("a.tsx", false)]);
        check("a**/b", &[("ab", true), ("ax/b", true), ("a/b", true), ("a/x/b", true), ("axb", false)]);
        check("**/**/a", &[("a", true), ("x/a", true), ("x/y/z/a", true), ("xa", false)]);
        check("x/**/y/**/z", &[("x/y/z", true), ("x/1/y/2/3/z", true), ("x/y", false), ("x/z", false)]);
    }

    #[test]
    fn star_star_elsewhere_is_anything() {
        check("**", &[("a", true), ("a/b", true), ("a\n/b", true)]);
        check("src/**", &[("src/a", true), ("src/a/b", true), ("src", false), ("srcs/a", false)]);
        check("a**b", &[("ab", true), ("a/b", true), ("a/x\n/b", true), ("a/bc", false)]);
        check("**.ts", &[("a.ts", true), ("x/a.ts", true), ("x/.ts", true), ("ts", false)]);
        check("***", &[("a/b", true), ("", true)]);
    }

    #[test]
    fn question_mark_is_one_character() {
        check(
            "?",
            &[("a", true), ("é", true), ("😀", true), ("\n", true), ("/", false), ("ab", false), ("", false)],
        );
        check("a?c", &[("abc", true), ("aéc", true), ("a/c", false), ("ac", false)]);
        check("??", &[("😀", false), ("😀😀", true), ("e\u{301}", true)]);
        check("*?é", &[("éé", true), ("xéé", true), ("é", false)]);
    }

    #[test]
    fn braces_are_alternatives() {
        check("{a,b}", &[("a", true), ("b", true), ("ab", false), ("{a,b}", false)]);
        check("*.{ts,tsx}", &[("x.ts", true), ("x.tsx", true), ("x.t", false), ("x/y.ts", false)]);
        check("a{,b,}c", &[("ac", true), ("abc", true), ("abbc", false)]);
        check("{,}", &[("", true), ("a", false)]);
        check(
            "{a,{b,{c,d}e}f}g",
            &[("ag", true), ("bfg", true), ("cefg", true), ("defg", true), ("cg", false)],
        );
        check("{src,test/**}/*.ts", &[("src/a.ts", true), ("test/x/a.ts", true), ("src/x/a.ts", false)]);
        check("{**/,}x", &[("x", true), ("a/x", true), ("ax", false)]);
        check("{a,*}*", &[("abc", true), ("b", true), ("b/c", false)]);
        check("{a/b,c}/d", &[("a/b/d", true), ("c/d", true), ("a/d", false)]);
        check("{é,ü}?", &[("éx", true), ("üß", true), ("é", false)]);
    }

    #[test]
    fn braces_that_are_no_group_are_text() {
        check("{a}", &[("{a}", true), ("a", false)]);
        check("{}", &[("{}", true), ("", false)]);
        check("{a", &[("{a", true)]);
        check("{a,b", &[("{a,b", true), ("a", false)]);
        check("a}", &[("a}", true)]);
        check("a,b", &[("a,b", true)]);
        check("{*}", &[("{x}", true), ("{}", true), ("x", false)]);
        check("{a{b,c}d}", &[("{abd}", true), ("{acd}", true), ("abd", false)]);
        check("{a,{b,c}", &[("{a,b", true), ("{a,c", true), ("a", false)]);
        check("{a{b}c,d}", &[("a{b}c", true), ("d", true), ("abc", false)]);
        check("{a,b}}", &[("a}", true), ("b}", true)]);
    }

    #[test]
    fn everything_else_is_text() {
        check("[x]", &[("[x]", true), ("x", false)]);
        check("!a", &[("!a", true), ("b", false)]);
        check(r"\*", &[(r"\*", true), (r"\x", true), ("*", false)]);
        check("a.b", &[("a.b", true), ("axb", false)]);
        check("(a|b)+^$", &[("(a|b)+^$", true), ("a", false)]);
        check("A", &[("A", true), ("a", false)]);
    }

    #[test]
    fn shapes_that_no_relative_path_has_match_nothing() {
        for glob in ["/a", "./a", "../a", "a/", "/**", "{/a,./a}"] {
            check(glob, &[("a", false), ("a/b", false)]);
        }
        check("**/", &[("a", false), ("a/b", false)]);
    }

    #[test]
    fn the_ends_of_a_glob_do_not_overlap() {
        check("ab*ba", &[("abba", true), ("aba", false), ("ab/ba", false)]);
        check("aa**aa", &[("aaa", false), ("aaaa", true), ("aa/aa", true)]);
        check("a/**/b", &[("a/b", true), ("a/x/b", true), ("a/", false)]);
    }

    #[test]
    fn empty_glob_matches_everything() {
        check("", &[("a", true), ("a/b", true)]);
    }

    #[test]
    fn globs_beyond_the_limits_are_refused() {
        let longest = "a".repeat(GLOB_BYTES_MAX);
        check(&longest, &[(&longest, true)]);
        assert_eq!(
            refused(Glob::new(&format!("{longest}a"))),
            "EINVAL: a glob may have at most 4096 bytes, this one has 4097; split it into several"
        );

        let nested = |depth: usize| "{".repeat(depth) + "a" + &",b}".repeat(depth);
        check(&nested(GLOB_NESTING_MAX), &[("a", true), ("b", true), ("c", false)]);
        assert_eq!(
            refused(Glob::new(&nested(GLOB_NESTING_MAX + 1))),
            "EINVAL: the alternatives of a glob may nest at most 32 deep; write it with fewer braces"
        );
        // Braces that are text do not nest, however many there are.
        let literal = "{".repeat(GLOB_BYTES_MAX);
        check(&literal, &[(&literal, true)]);

        let long = vec!["a".repeat(GLOB_BYTES_MAX); GLOBS_BYTES_MAX / GLOB_BYTES_MAX + 1];
        assert_eq!(
            refused(PathFilter::new(None, &long)),
            "EINVAL: the globs of exclude may have at most 65536 bytes together, these have 69632"
        );
        assert!(PathFilter::new(None, &long[1..]).is_ok());

        let many = vec!["a".to_owned(); GLOBS_MAX + 1];
        assert_eq!(
            refused(PathFilter::new(None, &many)),
            "EINVAL: exclude may have at most 1000 globs, this one has 1001; join some of them with {a,b}"
        );
    }

    #[test]
    fn largest_globs_compile_and_match_in_bounded_time() {
        let path = "a".repeat(GLOB_BYTES_MAX);
        for glob in [
            "**/*a*a*a*a*a*a*a*b".to_owned(),
            "*a".repeat(GLOB_BYTES_MAX / 2),
            "?".repeat(GLOB_BYTES_MAX),
            "*?".repeat(GLOB_BYTES_MAX / 2),
            "**/".repeat(GLOB_BYTES_MAX / 3) + "b",
            format!("{{{}b}}", "*a,".repeat(GLOB_BYTES_MAX / 3 - 1)),
            "{,a}".repeat(GLOB_BYTES_MAX / 4),
            "{*,a}".repeat(GLOB_BYTES_MAX / 5) + "b",
        ] {
            let start = Instant::now();
            Glob::new(&glob).unwrap().is_match(&path);
            // Orders of magnitude above what it takes, and below what backtracking would.
            assert!(start.elapsed() < Duration::from_secs(20), "{glob:.40}: {:?}", start.elapsed());
        }
    }

    fn filter(pattern: Option<&str>, exclude: &[&str]) -> PathFilter {
        let exclude: Vec<_> = exclude.iter().map(|glob| (*glob).to_owned()).collect();
        PathFilter::new(pattern, &exclude).unwrap()
    }

    #[test]
    fn no_pattern_wants_everything() {
        for pattern in [None, Some("")] {
            let filter = filter(pattern, &["", ""]);
            assert!(filter.wants("a") && filter.wants("a/b"));
            assert!(!filter.excludes("a") && !filter.prunes_dir("a"));
        }
    }

    #[test]
    fn excluded_directories_are_pruned() {
        // glob, path, is a file of that path excluded, is a directory of that path pruned
        for (exclude, path, excluded, pruned) in [
            ("node_modules", "node_modules", true, true),
            ("node_modules", "a/node_modules", false, false),
            ("**/node_modules", "a/node_modules", true, true),
            ("node_modules/**", "node_modules", false, true),
            ("node_modules/**", "node_modules/a", true, true),
            ("**/node_modules/**", "a/node_modules", false, true),
            ("**/node_modules/**", "node_modules", false, true),
            ("{a,b}/**", "b", false, true),
            ("{a/**,b}", "a", false, false),
            ("a/**/**", "a", false, false),
            ("src/", "src", false, false),
            ("/**", "src", false, false),
            ("**", "src", true, true),
            ("*.log", "x.log", true, true),
        ] {
            let filter = filter(None, &["zzz", exclude]);
            assert_eq!(
                (filter.excludes(path), filter.prunes_dir(path)),
                (excluded, pruned),
                "{exclude} against {path}"
            );
        }
    }

    #[test]
    fn directories_without_wanted_paths_need_not_be_entered() {
        for (pattern, directory, want) in [
            ("src/**/*.ts", "src", true),
            ("src/**/*.ts", "src/a/b", true),
            ("src/**/*.ts", "srcs", false),
            ("src/**/*.ts", "lib", false),
            ("src/a/*.ts", "src", true),
            ("src/a/*.ts", "src/a", true),
            ("src/a/*.ts", "src/a/b", false),
            ("src/a/*.ts", "src/b", false),
            ("*.ts", "a", false),
            ("*/*.ts", "a", true),
            ("*/*.ts", "a/b", false),
            ("{a,b/c}/*", "b/c", true),
            ("{a,b/c}/*", "b/c/d", false),
            ("{a,**}", "b/c/d", true),
            ("src", "src", false),
        ] {
            assert_eq!(filter(Some(pattern), &[]).wants_below(directory), want, "{pattern} in {directory}");
        }
    }

    /// The same language as a slow, plain matcher: the meaning of each sign is written out as the
    /// choices it leaves, and all of them are tried.
    mod plain {
        pub fn is_match(glob: &str, path: &str) -> bool {
            let glob: Vec<char> = glob.chars().collect();
            let path: Vec<char> = path.chars().collect();
            glob.is_empty() || run(&glob, &path, &|rest| rest.is_empty())
        }

        /// Whether `glob` matches a beginning of `path` after which `then` holds.
        fn run(glob: &[char], path: &[char], then: &dyn Fn(&[char]) -> bool) -> bool {
            match glob {
                [] => then(path),
                ['*', '*', '/', rest @ ..] => {
                    run(rest, path, then)
                        || (1..=path.len()).any(|n| path[n - 1] == '/' && run(rest, &path[n..], then))
                }
                ['*', '*', rest @ ..] => (0..=path.len()).any(|n| run(rest, &path[n..], then)),
                ['*', rest @ ..] => (0..=path.len())
                    .take_while(|n| !path[..*n].contains(&'/'))
                    .any(|n| run(rest, &path[n..], then)),
                ['?', rest @ ..] => path.first().is_some_and(|c| *c != '/') && run(rest, &path[1..], then),
                ['{', rest @ ..] if let Some((alternatives, after)) = group(rest) => alternatives
                    .iter()
                    .any(|alternative| run(alternative, path, &|remaining| run(after, remaining, then))),
                [c, rest @ ..] => path.first() == Some(c) && run(rest, &path[1..], then),
            }
        }

        /// What follows an opening brace, as alternatives and the rest, if it is a group.
        fn group(text: &[char]) -> Option<(Vec<&[char]>, &[char])> {
            let (mut depth, mut start, mut alternatives) = (0, 0, Vec::new());
            for (at, c) in text.iter().enumerate() {
                match c {
                    '{' => depth += 1,
                    '}' if depth > 0 => depth -= 1,
                    ',' if depth == 0 => {
                        alternatives.push(&text[start..at]);
                        start = at + 1;
                    }
                    '}' => {
                        let is_group = !alternatives.is_empty();
                        alternatives.push(&text[start..at]);
                        return is_group.then_some((alternatives, &text[at + 1..]));
                    }
                    _ => {}
                }
            }
            None
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn agrees_with_a_plain_matcher(
            glob in "([ab/é*?{},]|\\*\\*|\\*\\*/|\\{[ab*/]{0,2},[ab?/é{}]{0,2}\\}){0,7}",
            paths in prop::collection::vec("[ab/é{},]{0,6}", 1..12),
        ) {
            let compiled = Glob::new(&glob).unwrap();
            for path in &paths {
                prop_assert_eq!(compiled.is_match(path), plain::is_match(&glob, path), "{} {}", glob, path);
            }
        }

        #[test]
        fn directories_of_matching_paths_are_entered(
            glob in "([ab/*{},]|\\*\\*|\\*\\*/|\\{[ab*/]{0,2},[ab/]{0,2}\\}){0,6}",
            path in "[ab]{1,2}(/[ab]{1,2}){1,3}",
        ) {
            let filter = PathFilter::new(Some(glob.as_str()), &[]).unwrap();
            if filter.wants(&path) {
                for (at, _) in path.match_indices('/') {
                    prop_assert!(filter.wants_below(&path[..at]), "{} {}", glob, &path[..at]);
                }
            }
        }
    }
}
