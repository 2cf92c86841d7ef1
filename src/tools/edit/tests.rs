//! The engine as a whole: a row for every rule, and random texts against what must hold for all.

use std::ops::Range;

use proptest::prelude::*;

use super::*;

const LIMITS: DiffLimits = DiffLimits { max_lines: 2_000, max_bytes: 131_072 };

fn edit(old_text: &str, new_text: &str) -> Edit {
    Edit { old_text: old_text.to_owned(), new_text: new_text.to_owned(), replace_all: false }
}

fn edit_all(old_text: &str, new_text: &str) -> Edit {
    Edit { replace_all: true, ..edit(old_text, new_text) }
}

/// The edited text and the rule of the first edit, or the code of the refusal.
fn outcome(text: &str, edits: &[Edit]) -> Result<(String, Rule), &'static str> {
    match plan(text, edits) {
        Ok(plan) => {
            assert_sound(text, &plan);
            Ok((apply(text, &plan.splices), plan.matches[0].rule))
        }
        Err(refusal) => Err(refusal.code),
    }
}

/// What holds for every plan.
fn assert_sound(text: &str, plan: &Plan) {
    let mut at = 0;
    for splice in &plan.splices {
        assert!(at <= splice.range.start && splice.range.start <= splice.range.end, "{:?}", plan.splices);
        assert_ne!(text[splice.range.clone()], splice.replacement, "a splice without effect");
        assert!(!lines::splits_pair(text, splice.range.start) && !lines::splits_pair(text, splice.range.end));
        at = splice.range.end;
    }
}

#[track_caller]
fn check(text: &str, edits: &[Edit], want: &str, rule: Rule) {
    assert_eq!(outcome(text, edits), Ok((want.to_owned(), rule)), "{text:?} {edits:?}");
}

#[track_caller]
fn check_refused(text: &str, edits: &[Edit], code: &'static str) -> Refusal {
    let refusal = plan(text, edits).expect_err("is refused");
    assert_eq!(refusal.code, code, "{}", refusal.error);
    refusal
}

#[test]
fn exact_texts_are_replaced_literally() {
    for (text, old, new, want) in [
        ("log(1);\n", "log(1);", "log($&, $1);", "log($&, $1);\n"),
        ("a\tb", "\t", "  ", "a  b"),
        ("a\u{fffd}b", "\u{fffd}", "x", "axb"),
        ("aXb", "X", "", "ab"),
        ("“a” 'a'", "“a”", "x", "x 'a'"),
        ("é e\u{301}", "é", "x", "x e\u{301}"),
    ] {
        check(text, &[edit(old, new)], want, Rule::Exact);
    }
}

#[test]
fn line_endings_and_byte_order_marks_are_ignored() {
    for (text, old, new, want) in [
        ("a\r\nb\r\nc\r\n", "a\nb", "a\nB", "a\r\nB\r\nc\r\n"),
        ("a\nb\n", "a\r\nb", "a\r\nB\r\nC", "a\nB\nC\n"),
        ("a\rb\rc", "a\nb", "a\nB\nC", "a\rB\rC\rc"),
        ("a\r\nb\nc\rd", "a\nb\nc\nd", "a\nb\nC\nd", "a\r\nb\nC\rd"),
        ("a\nb", "\u{feff}a\nb", "\u{feff}A\nb", "A\nb"),
        ("a\r\nb\r\n", "a\nb\n", "", ""),
        ("a\r\nb\r\n", "b\n", "b\nc\n", "a\r\nb\r\nc\r\n"),
    ] {
        let rule = outcome(text, &[edit(old, new)]).map(|(_, rule)| rule);
        let want_rule = if text.contains(old) { Rule::Exact } else { Rule::LineEndings };
        assert_eq!(rule, Ok(want_rule), "{text:?} {old:?}");
        check(text, &[edit(old, new)], want, want_rule);
    }
    check("a\r\nb\r\na\r\nb\r\n", &[edit_all("a\nb", "c\nd")], "c\r\nd\r\nc\r\nd\r\n", Rule::LineEndings);
}

#[test]
fn a_pair_of_return_and_feed_is_never_halved() {
    for (old, new, want) in [
        ("\nb", "\nB", "a\r\nB\r\nc"),
        ("\nb", "", "a\r\nc"),
        ("a\r", "x\r", "x\r\nb\r\nc"),
        ("a\r", "x", "x\r\nb\r\nc"),
        ("b\r\nc", "b\nX\nc", "a\r\nb\r\nX\r\nc"),
        ("b\r\n", "", "a\r\nc"),
    ] {
        check("a\r\nb\r\nc", &[edit(old, new)], want, Rule::Exact);
    }
    check("x\r\nx\rx", &[edit_all("x\r", "y\r")], "y\r\ny\rx", Rule::Exact);
}

#[test]
fn loose_texts_are_found_and_their_surroundings_kept() {
    for (text, old, new, want) in [
        ("say(“hi”, ‘you’);\n", "say(\"hi\", 'you');", "say(\"hi\", 'you', 1);", "say(“hi”, ‘you’, 1);\n"),
        ("a — b\u{a0}c\n", "a - b c", "a - b d", "a — b\u{a0}d\n"),
        ("a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc", "a  \nB\t\nc\n"),
        ("a\nb\n", "a  \nb  ", "a  \nc  ", "a\nc\n"),
        ("ﬁle ①\n", "file 1", "file 2", "ﬁle 2\n"),
        ("“x”\r\ny  \r\nz\r\n", "\"x\"\ny\nz", "\"x\"\nnew\nz", "“x”\r\nnew  \r\nz\r\n"),
        ("„a“ = 1", "\"a\" = ", "\"b\" = ", "„b“ = 1"),
        ("–a = 1", "-a = ", "-a == ", "–a == 1"),
        ("cafe\u{301} x\n", "café x", "café y", "cafe\u{301} y\n"),
    ] {
        check(text, &[edit(old, new)], want, Rule::Loose);
    }
}

#[test]
fn loose_texts_must_name_one_whole_place() {
    // Part of a ligature, of a cluster, of a word behind trailing blanks, nothing at all.
    for (text, old) in [
        ("oﬃce", "of "),
        ("“ﬁ”", "\"f"),
        ("e\u{301}“", "e\""),
        ("x\u{301}“a”", "\u{301}\"a\""),
        ("“a” foobar", "\"a\" foo "),
        ("“a”", "\u{a0}"),
        ("“a”", "\u{3000}\u{2003}"),
    ] {
        check_refused(text, &[edit(old, "y")], "ENOMATCH");
    }
    check_refused("“a” ‘a’ “a”", &[edit("\"a\"", "b")], "EAMBIGUOUS");
    let refusal = check_refused("“a”\n“a”", &[edit_all("\"a\"", "b")], "EAMBIGUOUS");
    assert_eq!(refusal.lines, [1, 2]);
    check("“a”", &[edit_all("\"a\"", "b")], "b", Rule::Loose);
}

#[test]
fn shifted_blocks_are_found_and_the_replacement_is_shifted() {
    for (text, old, new, want) in [
        (
            "fn f() {\n        if x {\n            y();\n        }\n}\n",
            "if x {\n    y();\n}\n",
            "if x {\n    y();\n    if z {\n        w();\n    }\n}\n",
            "fn f() {\n        if x {\n            y();\n            if z {\n                w();\n            }\n        }\n}\n",
        ),
        ("\ta\n\t\tb\n", "    a\n        b", "    a\n        c\n            d", "\ta\n\t\tc\n\t\t\td\n"),
        ("    a\r\n        b\r\n", "\ta\n\t\tb\n", "\ta\n\n\t\tc\n", "    a\r\n\r\n        c\r\n"),
        ("a\n  b\n", "    a\n      b\n", "    a\n  x\n      b\n", "a\nx\n  b\n"),
        ("\ta  \n\n\t\tb\n", "a\n  \n\tb", "a\n  \n\tc", "\ta  \n\n\t\tc\n"),
    ] {
        check(text, &[edit(old, new)], want, Rule::Indentation);
    }
    check_refused("  a\n  b\n\n\ta\n\tb\n", &[edit("    a\n    b\n", "x")], "EAMBIGUOUS");
    check_refused("  a\n    x\n  c\n", &[edit("a\n  b\nc\n", "x")], "ENOMATCH");
    // Lines in the middle of a line are no block.
    check_refused("x a\n    b\n", &[edit("  a\n  b", "x")], "ENOMATCH");
}

#[test]
fn an_earlier_rule_wins_even_if_it_refuses() {
    check("a\nb\r\n", &[edit("a\n", "c\n")], "c\nb\r\n", Rule::Exact);
    check_refused("a\"b a\"b a“b", &[edit("a\"b", "x")], "EAMBIGUOUS");
}

#[test]
fn ambiguous_texts_are_refused_with_their_lines() {
    let refusal = check_refused("a\nb\na\nb\na\n", &[edit("a", "x")], "EAMBIGUOUS");
    assert_eq!((refusal.edit, refusal.lines), (Some(0), vec![1, 3, 5]));
    assert_eq!(
        refusal.error,
        "oldText is in the file at 3 places, starting on lines 1, 3, 5. Add surrounding lines until it names one \
         place, or set replaceAll to change all of them."
    );
    check_refused("aaa", &[edit("aa", "b")], "EAMBIGUOUS");
    check("aaa", &[edit_all("aa", "b")], "ba", Rule::Exact);
    let refusal = check_refused(&"x\n".repeat(5_000), &[edit("q", "q"), edit("x", "y")], "ENOMATCH");
    assert_eq!(refusal.edit, Some(0));
    let refusal = check_refused(&"x\n".repeat(5_000), &[edit("x\n", "y")], "EAMBIGUOUS");
    assert!(refusal.error.contains("at 1000 or more places") && refusal.error.contains("20 and more."));
    assert_eq!(refusal.lines.len(), 20);
}

#[test]
fn wrong_calls_are_refused() {
    check_refused("a", &[], "EINVAL");
    let refusal = check_refused("a", &[edit("", "b")], "EINVAL");
    assert!(refusal.error.contains("use write"), "{}", refusal.error);
    check_refused("a", &[edit("\u{feff}", "b")], "EINVAL");
    let refusal = check_refused("a", &[edit("a", "b"), edit("", "b")], "EINVAL");
    assert!(refusal.error.starts_with("edits[1].oldText is empty"), "{}", refusal.error);
    let long = "y".repeat(1 << 20);
    check_refused(&"x".repeat(100), &[edit_all("x", &long)], "EFBIG");
}

#[test]
fn edits_are_matched_against_the_original_and_may_touch() {
    check("a b c", &[edit("c", "a"), edit("a", "c")], "c b a", Rule::Exact);
    check("abc", &[edit("b", "X"), edit("a", "Y"), edit("c", "Z")], "YXZ", Rule::Exact);
    check("ab", &[edit("a", "aX"), edit("b", "Yb")], "aXYb", Rule::Exact);
    check("ab", &[edit("b", "Yb"), edit("a", "aX")], "aXYb", Rule::Exact);
    check("a\nb\n", &[edit("a", "a"), edit("b", "c")], "a\nc\n", Rule::Exact);
    for edits in [
        [edit("ab", "x"), edit("bc", "y")],
        [edit("bc", "y"), edit("ab", "x")],
        [edit("abc", "x"), edit("b", "b")],
        [edit("abc", "x"), edit("abc", "x")],
    ] {
        let refusal = check_refused("_abc_", &edits, "EINVAL");
        assert!(refusal.error.starts_with("edits[0] and edits[1] change the same text"), "{}", refusal.error);
    }
    assert!(plan("ab", &[edit("a", "a")]).unwrap().is_noop());
}

#[test]
fn matches_tell_where_and_how() {
    let text = "a\r\nb\r\n“c”\r\nd d\r\n";
    let edits = [edit_all("d", "e"), edit("\"c\"\nd", "x\ny"), edit("a\nb\n", "c")];
    check_refused(text, &edits, "EINVAL");
    let plan = plan(text, &[edits[0].clone(), edits[2].clone()]).unwrap();
    let want = [
        Matched { edit: 0, start_line: 4, end_line: 4, rule: Rule::Exact, count: 2 },
        Matched { edit: 1, start_line: 1, end_line: 2, rule: Rule::LineEndings, count: 1 },
    ];
    assert_eq!(plan.matches, want);
    assert_eq!(
        [Rule::Exact, Rule::LineEndings, Rule::Loose, Rule::Indentation].map(Rule::name),
        ["exact", "line-endings", "loose", "indentation"]
    );
}

#[test]
fn a_text_that_is_not_there_is_refused_with_what_is_near() {
    let text = "one\ntwo\nthree()\nfour\nfive\n";
    let refusal = check_refused(text, &[edit("one", "1"), edit("two\nthree(x)\nfour", "")], "ENOMATCH");
    assert_eq!(refusal.edit, Some(1));
    assert_eq!(
        refusal.error,
        "edits[1].oldText was not found in the file. The nearest text is at lines 2-4; it differs first in line 3: \
         the file has `three()`, oldText has `three(x)`. Read the file again or copy the text exactly."
    );
    assert_eq!(refusal.nearest.unwrap().text, "2\ttwo\n3\tthree()\n4\tfour");
    let refusal = check_refused(text, &[edit("zzzzzz", "")], "ENOMATCH");
    assert!(refusal.nearest.is_none() && refusal.error.contains("Nothing similar"), "{}", refusal.error);
    check_refused("", &[edit("a", "b")], "ENOMATCH");
}

#[test]
fn first_and_last_line_alone_never_suffice() {
    let refusal = check_refused("begin\n  a\n  b\nend\n", &[edit("begin\n  a\n  c\nend\n", "x")], "ENOMATCH");
    assert_eq!(refusal.nearest.map(|near| (near.start_line, near.end_line)), Some((1, 4)));
}

/// Texts on which a careless search is quadratic. Run in debug builds too, so the bound is wide.
#[test]
fn hostile_texts_do_not_hang() {
    let begin = std::time::Instant::now();
    let block: String = (0..20).map(|n| format!("line {n}\n")).collect();
    let copies: String = (0..10_000).map(|n| format!("{block}end {n}\n")).collect();
    let long_block = block.repeat(100);
    let accents = "e\u{301}".repeat(300_000);
    for (text, old) in [
        ("a\n".repeat(500_000), "a\n".repeat(3_000) + "b"),
        ("a\n".repeat(500_000), "\ta\n".repeat(3_000)),
        ("  a\n".repeat(300_000), "\ta\n".repeat(3_000) + "  a\n"),
        (copies.clone(), format!("{block}end x\n")),
        (copies, block.replace("line", "\tline") + "end x\n"),
        (long_block.repeat(10), long_block.clone() + "x"),
        (accents.clone(), "e".repeat(5_000)),
        (accents, "e\u{301}".repeat(5_000) + "e"),
        ("a".repeat(1 << 20), "a".repeat(1 << 19) + "b"),
        ("ﬁ".repeat(300_000), "fi".repeat(10_000) + "f"),
    ] {
        assert!(plan(&text, &[edit(&old, "x")]).is_err());
    }
    let many: Vec<Edit> = (0..50).map(|n| edit(&format!("\tuniq {n}\n\tb\n"), "x\n")).collect();
    let text =
        "  filler\n".repeat(100_000) + &(0..50).map(|n| format!("  uniq {n}\n  b\n")).collect::<String>();
    assert!(plan(&text, &many).is_ok());
    let one_line = "ab".repeat(100_000);
    let all = plan(&one_line, &[edit_all("a", "c")]).unwrap();
    diff("/a", &one_line, &apply(&one_line, &all.splices), &all.splices, &LIMITS);
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}

/// Applies a unified diff to a text with `\n`.
fn patched(old: &str, patch: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut result = String::new();
    let mut next = 0;
    let body = patch
        .split_once("\n+++ ")
        .map_or("", |(_, body)| body.split_once('\n').map_or("", |(_, hunks)| hunks));
    let mut rows = body.split_inclusive('\n').peekable();
    while let Some(row) = rows.next() {
        let (sign, content) = row.split_at(1);
        let is_last = rows.peek().is_some_and(|next| next.starts_with('\\'));
        let content = if is_last { content.trim_end_matches('\n') } else { content };
        match sign {
            "@" => {
                let header = row.split_once('-').unwrap().1.split_once(' ').unwrap().0;
                let (first, count) = header.split_once(',').unwrap();
                let first: usize = first.parse().unwrap();
                let start = if count == "0" { first } else { first - 1 };
                result.extend(old[next..start].iter().copied());
                next = start;
            }
            "+" => result.push_str(content),
            " " | "-" => {
                assert_eq!(old[next], content, "{patch}");
                next += 1;
                if sign == " " {
                    result.push_str(content);
                }
            }
            _ => {}
        }
    }
    result.extend(old[next..].iter().copied());
    result
}

fn with_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// What a rule may stumble over.
const SPECIAL: [&str; 17] = [
    "“",
    "”",
    "’",
    "'",
    "\"",
    "–",
    "\u{a0}",
    "ﬁ",
    "é",
    "e\u{301}",
    "\u{301}",
    "👩‍👩‍👧",
    "🇩🇪",
    "日本",
    "\u{feff}",
    "\u{200d}",
    "…",
];

/// Any text, with much that looks alike.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "foo", "bar", "}", "{", "(", ")", "x = 1;", " ", "  ", "\t"]),
        3 => prop::sample::select(vec!["\n", "\r\n", "\n\n", "\r\n\r\n", "\r"]),
        1 => prop::sample::select(SPECIAL.to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Positions of a text at which a character begins.
fn cut(text: &str, at: prop::sample::Index) -> usize {
    text.floor_char_boundary(at.index(text.len() + 1))
}

fn span(text: &str, a: prop::sample::Index, b: prop::sample::Index) -> Range<usize> {
    let (a, b) = (cut(text, a), cut(text, b));
    a.min(b)..a.max(b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_copied_span_is_found_exactly(
        before in any_text(),
        inner in any_text(),
        after in any_text(),
        new in any_text(),
    ) {
        // A marker makes it unique; what is around may end or begin with half a `\r\n`.
        let old = format!("⟦{inner}⟧");
        let text = format!("{before}{old}{after}");
        let new = with_feeds(&new);
        let plan = plan(&text, &[edit(&old, &new)]).unwrap();
        assert_sound(&text, &plan);
        prop_assert_eq!(plan.matches[0].rule, Rule::Exact);
        let result = apply(&text, &plan.splices);
        prop_assert!(result.starts_with(&before) && result.ends_with(&after));
        let middle = &result[before.len()..result.len() - after.len()];
        let new = new.strip_prefix('\u{feff}').unwrap_or(&new);
        prop_assert_eq!(with_feeds(middle), new);
    }

    #[test]
    fn any_span_of_a_text_is_found_or_ambiguous(
        text in any_text(),
        a: prop::sample::Index,
        b: prop::sample::Index,
        new in any_text(),
    ) {
        let range = span(&text, a, b);
        // Half a `\r\n` is no place.
        if range.is_empty() || (&text[range.clone()] == "\r" && text[range.end..].starts_with('\n')) {
            return Ok(());
        }
        match plan(&text, &[edit(&text[range.clone()], &new)]) {
            Err(refusal) => prop_assert_eq!(refusal.code, "EAMBIGUOUS"),
            Ok(plan) => {
                assert_sound(&text, &plan);
                prop_assert_eq!(plan.matches[0].rule, Rule::Exact);
            }
        }
    }

    #[test]
    fn feeds_find_returns_and_all_else_stays(before in any_text(), inner in any_text(), after in any_text()) {
        let old = format!("⟦{inner}\r\n⟧");
        let text = format!("{before}{old}{after}");
        let (old, new) = (with_feeds(&old), with_feeds(&old).replace('⟧', "⟧new"));
        let plan = plan(&text, &[edit(&old, &new)]).unwrap();
        assert_sound(&text, &plan);
        prop_assert_eq!(plan.matches[0].rule, Rule::LineEndings);
        prop_assert_eq!(apply(&text, &plan.splices), text.replace('⟧', "⟧new"));
    }

    #[test]
    fn a_near_miss_is_refused(
        lines in prop::collection::vec("[a-d]{3,8}", 3..8),
        at: prop::sample::Index,
        column: prop::sample::Index,
        how in 0..3_u8,
        shift in "[ \t]{0,4}",
    ) {
        let line = 1 + at.index(lines.len() - 2);
        let mut wrong = lines.clone();
        let column = column.index(wrong[line].len());
        match how {
            0 => wrong[line].replace_range(column..=column, "z"),
            1 => { wrong[line].remove(column); }
            _ => wrong[line].insert(column, 'z'),
        }
        prop_assume!(wrong != lines);
        let shifted: String = lines.iter().map(|line| format!("{shift}{line}\n")).collect();
        let text = format!("head\n{shifted}tail\n");
        prop_assume!(!text.contains(&wrong.join("\n")));
        let refusal = plan(&text, &[edit(&wrong.join("\n"), "new")]).unwrap_err();
        prop_assert_eq!(refusal.code, "ENOMATCH");
        if let Some(near) = refusal.nearest {
            prop_assert!(near.text.len() + near.difference.len() <= 2_048);
        }
    }

    #[test]
    fn replacing_all_is_what_the_standard_library_does(
        text in any_text(),
        old in prop::sample::select(vec!["a", "foo", "}", "  ", "bar"]),
        new in "[a-c{}]{0,6}",
    ) {
        let text = format!("{text}{old}");
        let plan = plan(&text, &[edit_all(old, &new)]).unwrap();
        assert_sound(&text, &plan);
        prop_assert_eq!(plan.matches[0].count, text.matches(old).count());
        prop_assert_eq!(apply(&text, &plan.splices), text.replace(old, &new));
    }

    #[test]
    fn several_edits_are_what_replacing_them_one_by_one_is(
        parts in prop::collection::vec((any_text(), any_text()), 1..6),
    ) {
        let marked = |n: usize, text: &str| format!("⟦{n}{}⟧", with_feeds(text));
        let numbered = || parts.iter().enumerate();
        let text: String = numbered().map(|(n, (old, _))| marked(n, old)).collect();
        let edits: Vec<Edit> =
            numbered().rev().map(|(n, (old, new))| edit(&marked(n, old), &marked(n, new))).collect();
        let want: String = numbered().map(|(n, (_, new))| marked(n, new)).collect();
        let plan = plan(&text, &edits).unwrap();
        assert_sound(&text, &plan);
        prop_assert_eq!(apply(&text, &plan.splices), want);
    }

    #[test]
    fn no_call_panics(text in any_text(), old in any_text(), new in any_text(), replace_all: bool) {
        if let Ok(plan) = plan(&text, &[Edit { old_text: old, new_text: new, replace_all }]) {
            assert_sound(&text, &plan);
            let result = apply(&text, &plan.splices);
            prop_assert_eq!(plan.is_noop(), result == text);
        }
    }

    #[test]
    fn a_loosely_written_span_is_found_and_unchanged_lines_stay(text in any_text(), a: prop::sample::Index) {
        // The quote keeps the rules before from finding it in the middle of a line.
        let text = format!("“\n{text}");
        // The whole text, written plainly, with one line put in front of one of its lines.
        let whole: Vec<String> =
            lines::lines(&text).map(|line| view::fold(line.content.trim_end())).collect();
        let at = a.index(whole.len());
        let mut changed = whole.clone();
        changed.insert(at, "⟦new⟧".to_owned());
        let (old, new) = (whole.join("\n"), changed.join("\n"));
        if let Ok(plan) = plan(&text, &[edit(&old, &new)]) {
            assert_sound(&text, &plan);
            let result = apply(&text, &plan.splices);
            let kept = lines::lines(&result).map(|line| line.content).filter(|content| *content != "⟦new⟧");
            prop_assert!(kept.eq(lines::lines(&text).map(|line| line.content)), "{text:?} {result:?}");
        }
    }

    #[test]
    fn the_patch_rebuilds_the_new_text(
        text in any_text(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any_text()), 0..5),
    ) {
        let mut at: Vec<(usize, &str)> = cuts
            .iter()
            .map(|(at, new)| (cut(&text, *at), new.as_str()))
            .filter(|(at, _)| !lines::splits_pair(&text, *at))
            .collect();
        at.sort();
        let splices: Vec<Splice> = at
            .chunks(2)
            .map(|pair| Splice {
                range: pair[0].0..pair[pair.len() - 1].0,
                replacement: pair[0].1.to_owned(),
            })
            .collect();
        let result = apply(&text, &splices);
        let made = diff("/a", &text, &result, &splices, &LIMITS);
        prop_assert!(!made.truncated);
        let (old, new) = (with_feeds(&text), with_feeds(&result));
        if old == new {
            prop_assert_eq!(made, Diff::default());
        } else {
            prop_assert_eq!(patched(&old, &made.patch), new.clone());
            let first = made.first_changed_line.unwrap();
            let rows = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
            let common = rows.take_while(|(a, b)| a == b).count();
            prop_assert!(first <= common + 1);
        }
    }
}
