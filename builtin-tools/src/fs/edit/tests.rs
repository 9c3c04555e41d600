#![allow(clippy::format_collect, clippy::format_push_string, reason = "texts of a test are short")]

mod first_line;
mod indentation;
mod limits;

use super::*;
use crate::fs::splice::splice;
use proptest::prelude::*;

/// Returns the file after an edit and how the text was found, or the error.
fn edited(file: &[u8], replacements: &[(&str, &str, bool)]) -> Result<(Vec<u8>, String), String> {
    let replacements: Vec<Replacement<'_>> =
        replacements.iter().map(|&(old, new, all)| Replacement { old, new, all }).collect();
    let plan = plan(file, &replacements).map_err(|error| format!("{} {:?}", error.index, error.problem))?;
    let found: Vec<String> =
        plan.parts.iter().map(|part| format!("{:?} {} {}", part.looseness, part.count, part.line)).collect();
    Ok((splice(file, &plan.splices), found.join(", ")))
}

#[track_caller]
fn check(file: &str, old: &str, new: &str, expected: &str, found: &str) {
    let got = edited(file.as_bytes(), &[(old, new, false)]);
    let got = got.map(|(bytes, found)| (String::from_utf8(bytes).unwrap(), found));
    assert_eq!(got, Ok((expected.to_owned(), found.to_owned())), "{old:?} → {new:?} in {file:?}");
}

#[test]
fn texts_are_found_and_the_rest_stays() {
    for (file, old, new, expected, found) in [
        // Exact, whatever bytes surround it.
        ("one two", "two", "2", "one 2", "Exact 1 1"),
        ("one\ntwo\n", "two\n", "", "one\n", "Exact 1 2"),
        ("a\nb", "b", "c\n", "a\nc\n", "Exact 1 2"),
        ("a\nb\n", "b\n", "c", "a\nc", "Exact 1 2"),
        ("price: x", "x", "$& \\1 ${1} $0", "price: $& \\1 ${1} $0", "Exact 1 1"),
        ("\u{FEFF}a\r\nb\r\n", "a", "x", "\u{FEFF}x\r\nb\r\n", "Exact 1 1"),
        ("a\u{FEFF}b", "\u{FEFF}", "", "ab", "Exact 1 1"),
        // Line endings: new lines get the ending of the lines they replace, or of the line they are in.
        ("a\r\nb\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\n", "Endings 1 1"),
        ("a\r\nb\r\nc\n", "b", "b\nx", "a\r\nb\r\nx\r\nc\n", "Exact 1 2"),
        ("a\r\nb\nc\r\n", "a\nb\nc", "a\nx\nc", "a\r\nx\nc\r\n", "Endings 1 1"),
        ("a\r\nb\nc\n", "a\nb\nc\n", "1\n2\n3\n4\n", "1\r\n2\n3\n4\n", "Endings 1 1"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc", "Exact 1 2"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n", "Endings 1 1"),
        ("a\nb\n", "b", "b\r\nc", "a\nb\nc\n", "Exact 1 2"),
        // An exact match is replaced entirely, and further lines get the ending of its last line; in a looser match
        // only the changes are.
        ("a\nb\r\n", "a\nb", "a\nb\nc", "a\nb\nc\r\n", "Exact 1 1"),
        ("a\r\nb\n", "a\nb", "a\nb\nc", "a\r\nb\nc\n", "Endings 1 1"),
        ("a", "a", "b\r\nc", "b\r\nc", "Exact 1 1"),
        ("a", "a", "b\nc", "b\nc", "Exact 1 1"),
        ("a\r\nb", "\nb", "", "a", "Endings 1 1"),
        ("a\r\nb", "\n", " ", "a b", "Endings 1 1"),
        ("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\n", "Exact 1 1"),
        ("a\nb\n", "a\n", "a\r\n", "a\r\nb\n", "Exact 1 1"),
        ("a\r\nb", "a\r", "x", "x\nb", "Exact 1 1"),
        ("a\rb\r", "a\rb", "x\ry", "x\ry\r", "Exact 1 1"),
        // The last line has no ending, and stays so.
        ("a\nb", "b\n", "x\n", "a\nx", "Endings 1 2"),
        ("a\r\nb", "a\nb\n", "a\nx\ny\n", "a\r\nx\r\ny", "Endings 1 1"),
        ("a\n  b ", "b\n", "x\n", "a\n  x ", "Endings 1 2"),
        ("a\n\tb", "    b\n", "    x\n    y\n", "a\n\tx\n\ty", "Indentation 1 2"),
        // White space at the end of lines, in the file or in the request.
        ("a  \nb\t\nc\n", "a\nb\nc", "a\nx\nc", "a  \nx\t\nc\n", "Trailing 1 1"),
        ("a\nb\n", "a  \nb  ", "a  \nx", "a\nx\n", "Trailing 1 1"),
        ("a \r\nb\r\n", "a\nb", "x\nb", "x \r\nb\r\n", "Trailing 1 1"),
        ("f(\n  \n)\n", "f(\n\n)", "f(\n1\n)", "f(\n1  \n)\n", "Trailing 1 1"),
        // White space that the file lacks at the end of a line is new between words.
        ("\"\n", "\"\t", "\n\"\ta\n", "\n\"\ta\n\n", "Trailing 1 1"),
        ("a\nb\n", "a \nb", "a x\nb", "a x\nb\n", "Trailing 1 1"),
        // Typographic characters.
        ("say “hi” – now", "say \"hi\" - now", "say \"hi\" - later", "say “hi” – later", "Unicode 1 1"),
        ("a\u{A0}b \u{3000}\n“c”\n", "a b\n\"c\"", "a b\n\"d\"", "a\u{A0}b \u{3000}\n“d”\n", "Unicode 1 1"),
        ("it's", "it’s", "it’s not", "it's not", "Unicode 1 1"),
        ("‘a’\n‘b’\n‘c’\n", "'a'\n'b'\n'c'", "'x'\n'b'\n'y'", "‘x’\n‘b’\n‘y’\n", "Unicode 1 1"),
        // Indentation.
        ("  if a:\n    b\n", "if a:\n  b", "if a:\n  c\n  d", "  if a:\n    c\n    d\n", "Indentation 1 1"),
        (
            "fn f() {\n\ta();\n\tb();\n}\n",
            "    a();\n    b();\n",
            "    a();\n    if x {\n        c();\n    }\n",
            "fn f() {\n\ta();\n\tif x {\n\t\tc();\n\t}\n}\n",
            "Indentation 1 2",
        ),
        ("    a\r\n    b\r\n", "a\nb", "a\nx\n\ny", "    a\r\n    x\r\n\r\n    y\r\n", "Indentation 1 1"),
        ("\u{FEFF}  a\n  b\n", "a\nb\n", "c\nb\n", "\u{FEFF}  c\n  b\n", "Indentation 1 1"),
        ("  a \n  b", "a\nb", "a\nc", "  a \n  c", "Indentation 1 1"),
    ] {
        check(file, old, new, expected, found);
    }
}

#[test]
fn what_is_not_in_one_place_changes_nothing() {
    let deep = format!("{}}}\n", " ".repeat(400));
    let deep = deep.as_str();
    for (file, old, new, all, expected) in [
        ("a", "b", "c", false, "0 Miss(Absent)"),
        ("", "b", "c", false, "0 Miss(Absent)"),
        ("a", "", "c", false, "0 Empty"),
        ("a", "a", "a", false, "0 Identical"),
        ("aaa", "aa", "b", false, "0 Miss(Several { looseness: Exact, count: 2, lines: [1] })"),
        ("x\nx\ny\nx", "x", "b", false, "0 Miss(Several { looseness: Exact, count: 3, lines: [1, 2, 4] })"),
        // Lines are also listed that come after many matches on one line.
        (
            "xx xx xx xx xx xx xx xx xx xx xx\ny\nxx",
            "xx",
            "b",
            false,
            "0 Miss(Several { looseness: Exact, count: 12, lines: [1, 3] })",
        ),
        ("x\nx\nx", "x\nx", "b", false, "0 Miss(Several { looseness: Exact, count: 2, lines: [1, 2] })"),
        (
            "x\r\ny\r\nx\r\ny",
            "x\ny",
            "b",
            false,
            "0 Miss(Several { looseness: Endings, count: 2, lines: [1, 3] })",
        ),
        // A nearer match is not preferred, and a looser match never includes all.
        (
            "a \nb\na\t\nb",
            "a\nb",
            "c",
            true,
            "0 Miss(Several { looseness: Trailing, count: 2, lines: [1, 3] })",
        ),
        ("‘a’ ’a‘", "'a'", "b", true, "0 Miss(Several { looseness: Unicode, count: 2, lines: [1] })"),
        (
            "   a\n  a",
            "\ta",
            "b",
            false,
            "0 Miss(Several { looseness: Indentation, count: 2, lines: [1, 2] })",
        ),
        // Requested white space is not ignored within a line.
        ("food", "foo ", "bar ", false, "0 Miss(Absent)"),
        ("foo\nx", "foo \nxy", "", false, "0 Miss(Absent)"),
        ("a  b", "a b", "", false, "0 Miss(Absent)"),
        ("ab\n", "  b", "", false, "0 Miss(Absent)"),
        // White space alone is no looser text.
        ("a\n\n\nb", "\n \n", "", false, "0 Miss(Absent)"),
        ("a\t", "  ", "", false, "0 Miss(Absent)"),
        // Several rules for the indentation.
        ("  a\n b\n", "a\nb", "c", false, "0 Miss(Absent)"),
        ("\ta\n\t\tb\n", "    a\n        b", "  c", false, "0 NotIndented { line: 1, new_line: 1 }"),
        // A match much longer than the request.
        (deep, "\t}\n", "x\n", false, "0 Miss(Absent)"),
        ("a\n", "a ", "a", false, "0 NothingChanges"),
        ("a b", "a\u{200B}b", "", false, "0 Miss(Absent)"),
        ("hello world", "helo world", "", false, "0 Miss(Absent)"),
        ("ab\na", "a\n", "", false, "0 Miss(Absent)"),
        ("a", "\n", "", false, "0 Miss(Absent)"),
        ("    a\n        b\n", "\ta\n\t    ", "", false, "0 Miss(Absent)"),
        ("Hello", "hello", "", false, "0 Miss(Absent)"),
    ] {
        assert_eq!(
            edited(file.as_bytes(), &[(old, new, all)]),
            Err(expected.to_owned()),
            "{old:?} in {file:?}"
        );
    }
}

#[test]
fn all_places_are_replaced() {
    for (file, old, new, expected, found) in [
        ("x y x", "x", "xx", "xx y xx", "Exact 2 1"),
        ("aaaaa", "aa", "b", "bba", "Exact 2 1"),
        ("a\r\nb\na\nb\r\n", "a\nb", "a\nc\nb", "a\r\nc\nb\na\nc\r\nb\r\n", "Endings 2 1"),
        ("a\nb\na\nb", "a\nb", "c", "c\nc", "Exact 2 1"),
        ("a\r\nb\n", "b", "b\nc", "a\r\nb\nc\n", "Exact 1 2"),
        ("a\r\na\n", "a\r\n", "b\r\n", "b\r\na\n", "Exact 1 1"),
    ] {
        let got = edited(file.as_bytes(), &[(old, new, true)]);
        assert_eq!(got, Ok((expected.into(), found.to_owned())), "{old:?} → {new:?} in {file:?}");
    }
}

#[test]
fn edits_are_against_the_original_and_all_or_none() {
    for (file, edits, expected) in [
        ("a b c", &[("a", "b", false), ("c", "a", false)][..], Ok("b b a")),
        ("a b c", &[("c", "a", false), ("a", "c", false)], Ok("c b a")),
        ("abc", &[("a", "", false), ("b", "x", false), ("c", "", false)], Ok("x")),
        ("a\r\nb\r\n", &[("a\n", "a\nx\n", false), ("b", "y", false)], Ok("a\r\nx\r\ny\r\n")),
        ("abc", &[("ab", "x", false), ("bc", "y", false)], Err("1 Overlaps { other: 0, line: 1 }")),
        ("a\nbc", &[("c", "x", false), ("bc", "y", false)], Err("1 Overlaps { other: 0, line: 2 }")),
        ("aa", &[("a", "x", true), ("aa", "y", false)], Err("1 Overlaps { other: 0, line: 1 }")),
        ("a b", &[("a", "x", false), ("x", "y", false)], Err("1 Miss(Absent)")),
        ("a b", &[("a", "x", false), ("a", "x", false)], Err("1 Overlaps { other: 0, line: 1 }")),
    ] {
        let got = edited(file.as_bytes(), edits).map(|(bytes, _)| String::from_utf8(bytes).unwrap());
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{edits:?} in {file:?}");
    }
}

#[test]
fn bytes_that_are_no_text_stay() {
    let got = edited(b"\xFF\xE9a\r\nb\x80\n", &[("a\nb", "c\nd", false)]);
    assert_eq!(got, Ok((b"\xFF\xE9c\r\nd\x80\n".to_vec(), "Endings 1 1".to_owned())));
}

#[test]
fn large_and_repetitive_files_take_no_time() {
    let started = std::time::Instant::now();
    let lines = "}\n".repeat(400_000);
    let brackets = "  }\n".repeat(20_000);
    for (file, old, all) in [
        (lines.as_str(), brackets.as_str(), false),
        (&lines, &lines[..200_000], false),
        (&lines, "x", false),
        (&"a".repeat(1_000_000), &"a".repeat(100_000), false),
        (&"ab \n".repeat(200_000), "a\nb", true),
    ] {
        assert!(plan(file.as_bytes(), &[Replacement { old, new: "y", all }]).is_err());
    }
    let new = "x".repeat(1_000);
    let all = Replacement { old: "}", new: &new, all: true };
    assert_eq!(plan(lines.as_bytes(), &[all]).unwrap_err().problem, Problem::TooLarge);
    let one_line = format!("\r\n{}", "ab".repeat(100_000));
    let all = Replacement { old: "a", new: "\n", all: true };
    assert_eq!(plan(one_line.as_bytes(), &[all]).unwrap().splices.len(), 100_000);
    // Minutes, if any of it were quadratic.
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

/// Texts of few kinds of lines, so that they are found exactly, loosely, several times and not at all.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof!["[ab]{0,2}", "[ \t]{0,3}[ab“\"][ \t]{0,2}", Just("é\u{A0}–".to_owned())];
    let ending = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("")];
    proptest::collection::vec((line, ending), 0..12)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, ending)| [line, ending.to_owned()]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// For any match: the bytes outside the splices stay, the splices are within the matches, and each match equals the
    /// request in its looseness.
    #[test]
    fn nothing_changes_outside_of_what_was_asked_for(file in text(), old in text(), new in text(), all: bool) {
        crate::fs::fuzzing::check_edit(file.as_bytes(), &old, &new, all);
    }

}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(500) })]

    /// A part of the file that is in one place is replaced just there.
    #[test]
    fn an_exact_part_is_replaced_as_it_is(file in text(), from in 0_usize..60, length in 1_usize..20, new in "[abx ]{0,4}") {
        let starts: Vec<usize> = file.char_indices().map(|(at, _)| at).chain([file.len()]).collect();
        let from = from.min(starts.len() - 1);
        let to = (from + length).min(starts.len() - 1);
        let (from, to) = (starts[from], starts[to]);
        let old = &file[from..to];
        let splits = old.starts_with('\n') && !old.contains('\r') && file[..from].ends_with('\r');
        let count = (0..file.len()).filter(|&at| file.as_bytes()[at..].starts_with(old.as_bytes())).count();
        prop_assume!(!old.is_empty() && !splits && old != new && count == 1);
        // A match that begins within an indentation may have lost the rest of it.
        let line = file[..from].rsplit('\n').next().unwrap_or_default();
        let is_indented = !line.is_empty() && line.trim_matches([' ', '\t']).is_empty();
        let depth = |text: &str| text[..text.len() - text.trim_start_matches([' ', '\t']).len()].to_owned();
        prop_assume!(!(is_indented && (old.contains('\n') || depth(old) != depth(&new))));
        let expected = [&file[..from], &new, &file[to..]].concat();
        match edited(file.as_bytes(), &[(old, &new, false)]) {
            Ok((bytes, _)) => prop_assert_eq!(String::from_utf8(bytes).unwrap(), expected),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    /// Line endings alone never keep a text from being found, and all lines that stay keep theirs.
    #[test]
    fn line_endings_are_kept(lines in proptest::collection::vec(("[a-z]{1,3}", any::<bool>()), 2..8), at in 0_usize..8) {
        let at = at % lines.len();
        let ending = |crlf: bool| if crlf { "\r\n" } else { "\n" };
        let with = |change: &str| -> String {
            let line = |(index, (line, crlf)): (usize, &(String, bool))| {
                let line = if index == at { change } else { line };
                format!("{line}{}", ending(*crlf))
            };
            lines.iter().enumerate().map(line).collect()
        };
        let file = with("OLD");
        let (old, new) = (file.replace("\r\n", "\n"), with("NEW\nNEW").replace("\r\n", "\n"));
        let expected = with(&format!("NEW{}NEW", ending(lines[at].1)));
        let got = edited(file.as_bytes(), &[(&old, &new, false)]).map(|(bytes, _)| String::from_utf8(bytes).unwrap());
        prop_assert_eq!(got, Ok(expected));
    }
}

#[test]
fn a_looser_place_is_bounded_and_is_where_its_lines_are() {
    let spaces = |count: usize| " ".repeat(count);
    // Three bytes in two lines: twice as many, and 128 more for each line.
    let (fits, too_long) = (spaces(262 - 3), spaces(263 - 3));
    check(&format!("a{fits}\nb\n"), "a\nb", "a\nx", &format!("a{fits}\nx\n"), "Trailing 1 1");
    check("1\n2\n3\n4\n\tb\n", "    b\n", "    c\n", "1\n2\n3\n4\n\tc\n", "Indentation 1 5");
    // At the very beginning of the file, before a line feed.
    check("\na\n", "\na", "\nb", "\nb\n", "Exact 1 1");
    check("\na", "a", "a\nb", "\na\nb", "Exact 1 2");
    // Exact matches take precedence over those with other endings.
    check("a\nb\na\r\nb\n", "a\nb", "x", "x\na\r\nb\n", "Exact 1 1");
    for (file, old, expected) in [
        (format!("a{too_long}\nb\n"), "a\nb", "0 Miss(Absent)"),
        // A lone carriage return hides no place.
        ("a\rb b".to_owned(), "b", "0 Miss(Several { looseness: Exact, count: 2, lines: [1] })"),
        // Typographic white space was requested at the end of a line.
        ("ab\n".to_owned(), "a\u{A0}", "0 Miss(Absent)"),
        (
            "\tb\n".repeat(4),
            "    b\n",
            "0 Miss(Several { looseness: Indentation, count: 4, lines: [1, 2, 3, 4] })",
        ),
        // The search continues until it is known whether there are more matches than are listed.
        (
            "\tb\n".repeat(14),
            "    b\n",
            "0 Miss(Several { looseness: Indentation, count: 11, lines: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })",
        ),
    ] {
        let got = edited(file.as_bytes(), &[(old, "x", false)]);
        assert_eq!(got, Err(expected.to_owned()), "{old:?} in {file:?}");
    }
}

#[test]
fn the_new_line_is_told_to_which_the_rule_cannot_be_applied() {
    for (new, new_line) in [("  a\n b\n", 2), ("  a\n  c\n b\n", 3), (" a\n", 1)] {
        let got = edited(b"x\n\ta\n", &[("  a\n", new, false)]);
        assert_eq!(got, Err(format!("0 NotIndented {{ line: 2, new_line: {new_line} }}")), "{new:?}");
    }
}
