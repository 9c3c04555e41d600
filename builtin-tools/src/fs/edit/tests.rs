use super::*;
use crate::fs::splice::splice;
use proptest::prelude::*;

/// The file after an edit with how the text was found, or what is wrong.
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
        // Exact, whatever the bytes around it.
        ("one two", "two", "2", "one 2", "Exact 1 1"),
        ("one\ntwo\n", "two\n", "", "one\n", "Exact 1 2"),
        ("a\nb", "b", "c\n", "a\nc\n", "Exact 1 2"),
        ("a\nb\n", "b\n", "c", "a\nc", "Exact 1 2"),
        ("price: x", "x", "$& \\1 ${1} $0", "price: $& \\1 ${1} $0", "Exact 1 1"),
        ("\u{FEFF}a\r\nb\r\n", "a", "x", "\u{FEFF}x\r\nb\r\n", "Exact 1 1"),
        ("a\u{FEFF}b", "\u{FEFF}", "", "ab", "Exact 1 1"),
        // Line endings: what is new ends as what it replaces, or as the line it is in.
        ("a\r\nb\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\n", "Endings 1 1"),
        ("a\r\nb\r\nc\n", "b", "b\nx", "a\r\nb\r\nx\r\nc\n", "Exact 1 2"),
        ("a\r\nb\nc\r\n", "a\nb\nc", "a\nx\nc", "a\r\nx\nc\r\n", "Endings 1 1"),
        ("a\r\nb\nc\n", "a\nb\nc\n", "1\n2\n3\n4\n", "1\r\n2\n3\n4\n", "Endings 1 1"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc", "Exact 1 2"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n", "Endings 1 1"),
        ("a\nb\n", "b", "b\r\nc", "a\nb\nc\n", "Exact 1 2"),
        ("a", "a", "b\r\nc", "b\r\nc", "Exact 1 1"),
        ("a", "a", "b\nc", "b\nc", "Exact 1 1"),
        ("a\r\nb", "\nb", "", "a", "Endings 1 1"),
        ("a\r\nb", "\n", " ", "a b", "Endings 1 1"),
        ("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\n", "Exact 1 1"),
        ("a\nb\n", "a\n", "a\r\n", "a\r\nb\n", "Exact 1 1"),
        ("a\r\nb", "a\r", "x", "x\nb", "Exact 1 1"),
        ("a\rb\r", "a\rb", "x\ry", "x\ry\r", "Exact 1 1"),
        // White space at the end of lines, of the file's or of what was asked.
        ("a  \nb\t\nc\n", "a\nb\nc", "a\nx\nc", "a  \nx\t\nc\n", "Trailing 1 1"),
        ("a\nb\n", "a  \nb  ", "a  \nx", "a\nx\n", "Trailing 1 1"),
        ("a \r\nb\r\n", "a\nb", "x\nb", "x \r\nb\r\n", "Trailing 1 1"),
        ("f(\n  \n)\n", "f(\n\n)", "f(\n1\n)", "f(\n1  \n)\n", "Trailing 1 1"),
        // Typographic characters.
        ("say “hi” – now", "say \"hi\" - now", "say \"hi\" - later", "say “hi” – later", "Unicode 1 1"),
        ("a\u{A0}b \u{3000}\n“c”\n", "a b\n\"c\"", "a b\n\"d\"", "a\u{A0}b \u{3000}\n“d”\n", "Unicode 1 1"),
        ("it's", "it’s", "it’s not", "it's not", "Unicode 1 1"),
        ("‘a’\n‘b’\n‘c’\n", "'a'\n'b'\n'c'", "'x'\n'b'\n'y'", "‘x’\n‘b’\n‘y’\n", "Unicode 1 1"),
        // Indentation.
        ("  if a:\n    b\n", "if a:\n  b", "if a:\n  c\n  d", "  if a:\n    c\n    d\n", "Exact 1 1"),
        ("fn f() {\n\ta();\n\tb();\n}\n", "    a();\n    b();\n", "    a();\n    if x {\n        c();\n    }\n",
         "fn f() {\n\ta();\n\tif x {\n\t\tc();\n\t}\n}\n", "Indentation 1 2"),
        ("    a\r\n    b\r\n", "a\nb", "a\nx\n\ny", "    a\r\n    x\r\n\r\n    y\r\n", "Indentation 1 1"),
        ("\u{FEFF}  a\n  b\n", "a\nb\n", "c\nb\n", "\u{FEFF}  c\n  b\n", "Indentation 1 1"),
        ("  a \n  b", "a\nb", "a\nc", "  a \n  c", "Indentation 1 1"),
    ] {
        check(file, old, new, expected, found);
    }
}
