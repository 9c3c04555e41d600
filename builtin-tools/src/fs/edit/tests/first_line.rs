//! Old texts that lost the indentation of their first line alone, with the file that each edit has to make.

use super::*;

const METHOD: &str = "class A:\n    def f(self):\n        return 1\n\n    x = 1\n";
const DEEP: &str = "a:\n    b:\n        c()\n            .d()\n        e()\n";
const TABS: &str = "fn a() {\n\t\tif b {\n\t\t\tc();\n\t\t}\n}\n";
const LIST: &str = "f:\n    a()\n    b()\n    c()\n";

/// Each with how the text was found, or a refusal.
#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn the_first_line_gets_its_indentation_once() {
    let refused = None;
    let exact = |file| Some((file, "Exact"));
    let widened = |file| Some((file, "Indentation"));
    for (name, file, old, new, expected) in [
        (
            "old without, new with",
            METHOD,
            "def f(self):\n        return 1\n",
            "    def f(self):\n        return 2\n",
            widened("class A:\n    def f(self):\n        return 2\n\n    x = 1\n"),
        ),
        (
            "old without, new without",
            METHOD,
            "def f(self):\n        return 1\n",
            "def f(self):\n        return 2\n",
            exact("class A:\n    def f(self):\n        return 2\n\n    x = 1\n"),
        ),
        (
            "old with a part, new with all",
            DEEP,
            "    c()\n            .d()\n",
            "        c()\n            .g()\n",
            widened("a:\n    b:\n        c()\n            .g()\n        e()\n"),
        ),
        (
            "old with a part, new with the same part",
            DEEP,
            "    c()\n            .d()\n",
            "    c()\n            .g()\n",
            exact("a:\n    b:\n        c()\n            .g()\n        e()\n"),
        ),
        (
            "old with a part, new without",
            DEEP,
            "    c()\n            .d()\n",
            "c()\n            .g()\n",
            refused,
        ),
        (
            "old without, new with a part",
            DEEP,
            "c()\n            .d()\n",
            "    c()\n            .g()\n",
            refused,
        ),
        (
            "old without, new with more",
            DEEP,
            "c()\n            .d()\n",
            "            c()\n            .g()\n",
            refused,
        ),
        (
            "tabs, old without, new with",
            TABS,
            "if b {\n\t\t\tc();\n\t\t}",
            "\t\tif b {\n\t\t\td();\n\t\t}",
            widened("fn a() {\n\t\tif b {\n\t\t\td();\n\t\t}\n}\n"),
        ),
        (
            "tabs, old with a part, new with",
            TABS,
            "\tif b {\n\t\t\tc();\n\t\t}",
            "\t\tif b {\n\t\t\td();\n\t\t}",
            widened("fn a() {\n\t\tif b {\n\t\t\td();\n\t\t}\n}\n"),
        ),
        (
            "tabs, new with spaces",
            TABS,
            "if b {\n\t\t\tc();\n\t\t}",
            "        if b {\n\t\t\td();\n\t\t}",
            refused,
        ),
        (
            "tabs, all of new with spaces",
            TABS,
            "if b {\n\t\t\tc();\n\t\t}",
            "        if b {\n            d();\n        }",
            refused,
        ),
        (
            "a method comes behind",
            METHOD,
            "def f(self):\n        return 1\n",
            "    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
            widened(
                "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n\n    x = 1\n",
            ),
        ),
        (
            "one line in place of several",
            LIST,
            "a()\n    b()\n",
            "    d()\n",
            widened("f:\n    d()\n    c()\n"),
        ),
        (
            "several lines in place of one",
            LIST,
            "b()",
            "    d()\n    e()",
            widened("f:\n    a()\n    d()\n    e()\n    c()\n"),
        ),
        ("one line in place of one", LIST, "b()", "    d()", widened("f:\n    a()\n    d()\n    c()\n")),
        (
            "one line, old with a part, new with all",
            DEEP,
            "  c()",
            "        d()",
            widened("a:\n    b:\n        d()\n            .d()\n        e()\n"),
        ),
        (
            "one line with tabs, old with a part, new with all",
            TABS,
            "\tif b {",
            "\t\tif d {",
            widened("fn a() {\n\t\tif d {\n\t\t\tc();\n\t\t}\n}\n"),
        ),
        ("one line and its end", LIST, "b()\n", "    d()\n", widened("f:\n    a()\n    d()\n    c()\n")),
        ("a part of one line", LIST, "b(", "    d(", widened("f:\n    a()\n    d()\n    c()\n")),
        ("one line, new without", LIST, "b()", "d()", exact("f:\n    a()\n    d()\n    c()\n")),
        (
            "one line, old with a part, new with the same part",
            LIST,
            "  b()",
            "  d()",
            exact("f:\n    a()\n    d()\n    c()\n"),
        ),
        ("one line, old with a part, new without", LIST, "  b()", "d()", refused),
        ("one line, new with a part", LIST, "b()", "  d()", refused),
        ("one line, new with more", LIST, "b()", "        d()", refused),
        ("one line, new with tabs", LIST, "b()", "\td()", refused),
        (
            "one line deeper, and nothing else",
            LIST,
            "b()",
            "    b()",
            exact("f:\n    a()\n        b()\n    c()\n"),
        ),
        ("several lines in place of one, new with a part", LIST, "b()", "  d()\n  e()", refused),
        (
            "a block is put around one line",
            LIST,
            "b()",
            "    if x:\n        b()",
            widened("f:\n    a()\n    if x:\n        b()\n    c()\n"),
        ),
        (
            "a block is put around it",
            LIST,
            "a()\n    b()\n",
            "    if x:\n        a()\n        b()\n",
            widened("f:\n    if x:\n        a()\n        b()\n    c()\n"),
        ),
        (
            "a block is put around it, new without",
            LIST,
            "a()\n    b()\n",
            "if x:\n        a()\n        b()\n",
            exact("f:\n    if x:\n        a()\n        b()\n    c()\n"),
        ),
        (
            "all lines deeper by what is missing",
            LIST,
            "a()\n    b()\n",
            "    a()\n        b()\n",
            exact("f:\n        a()\n        b()\n    c()\n"),
        ),
        (
            "all lines deeper by something else",
            LIST,
            "a()\n    b()\n",
            "  a()\n      b()\n",
            exact("f:\n      a()\n      b()\n    c()\n"),
        ),
        ("others, deeper by what is missing", LIST, "a()\n    b()\n", "    d()\n        e()\n", refused),
        (
            "all lines less deep",
            DEEP,
            "c()\n            .d()\n        e()\n",
            "    c()\n        .d()\n    e()\n",
            widened("a:\n    b:\n    c()\n        .d()\n    e()\n"),
        ),
        ("lines go", LIST, "a()\n    b()\n", "", widened("f:\n    c()\n")),
        ("text goes", LIST, "a()\n    b()", "", exact("f:\n    \n    c()\n")),
        (
            "first line of new is blank",
            LIST,
            "a()\n    b()\n",
            "\n    d()\n",
            exact("f:\n    \n    d()\n    c()\n"),
        ),
        (
            "behind something else on the line",
            "x = 1; a()\n    b()\n",
            "a()\n    b()\n",
            "    d()\n    b()\n",
            exact("x = 1;     d()\n    b()\n"),
        ),
        (
            "white space at ends of lines",
            "f:\n    a()  \n    b()\n",
            "a()\n    b()\n",
            "    d()\n    b()\n",
            widened("f:\n    d()  \n    b()\n"),
        ),
        (
            "line endings",
            "f:\r\n    a()\r\n    b()\r\n",
            "a()\n    b()\n",
            "    d()\n    b()\n",
            widened("f:\r\n    d()\r\n    b()\r\n"),
        ),
        (
            "typographic characters",
            "f:\n    a(“x”)\n    b()\n",
            "a(\"x\")\n    b()\n",
            "    a(\"y\")\n    b()\n",
            widened("f:\n    a(“y”)\n    b()\n"),
        ),
        (
            "on the first line of the file",
            "    a()\n    b()\n",
            "a()\n    b()\n",
            "    d()\n    b()\n",
            widened("    d()\n    b()\n"),
        ),
    ] {
        let got = edited(file.as_bytes(), &[(old, new, false)]);
        match (got, expected) {
            (Ok((bytes, found)), Some((expected, how))) => {
                assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{name}");
                assert!(found.starts_with(how), "{name}: {found}");
            }
            (Err(error), None) => assert!(error.contains("NotIndented"), "{name}: {error}"),
            (got, _) => panic!("{name}: {got:?}"),
        }
    }
}

#[test]
fn all_places_get_it_where_they_are_indented_alike() {
    let all = |file: &str| {
        let got = edited(file.as_bytes(), &[("a()\n    b()\n", "    c()\n    b()\n", true)]);
        got.map(|(bytes, _)| String::from_utf8(bytes).unwrap())
    };
    assert_eq!(
        all("    a()\n    b()\n\n    a()\n    b()\n").unwrap(),
        "    c()\n    b()\n\n    c()\n    b()\n"
    );
    let error = all("    a()\n    b()\n\n        a()\n    b()\n").unwrap_err();
    assert!(error.contains("NotIndented"), "{error}");
}
