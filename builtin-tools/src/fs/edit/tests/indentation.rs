//! Old texts with another indentation than the file, with the file that each edit has to make.

use super::*;

/// An edit that is refused.
const REFUSED: Option<&str> = None;

#[track_caller]
fn check_table(table: &[(&str, &str, &str, &str, Option<&str>)]) {
    for (name, file, old, new, expected) in table {
        let got = edited(file.as_bytes(), &[(old, new, false)]);
        match (got, expected) {
            (Ok((bytes, found)), Some(expected)) => {
                assert_eq!(String::from_utf8(bytes).unwrap(), *expected, "{name}");
                assert!(found.starts_with("Indentation "), "{name}: {found}");
            }
            (Err(error), None) => assert!(error.contains("NotIndented"), "{name}: {error}"),
            (got, _) => panic!("{name}: {got:?}"),
        }
    }
}

const CLASS: &str = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        pass\n";

#[test]
fn new_lines_with_the_indentation_of_the_file_are_not_shifted() {
    check_table(&[
        (
            "old too deep, new right",
            CLASS,
            "        def f(self):\n            return 1",
            "    def f(self):\n        return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "old flattened, new right",
            CLASS,
            "def f(self):\n    return 1\n",
            "    def f(self):\n        return 2\n",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "all lines new",
            CLASS,
            "        def f(self):\n            return 1",
            "    def h(self):\n        return 2",
            Some("class A:\n    def h(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "one line, too deep",
            CLASS,
            "            return 1",
            "        return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "a method is added",
            CLASS,
            "def f(self):\n    return 1\n",
            "    def f(self):\n        return 1\n\n    def h(self):\n        return 2\n",
            Some(
                "class A:\n    def f(self):\n        return 1\n\n    def h(self):\n        return 2\n\n    def g(self):\n        \
                 pass\n",
            ),
        ),
        (
            "a block is put around it",
            "def f():\n    a()\n    b()\n",
            "        a()\n        b()\n",
            "    if x:\n        a()\n        b()\n",
            Some("def f():\n    if x:\n        a()\n        b()\n"),
        ),
        (
            "a line goes",
            "def f():\n    a()\n    b()\n    c()\n",
            "a()\nb()\nc()\n",
            "    a()\n    c()\n",
            Some("def f():\n    a()\n    c()\n"),
        ),
        (
            "a nested block comes",
            "def f():\n    a()\n    b()\n",
            "a()\nb()\n",
            "    a()\n    if x:\n        y()\n    b()\n",
            Some("def f():\n    a()\n    if x:\n        y()\n    b()\n"),
        ),
        (
            "tabs in the file, spaces in old",
            "class A:\n\tdef f():\n\t\treturn 1\n",
            "    def f():\n        return 1\n",
            "\tdef f():\n\t\treturn 2\n",
            Some("class A:\n\tdef f():\n\t\treturn 2\n"),
        ),
        (
            "spaces in the file, tabs in old",
            "class A:\n    def f():\n        return 1\n",
            "\tdef f():\n\t\treturn 1\n",
            "    def f():\n        return 2\n        # x\n",
            Some("class A:\n    def f():\n        return 2\n        # x\n"),
        ),
        (
            "a recipe",
            "all: a\n\tcc a.c\n",
            "all: a\n    cc a.c\n",
            "all: a\n\tcc -O2 a.c\n\tstrip a\n",
            Some("all: a\n\tcc -O2 a.c\n\tstrip a\n"),
        ),
        (
            "every line is there already but one",
            CLASS,
            "  def f(self):\n      return 1\n\n  def g(self):\n      pass\n",
            "    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
            Some("class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"),
        ),
        (
            "line endings of the file",
            "x:\r\n    a\r\n    b\r\n",
            "  a\n  b\n",
            "    a\n    c\n",
            Some("x:\r\n    a\r\n    c\r\n"),
        ),
    ]);
}

#[test]
fn new_lines_with_the_indentation_of_the_old_ones_are_shifted_alike() {
    check_table(&[
        (
            "both too deep",
            CLASS,
            "        def f(self):\n            return 1",
            "        def f(self):\n            return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "both flattened by a level",
            CLASS,
            "def f(self):\n    return 1\n",
            "def f(self):\n    if x:\n        return 2\n    return 1\n",
            Some(
                "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n\n    def g(self):\n        \
                 pass\n",
            ),
        ),
        (
            "all lines new",
            CLASS,
            "def f(self):\n    return 1\n",
            "def h(self):\n    return 2\n",
            Some("class A:\n    def h(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "a nested block comes",
            "def f():\n    a()\n    b()\n",
            "a()\nb()\n",
            "a()\nif x:\n    y()\nb()\n",
            Some("def f():\n    a()\n    if x:\n        y()\n    b()\n"),
        ),
        (
            "a block is put around it",
            "def f():\n    a()\n    b()\n",
            "a()\nb()\n",
            "if x:\n    a()\n    b()\n",
            Some("def f():\n    if x:\n        a()\n        b()\n"),
        ),
        (
            "a line goes",
            "def f():\n    a()\n    b()\n    c()\n",
            "a()\nb()\nc()\n",
            "a()\nc()\n",
            Some("def f():\n    a()\n    c()\n"),
        ),
        (
            "all lines go",
            "def f():\n    a()\n    b()\n    c()\n",
            "a()\nb()\n",
            "",
            Some("def f():\n    c()\n"),
        ),
        (
            "a block is put around lines of two depths",
            "def f():\n    if a:\n        b()\n",
            "if a:\n    b()\n",
            "if x:\n    if a:\n        b()\n",
            Some("def f():\n    if x:\n        if a:\n            b()\n"),
        ),
        (
            "a line is added at the end",
            CLASS,
            "def f(self):\n    return 1\n",
            "def f(self):\n    return 1\n    x\n",
            Some(
                "class A:\n    def f(self):\n        return 1\n        x\n\n    def g(self):\n        pass\n",
            ),
        ),
        (
            "a body is added",
            "module X\n  class A\n    def f(\n",
            "class A\n  def f(\n",
            "class A\n  def f(\n    x\n",
            Some("module X\n  class A\n    def f(\n      x\n"),
        ),
        (
            "tabs",
            "class A:\n\tdef f():\n\t\treturn 1\n",
            "    def f():\n        return 1\n",
            "    def f():\n        if x:\n            return 1\n        return 2\n",
            Some("class A:\n\tdef f():\n\t\tif x:\n\t\t\treturn 1\n\t\treturn 2\n"),
        ),
        (
            "a recipe",
            "all: a\n\tcc a.c\n",
            "all: a\n    cc a.c\n",
            "all: a\n    cc -O2 a.c\n    strip a\n",
            Some("all: a\n\tcc -O2 a.c\n\tstrip a\n"),
        ),
        (
            "a line that stays keeps its quotes and white space",
            "x:\n    say “a” \n    b\n    say “c”, d\n",
            "say \"a\"\nb\nsay \"c\", d\n",
            "say \"a\"\nif z:\n    b\nsay \"c\", e\n",
            Some("x:\n    say “a” \n    if z:\n        b\n    say “c”, e\n"),
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn what_is_not_clear_is_refused() {
    check_table(&[
        (
            "the first line right, the rest as in old",
            CLASS,
            "def f(self):\n    return 1\n",
            "    def f(self):\n    return 2\n",
            REFUSED,
        ),
        (
            "the first line as in old, the rest right",
            CLASS,
            "def f(self):\n    return 1\n",
            "def f(self):\n        return 2\n",
            REFUSED,
        ),
        (
            "the first line of new has lost its indentation, the rest is right",
            CLASS,
            "  def f(self):\n      return 1\n",
            "def f(self):\n        return 2\n",
            REFUSED,
        ),
        (
            "the first line of new has lost its indentation, the rest is as in old",
            CLASS,
            "  def f(self):\n      return 1\n",
            "def f(self):\n      return 2\n",
            REFUSED,
        ),
        (
            "a method is added at the depth of the file",
            CLASS,
            "        def f(self):\n            return 1\n",
            "        def f(self):\n            return 1\n\n    def h(self):\n        return 2\n",
            REFUSED,
        ),
        (
            "a method is added that may be within the one before",
            CLASS,
            "def f(self):\n    return 1\n",
            "def f(self):\n    return 1\n\n    def h(self):\n        return 2\n",
            REFUSED,
        ),
        (
            "a line is added at the depth of the file",
            "def f():\n        a()\n        b()\n",
            "a()\nb()\n",
            "a()\n        x()\nb()\n",
            REFUSED,
        ),
        (
            "a block is taken away from around it",
            "def f():\n    if x:\n        a()\n",
            "        if x:\n            a()\n",
            "        a()\n",
            REFUSED,
        ),
        (
            "a block is taken away from around lines of two depths",
            "def f():\n    if x:\n        if a:\n            b()\n",
            "        if x:\n            if a:\n                b()\n",
            "        if a:\n            b()\n",
            REFUSED,
        ),
        ("neither depth", CLASS, "            return 1\n", "      return 2\n", REFUSED),
        (
            "less than the block",
            CLASS,
            "            return 1\n",
            "        return 2\n\n    def h(self):\n        pass\n",
            REFUSED,
        ),
        (
            "two levels that were two levels of half the width",
            "x {\n\t\ta;\n\t\tb;\n}\n",
            "    a;\n    b;\n",
            "    a;\n    if {\n        c;\n    }\n    b;\n",
            REFUSED,
        ),
        (
            "a tab for two levels of spaces",
            "class A:\n    def f():\n        a\n        b\n",
            "\ta\n\tb\n",
            "\ta\n\tif x:\n\t\tb\n",
            REFUSED,
        ),
        (
            "levels of half the width",
            "def f():\n    a\n    b\n",
            "  a\n  b\n",
            "  a\n  if x:\n    b\n",
            REFUSED,
        ),
        (
            "the first line of old has lost its indentation, and so the width of a tab is not known",
            "class A:\n    def f():\n        a\n",
            "def f():\n\t\ta\n",
            "def f():\n\t\tif x:\n\t\t\ta\n",
            REFUSED,
        ),
        (
            "tabs and spaces in new",
            "class A:\n\tdef f():\n\t\treturn 1\n",
            "    def f():\n        return 1\n",
            "\tdef f():\n        return 2\n",
            REFUSED,
        ),
    ]);
}

#[test]
fn what_is_said_of_an_indentation_that_is_not_clear_shows_the_lines() {
    let old = "def f(self):\n    return 1\n";
    let new = "    def f(self):\n    return 2\n";
    let replacement = Replacement { old, new, all: false };
    let error = plan(CLASS.as_bytes(), &[replacement]).unwrap_err();
    let said = |content| words::explain("a.py", content, &[replacement], &error);
    let start = "old_string is in a.py on line 2 with another indentation, and it is not clear how to indent line 2 of \
                 new_string; nothing was changed. Copy the indentation of the file, tabs or spaces, into both";
    let lines = "\n     2→    def f(self):\n     3→        return 1";
    assert_eq!(said(Some(CLASS.as_bytes())), format!("{start}{lines}"));
    assert_eq!(said(None), start);
}

/// Checks that parts which are equal in the old and the new text keep the form they have in the file, and that the
/// answer says so.
#[test]
fn what_is_the_same_in_old_and_new_stays_as_the_file_has_it() {
    for (file, old, new, expected) in [
        ("‘a’ 1\n‘b’ 2\n", "'a' 1\n'b' 2\n", "'a' 3\n'b' 4\n", "‘a’ 3\n‘b’ 4\n"),
        ("1 “a” – x\n", "1 \"a\" - x", "2 \"a\" - y", "2 “a” – y\n"),
        ("“a”, “b”, c\n", "\"a\", \"b\", c", "\"a\"; \"b\"; c", "“a”; “b”; c\n"),
        ("a  \nb\t\nc\n", "a\nb\nc", "a\nx\ny\nc", "a  \nx\ny\t\nc\n"),
        ("say “a” now\n", "say \"a\" now", "print(\"b\")", "print(\"b\")\n"),
        ("ａｂ c\n", "ab c", "ab d", "ａｂ d\n"),
    ] {
        let plan = plan(file.as_bytes(), &[Replacement { old, new, all: false }]).unwrap();
        assert_eq!(String::from_utf8(splice(file.as_bytes(), &plan.splices)).unwrap(), expected);
        assert!(words::report(&plan.parts).ends_with("and only the differing text was changed"), "{file:?}");
    }
    // With this many words, the equal ones are not searched for.
    let many = |word: &str| format!("‘a’ {}{word}", "w ".repeat(3_000));
    let (old, new) = (
        format!("x {}", many("1").replace(['‘', '’'], "'")),
        format!("y {}", many("2").replace(['‘', '’'], "'")),
    );
    let plan =
        plan(format!("x {}", many("1")).as_bytes(), &[Replacement { old: &old, new: &new, all: false }])
            .unwrap();
    assert!(words::report(&plan.parts).ends_with("dashes or spaces"), "{}", words::report(&plan.parts));
}
